"""Known values."""
