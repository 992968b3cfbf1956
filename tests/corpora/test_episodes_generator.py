"""The generator of stays: is the planted truth true, do the faults do what they say, and are the bytes the same?"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workup import plugins
from workup.corpora.generate.episodes.generator import PlantedEpisodes, generate
from workup.corpora.generate.episodes.plan import EpisodesPlan
from workup.errors import InputError, StudyError

# Everything that could go wrong at once: a gap, a long silence after an alert, scores lost, late and shifted.
TANGLED = {
    "gap_hours": 4,
    "horizon_hours": 12,
    "refractory_hours": 12,
    "missing": 0.3,
    "faults": [{"late_hours": 8, "missing_before_event": 0.3, "shift": 0.6}],
    "lost": 0.3,
    "present": 0.1,
}
# One fault each, as figures of the whole: what must fall (-1), rise (+1) or stay (0) beside the faultless plan.
FAULTS = {
    "late": ({"late_hours": 12}, {"event_sensitivity": -1, "lead_time_median": -1, "alert_ppv": -1}),
    "noise": ({"signal": 0}, {"event_sensitivity": -1, "alert_ppv": -1, "alarm_rate": -1}),
    "flood": ({"shift": 1.5}, {"event_sensitivity": 1, "alert_ppv": -1, "alarm_rate": 1}),
    "silent": ({"missing": 0.6}, {"event_sensitivity": -1, "event_coverage": -1, "alarm_rate": -1}),
    "silent before the event": ({"missing_before_event": 0.9}, {"event_sensitivity": -1, "event_coverage": -1}),
}


def counted(made: PlantedEpisodes, threshold: float) -> list[dict[str, float]]:
    """The counts of each patient, stay by stay and score by score."""
    plan = made.plan
    wait = np.inf if plan.refractory_hours == "encounter" else plan.refractory_hours
    moments, scores = defaultdict(list), defaultdict(list)
    for encounter, kind, at in rows_of(made.events, "encounter", "type"):
        moments[encounter].append((kind, at))
    for patient, encounter, risk, at in rows_of(made.predictions, "patient", "encounter", "risk"):
        scores[patient, encounter].append((at, risk))
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (patient, encounter), rows_of_stay in scores.items():
        _count(found[patient], rows_of_stay, moments[encounter], plan, threshold, wait)
    return list(found.values())


def rows_of(table: Any, *names: str) -> Iterator[Any]:
    """The rows of a table: the columns named, then the time in hours."""
    hours = (table["time"].astype("datetime64[m]").astype(np.int64) / 60).tolist()
    return zip(*(table[name].tolist() for name in names), hours, strict=True)


def _count(
    into: dict[str, float],
    rows: list[tuple[float, float]],
    moments: list[tuple[str, float]],
    plan: EpisodesPlan,
    threshold: float,
    wait: float,
) -> None:
    at = {kind: [hour for which, hour in moments if which == kind] for kind, _ in moments}
    [start] = at["admit"]
    [(how, end)] = [(kind, hour) for kind, hour in moments if kind in ("discharge", "death", "transfer")]
    onset = at.get("sepsis", [np.inf])[0]
    event = start < onset < np.inf
    fired, flagged, verdicts = -np.inf, None, set()
    for now, risk in rows:
        if onset <= max(now, start):
            fate = "neutral"
        elif event:
            lead = onset - now
            fate = "late" if lead < plan.gap_hours else "case" if lead <= plan.horizon_hours else "control"
        else:
            fate = "unknown" if how == "transfer" and end - now < plan.horizon_hours else "control"
        into["scored"] += fate == "case" and "scored" not in verdicts
        verdicts |= {"scored"} if fate == "case" else set()
        if risk < threshold:
            continue
        into["by_score"] += fate == "case" and "above" not in verdicts
        verdicts |= {"above"} if fate == "case" else set()
        if now - fired < wait - 1e-9:
            continue
        fired = now
        verdicts |= {fate}
        flagged = now if fate == "case" and flagged is None else flagged
        into["alerts"] += 1
        into["true"] += fate == "case"
        into["false"] += fate == "control"
        into["acted"] += any(now < given <= now + plan.act_within_hours for given in at.get("antibiotics", []))
    into["judged"] += bool(verdicts & {"case", "control"})
    into["events"] += event
    into["flagged"] += flagged is not None
    into["lead"] += 0.0 if flagged is None else onset - flagged
    into["early"] += flagged is not None and onset - flagged >= 6
    into["days"] += (end - rows[0][0]) / 24
    into["scores"] += len(rows)
    into["stays"] += 1


RATIOS = {
    "scores_per_stay": ("scores", "stays"),
    "days_per_stay": ("days", "stays"),
    "events_per_stay": ("events", "stays"),
    "event_coverage": ("scored", "events"),
    "event_sensitivity": ("flagged", "events"),
    "event_sensitivity_scored": ("flagged", "scored"),
    "event_sensitivity_by_score": ("by_score", "events"),
    "lead_time_mean": ("lead", "events"),
    "encounter_ppv": ("flagged", "judged"),
    "alarm_rate": ("alerts", "days"),
    "alert_acted_share": ("acted", "alerts"),
}


@pytest.mark.parametrize("plan", [{}, TANGLED, {"refractory_hours": "encounter", "missing": 0.2}])
def test_the_truth_is_what_plain_loops_count(plan: dict[str, Any]) -> None:
    made = generate(5_000, seed=11, plan=plan | {"thresholds": [0.1]})
    patients = counted(made, 0.1)
    truth = made.truth["overall"] | made.truth["overall"]["thresholds"]["0.1"]
    total = {name: np.array([one[name] for one in patients]) for name in patients[0] | patients[-1]}
    total["judged alerts"] = total["true"] + total["false"]
    for name, (top, bottom) in (RATIOS | {"alert_ppv": ("true", "judged alerts"), "6h": ("early", "events")}).items():
        x, d = total[top], total[bottom]
        ratio = x.sum() / d.sum()
        se = np.sqrt(np.sum((x - ratio * d) ** 2)) / d.sum()
        planted = truth["flagged_before"]["6h"] if name == "6h" else truth[name] / (100 if name == "alarm_rate" else 1)
        # Some 40 looks: 3.9 errors are passed once in 250 such tests. A share of all or none shows no error.
        assert abs(ratio - planted) <= 3.9 * max(se, 1 / d.sum()), name


def test_the_median_lead_is_that_of_the_first_alerts_in_time() -> None:
    made = generate(4_000, seed=3, plan={"thresholds": [0.1]})
    leads = np.array([one["lead"] for one in counted(made, 0.1) if one["flagged"] == 1])
    planted = made.truth["overall"]["thresholds"]["0.1"]["lead_time_median"]
    below, n = np.mean(leads < planted), leads.size
    assert abs(below - 0.5) < 4 * np.sqrt(0.25 / n)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_changes_what_it_says(name: str) -> None:
    fault, moves = FAULTS[name]
    good, bad = (
        generate(5, seed=0, plan={"thresholds": [0.1], "missing": 0.1, "faults": faults}).truth["overall"]
        for faults in ([], [fault])
    )
    assert (good["events_per_stay"], good["days_per_stay"]) == (bad["events_per_stay"], bad["days_per_stay"])
    for metric, sign in moves.items():
        before, after = (one["thresholds"]["0.1"].get(metric, one.get(metric)) for one in (good, bad))
        assert np.sign(after - before) == sign, metric


def test_a_fault_of_one_site_leaves_the_others_alone() -> None:
    plan = {"sites": 3, "thresholds": [0.1], "faults": [{"where": {"site": "S02"}, "shift": 1.0}]}
    truth, plain = (generate(5, seed=0, plan=one).truth for one in (plan, plan | {"faults": []}))
    rates = {name: site["thresholds"]["0.1"]["alarm_rate"] for name, site in truth["sites"].items()}
    usual = plain["overall"]["thresholds"]["0.1"]["alarm_rate"]
    assert rates["S01"] == rates["S03"] == pytest.approx(usual, rel=1e-9)
    assert rates["S02"] > 1.5 * usual
    assert truth["overall"]["thresholds"]["0.1"]["alarm_rate"] == pytest.approx(sum(rates.values()) / 3, rel=1e-9)


def test_a_fault_that_begins_later_has_a_truth_before_and_after() -> None:
    plan = {"thresholds": [0.1], "faults": [{"from_month": 4, "shift": 1.0}]}
    made = generate(400, seed=2, plan=plan)
    before, after = made.truth["periods"].values()
    assert before["share"] + after["share"] == pytest.approx(1)
    assert after["thresholds"]["0.1"]["alarm_rate"] > 1.5 * before["thresholds"]["0.1"]["alarm_rate"]
    late = made.predictions["time"] >= np.datetime64("2024-04-15")
    risk = made.predictions["risk"]
    assert np.median(risk[late]) > 2 * np.median(risk[made.predictions["time"] < np.datetime64("2024-04")])


def test_risks_are_calibrated_over_cases_and_controls() -> None:
    """The mean risk of the scores that are cases or controls is the share of cases, so far as a draw can tell."""
    made = generate(6_000, seed=4, plan={"refractory_hours": 0})
    patients = counted(made, 0.0)  # with every score above and nothing suppressed, verdicts are those of all scores
    cases, controls = (np.array([one[name] for one in patients]) for name in ("true", "false"))
    observed = cases.sum() / (cases + controls).sum()
    se = np.sqrt(np.sum((cases - observed * (cases + controls)) ** 2)) / (cases + controls).sum()
    known = _judged_risks(made)
    assert abs(float(np.mean(known)) - observed) < 4 * se


def _judged_risks(made: PlantedEpisodes) -> list[float]:
    """The risks of all scores that are cases or controls, found by the onset and the end of their stay."""
    onset, end, how = {}, {}, {}
    for encounter, kind, at in rows_of(made.events, "encounter", "type"):
        if kind == "sepsis":
            onset[encounter] = at
        elif kind in ("discharge", "death", "transfer"):
            end[encounter], how[encounter] = at, kind

    def judged(encounter: str, at: float) -> bool:
        if encounter in onset:
            return bool(at < onset[encounter])
        return bool(how[encounter] != "transfer" or end[encounter] - at >= made.plan.horizon_hours)

    rows = rows_of(made.predictions, "encounter", "risk")
    return [risk for encounter, risk, at in rows if judged(encounter, at)]


# ---- the tables and files --------------------------------------------------------------------------------------------


def test_the_tables_fit_together() -> None:
    made = generate(300, seed=5)
    predictions, events = made.predictions, made.events
    assert set(events["type"]) == {"admit", "sepsis", "antibiotics", "transfer", "discharge", "death"}
    stays = np.unique(predictions["encounter"])
    assert set(stays) == set(events["encounter"])
    assert np.count_nonzero(events["type"] == "admit") == stays.size
    of_patient: dict[str, set[str]] = defaultdict(set)
    for patient, encounter in zip(predictions["patient"], predictions["encounter"], strict=True):
        of_patient[patient].add(encounter)
    assert {len(encounters) for encounters in of_patient.values()} == {1, 2, 3, 4}
    wards = defaultdict(set)
    for encounter, ward in zip(predictions["encounter"], predictions["ward"], strict=True):
        wards[encounter].add(ward)
    assert max(map(len, wards.values())) == 2  # a stay changes its ward


def test_stays_of_a_patient_do_not_overlap() -> None:
    made = generate(200, seed=6)
    spans = defaultdict(list)
    began = made.events["type"] == "admit"
    first = dict(zip(made.events["encounter"][began], made.events["time"][began], strict=True))
    last = dict(zip(made.events["encounter"], made.events["time"], strict=True))
    for patient, encounter in sorted(set(zip(made.events["patient"], made.events["encounter"], strict=True))):
        spans[patient].append((first[encounter], last[encounter]))
    for of_patient in spans.values():
        assert all(a[1] < b[0] for a, b in itertools.pairwise(of_patient))


def test_equal_seeds_give_equal_bytes_and_others_do_not(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        written = plugins.find("generators", "episodes")(40, seed=seed).write(tmp_path / name / "scores.csv")
        assert [path.name for path in written] == ["scores.csv", "events.csv", "scores.truth.json"]
    a, b, c = ([(tmp_path / x / f).read_bytes() for f in ("scores.csv", "events.csv")] for x in "abc")
    assert a == b
    assert a != c
    header, first = a[0].decode().split("\n")[:2]
    assert header == "patient,encounter,time,risk,site,sex,age,ward"
    assert first.startswith("P000001,E0000001,2024-")
    truth = json.loads((tmp_path / "a" / "scores.truth.json").read_text())
    assert EpisodesPlan.of(truth["plan"]) == EpisodesPlan()


def test_parquet_holds_what_csv_does(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from workup.corpora.formats.tables.columnar import read_parquet

    made = generate(30, seed=1)
    made.write(tmp_path / "scores.parquet")
    columns = read_parquet(tmp_path / "scores.parquet")
    assert list(columns) == list(made.predictions)
    assert (tmp_path / "events.parquet").exists()


@pytest.mark.parametrize("name", ["events.csv", "scores.xlsx", "nowhere/scores.csv"])
def test_a_file_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="scores are written to"):
        generate(2, seed=0).write(tmp_path / name)


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"horizon_hours": 6}, "multiple of every_hours"),
        ({"gap_hours": 24}, "gap_hours to be below"),
        ({"stays": [0.5, 0.4]}, "add up to 1"),
        ({"thresholds": [0.1, 0.1]}, "distinct risks"),
        ({"start": "2024"}, "year-month"),
        ({"faults": [{"where": {"site": "S09"}}]}, "fault 1"),
        ({"groups": {"ward": {"A": 1.0}}}, "names are none of"),
        ({"groups": {"sex": {"F": 0.5}}}, "add up to 1"),
        ({"every_hours": 0.01}, "whole minutes"),
        ({"horizn_hours": 12}, "horizon_hours"),
        ({"lost": 0.9, "death_after_event": 0.2}, "at most 1 together"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(plan: dict[str, Any], told: str) -> None:
    with pytest.raises(StudyError, match=told):
        generate(2, seed=0, plan=plan)


@pytest.mark.parametrize(("count", "seed"), [(0, 0), (1, -1), (1.5, 0)])
def test_counts_that_cannot_be_are_refused(count: Any, seed: Any) -> None:
    with pytest.raises(InputError):
        generate(count, seed=seed)
