"""What a second reader and people's labels add to a study: metrics, a table, a sentence for the notes, and the draw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workup.metric import Metric
from workup.stats.random import generator
from workup.tasks.conversation.judges.agreement import agreement_rows, bar_of
from workup.tasks.conversation.judges.asking import reading_counts
from workup.tasks.conversation.judges.rates import Units, powered, raw
from workup.tasks.conversation.judges.read_units import Readings, ReadUnit, people_of_study
from workup.tasks.conversation.labels import Draw, Drawn, Unit
from workup.tasks.conversation.scores.scoring import ConversationScores
from workup.tasks.conversation.settings import ConversationPart

_AT = {"set": "critical", "arm": "live"}


def judged_metrics(scores: ConversationScores, part: ConversationPart, base: Path) -> list[Metric]:
    """Rates by labels and reader; none where no label of a draw was given."""
    readings = Readings.of(scores)
    people = people_of_study(readings, part, base)
    if people is None or not people.answers:
        return []
    rows = {
        (one.case.id, one.replicate): float(row)
        for one, row in zip(scores.conversations, scores.values["row"], strict=True)
    }
    clusters = _clusters(scores)
    changed = people.changed or ("" if readings.judged is None else readings.judged.changed)
    found: list[Metric] = []

    def add(name: str, kind: str, units: Sequence[ReadUnit], answer: str, at: dict[str, Any]) -> None:
        found.append(powered(name, Units.of(units, rows, people, answer, run=None), at=at, withheld=changed))
        if readings.judged is None:
            return
        for run in range(readings.runs):
            one = Units.of(units, rows, people, answer, run=run)
            found.append(powered(name, one, at={**at, "judge_run": run + 1}, withheld=changed))
        bar = bar_of(agreement_rows(units, people, clusters, kind=kind), kind=kind, least=part.judge_bar)
        found.append(raw(name, Units.of(units, rows, people, answer, run=None), at=at, bar=bar, changed=changed))

    if any(unit.pair is None for unit in people.answers):
        units = [one for one in readings.facts if one.active]
        add("recall", "facts", units, "correct", _AT)
        add("reversal_rate", "facts", units, "reversed", _AT)
        for group in sorted({group for one in units for group in one.groups}):
            of = [one for one in units if group in one.groups]
            add("reversal_rate", "facts", of, "reversed", {**_AT, "type": group})
    if any(unit.pair is not None for unit in people.answers):
        add("conflict_rate", "pairs", [one for one in readings.pairs if one.active], "conflict", {})
    return found


def readers_table(scores: ConversationScores, part: ConversationPart, base: Path) -> dict[str, Any]:
    """What was read by whom, and agreement with people where there are labels; no rate of the model."""
    readings = Readings.of(scores)
    people = people_of_study(readings, part, base)
    found: dict[str, Any] = {"judge": reading_counts(readings.judged)}
    if readings.judged is not None and readings.judged.readers.get("advice"):
        read, unmade = readings.unmade
        found["judge"]["pairs"] |= {
            "made_by_rules": len(readings.pairs) - read,
            "not_made_by_rules": read,
            "of_such": unmade,
            "fraction": read / unmade if unmade else None,
        }
    if people is None:
        return {**found, "labels": None, "agreement": []}
    rows: list[dict[str, Any]] = []
    if any(unit.pair is None for unit in people.answers):
        rows += agreement_rows(readings.facts, people, _clusters(scores), kind="facts")
    if any(unit.pair is not None for unit in people.answers):
        rows += agreement_rows(readings.pairs, people, _clusters(scores), kind="pairs")
    if readings.judged is None:
        rows = [row for row in rows if row["reader"] not in ("judge", "composite")]
    labels = {
        "units": len(people.answers),
        "raters": len(people.raters),
        "of_changed_replies": people.stale,
        "outside": people.outside,
        "changed": people.changed or None,
    }
    return {**found, "labels": labels, "agreement": rows}


def note_of(scores: ConversationScores, part: ConversationPart) -> str:
    """What a judge read, in a sentence; what was asked, and never what it saw."""
    readings = Readings.of(scores)
    if readings.judged is None:
        return "" if part.judge is None else "A judge is named, and was not asked."
    said = []
    if "facts" in readings.judged.readers:
        said.append(f"{len(readings.judged.facts):,} facts at a turn")
    if "advice" in readings.judged.readers:
        read, _ = readings.unmade
        said.append(f"{len(readings.pairs) - read:,} pairs of advice that rules made and {read:,} that they did not")
    return f"The judge read {' and '.join(said)}, each {readings.judged.k} times; no figure rests on it without labels."


def _clusters(scores: ConversationScores) -> dict[str, int]:
    return {one.case.id: int(code) for one, code in zip(scores.conversations, scores.patient, strict=True)}


# ---- drawing units for people ----------------------------------------------------------------------------------------


def draw_of(scores: ConversationScores, *, count: int, pairs: int = 0) -> Draw:
    """Units for people to label: half of what the reader counts as failed (all if fewer), the rest of the other kind.

    Within a verdict every unit has the same chance, and units at even distances along the clusters are taken. They are
    listed in a drawn order, so that labels of a part of them are a sample too.
    """
    readings = Readings.of(scores)
    rng = generator(scores.seed, "label draw", count, pairs)
    found = _drawn(rng, [one for one in readings.facts if one.active], "correct", count, scores)
    if pairs:
        found |= _drawn(rng, [one for one in readings.pairs if one.active], "conflict", pairs, scores)
    order = rng.permutation(len(found)).tolist()
    listed = list(found.items())
    return Draw({listed[place][0]: listed[place][1] for place in order}, readings.reader, scores.seed)


def _drawn(
    rng: np.random.Generator, units: Sequence[ReadUnit], answer: str, count: int, scores: ConversationScores
) -> dict[Unit, Drawn]:
    clusters = _clusters(scores)
    ordered = sorted(units, key=lambda one: clusters[one.unit.case])  # stable: by case and turn within a cluster
    yes, no = ([one for one in ordered if (one.reader == answer) == said] for said in (True, False))
    few = min(len(no), count // 2) if len(yes) >= count - count // 2 else min(len(no), count - len(yes))
    found: dict[Unit, Drawn] = {}
    for some, wanted in ((no, few), (yes, min(len(yes), count - few))):
        if not wanted:
            continue
        step = len(some) / wanted
        for place in ((rng.random() + np.arange(wanted)) * step).astype(int).tolist():
            one = some[min(place, len(some) - 1)]
            found[one.unit] = Drawn(one.reader, wanted / len(some), one.digest)
    return found
