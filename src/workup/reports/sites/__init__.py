"""The external validation report."""
