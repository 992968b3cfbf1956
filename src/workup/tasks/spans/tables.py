"""Tables of the internal report of a detector: counts, the curve over τ, confusions, errors, Safe Harbor, claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workup.disclosure.small_groups import TOGETHER, is_together
from workup.estimate import Draws, estimate
from workup.scores import level_name
from workup.tasks.spans import columns
from workup.tasks.spans.agreement_table import agreement_table
from workup.tasks.spans.comparing.emitted_types import Emits
from workup.tasks.spans.counting.scoring import SpanScores
from workup.tasks.spans.errors.severity import severity_table
from workup.tasks.spans.metrics import accuracy_metrics
from workup.tasks.spans.notes import summary
from workup.tasks.spans.safe_harbor_table import safe_harbor_table
from workup.tasks.spans.selftest import line

CLAIMS = (0.05, 0.01, 0.001)  # leak rates that a privacy officer may be asked to rule out
_TYPE = "type"  # the group of documents that errors are told by
_NEVER = 0.05  # one-sided chance of seeing no leak although the rate is as large


def tables_of(scores: SpanScores, *, seed: int = 0, show_text: bool = False) -> dict[str, Any]:
    """All of them, by name."""
    ledger = scores.ledger
    found: dict[str, Any] = {
        "selftest": line(),
        "summary": summary(scores),
        "counts": list(ledger.table()),
        "rules": ledger.rules.table() if ledger.rules else [],
        "emits": Emits.of(scores.emits, ledger.stick.found_labels).table(ledger.gold_labels),
        "curve": list(_curve(scores)),
        "policies": [{"name": p.name, "describe": p.describe, "source": p.source} for p in ledger.stick.policies],
        "labels": {
            "golds": dict(sorted(ledger.gold_labels.items())),
            "predictions": dict(sorted(ledger.found_labels.items())),
            "unmapped_golds": dict(sorted(ledger.unmapped_golds.items())),
            "unmapped_predictions": dict(sorted(ledger.unmapped_found.items())),
        },
        **safe_harbor_table(scores),
        "leak_claims": list(_claims(scores)),
        "severity": [row._asdict() for row in severity_table() if row.leaf in ledger.gold_labels],
    }
    if ledger.layered:
        found["agreement"] = agreement_table(ledger.layered, mapping=ledger.stick.gold_labels, seed=seed)
    if ledger.utility is not None:
        found["utility"] = ledger.utility.table()
    if ledger.errors is not None:
        found |= ledger.errors.tables(show_text=show_text, told=_told_types(scores))
    return found


def _told_types(scores: SpanScores) -> Callable[[str | None], str | None]:
    """The type of a document as the report may tell it: those that are withheld as groups under one name, and none
    where no type may be told."""
    if _TYPE not in scores.groups:
        return lambda held: None
    names = scores.groups[_TYPE].names
    together = next((name for name in names if is_together(name)), TOGETHER)
    return lambda held: held if level_name(held) in names else together


def _curve(scores: SpanScores) -> Iterator[dict[str, Any]]:
    """Recall and precision at every τ, with their intervals."""
    stick = scores.ledger.stick
    for setting in stick.curve:
        row: dict[str, Any] = {"tau": float(setting.mode.share or 0), "level": setting.level, "policy": setting.policy}
        for one in estimate(scores, accuracy_metrics(setting, at={})[:2], draws=Draws()):
            row |= {one.metric: one.value, f"{one.metric}_low": one.low, f"{one.metric}_high": one.high}
        yield row


def patients_to_claim(rate: float) -> int:
    """Independent patients without a leak that rule out a rate as large, at 95 % one-sided.

    >>> [patients_to_claim(rate) for rate in (0.01, 0.001)]
    [299, 2995]
    """
    return int(np.ceil(np.log(_NEVER) / np.log1p(-rate)))


def _claims(scores: SpanScores) -> Iterator[dict[str, Any]]:
    """How many clean patients a claim takes, how many there are, and how many are still needed."""
    policy = scores.ledger.stick.primary_policy
    holding = scores[columns.of_policy(policy, "documents_with_must")] > 0
    leaking = scores[columns.of_policy(policy, "documents_leaking")] > 0
    seen = int(np.unique(scores.patient[holding]).size)
    leaks = int(np.unique(scores.patient[leaking]).size)
    for rate in CLAIMS:
        needed = patients_to_claim(rate)
        yield {
            "rate": rate,
            "needed": needed,
            "patients": seen,
            "leaking": leaks,
            "still_needed": None if leaks else max(0, needed - seen),
        }
