"""Equity-aware splits: a table into development and validation rows, whole patients on one side."""

from workup.splits.splitting import Split, split

__all__ = ["Split", "split"]
