"""Matching golds with predictions on flat arrays: every mode, level and policy in one pass, exactly and never greedily.

Knows labels as names and policies as one decision per gold; reads no file and writes no report."""
