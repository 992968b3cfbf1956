"""The pipeline in code: objects, tables and refits given by hand, and what a report says first."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workup
from workup import Study, validate
from workup.errors import InputError, StudyError, SystemFailure, WorkupError
from workup.runs import RunDirectory
from workup.task import Table

RNG = np.random.default_rng(3)
N = 120
X = RNG.normal(size=N)
TABLE: dict[str, Any] = {
    "mrn": [f"P{row // 2:03d}" for row in range(N)],
    "died": (RNG.random(N) < 1 / (1 + np.exp(1 - X))).astype(float),
    "x": X,
    "p": 1 / (1 + np.exp(1 - X)),
    "sex": ["F" if row % 3 else "M" for row in range(N)],
    "site": [f"S{row % 2}" for row in range(N)],
}


def study(**changes: Any) -> Study:
    content: dict[str, Any] = {
        "name": "in code",
        "task": "risk",
        "columns": {"outcome": "died", "patient": "mrn", "groups": ["sex"], "site": "site"},
        "bootstrap": {"replicates": 200},
    }
    return Study.of({**content, **changes})


class Model:
    """A risk model in memory, which keeps the columns it was shown."""

    name = "mine"
    version = "7"

    def __init__(self, scale: float = 1.0) -> None:
        self.scale, self.seen = scale, set[str]()

    def predict(self, table: Table) -> list[float | None]:
        self.seen |= set(table)
        return [float(risk) for risk in 1 / (1 + np.exp(1 - self.scale * table["x"]))]


def test_a_model_in_memory_is_validated_on_a_table_in_memory() -> None:
    model = Model()
    report = validate(study(), system=model, table=TABLE)
    assert report.system == {"name": "mine", "version": "7"}
    assert report.corpus["n_cases"] == N
    assert report.corpus["n_patients"] == N // 2
    scored = workup.score_risk(TABLE, outcome="died", risk="p", patient="mrn", by=["sex"], replicates=200)
    assert report.estimate("auroc").value == scored.estimate("auroc").value
    assert report.estimate("brier").low == scored.estimate("brier").low


def test_the_model_never_sees_the_outcome_or_the_patient() -> None:
    model = Model()
    validate(study(), system=model, table=TABLE)
    assert model.seen == {"x", "p", "sex", "site"}


def test_a_scikit_learn_model_is_a_system_as_it_is() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    pandas = pytest.importorskip("pandas")
    fitted = linear_model.LogisticRegression().fit(pandas.DataFrame({"x": X}), np.asarray(TABLE["died"], dtype=int))
    report = validate(study(), system=fitted, table=TABLE)
    assert report.system["name"] == "LogisticRegression"
    by_hand = fitted.predict_proba(pandas.DataFrame({"x": X}))[:, 1]
    assert report.estimate("brier").value == pytest.approx(np.mean((by_hand - TABLE["died"]) ** 2), abs=1e-11)


SYSTEMS = [{"name": "one", "use": "recorded", "with": {"column": "p"}}, {"name": "two", "use": f"{__name__}:Made"}]


class Made(Model):
    """A model that a study names by its path."""

    def __init__(self, *, name: str) -> None:
        super().__init__(scale=2.0)
        self.name = name


def test_a_system_is_chosen_by_its_name() -> None:
    report = validate(study(systems=SYSTEMS), system="two", table=TABLE)
    assert report.system == {"name": "two", "version": "7"}
    with pytest.raises(StudyError, match=r"no system 'tow'; did you mean 'two'\?"):
        validate(study(systems=SYSTEMS), system="tow", table=TABLE)
    with pytest.raises(StudyError, match=r"several systems \(one, two\); say which"):
        validate(study(systems=SYSTEMS), table=TABLE)


def test_a_study_without_a_system_or_risks_is_taught() -> None:
    with pytest.raises(StudyError, match=r"under 'systems', or .* 'columns.risk'"):
        validate(study(), table=TABLE)
    with pytest.raises(StudyError, match="corpus: give 'path'"):
        validate(study(), system=Model())


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([0.5], "one risk per row; it was given 120 rows and answered 1"),
        ([1.5] * N, r"row 1: a risk must lie in \[0, 1\]; 120 of 120"),
        ([None] * N, "no row has both a risk and an outcome"),
    ],
)
def test_answers_that_are_no_risks_are_refused(answers: list[Any], says: str) -> None:
    class Odd(Model):
        def predict(self, table: Table) -> list[float | None]:
            return answers

    with pytest.raises((SystemFailure, InputError), match=says):
        validate(study(), system=Odd(), table=TABLE)


def test_rows_that_the_model_refuses_are_counted_and_left_out() -> None:
    class Choosy(Model):
        def predict(self, table: Table) -> list[float | None]:
            return [None if x > 1 else 0.3 for x in table["x"]]

    report = validate(study(), system=Choosy(), table=TABLE)
    refused = int((X > 1).sum())
    assert f"No risk for {refused} of {N} rows" in " ".join(report.results["internal"].notes)
    assert report.estimate("brier").n_rows == N - refused


def test_a_model_that_crashes_is_a_failure_of_the_system_and_shows_no_value() -> None:
    class Crashing(Model):
        def predict(self, table: Table) -> list[float | None]:
            raise ValueError("could not convert string to float: 'ZZSECRET'")

    with pytest.raises(SystemFailure) as caught:
        validate(study(), system=Crashing(), table=TABLE)
    assert "ValueError" in str(caught.value)
    assert "ZZSECRET" not in str(caught.value)


# Order, notes, details


def test_the_first_result_holds_what_a_reader_must_know_first() -> None:
    report = workup.score_risk(TABLE, outcome="died", risk="p", by=["sex"], replicates=200)
    notes = report.results["internal"].notes
    assert notes[0] == "No patient column: each row is taken as a patient of its own."
    assert "'mrn' is named like a patient id and repeats (60 ids in 120 rows)" in notes[1]
    assert any("No decision threshold was named" in note for note in notes)
    assert "summary" in report.results["internal"].tables


def test_lenses_stand_in_the_order_of_the_study() -> None:
    report = validate(study(lenses={"subgroups": {}, "internal": {}}), system=Model(), table=TABLE)
    assert list(report.results) == ["subgroups", "internal"]
    assert "summary" in report.results["subgroups"].tables


def test_an_unknown_lens_engine_or_gate_is_refused() -> None:
    for changes, says in (
        ({"lenses": {"internl": {}}}, "did you mean 'internal'"),
        ({"engine": "serail"}, "did you mean 'serial'"),
        ({"task": "rsik"}, "did you mean 'risk'"),
        ({"gates": ["aurok.low >= 0.7"]}, "did you mean 'auroc'"),
    ):
        with pytest.raises(WorkupError, match=says):
            validate(study(**changes), system=Model(), table=TABLE)


def test_strata_must_be_one_of_the_groups() -> None:
    with pytest.raises(StudyError, match=r"bootstrap.strata: 'sexx'.*did you mean 'sex'"):
        validate(study(bootstrap={"replicates": 200, "strata": "sexx"}), system=Model(), table=TABLE)


def test_a_cost_ratio_sets_the_threshold_that_gates_take() -> None:
    report = validate(study(cost_ratio=4, gates=["sensitivity.value >= 0"]), system=Model(), table=TABLE)
    assert report.estimate("sensitivity", threshold=0.2).value is not None
    assert report.verdicts[0].outcome == "pass"


def test_the_primary_threshold_may_be_another_than_the_first() -> None:
    plan = study(thresholds=[0.2, 0.5], primary={"threshold": 0.5}, gates=["alert_rate.value <= 1"])
    report = validate(plan, system=Model(), table=TABLE)
    assert report.verdicts[0].observed["value"] == pytest.approx(report.estimate("alert_rate", threshold=0.5).value)


def test_details_hold_cells_by_row_number_that_add_up(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        report = validate(study(thresholds=[0.3]), system=Model(), table=TABLE, run=run)
    lines = [json.loads(line) for line in (tmp_path / "run" / "details.jsonl").read_text().splitlines()]
    assert [line["row"] for line in lines] == list(range(1, N + 1))
    cells = [line["cell"] for line in lines]
    sensitivity = report.estimate("sensitivity", threshold=0.3)
    assert (cells.count("tp"), cells.count("tp") + cells.count("fn")) == (
        sensitivity.numerator,
        sensitivity.denominator,
    )
    flagged = {line["row"] for line in lines if line["cell"] in ("tp", "fp")}
    assert flagged == {row + 1 for row in range(N) if TABLE["p"][row] >= 0.3}


def test_the_environment_holds_versions_only() -> None:
    report = validate(study(), system=Model(), table=TABLE)
    assert set(report.environment) == {"python", "numpy", "scipy"}
    assert report.environment["numpy"] == np.__version__


# Refits


def fit(table: Table) -> Model:
    """A model whose only parameter is fitted to the rows it is given."""
    return Model(scale=float(np.average(table["x"], weights=0.1 + table["died"])))


def test_a_refit_function_gives_the_corrected_figures() -> None:
    plan = study(lenses={"internal": {"optimism": 5, "folds": 3, "leave_one_site_out": True}})
    report = validate(plan, system=Model(), table=TABLE, refit=fit)
    kinds = {e.slice.get("validation") for e in report.results["internal"].estimates}
    assert kinds == {None, "optimism-corrected", "3-fold", "leave-one-site-out"}
    by_site = {e.slice["site"] for e in report.estimates("auroc") if "site" in e.slice}
    assert by_site == {"S0", "S1"}


def test_a_study_may_name_its_refit_function() -> None:
    plan = study(lenses={"internal": {"optimism": 3, "refit": f"{__name__}:fit"}})
    by_name = validate(plan, system=Model(), table=TABLE)
    in_code = validate(study(lenses={"internal": {"optimism": 3}}), system=Model(), table=TABLE, refit=fit)
    one, other = (r.estimate("brier", validation="optimism-corrected").value for r in (by_name, in_code))
    assert one == other


def test_a_refit_that_crashes_is_a_failure_of_the_system() -> None:
    def crashing(table: Table) -> Model:
        raise ValueError("This solver needs samples of at least 2 classes: ZZSECRET")

    with pytest.raises(SystemFailure) as caught:
        validate(study(lenses={"internal": {"optimism": 2}}), system=Model(), table=TABLE, refit=crashing)
    assert "ZZSECRET" not in str(caught.value)


# Small groups


def test_small_groups_make_no_noise_on_the_terminal() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        corpus = {"generate": {"kind": "cohort", "count": 300, "seed": 4}}
        columns = {"outcome": "outcome", "risk": "risk", "patient": "patient", "groups": ["ethnicity"]}
        plan = {"name": "small", "task": "risk", "seed": 1, "corpus": corpus, "columns": columns}
        lenses = {"internal": {}, "subgroups": {}}
        report = validate(Study.of({**plan, "lenses": lenses, "bootstrap": {"replicates": 200}}))
    assert {e.status for e in report.estimates()} == {"ok", "insufficient", "undefined"}
    assert [str(warning.message) for warning in seen] == []
