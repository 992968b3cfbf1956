"""The sample-size report."""
