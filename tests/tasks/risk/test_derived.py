"""Derived columns and bands: what a study says of them, what a model may see of them, and what is told of rows that
have no risk or stand in the table twice."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.support.shell import call
from workup import score_risk
from workup.errors import InputError, StudyError
from workup.lenses import internal
from workup.lenses.drift import lens as drift
from workup.lenses.sites import lens as sites
from workup.lenses.subgroups import lens as subgroups
from workup.report import Report
from workup.scores import level_name
from workup.study import Study
from workup.task import StudyDesign, Table
from workup.tasks.risk.cohort import Columns, check_cohort
from workup.tasks.risk.derived import Grouping, band_names
from workup.tasks.risk.metrics import Smoother, risk_metrics
from workup.tasks.risk.settings import SLICE_KEYS
from workup.tasks.risk.task import missing_risk_notes
from workup.validate import validate

N = 400


def table(n: int = N) -> dict[str, Any]:
    draw = np.random.default_rng(11)
    risk = draw.beta(2, 5, n)
    age = draw.integers(20, 95, n).astype(float)
    age[::40] = np.nan
    return {
        "id": np.arange(n, dtype=float),
        "status": np.where(draw.random(n) < risk, "dead", "alive").astype(object),
        "surv6m": 1 - risk,
        "sex": draw.choice(["F", "M"], n).astype(object),
        "age": age,
        "bmi": np.round(draw.normal(27, 5, n), 1),
    }


def study(**changes: Any) -> Study:
    columns = {"outcome": 'status == "dead"', "risk": "1 - surv6m", "patient": "id", **changes.pop("columns", {})}
    return Study.of(
        {
            "name": "x",
            "task": "risk",
            "columns": columns,
            "bootstrap": {"replicates": 200},
            "thresholds": [0.3],
            **changes,
        }
    )


# ---- expressions for outcome and risk --------------------------------------------------------------------------------


def test_derived_columns_give_what_columns_made_by_hand_give() -> None:
    cells = table()
    by_hand = {**cells, "died": (cells["status"] == "dead").astype(float), "p": 1 - cells["surv6m"]}
    derived = score_risk(cells, outcome='status == "dead"', risk="1 - surv6m", patient="id", replicates=200)
    plain = score_risk(by_hand, outcome="died", risk="p", patient="id", replicates=200)
    for metric in ("auroc", "brier", "calibration_slope", "oe_ratio"):
        assert derived.estimate(metric) == plain.estimate(metric)
    notes = derived.results["internal"].notes
    assert 'The outcome is derived: status == "dead".' in notes and "The risk is derived: 1 - surv6m." in notes
    assert derived.study["columns"]["risk"] == "1 - surv6m"


def test_a_column_of_exactly_that_name_comes_first() -> None:
    cells = table()
    cells["1 - surv6m"] = np.full(N, 0.25)
    found = score_risk(cells, outcome='status == "dead"', risk="1 - surv6m", replicates=200)
    assert found.estimate("auroc").value == 0.5


def test_a_recorded_system_may_name_an_expression_too() -> None:
    named = validate(study(), table=table())
    system = {"name": "recorded", "use": "recorded", "with": {"column": "1 - surv6m"}}
    listed = validate(study(columns={"risk": None}, systems=[system]), table=table())
    assert named.estimate("auroc") == listed.estimate("auroc")


class Shown:
    """A model that keeps the names of what it was shown."""

    name, version = "shown", "1"

    def __init__(self) -> None:
        self.names: set[str] = set()

    def predict(self, table: Table) -> list[float]:
        self.names |= set(table)
        return list(np.clip(np.asarray(table["bmi"]) / 100, 0, 1))


@pytest.mark.parametrize(("outcome", "risk"), [("died", "died * 0.8 + 0.1"), ("risk > 0.2", "risk")])
def test_the_outcome_cannot_be_its_own_risk(outcome: str, risk: str) -> None:
    rows = {"died": [0.0, 1.0] * 20, "risk": np.linspace(0.1, 0.9, 40)}
    with pytest.raises(InputError, match="from different columns"):
        check_cohort(rows, Columns(outcome=outcome, risk=risk), where="table")


def test_a_model_is_not_shown_what_the_outcome_is_derived_from() -> None:
    model = Shown()
    groups = [{"column": "age", "cuts": [45]}, "bmi >= 30"]
    found = validate(study(columns={"risk": None, "groups": groups}), table=table(), system=model)
    assert model.names == {"surv6m", "sex", "age", "bmi"}
    assert any("not shown status" in note for note in found.results["internal"].notes)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"outcome": 'status == "deadd"'}, "no row of column 'status' is 'deadd'; to fix"),
        ({"outcome": 'statu == "dead"'}, "did you mean 'status'?"),
        ({"risk": "1 - surv"}, "no column 'surv'"),
        ({"risk": "surv6m * 3"}, "a risk must be a finite number from 0 to 1"),
        ({"outcome": "bmi + 1"}, "an outcome must be 0 (no event) or 1 (event)"),
        ({"outcome": 'status == "dead"', "risk": 'status == "dead"'}, "outcome and risk must be two columns"),
        ({"groups": ["sx", "agee"]}, "columns.groups[0] names 'sx', columns.groups[1] names 'agee'"),
        ({"groups": ["sex", {"column": "bmi", "name": "sex"}]}, "two groups 'sex'"),
        ({"groups": [{"column": "sex", "cuts": [1]}]}, "must be a number in every row"),
        ({"groups": ["age:65,45"]}, "cuts must be numbers that rise"),
    ],
)
def test_a_slip_is_told_before_anything_is_scored(columns: dict[str, Any], says: str) -> None:
    with pytest.raises((StudyError, InputError)) as caught:
        validate(study(columns=columns), table=table())
    assert says.replace("; to fix", "") in str(caught.value)


@pytest.mark.parametrize(
    ("group", "says"),
    [
        ({"column": "age", "cuts": [65, 45]}, "expected numbers that rise"),
        ({"column": "age", "cuts": [float("nan")]}, "expected numbers that rise"),
        ({"column": "age", "cuts": [45], "labels": ["young"]}, "one label of its own for each of 2 bands; got 1"),
        ({"column": "age", "labels": ["young"]}, "one label of its own"),
        ({"column": "age", "cuts": [45, 65], "labels": ["young", "young ", "old"]}, "two are the same"),
        ({"column": "age", "cuts": [45], "labels": ["young", " missing"]}, "must not be empty or 'missing'"),
        ({"column": "age", "cuts": [45], "labels": ["young", " "]}, "must not be empty or 'missing'"),
        ({"column": "age", "cut": [45]}, "'columns.groups.0.cut' is not a known field; did you mean 'cuts'?"),
        ({"cuts": [45]}, "'columns.groups.0.column' is missing"),
        (3, "'columns.groups.0': expected text or a mapping of fields (column, cuts, name, labels); got 3"),
    ],
)
def test_a_group_that_cannot_be_read_is_told(group: Any, says: str) -> None:
    with pytest.raises(StudyError) as caught:
        study(columns={"groups": [group]})
    assert says in str(caught.value)


# ---- bands -----------------------------------------------------------------------------------------------------------


def test_bands_hold_every_row_once_and_the_missing_stay_apart() -> None:
    cells = table()
    found = Grouping.of({"column": "age", "cuts": [45, 65, 75]}, cells).levels(cells, where="age")
    expected = [
        None
        if np.isnan(age)
        else "<45"
        if age < 45
        else "45 to <65"
        if age < 65
        else "65 to <75"
        if age < 75
        else "≥75"
        for age in cells["age"]
    ]
    assert found.tolist() == expected


def test_names_of_bands() -> None:
    assert band_names([45, 65, 75]) == ["<45", "45 to <65", "65 to <75", "≥75"]
    assert band_names([18.5, 25]) == ["<18.5", "18.5 to <25", "≥25"]
    assert band_names([-0.0, 1e22]) == ["<0", "0 to <1e+22", "≥1e+22"]
    assert band_names([1234567, 1234568, 1234569])[1:3] == ["1234567 to <1234568", "1234568 to <1234569"]
    labelled = Grouping.of({"column": "bmi", "cuts": [25], "labels": ["slim", "large"], "name": "weight"}, ["bmi"])
    assert labelled.levels({"bmi": np.array([24.9, 25.0, np.nan])}, where="").tolist() == ["slim", "large", None]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8, unique=True).map(sorted))
def test_every_band_has_a_name_of_its_own(cuts: list[float]) -> None:
    assert len({level_name(name) for name in band_names(cuts)}) == len(cuts) + 1


def test_one_fractional_age_does_not_rename_the_bands() -> None:
    grouping = Grouping.of("age:45,65", ["age"])
    whole, one_not = np.array([40.0, 50.0, 70.0]), np.array([40.0, 50.0, 70.5])
    found = [grouping.levels({"age": ages}, where="age").tolist() for ages in (whole, one_not)]
    assert found[0] == found[1] == ["<45", "45 to <65", "≥65"]


def test_the_command_line_and_the_study_file_give_the_same_bands() -> None:
    cells = table()
    line = score_risk(
        cells, outcome='status == "dead"', risk="1 - surv6m", by=["age:45,65", "bmi >= 30"], replicates=200
    )
    groups = [{"column": "age", "cuts": [45, 65]}, {"column": "bmi >= 30", "name": "obese"}]
    file = validate(study(columns={"patient": None, "groups": groups}, lenses={"subgroups": {}}), table=cells)
    for level in ("<45", "45 to <65", "≥65", "missing"):
        assert line.estimate("auroc", age=level) == file.estimate("auroc", age=level)
    assert line.estimate("auroc", **{"bmi >= 30": "yes"}).value == file.estimate("auroc", obese="yes").value


def test_a_gate_may_name_a_band_between_two_cuts() -> None:
    groups = [{"column": "bmi", "cuts": [18.5, 25]}]
    asked = {"lenses": {"subgroups": {}}, "gates": ["auroc{bmi=18.5 to <25}.n >= 10"]}
    assert validate(study(columns={"groups": groups}, **asked), table=table()).verdicts[0].outcome == "pass"


@pytest.mark.parametrize(
    "group",
    [
        "threshold",
        "threshold:45,65",
        "window",
        {"column": "age", "cuts": [45, 65], "name": "threshold"},
        {"column": "sex", "name": "site"},
        {"column": "pooled"},
    ],
)
def test_a_group_cannot_take_the_name_of_another_key(group: Any) -> None:
    with pytest.raises(
        StudyError, match=r"a group cannot be named '\w+'.*give it another name in the study file, such as {column: "
    ):
        study(columns={"groups": [group]})


def test_the_site_column_may_be_a_group() -> None:
    for columns in ({"groups": ["site"]}, {"site": "site", "groups": ["site"]}):
        assert study(columns=columns).columns is not None
    renamed = {"site": "hospital", "groups": [{"column": "hospital", "name": "site"}]}
    assert study(columns=renamed).columns is not None
    with pytest.raises(StudyError, match="cannot be named 'site'"):
        study(columns={"site": "hospital", "groups": ["site"]})


def test_every_key_that_a_lens_or_a_metric_slices_by_is_reserved() -> None:
    lenses = (internal, sites, drift, subgroups)
    settings = [internal.Settings(leave_one_site_out=True), sites.Settings(), drift.Settings(), subgroups.Settings()]
    keys = {key for lens, one in zip(lenses, settings, strict=True) for key in lens.slice_keys(one, StudyDesign())}
    keys |= {"column"}  # of comparisons over a whole column
    keys |= {key for metric in risk_metrics(thresholds=[0.5], smoother=Smoother(np.zeros(0))) for key in metric.at}
    assert {"threshold", "window", "acted", "validation", "pooled", "site"} <= keys <= SLICE_KEYS


def test_a_gate_may_name_a_band() -> None:
    groups = [{"column": "age", "cuts": [45]}]
    asked = {"columns": {"groups": groups}, "lenses": {"subgroups": {}}, "gates": ["auroc{age=<45}.n >= 10"]}
    assert validate(study(**asked), table=table()).verdicts[0].outcome == "pass"
    with pytest.raises(StudyError, match="'age' has no level '<46'"):
        validate(study(**(asked | {"gates": ["auroc{age=<46}.n >= 10"]})), table=table())


# ---- missing risks and copies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["column", "system"])
def test_missing_risks_are_counted_by_outcome_and_group(how: str) -> None:
    cells = table()
    dead = np.flatnonzero(cells["status"] == "dead")
    cells["surv6m"] = np.where(np.isin(np.arange(N), dead[:40]), np.nan, cells["surv6m"])
    system = {"name": "recorded", "use": "recorded", "with": {"column": "1 - surv6m"}}
    recorded = {"columns": {"risk": None, "groups": ["sex"]}, "systems": [system]}
    chosen = study(**({"columns": {"groups": ["sex"]}} if how == "column" else recorded))
    found = validate(chosen, table=cells)
    notes = found.results["internal"].notes
    assert (
        notes[0] == "No risk for 40 of 400 rows (10.0 %): they are in no metric, and every figure is of the other 360."
    )
    alive = N - dead.size
    assert f"by outcome: events: 40 of {dead.size}" in notes[1] and f"non-events: 0 of {alive} (0.0 %)" in notes[1]
    assert "Warning: these shares differ by more than chance" in notes[1]
    assert notes[2].startswith("Rows without a risk, by sex: F: ")
    assert found.estimate("auroc").n_rows == 360


def test_risks_missing_by_chance_raise_no_warning() -> None:
    cells = table()
    cells["surv6m"] = np.where(np.arange(N) % 20 == 0, np.nan, cells["surv6m"])
    notes = validate(study(), table=cells).results["internal"].notes
    assert "No risk for 20 of 400 rows" in notes[0] and "Warning" not in notes[1]


def lost_by_patient(seed: int, *, patients: int = 40, rows: int = 20) -> tuple[dict[str, Any], list[str]]:
    """A cohort where all risks of a patient are missing together, whoever it is, and what is said of it."""
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(patients, dtype=float), rows)
    cells = {
        "id": who,
        "died": (draw.random(who.size) < 0.3).astype(float),
        "ward": draw.choice(["A", "B", "C"], patients).astype(object)[who.astype(int)],
        "sex": draw.choice(["F", "M"], patients).astype(object)[who.astype(int)],
    }
    risks = np.where((draw.random(patients) < 0.2)[who.astype(int)], np.nan, 0.5)
    columns = Columns(outcome="died", patient="id", groups=("ward", "sex"))
    return cells, missing_risk_notes(check_cohort(cells, columns, where="cohort"), risks)


def test_whole_patients_missing_by_chance_raise_few_warnings() -> None:
    studies = 200
    warned = sum(any("Warning" in note for note in lost_by_patient(seed)[1]) for seed in range(studies))
    assert warned / studies <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)


def test_a_ward_whose_patients_have_no_risk_is_told_among_many() -> None:
    draw = np.random.default_rng(5)
    ward = np.repeat([f"W{k:02d}" for k in range(14)], 30).astype(object)
    cells = {"died": (draw.random(ward.size) < 0.3).astype(float), "ward": ward, "id": np.arange(ward.size) // 3 * 1.0}
    risks = np.where((ward == "W07") | (draw.random(ward.size) < 0.02), np.nan, 0.5)
    cohort = check_cohort(cells, Columns(outcome="died", patient="id", groups=("ward",)), where="cohort")
    by_ward = missing_risk_notes(cohort, risks)[2]
    assert by_ward.startswith("Rows without a risk, by ward: the worst 5 of 14 levels are W07: 30 of 30 (100.0 %), W")
    assert "; the other 9: " in by_ward and "; 1 of the 14 has no risk at all." in by_ward
    assert "Warning: these shares differ by more than chance" in by_ward


def test_copies_of_rows_are_told() -> None:
    cells = table()
    twice = {name: np.concatenate([column, column[:3]]) for name, column in cells.items()}
    notes = validate(study(), table=twice).results["internal"].notes
    assert any(note.startswith("Warning: 3 of 403 rows are copies of another row") for note in notes)
    assert not any("cop" in note for note in validate(study(), table=cells).results["internal"].notes)


def test_a_patient_seen_twice_at_one_time_is_told() -> None:
    cells = table()
    cells["id"][1] = cells["id"][0]
    cells["when"] = np.array(["2024-01-01"] * N, dtype="datetime64[us]")
    notes = validate(study(columns={"time": "when"}), table=cells).results["internal"].notes
    assert any("1 more row is of a patient and a time that another row has too" in note for note in notes)


def test_copies_of_undated_rows_do_not_hide_a_true_repeat() -> None:
    cells = table()
    when = np.array(["2024-01-01"] * N, dtype="datetime64[us]")
    when[[2, 3]] = np.datetime64("NaT")
    cells = {name: column.copy() for name, column in {**cells, "when": when}.items()}
    for column in cells.values():
        column[3] = column[2]  # an undated row and its copy
    cells["id"][1] = cells["id"][0]  # one patient twice on one day, with other values
    notes = validate(study(columns={"time": "when"}), table=cells).results["internal"].notes
    assert any("1 of 400 rows is a copy" in note for note in notes)
    assert any("1 more row is of a patient and a time that another row has too" in note for note in notes)


def test_a_listed_value_that_no_row_has_is_told() -> None:
    changed = {"outcome": 'status in ("dead", "expird")', "groups": [{"column": 'sex in ("F", "f")', "name": "women"}]}
    notes = validate(study(columns=changed), table=table()).results["internal"].notes
    said = "Warning: {} lists '{}', which no row of column '{}' has: check the spelling."
    assert said.format("columns.outcome", "expird", "status") in notes
    assert said.format("group 'women'", "f", "sex") in notes
    right = validate(study(columns={"outcome": 'status in ("dead",)'}), table=table())
    assert not any("check the spelling" in note for note in right.results["internal"].notes)


def test_short_tables_that_repeat_by_chance_are_left_alone() -> None:
    found = score_risk({"y": [0, 1, 0, 1] * 20, "p": [0.1, 0.8, 0.4, 0.3] * 20}, outcome="y", risk="p", replicates=200)
    assert not any("cop" in note for note in found.results["internal"].notes)


# ---- several systems in one folder -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("several")
    cells = table()
    cells["worse"] = np.clip(0.5 * (1 - cells["surv6m"]) + 0.3 * np.random.default_rng(5).random(N), 0, 1)
    with (home / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([list(cells), *zip(*cells.values(), strict=True)])
    systems = [
        {"name": "good", "use": "recorded", "with": {"column": "1 - surv6m"}},
        {"name": "bad", "use": "recorded", "with": {"column": "worse"}},
    ]
    content = {
        **study(columns={"risk": None}, systems=systems).record(),
        "corpus": {"path": "t.csv"},
        "report": {"formats": []},
        "gates": ["auroc.value >= 0.6", "brier.value <= 0.166"],
    }
    (home / "study.yaml").write_text(yaml.safe_dump(content))
    assert call("run", home / "study.yaml", "-o", home / "out").code in (0, 1)
    return home / "out"


def test_gate_judges_every_system_and_the_worst_decides(folder: Path, tmp_path: Path) -> None:
    values = {name: Report.read(folder / name).estimate("brier").value for name in ("good", "bad")}
    limit = (values["good"] + values["bad"]) / 2  # type: ignore[operator]
    rule = f"brier.value <= {limit:.6f}"
    found = call("gate", folder, "--rule", rule, "--junit", tmp_path / "g.xml", "--json", tmp_path / "g.json")
    assert found.code == 1
    assert found.out.index("system good") < found.out.index("system bad")
    record = json.loads((tmp_path / "g.json").read_text())
    assert [(one["system"], one["exit_code"]) for one in record["systems"]] == [("good", 0), ("bad", 1)]
    assert record["exit_code"] == 1
    assert (tmp_path / "g.xml").read_text().count("<testsuite ") == 2
    assert call("gate", folder, "--rule", rule, "--system", "good").code == 0
    assert call("gate", folder, "--rule", rule, "--system", "bad").code == 1
    wrong = call("gate", folder, "--rule", rule, "--system", "goot")
    assert wrong.code == 2 and "did you mean 'good'?" in wrong.err


def test_report_redraws_every_system(folder: Path, tmp_path: Path) -> None:
    shown = call("report", folder)
    assert shown.code == 0 and shown.out.count("Validation report") == 2
    assert call("report", folder, "--system", "bad").out.count("Validation report") == 1
    assert call("report", folder, "-f", "html", "-o", tmp_path / "pages").code == 0
    assert sorted(file.parent.name for file in (tmp_path / "pages").glob("*/report.html")) == ["bad", "good"]
    nothing = call("report", tmp_path)
    assert nothing.code == 2 and "there is no report here" in nothing.err
