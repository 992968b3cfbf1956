"""The updating procedure as something to fit: on tables, by group, and as the refit function of the internal lens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.errors import InputError
from workup.scores import Scores
from workup.stats.updating import Sample
from workup.study import Study
from workup.tasks.risk.discrimination import discrimination
from workup.tasks.risk.updating.procedure import Procedure, Updating, sample_of
from workup.validate import validate


def table(rows: int = 800, *, seed: int = 2, slope: float = 0.7, shift: float = 0.0) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    lp = rng.normal(-0.5, 1.3, rows)
    age = rng.normal(60, 12, rows)
    died = (rng.random(rows) < 1 / (1 + np.exp(-(shift + slope * lp)))).astype(float)
    sex = np.array(rng.choice(["F", "M"], rows), dtype=object)
    return {"p": 1 / (1 + np.exp(-lp)), "died": died, "age": age, "sex": sex, "id": np.arange(rows, dtype=float)}


def auroc(columns: dict[str, Any], risk: Any) -> float:
    [metric] = [one for one in discrimination() if one.name == "auroc"]
    return metric.value(Scores.of({"outcome": columns["died"], "risk": risk}))


def test_the_procedure_is_a_refit_function_of_the_internal_lens() -> None:
    columns = table(600)
    study = Study.of(
        {
            "name": "s",
            "task": "risk",
            "columns": {"outcome": "died", "risk": "p"},
            "lenses": {"internal": {"optimism": 10, "folds": 5}},
            "bootstrap": {"replicates": 100},
        }
    )
    fit = Updating(outcome="died", risk="p")
    model = fit(columns)
    report = validate(study, table={**columns, "p": np.array(model.predict(columns))}, refit=fit)
    corrected = report.estimate("calibration_slope", validation="optimism-corrected")
    crossed = report.estimate("calibration_slope", validation="5-fold")
    assert corrected.value is not None and crossed.value is not None
    assert "10 refits" in corrected.method


def test_each_level_has_its_own_update_and_an_unknown_one_is_left_alone() -> None:
    columns = table(3000)
    women = columns["sex"] == "F"
    columns["p"] = np.where(women, columns["p"], np.clip(columns["p"] * 0.4, 1e-6, 1))
    model = Updating(outcome="died", risk="p", method="in_the_large", group="sex")(columns)
    updated = np.array(model.predict(columns))
    for inside in (women, ~women):
        assert updated[inside].mean() == pytest.approx(columns["died"][inside].mean(), abs=1e-9)
    other = {name: column[:3] for name, column in columns.items()}
    other["sex"] = np.array(["X", None, "F"], dtype=object)
    assert np.array(model.predict(other))[:2].tolist() == other["p"][:2].tolist()
    assert model.mending.unknown(other, 3) == 2


def test_a_level_of_few_patients_has_no_update_of_its_own() -> None:
    columns = table(600)
    columns["sex"][:10] = "rare"
    model = Updating(outcome="died", risk="p", method="none", group="sex")(columns)
    assert set(model.mending.updates) == {"F", "M"}


def test_levels_that_are_all_small_are_refused() -> None:
    columns = table(40)
    columns["sex"] = np.array([f"level {row // 8}" for row in range(40)], dtype=object)
    with pytest.raises(InputError, match="needs 11 patients in one of them"):
        Updating(outcome="died", risk="p", method="none", group="sex")(columns)


def test_rows_without_a_predictor_are_answered_by_none() -> None:
    columns = table(1500)
    model = Updating(outcome="died", risk="p", method="refit", predictors=("age",), forbidden={"": {}})(columns)
    gone = {**columns, "age": np.where(np.arange(1500) < 2, np.nan, columns["age"])}
    assert model.predict(gone)[:3].count(None) == 2
    with pytest.raises(InputError, match="must have the column 'age'"):
        model.predict({"p": columns["p"]})


def test_a_system_can_stand_in_the_place_of_a_column() -> None:
    columns = table(500)

    class Model:
        name, version = "half", "1"

        def predict(self, rows: Any) -> list[float | None]:
            return [float(risk) / 2 for risk in rows["p"]]

    of_column = Updating(outcome="died", risk="half", method="in_the_large")({**columns, "half": columns["p"] / 2})
    of_system = Updating(outcome="died", system=Model(), method="in_the_large")(columns)
    assert of_system.predict(columns) == of_column.predict({**columns, "half": columns["p"] / 2})
    with pytest.raises(InputError, match="got both"):
        Updating(outcome="died", risk="p", system=Model())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), slope=st.floats(0.3, 2.0), shift=st.floats(-1, 1))
def test_what_keeps_the_order_keeps_the_auroc(seed: int, slope: float, shift: float) -> None:
    columns = table(250, seed=seed, slope=slope, shift=shift)
    for method in ("in_the_large", "recalibration"):
        model = Updating(outcome="died", risk="p", method=method, forbidden={"": {}})(columns)
        if not model.mending.backwards:
            assert model.mending.keeps_order
            assert auroc(columns, model.predict(columns)) == pytest.approx(auroc(columns, columns["p"]), abs=1e-12)


def test_in_the_large_is_the_maximum_likelihood_and_not_the_ratio_of_odds() -> None:
    columns = table(700, shift=1.0)
    model = Updating(outcome="died", risk="p", method="in_the_large")(columns)
    assert np.mean(model.predict(columns)) == pytest.approx(columns["died"].mean(), abs=1e-12)  # type: ignore[arg-type]
    odds = [share / (1 - share) for share in (columns["died"].mean(), columns["p"].mean())]
    by_odds = np.log(odds[0] / odds[1])
    [one] = model.mending.updates.values()
    assert abs(one.parameters["intercept"] - by_odds) > 0.02
    # Nor is it the intercept of the joint fit.
    joint = Updating(outcome="died", risk="p", method="recalibration")(columns)
    assert abs(one.parameters["intercept"] - joint.mending.updates[""].parameters["intercept"]) > 0.02


def test_folds_are_held_to_what_the_whole_table_allows() -> None:
    columns = table(400)
    kept = np.sort(np.concatenate([np.flatnonzero(columns["died"] == outcome)[:52] for outcome in (0, 1)]))
    sample = sample_of(columns["died"][kept], columns["p"][kept], {}, patient=None, weight=None)
    procedure = Procedure("recalibration").measured_on(sample, None)
    _, methods = procedure.cross_fitted(sample, None, np.arange(104) % 10)  # each fit has fewer than 50 events
    assert set(methods[""]) == {"recalibration"}


def test_a_named_method_that_the_data_do_not_carry_is_refused_in_words() -> None:
    columns = table(100)
    with pytest.raises(InputError, match=r"method beta: beta needs at least 100 events.*To fix: name a method"):
        Updating(outcome="died", risk="p", method="beta")(columns)


def test_patients_matter_only_where_one_has_several_rows() -> None:
    ones = np.ones(4)
    assert sample_of(ones, ones / 2, {}, patient=np.arange(4), weight=None).patient is None
    assert sample_of(ones, ones / 2, {}, patient=np.array([0, 0, 1, 1]), weight=None).patient is not None
    assert isinstance(sample_of(ones, ones / 2, {}, patient=None, weight=None), Sample)
