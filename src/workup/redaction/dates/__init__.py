"""Dates read, moved and written again, and what could give the shift away."""
