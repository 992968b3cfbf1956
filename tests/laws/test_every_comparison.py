"""Two systems exchanged: every metric of every task then has the other sign, and nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.support.cohorts import draw_cohort
from tests.support.notes import detect, notes
from tests.support.registered import every_metric
from workup.compare import compare
from workup.documents.detections import GivenSpans
from workup.estimate import Draws, Estimate, estimate
from workup.lenses.paired import compare_scores
from workup.metric import Metric
from workup.report import LensResult, Report
from workup.scores import Scores
from workup.study import Study
from workup.task import Budget
from workup.tasks.conversation.pairing import paired as paired_models
from workup.tasks.conversation.scripted import Behaviour, transcripts
from workup.tasks.conversation.scripted.cases import small_cases
from workup.tasks.conversation.scripted.scored import Scored
from workup.tasks.risk.metrics import Smoother, calibration_distances
from workup.tasks.spans.task import SpansTask

DRAWS = Draws(seed=11, replicates=200)
MIRRORED = {"better": "worse", "worse": "better"}
Pair = tuple[tuple[Scores, Sequence[Metric]], tuple[Scores, Sequence[Metric]], str]


@cache
def _risk(kind: str) -> Pair:
    """Two models of one cohort, in the order in which each gave its risks; ids only where patients repeat."""
    repeated = kind == "repeated"
    plain = draw_cohort(3, 260, patients=90 if repeated else None, spread=1.0, weighted=kind == "weighted")
    rng = np.random.default_rng(5)
    other = np.clip(0.7 * plain["risk"] + 0.2 * rng.random(len(plain)), 0, 1)
    sides = []
    for risk in (plain["risk"].round(2), other):
        values = {"outcome": plain["outcome"], "risk": risk, "row": np.arange(1.0, len(plain) + 1)}
        order = np.argsort(risk, kind="stable")
        own = Scores.of(values, patient=plain.patient, groups={}, weight=plain.weight).take(order)
        numbered = own if repeated else Scores.of(dict(own.values), weight=own.weight)
        sides.append((numbered, every_metric(numbered)))
    return sides[0], sides[1], "resampled"


@cache
def _spans() -> Pair:
    corpus = notes(60, seed=2, patients=30)
    study = Study.of({"name": "laws", "task": "spans", "modes": ["strict", "partial", "full_mask", "char"]})
    task = SpansTask()
    read = task.read(study, corpus)
    sides = []
    for seed, miss in ((1, 0.15), (2, 0.3)):
        given = GivenSpans(detect(corpus, seed=seed, miss=miss))
        outputs = task.run(lambda given=given: given, read, None, None, lambda *_: None, budget=Budget())  # type: ignore
        scores = task.scores(read, outputs)
        sides.append((scores, task.metrics(scores, study)))
    pair = task.paired(sides[0][0], sides[1][0], study)
    return (pair.first, sides[0][1]), (pair.second, sides[1][1]), pair.intervals


@cache
def _conversation() -> Pair:
    cases = small_cases(14, turns=10)
    sides = []
    for planted in (Behaviour("one", 0.9, -0.04, noise=True), Behaviour("two", 0.7, -0.02, reversal=0.1, noise=True)):
        scored = Scored(cases, transcripts(planted, cases, ("live", "oracle"), 1, replicates=1))
        sides.append((scored.scores, tuple(scored.metrics.values())))
    pair = paired_models(sides[0][0], sides[1][0])  # type: ignore[arg-type]
    return (pair.first, sides[0][1]), (pair.second, sides[1][1]), pair.intervals


PAIRS = {
    "risk": lambda: _risk("independent"),
    "risk, repeated patients": lambda: _risk("repeated"),
    "risk, weighted": lambda: _risk("weighted"),
    "spans": _spans,
    "conversation": _conversation,
}


def _rows(pair: Pair) -> list[dict[str, Any]]:
    (first, mine), (second, theirs), intervals = pair
    others = {_name(metric): metric for metric in theirs}
    shared = [metric for metric in mine if _name(metric) in others]
    of_second = [others[_name(metric)] for metric in shared]
    return compare_scores(first, second, shared, DRAWS, of_second=of_second, intervals=intervals)  # type: ignore[arg-type]


def _name(metric: Metric) -> str:
    return " ".join([metric.name, *(f"{key}={value}" for key, value in metric.at.items())])


def _negated(found: dict[str, Any]) -> list[float]:
    return [np.nan if found[end] is None else -found[end] for end in ("value", "high", "low")]


def _as_is(found: dict[str, Any]) -> list[float]:
    return [np.nan if found[end] is None else found[end] for end in ("value", "low", "high")]


def _record(name: str, task: str, estimates: Sequence[Estimate]) -> Report:
    return Report(
        study={"name": "laws", "task": task},
        corpus={"name": "c", "sha256": "c", "n_cases": 1, "n_patients": 1},
        system={"name": name, "version": "1"},
        seed=0,
        results={"internal": LensResult("internal", estimates=tuple(estimates))},
        verdicts=(),
        environment={},
        workup="0",
    )


@pytest.mark.parametrize("name", PAIRS)
def test_exchanging_two_systems_changes_signs_and_nothing_else(name: str) -> None:
    pair = PAIRS[name]()
    task = name.split(",")[0]
    there, back = _rows(pair), _rows((pair[1], pair[0], pair[2]))
    assert len(there) == len(back) > 10
    records = [_record(side, task, ()) for side in ("a", "b")]
    judged = [compare(records[i], records[1 - i], paired=rows).rows for i, rows in enumerate((there, back))]
    measured = 0
    for one, other in zip(*judged, strict=True):
        what = (one["metric"], one["slice"])
        assert what == (other["metric"], other["slice"])
        assert (one["first"], one["second"]) == (pytest.approx(other["second"]), pytest.approx(other["first"])), what
        assert _as_is(one) == pytest.approx(_negated(other), rel=1e-9, abs=1e-12, nan_ok=True), what
        for p in ("p", "p_adjusted"):
            assert one[p] == (None if other[p] is None else pytest.approx(other[p], rel=1e-7, abs=1e-12)), what
        assert (one["distance"] is None) == (other["distance"] is None), what
        if one["distance"] is not None:
            assert _as_is(one["distance"]) == pytest.approx(
                _negated(other["distance"]), rel=1e-9, abs=1e-12, nan_ok=True
            ), what
        assert one["method"] == other["method"], what
        assert one["direction"] == MIRRORED.get(other["direction"], other["direction"]), what
        measured += one["low"] is not None
    assert measured > len(there) / 3  # the others are undefined or insufficient on both sides


@pytest.mark.parametrize("name", ["risk", "risk, repeated patients"])
def test_a_comparison_shows_each_system_as_it_stands_alone(name: str) -> None:
    """Its curve bends at its own knots: the ICI of either side is the one that its own report holds."""
    first, second, _ = pair = PAIRS[name]()
    for row in _rows(pair):
        for side, (scores, metrics) in (("first", first), ("second", second)):
            [own] = [m for m in metrics if m.name == row["metric"] and dict(m.at) == row["slice"]]
            assert row[side]["value"] == pytest.approx(own.value(scores), rel=1e-9), (row["metric"], side)
    mine, theirs = ({m.name: m for m in metrics}["emax"] for _, metrics in (first, second))
    assert mine.value(second[0]) != pytest.approx(theirs.value(second[0]), rel=1e-6)  # the knots do matter


def test_records_alone_are_compared_the_same_way_round() -> None:
    first, second, _ = PAIRS["risk"]()
    records = [_record(str(i), "risk", estimate(s, m, draws=DRAWS)) for i, (s, m) in enumerate((first, second))]
    there, back = compare(*records), compare(*records[::-1])
    for one, other in zip(there.rows, back.rows, strict=True):
        assert _as_is(one) == pytest.approx(_negated(other), rel=1e-9, abs=1e-12, nan_ok=True), one["metric"]
        assert one["p"] == pytest.approx(other["p"], rel=1e-9)
        assert one["direction"] == MIRRORED.get(other["direction"], other["direction"]), one["metric"]


def test_the_same_answers_on_fewer_rows_are_not_called_equal_where_their_curves_differ() -> None:
    rng = np.random.default_rng(8)
    lp = rng.normal(-1, 1.3, 900)
    whole = Scores.of(
        {
            "outcome": (rng.random(900) < 1 / (1 + np.exp(-0.6 * lp))).astype(float),
            "risk": 1 / (1 + np.exp(-lp)),
            "row": np.arange(900.0),
        }
    )
    part = whole.take(np.flatnonzero(lp < -0.5))
    metrics = [calibration_distances(Smoother.of(one)) for one in (whole, part)]
    for row in compare_scores(whole, part, metrics[0], Draws(seed=1, replicates=200), of_second=metrics[1]):
        assert row["value"] == pytest.approx(row["second"]["value"] - row["first"]["value"]), row["metric"]
        assert row["value"] == 0 or (row["low"] is None and "identical answers" in row["reason"]), row["metric"]
