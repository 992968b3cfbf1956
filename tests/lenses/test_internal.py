"""The internal lens: optimism, folds and sites with a refit function that is watched, and values worked by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.cohorts import draw_cohort
from workup.errors import StudyError
from workup.estimate import Draws, Estimate
from workup.lenses.internal import internal
from workup.metric import Metric, mean
from workup.report import LensResult
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.tasks.risk.metrics import Smoother, risk_metrics

Rows = npt.NDArray[np.intp]
DRAWS = Draws(seed=5, replicates=200)

BRIER = mean("brier", lambda s: (s["risk"] - s["outcome"]) ** 2, describe="mean squared error of the risk")


def auroc(scores: Scores) -> Metric:
    return next(m for m in risk_metrics(thresholds=(), smoother=Smoother.of(scores)) if m.name == "auroc")


def pairs_right(y: Floats, p: Floats) -> float:
    """AUROC by looking at every pair."""
    gaps = p[y == 1][:, None] - p[y == 0][None, :]
    return float(np.mean((gaps > 0) + 0.5 * (gaps == 0)))


def fitted(x: Floats, y: Floats) -> Floats:
    """Coefficients of a logistic regression, by Newton's method with a touch of ridge."""
    beta = np.zeros(x.shape[1])
    for _ in range(12):
        p = 1 / (1 + np.exp(-x @ beta))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 0.05 * np.eye(x.shape[1])
        beta += np.linalg.solve(hessian, x.T @ (y - p) - 0.05 * beta)
    return beta


class Watched:
    """A refit function that keeps the rows of every call."""

    def __init__(self, scores: Scores, fit: Callable[[Rows], Floats]) -> None:
        self.scores, self.fit = scores, fit
        self.calls: list[Rows] = []

    def __call__(self, rows: Rows) -> Scores:
        self.calls.append(rows.copy())
        return replace(self.scores, values={**self.scores.values, "risk": self.fit(rows)})


def look(
    scores: Scores, metrics: list[Metric], refit: Any = None, *, levels: tuple[float, ...] = (0.95,), **settings: Any
) -> LensResult:
    return internal(scores, metrics, settings=settings, draws=DRAWS, levels=levels, refit=refit)


def found(result: LensResult, metric: str, *, level: float = 0.95, **keys: Any) -> Estimate:
    [row] = [e for e in result.estimates if e.metric == metric and dict(e.slice) == keys and e.level == level]
    return row


def noise(n: int = 150, predictors: int = 30) -> tuple[Scores, Watched]:
    """A model fitted to predictors that predict nothing, on the very patients it is judged on."""
    rng = np.random.default_rng(11)
    x = np.column_stack([np.ones(n), rng.normal(size=(n, predictors))])
    y = (rng.random(n) < 0.4).astype(float)

    def fit(rows: Rows) -> Floats:
        return np.asarray(1 / (1 + np.exp(-x @ fitted(x[rows], y[rows]))))

    scores = Scores.of({"outcome": y, "risk": fit(np.arange(n))})
    return scores, Watched(scores, fit)


def test_without_refit_every_metric_stands_once_and_nothing_is_added() -> None:
    scores = draw_cohort(1, 120)
    result = look(scores, [auroc(scores), BRIER])
    assert [(e.metric, dict(e.slice), e.n_rows) for e in result.estimates] == [("auroc", {}, 120), ("brier", {}, 120)]
    assert found(result, "auroc").value == pytest.approx(pairs_right(scores["outcome"], scores["risk"]), abs=1e-12)
    assert result.settings == {"replicates": 200, "levels": [0.95]}
    assert result.notes == ()


def test_each_level_asked_for_has_its_interval() -> None:
    scores = draw_cohort(1, 120)
    result = look(scores, [auroc(scores), BRIER], levels=(0.99, 0.95, 0.90))
    for metric in ("auroc", "brier"):
        rows = [found(result, metric, level=level) for level in (0.99, 0.95, 0.90)]
        lows, highs = [e.low or 0 for e in rows], [e.high or 0 for e in rows]
        assert lows[0] < lows[1] < lows[2] < (rows[0].value or 0) < highs[2] < highs[1] < highs[0]
        assert len({e.value for e in rows}) == 1


# Optimism


def test_an_overfit_model_loses_what_it_never_had() -> None:
    scores, refit = noise()
    result = look(scores, [auroc(scores), BRIER], refit, optimism=60)
    apparent = found(result, "auroc")
    corrected = found(result, "auroc", validation="optimism-corrected")
    assert apparent.value is not None
    assert corrected.value is not None
    assert apparent.value > 0.7, "thirty columns of noise look like a good model"
    assert corrected.value == pytest.approx(0.5, abs=0.08), "the truth is a coin"
    worse = found(result, "brier", validation="optimism-corrected").value
    assert worse is not None
    assert worse > (found(result, "brier").value or 0) + 0.03
    assert len(refit.calls) == 60
    assert any("60 refits" in note and "Harrell" in note for note in result.notes)


def test_a_model_that_no_refit_changes_has_no_optimism() -> None:
    scores = draw_cohort(3, 300)
    refit = Watched(scores, lambda rows: scores["risk"])
    result = look(scores, [auroc(scores), BRIER], refit)
    assert len(refit.calls) == 200, "the default number of refits"
    for metric in ("auroc", "brier"):
        apparent, corrected = found(result, metric), found(result, metric, validation="optimism-corrected")
        assert corrected.value == pytest.approx(apparent.value, abs=0.005)


def test_the_correction_equals_a_loop_by_hand() -> None:
    scores, refit = noise(n=60, predictors=6)
    result = look(scores, [auroc(scores), BRIER], refit, optimism=9)
    y, gaps = scores["outcome"], {"auroc": [], "brier": []}  # type: ignore[var-annotated]
    for rows in refit.calls:
        p = refit.fit(rows)
        gaps["auroc"].append(pairs_right(y[rows], p[rows]) - pairs_right(y, p))
        gaps["brier"].append(np.mean((p[rows] - y[rows]) ** 2) - np.mean((p - y) ** 2))
    for metric, optimism in gaps.items():
        apparent, corrected = found(result, metric), found(result, metric, validation="optimism-corrected")
        shift = float(np.mean(optimism))
        for part in ("value", "low", "high"):
            assert getattr(corrected, part) == pytest.approx(getattr(apparent, part) - shift, abs=1e-10)
        assert f"{shift:.4g}" in corrected.method


def test_the_monte_carlo_error_is_that_of_the_mean_over_refits() -> None:
    scores, refit = noise(n=60, predictors=6)
    result = look(scores, [BRIER], refit, optimism=30)
    y = scores["outcome"]
    gaps = []
    for rows in refit.calls:
        p = refit.fit(rows)
        gaps.append(np.mean((p[rows] - y[rows]) ** 2) - np.mean((p - y) ** 2))
    [row] = result.tables["optimism"]
    error = float(np.std(gaps, ddof=1) / np.sqrt(30))
    assert (row["optimism"], row["monte_carlo_se"]) == (pytest.approx(np.mean(gaps)), pytest.approx(error))
    assert row["corrected"] == found(result, "brier", validation="optimism-corrected").value
    assert row["monte_carlo_share"] == pytest.approx(error / found(result, "brier").se)
    assert f"Monte-Carlo SE {error:.2g}" in found(result, "brier", validation="optimism-corrected").method


def test_too_few_refits_are_told_with_the_number_that_would_do() -> None:
    """The advice is kept: with so many refits the error is small enough, and nothing is advised."""
    scores, refit = noise(n=60, predictors=6)
    few = look(scores, [BRIER], refit, optimism=10)
    needed = few.tables["optimism"][0]["refits_needed"]
    assert needed > 10
    assert any(f"about {needed:,} refits" in note for note in few.notes)
    enough = look(scores, [BRIER], refit, optimism=2 * needed)
    assert enough.tables["optimism"][0]["refits_needed"] is None
    assert not any("Monte-Carlo error" in note for note in enough.notes)


def test_each_refit_draws_whole_patients_as_many_as_there_are() -> None:
    scores = draw_cohort(4, 90, patients=30)
    refit = Watched(scores, lambda rows: scores["risk"])
    look(scores, [BRIER], refit, optimism=20)
    for rows in refit.calls:
        times = np.bincount(rows, minlength=90)
        per_patient = [set(times[scores.patient == code]) for code in np.unique(scores.patient)]
        assert all(len(counts) == 1 for counts in per_patient), "a patient was torn apart"
        assert sum(next(iter(counts)) for counts in per_patient) == scores.n_patients
    assert len({rows.tobytes() for rows in refit.calls}) == 20


def test_refits_follow_from_the_seed() -> None:
    scores = draw_cohort(4, 60)
    drawn = []
    for seed in (1, 1, 2):
        refit = Watched(scores, lambda rows: scores["risk"])
        internal(scores, [BRIER], settings={"optimism": 3}, draws=Draws(seed, 200), refit=refit)
        drawn.append([rows.tolist() for rows in refit.calls])
    assert drawn[0] == drawn[1] != drawn[2]


def test_refits_without_a_value_are_counted_and_said() -> None:
    scores = draw_cohort(4, 60)
    risks = iter([np.full(60, np.nan)] * 2 + [scores["risk"]] * 3)
    refit = Watched(scores, lambda rows: next(risks))
    result = look(scores, [BRIER], refit, optimism=5)
    assert "2 of 5 refits" in (found(result, "brier", validation="optimism-corrected").reason or "")
    never = Watched(scores, lambda rows: np.full(60, np.nan))
    row = found(look(scores, [BRIER], never, optimism=5), "brier", validation="optimism-corrected")
    assert (row.value, row.low, row.high, row.status) == (None, None, None, "undefined")
    assert row.reason


def test_optimism_of_zero_asks_for_none() -> None:
    scores = draw_cohort(4, 60)
    refit = Watched(scores, lambda rows: scores["risk"])
    assert len(look(scores, [BRIER], refit, optimism=0).estimates) == 1
    assert refit.calls == []


# Folds


def mean_of_training(scores: Scores) -> Watched:
    """A model whose risk is the share of events among the rows it was fitted on."""
    return Watched(scores, lambda rows: np.full(len(scores), scores["outcome"][rows].mean()))


def test_folds_hold_whole_patients_and_each_is_held_out_once() -> None:
    scores = draw_cohort(6, 100, patients=23)
    refit = mean_of_training(scores)
    look(scores, [BRIER], refit, optimism=0, folds=5)
    assert len(refit.calls) == 5
    patients = set(scores.patient.tolist())
    held_out: list[int] = []
    for rows in refit.calls:
        assert len(set(rows.tolist())) == rows.size
        out = patients - set(scores.patient[rows].tolist())
        assert all((scores.patient[rows] != code).all() for code in out)
        assert rows.size == sum(int((scores.patient == code).sum()) for code in patients - out)
        held_out += sorted(out)
    assert sorted(held_out) == sorted(patients)
    sizes = [len(patients - set(scores.patient[rows].tolist())) for rows in refit.calls]
    assert max(sizes) - min(sizes) <= 1


def test_folds_equal_a_loop_by_hand() -> None:
    scores = draw_cohort(6, 40, patients=20)
    refit = mean_of_training(scores)
    row = found(look(scores, [BRIER], refit, optimism=0, folds=4), "brier", validation="4-fold")
    errors = np.full(40, np.nan)
    for rows in refit.calls:
        out = np.setdiff1d(np.arange(40), rows)
        errors[out] = (scores["outcome"][rows].mean() - scores["outcome"][out]) ** 2
    assert row.value == pytest.approx(errors.mean(), abs=1e-12)
    assert (row.n_rows, row.n_patients) == (40, scores.n_patients)
    assert row.low is not None
    assert row.low < errors.mean() < (row.high or 0)


def test_cross_validation_too_sees_through_noise() -> None:
    scores, refit = noise()
    row = found(look(scores, [auroc(scores)], refit, optimism=0, folds=10), "auroc", validation="10-fold")
    assert row.value == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize("folds", [1, 31])
def test_folds_are_two_to_the_number_of_patients(folds: int) -> None:
    scores = draw_cohort(6, 60, patients=30)
    with pytest.raises(StudyError, match=rf"folds must be 2 to the number of patients \({scores.n_patients}\); got"):
        look(scores, [BRIER], mean_of_training(scores), optimism=0, folds=folds)


# Sites


def at_sites(n: int = 60) -> Scores:
    scores = draw_cohort(8, n)
    names = np.array(["north", "south", "west", None], dtype=object)[np.arange(n) % 4]
    return Scores.of(dict(scores.values), site=names)


def test_each_site_is_predicted_by_a_model_that_never_saw_it() -> None:
    scores = at_sites()
    assert scores.site is not None
    refit = mean_of_training(scores)
    result = look(scores, [BRIER], refit, optimism=0, leave_one_site_out=True)
    masks = dict(scores.site.masks())
    assert list(masks) == ["north", "south", "west", "missing"]
    assert len(refit.calls) == 4
    for (name, inside), rows in zip(masks.items(), refit.calls, strict=True):
        np.testing.assert_array_equal(rows, np.flatnonzero(~inside))
        row = found(result, "brier", validation="leave-one-site-out", site=name)
        by_hand = np.mean((scores["outcome"][rows].mean() - scores["outcome"][inside]) ** 2)
        assert row.value == pytest.approx(by_hand, abs=1e-12)
        assert row.n_rows == inside.sum()
    assert any(note.startswith("Leave-one-site-out") for note in result.notes)


def test_sites_are_needed_to_leave_one_out() -> None:
    scores = draw_cohort(8, 60)
    for sites in (None, ["only"] * 60):
        one = Scores.of(dict(scores.values), site=sites)
        with pytest.raises(StudyError, match="site column with at least two sites"):
            look(one, [BRIER], mean_of_training(one), optimism=0, leave_one_site_out=True)


# Settings


@pytest.mark.parametrize("settings", [{"optimism": 50}, {"folds": 5}, {"leave_one_site_out": True}])
def test_what_needs_a_refit_function_asks_for_it(settings: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match=rf"{next(iter(settings))} need a refit function. To fix"):
        look(draw_cohort(1, 60), [BRIER], **settings)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"optimsm": 5}, r"lenses.internal.*did you mean 'optimism'\?"),
        ({"optimism": -1}, r"lenses.internal.*optimism"),
        ({"folds": "five"}, r"lenses.internal.*folds"),
    ],
)
def test_settings_that_are_wrong_are_taught(settings: dict[str, Any], says: str) -> None:
    scores = draw_cohort(1, 60)
    with pytest.raises(StudyError, match=says):
        look(scores, [BRIER], mean_of_training(scores), **settings)


def test_the_settings_stand_in_the_result() -> None:
    scores = draw_cohort(1, 60)
    result = look(scores, [BRIER], mean_of_training(scores), optimism=2, folds=3)
    assert result.settings["optimism"] == 2
    assert result.settings["folds"] == 3
    assert result.settings["leave_one_site_out"] is False
