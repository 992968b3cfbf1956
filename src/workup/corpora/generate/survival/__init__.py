"""Censored cohorts with planted truth."""
