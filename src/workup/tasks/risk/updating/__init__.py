"""Updating a risk model: the procedure as something to fit, rules for thresholds, and the file that carries both."""
