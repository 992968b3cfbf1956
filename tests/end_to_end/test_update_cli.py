"""`workup update`, `workup apply` and thresholds of risks as a stranger calls them: verdicts, exit codes, files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.support.oracles import read
from tests.support.planted_updates import off, planted, study
from tests.support.shell import SECRET, call, is_quiet, risk_words, shuffled, write
from workup.report import Report
from workup.tasks.risk.updating.rules import choose

KEY = "a secret that two places share\n"


def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    return found


def updated(folder: Path, file: Path, *more: str | Path) -> tuple[int, dict[str, Any]]:
    """An update of a study, and what was told of it."""
    done = call("update", file, "-o", folder / "update.json", "--json", folder / "told.json", *more)
    is_quiet(done, SECRET)
    assert done.code in (0, 1, 3), done.err
    return done.code, told(folder)


def figure(found: dict[str, Any], column: str, metric: str) -> dict[str, Any]:
    [one] = [e for e in found["figures"][column] if e["metric"] == metric]
    return one


# ---- verdicts and exit codes -----------------------------------------------------------------------------------------


def test_a_good_update_is_found_and_judged_on_others(tmp_path: Path) -> None:
    code, found = updated(tmp_path, planted(tmp_path, slope=0.7, rows=4000))
    assert (code, found["verdict"]) == (0, "better")
    assert found["updates"][0]["method"] == "recalibration" and found["honest"]["how"] == "cross-fitted"
    for metric in ("oe_ratio", "calibration_slope"):
        honest = figure(found, "honest", metric)
        assert honest["low"] < 1 < honest["high"]
    assert figure(found, "original", "calibration_slope")["high"] < 0.8
    # The order of risks is kept, so an AUROC that changes would be noise.
    assert found["keeps_order"] and not any(e["metric"] == "auroc" for e in found["figures"]["honest"])
    record = json.loads((tmp_path / "update.json").read_text())
    assert record["honest"]["verdict"] == "better" and record["chosen_by"] == "closed test"
    assert SECRET not in json.dumps(record)


def test_where_the_risks_are_right_none_is_needed(tmp_path: Path) -> None:
    code, found = updated(tmp_path, planted(tmp_path, rows=1200, seed=4))
    assert (code, found["verdict"]) == (0, "none needed")
    assert json.loads((tmp_path / "update.json").read_text())["method"] == "none"


def test_an_update_that_the_test_chose_and_that_does_not_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [case] = [one for one in read("updating")["cases"] if one["id"] == "upd_shared_slope_too_steep"]
    given, expected = case["input"], case["expected"]
    n = len(given["y"])
    x = np.array(given["X"]).reshape(-1, n)
    columns = {"y": given["y"], "p": given["p"], **{f"x{i}": list(one) for i, one in enumerate(x)}}
    write(tmp_path / "rows.csv", {name: [repr(float(v)) for v in column] for name, column in columns.items()})
    (tmp_path / "study.yaml").write_text(
        "name: steep\ntask: risk\ncorpus: {path: rows.csv}\ncolumns: {outcome: y, risk: p}\n"
    )
    # The rows are sorted on reading, by risk; the reference's folds follow them.
    order = np.lexsort([given["y"], given["p"]])
    monkeypatch.setattr(
        "workup.updating.honest.folds_of_patients", lambda patient, folds, seed: np.array(given["fold"])[order]
    )
    names = [word for i in range(len(x)) for word in ("--predictors", f"x{i}")]
    done = call("update", tmp_path / "study.yaml", "-o", tmp_path / "u.json", "--json", tmp_path / "told.json", *names)
    found = told(tmp_path)
    assert (done.code, found["verdict"]) == (3, "no gain shown")
    crossed = expected["crossfit"]
    for column, brier in (("original", "original_brier"), ("apparent", "apparent_brier"), ("honest", "brier")):
        assert figure(found, column, "brier")["value"] == pytest.approx(crossed[brier], abs=1e-9)
    assert figure(found, "honest", "calibration_slope")["value"] == pytest.approx(crossed["slope"], abs=1e-6)
    assert found["honest"]["methods"][""] == crossed["chosen"]
    assert [round(row["p"], 3) for row in found["updates"][0]["test"]] == [0.002, 0.001, 0.480]
    assert "NO GAIN SHOWN" in done.out
    # The apparent figure stands beside the honest one, after it, and nowhere else.
    [line] = [line for line in done.out.splitlines() if "0.185 (" in line]
    assert line.index("0.194") < line.index("0.185")


def test_an_update_that_harms_elsewhere_is_worse(tmp_path: Path) -> None:
    file = planted(tmp_path, slope=0.6, rows=2000)
    write(tmp_path / "elsewhere.csv", off(2000, seed=9, slope=1.6, year=2024))
    code, found = updated(tmp_path, file, "--validate", tmp_path / "elsewhere.csv")
    assert (code, found["verdict"], found["honest"]["how"]) == (1, "worse", "validate")


def test_risks_that_run_backwards_are_not_mended(tmp_path: Path) -> None:
    file = planted(tmp_path, slope=-0.8)
    for method in ("closed", "recalibration", "in_the_large"):
        done = call("update", file, "-o", tmp_path / "update.json", "--method", method)
        assert done.code == 1 and "RUNS BACKWARDS" in done.out and "none was made" in done.out
    assert updated(tmp_path, file)[1]["verdict"] == "backwards"
    assert not (tmp_path / "update.json").exists()
    assert call("threshold", file, "--rule", "cost_ratio 4").code == 1


def test_too_few_events_step_down_and_say_so(tmp_path: Path) -> None:
    write(tmp_path / "few.csv", off(40, seed=3, shift=3.0))
    code, found = updated(tmp_path, study(tmp_path, "few.csv"))
    assert code == 3 and found["verdict"] == "no gain shown"
    assert found["updates"][0]["method"] == "none"
    assert "at least 20 events and 20 non-events" in found["updates"][0]["reason"]
    again = call("update", tmp_path / "study.yaml", "-o", tmp_path / "u.json")
    assert "NO UPDATE: these data speak against the risks" in again.out
    refused = call("update", tmp_path / "study.yaml", "-o", tmp_path / "u.json", "--method", "isotonic")
    assert refused.code == 2 and "isotonic needs at least 500 events" in refused.err


def test_the_later_side_of_a_temporal_split_judges(tmp_path: Path) -> None:
    both = {
        name: [*a, *b]
        for (name, a), b in zip(
            off(1500, slope=0.7).items(), off(900, seed=2, slope=0.7, year=2024).values(), strict=True
        )
    }
    table = write(tmp_path / "all.csv", both)
    done = call(
        "split",
        table,
        "--strategy",
        "temporal",
        "--time",
        "seen",
        "--patient",
        "patient",
        "--cut",
        "2024-01-01",
        "-o",
        tmp_path / "sides",
    )
    assert done.code == 0, done.err
    file = study(tmp_path / "sides", "development.csv", split="split.json")
    code, found = updated(tmp_path, file)
    assert (found["honest"]["how"], found["honest"]["rows"], found["rows"], code) == ("temporal", 900, 1500, 0)


def test_updates_by_group_count_no_level(tmp_path: Path) -> None:
    """All levels but one with their events, beside those of everyone, would count a level that is withheld."""
    file = planted(tmp_path, slope=0.7, rows=500)
    asked = call("update", file, "-o", tmp_path / "u.json", "--by", "sex", "--json", tmp_path / "told.json")
    assert "isotonic needs at least 500 events and 500 non-events" in asked.out
    assert "there are" not in asked.out + (tmp_path / "told.json").read_text()
    refused = call("update", file, "-o", tmp_path / "v.json", "--by", "sex", "--method", "isotonic")
    assert refused.code == 2 and "isotonic needs" in refused.err and "there are" not in refused.err


def test_updates_by_group_are_made_only_where_asked_and_said_first(tmp_path: Path) -> None:
    file = planted(tmp_path, slope=0.7, rows=2000)
    plain = call("update", file, "-o", tmp_path / "u.json")
    assert "UPDATED BY GROUP" not in plain.out and "sex F" in plain.out
    asked = call("update", file, "-o", tmp_path / "u.json", "--by", "sex")
    assert asked.out.splitlines()[2].startswith("UPDATED BY GROUP: each level of 'sex'")
    record = json.loads((tmp_path / "u.json").read_text())
    assert record["method"] == "by_group" and set(record["parameters"]["levels"]) == {"F", "M"}
    done = call("apply", tmp_path / "u.json", tmp_path / "early.csv", "-o", tmp_path / "out.csv")
    assert done.code == 0
    with (tmp_path / "out.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    of = {level: one["parameters"] for level, one in record["parameters"]["levels"].items()}
    for row in rows[:50]:
        lp = np.log(float(row["p"]) / (1 - float(row["p"])))
        expected = 1 / (1 + np.exp(-(of[row["sex"]]["intercept"] + of[row["sex"]]["slope"] * lp)))
        assert float(row["risk_updated"]) == pytest.approx(expected, rel=1e-9)


def test_a_group_that_the_update_puts_outside_its_margin_is_told(tmp_path: Path) -> None:
    rows = off(3000, shift=-0.8)
    women = np.array(rows["sex"]) == "F"
    # Men's risks are far too high, women's are right: one intercept for all mends the mean and harms the women.
    right = off(3000)
    rows["died"] = [
        own if woman else other for own, other, woman in zip(right["died"], rows["died"], women, strict=True)
    ]
    rows["p"] = right["p"]
    write(tmp_path / "two.csv", rows)
    code, found = updated(tmp_path, study(tmp_path, "two.csv"), "--method", "in_the_large")
    verdicts = {one["level"]: one["verdict"] for one in found["groups"]}
    assert code == 0 and verdicts["F"] in ("outside its margin", "leaves its margin")
    done = call("update", tmp_path / "study.yaml", "-o", tmp_path / "u.json", "--method", "in_the_large")
    assert "Disparity: sex F" in done.out


def test_the_optimism_stands_beside_where_it_is_asked_for(tmp_path: Path) -> None:
    file = planted(tmp_path, slope=0.7, rows=900)
    _, found = updated(tmp_path, file, "--optimism", "20")
    assert {one["metric"] for one in found["optimism"]} == {one["metric"] for one in found["figures"]["honest"]}
    assert "20 refits" in found["optimism"][0]["method"]


# ---- apply -----------------------------------------------------------------------------------------------------------


def test_apply_then_score_is_scoring_the_updated_system(tmp_path: Path) -> None:
    file = planted(tmp_path, slope=0.7)
    assert call("update", file, "-o", tmp_path / "update.json", "--threshold", "sensitivity >= 0.8").code == 0
    write(tmp_path / "later.csv", off(700, seed=2, slope=0.7, year=2024))
    assert call("apply", tmp_path / "update.json", tmp_path / "later.csv", "-o", tmp_path / "mended.csv").code == 0
    record = json.loads((tmp_path / "update.json").read_text())
    threshold = record["thresholds"][0]["value"]
    words = ("--patient", "patient", "--time", "seen", "--by", "sex", "--threshold", str(threshold))
    scored = call(*risk_words(tmp_path / "mended.csv", *words, risk="risk_updated"), "--json", tmp_path / "scored.json")
    assert scored.code == 0, scored.err
    system = {"name": "mended", "use": "update", "with": {"update": "update.json", "of": "p"}}
    run = study(
        tmp_path,
        "later.csv",
        name="run.yaml",
        systems=[system],
        thresholds=[threshold],
        lenses={"internal": {}, "subgroups": {}},
    )
    assert call("run", run, "-o", tmp_path / "run").code == 0
    both = [Report.read(tmp_path / "scored.json"), Report.read(tmp_path / "run")]
    for lens in ("internal", "subgroups"):
        results = [one.results[lens].as_dict() for one in both]
        for one in results:
            del one["notes"]
        assert json.dumps(results[0], sort_keys=True) == json.dumps(results[1], sort_keys=True)
    assert f"updated sha256:{record['sha256'][:12]}" in both[1].system["version"]
    with (tmp_path / "mended.csv").open() as lines:
        for row in csv.DictReader(lines):
            assert int(row["flag_sensitivity_0_8"]) == (float(row["risk_updated"]) >= threshold)


@pytest.fixture(scope="module")
def refit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a signed update that needs a predictor."""
    folder = tmp_path_factory.mktemp("refit")
    (folder / "key").write_text(KEY)
    (folder / "key").chmod(0o600)
    file = planted(folder, slope=0.7)
    words = ("--method", "refit", "--predictors", "age", "--key-file", folder / "key")
    assert call("update", file, "-o", folder / "update.json", *words).code in (0, 3)
    return folder


def test_apply_refuses_what_the_update_was_not_made_for(refit: Path, tmp_path: Path) -> None:
    rows = off(50, seed=8)

    def applied(columns: dict[str, list[str]], *more: str | Path) -> str:
        write(tmp_path / "t.csv", columns)
        done = call("apply", refit / "update.json", tmp_path / "t.csv", "-o", tmp_path / "out.csv", *more)
        is_quiet(done, SECRET)
        assert done.code in (0, 2), done.err
        return done.err if done.code else "applied"

    assert applied(rows) == "applied"
    assert applied(rows, "--key-file", refit / "key") == "applied"
    (tmp_path / "other").write_text("another secret of sixteen\n")
    assert "signature of another key" in applied(rows, "--key-file", tmp_path / "other")
    assert "must have the column 'age'" in applied({name: rows[name] for name in rows if name != "age"})
    assert "must have this column of risks" in applied({name: rows[name] for name in rows if name != "p"})
    assert "risk" in applied({**rows, "p": ["1.5", *rows["p"][1:]]})
    assert "numbers" in applied({**rows, "age": ["old"] * 50}) or "predictor" in applied({**rows, "age": ["old"] * 50})
    assert "an update is applied once" in applied({**rows, "risk_updated": rows["p"]})
    renamed = {("q" if name == "p" else name): column for name, column in rows.items()}
    assert "and no word whose they are" in applied(renamed, "--risk", "q")
    assert applied(renamed, "--risk", "q", "--as-system", "recorded") == "applied"
    assert "stated to be of 'another'" in applied(rows, "--as-system", "another")
    assert applied({**rows, "age": ["", *rows["age"][1:]]}) == "applied"
    with (tmp_path / "out.csv").open() as lines:
        assert [row["risk_updated"] == "" for row in csv.DictReader(lines)] == [True, *[False] * 49]


def test_a_key_given_and_no_signature_is_refused(refit: Path, tmp_path: Path) -> None:
    file = planted(tmp_path, slope=0.7, rows=600)
    call("update", file, "-o", tmp_path / "plain.json")
    words = ("apply", tmp_path / "plain.json", tmp_path / "early.csv", "-o", tmp_path / "out.csv")
    assert "must be signed, since a key was given" in call(*words, "--key-file", refit / "key").err


def test_risks_beyond_those_seen_are_counted(tmp_path: Path) -> None:
    file = planted(tmp_path, slope=0.7, rows=600)
    call("update", file, "-o", tmp_path / "update.json")
    rows = off(50, seed=8)
    write(tmp_path / "t.csv", {**rows, "p": ["0.999999", "0.000001", *rows["p"][2:]]})
    done = call("apply", tmp_path / "update.json", tmp_path / "t.csv", "-o", tmp_path / "out.csv")
    assert done.code == 0 and "Warning: 2 of 50 risks lie beyond those that the update was made from" in done.err


# ---- figures on the rows that made it --------------------------------------------------------------------------------


def test_gates_on_the_rows_that_made_the_update_never_pass(tmp_path: Path) -> None:
    file = planted(tmp_path, slope=0.7)
    call("update", file, "-o", tmp_path / "update.json")
    same = off(1500, slope=0.7)
    tables = {
        "early.csv": same,
        "mixed.csv": {**shuffled(same), "noise": ["1"] * 1500},
        "overlap.csv": off(500, seed=30, slope=0.7),
        "later.csv": off(500, seed=31, slope=0.7, year=2024),
    }
    gates = ["auroc.low >= 0.5", "oe_ratio.high <= 0.1", "auroc.n >= 10"]

    def judged(table: str, *, without: tuple[str, ...] = ("risk",), **more: Any) -> set[str]:
        system = {"name": "mended", "use": "update", "with": {"update": "update.json", "of": "p", **more}}
        run = study(tmp_path, table, name="run.yaml", without=without, systems=[system], gates=gates)
        done = call("run", run, "-o", tmp_path / "run", "--fresh")
        assert done.code in (1, 3), done.err
        report = Report.read(tmp_path / "run")
        apparent = {e.reason for e in report.estimates()} == {"apparent: this data made the update"}
        outcomes = {verdict.outcome for verdict in report.verdicts}
        assert apparent == (outcomes == {"not_assessed"})
        if apparent:
            assert call("gate", tmp_path / "run").code == 3 and "pass " not in call("gate", tmp_path / "run").out
            assert "THESE DATA MADE THE SYSTEM" in done.out
        notes = [note for result in report.results.values() for note in result.notes]
        assert any("holds no ids" in note for note in notes)
        return outcomes

    for name, columns in tables.items():
        write(tmp_path / name, columns)
    assert judged("early.csv", without=()) == {"not_assessed"}
    assert judged("early.csv") == {"not_assessed"}
    assert judged("early.csv", without=("risk", "time")) == {"not_assessed"}
    assert judged("mixed.csv", without=("risk", "time", "patient")) == {"not_assessed"}
    assert judged("early.csv", elsewhere=True) == {"not_assessed"}
    assert judged("overlap.csv") == {"not_assessed"}
    assert judged("overlap.csv", elsewhere=True) == {"pass", "fail"}
    assert judged("later.csv") == {"pass", "fail"}


# ---- thresholds ------------------------------------------------------------------------------------------------------


def test_thresholds_are_rounded_on_the_safe_side(tmp_path: Path) -> None:
    rows = off(800, seed=6)
    write(tmp_path / "t.csv", rows)
    rules = ("sensitivity >= 0.90 @0.95", "alert_rate <= 0.15 @0.95")
    words = [word for rule in rules for word in ("--rule", rule)]
    done = call("threshold", study(tmp_path, "t.csv"), *words, "--json", tmp_path / "told.json")
    assert done.code == 0, done.err
    first, second = told(tmp_path)["thresholds"]
    risk, died = np.array(rows["p"], dtype=float), np.array(rows["died"]) == "1"
    assert first["chance"] >= 0.95 and first["naive"]["chance"] < 0.6 and "@0.95" in first["rule"]
    for one in (first, second):
        assert float(f"{one['value']:.4g}") == one["value"]
        assert not np.any(risk == one["value"])
    # Rounded down, no event that the exact threshold flags is lost; rounded up, no alert is added.
    below = np.sort(risk[died])[np.searchsorted(np.sort(risk[died]), first["value"])]
    assert first["value"] <= below < first["value"] * 1.001
    above = risk[risk < second["value"]].max()
    assert second["value"] > above and np.mean(risk >= second["value"]) <= 0.15


def test_thresholds_are_chosen_on_honest_risks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = planted(tmp_path, slope=0.7, rows=600)
    seen: list[Any] = []

    def spied(rule: Any, scores: Any, **how: Any) -> Any:
        seen.append((np.mean((scores["risk"] - scores["outcome"]) ** 2), how["held_out"]))
        return choose(rule, scores, **how)

    monkeypatch.setattr("workup.updating.making.choose", spied)
    _, found = updated(tmp_path, file, "--threshold", "cost_ratio 4")
    assert seen == [(pytest.approx(figure(found, "honest", "brier")["value"]), False)]
    assert seen[0][0] > figure(found, "apparent", "brier")["value"]
    write(tmp_path / "later.csv", off(400, seed=8, slope=0.7, year=2024))
    _, found = updated(tmp_path, file, "--threshold", "cost_ratio 4", "--validate", tmp_path / "later.csv")
    assert seen[1] == (pytest.approx(figure(found, "honest", "brier")["value"]), True)


def test_a_sensitivity_that_few_events_cannot_assure_is_null(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", off(60, seed=3))
    done = call(
        "threshold", study(tmp_path, "t.csv"), "--rule", "sensitivity >= 0.90", "--json", tmp_path / "told.json"
    )
    [one] = told(tmp_path)["thresholds"]
    assert done.code == 3 and one["value"] is None and "fewer than 29 events" in one["reason"]
    words = ("--rule", "sensitivity >= 0.90", "-o", tmp_path / "u.json")
    assert call("threshold", tmp_path / "study.yaml", *words).code == 3
    applied = call("apply", tmp_path / "u.json", tmp_path / "t.csv", "-o", tmp_path / "out.csv")
    assert applied.code == 0 and "No flag for sensitivity_0_9" in applied.err


def test_a_budget_counts_days_without_alerts(tmp_path: Path) -> None:
    file = planted(tmp_path, rows=800)
    done = call("threshold", file, "--rule", "alerts_per_day <= 0.5", "--json", tmp_path / "told.json")
    [one] = told(tmp_path)["thresholds"]
    assert done.code == 0 and one["beside"]["days"] >= 360
    rows = off(800)
    flagged = np.array(rows["p"], dtype=float) >= one["value"]
    days = np.array(rows["seen"], dtype="datetime64[D]")
    assert flagged.sum() / ((days.max() - days.min()).astype(int) + 1) <= 0.5
    undated = study(tmp_path, "early.csv", without=("time",), name="undated.yaml")
    refused = call("threshold", undated, "--rule", "alerts_per_day <= 0.5")
    assert refused.code == 2 and "needs the time of every prediction" in refused.err


def test_the_threshold_of_a_cost_ratio_follows_from_the_harms_and_is_searched_only_where_asked(tmp_path: Path) -> None:
    file = planted(tmp_path, rows=800)
    call("threshold", file, "--rule", "cost_ratio 9", "--json", tmp_path / "told.json")
    assert told(tmp_path)["thresholds"][0]["value"] == 0.1
    call("threshold", file, "--rule", "cost_ratio 9", "--search", "--json", tmp_path / "told.json")
    [one] = told(tmp_path)["thresholds"]
    assert one["value"] != 0.1 and one["beside"]["search"]["optimism"] > 0


def test_a_threshold_does_not_make_up_for_risks_that_are_off(tmp_path: Path) -> None:
    done = call("threshold", planted(tmp_path, slope=0.6), "--rule", "cost_ratio 4")
    assert "the closed test points to recalibration" in done.out and "update first" in done.out


# ---- what is refused -------------------------------------------------------------------------------------------------

WRONG = {
    ("--method", "platt"): "a method is one of",
    ("--alpha", "1.5"): "alpha lies between 0 and 1",
    ("--method", "refit"): "a refit needs predictors",
    ("--predictors", "died"): "a predictor is known when the risk is predicted",
    ("--predictors", "p"): "a predictor is known when the risk is predicted",
    ("--predictors", "bmi"): "must have the column 'bmi'",
    ("--predictors", "sex"): "the predictor must be a number",
    ("--predictors", "age", "--predictors", "age"): "named once",
    ("--by", "age"): "--by names a column of columns.groups",
    ("--search",): "no cost ratio",
    ("--threshold", "youden"): "a rule is one of",
    ("--threshold", "sensitivity <= 0.9"): "a rule is one of",
    ("--threshold", "sensitivity >= 90"): "a share lies between 0 and 1",
    ("--threshold", "cost_ratio 9 @0.95"): "nothing about it can be assured",
    ("--threshold", "cost_ratio 9", "--threshold", "cost_ratio 9.0"): "a name of its own",
    ("--validate", "early.csv"): "other rows than those that made it",
    ("--optimism", "-1"): "refits for the optimism",
}


@pytest.mark.parametrize(("words", "said"), WRONG.items(), ids=[" ".join(words) for words in WRONG])
def test_what_cannot_be_done_is_refused_in_one_message(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("update", planted(tmp_path, rows=300), "-o", tmp_path / "u.json", *words)
    is_quiet(done, SECRET)
    assert done.code == 2 and said in done.err and done.err.count("workup:") == 1
    assert not (tmp_path / "u.json").exists()


def test_rows_without_a_risk_are_counted(tmp_path: Path) -> None:
    rows = off(600, slope=0.7)
    write(tmp_path / "t.csv", {**rows, "p": ["" if row < 30 else risk for row, risk in enumerate(rows["p"])]})
    _, found = updated(tmp_path, study(tmp_path, "t.csv"))
    assert found["rows"] == 570 and any("No risk for 30 of 600 rows" in note for note in found["notes"])


def test_weighted_rows_are_updated_with_their_weights(tmp_path: Path) -> None:
    rows = off(900, slope=0.7)
    rows["w"] = ["3" if died == "1" else "1" for died in rows["died"]]
    write(tmp_path / "t.csv", rows)
    columns = {"outcome": "died", "risk": "p", "weight": "w"}
    _, found = updated(tmp_path, study(tmp_path, "t.csv", columns=columns), "--method", "in_the_large")
    assert figure(found, "apparent", "oe_ratio")["value"] == pytest.approx(1, abs=1e-9)
    assert "Wald" in found["updates"][0]["test"][0]["kind"]


def test_studies_of_other_tasks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "spans.yaml").write_text(yaml.safe_dump({"name": "s", "task": "spans", "corpus": {"path": "g.jsonl"}}))
    done = call("update", tmp_path / "spans.yaml", "-o", tmp_path / "u.json")
    assert done.code == 2 and "an update is of a study of risks" in done.err


def test_both_readings_of_the_threshold_command_are_told_apart(tmp_path: Path) -> None:
    assert "either a study of risks with --rule" in call("threshold").err
    assert "rules are for the risks of a study" in call("threshold", "--rule", "cost_ratio 4").err
    file = planted(tmp_path, rows=300)
    assert "a study of risks takes rules" in call("threshold", file, "--target", "0.9").err
    assert "a rule is needed" in call("threshold", file).err


def test_the_order_of_the_rows_changes_nothing(tmp_path: Path) -> None:
    rows = off(600, slope=0.7)
    found = []
    for name, columns in (("one", rows), ("two", shuffled(rows))):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "t.csv", columns)
        call(
            "update",
            study(tmp_path / name, "t.csv"),
            "-o",
            tmp_path / name / "u.json",
            "--threshold",
            "sensitivity >= 0.8",
        )
        record = json.loads((tmp_path / name / "u.json").read_text())
        del record["sha256"], record["used"]["corpus_sha256"]  # the hash of a corpus is row by row
        found.append(record)
    assert found[0] == found[1]


def test_updates_of_repeated_patients_are_tested_by_patients(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", off(800, slope=0.7, per_patient=4))
    _, found = updated(tmp_path, study(tmp_path, "t.csv"))
    assert {row["kind"] for row in found["updates"][0]["test"]} == {
        "cluster-robust Wald F, CR1 with K/(K-1), K-1 denominator df"
    }
    assert found["patients"] == 200
