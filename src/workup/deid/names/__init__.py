"""Names of people."""
