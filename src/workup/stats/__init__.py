"""Statistics on plain arrays. Needs numpy and scipy only and knows nothing of medicine, files or reports."""
