"""No row of a comparison contradicts itself: verdict, p, interval and margin are of one rule, in the record and in
every form it is shown in. Written once, run over the metrics of all tasks and over generated studies."""

from __future__ import annotations

import html as escaping
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sims.fairness import contradiction
from tests.support.cohorts import draw_cohort
from tests.support.registered import every_metric
from tests.support.scored_studies import CORPORA, scored_conversations, scored_notes
from workup.compare import compare, compare_scores, gain
from workup.errors import StudyError
from workup.estimate import Draws
from workup.lenses.subgroups.lens import subgroups
from workup.metric import Metric
from workup.report import LensResult, Report
from workup.reports import comparison, html, markdown, text
from workup.scores import Levels, Scores
from workup.study import Study
from workup.validate import validate

DRAWS = Draws(seed=5, replicates=120)


def grouped(scores: Scores, groups: int, seed: int = 1) -> Scores:
    """The scores with patients dealt to groups of unequal size."""
    rng = np.random.default_rng(seed)
    chance = np.arange(groups, 0, -1) / np.arange(groups, 0, -1).sum()
    of_patient = rng.choice(groups, int(scores.patient.max()) + 1, p=chance)
    names = tuple("ABCDE"[:groups])
    return replace(scores, groups={"g": Levels(of_patient[scores.patient].astype(np.int64), names)})


def refuse_contradictions(found: LensResult) -> None:
    for row in found.comparisons:
        assert contradiction(row) == "", row


# ---- groups ----------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    rows=st.sampled_from([60, 150, 400]),
    repeated=st.booleans(),
    groups=st.integers(2, 4),
    comparator=st.sampled_from(["rest", "overall", "largest", "best"]),
    margin=st.sampled_from([0.0, 0.02, 0.1, {"calibration_slope": 0.2, "oe_ratio": 0.1, "brier": 0.02, "auroc": 0.0}]),
    adjust=st.sampled_from(["holm", "bh"]),
)
def test_rows_of_risk_groups_agree(
    seed: int,
    rows: int,
    repeated: bool,
    groups: int,
    comparator: str,
    margin: float | dict[str, float],
    adjust: str,
) -> None:
    scores = draw_cohort(seed, rows, patients=rows // 2 if repeated else None, digits=2 if seed % 2 else None)
    scores = grouped(scores, groups, seed)
    worse = scores.groups["g"].codes == groups - 1
    scores = replace(scores, values={**scores.values, "risk": np.where(worse, 0.5 * scores["risk"], scores["risk"])})
    metrics = [one for one in every_metric(scores) if one.name != "ece"]
    chosen = {"margin": margin, "comparator": comparator, "adjust": adjust}
    refuse_contradictions(subgroups(scores, metrics, settings=chosen, draws=DRAWS))


def test_ends_that_run_away_on_the_log_scale_give_a_p_without_a_warning() -> None:
    """Two events in a group: the ends of O/E overflow at the outermost levels that a p is looked for."""
    scores = grouped(draw_cohort(1, 120), 2)
    worse = scores.groups["g"].codes == 1
    outcome = np.where(worse, 0.0, scores["outcome"])
    outcome[np.flatnonzero(worse)[:2]] = 1.0
    scores = replace(scores, values={**scores.values, "outcome": outcome})
    metrics = [one for one in every_metric(scores) if one.name == "oe_ratio"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = subgroups(scores, metrics, settings={"margin": {"oe_ratio": 0.1}}, draws=DRAWS)
    refuse_contradictions(found)
    assert all(row["p"] is not None for row in found.comparisons if row["value"] is not None)


def once_each(metrics: Sequence[Metric]) -> list[Metric]:
    """The first metric of every name."""
    return list({metric.name: metric for metric in reversed(metrics)}.values())


@pytest.mark.parametrize("corpus", ["a note a patient", "several notes a patient", "nothing missed"])
@pytest.mark.parametrize("comparator", ["rest", "overall"])
def test_rows_of_span_groups_agree(corpus: str, comparator: str) -> None:
    scores, metrics = scored_notes(*CORPORA[corpus])
    chosen = {"margin": {metric.name: 0.03 for metric in metrics}, "comparator": comparator}
    refuse_contradictions(subgroups(grouped(scores, 3), once_each(metrics), settings=chosen, draws=DRAWS))


@pytest.mark.parametrize("study", ["a mixed model", "everything lost"])
def test_rows_of_conversation_groups_agree(study: str) -> None:
    scores, metrics = scored_conversations(study)
    chosen = {"margin": {metric.name: 0.1 for metric in metrics}}
    refuse_contradictions(subgroups(grouped(scores, 2), once_each(metrics), settings=chosen, draws=DRAWS))


def test_a_group_that_the_test_of_all_groups_cannot_see_is_not_held_back_by_it() -> None:
    """Cochran's Q has no logit of a sensitivity of 0, and finds the other groups alike; the worst still stands out."""
    scores = grouped(draw_cohort(3, 900, patients=450), 4)
    missed = (scores.groups["g"].codes == 3) & (scores["outcome"] > 0)
    scores = replace(scores, values={**scores.values, "risk": np.where(missed, 0.01, scores["risk"])})
    metrics = [one for one in every_metric(scores) if one.name == "sensitivity" and one.at["threshold"] == 0.2]
    found = subgroups(scores, metrics, settings={"margin": 0.05}, draws=DRAWS)
    [test] = found.tables["omnibus"]
    assert test["without"] == ["D"]
    assert test["p"] > 0.05
    [worst] = [row for row in found.comparisons if row["slice"].get("g") == "D" and row["kind"] == "difference"]
    assert worst["value"] < -0.5
    assert worst["verdict"] == "disparity"
    refuse_contradictions(found)


def test_a_gap_held_back_by_the_test_of_all_groups_shows_an_interval_that_allows_for_it() -> None:
    """Among many studies of equal groups chance alone brings one gap whose own test is significant."""
    for seed in range(400):
        rng = np.random.default_rng(seed)
        outcome = np.ones(400)
        risk = np.where(rng.random(400) < 0.7, 0.9, 0.1)
        group = rng.choice(4, 400, p=(0.6, 0.2, 0.14, 0.06))
        scores = Scores.of({"outcome": outcome, "risk": risk})
        scores = replace(scores, groups={"g": Levels(group, ("A", "B", "C", "D"))})
        metrics = [one for one in every_metric(scores) if one.name == "sensitivity"][:1]
        found = subgroups(scores, metrics, settings={"margin": 0.0}, draws=DRAWS)
        refuse_contradictions(found)
        held = [row for row in found.comparisons if "extended to the margin" in (row.get("rule") or "")]
        if held:
            break
    [test] = found.tables["omnibus"]
    assert held[0]["p"] * 4 < 0.05 <= test["p"] == held[0]["p_adjusted"]
    assert held[0]["verdict"] == "inconclusive"
    assert 0.0 in (held[0]["low"], held[0]["high"])
    assert "the test of all groups together finds no difference" in held[0]["reason"]


# ---- two systems -----------------------------------------------------------------------------------------------------


def pair(seed: int, rows: int, noise: float) -> tuple[Scores, Scores]:
    first = draw_cohort(seed, rows, slope=0.9)
    rng = np.random.default_rng(seed)
    moved = np.clip(first["risk"] + noise * rng.normal(size=rows) * (1 - 0.6 * first["outcome"]), 0.001, 0.999)
    numbers = {"row": np.arange(rows) + 1.0}
    return (
        replace(first, values={**first.values, **numbers}),
        replace(first, values={**first.values, **numbers, "risk": moved}),
    )


def record() -> Report:
    study = {"name": "s", "task": "risk", "thresholds": [0.2, 0.5], "primary": {}, "gates": []}
    lens = LensResult("internal")
    return Report(study, {"name": "cohort", "sha256": "c"}, {"name": "old", "version": "1"}, 0, {"internal": lens})


def reconciled(row: Mapping[str, Any]) -> bool:
    """Do direction, p and the interval that it belongs to agree, or does the row say which rule decided?"""
    _, worst, best = gain(dict(row))
    if worst is None or best is None or row["p"] is None:
        return row["direction"] in ("not_assessed", "no_clear_difference")
    clear = worst > 0 or best < 0
    if clear != (row["p"] < 0.05):
        return False
    decided = row["p"] if row["p_adjusted"] is None else row["p_adjusted"]
    if (row["direction"] in ("better", "worse")) != (decided < 0.05):
        return False
    if row["direction"] == "no_clear_difference" and clear:
        return "not among the" in row["rule"]
    return row["distance"] is None or "from the target" in row["rule"]


@settings(max_examples=15)
@given(seed=st.integers(0, 5000), rows=st.sampled_from([120, 400]), noise=st.sampled_from([0.02, 0.06, 0.15]))
def test_rows_of_two_systems_agree(seed: int, rows: int, noise: float) -> None:
    first, second = pair(seed, rows, noise)
    metrics = [one for one in every_metric(first) if one.name != "ece"]
    paired = compare_scores(first, second, metrics, DRAWS, groups=["ward"])
    for row in compare(record(), record(), paired=paired).rows:
        assert reconciled(row), row


def test_a_difference_that_only_holms_adjustment_silences_says_so_in_every_form() -> None:
    for seed in range(60):
        first, second = pair(seed, 300, 0.04)
        metrics = [one for one in every_metric(first) if one.name != "ece"]
        found = compare(record(), record(), paired=compare_scores(first, second, metrics, DRAWS))
        silenced = [row for row in found.rows if "not among the" in row["rule"]]
        if silenced:
            break
    assert silenced
    assert silenced[0]["p"] < 0.05 <= silenced[0]["p_adjusted"]
    whole = {"comparisons": [found.as_dict()]}
    for form in ("text", "md", "html"):
        shown = comparison.render(whole, form=form)  # type: ignore[arg-type]
        assert "clear by itself, but not among the" in " ".join(shown.split()), form


# ---- in every form ---------------------------------------------------------------------------------------------------


def study(**lens: Any) -> Report:
    rng = np.random.default_rng(4)
    n = 1500
    lp = rng.normal(-1, 1.2, n)
    group = rng.choice(list("ABC"), n)
    table = {
        "died": (rng.random(n) < 1 / (1 + np.exp(-lp))).astype(int),
        "risk": 1 / (1 + np.exp(-(lp - 1.2 * (group == "C")))),
        "ethnicity": group,
        "sex": rng.choice(["F", "M"], n),
    }
    content = {
        "name": "forms",
        "task": "risk",
        "columns": {"outcome": "died", "risk": "risk", "groups": ["ethnicity", "sex"]},
        "thresholds": [0.1, 0.3],
        "bootstrap": {"replicates": 200},
        "lenses": {"internal": {}, "subgroups": lens},
    }
    return validate(Study.of(content), table=table)


def number(shown: str) -> float:
    return float(shown.replace("<", "").replace(",", ""))


def test_no_line_of_any_form_contradicts_itself() -> None:
    report = study(margin=0.12)
    refuse_contradictions(report.results["subgroups"])
    page = markdown.render(report)
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]
    judged = [cells for cells in lines if len(cells) == 9 and cells[6] in ("disparity", "within", "inconclusive")]
    rows = [row for row in report.results["subgroups"].comparisons if row["margin"] is not None]
    assert len(judged) == len(rows)
    assert {cells[6] for cells in judged} == {"disparity", "within", "inconclusive"}
    for cells in judged:
        low, high = (number(end) for end in cells[4].split(" to "))
        p = 0.0 if "&lt;" in cells[5] or "<" in cells[5] else number(cells[5])
        beyond, inside = low > 0.12 or high < -0.12, low > -0.12 and high < 0.12
        assert {"disparity": beyond, "within": inside, "inconclusive": not beyond and not inside}[cells[6]], cells
        assert (p < 0.05) == (cells[6] == "disparity"), cells
        assert re.match(r"Holm step \d+ of \d+, one-sided|simultaneous over \d+, ", cells[7]), cells
    described = [cells for cells in lines if len(cells) == 7 and cells[6] == "no margin was declared"]
    assert described
    for cells in described:
        low, high = (number(end) for end in cells[4].split(" to "))
        p = 0.0 if "&lt;" in cells[5] else number(cells[5])
        assert (p < 0.05) == (low > 0 or high < 0), cells
    plain = " ".join(text.render(report).split())
    shown = " ".join(re.sub(r"<[^>]+>", " ", html.render(report)).split())
    for cells in judged:
        for form in (plain, escaping.unescape(shown)):
            assert cells[4] in form
            assert cells[7] in form


# ---- what is judged together -----------------------------------------------------------------------------------------


def test_a_family_leaves_thresholds_and_metrics_out() -> None:
    whole, part = study(margin=0.06), study(margin=0.06, family={"metrics": ["sensitivity"], "thresholds": "primary"})
    every, few = (
        [row for row in one.results["subgroups"].comparisons if row["margin"] is not None] for one in (whole, part)
    )
    assert {(row["metric"], row["slice"].get("threshold")) for row in few} == {("sensitivity", 0.1)}
    assert len(few) == 4
    assert len(every) == 4 * 7
    left_out = [row for row in part.results["subgroups"].comparisons if "outside the family" in row["reason"]]
    assert len(left_out) == len(every) - len(few)
    for row in left_out:
        assert (row["verdict"], row["margin"], row["p_adjusted"], row["level"]) == ("not_assessed", None, None, 0.95)
        assert row["reason"] == "outside the family that the study declared"
    assert "4 comparisons between groups of 28 with a margin are judged together (Holm)" in " ".join(
        part.results["subgroups"].notes
    )
    assert "outside the family that the study declared" in markdown.render(part)
    refuse_contradictions(part.results["subgroups"])


def test_the_primary_threshold_of_a_family_is_that_of_the_study() -> None:
    scores = grouped(draw_cohort(1, 300), 2)
    metrics = every_metric(scores)
    chosen = {"margin": 0.05, "family": {"thresholds": "primary"}}
    found = subgroups(scores, metrics, settings=chosen, draws=DRAWS, primary={"threshold": 0.5})
    judged = {row["slice"].get("threshold") for row in found.comparisons if row["margin"] is not None}
    assert judged == {None, 0.5}


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ({"metrics": ["sensitivty"]}, r"family\.metrics: 'sensitivty' is not a metric .*did you mean 'sensitivity'\?"),
        ({"metrics": ["npv"]}, r"family\.metrics: 'npv' has no margin"),
        ({"metrics": []}, r"family\.metrics: the list is empty"),
        (
            {"thresholds": [0.2, 0.4]},
            r"family\.thresholds: 0\.4 is not a threshold of the study.*choose among 0\.2, 0\.5",
        ),
        ({"thresholds": []}, r"family\.thresholds: the list is empty"),
        ({"thresholds": "first"}, r"family"),
        ({"metric": ["auroc"]}, r"did you mean 'metrics'\?"),
    ],
)
def test_a_family_that_cannot_be_read_is_refused(chosen: dict[str, Any], says: str) -> None:
    scores = grouped(draw_cohort(1, 120), 2)
    settings_ = {"margin": 0.05, "family": chosen}
    with pytest.raises(StudyError, match=says):
        subgroups(scores, every_metric(scores), settings=settings_, draws=DRAWS)
