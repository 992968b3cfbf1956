"""The monitor: watches deployed models from their predictions and late outcomes, and tells a person when to look.

It keeps rows, windows and alerts; every figure and every signal in them is the drift lens's.
"""
