"""Measurements of time and memory, each a module to run: `python -m benchmarks.NAME`."""
