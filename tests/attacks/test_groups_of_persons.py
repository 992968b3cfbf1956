"""Columns that tell persons apart are refused as groups, and names of levels that look like persons are warned of; what
is honest is let through. A study may tell everything, and its report says so first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workup
from tests.support.shell import call
from workup.cli.report import render
from workup.disclosure.identifying import looks_like, name_warnings
from workup.disclosure.small_groups import TOGETHER, regrouped
from workup.errors import StudyError
from workup.scores import Levels


def _csv(path: Path, columns: Mapping[str, Any]) -> Path:
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def _cohort(n: int = 40) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    return {
        "died": (rng.random(n) < 0.4).astype(int),
        "p": np.round(rng.random(n), 2),
        "id": [f"P{i:03d}" for i in range(n)],
        "copy": [f"Q{i:03d}" for i in range(n)],
        "sex": ["F", "M"] * (n // 2),
    }


# ---- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["id", "copy"])
@pytest.mark.parametrize("cell", ["5", "1"])
def test_patients_are_no_groups(tmp_path: Path, by: str, cell: str) -> None:
    table = _csv(tmp_path / "t.csv", _cohort())
    words = ("--outcome", "died", "--risk", "p", "--patient", "id", "--by", by, "--smallest-cell", cell)
    done = call("score", "risk", table, *words)
    assert done.code == 2, done.out[-500:]
    assert by in done.err and "To fix" in done.err
    assert "P001" not in done.err + done.out and "Q001" not in done.err + done.out


def test_the_patient_column_is_refused_also_in_bands() -> None:
    columns = {"outcome": "died", "risk": "p", "patient": "id", "groups": [{"column": "id", "cuts": [3]}]}
    with pytest.raises(StudyError, match="patient column"):
        workup.Study.of({"name": "s", "task": "risk", "columns": columns})


def test_honest_small_data_are_let_through() -> None:
    table = _cohort(30)
    report = workup.score_risk(table, outcome="died", risk="p", patient="id", by=["sex"], replicates=200)
    assert {e.n_patients for e in report.estimates("auroc", lens="subgroups")} == {15}
    case = {"patient_summary": "", "critical_entities": ["penicillin allergy"]}
    turns = [{"turn": 1, "message": "I am allergic to penicillin."}]
    tags = ["cardiology", "renal", "other"]
    cases = [
        {**case, "id": f"c{i}", "turns": turns, "metadata": {"groups": {"tag": tags[i % 3], "sex": "FM"[i % 2]}}}
        for i in range(12)
    ]
    said = [{"case": f"c{i}", "turn": 1, "reply": "Noted: you are allergic to penicillin."} for i in range(12)]
    talk = workup.score_conversation(cases, said, by=["tag", "sex"], replicates=200)
    groups = [e for e in talk.estimates("recall", lens="subgroups") if e.level == 0.95 and e.n_patients]
    assert groups and all(e.n_patients >= 5 for e in groups)


# ---- names -----------------------------------------------------------------------------------------------------------

ACCUSED = [
    ("record numbers", ["00482133", "MRN-4821", "123-45-6789", "943 476 5919", "H0123456"]),
    ("dates of birth", ["1954-03-12", "12/03/1954", "12.3.54", "19540312", "12 March 1954", "March 12, 1954"]),
    ("e-mail addresses or telephone numbers", ["ann.lee@example.org", "+44 20 7946 0958", "020 7946 0958"]),
    ("people", ["Smith, John", "Jones, Mary A.", "Patricia Brown"]),
    ("people", ["Dr Okafor"]),
]
HONEST = [
    ["<45", "45 to <65", "≥75", "100000 to <200000", "65+"],
    ["2023", "2024", "2024-01", "202401", "2024-Q1", "week of 2024-01-01"],
    ["E11.9", "I21", "Z51.11", "C50", "250.00", "99213"],
    ["12", "07", "RJ1", "S003", "Site 14", "10001"],
    ["General Medicine", "Surgery, General", "Internal Medicine", "St Mary Ward", "Intensive Care Unit", "Mary Ward"],
    ["White, British", "Asian or Asian British", "Black", "Other", "missing", "F", "M", "yes", "no"],
    ["North", "South East", "King's College Hospital", "Royal Victoria", "academic", "rural"],
    ["Discharge summary", "Nursing note", "ECG report", "History and physical"],
    ["Jordan", "Virginia", "Georgia", "Christian", "Grace"],
]


@pytest.mark.parametrize(("kind", "names"), ACCUSED)
def test_names_of_persons_are_known(kind: str, names: list[str]) -> None:
    assert looks_like(names) == {kind: len(names)}


@pytest.mark.parametrize("names", HONEST)
def test_names_of_groups_are_not_accused(names: list[str]) -> None:
    assert looks_like(names) == {}


def test_a_person_is_warned_before_such_names_are_printed(tmp_path: Path) -> None:
    table = _cohort()
    table["ward"] = ["1954-03-12", "1961-11-02"] * 20
    path = _csv(tmp_path / "t.csv", table)
    done = call("score", "risk", path, "--outcome", "died", "--risk", "p", "--by", "ward", "--replicates", "200")
    assert "dates of birth" in done.err and "'ward'" in done.err
    assert "1954" not in done.err
    assert "dates of birth" in done.out
    assert name_warnings({"sex": Levels.of(table["sex"])}) == []


# ---- everything told -------------------------------------------------------------------------------------------------


def test_a_study_that_tells_all_says_so_first() -> None:
    table = _cohort()
    table["sex"] = ["X", *table["sex"][1:]]
    report = workup.score_risk(table, outcome="died", risk="p", by=["sex"], replicates=200, smallest_cell=1)
    assert report.estimate("brier", sex="X").n_patients == 1
    assert "may identify people" in str(report).splitlines()[0]
    assert "MAY IDENTIFY PEOPLE" in str(render(report, "text")).splitlines()[2]
    assert "MAY IDENTIFY PEOPLE" in str(render(report, "md")).split("\n\n")[1]
    assert json.loads(render(report, "json-flat"))["may_identify_people"] is True
    page = str(render(report, "html"))
    assert page.index("MAY IDENTIFY PEOPLE") < page.index("In plain words")


# ---- gates, references, bytes ----------------------------------------------------------------------------------------


def test_gates_on_what_is_withheld_are_not_assessed() -> None:
    table = _cohort()
    table["sex"] = ["X"] * 2 + table["sex"][2:]
    rules = ["brier{sex=X}.high <= 1", "brier{sex=X}.n <= 10", "brier{sex=*}.high <= 1", "brier{sex=*}.n >= 1"]
    report = workup.score_risk(table, outcome="died", risk="p", by=["sex"], replicates=200, gates=rules)
    outcomes = {verdict.rule: (verdict.outcome, verdict.observed) for verdict in report.verdicts}
    for rule in rules[:2]:
        assert outcomes[rule][0] == "not_assessed"
    for rule in rules[2:]:
        assert outcomes[f"{rule} [sex=X]"][0] == "not_assessed"
        assert outcomes[f"{rule} [sex=X]"][1]["n"] is None


def test_a_reference_that_is_small_gives_way_to_the_rest() -> None:
    table = _cohort()
    table["sex"] = ["X"] * 2 + table["sex"][2:]
    content = {
        "name": "s",
        "task": "risk",
        "columns": {"outcome": "died", "risk": "p", "groups": ["sex"]},
        "lenses": {"internal": {}, "subgroups": {"comparator": {"sex": "X"}}, "power": {}},
        "bootstrap": {"replicates": 200},
    }
    report = workup.validate(workup.Study.of(content), table=table)
    assert report.results["subgroups"].comparisons
    assert not any(row["against"] == "X" for row in report.results["subgroups"].comparisons)


def test_the_level_that_others_are_compared_with_is_kept_where_it_can_be() -> None:
    levels = Levels.of(["A"] * 20 + ["B"] * 30 + ["C"] * 40 + ["D"] * 2)
    patient = np.arange(92)
    assert regrouped({"g": levels}, patient, k=5)["g"].withheld == ("A", "D")
    assert regrouped({"g": levels}, patient, k=5, wanted={"g": ["A"]})["g"].withheld == ("B", "D")


def test_a_level_of_the_data_may_bear_the_name_of_those_withheld() -> None:
    levels = Levels.of([TOGETHER] * 20 + ["B"] * 30 + ["D"] * 2)
    found = regrouped({"g": levels}, np.arange(52), k=5)["g"]
    assert found.levels is not None and len(set(found.levels.names)) == len(found.levels.names)
    assert found.together not in levels.names


def test_a_column_of_which_nothing_may_be_told_says_why() -> None:
    table = _cohort()
    table["sex"] = ["X"] * 2 + ["F"] * 38
    report = workup.score_risk(
        table, outcome="died", risk="p", by=["sex"], replicates=200, gates=["brier{sex=*}.n > 0"]
    )
    assert report.results["subgroups"].comparisons == ()
    [row] = report.results["internal"].tables["withheld_groups"]
    assert row["whole"] and set(row["levels"]) == {"F", "X"}
    assert {verdict.outcome for verdict in report.verdicts} == {"not_assessed"}
    assert all("all of it" in str(render(report, form)) for form in ("text", "md", "html"))


def test_the_same_bytes_at_any_number_of_workers() -> None:
    table = _cohort(60)
    table["sex"] = ["X"] * 3 + table["sex"][3:]
    content = {
        "name": "s",
        "task": "risk",
        "columns": {"outcome": "died", "risk": "p", "groups": ["sex"]},
        "lenses": {"internal": {}, "subgroups": {}},
        "bootstrap": {"replicates": 200},
    }
    texts = {
        workup.validate(workup.Study.of({**content, "workers": workers}), table=table).to_json() for workers in (1, 3)
    }
    assert len(texts) == 1


def test_rows_of_one_patient_count_once() -> None:
    """Forty rows of three patients are three patients."""
    patient = np.concatenate([np.arange(60), np.repeat([60, 61, 62], 14)])
    levels = Levels.of(["A"] * 30 + ["B"] * 30 + ["Z"] * 42)
    found = regrouped({"g": levels}, patient, k=5)["g"]
    assert "Z" in found.withheld


def test_documents_are_not_grouped_by_their_own_ids() -> None:
    spans = [{"start": 0, "end": 3, "label": "name_patient"}]
    gold = [
        {"id": f"d{i}", "text": "Ann, 9 May", "spans": spans, "patient": f"p{i}", "groups": {"chart": f"C{i}"}}
        for i in range(14)
    ]
    found = {one["id"]: spans for one in gold}
    with pytest.raises(StudyError, match="single persons"):
        workup.score_spans(gold, found, by=["chart"], replicates=200, smallest_cell=1)
    workup.score_spans(gold, found, replicates=200)  # what nobody asks for is not refused
