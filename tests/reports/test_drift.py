"""The monitoring report says first how many alerts are open, lists windows it could not judge, and hides nothing."""

from __future__ import annotations

from dataclasses import replace
from math import hypot
from typing import Any

from tests.support.drift_record import (
    MONTHS,
    SETTINGS,
    STATUS,
    alert,
    compared,
    figure,
    report,
    result,
    states,
    trend,
    window,
)
from tests.support.report_parts import words
from workup.report import LensResult, Report
from workup.reports.drift.report import figures, headline, sections
from workup.reports.layout import Section


def section(found: Report, key: str) -> Section:
    return next(one for one in sections(found) if one.key == key)


def line(one: Section, first: str, table: int = 0) -> dict[str, str]:
    held = one.tables[table]
    return next(dict(zip(held.heads, row, strict=True)) for row in held.rows if row[0] == first)


def test_the_sections_stand_in_the_order_people_know(six: Report) -> None:
    assert [one.key for one in sections(six)] == [
        "drift",
        "drift-now",
        "drift-charts",
        "drift-alerts",
        "drift-resolved",
        "drift-fairness",
        "drift-inputs",
        "drift-kinds",
        "drift-labels",
        "drift-ahead",
        "drift-acted",
    ]


def test_the_first_sentence_counts_what_is_open_and_what_was_not_judged(six: Report) -> None:
    said = section(six, "drift").sentences
    assert said[0] == (
        "In 6 watched months (2015-01-01 until 2015-07-01) 2 alerts are open (2 of high and 0 of medium severity) and "
        "1 acknowledged. 2 of the windows could not be judged."
    )
    assert said[1] == "The baseline is 12 months (2014-01-01 until 2015-01-01): 10,800 rows with 2,400 events."
    assert "Too little to judge by: 2015-03." in said
    assert "Too young, with outcomes that are not all known yet: 2015-06." in said
    assert next(headline(six)) == said[0]
    assert list(headline(six))[1].startswith("High severity since 2015-04, AUROC: auroc 0.7 against 0.8")


def test_every_window_is_listed_with_its_status_and_reason(six: Report) -> None:
    table = section(six, "drift").tables[0]
    assert [row[0] for row in table.rows] == [f"2014-{month:02d}" for month in range(1, 13)] + MONTHS
    assert [row[8] for row in table.rows[12:]] == STATUS
    assert line(section(six, "drift"), "2015-03")["reason"] == "41 rows; at least 100 are needed"


def test_a_merged_window_says_so() -> None:
    made = result()
    rows = [*made.tables["windows"][:-1], window("2015-05 to 2015-06", "watched")]
    merged = replace(made, settings={**SETTINGS, "small": "merge"}, tables={**made.tables, "windows": rows})
    assert line(section(report(merged), "drift"), "2015-05 to 2015-06")["status"] == "ok, merged"


def test_silence_of_windows_that_could_not_be_judged_says_nothing() -> None:
    made = result(alerts=(), charts_state=())
    rows = [row if row["period"] == "baseline" else {**row, "status": "immature"} for row in made.tables["windows"]]
    tables = {**made.tables, "windows": rows, "inputs": [], "kinds": [], "forecast": []}
    baseline = tuple(e for e in made.estimates if e.slice["window"] == "baseline")
    found = report(replace(made, tables=tables, estimates=baseline))
    assert (
        section(found, "drift-alerts")
        .sentences[0]
        .endswith("None of them could be judged, so that no performance alert is open says nothing.")
    )
    assert section(found, "drift-ahead").points == ("No option can be named: no window could be judged.",)
    assert "no window could be judged" in words(section(found, "drift-now"))
    assert "nothing to hold against it" in section(found, "drift-now").sentences[0]


def test_the_change_has_an_interval_of_both_sides(six: Report) -> None:
    one = section(six, "drift-now")
    row = line(one, "AUROC")
    half = hypot(0.05, 0.02)
    assert row["baseline"] == "0.800 (0.780 to 0.820)"
    assert row["latest"] == "0.700 (0.650 to 0.750)"
    assert row["change"] == f"-0.100 ({-0.1 - half:.3f} to {-0.1 + half:.3f})"
    assert row["patients then, now"] == "9,000, 900"
    assert row["smallest change"] == f"{2.80159 * hypot(0.025, 0.01):.3f}"
    assert "Latest is 2015-05" in one.sentences[0]


def test_no_smallest_change_is_claimed_from_an_error_of_nothing(six: Report) -> None:
    row = line(section(six, "drift-now"), "sensitivity at 0.2")
    assert row["latest"] == "1.000 (1.000 to 1.000)"
    assert row["smallest change"] == "–"


def test_a_group_without_a_figure_keeps_its_row(six: Report) -> None:
    row = line(section(six, "drift-now"), "AUROC", table=1)
    assert (row["who"], row["latest"], row["change"]) == ("sex F", "–", "–")
    assert row["status"] == "now undefined: no events"


def test_charts_that_signal_come_first_and_a_signal_alone_is_explained(six: Report) -> None:
    one = section(six, "drift-charts")
    assert (
        "4 charts of 4 series. Signals in the last window that each could judge: 2; in any window: 2."
        in one.sentences[0]
    )
    rows = one.tables[0].rows
    assert [row[0] for row in rows[:2]] == ["AUROC", "specificity at 0.2"]
    assert line(one, "AUROC")["signals in"] == "2015-04, 2015-05"
    assert line(one, "AUROC")["window"] == "2015-05"
    assert line(one, "AUROC")["z"] == "-5.000"
    assert [point for point in one.points if "specificity" in point] == [
        "Signals and has no active alert: specificity at 0.2 on the EWMA chart (the change is for the better, within "
        "its limit, or not clear in that window by itself)."
    ]
    assert not any("AUROC" in point for point in one.points), "it has its alert"


def test_a_window_that_is_too_young_is_not_called_too_small(six: Report) -> None:
    chart = next(one for one in figures(six)["drift-charts"] if one.title == "AUROC: EWMA")
    status = {row[0]: row[-1] for row in chart.table.rows}
    assert status["2015-03"] == "insufficient: the window holds too little"
    assert status["2015-06"] == "immature: its outcomes are known from 2015-07-31 on"


def test_a_monitor_that_runs_on_has_a_report_too() -> None:
    made = result()
    bare = [
        {k: v for k, v in row.items() if k not in ("period", "start", "end")} for row in made.tables["windows"][12:]
    ]
    tables = {"windows": bare, "inputs": made.tables["inputs"], "held_back": []}
    found = report(replace(made, estimates=(), tables=tables))
    assert section(found, "drift").sentences[0].startswith("In 6 watched months 2 alerts are open")
    assert [row[1] for row in section(found, "drift").tables[0].rows] == ["watched"] * 6
    assert "stand under Control charts" in section(found, "drift-now").sentences[0]
    assert section(found, "drift-ahead").sentences == ("No trend is drawn in this record.",)
    assert section(found, "drift-labels").sentences[0] == "A window is judged 30 days after its end."
    assert len(figures(found)["drift-charts"]) == 4


def test_a_series_without_a_baseline_is_listed_as_not_judged() -> None:
    made = result()
    bare = [
        {**row, "statistic": None, "lower": None, "upper": None, "z": None, "status": "insufficient"}
        | {"reason": "no baseline: 8 events; at least 10 are needed"}
        for row in states("auroc", (0.7,) * 6, keys={"sex": "F"})
    ]
    one = section(report(replace(made, charts_state=(*made.charts_state, *bare))), "drift-charts")
    assert "1 chart without a baseline, because a group is too small in it: not judged." in one.sentences
    row = line(one, "AUROC, sex F")
    assert row["status"] == "insufficient: no baseline: 8 events; at least 10 are needed"
    assert (row["statistic"], row["limits"]) == ("–", "–")


def test_active_and_resolved_alerts(six: Report) -> None:
    table = section(six, "drift-alerts").tables[0]
    assert [(row[0], row[2], row[6]) for row in table.rows] == [
        ("high", "AUROC", "open"),
        ("high", "input lactate (missing)", "open"),
        ("medium", "observed / expected, sex F", "acknowledged"),
    ]
    assert [row[8] for row in table.rows] == ["0", "0", "2"]
    done = section(six, "drift-resolved")
    assert done.sentences == ("1 alert resolved, each after 3 quiet windows.",)
    assert line(done, "high")["resolved in"] == "2015-05"


def test_gaps_over_time_show_the_windows_that_are_missing(six: Report) -> None:
    row = line(section(six, "drift-fairness"), "gap in AUROC, sex F less the rest")
    assert row["last that could be judged"] == "0.100 (0.061 to 0.139) in 2015-04"
    assert [row[name] for name in MONTHS] == ["0", "0.010", "–", "0.100", "–", "–"]
    made = result()
    bare = replace(made, charts_state=tuple(row for row in made.charts_state if row["type"] != "fairness"))
    assert section(report(bare), "drift-fairness").sentences[0].startswith("No gap between groups is followed")


def test_inputs_of_the_latest_window_and_flags_of_all(six: Report) -> None:
    one = section(six, "drift-inputs")
    assert one.sentences[0] == (
        "Flagged in 2015-06, the latest window: 2 of 4 comparisons with the baseline (lactate (missing), unit). 1 "
        "input could not be compared."
    )
    latest, flagged = one.tables
    assert [row[0] for row in latest.rows] == ["age", "lactate (missing)", "unit", "weight"]
    assert line(one, "lactate (missing)")["more"] == "1.0 % then, 41.0 % now"
    assert line(one, "unit")["change"] == "beyond measure: no spread in the baseline"
    assert line(one, "weight")["flagged"] == "not judged"
    assert [(row[0], row[1]) for row in flagged.rows] == [
        ("2015-05", "age"),
        ("2015-06", "lactate (missing)"),
        ("2015-06", "unit"),
    ]
    bare = replace(result(), tables={**result().tables, "inputs": []})
    assert section(report(bare), "drift-inputs").sentences[0].startswith("No inputs are named")


def test_kinds_of_drift_are_told_apart(six: Report) -> None:
    one = section(six, "drift-kinds")
    assert one.sentences == (
        "2015-05: the evidence speaks for concept drift (outcomes follow the risks in another slope).",
    )
    assert one.points == (
        "Covariate drift, who comes: changed in lactate (missing), unit.",
        "Prior drift, how often it happens: 26.0 % in 2015-05 against 20.0 % in the baseline (+2.0 points to +10.0 "
        "points, p 0.020).",
        "Concept drift, what a risk means: calibration slope p 0.040, calibration in the large p – in 2015-05.",
    )
    told, tests = one.tables
    assert [row[:2] for row in told.rows] == [("2015-04", "none"), ("2015-05", "concept")]
    assert tests.rows[3][-1] == "too sure"
    made = result()
    last = {"window": "2015-05", "drift": None, "reason": "rows carry design weights", "options": ""}
    unsure = replace(made, tables={**made.tables, "drift_kind": [last]})
    assert "the kind of drift cannot be told (rows carry design weights)." in words(
        section(report(unsure), "drift-kinds")
    )
    bare = replace(made, tables={**made.tables, "kinds": [], "drift_kind": []})
    assert section(report(bare), "drift-kinds").sentences[0].startswith("Kinds of drift are not told apart")


def test_labels_that_come_later_than_the_study_waits(six: Report) -> None:
    one = section(six, "drift-labels")
    assert one.sentences[:3] == (
        "A window is judged 30 days after its end.",
        "Half of the outcomes were known within 21 days, nine in ten within 45.",
        "That is later than the study waits, so windows are judged before their last outcomes are known.",
    )
    rows = one.tables[0].rows
    assert rows[0] == ("2015-05", "AUROC", "0.800 (0.780 to 0.820)", "0.700", "900", "ok")
    assert rows[1] == ("2015-06", "AUROC", "0.790", "–", "890", "immature")


def test_forecasts_name_the_day_and_how_far_it_may_be_off(six: Report) -> None:
    one = section(six, "drift-ahead")
    assert one.sentences[0].startswith("A clear trend over the watched windows: 2 of 3 series, 1 of them to a limit.")
    first, second, third = one.tables[0].rows
    assert first == (
        "AUROC",
        "-0.300 (-0.400 to -0.200)",
        "2015-09-01",
        "2015-07-10 to too far off to say",
        "still to come",
    )
    assert second[-1] == "it moves for the better"
    assert third == ("sensitivity", "–", "–", "–", "3 windows with a value; a trend needs at least 4")
    past = trend("auroc", -0.3, "the line has reached it already", crosses="2015-02-01", crosses_low="2015-01-01")
    tables = {**result().tables, "forecast": [{**past, "crosses_high": "2015-03-01"}]}
    rows = section(report(replace(result(), tables=tables)), "drift-ahead").tables[0].rows
    assert rows[0][2:] == ("2015-02-01", "2015-01-01 to 2015-03-01", "the line has reached it already")


def options(found: LensResult) -> str:
    return " ".join(section(report(found), "drift-ahead").points)


def test_options_follow_the_kind_of_drift() -> None:
    made = result()
    both = options(made)
    assert "Check the feed first: lactate (missing), unit." in both
    assert "Retrain: the ranking itself got worse (AUROC)" in both
    assert "Recalibrate on top of that: risks no longer mean what they meant (observed / expected)" in both
    assert "Nothing to do" not in both

    calm = {**made.tables, "inputs": [], "kinds": [], "drift_kind": []}
    slope = (alert("calibration_slope", {}),)
    only = options(replace(made, tables=calm, alerts=slope))
    assert only.startswith("Recalibrate, which keeps the ranking")
    assert "Retrain" not in only
    assert options(replace(made, tables=calm, alerts=())).startswith("Nothing to do")
    gap = (alert("auroc", {"sex": "F"}, type="fairness"),)
    assert options(replace(made, tables=calm, alerts=gap)).startswith("A gap has widened")
    ppv = (alert("ppv", {"threshold": 0.2}),)
    assert options(replace(made, tables=calm, alerts=ppv)).startswith("Look at the threshold again: PPV got worse")


def kind(name: str) -> dict[str, Any]:
    return {
        **result().tables,
        "inputs": [],
        "drift_kind": [{"window": "2015-05", "drift": name, "reason": "", "options": ""}],
    }


def test_other_patients_alone_do_not_ask_for_a_new_model() -> None:
    made = result()
    age = [compared("2015-06", "age", 0.3, 0.1, flagged=True)]
    said = options(replace(made, alerts=(), tables={**kind("covariate"), "inputs": age}))
    assert said.startswith("Other patients come than in the baseline (age).")
    said = options(replace(made, alerts=(), tables=kind("covariate")))
    assert said.startswith("Other patients come than in the baseline (other risks are given).")


def test_rarer_events_ask_for_an_intercept_and_another_meaning_for_more() -> None:
    made = result()
    assert options(replace(made, alerts=(), tables=kind("prior"))).startswith("Recalibrate the intercept")
    for name in ("concept", "prior or concept"):
        said = options(replace(made, alerts=(), tables=kind(name)))
        assert said.startswith("Recalibrate, which keeps the ranking")
    assert options(replace(made, alerts=(), tables=kind("none"))).startswith("Nothing to do")
    old = (alert("age", {"input": "age"}, type="input"),)
    assert options(replace(made, alerts=old, tables=kind("none"))).startswith("Wait: the causes of the active alerts")


def test_a_fall_that_the_mix_of_patients_explains_is_no_case_for_retraining() -> None:
    made = result()
    mix = [{**row, "value": 0.71, "low": 0.69, "high": 0.73} for row in made.tables["without_labels"][:1]]
    said = options(replace(made, tables={**made.tables, "without_labels": mix}))
    assert "AUROC fell no further than the mix of patients explains (expected without labels: 0.710)" in said
    assert "Retrain" not in said


def test_rows_not_acted_on_stand_beside_all() -> None:
    assert "do not say which rows were acted on" in section(report(result()), "drift-acted").sentences[0]
    made = result()
    note = "Some rows were acted on. What was done changed what happened, so neither is the untreated truth."
    spared = (
        figure("auroc", 0.79, 0.02, {"window": "baseline", "acted": "no"}),
        figure("auroc", 0.78, 0.05, {"window": "latest", "acted": "no"}),
    )
    back = [{"type": "performance", "metric": "auroc", "slice": {}, "window": "2015-05", "effect": -0.1}]
    back[0]["reason"] = "rows that were not acted on changed by -0.01 only"
    acted = replace(
        made,
        notes=(note,),
        alerts=(),
        estimates=(*made.estimates, *spared),
        tables={**made.tables, "held_back": back},
    )
    found = report(acted, acted="acted")
    one = section(found, "drift-acted")
    assert one.sentences == (
        note,
        "1 alert held back, because rows that were not acted on do not bear the change out.",
    )
    beside, held = one.tables
    assert [(row[0], row[1], row[3]) for row in beside.rows] == [
        ("AUROC", "all", "0.700 (0.650 to 0.750)"),
        ("AUROC", "not acted on", "0.780 (0.730 to 0.830)"),
    ]
    assert held.rows == (("AUROC", "2015-05", "-0.100", "rows that were not acted on changed by -0.01 only"),)
    assert "held back: rows that were not acted on do not show it" in " ".join(section(found, "drift-charts").points)
    assert [row[0] for row in section(found, "drift-now").tables[0].rows] == ["AUROC", "sensitivity at 0.2"]


def test_no_drift_lens_no_sections(six: Report) -> None:
    bare = Report(six.study, six.corpus, six.system, 0, {"internal": LensResult("internal")})
    assert sections(bare) == []
    assert figures(bare) == {}
    assert list(headline(bare)) == []


def test_windows_whose_counts_are_withheld_are_drawn(six: Report) -> None:
    drift = six.results["drift"]

    def said(**counts: int | None) -> str:
        rows = [{**row, **counts} if row["period"] == "watched" else row for row in drift.tables["windows"]]
        found = replace(drift, tables={**drift.tables, "windows": rows})
        return words(section(replace(six, results={**six.results, "drift": found}), "drift-labels"))

    assert "have no outcome" in said(waiting=3)
    assert "have no outcome" not in said(**dict.fromkeys(("rows", "patients", "events", "waiting")))
