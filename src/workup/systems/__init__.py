"""Adapters to systems under test. Reached through workup.plugins."""
