"""The interval of F: that of a share where it is one, and wider where few patients make up its variance."""

from __future__ import annotations

import numpy as np
import pytest

from workup.scores import Scores
from workup.stats import intervals
from workup.tasks.spans import columns
from workup.tasks.spans.counting.matchup import Setting
from workup.tasks.spans.counting.modes import parse_mode
from workup.tasks.spans.metrics import _degrees, accuracy_metrics

SETTING = Setting(parse_mode("strict"), "leaf", "as_annotated")


def scores(golds: list[int], hits: list[int], predictions: list[int]) -> Scores:
    values = {"golds": golds, "hits": hits, "exact_hits": hits, "predictions": predictions, "credited": hits}
    values["neutral"] = [0] * len(golds)
    return Scores.of({columns.of_setting(SETTING, name): column for name, column in values.items()})


def interval(name: str, of: Scores) -> tuple[float, float]:
    [metric] = [one for one in accuracy_metrics(SETTING, at={}) if one.name == name]
    assert metric.interval is not None
    found = metric.interval(of, 0.95)
    assert found.low is not None and found.high is not None
    return found.low, found.high


def test_degrees_of_freedom_by_hand() -> None:
    assert _degrees(np.array([1.0, -1.0] * 10)) == 19  # all patients alike: those of the patients, as for a mean
    assert _degrees(np.array([3.0] + [0.0] * 19)) == pytest.approx(40 / 19)  # one patient alone
    assert _degrees(np.array([1.0, -1.0] + [0.0] * 18)) == pytest.approx(2 * 20 / 9)  # 2n / (n / 2 - 1)
    normal = np.random.default_rng(1).standard_normal(100_000)
    assert _degrees(normal) == pytest.approx(100_000, rel=0.03)


def test_f_of_equal_recall_and_precision_has_the_interval_of_that_share() -> None:
    """Every patient has as many predictions as golds, so F1 is recall, influence by influence."""
    rng = np.random.default_rng(5)
    golds = rng.integers(3, 12, 60)
    hits = rng.binomial(golds, 0.8)
    of = scores(golds.tolist(), hits.tolist(), golds.tolist())
    share = hits.sum() / golds.sum()
    # That of the share but for two details: the share counts leverage and takes the best of all worse results.
    own = intervals.clustered_share(hits.astype(float), golds.astype(float), np.arange(60), np.ones(60))
    low, high = intervals.effective_ends(own)
    assert share == own.share
    assert interval("f1", of) == pytest.approx((low, high), abs=0.01)
    assert interval("f2", of) == pytest.approx((low, high), abs=0.01)


@pytest.mark.parametrize("beta", [1, 2])
def test_the_interval_of_f_written_out(beta: int) -> None:
    """The design effect seen over patients, drawn towards the assumed one, over golds and predictions that stand for
    themselves: with recall and precision alike their weights are β²/(1 + β²) and 1/(1 + β²)."""
    rng = np.random.default_rng(7)
    golds = rng.integers(2, 15, 60)
    hits = rng.binomial(golds, 0.8)
    found = interval(f"f{beta}", scores(golds.tolist(), hits.tolist(), golds.tolist()))
    n, m, q = float(golds.sum()), 60, hits.sum() / golds.sum()
    size = n * (1 + beta**2) ** 2 / (beta**4 + 1)
    influence = (hits - q * golds) / n
    seen = max(1.0, m / (m - 1) * float(influence @ influence) / (q * (1 - q) / size))
    e = size * min(q, 1 - q) / seen
    told, assumed = e * (m - 1) / (e + m - 1), 1 + (float(golds @ golds) / n - 1) / 3
    effect = max(seen, (told * seen + 3 * assumed) / (told + 3))
    df = min(_degrees(influence), m - 1, told + 6)
    effective = size / effect * (intervals.z_critical(0.95) / intervals.t_critical(0.95, df)) ** 2
    assert found == pytest.approx(tuple(intervals.clopper_pearson(q * effective, effective)), abs=1e-7)


def test_a_perfect_f_has_no_lower_end_than_a_worse_one() -> None:
    golds = [12] * 12
    perfect, nearly = (interval("f1", scores(golds, [12] * 11 + [n], golds)) for n in (12, 11))
    assert perfect[0] >= nearly[0]
    assert perfect[0] == pytest.approx(0.025 ** ((1 + 11 / 3) / 144))


def test_misses_of_one_patient_widen_the_interval() -> None:
    """As many misses, in one patient or one in each of ten: the same F1, and not the same certainty."""
    together = scores([20] * 30, [10] + [20] * 29, [20] * 30)
    spread = scores([20] * 30, [19] * 10 + [20] * 20, [20] * 30)
    low, high = interval("f1", together)
    nearer_low, nearer_high = interval("f1", spread)
    assert low < nearer_low < nearer_high < high
