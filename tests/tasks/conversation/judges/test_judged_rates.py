"""Rates and agreement of a scripted judge whose errors are planted: sensitivity 0.9, specificity 0.8."""

from __future__ import annotations

import numpy as np
import pytest

from workup.estimate import Draws, Estimate, estimate
from workup.gates import STRADDLED, Gate, judge
from workup.scores import Scores
from workup.stats.nominal_kappa import nominal_kappa
from workup.tasks.conversation.judges.agreement import agreement_rows, bar_of
from workup.tasks.conversation.judges.rates import Units, powered, raw
from workup.tasks.conversation.judges.read_units import People, ReadUnit
from workup.tasks.conversation.labels import Unit

CLUSTERS, ROWS, LABELS = 30, 20, 120
SENSITIVITY, SPECIFICITY, SHARE, ICC = 0.9, 0.8, 0.93, 0.2
AT = {"set": "critical", "arm": "live"}


def planted(seed: int) -> tuple[Scores, Units]:
    """A study of 30 cases with 20 facts at a turn each, one row a case, 120 labels, half among judged failures."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(CLUSTERS), ROWS)
    own = rng.beta(SHARE * (1 - ICC) / ICC, (1 - SHARE) * (1 - ICC) / ICC, CLUSTERS)
    true = rng.random(cluster.size) < own[cluster]
    verdict = rng.random(cluster.size) < np.where(true, SENSITIVITY, 1 - SPECIFICITY)
    truth, chance = np.full(cluster.size, np.nan), np.ones(cluster.size)
    failed = np.flatnonzero(~verdict)
    few = min(failed.size, LABELS // 2)
    for rows, wanted in ((failed, few), (np.flatnonzero(verdict), LABELS - few)):
        chosen = rows[((rng.random() + np.arange(wanted)) * rows.size / wanted).astype(int)]
        truth[chosen], chance[rows] = true[chosen], wanted / rows.size
    rows = 1000.0 * (1 + np.arange(CLUSTERS))
    scores = Scores.of({"row": rows}, patient=list(range(CLUSTERS)))
    return scores, Units(rows[cluster], verdict.astype(float), truth, np.ones(cluster.size), chance)


def test_the_powered_interval_holds_the_truth_in_at_least_93_of_100_studies_and_the_judge_alone_does_not() -> None:
    held = alone = 0
    for seed in range(100):
        scores, units = planted(seed)
        [found] = estimate(scores, [powered("recall", units, at=AT)], draws=Draws(), levels=(0.95,))
        assert found.status == "ok" and found.low is not None and found.high is not None and found.value is not None
        held += found.low <= SHARE <= found.high
        alone += abs(float(units.verdict.mean()) - SHARE) < 0.03
    assert held >= 93
    assert alone <= 20  # 0.93 · 0.9 + 0.07 · 0.2 = 0.851: what the judge alone would say


def test_kappa_lies_in_its_interval() -> None:
    p = SHARE * SENSITIVITY + (1 - SHARE) * (1 - SPECIFICITY)
    agreed = SHARE * SENSITIVITY + (1 - SHARE) * SPECIFICITY
    chance = SHARE * p + (1 - SHARE) * (1 - p)
    true = (agreed - chance) / (1 - chance)
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(1000 + seed)
        y = rng.random(1200) < SHARE
        f = rng.random(1200) < np.where(y, SENSITIVITY, 1 - SPECIFICITY)
        found = nominal_kappa(np.column_stack([y, f]), pairs=[(0, 1)], clusters=np.arange(1200) // 20, level=0.90)
        held += found.low <= true <= found.high
    assert held >= 49  # 90 % of 60 less two standard errors


def test_the_value_of_a_weighted_slice_is_that_of_its_parts() -> None:
    scores, units = planted(1)
    metric = powered("recall", units, at=AT)
    half = scores.take(np.arange(15))
    [found] = estimate(half, [metric], draws=Draws(), levels=(0.95,))
    keep = units.row <= 15_000
    f = units.verdict[keep].mean()
    labelled = keep & np.isfinite(units.truth)
    parts = []
    for said in (1.0, 0.0):
        of = labelled & (units.verdict == said)
        parts.append(np.average(units.truth[of], weights=1 / units.chance[of]))
    assert metric.value(half) == pytest.approx(f * parts[0] + (1 - f) * parts[1])
    assert found.n_patients == 15


@pytest.mark.parametrize(
    ("labels", "clusters", "says"),
    [(49, 30, "at least 50 are needed"), (500, 9, "labels in 9 clusters"), (60, 30, "labels among the")],
)
def test_limits(labels: int, clusters: int, says: str) -> None:
    scores, units = planted(2)
    order = np.flatnonzero(units.verdict == 1)
    order = order[units.row[order] <= 1000.0 * clusters][:: max(1, order.size // 80) if clusters == 30 else 1]
    truth = np.full(units.truth.size, np.nan)
    truth[order[:labels]] = 1.0
    fewer = Units(units.row, units.verdict, truth, units.weight, units.chance)
    [found] = estimate(scores, [powered("recall", fewer, at=AT)], draws=Draws(), levels=(0.95,))
    assert found.status == "withheld" and says in (found.reason or "")


# ---- the bar ---------------------------------------------------------------------------------------------------------


def _read(right: float, n: int = 200, clusters: int = 20) -> tuple[list[ReadUnit], People, dict[str, int]]:
    rng = np.random.default_rng(9)
    units, answers = [], {}
    for number in range(n):
        said = str(rng.choice(["correct", "omitted", "reversed"], p=[0.6, 0.25, 0.15]))
        wrong = {"correct": "omitted", "omitted": "correct", "reversed": "correct"}[said]
        read = said if rng.random() < right else wrong
        unit = Unit(f"c{number % clusters}", 0, "live", 1 + number // clusters, "f")
        units.append(ReadUnit(unit, read, read, read, (read,) * 3, ""))
        answers[unit] = {"a": said}
    return units, People(answers, {}), {f"c{number}": number for number in range(clusters)}


@pytest.mark.parametrize(
    ("right", "n", "clusters", "met", "says"),
    [
        (0.95, 200, 20, True, "kappa with people"),
        (0.70, 200, 20, False, "must reach 0.60"),
        (0.95, 90, 20, False, "at least 100 labels"),
        (0.95, 200, 8, False, "10 clusters are needed"),
    ],
)
def test_the_bar(right: float, n: int, clusters: int, met: bool, says: str) -> None:
    units, people, codes = _read(right, n, clusters)
    found = bar_of(agreement_rows(units, people, codes, kind="facts"), kind="facts", least=0.60)
    assert found.met == met and says in found.reason
    scores = Scores.of({"row": [1.0, 2.0]})
    columns = Units(np.array([1.0, 2.0]), np.array([1.0, 0.0]), np.full(2, np.nan), np.ones(2), np.ones(2))
    metric = raw("recall", columns, at=AT, bar=found)
    [shown] = estimate(scores, [metric], draws=Draws(), levels=(0.90,))
    assert shown.status == ("insufficient" if met else "withheld")
    assert shown.low is None and "kappa" in (shown.reason or "")
    at_gate = judge([Gate.parse("recall{reader=judge}.value >= 0.1@0.90")], [shown], primary=AT)
    assert at_gate[0].outcome == "not_assessed"


def test_without_labels_the_bar_is_not_met() -> None:
    assert not bar_of([], kind="facts", least=0.60).met


# ---- straddled -------------------------------------------------------------------------------------------------------


def _estimate(low: float, high: float, **at: object) -> Estimate:
    value = (low + high) / 2
    return Estimate("recall", {**AT, "reader": "ppi", **at}, value, low, high, 0.9, "m", None, 30, 30)


@pytest.mark.parametrize(
    ("lows", "outcome"),
    [((0.81, 0.82, 0.83), "pass"), ((0.81, 0.79, 0.83), "unsure"), ((), "pass")],
)
def test_runs_on_both_sides_of_a_limit_leave_a_gate_unsure(lows: tuple[float, ...], outcome: str) -> None:
    rows = [_estimate(0.82, 0.9)] + [_estimate(low, 0.9, judge_run=run) for run, low in enumerate(lows, start=1)]
    [found] = judge([Gate.parse("recall{reader=ppi}.low >= 0.8@0.90")], rows, primary=AT)
    assert found.outcome == outcome
    assert (found.reason == STRADDLED) == (outcome == "unsure")
    assert found.observed is not None and found.observed["low"] == 0.82


def test_a_run_that_passes_does_not_save_a_fail() -> None:
    rows = [_estimate(0.6, 0.7), _estimate(0.82, 0.9, judge_run=1), _estimate(0.6, 0.7, judge_run=2)]
    [found] = judge([Gate.parse("recall{reader=ppi}.low >= 0.8@0.90")], rows, primary=AT)
    assert (found.outcome, found.reason) == ("unsure", STRADDLED)


def test_a_rule_on_another_figure_does_not_look_at_runs() -> None:
    plain = Estimate("recall", AT, 0.85, 0.82, 0.9, 0.9, "m", None, 30, 30)
    rows = [plain, _estimate(0.5, 0.6, judge_run=1)]
    [found] = judge([Gate.parse("recall.low >= 0.8@0.90")], rows, primary=AT)
    assert found.outcome == "pass"


def test_no_gate_rests_on_one_run_of_a_judge() -> None:
    rows = [_estimate(0.82, 0.9), _estimate(0.82, 0.9, judge_run=1)]
    [found] = judge([Gate.parse("recall{reader=ppi,judge_run=1}.low >= 0.8@0.90")], rows, primary=AT)
    assert found.outcome == "not_assessed"


def test_a_group_of_patients_that_is_named_like_a_run_is_no_run() -> None:
    plain = Estimate("recall", AT, 0.85, 0.82, 0.9, 0.9, "m", None, 30, 30)
    other = Estimate("recall", {**AT, "judge_run": "x"}, 0.5, 0.4, 0.6, 0.9, "m", None, 30, 30)
    [found] = judge([Gate.parse("recall.low >= 0.8@0.90")], [plain, other], primary=AT)
    assert found.outcome == "pass"
