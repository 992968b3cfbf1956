"""Hospitals, employers and other organisations."""
