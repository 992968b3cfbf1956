"""`workup gate` and `workup compare` from the outside: exit codes, what is printed, what is written; and the number of
patients that would settle an unsure verdict."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

import workup
from tests.support.places import FIXTURE
from tests.support.shell import call
from workup.estimate import Estimate
from workup.gates import Gate, judge, patients_needed, same_slice
from workup.report import Report
from workup.stats.intervals import wilson
from workup.task import primary_of
from workup.tasks.conversation import ConversationTask
from workup.tasks.risk import RiskTask
from workup.tasks.spans import SpansTask

# How many patients would settle it


def unsure(rule: str, value: float, low: float, high: float, n: int = 400, **keys: str) -> str:
    e = Estimate("auroc", keys, value, low, high, 0.95, "by hand", None, n, n)
    [verdict] = judge([Gate.parse(rule)], [e])
    assert verdict.outcome == "unsure"
    return verdict.reason


def test_half_the_distance_needs_four_times_the_patients() -> None:
    # Outside (0, 1) on the plain scale: low end 0.5 away, limit 0.25 away.
    said = unsure("auroc.low >= 1.75", 2.0, 1.5, 2.5)
    assert "about 1,600 patients in all (1,200 more)" in said
    assert said.startswith("the interval 1.5 to 2.5 straddles 1.75; ")
    # Mirrored.
    assert "about 1,600 patients in all (1,200 more)" in unsure("auroc.high <= 2.25", 2.0, 1.5, 2.5)


def test_shares_are_scaled_on_the_logit() -> None:
    # logit 0.8 = 1.3863, logit 0.7 = 0.8473, logit 0.75 = 1.0986: (0.5390 / 0.2877)² = 3.510 times 400 = 1404.
    assert patients_needed(0.8, 0.7, 0.75, 400) == 1410


def test_a_share_at_that_n_does_reach_the_limit() -> None:
    low, _ = wilson(0.8, 400)
    needed = patients_needed(0.8, low, 0.78, 400)
    assert needed is not None
    assert wilson(0.8, needed).low == pytest.approx(0.78, abs=0.0005)


def test_a_value_on_the_wrong_side_will_more_likely_fail() -> None:
    said = unsure("auroc.low >= 2.25", 2.0, 1.5, 2.5)
    assert "more likely settle it as a fail, at about 1,600 patients in all (1,200 more)" in said


def test_a_value_at_the_limit_is_settled_by_no_number() -> None:
    assert "no number of patients" in unsure("auroc.low >= 0.8", 0.8, 0.7, 0.9)


def test_numbers_beyond_all_plans_are_not_spelt_out() -> None:
    assert "more than 10,000,000 patients" in unsure("auroc.low >= 0.7999999", 0.8, 0.7, 0.9)


def test_the_number_is_of_the_slice_judged() -> None:
    assert "patients of this slice in all" in unsure("auroc{sex=F}.low >= 0.75", 0.8, 0.7, 0.9, sex="F")


def test_at_least_one_more_patient_is_asked_for() -> None:
    assert "(1 more)" in unsure("auroc.low > 0.7", 0.8, 0.7, 0.9)


def test_the_primary_slice_follows_the_study() -> None:
    assert primary_of(RiskTask, {"thresholds": [], "cost_ratio": None, "primary": {}}) == {}
    assert primary_of(RiskTask, {"thresholds": [0.3, 0.2], "cost_ratio": 4.0, "primary": {}}) == {"threshold": 0.3}
    assert primary_of(RiskTask, {"thresholds": [], "cost_ratio": 4.0}) == {"threshold": 0.2}
    assert primary_of(RiskTask, {"thresholds": [0.3], "primary": {"threshold": 0.5}}) == {"threshold": 0.5}
    assert primary_of(SpansTask, {"policies": ["strict", "b"]}) == {
        "mode": "full_mask",
        "level": "phi",
        "policy": "strict",
    }
    assert primary_of(ConversationTask, {}) == {"set": "critical", "arm": "live"}
    assert primary_of(object(), {}) == {}


def test_a_threshold_and_its_record_of_twelve_digits_are_one() -> None:
    assert same_slice({"threshold": 0.333333333333}, {"threshold": 1 / 3})
    assert not same_slice({"threshold": 0.3333}, {"threshold": 1 / 3})
    assert not same_slice({"sex": "F"}, {"sex": "F", "site": "1"})


def test_a_threshold_implied_by_a_cost_ratio_is_found_again_in_the_record(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    risk = rng.random(300)
    table = {"died": (rng.random(300) < risk).astype(int), "p": risk}
    study = workup.Study.of(
        {"name": "s", "task": "risk", "columns": {"outcome": "died", "risk": "p"}, "cost_ratio": 2.0}
        | {"bootstrap": {"replicates": 200}}
    )
    file = tmp_path / "report.json"
    file.write_text(workup.validate(study, table=table).to_json(), encoding="utf-8")
    done = call("gate", file, "--rule", "sensitivity.low >= 0.1")
    assert (done.code, done.out[:4]) == (0, "pass")
    relative = call("gate", file, "--rule", "sensitivity.value >= baseline", "--baseline", file)
    assert relative.code == 0


def test_a_run_and_its_record_are_judged_alike() -> None:
    # 0.1 + 0.2 is not 0.3 in binary, but the record says 0.3 of both.
    e = Estimate("auroc", {}, 0.1 + 0.2, 0.1, 0.5, 0.95, "by hand", None, 400, 400)
    held = Estimate("auroc", {}, 0.3, 0.1, 0.5, 0.95, "by hand", None, 400, 400)
    for rule in ("auroc.value > 0.3", "auroc.value <= 0.3"):
        assert judge([Gate.parse(rule)], [e]) == judge([Gate.parse(rule)], [held])


# gate


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        (["auroc.low >= 0.60"], 0),
        (["auroc.low >= 0.99"], 1),
        (["auroc.low >= 0.70"], 3),
        (["auroc{sex=F}.low >= 0.5"], 3),
        (["auroc.low >= 0.60", "auroc.low >= 0.70"], 3),
        (["auroc.low >= 0.70", "auroc.low >= 0.99"], 1),
    ],
)
def test_exit_codes(rules: list[str], code: int) -> None:
    words = [word for rule in rules for word in ("--rule", rule)]
    done = call("gate", FIXTURE, *words)
    assert done.code == code, done.err
    assert len(done.out.splitlines()) == len(rules)
    assert call("gate", FIXTURE, *words, "--allow-unsure").code == (0 if code == 3 else code)


def test_a_line_holds_outcome_rule_figure_and_reason() -> None:
    done = call("gate", FIXTURE, "--rule", "auroc.low >= 0.60")
    assert done.out == (
        "pass         auroc.low >= 0.60  0.740 (0.660 to 0.806), 300 patients  (low 0.6601 meets >= 0.6)\n"
    )


def test_without_rules_those_of_the_study_are_judged_again() -> None:
    done = call("gate", FIXTURE, "--json", "-")
    report = Report.read(FIXTURE)
    found = json.loads(done.out)
    assert [(v["rule"], v["outcome"]) for v in found["verdicts"]] == [(v.rule, v.outcome) for v in report.verdicts]
    assert (done.code, found["exit_code"], found["report"]) == (1, 1, report.sha256)
    assert "auroc.low >= 0.60" in done.err


def _ruleless(folder: Path) -> Path:
    table = {"died": [0, 1, 0, 1] * 20, "p": [0.1, 0.8, 0.4, 0.3] * 20}
    file = folder / "report.json"
    file.write_text(workup.score_risk(table, outcome="died", risk="p", replicates=200).to_json(), encoding="utf-8")
    return file


def test_no_rule_at_all_is_refused_with_the_remedy(tmp_path: Path) -> None:
    done = call("gate", _ruleless(tmp_path))
    assert (done.code, done.out) == (2, "")
    assert "--rule" in done.err and "gates:" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rule", "aurok.low >= 0.7"], "did you mean 'auroc'"),
        (["--rule", "auroc >= 0.7"], "cannot read the gate"),
        (["--rule", "auroc{mode=published:x}.low >= 0.7"], "published"),
        (["--baseline", "nowhere"], "there is no report here"),
        (["--junit", "nowhere/out.xml"], "can be written"),
    ],
)
def test_bad_words_are_one_message(words: list[str], said: str, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("gate", FIXTURE, *words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())


def test_a_baseline_is_compared_with() -> None:
    done = call("gate", FIXTURE, "--rule", "auroc.value >= baseline", "--baseline", FIXTURE)
    assert (done.code, done.out[:4]) == (0, "pass")
    assert call("gate", FIXTURE, "--rule", "auroc.value > baseline", "--baseline", FIXTURE).code == 1
    assert "none was given" in call("gate", FIXTURE, "--rule", "auroc.value >= baseline").out


@pytest.mark.parametrize("allow", [False, True])
def test_junit_is_red_exactly_where_the_exit_code_is(allow: bool, tmp_path: Path) -> None:
    out = tmp_path / "out.xml"
    words = ["gate", FIXTURE, "--rule", "auroc.low >= 0.70", "--junit", out, *(["--allow-unsure"] if allow else [])]
    done = call(*words)
    suite = ElementTree.parse(out).getroot()[0]
    assert (suite.get("failures"), done.code) == (("0", 0) if allow else ("1", 3))
    assert suite.get("name") == "readmission: recorded"


def test_risks_that_run_backwards_are_told_before_a_verdict(tmp_path: Path) -> None:
    table = {"died": [0, 1] * 100, "p": [0.9, 0.1] * 50 + [0.2, 0.8] * 10 + [0.7, 0.3] * 40}
    found = workup.score_risk(table, outcome="died", risk="p", replicates=200)
    (tmp_path / "report.json").write_text(found.to_json(), encoding="utf-8")
    done = call("gate", tmp_path, "--rule", "auroc.high <= 0.9", "--json", tmp_path / "gate.json")
    assert done.code == 3
    lines = done.out.splitlines()
    assert lines[:-1] == list(found.alarms())
    assert lines[0].startswith("THE RISKS RUN BACKWARDS")
    assert lines[-1].startswith("not_assessed ")
    assert json.loads((tmp_path / "gate.json").read_text(encoding="utf-8"))["alarms"] == list(found.alarms())


# A folder of runs

RULE = ("--rule", "auroc.low >= 0.01")


@pytest.fixture
def copied(runs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(runs, tmp_path / "runs"))


def test_a_system_without_a_record_does_not_pass_by_absence(copied: Path) -> None:
    assert call("gate", copied, *RULE).code == 0
    (copied / "blunt" / "report.json").unlink()
    done = call("gate", copied, *RULE)
    assert (done.code, done.out) == (2, "")
    assert "there is no record of system 'blunt', which the study names" in done.err
    assert "run the study again" in done.err and "--system" in done.err
    assert call("gate", copied, *RULE, "--system", "sharp").code == 0
    assert call("gate", copied / "sharp", *RULE).code == 0
    # A copy of another system's record is not the one that is missing, whatever its folder is called.
    shutil.copy(copied / "sharp" / "report.json", copied / "blunt" / "report.json")
    assert "no record of system 'blunt'" in call("gate", copied, *RULE).err


def test_the_other_commands_tell_what_is_missing_too(copied: Path) -> None:
    shutil.copytree(copied / "sharp", copied / "again")
    (copied / "blunt" / "report.json").unlink()
    done = call("compare", copied)
    assert (done.code, done.out) == (2, "")
    assert "no record of system 'blunt'" in done.err and "one by one" in done.err
    drawn = call("report", copied)
    assert drawn.code == 0
    assert "no record of system 'blunt'" in drawn.err


def test_systems_without_a_name_are_known_by_their_folder(tmp_path: Path) -> None:
    module = (
        "class {0}:\n    name, version = '{0} itself', '1'\n    def predict(self, table):\n        return table['x']\n"
    )
    (tmp_path / "nameless_models.py").write_text("".join(module.format(name) for name in ("One", "Two")))
    rows = [f"{i % 2},{0.2 + 0.5 * (i % 3) / 2}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["died,x", *rows]) + "\n")
    study = {
        "name": "nameless",
        "task": "risk",
        "corpus": {"path": "t.csv"},
        "columns": {"outcome": "died", "inputs": ["x"]},
        "systems": [{"use": f"nameless_models:{name}"} for name in ("One", "Two")],
        "bootstrap": {"replicates": 200},
        "report": {"formats": []},
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    done = call("run", tmp_path / "study.yaml", "-o", tmp_path / "runs")
    assert done.code == 0, done.err
    assert call("gate", tmp_path / "runs", *RULE).code == 0
    [gone] = [file for file in (tmp_path / "runs").glob("*/report.json") if "Two" in file.parent.name]
    gone.unlink()
    assert "no record of system 'nameless_models:Two'" in call("gate", tmp_path / "runs", *RULE).err


def test_two_runs_of_one_system_are_told_apart_by_their_folders(copied: Path, tmp_path: Path) -> None:
    shutil.copytree(copied / "sharp", copied / "older")
    done = call("gate", copied, *RULE, "--junit", tmp_path / "out.xml")
    assert done.code == 0, done.err
    suites = [suite.get("name") for suite in ElementTree.parse(tmp_path / "out.xml").getroot()]
    assert sorted(map(str, suites)) == ["two: blunt (blunt)", "two: sharp (older)", "two: sharp (sharp)"]
    heads = [line for line in done.out.splitlines() if line.startswith("system ")]
    assert sorted(heads) == ["system blunt (blunt)", "system sharp (older)", "system sharp (sharp)"]
    assert call("report", copied, "-f", "md", "-o", tmp_path / "drawn").code == 0
    assert sorted(place.name for place in (tmp_path / "drawn").iterdir()) == ["blunt", "older", "sharp"]


# compare


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems of one study: the second adds noise to the first."""
    folder = tmp_path_factory.mktemp("compare")
    rng = np.random.default_rng(5)
    risk = rng.random(300)
    noisy = np.clip(0.4 * risk + 0.6 * rng.random(300), 0, 1)
    died = (rng.random(300) < risk).astype(int)
    rows = [f"{d},{p:.4f},{q:.4f},{'FM'[i % 2]}" for i, (d, p, q) in enumerate(zip(died, risk, noisy, strict=True))]
    (folder / "cohort.csv").write_text("\n".join(["died,p,q,sex", *rows]) + "\n")
    study = {
        "name": "two",
        "task": "risk",
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died", "groups": ["sex"]},
        "systems": [
            {"name": "sharp", "use": "recorded", "with": {"column": "p"}},
            {"name": "blunt", "use": "recorded", "with": {"column": "q"}},
        ],
        "thresholds": [0.4],
        "lenses": {"internal": {}, "subgroups": {}},
        "bootstrap": {"replicates": 200},
        "report": {"formats": []},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    assert call("run", folder / "study.yaml", "-o", folder / "runs").code == 0
    return folder / "runs"


def test_two_runs_of_one_corpus_are_paired(runs: Path, tmp_path: Path) -> None:
    done = call("compare", runs / "sharp", runs / "blunt", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert done.out.startswith("B blunt against A sharp\n  paired: ")
    [found] = json.loads((tmp_path / "out" / "comparison.json").read_text(encoding="utf-8"))["comparisons"]
    assert found["pairing"] == "paired"
    [auroc] = [row for row in found["rows"] if row["metric"] == "auroc" and not row["slice"]]
    first, second = (Report.read(runs / name).estimate("auroc") for name in ("sharp", "blunt"))
    assert auroc["value"] == pytest.approx((second.value or 0) - (first.value or 0))
    assert auroc["first"] == {"value": first.value, "low": first.low, "high": first.high}
    assert (auroc["direction"], auroc["method"]) == ("worse", "DeLong, paired")
    assert {row["slice"].get("sex") for row in found["rows"]} == {None, "F", "M"}


def test_a_folder_of_runs_is_compared_in_the_order_of_the_study(runs: Path) -> None:
    one, other = call("compare", runs), call("compare", runs / "sharp", runs / "blunt")
    assert (one.code, one.out) == (0, other.out)


def test_records_alone_are_joined_and_that_is_said(runs: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.json"
    moved.write_bytes((runs / "blunt" / "report.json").read_bytes())
    done = call("compare", runs / "sharp", moved, "--json", "-")
    [found] = json.loads(done.out)["comparisons"]
    assert found["pairing"] == "unpaired_same_corpus"
    assert any("unpaired, conservative" in note for note in found["notes"])
    assert not any(str(tmp_path) in note for note in found["notes"])
    assert "not paired" in done.err
    [loose] = [row for row in found["rows"] if row["metric"] == "brier" and not row["slice"]]
    [pair] = json.loads(call("compare", runs / "sharp", runs / "blunt", "--json", "-").out)["comparisons"]
    [tight] = [row for row in pair["rows"] if row["metric"] == "brier" and not row["slice"]]
    assert loose["value"] == pytest.approx(tight["value"])
    assert loose["high"] - loose["low"] > tight["high"] - tight["low"]


def test_another_corpus_is_independent(runs: Path) -> None:
    [found] = json.loads(call("compare", runs / "sharp", FIXTURE, "--json", "-").out)["comparisons"]
    assert found["pairing"] == "independent"


def test_a_system_against_itself(runs: Path) -> None:
    done = call("compare", runs / "sharp", runs / "sharp", "--margin", "0.01")
    assert done.code == 0
    assert "within (margin 0.01) auroc" in done.out
    assert "Regressed" not in done.out


@pytest.mark.parametrize(("margin", "code"), [("0.01", 1), ("0.9", 0)])
def test_a_margin_decides_the_exit_code(runs: Path, margin: str, code: int) -> None:
    words = ("compare", runs / "sharp", runs / "blunt", "--margin", margin, "--metric", "auroc")
    assert call(*words).code == code


def test_a_margin_that_no_share_can_reach_is_refused(runs: Path) -> None:
    done = call("compare", runs, "--margin", "5")
    assert done.code == 2
    assert "below 1" in done.err and "write 0.05 for 5 points" in done.err


def test_an_undecided_margin_is_3_unless_allowed(runs: Path) -> None:
    [found] = json.loads(call("compare", runs / "sharp", runs / "blunt", "--json", "-").out)["comparisons"]
    [auroc] = [row for row in found["rows"] if row["metric"] == "auroc" and not row["slice"]]
    words = ("compare", runs / "sharp", runs / "blunt", "--metric", "auroc", "--margin", str(-auroc["value"]))
    assert call(*words).code == 3
    assert call(*words, "--allow-unsure").code == 0


def test_what_cannot_be_compared_ends_with_2(runs: Path, tmp_path: Path) -> None:
    assert "two reports or more" in call("compare", runs / "sharp").err
    assert call("compare", runs / "sharp").code == 2
    assert call("compare", runs / "sharp", tmp_path).code == 2
    taken = tmp_path / "file"
    taken.write_text("")
    done = call("compare", runs / "sharp", runs / "blunt", "-o", taken)
    assert (done.code, done.out) == (2, "")


def test_the_flat_form_is_a_form_of_report() -> None:
    found = json.loads(call("report", FIXTURE, "-f", "json-flat").out)
    assert found["auc_roc"] == Report.read(FIXTURE).estimate("auroc").value


# What so few patients can show


def test_a_gate_that_seven_patients_cannot_meet_is_told_before_the_run_and_in_the_verdict(tmp_path: Path) -> None:
    rows = [f"p{patient},{k % 2},{0.9 if k % 2 else 0.1}" for patient in range(7) for k in range(12)]
    (tmp_path / "t.csv").write_text("id,died,p\n" + "\n".join(rows) + "\n")
    study = {
        "name": "few",
        "task": "risk",
        "corpus": {"path": "t.csv"},
        "columns": {"outcome": "died", "risk": "p", "patient": "id"},
        "thresholds": [0.5],
        "gates": ["sensitivity.low >= 0.95", "sensitivity.low >= 0.6"],
    }
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(study))
    dry = call("run", file, "--dry-run")
    assert dry.code == 0
    [line] = [one for one in dry.out.splitlines() if one.startswith("warning")]
    assert "'sensitivity.low >= 0.95': not attainable: with 7 clusters a perfect model has at most 0.839" in line
    done = call("run", file, "-o", tmp_path / "out")
    assert "not_assessed sensitivity.low >= 0.95" in done.out
    assert "not attainable: with 7 clusters a perfect model has 0.791; 0.95 needs 32" in done.out
    assert "pass         sensitivity.low >= 0.6" in done.out
    file.write_text(yaml.safe_dump({**study, "icc": 0.1}))
    report = json.loads(_run_again(file, tmp_path / "again").read_text())
    assert report["study"]["icc"] == 0.1
    [found] = [e for e in report["results"]["internal"]["estimates"] if e["metric"] == "sensitivity"]
    assert "assumed ICC 0.10" in found["reason"] and found["low"] == found["ceiling"] > 0.87


def _run_again(file: Path, out: Path) -> Path:
    call("run", file, "-o", out)
    return out / "report.json"
