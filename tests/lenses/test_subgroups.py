"""The subgroups lens: every level of every grouping is listed, the missing among them, and none is dropped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.cohorts import draw_cohort
from workup.errors import StudyError
from workup.estimate import EVERYTHING, Draws, Estimate, estimate
from workup.lenses.subgroups import lens as lens
from workup.lenses.subgroups.lens import subgroups
from workup.metric import Metric
from workup.report import LensResult
from workup.scores import Levels, Scores
from workup.tasks.risk.metrics import Smoother, risk_metrics

DRAWS = Draws(seed=2, replicates=200)
CHOSEN = ("auroc", "brier", "calibration_slope", "sensitivity")


def metrics(scores: Scores) -> list[Metric]:
    every = risk_metrics(thresholds=(0.3,), smoother=Smoother.of(scores))
    return [metric for metric in every if metric.name in CHOSEN]


def look(scores: Scores, *, levels: tuple[float, ...] = (0.95,), **settings: Any) -> LensResult:
    return subgroups(scores, metrics(scores), settings=settings, draws=DRAWS, levels=levels)


def rows(result: LensResult, metric: str, name: str) -> list[Estimate]:
    return [e for e in result.estimates if e.metric == metric and name in e.slice]


def two_groupings(n: int = 240) -> Scores:
    scores = draw_cohort(3, n, patients=n // 2)
    code = np.arange(n)
    sex = np.array(["F", "M", None, "F"], dtype=object)[code % 4]
    lone = np.where(code == 0, "alone", "many")
    return replace(scores, groups={**scores.groups, "sex": Levels.of(sex), "lone": Levels.of(lone)})


@pytest.mark.parametrize("metric", CHOSEN)
@pytest.mark.parametrize("name", ["ward", "sex", "lone"])
def test_every_level_is_listed_and_sizes_add_up(metric: str, name: str) -> None:
    scores = two_groupings()
    found = rows(look(scores), metric, name)
    assert {str(e.slice[name]) for e in found} == set(scores.groups[name].names)
    assert len(found) == len(scores.groups[name].names)
    assert sum(e.n_rows for e in found) == len(scores)
    assert sum(e.n_events or 0 for e in found) == scores["outcome"].sum()
    for e in found:
        inside = scores.groups[name].codes == scores.groups[name].names.index(str(e.slice[name]))
        assert e.n_rows == inside.sum()
        assert e.n_patients == np.unique(scores.patient[inside]).size


def test_the_missing_are_a_group_like_any_other() -> None:
    scores = two_groupings(600)
    for name in ("ward", "sex"):
        [missing] = [e for e in rows(look(scores), "auroc", name) if e.slice[name] == "missing"]
        assert missing.status == "ok"
        assert missing.value is not None


def test_the_largest_group_comes_first() -> None:
    sizes = [e.n_rows for e in rows(look(two_groupings()), "brier", "ward")]
    assert sizes == sorted(sizes, reverse=True)


def test_a_group_of_one_shows_its_size_and_why_it_has_no_figure() -> None:
    scores = two_groupings()
    for metric in CHOSEN:
        [alone] = [e for e in rows(look(scores), metric, "lone") if e.slice["lone"] == "alone"]
        assert (alone.n_rows, alone.n_patients) == (1, 1)
        assert alone.status in ("undefined", "insufficient") or metric == "sensitivity"
        assert alone.status == "ok" or alone.reason
        assert alone.value != 0 or alone.numerator == 0


def test_a_level_without_rows_is_kept_with_its_reason() -> None:
    scores = draw_cohort(3, 60)
    codes = np.arange(60, dtype=np.int64) % 2
    result = look(replace(scores, groups={"arm": Levels(codes, ("a", "b", "never"))}))
    [empty] = [e for e in rows(result, "auroc", "arm") if e.slice["arm"] == "never"]
    assert (empty.n_rows, empty.value, empty.status, empty.reason) == (0, None, "undefined", "no rows")


def test_a_group_has_the_figures_of_its_rows_alone() -> None:
    scores = two_groupings()
    inside = scores.groups["sex"].codes == scores.groups["sex"].names.index("M")
    alone = {e.metric: e for e in estimate(scores.take(inside), metrics(scores), (EVERYTHING,), draws=DRAWS)}
    for e in look(scores, by=["sex"]).estimates:
        if e.slice["sex"] == "M":
            assert e.value == pytest.approx(alone[e.metric].value, abs=1e-12)
            if not e.method.startswith("BCa"):  # resampled ends come from patients of all groups drawn together
                assert (e.low, e.high) == pytest.approx((alone[e.metric].low, alone[e.metric].high), abs=1e-12)


def test_thresholds_and_groups_name_the_slice_together() -> None:
    found = rows(look(two_groupings(), by=["sex"]), "sensitivity", "sex")
    assert [dict(e.slice) for e in found] == [{"sex": name, "threshold": 0.3} for name in ("F", "M", "missing")]


def test_by_chooses_the_groupings() -> None:
    result = look(two_groupings(), by=["sex"])
    assert {name for e in result.estimates for name in e.slice} == {"sex", "threshold"}
    assert result.settings["by"] == ["sex"]
    assert look(two_groupings()).settings["by"] == ["ward", "sex", "lone"]


def test_groups_are_needed() -> None:
    with pytest.raises(StudyError, match=r"needs groups. To fix: name columns under columns\.groups"):
        look(replace(draw_cohort(1, 60), groups={}))


def test_each_level_of_confidence_is_given() -> None:
    result = look(two_groupings(), levels=(0.95, 0.90), by=["sex"])
    assert len(result.estimates) == 2 * len(CHOSEN) * 3
    assert {e.level for e in result.estimates} == {0.95, 0.90}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"by": ["sexx"]}, r"subgroups.*'sexx'.*did you mean 'sex'\?"),
        ({"bye": ["sex"]}, r"lenses.subgroups.*did you mean 'by'\?"),
        ({"by": "sex"}, r"lenses.subgroups.*'by'"),
    ],
)
def test_settings_that_are_wrong_are_taught(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(StudyError, match=says):
        look(two_groupings(), **settings)


def test_a_gap_without_an_interval_keeps_its_standard_error() -> None:
    row = {"se": 0.02, "low": None, "high": None, "level": 0.95}
    assert lens._error(row) == 0.02
    wide = {**row, "low": -0.1, "high": 0.1}
    assert lens._error(wide) == pytest.approx(0.1 / 1.959964, rel=1e-6)
    assert lens._error({**wide, "se": 0.5}) == 0.5


def test_groups_crossed_into_too_many_are_refused_before_any_work() -> None:
    scores = draw_cohort(seed=3, n=800)
    wards, shifts = (np.array([f"{name}{i % 8}" for i in range(len(scores))]) for name in ("ward", "shift"))
    crossed = replace(
        scores, groups={"ward": Levels.of(wards), "shift": Levels.of(np.roll(np.repeat(shifts[:8], 100), 3))}
    )
    with pytest.raises(StudyError, match=r"lenses\.subgroups: .*ward × shift.*64"):
        look(crossed, intersections=[["ward", "shift"]])
