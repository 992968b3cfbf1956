"""The Safe Harbor matrix of a report, from what the ledger holds by label and patient."""

from __future__ import annotations

from typing import Any

import numpy as np

from workup.tasks.spans import columns
from workup.tasks.spans.counting.counting_rules import FULL_MASK
from workup.tasks.spans.counting.matchup import PHI, Setting
from workup.tasks.spans.counting.scoring import SpanScores
from workup.tasks.spans.errors.safe_harbor import LeafRow, Share, safe_harbor


def safe_harbor_table(scores: SpanScores) -> dict[str, Any]:
    """Two tables: every letter with its leaves, and golds whose label does not say under which letter they fall.

    A gold counts as found when it is masked whole, under the primary policy.
    """
    cells, stick = scores.ledger.cells, scores.ledger.stick
    setting = Setting(FULL_MASK, PHI, stick.primary_policy)
    patient = scores.patient[scores.place_of_row[cells.row]]
    units, codes = np.unique(patient, return_inverse=True)
    golds, hits = (cells.column(columns.of_setting(setting, field)) for field in ("golds", "hits"))
    by_label = {}
    for place, label in enumerate(cells.labels):
        here = cells.label == place
        sums = (np.bincount(codes[here], weights=one[here], minlength=units.size) for one in (golds, hits))
        by_label[label] = tuple(sums)
    matrix = safe_harbor(by_label)  # type: ignore[arg-type]
    return {
        "safe_harbor": [
            {
                "letter": row.letter,
                "title": row.title,
                "status": row.status,
                "reason": row.reason,
                **_plain(row.share),
                "leaves": [one.leaf for one in row.leaves],
                "by_leaf": [_leaf(one) for one in row.leaves],
            }
            for row in matrix.rows
        ],
        "safe_harbor_coarse": [
            {"label": row.label, "letters": list(row.letters), **_plain(row.share)} for row in matrix.coarse
        ],
    }


def _leaf(row: LeafRow) -> dict[str, Any]:
    return {"leaf": row.leaf, "condition": row.condition, **_plain(row.share)}


def _plain(share: Share) -> dict[str, Any]:
    found = {key: value for key, value in share._asdict().items() if key != "reason"}
    return {**found, "upper_bound": found.pop("miss_upper"), **({"uncertain": share.reason} if share.reason else {})}
