"""At the edge of the data every metric gives a value or a null with a reason: never a crash, never a silent 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cohorts import draw_cohort
from tests.support.registered import CURVE, DRAWS, every_metric, key, numbers
from workup.estimate import EVERYTHING, Draws, Estimate, Slice, estimate
from workup.scores import Scores

pytestmark = pytest.mark.usefixtures("no_warning")


def _reference(name: str, threshold: float | None, y: list[float], p: list[float]) -> float | None:
    """Each metric by its definition in plain Python, None where it has none; fitted ones have tests of their own."""
    n, events = len(y), sum(y)
    if n == 0:
        return None
    flagged = [risk >= (threshold if threshold is not None else np.inf) for risk in p]
    tp = sum(1 for f, o in zip(flagged, y, strict=True) if f and o)
    fp = sum(1 for f, o in zip(flagged, y, strict=True) if f and not o)
    fn, tn = events - tp, n - events - fp
    brier = sum((o - r) ** 2 for o, r in zip(y, p, strict=True)) / n
    share = events / n

    def over(top: float, bottom: float) -> float | None:
        return top / bottom if bottom > 0 else None

    def auroc() -> float | None:
        pos = [r for r, o in zip(p, y, strict=True) if o]
        neg = [r for r, o in zip(p, y, strict=True) if not o]
        won = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in pos for b in neg)
        return over(won, len(pos) * len(neg))

    def auprc() -> float | None:
        tops = [sum(1 for r in p if r >= mine) for mine, o in zip(p, y, strict=True) if o]
        hits = [sum(1 for r, o in zip(p, y, strict=True) if o and r >= mine) for mine, e in zip(p, y, strict=True) if e]
        return over(sum(h / t for h, t in zip(hits, tops, strict=True)), events)

    def ece() -> float:
        bins: dict[int, float] = {}
        for o, r in zip(y, p, strict=True):
            bins[min(int(r * 10), 9)] = bins.get(min(int(r * 10), 9), 0.0) + o - r
        return sum(map(abs, bins.values())) / n

    def nagelkerke() -> float | None:
        chances = [r if o else 1 - r for o, r in zip(y, p, strict=True)]
        if not 0 < share < 1 or min(chances) <= 0:
            return None
        null = share * np.log(share) + (1 - share) * np.log(1 - share)
        model = sum(map(np.log, chances)) / n
        return float((1 - np.exp(2 * (null - model))) / (1 - np.exp(2 * null)))

    odds = threshold / (1 - threshold) if threshold is not None else 0.0
    table: dict[str, Callable[[], float | None]] = {
        "auroc": auroc,
        "auprc": auprc,
        "oe_ratio": lambda: over(events, sum(p)),
        "brier": lambda: brier,
        "scaled_brier": lambda: 1 - brier / (share * (1 - share)) if 0 < share < 1 else None,
        "nagelkerke_r2": nagelkerke,
        "ece": ece,
        "sensitivity": lambda: over(tp, events),
        "specificity": lambda: over(tn, n - events),
        "ppv": lambda: over(tp, tp + fp),
        "npv": lambda: over(tn, tn + fn),
        "accuracy": lambda: (tp + tn) / n,
        "alert_rate": lambda: (tp + fp) / n,
        "f1": lambda: over(2 * tp, 2 * tp + fp + fn),
        "net_benefit": lambda: (tp - fp * odds) / n,
    }
    return table[name]()


FITTED = CURVE | {"calibration_slope", "calibration_in_the_large"}
_rng = np.random.default_rng(20)
_risk = _rng.random(40).round(2)
EDGES: dict[str, tuple[object, object, object]] = {
    "one row, an event": ([1], [0.7], None),
    "one row, no event": ([0], [0.7], None),
    "two rows": ([0, 1], [0.2, 0.6], None),
    "one patient": (_rng.integers(0, 2, 40), _risk, ["p"] * 40),
    "two patients": (_rng.integers(0, 2, 40), _risk, ["p", "q"] * 20),
    "no events": (np.zeros(40), _risk, None),
    "all events": (np.ones(40), _risk, None),
    "no events, repeated patients": (np.zeros(40), _risk, np.arange(40) % 25),
    "all events, repeated patients": (np.ones(40), _risk, np.arange(40) % 25),
    "one event": (np.eye(1, 40, 7)[0], _risk, None),
    "one event, repeated patients": (np.eye(1, 40, 7)[0], _risk, np.arange(40) % 25),
    "one risk for all": (_rng.integers(0, 2, 40), np.full(40, 0.3), None),
    "two risks": (_rng.integers(0, 2, 40), np.tile([0.3, 0.6], 20), None),
    "all risks 0": (_rng.integers(0, 2, 40), np.zeros(40), None),
    "all risks 1": (_rng.integers(0, 2, 40), np.ones(40), None),
    "yes and no for risks": (_rng.integers(0, 2, 40), _rng.integers(0, 2, 40), None),
    "perfect": (_risk > 0.5, _risk, None),
    "perfectly wrong": (_risk < 0.5, _risk, None),
    "certain and right": ([0, 1] * 20, [0.0, 1.0] * 20, None),
    "certain and wrong": ([0, 1] * 20, [1.0, 0.0] * 20, None),
}


@pytest.fixture(params=EDGES, name="edge")
def _edge(request: pytest.FixtureRequest) -> Scores:
    y, p, patient = EDGES[request.param]
    return Scores.of({"outcome": y, "risk": p}, patient=patient)  # type: ignore[arg-type]


def test_a_value_or_a_null_with_a_reason(edge: Scores) -> None:
    metrics = every_metric(edge)
    for metric, found in zip(metrics, estimate(edge, metrics, draws=DRAWS), strict=True):
        _complete(found)
        assert (found.n_rows, found.n_patients) == (len(edge), edge.n_patients)
        assert found.n_events == int(edge["outcome"].sum())
        if metric.name not in FITTED:
            expected = _reference(
                metric.name, metric.at.get("threshold"), edge["outcome"].tolist(), edge["risk"].tolist()
            )
            assert (found.value is None) == (expected is None), key(found)
            if expected is not None:
                assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-12), key(found)


def _complete(found: Estimate) -> None:
    """Nothing leaves without its n; what is missing says why; ends come in pairs and in order."""
    assert isinstance(found.n_rows, int)
    assert isinstance(found.n_patients, int)
    for number in (found.value, found.low, found.high, found.se):
        assert number is None or np.isfinite(number), key(found)
    assert (found.low is None) == (found.high is None), key(found)
    if found.value is None:
        assert found.status == "undefined", key(found)
        assert found.low is None, key(found)
    if found.low is None:
        assert found.status in ("undefined", "insufficient"), key(found)
        assert found.reason, key(found)
    else:
        assert found.status == "ok", key(found)
        assert found.high is not None
        assert found.low <= found.high, key(found)


@pytest.mark.parametrize("name", ["no events", "all events", "one row, an event", "one row, no event"])
def test_fitted_metrics_of_one_class_are_undefined(name: str) -> None:
    y, p, patient = EDGES[name]
    scores = Scores.of({"outcome": y, "risk": p}, patient=patient)  # type: ignore[arg-type]
    metrics = [metric for metric in every_metric(scores) if metric.name in FITTED]
    assert len(metrics) == 6
    for found in estimate(scores, metrics, draws=DRAWS):
        assert (found.value, found.status) == (None, "undefined"), key(found)


@pytest.mark.parametrize(
    "name",
    [
        "perfect",
        "perfectly wrong",
        "one risk for all",
        "all risks 0",
        "all risks 1",
        "certain and right",
        "certain and wrong",
    ],
)
def test_a_slope_without_a_finite_value_is_undefined(name: str) -> None:
    y, p, patient = EDGES[name]
    scores = Scores.of({"outcome": y, "risk": p}, patient=patient)  # type: ignore[arg-type]
    metric = next(metric for metric in every_metric(scores) if metric.name == "calibration_slope")
    [found] = estimate(scores, [metric], draws=DRAWS)
    assert (found.value, found.status) == (None, "undefined")


def test_distances_of_a_perfect_curve_are_not_a_silent_0(edge: Scores) -> None:
    """A distance of 0 would need a curve on the diagonal; where no curve exists the answer is null, not 0."""
    for found in estimate(edge, [m for m in every_metric(edge) if m.name in CURVE], draws=DRAWS):
        assert found.value is None or found.value > 1e-9, key(found)


def test_an_empty_slice_says_so() -> None:
    scores = draw_cohort(8, 60)
    empty = Slice({"ward": "closed"}, np.zeros(60, dtype=bool))
    for found in estimate(scores, every_metric(scores), [EVERYTHING, empty], draws=DRAWS)[len(every_metric(scores)) :]:
        assert (found.value, found.status, found.reason) == (None, "undefined", "no rows"), key(found)
        assert (found.n_rows, found.n_patients, found.n_events) == (0, 0, 0)


def test_an_empty_table_says_so() -> None:
    metrics = every_metric(draw_cohort(8, 60))
    nothing = Scores.of({"outcome": [], "risk": []})
    for found in estimate(nothing, metrics, draws=DRAWS):
        assert (found.value, found.status, found.reason) == (None, "undefined", "no rows"), key(found)


@pytest.mark.parametrize("level", ["no events", "all events", "one patient"])
def test_an_edge_inside_a_slice_leaves_the_others_alone(level: str) -> None:
    scores = draw_cohort(9, 160, patients=80)
    chosen = scores.patient == scores.patient[0] if level == "one patient" else np.arange(160) < 30
    outcome = np.where(chosen & (level != "one patient"), float(level == "all events"), scores["outcome"])
    scores = replace(scores, values={**scores.values, "outcome": outcome})
    metrics = every_metric(scores)
    found = estimate(scores, metrics, [EVERYTHING, Slice({"part": "edge"}, chosen)], draws=DRAWS)
    alone = estimate(scores, metrics, draws=DRAWS)
    assert [numbers(one) for one in found[: len(metrics)]] == [
        pytest.approx(numbers(one), rel=1e-12, nan_ok=True) for one in alone
    ]
    for one in found[len(metrics) :]:
        _complete(one)


@given(
    rows=st.lists(
        st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.2, 0.35, 0.5, 0.8, 1.0]), st.integers(0, 5)),
        min_size=1,
        max_size=12,
    )
)
def test_no_small_table_breaks_a_metric(rows: list[tuple[bool, float, int]]) -> None:
    y, p, patient = zip(*rows, strict=True)
    scores = Scores.of({"outcome": y, "risk": p}, patient=patient)
    metrics = every_metric(scores)
    for metric, found in zip(metrics, estimate(scores, metrics, draws=Draws(seed=1, replicates=30)), strict=True):
        _complete(found)
        if metric.name not in FITTED:
            expected = _reference(metric.name, metric.at.get("threshold"), [float(o) for o in y], list(p))
            assert found.value == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-12)), key(
                found
            )
