"""Span detectors compared on one footing, the effect of each rule of matching alone, and the choice of a threshold."""
