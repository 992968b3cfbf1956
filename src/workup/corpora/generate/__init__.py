"""Generators of corpora with known truth."""
