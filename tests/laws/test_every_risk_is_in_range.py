"""A risk lies in [0, 1], both ends included, by whatever way it comes in: a hair beyond an end is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from workup import Study, score_risk, validate
from workup.errors import WorkupError
from workup.stats.charts.risk_adjusted import risk_adjusted_cusum
from workup.systems.wire.rows import risk_in
from workup.systems.risk.predictors import check_risks
from workup.systems.any.recorded import Recorded
from workup.testing import check_system

N = 40
OUTCOME = np.tile([0.0, 1.0, 0.0, 0.0], N // 4)
BEYOND = [1.01, float(np.nextafter(1.0, 2.0)), -0.01, -5e-324, float("inf"), float("-inf")]


def risks_with(one: float) -> np.ndarray:
    risks = np.linspace(0.0, 1.0, N)  # both ends are risks
    risks[17] = one
    return risks


class Model:
    """A model of the user's own, whose answers are fixed."""

    name, version = "own", "1"

    def __init__(self, one: float) -> None:
        self.risks = risks_with(one)

    def predict(self, table: Any) -> list[float | None]:
        return [None if np.isnan(row) else float(self.risks[int(row)]) for row in table["row"]]


def as_column(one: float) -> None:
    score_risk({"died": OUTCOME, "p": risks_with(one)}, outcome="died", risk="p", replicates=200)


def as_recorded_system(one: float) -> None:
    Recorded(name="old", column="p").predict({"p": risks_with(one)})


def as_answers_of_a_model(one: float) -> None:
    study = Study.of(
        {"name": "range", "task": "risk", "columns": {"outcome": "died"}, "bootstrap": {"replicates": 200}}
    )
    validate(study, system=Model(one), table={"died": OUTCOME, "row": np.arange(float(N))})


def as_checked_system(one: float) -> None:
    check_system(Model(one), table={"row": np.arange(float(N))})


def as_json(one: float) -> None:
    risk, problem = risk_in(json.loads(json.dumps({"id": "1", "risk": one})), due=1, rows=1)
    if problem:
        raise ValueError(problem)
    assert risk == one


def as_chart(one: float) -> None:
    risk_adjusted_cusum(OUTCOME, risks_with(one), upper=3.0, lower=3.0)


WAYS: dict[str, Callable[[float], None]] = {
    "a column of the table": as_column,
    "a recorded system": as_recorded_system,
    "a model's answers": as_answers_of_a_model,
    "the conformance test": as_checked_system,
    "JSON of a program or service": as_json,
    "the risk-adjusted chart": as_chart,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("one", BEYOND)
def test_a_risk_beyond_an_end_is_refused(way: str, one: float) -> None:
    with pytest.raises((WorkupError, ValueError, AssertionError)) as refused:
        WAYS[way](one)
    assert any(word in str(refused.value) for word in ("0 to 1", "[0, 1]", "outside")), str(refused.value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("one", [0.0, 1.0, 5e-324, float(np.nextafter(1.0, 0.0))])
def test_the_ends_and_what_is_next_to_them_are_risks(way: str, one: float) -> None:
    WAYS[way](one)


@pytest.mark.parametrize("one", [1.0 + 2e-6, -2e-6, 1.01, float("inf"), float("nan")])
def test_a_model_file_may_pass_an_end_by_rounding_and_no_more(one: float) -> None:
    def checked(answers: list[float]) -> list[float]:
        return check_risks(np.array(answers), system="m", rounding=1e-6, remedy="mend it").tolist()

    assert checked([1.0 + 1e-6, -1e-6, 0.5]) == [1.0, 0.0, 0.5]
    with pytest.raises(WorkupError, match="got 1 of 2"):
        checked([0.5, one])
