"""Simulations of what the intervals promise. They know the truth they draw from and keep their findings as evidence."""
