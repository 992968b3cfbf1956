"""Readers and writers of corpora with spans."""
