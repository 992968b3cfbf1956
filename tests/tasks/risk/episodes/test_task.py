"""Episodes as a task: every lens, comparisons, notes, what is refused, and that no order of rows changes a byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workup
from tests.support.shell import call
from tests.support.wards import ROLES, content, validated
from workup import plugins
from workup.compare import paired_runs
from workup.corpora.generate.episodes.generator import generate
from workup.errors import InputError, StudyError
from workup.preflight import checked
from workup.report import Report
from workup.reports import html, text
from workup.study import Study
from workup.validate import scored, validate

LENSES: dict[str, Any] = {
    "internal": {},
    "subgroups": {"by": ["sex", "ward"], "margin": 0.1},
    "power": {"by": ["sex"]},
    "drift": {"window": "month"},
    "sites": {},
}


@pytest.fixture(scope="module", name="report")
def _report() -> Report:
    return validated(lenses=LENSES, gates=["event_sensitivity.low >= 0.3", "alert_ppv{ward=*}.low >= 0.01"])


def test_all_five_lenses_look_at_it(report: Report) -> None:
    assert set(report.results) == set(LENSES)
    assert report.estimate("event_sensitivity", threshold=0.05, sex="F").n_patients > 10
    assert report.estimate("alarm_rate", threshold=0.05, ward="icu").value is not None
    assert {row["metric"] for row in report.results["sites"].pooled} >= {"event_sensitivity", "alarm_rate", "alert_ppv"}
    assert not {row["metric"] for row in report.results["sites"].pooled} & {"lead_time_mean", "lead_time_median", "nne"}
    assert report.results["drift"].charts_state and report.results["drift"].settings["label_delay"] == 1.0
    assert all(verdict.outcome == "pass" for verdict in report.verdicts)


def test_every_figure_is_of_the_rows_of_its_kind(report: Report) -> None:
    events = report.estimate("event_sensitivity", threshold=0.05)
    assert events.n_rows == events.denominator == events.n_events
    flagged = report.estimate("lead_time_median", threshold=0.05)
    assert flagged.n_rows == events.numerator
    watched = report.estimate("alarm_rate", threshold=0.05)
    assert watched.n_rows > report.estimate("auroc").n_rows > events.n_rows


def test_levels_of_a_grouping_add_up_to_all(report: Report) -> None:
    for metric in ("event_sensitivity", "alert_ppv", "alarm_rate"):
        whole = report.estimate(metric, threshold=0.05)
        for grouping in ("sex", "ward"):
            parts = [
                e
                for e in report.estimates(metric, lens="subgroups")
                if set(e.slice) == {grouping, "threshold"} and e.slice["threshold"] == 0.05 and e.level == 0.95
            ]
            assert sum(e.numerator or 0 for e in parts) == pytest.approx(whole.numerator)
            assert sum(e.denominator or 0 for e in parts) == pytest.approx(whole.denominator)


def test_power_plans_events(report: Report) -> None:
    rows = [r for r in report.results["power"].tables["needed"] if r["metric"] == "event_sensitivity"]
    assert rows and all(row["events"] is None or row["events"] > 0 for row in rows)
    assert any(row["events"] for row in rows)


def test_rows_that_nobody_acted_on_are_shown_beside_all(report: Report) -> None:
    for metric in ("event_sensitivity", "alert_ppv"):
        assert (
            report.estimate(metric, threshold=0.05, acted="no").n_rows < report.estimate(metric, threshold=0.05).n_rows
        )
    assert report.estimate("auroc", acted="no").value is not None
    assert any("untreated truth" in note for note in report.results["internal"].notes)


def test_a_median_lead_time_never_stands_without_the_share_and_the_curve(report: Report) -> None:
    shown = text.render(report)
    line = next(row for row in shown.splitlines() if row.startswith("threshold  events flagged in time"))
    assert "median lead time" in line
    assert shown.index("What became of every prediction") < shown.index("Alarms and events by threshold")
    assert "How long before events are flagged" in shown
    page = html.render(report)
    assert page.index("Events flagged in time") < page.index("Median lead time")
    assert "Alerts and events in a few stays" in page


def test_the_record_holds_no_id(report: Report) -> None:
    made = generate(300, seed=3)
    record = report.to_json()
    ids = {str(one) for name in ("patient", "encounter") for one in made.predictions[name]}
    assert not any(json.dumps(one) in record for one in ids)


def test_what_the_study_says_stands_first(report: Report) -> None:
    tables = report.results["internal"].tables
    said = {row["setting"]: row["value"] for row in tables["episode_settings"]}
    assert said["horizon"] == "24h" and said["policy"] == "level" and said["events: target"] == "sepsis"
    assert sum(row["predictions"] for row in tables["fates"]) == report.corpus["n_cases"]


def test_the_order_of_rows_changes_nothing() -> None:
    made = generate(120, seed=2)
    rng = np.random.default_rng(1)

    def shuffled(table: Any) -> dict[str, Any]:
        order = rng.permutation(len(table["patient"]))
        return {name: np.asarray(column)[order] for name, column in table.items()}

    study = Study.of(content(corpus={}, columns={"site": "site", "groups": ["sex"]}, thresholds=[0.1]))
    plain = validate(study, table=(made.predictions, made.events))
    again = validate(study, table=(shuffled(made.predictions), shuffled(made.events)))
    assert again.to_json() == plain.to_json()


def test_predictions_in_two_files_are_those_of_one(tmp_path: Path) -> None:
    made = generate(80, seed=2)
    made.write(tmp_path / "scores.csv")
    lines = (tmp_path / "scores.csv").read_text().splitlines()
    half = len(lines) // 2
    (tmp_path / "a.csv").write_text("\n".join(lines[:half]) + "\n")
    (tmp_path / "b.csv").write_text("\n".join([lines[0], *lines[half:]]) + "\n")
    reports = []
    for files in ("scores.csv", ["a.csv", "b.csv"]):
        corpus = {"predictions": files, "events": "events.csv", "name": "ward"}
        study = Study.of(content(corpus=corpus, columns={}, thresholds=[0.1]), base=tmp_path)
        reports.append(validate(study))
    assert reports[0].corpus["sha256"] == reports[1].corpus["sha256"]
    assert reports[0].results["internal"].as_dict() == reports[1].results["internal"].as_dict()


# ---- the study -------------------------------------------------------------------------------------------------------


def test_a_risk_study_with_episodes_is_one_of_episodes() -> None:
    assert Study.of(content(task="risk")).task == "episodes"
    plain = {"name": "x", "task": "risk", "columns": {"outcome": "died", "risk": "p"}}
    assert Study.of(plain).task == "risk"
    with pytest.raises(StudyError, match="events"):
        Study.of({"name": "x", "task": "risk", "episodes": {"horizon": "24h"}})


def test_time_to_event_belongs_to_a_task_of_its_own_where_it_is_installed() -> None:
    timed = {"name": "x", "task": "risk", "columns": {"outcome": "died", "risk": "p", "followup": "days"}}
    if "horizon" in plugins.registered("tasks"):
        from workup.study import of_task

        meant = of_task("risk").reads_as(timed)  # type: ignore[attr-defined]
        assert meant == "horizon"
    else:
        with pytest.raises(StudyError, match="followup"):
            Study.of(timed)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"episodes": {"horizon": 24}}, "bare number"),
        ({"episodes": {"horizon": "1h", "gap": "2h"}}, "gap"),
        ({"corpus": {"path": "a.csv"}}, "episodes need two"),
        ({"corpus": {"predictions": "a.csv"}}, "events"),
        ({"episodes": {"horizon": "24h", "policy": "recorded"}}, "no threshold applies"),
        ({"episodes": {"horizon": "24h", "policy": "recorded"}, "thresholds": []}, "events.alert"),
    ],
)
def test_what_cannot_be_is_refused_when_the_study_is_read(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(StudyError, match=said):
        Study.of(content(**changes))


def test_a_system_cannot_be_run_on_episodes() -> None:
    study = Study.of(content(systems=[{"use": "sklearn", "with": {"path": "model.joblib"}}]))
    with pytest.raises(StudyError, match="a system cannot be run"):
        validate(study)

    class Model:
        name, version = "mine", "1"

        def predict(self, table: Any) -> list[float]:
            return [0.5] * len(next(iter(table.values())))

    with pytest.raises(StudyError, match="a system cannot be run"):
        validate(Study.of(content()), system=Model())


def test_a_missing_file_and_a_wrong_metric_are_found_before_anything_runs(tmp_path: Path) -> None:
    study = Study.of(content(corpus={"predictions": "scores.csv", "events": "events.csv"}), base=tmp_path)
    with pytest.raises((StudyError, InputError), match=r"scores\.csv"):
        checked(study)
    with pytest.raises(StudyError, match="thresholds"):
        checked(Study.of(content(thresholds=[], gates=["alarm_rate.high <= 10"])))
    with pytest.raises(StudyError, match=r"no threshold 0\.3"):
        checked(Study.of(content(gates=["alarm_rate{threshold=0.3}.high <= 10"])))


# ---- units, landmarks, recorded alerts -------------------------------------------------------------------------------


def test_landmarks_are_a_group_and_calibration_is_shown_for_them() -> None:
    episodes = {"horizon": "24h", "unit": "landmark", "landmarks": ["6h", "24h"]}
    report = validated(episodes=episodes, thresholds=[0.1])
    assert report.estimate("auroc", landmark="6h").n_rows > report.estimate("auroc", landmark="24h").n_rows
    assert report.estimate("oe_ratio").value is not None
    assert "first_score" not in report.results["internal"].tables


def test_every_unit_can_be_shown() -> None:
    for unit, score in (("prediction", None), ("encounter", "first"), ("patient", "mean")):
        episodes = {"horizon": "24h", "unit": unit, **({"score": score} if score else {})}
        report = validated(episodes=episodes, thresholds=[0.1])
        assert report.estimate("auroc").value is not None
        assert (report.estimate("oe_ratio").value is None) == (score == "mean")
        assert "AUROC" in text.render(report)


def test_alerts_as_they_were_recorded_need_no_threshold() -> None:
    made = generate(120, seed=2)
    fired = {
        name: np.asarray(column)[np.asarray(made.predictions["risk"]) >= 0.1]
        for name, column in made.predictions.items()
    }
    events = {
        name: np.concatenate(
            [
                np.asarray(made.events[name]),
                np.array(["alert"] * len(fired["time"]), dtype=object) if name == "type" else fired[name],
            ]
        )
        for name in ("patient", "encounter", "type", "time")
    }
    roles = {**ROLES, "alert": ["alert"]}
    changes = {"corpus": {}, "columns": {}, "events": roles, "thresholds": []}
    study = Study.of(content(**changes, episodes={"horizon": "24h", "policy": "recorded"}))
    found = validate(study, table=(made.predictions, events))
    level = validate(
        Study.of(content(corpus={}, columns={}, thresholds=[0.1], episodes={"horizon": "24h"})),
        table=(made.predictions, made.events),
    )
    for metric in ("event_sensitivity", "alert_ppv", "alarm_rate"):
        assert found.estimate(metric).value == level.estimate(metric, threshold=0.1).value
    assert "as recorded" in text.render(found)


def test_two_columns_of_risks_are_compared_on_the_same_rows() -> None:
    made = generate(150, seed=2)
    worse = {**made.predictions, "flat": np.asarray(made.predictions["risk"]) * 0.5}
    systems = [{"name": "a", "use": "recorded", "with": {"column": "risk"}}]
    systems.append({"name": "b", "use": "recorded", "with": {"column": "flat"}})
    study = Study.of(content(corpus={}, columns={}, thresholds=[0.1], systems=systems))
    ready = checked(study, table=(worse, made.events))
    first, second = (scored(study, ready, system=name) for name in ("a", "b"))
    rows = {row["metric"]: row for row in paired_runs(first, second).rows}
    assert rows["alarm_rate"]["value"] < 0 and rows["event_sensitivity"]["value"] < 0
    assert rows["auroc"]["value"] == pytest.approx(0)
    assert rows["alarm_rate"]["low"] is not None


def test_details_say_what_became_of_every_event(tmp_path: Path) -> None:
    from workup.runs import RunDirectory

    with RunDirectory.open(tmp_path / "run") as run:
        report = validate(Study.of(content(lenses={"internal": {}})), run=run)
    lines = [json.loads(line) for line in (tmp_path / "run" / "details.jsonl").read_text().splitlines()]
    flagged = [line for line in lines if line["flagged"]]
    assert len(flagged) == report.estimate("event_sensitivity", threshold=0.05).numerator


def test_the_command_scores_two_files(tmp_path: Path) -> None:
    generate(80, seed=2).write(tmp_path / "scores.csv")
    files = [tmp_path / "scores.csv", tmp_path / "events.csv"]
    asked = ["--horizon", "24h", "--start", "admit", "--end", "discharge", "--death", "death", "--lost", "transfer"]
    asked += ["--threshold", "0.1", "--replicates", "100"]
    gate = ["--gate", "event_sensitivity.low >= 0.01", "--json", str(tmp_path / "r.json")]
    done = call("score", "episodes", *files, "--target", "sepsis", *asked, *gate)
    assert done.code == 0 and "Alarms and events by threshold" in done.out
    report = Report.read(tmp_path / "r.json")
    assert report.study["task"] == "episodes" and report.estimate("alarm_rate", threshold=0.1).value is not None
    refused = call("score", "episodes", *files, "--target", "sepsiss", *asked)
    assert refused.code != 0 and "sepsis" in refused.err


def test_it_is_offered_where_the_package_is() -> None:
    assert "episodes" in plugins.registered("tasks")
    assert callable(workup.score_episodes)
