"""The report of a span detector."""
