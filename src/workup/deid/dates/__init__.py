"""Days, years, clock times and ages."""
