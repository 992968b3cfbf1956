"""Realistic values in the place of real ones."""
