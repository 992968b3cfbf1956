"""Words that must not mislead: risks that run backwards are told first, and two figures of one page never disagree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import workup
from tests.support.shell import call
from workup.compare import compare
from workup.report import Estimate, Report
from workup.reports import flat, html, markdown, text
from workup.reports.risk.headline import headline
from workup.reports.risk.panels import decision_rows
from workup.reports.sections import sections

BACKWARDS = "THE RISKS RUN BACKWARDS"


def _table(seed: int = 1, n: int = 600, *, strength: float = 1.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.8, 1.2, n)
    died = (rng.random(n) < special.expit(log_odds)).astype(int)
    shown = special.expit(strength * log_odds + (0.0 if strength else rng.normal(-0.8, 1.2, n)))
    return {"died": died, "risk": shown, "surv6m": 1 - shown, "alive": 1 - died}


def _report(table: dict[str, np.ndarray], *, outcome: str = "died", risk: str = "risk") -> Report:
    return workup.score_risk(table, outcome=outcome, risk=risk, thresholds=[0.3], replicates=200)


@pytest.fixture(scope="module", name="survival")
def _survival() -> Report:
    return _report(_table(), risk="surv6m")


# ---- backwards -------------------------------------------------------------------------------------------------------


def test_survival_given_for_risk_is_told_before_anything_else(survival: Report) -> None:
    alarm, remedy = survival.alarms()
    auroc = survival.estimate("auroc")
    assert auroc.high < 0.5
    assert alarm.startswith(BACKWARDS)
    assert f"AUROC {auroc.value:.2f}, 95 % interval {auroc.low:.2f} to {auroc.high:.2f}" in alarm
    assert 'risk: "1 - surv6m"' in remedy
    assert "the outcome is coded the other way round" in remedy
    assert text.render(survival).splitlines()[2].startswith(BACKWARDS)
    assert markdown.render(survival).split("\n\n")[1].startswith(BACKWARDS)
    assert str(survival).startswith(BACKWARDS)
    assert BACKWARDS in survival._repr_html_()
    assert json.loads(flat.render(survival))["alarms"] == [alarm, remedy]
    page = html.render(survival)
    assert page.index(BACKWARDS) < page.index("other way round") < page.index("In plain words")
    assert "letters)" not in page  # nothing of it is cut


def test_nothing_that_would_mislead_is_said_of_the_model(survival: Report) -> None:
    said = " ".join(headline(survival))
    assert "the lower risk was given to the one with the event in" in said
    for misleading in ("to the right one", "For every 100 events", "The calibration slope is", "it flags"):
        assert misleading not in said, misleading
    cards = html.render(survival).split('<dl class="key">')[1].split("</dl>")[0]
    assert "AUROC: the risks run backwards" in cards
    assert "Observed" not in cards and "slope" not in cards and "Sensitivity" not in cards


def _summary(report: Report) -> tuple[str, ...]:
    return next(section.sentences for section in sections(report) if section.key == "summary")


def test_no_gap_between_groups_is_told_of_risks_that_run_backwards() -> None:
    table = {**_table(), "sex": np.array(["F", "M"] * 300)}
    said = {}
    for risk in ("surv6m", "risk"):
        study = workup.Study.of(
            {"name": "x", "task": "risk", "columns": {"outcome": "died", "risk": risk, "groups": ["sex"]}}
            | {"lenses": {"internal": {}, "subgroups": {"margin": 0.2}}, "bootstrap": {"replicates": 200}}
        )
        said[risk] = " ".join(_summary(workup.validate(study, table=table)))
    assert "nothing is said of them here" in said["surv6m"]
    assert "between groups, judged" not in said["surv6m"] and "within it" not in said["surv6m"]
    assert "between groups, judged against the declared margin" in said["risk"]


def test_an_outcome_coded_the_other_way_round_is_told_too() -> None:
    assert _report(_table(), outcome="alive").alarms()


def test_turned_round_there_is_nothing_to_tell() -> None:
    table = _table()
    mended = _report({**table, "turned": 1 - table["surv6m"]}, risk="turned")
    assert mended.alarms() == ()
    assert BACKWARDS not in text.render(mended)
    assert "alarms" not in mended.results["internal"].tables
    assert "to the right one" in " ".join(headline(mended))


@pytest.mark.parametrize("seed", range(6))
def test_a_useless_model_is_not_accused(seed: int) -> None:
    report = _report(_table(seed, strength=0.0))
    auroc = report.estimate("auroc")
    assert auroc.low < 0.5 < auroc.high
    assert report.alarms() == ()


def test_a_comparison_tells_it_of_the_side_it_belongs_to(survival: Report) -> None:
    good = _report(_table())
    assert compare(good, survival).notes[0].startswith(f"B: {BACKWARDS}")
    assert compare(survival, good).notes[0].startswith(f"A: {BACKWARDS}")


def test_the_command_line_tells_it_first(tmp_path: Path) -> None:
    table = _table(n=300)
    rows = "\n".join(f"{d},{s}" for d, s in zip(table["died"], table["surv6m"], strict=True))
    (tmp_path / "t.csv").write_text(f"died,surv6m\n{rows}\n")
    (tmp_path / "study.yaml").write_text(
        "name: s\ntask: risk\ncorpus: {path: t.csv}\ncolumns: {outcome: died, risk: surv6m}\n"
        "bootstrap: {replicates: 200}\n"
    )
    done = call("run", tmp_path / "study.yaml")
    assert done.out.startswith(BACKWARDS), done.out
    assert (tmp_path / "runs" / "s" / "report.txt").read_text().splitlines()[2].startswith(BACKWARDS)


# ---- observed over expected beside calibration in the large ----------------------------------------------------------


def _with_ends(report: Report, **ends: tuple[float, float]) -> Report:
    """The record with other intervals of some metrics overall."""

    def moved(e: Estimate) -> Estimate:
        if e.metric not in ends or e.slice:
            return e
        return replace(e, low=ends[e.metric][0], high=ends[e.metric][1])

    internal = report.results["internal"]
    changed = replace(internal, estimates=tuple(map(moved, internal.estimates)))
    return replace(report, results={**report.results, "internal": changed})


@pytest.mark.parametrize(
    ("ratio", "large", "words"),
    [
        ((0.7, 0.9), (-0.5, -0.1), "risks are too high on average"),
        ((1.1, 1.4), (0.1, 0.5), "risks are too low on average"),
        ((0.9, 1.1), (-0.1, 0.1), "no clear lean either way"),
        ((0.8, 1.01), (-0.4, -0.01), "risks seem too high on average, but only just"),
        ((1.01, 1.3), (-0.01, 0.4), "risks seem too low on average, but only just"),
    ],
)
def test_words_about_the_lean_fit_both_figures_of_the_page(
    ratio: tuple[float, float], large: tuple[float, float], words: str
) -> None:
    report = _with_ends(_report(_table(2)), oe_ratio=ratio, calibration_in_the_large=large)
    [said] = [line for line in headline(report) if line.startswith("For every 100 events")]
    assert words in said
    clear = not (ratio[0] <= 1 <= ratio[1]) and not (large[0] <= 0 <= large[1])
    assert ("only just" in said) == ((ratio[0] <= 1 <= ratio[1]) != (large[0] <= 0 <= large[1]))
    assert ("no clear lean" in said) == (not clear and "only just" not in said)


def test_a_planted_lean_reads_the_same_from_both() -> None:
    """The customary interval said "no clear lean" where calibration in the large excluded 0; the pair sees it too."""
    rng = np.random.default_rng(20)
    log_odds = rng.normal(-0.8, 1.6, 1_500)
    died = rng.random(1_500) < special.expit(log_odds + 0.14)
    table = {"died": died.astype(int), "p": special.expit(log_odds)}
    report = workup.score_risk(table, outcome="died", risk="p", replicates=200)
    ratio, large = report.estimate("oe_ratio"), report.estimate("calibration_in_the_large")
    assert large.low > 0
    assert ratio.low > 1
    assert any("risks are too low on average." in line for line in headline(report))


# ---- a slope that certainties decide ---------------------------------------------------------------------------------


def test_a_slope_moved_by_certain_risks_is_told_with_and_without_them() -> None:
    rng = np.random.default_rng(4)
    table = _table(4, 900)
    certain = rng.random(900) < 0.07
    table["guess"] = np.where(certain, table["risk"].round(), table["risk"].round(1).clip(0.1, 0.9))
    report = _report(table, risk="guess")
    held = report.results["internal"].tables["slope_without_ends"]
    whole, without = held["all_rows"]["value"], held["without"]["value"]
    assert whole < without
    [said] = [line for line in headline(report) if line.startswith("The calibration slope")]
    assert f"{whole:.2f}" in said and f"or {without:.2f}" in said and f"the {certain.sum()} risks of 0 or 1" in said
    shown = text.render(report)
    assert "calibration slope without risks of 0 or 1" in shown
    assert "ICI expected by chance" in shown
    assert "If every risk were right" in " ".join(shown.split())
    assert "Rows with a risk of 0 or 1" in shown
    page = html.render(report)
    assert "Square at 0:" in page and "If every risk were right" in page
    assert any(f"without these rows it is {without:.2f}" in note for note in report.results["internal"].notes)


# ---- what a planted system must not get away with --------------------------------------------------------------------


def test_no_gate_passes_while_the_risks_run_backwards(tmp_path: Path) -> None:
    turned = workup.score_risk(
        _table(), outcome="died", risk="surv6m", thresholds=[0.3], gates=["sensitivity.low >= 0.01"], replicates=200
    )
    [verdict] = turned.verdicts
    assert verdict.outcome == "not_assessed" and BACKWARDS in verdict.reason
    record = tmp_path / "report.json"
    record.write_text(turned.to_json(), encoding="utf-8")
    answer = call("gate", record, "--rule", "sensitivity.low >= 0.01")
    assert answer.code == 3 and "not_assessed" in answer.out
    right = workup.score_risk(
        _table(), outcome="died", risk="risk", thresholds=[0.3], gates=["sensitivity.low >= 0.01"], replicates=200
    )
    assert right.verdicts[0].outcome == "pass"


def test_a_model_that_harms_at_its_threshold_is_told_so() -> None:
    log_odds = np.random.default_rng(3).normal(-2.5, 1, 1_500)
    died = (np.random.default_rng(4).random(1_500) < special.expit(log_odds)).astype(int)
    table = {"died": died, "risk": special.expit(log_odds)}
    inflated = _report({**table, "risk": np.sqrt(table["risk"])})
    said = " ".join(headline(inflated))
    benefit = inflated.estimate("net_benefit", threshold=0.3)
    assert benefit.high is not None and benefit.high < 0
    assert "does more harm than good" in said and "treating no one" in said
    assert "does more harm" not in " ".join(headline(_report(table)))


def test_the_slope_speaks_of_spread_alone() -> None:
    table = _table(seed=4, n=2_000)
    lifted = _report({**table, "risk": special.expit(0.6 * special.logit(table["risk"]) + 2)})  # all too high
    [said] = [one for one in headline(lifted) if "calibration slope" in one]
    assert "too timid" in said and "too low" not in said


def test_half_of_the_pairs_is_called_chance_and_a_wide_slope_is_not_praised() -> None:
    useless = " ".join(headline(_report(_table(seed=6, n=300, strength=0.0))))
    assert "50 % is what chance gives" in useless
    few = _report({name: column[:60] for name, column in _table(seed=9).items()})
    slope = few.estimate("calibration_slope")
    wide = replace(slope, value=1.1, low=0.1, high=2.4)
    results = {name: replace(one, estimates=(wide,)) for name, one in few.results.items()}
    assert "cannot tell whether risks are too extreme" in " ".join(headline(replace(few, results=results)))
    assert "50 % is what chance gives" not in " ".join(headline(_report(_table())))


def test_net_benefit_has_one_interval_on_a_page() -> None:
    report = _report(_table(seed=5, n=120))
    benefit = report.estimate("net_benefit", threshold=0.3)
    [row] = [one for one in decision_rows(report.results["internal"]) if one["threshold"] == 0.3]
    assert (row["low"], row["high"]) == (benefit.low, benefit.high)


def test_patients_who_say_nothing_of_sensitivity_are_not_counted_for_it() -> None:
    table = {
        "id": np.concatenate([np.repeat(np.arange(7), 12), np.arange(7, 47)]),
        "died": np.concatenate([np.ones(84), np.zeros(40)]).astype(int),
        "risk": np.concatenate([np.full(84, 0.9), np.linspace(0.1, 0.2, 40)]),
    }
    report = workup.score_risk(table, outcome="died", risk="risk", patient="id", thresholds=[0.5], replicates=200)
    [said] = [one for one in headline(report) if "flags" in one]
    assert "7 patients)" in said
