"""Cohorts with planted truth."""
