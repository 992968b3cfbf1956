"""Risk models read from files."""
