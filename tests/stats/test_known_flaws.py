"""Flaws of common implementations: what the common formula gives, that it is wrong, and that ours is not.

Every test would fail if ours were the common formula.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import special, stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, precision_score

from workup.estimate import Draws, Estimate, estimate, replicate
from workup.metric import Metric
from workup.scores import Levels, Scores
from workup.stats import calibration, intervals, rank
from workup.tasks.risk.metrics import at_threshold, calibration_metrics, discrimination


def _named(metrics: list[Metric], name: str) -> Metric:
    return next(metric for metric in metrics if metric.name == name)


def _one(scores: Scores, metric: Metric, *, replicates: int = 400) -> Estimate:
    [found] = estimate(scores, [metric], draws=Draws(seed=5, replicates=replicates))
    return found


# ---- calibration -----------------------------------------------------------------------------------------------------


def test_a_penalised_slope_shrinks_a_perfect_model() -> None:
    """The truth is 1; scikit-learn's default penalty makes it 0.63 at n = 60."""
    metric = _named(calibration_metrics(), "calibration_slope")
    penalised, ours = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        lp = rng.normal(-0.3, 0.37, 60)
        y = (rng.random(60) < special.expit(lp)).astype(float)
        penalised.append(LogisticRegression(solver="newton-cholesky").fit(lp[:, None], y).coef_[0, 0])
        ours.append(metric.value(Scores.of({"outcome": y, "risk": special.expit(lp)})))
    assert np.mean(penalised) == pytest.approx(0.63, abs=0.04)
    assert np.median(ours) == pytest.approx(1.0, abs=0.15)  # its standard error over 200 sets is 0.06


def test_the_joint_intercept_is_not_calibration_in_the_large() -> None:
    """Risks far too low on average and too extreme: the joint intercept is 0, O/E is 1.57."""
    rng = np.random.default_rng(2)
    lp = rng.normal(-1.46, 1.0, 40_000)
    y = (rng.random(lp.size) < special.expit(0.42 * lp)).astype(float)
    scores = Scores.of({"outcome": y, "risk": special.expit(lp)})
    naive = calibration.joint_intercept(y, lp, np.ones(lp.size))
    assert abs(naive.value) < 2.5 * naive.se < 0.06
    assert _named(calibration_metrics(), "oe_ratio").value(scores) == pytest.approx(1.57, abs=0.03)
    large = _one(scores, _named(calibration_metrics(), "calibration_in_the_large"))
    assert large.value is not None
    assert large.low is not None
    assert large.low > 0.5  # plainly not 0
    shifted = special.expit(lp + large.value)
    assert shifted.sum() == pytest.approx(y.sum(), rel=1e-9)  # its definition: with it, expected equals observed


def test_risks_of_0_and_1_have_no_log_odds_of_their_own() -> None:
    rng = np.random.default_rng(3)
    risk = np.concatenate([[0.0, 1.0, 0.0, 1.0], rng.random(96)])
    y = (rng.random(100) < risk).astype(float)
    y[:2] = 1, 0  # one certain risk of each kind is wrong, which a logit of infinity could never forgive
    with np.errstate(divide="ignore"):
        assert np.isinf(special.logit(risk)).sum() == 4
    scores = Scores.of({"outcome": y, "risk": risk})
    assert calibration.n_clipped(risk) == 4
    for name in ("calibration_slope", "calibration_in_the_large"):
        found = _one(scores, _named(calibration_metrics(), name))
        assert found.status == "ok"
        assert found.value is not None
        assert found.low is not None
        assert found.low < found.value < (found.high or -np.inf)
    assert np.abs(calibration.logit(risk)).max() == pytest.approx(special.logit(1 - 1e-6))


# ---- undefined -------------------------------------------------------------------------------------------------------


def test_one_class_has_no_two_by_two_table_to_unravel() -> None:
    y = np.zeros(12)
    risk = np.linspace(0.05, 0.45, 12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = confusion_matrix(y, risk >= 0.5).ravel()
    assert table.size == 1  # tn, fp, fn, tp = … raises
    found = {
        one.metric: one for one in estimate(Scores.of({"outcome": y, "risk": risk}), at_threshold(0.5), draws=Draws())
    }
    assert (found["specificity"].value, found["specificity"].numerator) == (1.0, 12.0)
    assert (found["npv"].value, found["accuracy"].value, found["alert_rate"].value) == (1.0, 1.0, 0.0)
    for name in ("sensitivity", "ppv", "f1"):
        assert (found[name].value, found[name].status) == (None, "undefined")


def test_undefined_is_not_0() -> None:
    """No row is flagged: scikit-learn shows a PPV of 0, which reads as "every alarm was false"."""
    y, risk = np.array([0.0, 1, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert precision_score(y, risk >= 0.5) == 0.0
    scores = Scores.of({"outcome": y, "risk": risk})
    found = _one(scores, _named(at_threshold(0.5), "ppv"))
    assert (found.value, found.low, found.high, found.status) == (None, None, None, "undefined")
    assert found.reason == "no row is flagged"
    assert (found.numerator, found.denominator, found.n_rows) == (0.0, 0.0, 4)
    assert _one(scores, _named(at_threshold(0.5), "sensitivity")).value == 0.0  # a true 0 stays one


# ---- proportions -----------------------------------------------------------------------------------------------------


def test_a_percentile_bootstrap_of_a_proportion_covers_too_little() -> None:
    """20 positives, a true sensitivity of 0.95: all outcomes enumerated, the bootstrap by its exact distribution."""
    truth, n = 0.95, 20
    metric = _named(at_threshold(0.5), "sensitivity")
    naive = ours = 0.0
    for hits in range(n + 1):
        chance = stats.binom.pmf(hits, n, truth)
        low, high = stats.binom.ppf([0.025, 0.975], n, hits / n) / n if 0 < hits < n else (hits / n, hits / n)
        naive += chance * (low <= truth <= high)
        risk = np.concatenate([np.repeat([0.9, 0.1], [hits, n - hits]), np.full(5, 0.2)])
        found = _one(Scores.of({"outcome": np.repeat([1.0, 0.0], [n, 5]), "risk": risk}), metric)
        assert found.low is not None
        assert found.high is not None
        ours += chance * (found.low <= truth <= found.high)
    assert naive == pytest.approx(0.64, abs=0.01)
    assert ours == pytest.approx(0.92, abs=0.01)


def _cluster_percentile(hits: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """The percentile interval over all k^k resamples of k clusters."""
    k = hits.size
    every = np.array(np.meshgrid(*[np.arange(k)] * k)).reshape(k, -1)
    low, high = np.quantile(hits[every].sum(axis=0) / sizes[every].sum(axis=0), [0.025, 0.975])
    return float(low), float(high)


def test_a_percentile_cluster_bootstrap_over_four_patients_covers_too_little() -> None:
    rng = np.random.default_rng(11)
    truth, covered, effective = 0.5, 0, 0
    sets = 600
    for _ in range(sets):
        own = rng.beta(2, 2, 4)  # mean 0.5
        sizes = np.full(4, 30)
        hits = rng.binomial(sizes, own)
        low, high = _cluster_percentile(hits, sizes)
        covered += low <= truth <= high
        x = np.concatenate([np.repeat([1.0, 0.0], [h, 30 - h]) for h in hits])
        share = intervals.clustered_share(x, np.ones(120), np.repeat(np.arange(4), 30), np.ones(120))
        ends = intervals.effective_ends(share)
        effective += ends.low <= truth <= ends.high
    assert 0.68 < covered / sets < 0.84
    assert effective / sets > 0.92


def test_four_patients_get_a_wide_share_with_a_warning_and_no_resampled_interval() -> None:
    rng = np.random.default_rng(4)
    scores = Scores.of(
        {"outcome": rng.integers(0, 2, 120), "risk": rng.random(120)}, patient=np.repeat(["p", "q", "r", "s"], 30)
    )
    found = _one(scores, _named(calibration_metrics(), "brier"))
    assert found.value is not None
    assert (found.low, found.high, found.status) == (None, None, "insufficient")
    share = _one(scores, _named(at_threshold(0.5), "sensitivity"))
    assert share.low is not None and share.high is not None
    assert share.high - share.low > 0.4
    assert "only 4 clusters: read with care" in str(share.reason)


# ---- resampling ------------------------------------------------------------------------------------------------------


def _rare(seed: int, n: int = 300) -> Scores:
    """A weak model of a rare outcome, where prevalence drives the error."""
    rng = np.random.default_rng(seed)
    lp = rng.normal(-2.2, 0.7, n)
    return Scores.of({"outcome": rng.random(n) < special.expit(lp), "risk": special.expit(lp)})


@pytest.mark.parametrize(
    "metric",
    [
        _named(calibration_metrics(), "brier"),
        _named(calibration_metrics(), "oe_ratio"),
        _named(at_threshold(0.04), "ppv"),
        _named(at_threshold(0.1), "net_benefit"),
    ],
    ids=lambda metric: metric.name,
)
def test_strata_of_the_outcome_fix_the_prevalence(metric: Metric) -> None:
    """Resampling events and others apart holds the prevalence still: the interval is far too short."""
    truth = np.std([metric.value(_rare(seed)) for seed in range(1_000, 1_800)], ddof=1)
    naive, ours = [], []
    for seed in range(4):
        scores = _rare(seed)
        strata = Levels.of(scores["outcome"])
        fixed = replicate(scores, [metric], draws=Draws(seed=1, replicates=400, strata=strata))[0, 0]
        naive.append(np.nanstd(fixed, ddof=1))
        ours.append(_one(scores, metric).se)
    assert np.mean(naive) < 0.75 * truth
    assert np.mean(ours) == pytest.approx(truth, rel=0.15)


def test_stratified_intervals_cover_far_less_than_they_say() -> None:
    """Brier of the rare outcome over 150 sets: what is asked for is 0.95."""
    metric = _named(calibration_metrics(), "brier")
    truth = float(np.mean([metric.value(_rare(seed, 20_000)) for seed in range(5)]))
    naive = ours = 0
    for seed in range(150):
        scores = _rare(seed)
        draws = Draws(seed=seed, replicates=200, strata=Levels.of(scores["outcome"]))
        [fixed] = estimate(scores, [metric], draws=draws)
        [found] = estimate(scores, [metric], draws=Draws(seed=seed, replicates=200))
        naive += (fixed.low or 1) <= truth <= (fixed.high or 0)
        ours += (found.low or 1) <= truth <= (found.high or 0)
    assert naive / 150 < 0.80
    assert ours / 150 > 0.90


def test_resampling_rows_takes_copies_for_patients() -> None:
    """60 patients, each row five times over: a bootstrap of rows is narrower by √5, ours is that of the patients."""
    rng = np.random.default_rng(6)
    lp = rng.normal(-0.5, 1, 60)
    y = (rng.random(60) < special.expit(lp)).astype(float)
    once = Scores.of({"outcome": y, "risk": special.expit(lp)})
    five = Scores.of(
        {name: np.repeat(once[name], 5) for name in ("outcome", "risk")}, patient=np.repeat(np.arange(60), 5)
    )
    as_rows = Scores.of({name: five[name] for name in ("outcome", "risk")})
    metric = _named(calibration_metrics(), "brier")
    patients, rows, ours = (_one(scores, metric, replicates=2_000) for scores in (once, as_rows, five))
    assert patients.se is not None
    assert rows.se == pytest.approx(patients.se / np.sqrt(5), rel=0.08)
    assert (ours.low, ours.high) == (pytest.approx(patients.low, rel=1e-9), pytest.approx(patients.high, rel=1e-9))
    assert (ours.n_patients, ours.n_rows) == (60, 300)


# A share over patients is exact and allows for clustering that was not seen: a sixth wider than Wilson's of patients.
WIDER = {"sensitivity": 0.2}


@pytest.mark.parametrize("name", ["calibration_slope", "calibration_in_the_large", "oe_ratio", "auroc", "sensitivity"])
def test_analytic_intervals_count_patients_too(name: str) -> None:
    rng = np.random.default_rng(7)
    lp = rng.normal(-0.5, 1, 150)
    y = (rng.random(150) < special.expit(lp)).astype(float)
    metrics = discrimination() + calibration_metrics() + at_threshold(0.4)
    once = {"outcome": y, "risk": special.expit(lp)}
    five = {column: np.repeat(values, 5) for column, values in once.items()}
    patients = _one(Scores.of(once), _named(metrics, name))
    as_rows = _one(Scores.of(five), _named(metrics, name))
    ours = _one(Scores.of(five, patient=np.repeat(np.arange(150), 5)), _named(metrics, name))
    assert patients.high is not None
    assert patients.low is not None
    width, naive, honest = (float(e.high) - float(e.low) for e in (patients, as_rows, ours))  # type: ignore[arg-type]
    assert naive < 0.55 * width
    assert honest == pytest.approx(width, rel=WIDER.get(name, 0.15))


# ---- AUC -------------------------------------------------------------------------------------------------------------


def test_a_raw_scale_auc_interval_leaves_the_scale() -> None:
    y = np.repeat([0.0, 1.0], [15, 8])
    risk = np.concatenate([np.linspace(0.02, 0.60, 15), [0.55, 0.58, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]])
    found = rank.delong(y, risk)
    assert found.auc + intervals.z_critical(0.95) * np.sqrt(found.variance) > 1
    ours = _one(Scores.of({"outcome": y, "risk": risk}), _named(discrimination(), "auroc"))
    assert ours.low is not None
    assert ours.high is not None
    assert 0.5 < ours.low < found.auc < ours.high < 1


def test_a_perfect_auc_is_not_certain() -> None:
    """DeLong's variance is 0 at an AUC of 1: the raw interval is [1, 1] on eight rows."""
    y, risk = np.repeat([0.0, 1.0], 4), np.linspace(0.1, 0.9, 8)
    assert rank.delong(y, risk).variance == 0
    ours = _one(Scores.of({"outcome": y, "risk": risk}), _named(discrimination(), "auroc"))
    assert (ours.value, ours.high, ours.method) == (1.0, 1.0, "Newcombe method 5")
    assert ours.low is not None
    assert ours.low < 0.75
