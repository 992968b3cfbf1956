"""The monitoring report."""
