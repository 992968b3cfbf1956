"""The worker: windows through their states, alerts exactly once, late outcomes, versions, and the feed itself."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.monitored import LATEST, Monitored, part, small_plan, small_year, story, us
from workup.errors import StudyError
from workup.monitor.simulated_year import DRIFTS, WATCHED
from workup.monitor.store.alerts import alert_events, resolve_alert
from workup.monitor.store.database import open_store
from workup.monitor.store.models import set_equivalence, versions, versions_by_data
from workup.monitor.store.windows import windows
from workup.monitor.worker import Worker, stretches_of

MONTH = us("2025-01-01")


@pytest.fixture
def monitored(tmp_path: Path) -> Any:
    store = open_store(str(tmp_path / "monitor.db"))
    yield Monitored(store, small_plan())
    store.close()


def before(table: dict[str, Any], day: str, column: str = "time") -> dict[str, Any]:
    return part(table, table[column] < np.datetime64(day, "us"))


# ---- a year ----------------------------------------------------------------------------------------------------------


def test_a_planted_drift_is_alerted_within_three_windows_with_who_does_what(monitored: Monitored) -> None:
    monitored.take_in(small_year())
    done = monitored.step()
    assert (done.closed, done.problems) == (6, [])
    [alert] = [one for one in monitored.alerts("performance") if one["slice"] == {"sex": DRIFTS}]
    assert "2025-03" <= alert["opened_window"] <= "2025-05"
    assert (alert["state"], alert["severity"], alert["owner"]) == ("open", "high", "Ward lead for readmissions")
    assert not [one for one in monitored.alerts() if one["opened_window"] < "2025-03"]
    assert not [one for one in monitored.alerts("performance") if one["slice"] == {"sex": "M"}]


def test_an_alert_is_resolved_after_quiet_windows(monitored: Monitored) -> None:
    monitored.take_in(small_year(drift_month=2, until=3))
    monitored.step()
    [alert] = [one for one in monitored.alerts("performance") if one["slice"] == {"sex": DRIFTS}]
    assert (alert["state"], alert["resolved_by"], alert["quiet"]) == ("resolved", "worker", 3)
    with monitored.store.read() as connection:
        assert [one["what"] for one in alert_events(connection, alert["id"])] == ["opened", "resolved"]


def test_month_by_month_is_the_same_as_all_at_once(monitored: Monitored, tmp_path: Path) -> None:
    year = small_year()
    other = Monitored(open_store(str(tmp_path / "other.db")), monitored.plan)
    other.take_in(year)
    other.step()
    for month in [*(f"2025-{number:02}-01" for number in range(1, 9)), LATEST]:
        monitored.predict(before(dict(year.predictions), month))
        known = before(dict(year.outcomes), month, "known")
        if known["id"].size:
            monitored.answer(known)
        monitored.step(month)
    assert story(monitored.alerts()) == story(other.alerts())
    names = ("window_name", "kind", "metric", "slice", "part", "value", "statistic", "signal", "status", "revision")
    kinds = ("performance", "fairness", "integrity")
    seen, wanted = (
        [tuple(str(row[name]) for name in names) for row in one.estimates(*kinds)] for one in (monitored, other)
    )
    assert sorted(seen) == sorted(wanted)
    other.store.close()


def test_a_second_round_changes_nothing(monitored: Monitored) -> None:
    monitored.take_in(small_year())
    monitored.step()
    held = story(monitored.alerts()), monitored.windows(), len(monitored.estimates(every_revision=True))
    done = monitored.step()
    assert (done.frozen, done.checked, done.closed, done.restated) == (0, 0, 0, 0)
    assert (story(monitored.alerts()), monitored.windows(), len(monitored.estimates(every_revision=True))) == held


def test_windows_pass_through_their_states(monitored: Monitored) -> None:
    monitored.take_in(small_year())
    monitored.step("2025-03-10")
    states = {one["name"]: one["state"] for one in monitored.windows()}
    assert states == {"2025-01": "closed", "2025-02": "immature", "2025-03": "open"}
    assert [one["checked"] is not None for one in monitored.windows()] == [True, True, False]
    assert monitored.windows()[0]["label_delay"] == pytest.approx(16.5, abs=1.5)
    monitored.step("2025-04-02")
    assert [one["state"] for one in monitored.windows()] == ["closed", "closed", "immature", "open"]


def test_nothing_is_judged_before_the_baseline_is_whole(monitored: Monitored) -> None:
    monitored.take_in(small_year())
    done = monitored.step("2025-01-20")
    assert (done.frozen, done.closed, done.problems) == (0, 0, [])
    assert monitored.step("2025-02-01").frozen == 5


def test_a_baseline_that_holds_too_little_is_a_problem_that_is_told(monitored: Monitored) -> None:
    year = small_year()
    monitored.predict(part(year.predictions, slice(0, 50)))
    [problem] = monitored.step().problems
    assert "holds too little" in problem


# ---- late and corrected outcomes -------------------------------------------------------------------------------------


def test_a_late_outcome_restates_a_window_and_keeps_what_was_shown(monitored: Monitored) -> None:
    year = small_year(drift_month=None)
    monitored.predict(year.predictions)
    late = np.flatnonzero(np.char.endswith(year.outcomes["id"].astype(str), "7"))
    soon = np.setdiff1d(np.arange(len(year.outcomes["id"])), late)
    monitored.answer(part(year.outcomes, soon))
    monitored.step("2025-04-05")
    first = {one["window_name"]: one for one in monitored.estimates("performance") if one["slice"] == {}}
    monitored.now = us("2025-04-06")
    monitored.answer(part(year.outcomes, late))
    done = monitored.step("2025-04-07")
    assert done.restated == 2  # March is not closed yet
    states = [(one["state"], one["revision"]) for one in monitored.windows()]
    assert states[:2] == [("restated", 1)] * 2
    for name, was in first.items():
        kept = [
            one
            for one in monitored.estimates("performance", every_revision=True)
            if one["window_name"] == name and one["slice"] == {}
        ]
        assert [one["revision"] for one in kept] == [0, 1]
        assert (kept[0]["value"], kept[0]["shown"]) == (was["value"], us("2025-04-05"))
        assert kept[1]["value"] != was["value"] and kept[1]["shown"] == us("2025-04-07")
    assert monitored.step("2025-04-08").restated == 0


def test_a_corrected_outcome_does_not_reopen_an_alert_by_itself(monitored: Monitored) -> None:
    year = small_year()
    monitored.take_in(year)
    monitored.step()
    held = story(monitored.alerts())
    rows = np.flatnonzero(year.outcomes["known"] > np.datetime64("2025-03-20"))[:300]
    wrong = part(year.outcomes, rows) | {"readmitted": 1 - year.outcomes["readmitted"][rows]}
    monitored.answer(wrong, corrections=True)
    assert monitored.step().restated > 0
    assert story(monitored.alerts()) == held


def test_a_window_that_was_restated_counts_in_the_charts_to_come(monitored: Monitored) -> None:
    year = small_year(drift_month=None)
    monitored.predict(year.predictions)
    monitored.answer(before(dict(year.outcomes), "2025-05-01", "known"))
    monitored.step("2025-05-02")
    statistic = {one["window_name"]: one["statistic"] for one in monitored.estimates("performance") if not one["slice"]}
    rows = (year.outcomes["known"] > np.datetime64("2025-02-10")) & (
        year.outcomes["known"] < np.datetime64("2025-02-20")
    )
    wrong = part(year.outcomes, rows) | {"readmitted": 1 - year.outcomes["readmitted"][rows]}
    monitored.answer(wrong, corrections=True)
    monitored.answer(part(year.outcomes, year.outcomes["known"] >= np.datetime64("2025-05-01")))
    monitored.step("2025-06-15")
    now = {one["window_name"]: one["statistic"] for one in monitored.estimates("performance") if not one["slice"]}
    assert now["2025-02"] != statistic["2025-02"]
    assert "2025-04" in now


# ---- people ----------------------------------------------------------------------------------------------------------


def test_what_a_person_resolved_and_is_found_again_is_a_new_alert(monitored: Monitored) -> None:
    year = small_year(drift_month=3)
    monitored.take_in(year)
    monitored.step("2025-06-05")
    [alert] = [one for one in monitored.alerts("performance") if one["slice"] == {"sex": DRIFTS}]
    resolve_alert(monitored.store, alert["id"], now=monitored.now, who="ann", reason="recalibrated")
    monitored.step("2025-08-05")
    both = [one for one in monitored.alerts("performance") if one["slice"] == {"sex": DRIFTS}]
    assert sorted((one["relapse"], one["state"], one["resolved_by"]) for one in both) == [
        (0, "resolved", "ann"),
        (1, "open", ""),
    ]


def test_two_workers_double_nothing(monitored: Monitored) -> None:
    monitored.take_in(small_year())
    failures: list[BaseException] = []

    def run(name: str) -> None:
        # Each has a clock of its own that outruns the other's lease, so that both believe that they may work.
        clock = iter(range(us(LATEST), us("2036-02-15"), 300_000_000))
        worker = Worker(monitored.store, clock=lambda: next(clock), holder=name)
        try:
            for _ in range(3):
                worker.step(as_of=us(LATEST))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert Counter(one["state"] for one in monitored.windows())["closed"] == 6
    found = monitored.alerts("performance")
    assert len(found) == len({one["cause"] for one in found}) > 0
    for alert in found:
        with monitored.store.read() as connection:
            assert [one["what"] for one in alert_events(connection, alert["id"])].count("opened") == 1


def test_only_the_holder_of_the_lease_works(monitored: Monitored) -> None:
    monitored.take_in(small_year())
    other = Worker(monitored.store, clock=lambda: monitored.now, holder="other")
    monitored.worker.step(as_of=us("2025-01-10"))
    assert not other.step(as_of=monitored.now).working
    monitored.worker.close()
    assert other.step(as_of=monitored.now).closed == 6


# ---- the feed --------------------------------------------------------------------------------------------------------


def altered(monitored: Monitored, change: Any, *, since: str = "2025-03-01") -> None:
    year = small_year(drift_month=None)
    table = {name: column.copy() for name, column in year.predictions.items()}
    rows = np.flatnonzero(table["time"] >= np.datetime64(since))
    monitored.predict(change(table, rows))
    monitored.answer(year.outcomes)
    monitored.step("2025-06-05")


def test_rows_that_go_missing_are_told(monitored: Monitored) -> None:
    altered(monitored, lambda table, rows: part(table, np.setdiff1d(np.arange(len(table["id"])), rows[::2])))
    assert {one["metric"] for one in monitored.alerts("integrity")} >= {"rows_against_expected"}


def test_rows_that_are_sent_twice_under_other_ids_are_told(monitored: Monitored) -> None:
    def twice(table: dict[str, Any], rows: Any) -> dict[str, Any]:
        again = part(table, rows[::4])
        again["id"] = np.char.add(again["id"].astype(str), "b")
        return {name: np.concatenate([column, again[name]]) for name, column in table.items()}

    altered(monitored, twice)
    assert "duplicates" in {one["metric"] for one in monitored.alerts("integrity")}


def test_risks_and_inputs_that_go_missing_or_move_are_told(monitored: Monitored) -> None:
    columns = monitored.plan.columns.model_copy(update={"inputs": ("age", "creatinine")}).model_dump()
    monitored.replan(small_plan(columns=columns))

    def broken(table: dict[str, Any], rows: Any) -> dict[str, Any]:
        table["risk"][rows[::5]] = np.nan
        table["age"][rows] += 20
        table["creatinine"][rows[::3]] = np.nan
        return table

    altered(monitored, broken)
    found = {one["metric"] for one in monitored.alerts("integrity")}
    assert found >= {"without_risk", "age", "creatinine (missing)"}


def test_outcomes_that_do_not_arrive_are_told(monitored: Monitored) -> None:
    year = small_year(drift_month=None)
    monitored.predict(year.predictions)
    keep = (year.outcomes["known"] < np.datetime64("2025-03-15")) | (np.arange(len(year.outcomes["id"])) % 3 > 0)
    monitored.answer(part(year.outcomes, keep))
    monitored.step()
    assert "labels_arrived" in {one["metric"] for one in monitored.alerts("integrity")}


def test_silence_opens_one_alert_and_the_next_row_ends_it(monitored: Monitored) -> None:
    year = small_year(drift_month=None)
    monitored.predict(before(dict(year.predictions), "2025-03-10"))
    monitored.answer(year.outcomes)
    for day in ("2025-03-15", "2025-04-20", "2025-04-25"):
        monitored.step(day)
    [alert] = [one for one in monitored.alerts() if one["metric"] == "silence"]
    assert (alert["state"], alert["opened"]) == ("open", us("2025-04-20"))
    monitored.predict(before(dict(year.predictions), "2025-04-26"))
    monitored.step("2025-04-26")
    [alert] = [one for one in monitored.alerts() if one["metric"] == "silence"]
    assert (alert["state"], alert["resolved_by"]) == ("resolved", "worker")


def test_stable_months_are_quiet(monitored: Monitored) -> None:
    monitored.take_in(small_year(seed=3, drift_month=None))
    monitored.step()
    assert monitored.alerts() == []


# ---- acted on, impact, versions --------------------------------------------------------------------------------------


def test_rows_acted_on_are_shown_apart_and_raise_no_alert_alone(tmp_path: Path) -> None:
    columns = small_plan().columns.model_copy(update={"acted": "acted"}).model_dump()
    monitored = Monitored(open_store(str(tmp_path / "m.db")), small_plan(columns=columns))
    year = small_year(drift_month=None)
    rng = np.random.default_rng(5)
    acted = (rng.random(len(year.predictions["id"])) < 0.5).astype(int)
    monitored.predict(dict(year.predictions) | {"acted": acted})
    helped = dict(zip(year.predictions["id"].tolist(), acted.tolist(), strict=True))
    late = year.outcomes["known"] >= np.datetime64("2025-04-01")
    treated = np.array([helped[id] for id in year.outcomes["id"].tolist()]) * late
    # Those with a high risk who were acted on do well from April on: the ranking of all looks far worse.
    risk = dict(zip(year.predictions["id"].tolist(), year.predictions["risk"].tolist(), strict=True))
    high = np.array([risk[id] for id in year.outcomes["id"].tolist()]) > 0.15
    outcome = np.where((treated == 1) & high, 0, year.outcomes["readmitted"])
    monitored.answer(dict(year.outcomes) | {"readmitted": outcome})
    monitored.step()
    shown = [one for one in monitored.estimates("performance") if one["slice"] == {} and one["window_name"] > "2025-03"]
    everyone, spared = (
        np.mean([one["value"] for one in shown if one["part"] == part]) for part in ("all", "not acted on")
    )
    assert everyone + 0.05 < spared
    assert [one for one in monitored.alerts("performance") if one["slice"] == {}] == []
    counted = {(one["metric"], one["window_name"]) for one in monitored.estimates("impact")}
    assert {
        ("acted_on", "2025-06"),
        ("overridden", "2025-06"),
        ("alarms_fired", "2025-06"),
        ("outcome_rate", "2025-06"),
    } <= counted
    monitored.store.close()


def test_a_new_version_has_a_baseline_of_its_own_or_none(tmp_path: Path) -> None:
    columns = small_plan().columns.model_copy(update={"version": "version"}).model_dump()
    plan = small_plan(columns=columns, versions={"2": {"baseline": {"from": "2025-02-01", "until": "2025-05-01"}}})
    monitored = Monitored(open_store(str(tmp_path / "m.db")), plan)
    year = small_year(drift_month=None)
    version = np.where(year.predictions["time"] < np.datetime64("2025-02-01"), "1", "2").astype(object)
    version[year.predictions["time"] >= np.datetime64("2025-07-20")] = "3"
    monitored.predict(dict(year.predictions) | {"version": version})
    monitored.answer(year.outcomes)
    done = monitored.step()
    assert [problem for problem in done.problems if "'3'" in problem]
    with monitored.store.read() as connection:
        listed = {row["version"]: row["id"] for row in versions(connection, monitored.model)}
        matrix = versions_by_data(connection, monitored.model)
    assert set(listed) == {"1", "2", "3"}
    assert [row["version"] for row in matrix] == ["1", "2", "3"]
    seen: dict[str, list[str]] = {name: [] for name in listed}
    for name, number in listed.items():
        with monitored.store.read() as connection:
            seen[name] = [one["name"] for one in windows(connection, number) if one["state"] == "closed"]
    assert seen["3"] == []
    assert seen["1"] == ["2025-01"]
    assert seen["2"] == ["2025-05", "2025-06"]
    monitored.store.close()


def test_an_equivalent_version_takes_over_the_baseline_once_that_is_shown(tmp_path: Path) -> None:
    columns = small_plan().columns.model_copy(update={"version": "version"}).model_dump()
    part2 = {"equivalent_to": "1", "from": "2025-04-01", "pairs": "pairs.csv", "metric": "auroc", "margin": 0.02}
    monitored = Monitored(open_store(str(tmp_path / "m.db")), small_plan(columns=columns, versions={"2": part2}))
    year = small_year()
    version = np.where(year.predictions["time"] < np.datetime64("2025-04-01"), "1", "2").astype(object)
    monitored.predict(dict(year.predictions) | {"version": version})
    monitored.answer(year.outcomes)
    assert [problem for problem in monitored.step().problems if "not shown to be equivalent" in problem]
    with monitored.store.write() as connection:
        number = next(row["id"] for row in versions(connection, monitored.model) if row["version"] == "2")
        set_equivalence(connection, number, of="1", found={"equivalent": True}, now=1, who="ann")
    done = monitored.step()
    assert (done.problems, done.closed) == ([], 3)
    assert [one for one in monitored.alerts("performance") if one["slice"] == {"sex": DRIFTS}]
    monitored.store.close()


def test_named_scores_of_another_kind_of_model_are_watched_too(tmp_path: Path) -> None:
    plan = small_plan(
        task="scores",
        columns={"risk": None, "groups": ["sex"], "scores": ["found", "true"]},
        measures={"recall": {"numerator": "found", "denominator": "true", "share": True}},
        thresholds=[],
        watch=[{"metric": "recall", "limit": 0.05}, {"metric": "recall", "gap": "sex", "limit": 0.05}],
        label_delay=0,
    )
    monitored = Monitored(open_store(str(tmp_path / "m.db")), plan)
    year = small_year(drift_month=None)
    count = len(year.predictions["id"])
    rng = np.random.default_rng(2)
    late = year.predictions["time"] >= np.datetime64("2025-03-01")
    found = rng.random(count) < np.where(late, 0.8, 0.95)
    table = {name: year.predictions[name] for name in ("id", "time", "sex")}
    monitored.predict(table | {"found": found.astype(float), "true": np.ones(count)})
    monitored.step()
    [alert] = monitored.alerts("performance")
    assert (alert["metric"], alert["opened_window"]) == ("recall", "2025-03")
    monitored.store.close()


# ---- lines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", [{"metric": "auroc", "limit": 0.05, "group": {"sex": "X"}}, {"metric": "ici", "limit": 0.1}]
)
def test_a_line_that_follows_nothing_is_a_problem_that_is_told(monitored: Monitored, line: dict[str, Any]) -> None:
    monitored.take_in(small_year(drift_month=None))
    monitored.replan(small_plan(watch=[line]))
    done = monitored.step()
    assert len(done.problems) == 1


def test_a_changed_plan_starts_its_new_lines_and_keeps_the_others(monitored: Monitored) -> None:
    monitored.take_in(small_year(drift_month=None))
    monitored.step("2025-06-05")
    line = {"metric": "oe_ratio", "limit": 0.2, "chart": "cusum", "cadence": "quarter"}
    monitored.replan(small_plan(watch=[*small_plan().model_dump(mode="json")["watch"], line]))
    done = monitored.step("2025-08-05")
    assert done.problems == []
    shown = {one["window_name"] for one in monitored.estimates("performance") if one["metric"] == "oe_ratio"}
    assert shown == {"2025-Q1", "2025-Q2"}


def test_an_alert_whose_line_left_the_plan_is_not_stuck(monitored: Monitored) -> None:
    monitored.take_in(small_year(drift_month=3))
    monitored.step("2025-07-05")
    assert [one for one in monitored.alerts("performance") if one["slice"] == {"sex": DRIFTS}]
    monitored.replan(small_plan(watch=[{"metric": "oe_ratio", "limit": 0.2}]))
    monitored.step("2025-07-06")
    found = monitored.alerts("performance")
    assert {(one["state"], one["resolved_reason"]) for one in found} == {("resolved", "no longer in the plan")}


def test_windows_of_a_calendar_begin_where_the_baseline_ends() -> None:
    found = stretches_of(us("2025-01-10"), us("2025-03-02"), "month")
    assert [(one.name, one.start) for one in found] == [
        ("2025-01", us("2025-01-10")),
        ("2025-02", us("2025-02-01")),
        ("2025-03", us("2025-03-01")),
    ]
    assert stretches_of(5, 5, "day") == []
    assert us(WATCHED) == MONTH
    with pytest.raises(StudyError):
        stretches_of(0, us("2100-01-01"), "day")
