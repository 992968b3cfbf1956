"""The horizon task from table to report: what it refuses, tells and counts, and that every lens runs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.support.followed_tables import COLUMNS, followed_table, horizon_study
from workup import plugins
from workup.errors import StudyError, WorkupError
from workup.lenses.sites.pooling import PoolSettings, pool_sites
from workup.packs import Pack, make_pack
from workup.report import Report
from workup.scores import Scores
from workup.stats.cox import cox
from workup.stats.survival import median_followup
from workup.tasks.risk.horizon import HorizonTask
from workup.tasks.risk.horizon.settings import HorizonStudy
from workup.validate import validate


def scores_of(table: dict[str, Any], study: Any = None) -> Scores:
    task = HorizonTask()
    corpus = task.read(study or horizon_study(), table)
    return task.scores(corpus, corpus.followup.risks)


def changed(table: dict[str, Any], **columns: Any) -> dict[str, Any]:
    return {**table, **columns}


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"entry": "age"}, "left truncation"),
        ({"risk": {"365d": None}}, "no risk column"),
        ({"risk": {365: "p1"}}, "bare number"),
        ({"risk": {"365d": "p1", "8760h": "p2"}}, "named twice"),
        ({"risk": "p1"}, "a column for each horizon"),
        ({"risk": {}}, "at least one horizon"),
        ({"followup": None}, "followup, or event_time"),
        ({"event_time": "seen", "time": "seen"}, "got both"),
        ({"followup": None, "event_time": "seen"}, "event_time needs time"),
        ({"landmark": "age", "patient": None, "groups": []}, "landmark needs patient"),
        ({"groups": ["horizon"]}, "cannot be named 'horizon'"),
        ({"followup": {"column": "days", "unit": "fortnight"}}, "unit"),
        ({"status": {"column": "ended", "codes": {"dead": "gone"}}}, "codes"),
    ],
)
def test_a_study_that_cannot_be_right_is_refused(columns: dict[str, Any], said: str) -> None:
    given = {name: value for name, value in {**COLUMNS, **columns}.items() if value is not None}
    with pytest.raises(StudyError, match=said):
        horizon_study_of(given)


def horizon_study_of(columns: dict[str, Any], **more: Any) -> Any:
    from workup.study import Study

    return Study.of({"name": "x", "task": "horizon", "columns": columns, **more})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"systems": [{"use": "sklearn", "with": {"path": "m.joblib"}}]}, "cannot be run on time to event yet"),
        ({"ece": True}, "ece"),
        ({"primary": {"horizon": "90d"}}, "not a horizon of the study"),
        ({"censoring": {"strata": ["sex"], "cox": ["age"]}}, "not both"),
        ({"censoring": "conditional"}, "censoring"),
    ],
)
def test_settings_that_contradict_are_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(StudyError, match=said):
        horizon_study_of(COLUMNS, **more)


@pytest.mark.parametrize(
    ("column", "row", "value", "said"),
    [
        ("ended", 3, 5.0, "a status must be one of 0 .censored., 1 .event., 2 .competing event."),
        ("ended", 3, np.nan, "every row needs a status"),
        ("days", 3, -1.0, "cannot be negative"),
        ("days", 3, np.nan, "every row needs its follow-up"),
        ("days", 3, np.inf, "two hundred years"),
        ("p1", 3, 1.2, "from 0 to 1"),
    ],
)
def test_a_row_that_cannot_be_right_is_refused(column: str, row: int, value: float, said: str) -> None:
    table = followed_table(50)
    bad = table[column].copy()
    bad[row] = value
    with pytest.raises(WorkupError, match=said):
        scores_of(changed(table, **{column: bad}))


def test_an_event_at_the_prediction_is_not_after_it() -> None:
    table = followed_table(50)
    at_once = np.where(np.arange(50) == int(np.argmax(table["ended"] == 1)), 0.0, table["days"])
    with pytest.raises(WorkupError, match="not after the prediction"):
        scores_of(changed(table, days=at_once))
    lost = np.where(np.arange(50) == int(np.argmax(table["ended"] == 0)), 0.0, table["days"])
    assert len(scores_of(changed(table, days=lost))) == 50  # never seen again is no fault


def test_a_risk_cannot_fall_from_one_horizon_to_the_next() -> None:
    table = followed_table(50)
    with pytest.raises(WorkupError, match="falls from 365d to 730d in 50 of 50 rows"):
        scores_of(changed(table, p1=table["p2"], p2=table["p1"] - 0.0001))


def test_messages_hold_no_value_of_a_patient() -> None:
    table = followed_table(50)
    codes = np.array([f"Lee {i}" for i in range(50)], dtype=object)
    with pytest.raises(WorkupError) as refused:
        scores_of(changed(table, ended=codes))
    assert "Lee" not in str(refused.value)


def test_a_column_that_is_not_there_is_named_with_its_neighbours() -> None:
    study = horizon_study(columns={"risk": {"365d": "p_1"}})
    with pytest.raises(WorkupError, match=r"columns.risk.365d names 'p_1'.*did you mean 'p1'"):
        scores_of(followed_table(50), study)
    with pytest.raises(WorkupError, match=r"censoring.cox\[0\] names 'agee'"):
        scores_of(followed_table(50), horizon_study(censoring={"cox": ["agee"]}))


def test_a_model_given_as_an_object_is_not_run() -> None:
    class Model:
        name, version = "m", "1"

        def predict(self, table: Any) -> list[float]:
            return [0.1] * 50

    with pytest.raises(StudyError, match="cannot be run on time to event yet"):
        validate(horizon_study(), system=Model(), table=followed_table(50))


# ---- how it is read --------------------------------------------------------------------------------------------------


def test_values_are_followup_status_row_and_each_horizon() -> None:
    table = followed_table(100)
    scores = scores_of(table)
    assert set(scores.values) == {
        *("followup", "status", "row", "risk@365d", "outcome@365d", "risk@730d", "outcome@730d")
    }
    rows = scores["row"].astype(int) - 1
    assert np.array_equal(scores["followup"], table["days"][rows])
    lost = (table["ended"] == 0) & (table["days"] < 365)
    assert np.array_equal(np.isnan(scores["outcome@365d"]), lost[rows])
    assert scores.weight is None  # censoring weights are made, never stored


def test_each_row_by_itself_is_that_of_the_whole_table() -> None:
    task, table = HorizonTask(), followed_table(60)
    corpus = task.read(horizon_study(), table)
    scores = task.scores(corpus, corpus.followup.risks)
    for i, row in enumerate(scores["row"].astype(int) - 1):
        [one] = task.score(corpus.cases[row], {name: risk[row] for name, risk in corpus.followup.risks.items()})
        assert all(np.array_equal(one[name], scores[name][i], equal_nan=True) for name in scores.values)


@pytest.mark.parametrize(("unit", "days"), [("h", 1 / 24), ("min", 1 / 1440), ("week", 7.0), ("year", 365.25)])
def test_units_of_follow_up_become_days_to_the_digit(unit: str, days: float) -> None:
    table = followed_table(200)
    other = changed(table, days=table["days"] / days)
    study = horizon_study(columns={"followup": {"column": "days", "unit": unit}})
    assert np.array_equal(scores_of(other, study)["followup"], scores_of(table)["followup"])


def test_dates_give_the_same_follow_up() -> None:
    table = followed_table(200)
    day = np.timedelta64(86_400_000_000, "us")
    ended_on = table["seen"] + table["days"].astype(np.int64) * day
    study = horizon_study(columns={"followup": None, "event_time": "ended_on", "time": "seen"})
    dated = scores_of(changed(table, ended_on=ended_on), study)
    plain = scores_of(table, horizon_study(columns={"time": "seen"}))
    assert all(np.array_equal(dated[name], plain[name], equal_nan=True) for name in plain.values)


def test_names_of_a_status_are_mapped() -> None:
    table = followed_table(200)
    words = np.array(["alive", "relapse", "dead"], dtype=object)[table["ended"].astype(int)]
    part = {"column": "ended", "codes": {"alive": "censored", "relapse": 1, "dead": "competing"}}
    named = scores_of(changed(table, ended=words), horizon_study(columns={"status": part}))
    assert np.array_equal(named["status"], scores_of(table)["status"])


def test_a_status_that_nobody_explained_is_counted_and_not_repeated() -> None:
    table = followed_table(200)
    words = table["ended"].astype(int).astype(str).astype(object)
    words[7] = "Zebulon Quigley"
    with pytest.raises(WorkupError, match="got another value in 1 of 200 rows") as caught:
        scores_of(changed(table, ended=words))
    assert "Zebulon" not in str(caught.value)


def test_landmarks_are_a_group_and_their_patients_cluster() -> None:
    table = followed_table(300)
    table |= {"id": np.arange(300.0) % 100, "at": np.array(["0", "90", "180"], dtype=object)[np.arange(300) // 100]}
    scores = scores_of(table, horizon_study(columns={"landmark": "at"}))
    assert scores.groups["landmark"].names == ("0", "180", "90") and scores.n_patients == 100


def test_rows_without_a_risk_by_every_horizon_are_left_out_and_told() -> None:
    table = followed_table(200)
    p1 = np.where(np.arange(200) < 30, np.nan, table["p1"])
    report = validate(horizon_study(), table=changed(table, p1=p1))
    assert report.estimate("auroc", horizon="730d").n_rows == 170
    assert any("No risk for 30 of 200 rows" in note for note in report.results["internal"].notes)
    with pytest.raises(WorkupError, match=r"no risk in any row|nothing can be scored"):
        scores_of(changed(table, p1=np.full(200, np.nan)))


def test_shuffled_rows_change_no_byte() -> None:
    table = followed_table(150)
    order = np.random.default_rng(0).permutation(150)
    shuffled = {name: column[order] for name, column in table.items()}
    for columns in ({}, {"patient": None}):
        study = horizon_study(columns=columns, lenses={"internal": {}, "subgroups": {}}, bootstrap={"replicates": 50})
        one, other = (json.loads(validate(study, table=rows).to_json()) for rows in (table, shuffled))
        for lens in ("internal", "subgroups"):
            assert one["results"][lens] == other["results"][lens]


# ---- what is told ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report() -> Report:
    study = horizon_study(
        columns={"site": "hospital", "time": "seen"},
        lenses={
            "internal": {},
            "subgroups": {"margin": 0.1},
            "sites": {},
            "drift": {"window": "quarter"},
            "power": {"difference": 0.1},
        },
        report={"as_of": "2024-06-01"},
        gates=["auroc.low >= 0.6", "auroc{horizon=730d}.low >= 0.6", "c_index{horizon=730d}.value >= 0.5"],
        also=["cloglog_slope"],
    )
    return validate(study, table=followed_table(900))


def test_every_lens_runs_in_one_study(report: Report) -> None:
    assert set(report.results) == {"internal", "subgroups", "sites", "drift", "power"}
    assert [verdict.outcome for verdict in report.verdicts] == ["pass"] * 3
    assert report.primary == {"horizon": "365d", "threshold": 0.2}
    judged = [row for row in report.results["subgroups"].comparisons if row["margin"] is not None]
    assert {row["slice"]["horizon"] for row in judged} == {"365d", "730d"}
    assert {row["slice"]["horizon"] for row in report.results["sites"].pooled} == {"365d", "730d"}
    assert report.results["power"].tables["needed"]


def test_a_window_is_young_until_the_last_horizon_has_passed(report: Report) -> None:
    assert report.study["lenses"]["drift"]["label_delay"] == 730
    assert report.study["lenses"]["drift"]["as_of"] == "2024-06-01"
    study = horizon_study(columns={"time": "seen"}, lenses={"drift": {"label_delay": 30}})
    assert study.lenses["drift"]["label_delay"] == 30
    assert all(window["status"] != "immature" for window in report.results["drift"].tables["windows"])
    rows = sum(window["rows"] for window in report.results["drift"].tables["windows"])
    assert rows == 900  # by the time of the prediction, whatever became of them


def test_who_was_followed_is_told_for_everyone_and_each_group(report: Report) -> None:
    table = followed_table(900)
    found = report.results["internal"].tables["followup"]
    assert [(row["slice"], row["horizon"]) for row in found[:2]] == [({}, "365d"), ({}, "730d")]
    row, t, status = found[0], table["days"], table["ended"]
    assert row["at_risk_at_start"] == 900 and row["at_risk"] == (t >= 365).sum()
    assert row["events"] == ((status == 1) & (t <= 365)).sum()
    assert row["competing"] == ((status == 2) & (t <= 365)).sum()
    assert row["censored_before"] == ((status == 0) & (t < 365)).sum()
    assert row["median_followup_days"] == median_followup(t, status)
    assert 1 < row["largest_weight"] == pytest.approx(1 / row["followed"])
    assert row["effective_n"] < 900
    assert row["oe_ratio"] == pytest.approx(report.estimate("oe_ratio", horizon="365d").value)
    assert row["oe_complete_cases"] != pytest.approx(row["oe_ratio"], abs=1e-3)
    for name in ("events", "competing", "censored_before", "at_risk"):
        assert sum(one[name] for one in found if one["slice"] and one["horizon"] == "365d") == row[name]


def test_the_hazard_of_being_lost_is_shown_by_risk_and_group(report: Report) -> None:
    table = followed_table(900)
    rows = report.results["internal"].tables["censoring"]["hazard_ratios"]
    assert [row["of"] for row in rows] == ["risk by 365d", "risk by 730d", *(r["of"] for r in rows[2:])]
    risk = np.clip(table["p1"], 1e-6, 1 - 1e-6)
    logit = np.log(risk / (1 - risk))
    x = (logit / logit.std())[:, None]
    t, status = table["days"], table["ended"]
    early = (status != 0) & (t <= 365)
    fit = cox(np.minimum(t, 365), (status == 0) & (t < 365), x, goes_first=early)
    half = 1.959964 * np.sqrt(fit.covariance[0, 0])
    assert rows[0]["hazard_ratio"] == pytest.approx(np.exp(fit.coefficients[0]))
    assert rows[0]["low"] == pytest.approx(np.exp(fit.coefficients[0] - half), rel=1e-6)
    assert rows[2]["column"] == "sex" and rows[2]["low"] < rows[2]["hazard_ratio"] < rows[2]["high"]


def test_curves_carry_those_at_risk_under_every_axis(report: Report) -> None:
    table = followed_table(900)
    curves = report.results["internal"].tables["observed_curves"]
    assert curves["competing"] and [one["fifth"] for one in curves["curves"]] == [None, 1, 2, 3, 4, 5]
    everyone = curves["curves"][0]
    for mark in everyone["under_axis"]:
        assert mark["at_risk"] == (table["days"] >= mark["days"]).sum()
    assert everyone["mean_risk"][1]["observed"] == pytest.approx(
        report.estimate("observed_risk", horizon="730d").value, rel=1e-9
    )
    rising = [one["mean_risk"][0]["risk"] for one in curves["curves"][1:]]
    assert rising == sorted(rising)
    for panel in report.results["internal"].tables["horizons"]:
        assert panel["calibration_curve"]["band"].startswith("pointwise 95 %")  # no band of all horizons together
        assert len(panel["decision_curve"]) == 99 and len(panel["calibration_curve"]["spline"]) == 60
        at = next(one for one in panel["decision_curve"] if one["threshold"] == 0.2)
        e = report.estimate("net_benefit", horizon=panel["horizon"], threshold=0.2)
        assert (at["model"], at["low"], at["high"]) == pytest.approx((e.value, e.low, e.high))


def test_the_second_route_to_calibration_is_there_where_asked_for(report: Report) -> None:
    rows = report.results["internal"].tables["pseudo_calibration"]
    assert [row["horizon"] for row in rows] == ["365d", "730d"]
    assert rows[0]["slope"]["value"] == pytest.approx(1, abs=0.3) and rows[0]["slope"]["se"] > 0
    assert "pseudo_calibration" not in validate(horizon_study(), table=followed_table(80)).results["internal"].tables


def test_censoring_that_follows_the_risk_is_told_with_its_remedy() -> None:
    plain = validate(horizon_study(), table=followed_table(1500, lost=700))
    follows = followed_table(1500, lost=700, by_risk=0.8)
    told = validate(horizon_study(), table=follows)
    notes = [note for note in told.results["internal"].notes if note.startswith("Warning: ")]
    assert any("were lost more often (hazard ratio" in note and "{cox: [p2]}" in note for note in notes)
    assert any("for every fifth of the risk" in note for note in notes)
    assert not any("were lost more often" in note for note in plain.results["internal"].notes)
    mended = validate(horizon_study(censoring={"cox": ["age"]}), table=follows)
    assert not any("were lost more often" in note for note in mended.results["internal"].notes)
    beside = validate(horizon_study(censoring={"strata": ["sex"]}), table=follows)  # says nothing of who was lost
    assert any("what the study allows for is not why" in note for note in beside.results["internal"].notes)
    by_risk = validate(horizon_study(censoring={"cox": ["p2"]}), table=follows)
    assert not any("what the study allows for is not why" in note for note in by_risk.results["internal"].notes)
    truth = 1 / 0.95  # risks were made 5 % too low
    off, on = (abs(one.estimate("oe_ratio", horizon="730d").value - truth) for one in (told, mended))
    assert on < off


def test_the_end_of_the_study_behind_the_last_horizon_is_no_loss() -> None:
    """All leave at one moment; who was lost before it shows all the same, and rows of landmarks are not accused."""
    generate = plugins.find("generators", "survival")
    plan = {"horizons": [365], "risks": [0.2], "groups": {}, "sites": 1, "landmarks": [0, 90, 180]}
    columns = {"followup": "followup", "status": "status", "risk": {"365d": "risk_365d"}, "patient": "patient"}
    columns |= {"landmark": "landmark", "site": None, "time": None, "groups": []}
    for by_risk, low, high in ((0.0, 0.8, 1.25), (0.5, 1.4, 1.9)):
        table = generate(1500, seed=4, plan=plan | {"censoring_by_risk": by_risk}).table
        found = validate(horizon_study(columns=columns, lenses={"internal": {}}), table=table)
        of_risk, *of_landmarks = found.results["internal"].tables["censoring"]["hazard_ratios"]
        assert low < of_risk["hazard_ratio"] < high
        assert all(row["column"] == "landmark" and 0.7 < row["hazard_ratio"] < 1.3 for row in of_landmarks)


def test_survival_in_the_place_of_risks_is_asked_about() -> None:
    table = followed_table(600, competing=1e9)
    survival = changed(table, p1=1 - table["p1"])
    study = horizon_study(columns={"risk": {"365d": "p1"}})
    found = validate(study, table=survival)
    assert any("survival probabilities in place of risks?" in note for note in found.results["internal"].notes)
    assert found.results["internal"].tables["alarms"][0]["code"] == "runs_backwards"
    right = validate(horizon_study(columns={"risk": {"365d": "1 - p1"}}), table=survival)
    plain = validate(study, table=table)
    assert right.estimate("auroc", horizon="365d").value == plain.estimate("auroc", horizon="365d").value
    assert not any("survival probabilities" in note for note in plain.results["internal"].notes)


def test_details_name_rows_and_cells_and_no_patient() -> None:
    table = followed_table(100)
    scores, task = scores_of(table), HorizonTask()
    study = horizon_study()
    assert isinstance(study, HorizonStudy)
    rows = list(task.details(scores, study))
    assert [row["row"] for row in rows] == list(range(1, 101)) and {row["horizon"] for row in rows} == {"365d"}
    assert {row["cell"] for row in rows} <= {"tp", "fp", "fn", "tn", "flagged, lost", "not flagged, lost"}
    assert len(list(task.details(scores, study, every=True))) == 200


def test_a_table_in_which_everyone_is_censored_is_told_and_not_scored() -> None:
    table = followed_table(80)
    found = validate(horizon_study(), table=changed(table, ended=np.zeros(80), days=np.full(80, 100.0)))
    e = found.estimate("auroc", horizon="365d")
    assert e.value is None and "no one was followed to the horizon" in str(e.reason)
    assert found.results["internal"].tables["horizons"][0]["reason"] == "no one was followed to the horizon"


# ---- packs -----------------------------------------------------------------------------------------------------------


def _pack(table: dict[str, Any], site: str, k: int) -> dict[str, Any]:
    here = table["hospital"] == site
    study = horizon_study(lenses={"internal": {}, "subgroups": {}}, bootstrap={"replicates": 50})
    return make_pack(validate(study, table={name: column[here] for name, column in table.items()}), site=site, k=k)


def test_sites_on_one_table_are_the_packs_of_its_parts() -> None:
    table = followed_table(900, seed=6)
    study = horizon_study(columns={"site": "hospital"}, lenses={"sites": {"by": ["sex"]}}, bootstrap={"replicates": 50})
    stacked = validate(study, table=table).results["sites"]
    packs = [_pack(table, site, 0) for site in ("North", "South", "West")]
    scales = {name: card.scale for name, card in HorizonTask.cards.items() if card.pooled}
    found = pool_sites([Pack("p", one).evidence for one in packs], scales=scales, settings=PoolSettings())

    def rows(pooled: Any) -> dict[str, Any]:
        return {str((row["metric"], sorted(row["slice"].items()))): row for row in pooled}

    ours, theirs = rows(found.pooled), rows(stacked.pooled)
    assert ours.keys() == theirs.keys() and len(ours) > 60
    for key, row in ours.items():
        for name in ("value", "low", "high", "pi_low", "pi_high", "tau"):
            other = theirs[key][name]
            assert row[name] == (None if other is None else pytest.approx(other, rel=1e-9, abs=1e-9)), (key, name)


def test_a_pack_keeps_back_groups_with_few_events_by_any_horizon_or_between_two() -> None:
    table = followed_table(900, seed=6)
    north = np.flatnonzero(table["hospital"] == "North")
    # A level in which enough have the event by the last horizon, and hardly anyone between the two.
    few = north[(table["ended"][north] == 1) & (table["days"][north] <= 365)][:20]
    free = north[table["days"][north] > 900][:20]
    sex = table["sex"].copy()
    sex[[*few, *free]] = "X"
    pack = _pack(changed(table, sex=sex), "North", 11)
    told = {str(row["slice"].get("sex")) for row in pack["estimates"] if row["status"] != "withheld"}
    assert "X" not in told and "None" in told
    # Flagged events are cut by every horizon in another way, so no figure at a threshold leaves the site.
    assert all(row["status"] == "withheld" for row in pack["estimates"] if "threshold" in row["slice"])
