"""What a comparison of two detectors holds beside the differences of their metrics: types, scopes and documents."""

from __future__ import annotations

from typing import Any

from workup.task import Paired
from workup.tasks.spans.comparing.alignment import aligned
from workup.tasks.spans.comparing.by_type import scope_rows, type_rows
from workup.tasks.spans.comparing.emitted_types import Emits
from workup.tasks.spans.comparing.joint import Joint, document_rows, joint
from workup.tasks.spans.counting.scoring import SpanScores


def paired(first: SpanScores, second: SpanScores, *, seed: int = 0) -> Paired:
    """Two detectors on the same documents: their rows in one order, and who found what."""
    rows = aligned(first, second)  # first, because it refuses what cannot be compared
    found = joint(first, second)
    emits = [Emits.of(one.emits, one.ledger.stick.found_labels) for one in (first, second)]
    tables: dict[str, Any] = {
        "setting": {"mode": found.setting.mode.name, "level": found.setting.level, "policy": found.setting.policy},
        "types": type_rows(found, seed=seed),
        "scopes": scope_rows(found, emits, seed=seed),
        "emits": {
            side: one.table(scores.ledger.gold_labels)
            for side, one, scores in zip(("first", "second"), emits, (first, second), strict=True)
        },
        "documents": list(document_rows(found)),
    }
    return Paired(*rows, tables=tables, notes=_notes(found, first, second), intervals="linearised")


def _notes(found: Joint, first: SpanScores, second: SpanScores) -> list[str]:
    said = []
    for name, scores in (("A", first), ("B", second)):
        missing = scores.ledger.facts["documents_not_answered"]
        if missing:
            said.append(f"{name} gave no answer on {missing:,} documents: their golds count as missed by {name}.")
        strays = scores.ledger.strays["unknown_document"]
        if strays:
            said.append(
                f"Predictions of {name} on documents that the corpus does not hold: {strays:,}, all false alarms."
            )
    if found.left_out:
        said.append(
            f"Of {len(found.documents):,} documents those {found.left_out:,} in which the systems do not differ are "
            "not listed one by one; they are in every count."
        )
    return said
