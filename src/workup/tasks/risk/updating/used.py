"""Which rows made an update, told by hashes and dates alone, and whether other rows may be the same."""

from __future__ import annotations

import hashlib

import numpy as np

from workup.scores import Scores

APPARENT = "apparent: this data made the update"
UNTOLD = (
    "an update holds no ids, so patients of these rows who were also among those that made it cannot be told; its "
    "dates and hashes are compared with those of these rows, and nothing else can be."
)


def risks_sha256(scores: Scores) -> str:
    """Hash of all updated risks with their outcomes, whatever the order of the rows and the columns of the study.

    The hash of a corpus changes when a column is added or plays another part; this one does not.
    """
    pairs = [f"{risk:.9g} {outcome:g}" for risk, outcome in zip(scores["risk"], scores["outcome"], strict=True)]
    return hashlib.sha256("\n".join(sorted(pairs)).encode()).hexdigest()


def days_of(scores: Scores) -> tuple[str, str] | None:
    """The first and the last date of the rows; None without times."""
    if scores.time is None:
        return None
    known = scores.time[~np.isnat(scores.time)]
    if not known.size:
        return None
    return str(known.min().astype("datetime64[D]")), str(known.max().astype("datetime64[D]"))
