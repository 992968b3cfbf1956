"""Rates that rest on a second reader: prediction-powered ones, which a gate may take, and raw ones behind the bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workup.metric import Interval, Metric, linear
from workup.scores import Scores
from workup.stats.arrays import Bools, Floats
from workup.stats.intervals import ASSUMED_ICC
from workup.stats.prediction_powered import powered_share
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.judges.agreement import Bar
from workup.tasks.conversation.judges.read_units import People, ReadUnit

LEAST_LABELS, LEAST_CLUSTERS, LEAST_OF_VERDICT = 50, 10, 20
METHOD = "prediction-powered by verdict"
PPI, RAW = "ppi", "judge"


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a rate as columns: the row each belongs to, the reader's verdict and people's, weight and chance."""

    row: Floats
    verdict: Floats
    truth: Floats
    weight: Floats
    chance: Floats

    @classmethod
    def of(
        cls,
        units: Sequence[ReadUnit],
        rows: dict[tuple[str, int], float],
        people: People,
        answer: str,
        *,
        run: int | None,
    ) -> Units:
        """Those that count in the rate of an answer, as the reader or one run of the judge gives it."""
        said = [(one.reader if run is None else one.runs[run]) == answer for one in units]
        truth = [people.share(one.unit, answer) for one in units]
        columns = (
            [rows[one.unit.case, one.unit.replicate] for one in units],
            said,
            [np.nan if share is None else share for share in truth],
            [one.weight for one in units],
            [people.chances.get(one.unit, 1.0) for one in units],
        )
        return cls(*(np.array(column, dtype=np.float64) for column in columns))

    def placed(self, scores: Scores) -> tuple[Any, Bools]:
        """The place of each unit's row in some scores, and which units have one."""
        held = scores.values["row"]
        order = np.argsort(held, kind="stable")
        at = np.searchsorted(held[order], self.row)
        at = np.minimum(at, held.size - 1)
        places = order[at]
        return places, np.asarray(held[places] == self.row)


def powered(name: str, units: Units, *, at: dict[str, Any], withheld: str = "") -> Metric:
    """A rate corrected by people's answers; withheld where there are too few of them, or for a reason of its own."""

    def columns(scores: Scores) -> Floats:
        places, here = units.placed(scores)
        drawn, labelled = units.weight / units.chance, np.isfinite(units.truth)
        truth = np.where(labelled, units.truth, 0.0)
        parts = [units.weight, units.weight * units.verdict]
        for said in (1.0, 0.0):
            use = labelled & (units.verdict == said)
            parts += [np.where(use, drawn, 0.0), np.where(use, drawn * truth, 0.0)]
        return np.column_stack([np.bincount(places[here], weights=part[here], minlength=len(scores)) for part in parts])

    def interval(scores: Scores, level: float) -> Interval:
        places, here = units.placed(scores)
        cluster = scores.patient[places]
        why = withheld or too_few(units, cluster, here)
        if why:
            return Interval.refused(why, method=METHOD, status="withheld")
        found = powered_share(
            units.verdict[here],
            units.truth[here],
            cluster[here],
            weight=(units.weight * scores.base_weight[places])[here],
            chance=units.chance[here],
            icc=ASSUMED_ICC if scores.icc is None else scores.icc,
        )
        labels = here & np.isfinite(units.truth)
        f, a, b = found.parts
        reason = (
            f"{int(labels.sum())} labels in {np.unique(cluster[labels]).size} clusters; the reader alone says {f:.3f}, "
            f"people confirm {a:.3f} of what it counts and find {b:.3f} of the rest"
        )
        return Interval(*found.ends(level), None, METHOD, reason=reason, ends=found.ends)

    return linear(
        name,
        columns,
        _value,
        interval=interval,
        card=CARDS[name],
        at={**at, "reader": PPI},
        undefined="nothing to read",
    )


def _value(sums: Floats) -> Floats:
    """f a + (1 − f) b from the sums of its parts; a verdict without a label is taken at the reader's word."""
    n, f, w1, y1, w0, y0 = (sums[..., place] for place in range(6))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = f / n
        a, b = np.where(w1 > 0, y1 / w1, 1.0), np.where(w0 > 0, y0 / w0, 0.0)
        return np.asarray(np.where(n > 0, share * a + (1 - share) * b, np.nan))


def too_few(units: Units, cluster: Any, here: Bools) -> str:
    """Why labels do not carry a rate; empty where they do."""
    labelled = here & np.isfinite(units.truth)
    n, m = int(labelled.sum()), int(np.unique(cluster[labelled]).size)
    if n < LEAST_LABELS:
        return f"{n} labels; at least {LEAST_LABELS} are needed"
    if m < LEAST_CLUSTERS:
        return f"labels in {m} clusters; at least {LEAST_CLUSTERS} are needed"
    for said, words in ((1.0, "counts"), (0.0, "does not count")):
        of = here & (units.verdict == said)
        have, all_of = int((of & labelled).sum()), int(of.sum())
        if have < min(LEAST_OF_VERDICT, all_of):
            return f"{have} labels among the {all_of} that the reader {words}; at least {LEAST_OF_VERDICT} are needed"
    return ""


def raw(name: str, units: Units, *, at: dict[str, Any], bar: Bar, changed: str = "") -> Metric:
    """What the reader says, uncorrected: withheld below the bar, and never with an interval that a gate could take."""

    def columns(scores: Scores) -> Floats:
        places, here = units.placed(scores)
        parts = (units.weight, units.weight * units.verdict)
        return np.column_stack([np.bincount(places[here], weights=part[here], minlength=len(scores)) for part in parts])

    def share(sums: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(sums[..., 0] > 0, sums[..., 1] / sums[..., 0], np.nan))

    def interval(scores: Scores, level: float) -> Interval:
        if changed or not bar.met:
            return Interval.refused(changed or bar.reason, status="withheld")
        return Interval.refused(f"{bar.reason}; no gate rests on a judge alone, {name}{{reader=ppi}} has the interval")

    return linear(
        name, columns, share, interval=interval, card=CARDS[name], at={**at, "reader": RAW}, undefined="nothing to read"
    )
