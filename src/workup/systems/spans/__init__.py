"""Detectors of spans."""
