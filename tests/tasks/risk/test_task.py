"""The risk task's rows: one order whatever that of the table, and patient counters that mean one patient each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workup import Study, validate
from workup.errors import StudyError, SystemFailure
from workup.scores import Levels, Scores
from workup.stats.logistic import fit
from workup.task import Table
from workup.tasks.risk import RiskTask

ROWS = 900


def table(*, seed: int = 3) -> dict[str, np.ndarray]:
    """Many rows that agree in risk, outcome, group and time, and differ in what the model was shown."""
    draws = np.random.default_rng(seed)
    outcome = draws.integers(0, 2, ROWS).astype(float)
    outcome[::7] = np.nan  # not known yet
    lab = draws.normal(size=ROWS)
    lab[::11] = np.nan
    return {
        "died": outcome,
        "risk": draws.choice([0.2, 0.6], ROWS),
        "seen": np.repeat(np.array(["2024-01-01", "2024-02-01", "2024-03-01"], dtype="datetime64[us]"), ROWS // 3),
        "sex": draws.choice(np.array(["F", "M"], dtype=object), ROWS),
        "lab": lab,
        "ward": draws.choice(np.array(["A", "B", None], dtype=object), ROWS),
        "acted": draws.integers(0, 2, ROWS).astype(float),
        "patient": np.array([f"p{number}" for number in draws.integers(0, ROWS // 2, ROWS)], dtype=object),
    }


def study(**columns: Any) -> Study:
    return Study.of(
        {
            "name": "order",
            "task": "risk",
            "columns": {"outcome": "died", "risk": "risk", "time": "seen", "groups": ["sex"], **columns},
            "lenses": {"internal": {}, "drift": {"window": "month", "baseline": 1}},
            "bootstrap": {"replicates": 200},
        }
    )


def scores(rows: Table, plan: Study) -> Scores:
    task = RiskTask()
    corpus = task.read(plan, rows)
    return task.scores(corpus, np.asarray(rows["risk"], dtype=float))


def columns_of(found: Scores) -> dict[str, list[Any]]:
    """All that a lens can see of the rows; the row of the table is where a row came from, and must differ."""
    shown = {name: column.tolist() for name, column in found.values.items() if name != "row"}
    levels = found.inputs | found.groups
    shown |= {name: (c.codes if isinstance(c, Levels) else c).tolist() for name, c in levels.items()}
    assert found.time is not None
    return shown | {"time": found.time.tolist(), "patient": found.patient.tolist()}


@pytest.mark.parametrize("columns", [{}, {"patient": "patient"}, {"acted": "acted"}], ids=["no ids", "ids", "acted"])
def test_rows_stand_in_one_order_where_inputs_tell_them_apart(columns: dict[str, str]) -> None:
    plan, rows = study(inputs=["ward", "lab"], **columns), table()
    first = scores(rows, plan)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(ROWS)
        again = scores({name: column[order] for name, column in rows.items()}, plan)
        assert first.waiting is not None and again.waiting is not None
        np.testing.assert_equal(columns_of(again), columns_of(first))
        np.testing.assert_equal(columns_of(again.waiting), columns_of(first.waiting))


def test_a_shuffled_table_gives_the_same_report() -> None:
    plan, rows = study(inputs=["lab", "ward"]), table()
    order = np.random.default_rng(1).permutation(ROWS)
    reports = [validate(plan, table={name: c[o] for name, c in rows.items()}) for o in (np.arange(ROWS), order)]
    first, second = (report.as_dict()["results"] for report in reports)
    assert first == second


def test_inputs_decide_nothing_where_the_study_names_none() -> None:
    """Rows that agree in all that is sorted by stay as they stood in the table."""
    found = scores(table(), study())
    key = list(zip(found["risk"], found["outcome"], found.groups["sex"].codes, found.time.tolist(), strict=True))  # type: ignore[union-attr]
    rows = found["row"].tolist()
    assert all(rows[i] < rows[i + 1] for i in range(len(rows) - 1) if key[i] == key[i + 1])


def test_rows_that_wait_are_patients_of_their_own() -> None:
    found = scores(table(), study())
    assert found.waiting is not None
    known, later = set(found.patient.tolist()), set(found.waiting.patient.tolist())
    assert not known & later
    assert known | later == set(range(ROWS))
    assert found.patient.tolist() == list(range(len(found)))  # those that are scored keep the numbers they had


def test_with_ids_a_patient_who_waits_is_the_patient_who_is_known() -> None:
    rows = table()
    found = scores(rows, study(patient="patient"))
    assert found.waiting is not None
    known = {rows["patient"][int(row) - 1]: code for row, code in zip(found["row"], found.patient, strict=True)}
    later = {rows["patient"][int(r) - 1]: c for r, c in zip(found.waiting["row"], found.waiting.patient, strict=True)}
    both = known.keys() & later.keys()
    assert both and all(known[patient] == later[patient] for patient in both)


# ---- metrics on request ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "made"),
    [
        ({}, set()),
        ({"also": ["accuracy"]}, {"accuracy"}),
        ({"ece": True}, {"ece"}),
        ({"gates": ["accuracy.low >= 0.1"]}, {"accuracy"}),
        ({"gates": ["f1{threshold=0.3}.value >= 0.1"]}, {"f1"}),
        ({"lenses": {"internal": {}, "subgroups": {"margin": {"accuracy": 0.05}}}}, {"accuracy"}),
        ({"lenses": {"internal": {}, "drift": {"window": "month", "baseline": 1, "metrics": ["f1"]}}}, {"f1"}),
    ],
)
def test_accuracy_f1_and_ece_are_made_when_listed_or_named(asked: dict[str, Any], made: set[str]) -> None:
    plain = study().model_dump(by_alias=True, exclude_defaults=True)
    report = validate(Study.of({**plain, "thresholds": [0.3], **asked}), table=table())
    assert {e.metric for e in report.estimates(lens="internal")} & {"accuracy", "f1", "ece"} == made
    assert all(verdict.outcome in ("pass", "fail", "unsure") for verdict in report.verdicts)


def test_a_metric_that_nobody_left_out_cannot_be_asked_for() -> None:
    with pytest.raises(StudyError, match="also"):
        Study.of({"name": "x", "task": "risk", "columns": {"outcome": "died"}, "also": ["auroc"]})


@pytest.mark.parametrize(("refused", "answers"), [(0, True), (1, False), (ROWS, False)])
def test_a_refitted_model_must_answer_every_row(refused: int, answers: bool) -> None:
    class Refitted:
        name, version = "again", "1"

        def predict(self, rows: Table) -> list[float | None]:
            n = len(rows["sex"])
            return [None] * min(refused, n) + [0.3] * (n - min(refused, n))

    rows, plan = table(), study()
    task = RiskTask()
    corpus = task.read(plan, rows)
    known = task.scores(corpus, np.asarray(rows["risk"], dtype=float))
    again = task.refit(corpus, known, lambda chosen: Refitted())
    if answers:
        assert set(again(np.arange(len(known)))["risk"].tolist()) == {0.3}
    else:
        with pytest.raises(SystemFailure, match="must give every row a risk; it refused some"):
            again(np.arange(len(known)))


def test_a_slope_that_rests_on_risks_of_0_is_told_with_the_one_without_them() -> None:
    rng = np.random.default_rng(8)
    risk = rng.uniform(0.1, 0.9, 600)
    outcome = (rng.random(600) < risk).astype(float)
    risk[:40] = 0.0
    outcome[:40] = np.tile([0.0, 1.0], 20)
    rows = {"died": outcome, "risk": risk}
    plan = Study.of({"name": "ends", "task": "risk", "columns": {"outcome": "died", "risk": "risk"}})
    known = scores(rows, plan)
    said = " ".join(RiskTask().notes(RiskTask().read(plan, rows), risk, known, plan))
    line = np.log(risk[40:] / (1 - risk[40:]))
    alone = fit(np.column_stack([np.ones(560), line]), outcome[40:], np.ones((1, 560))).coefficients[0, 1]
    assert f"rests on that choice: without these rows it is {alone:.2f}." in said
