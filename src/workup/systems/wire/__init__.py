"""What is sent to a system in another process, and how. Knows no task."""
