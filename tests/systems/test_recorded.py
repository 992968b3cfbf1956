"""Recorded risks: the column comes back as it is, and what is not a risk is refused with the row and the remedy."""

from __future__ import annotations

import numpy as np
import pytest

from workup import plugins
from workup.errors import InputError
from workup.systems.recorded import Recorded
from workup.task import RiskSystem


def test_answers_the_column_and_none_for_an_empty_cell() -> None:
    system = Recorded(name="triage", column="risk")
    risks = np.array([0.1 + 0.2, np.nan, 0.0, 1.0])
    assert system.predict({"risk": risks, "age": np.ones(4)}) == [0.1 + 0.2, None, 0.0, 1.0]
    assert system.recorded
    assert isinstance(system, RiskSystem)


def test_a_column_that_is_not_there_names_the_near_one() -> None:
    with pytest.raises(InputError, match=r"column 'rsk'.*did you mean 'risk'"):
        Recorded(name="triage", column="rsk").predict({"risk": np.array([0.1])})


def test_text_is_refused_without_being_repeated() -> None:
    with pytest.raises(InputError, match="must be numbers") as refused:
        Recorded(name="triage", column="risk").predict({"risk": np.array(["0,5", "Smith"], dtype=object)})
    assert "Smith" not in str(refused.value)


@pytest.mark.parametrize("wrong", [-0.001, 1.001, 37.0, np.inf, -np.inf])
def test_a_value_outside_names_its_row(wrong: float) -> None:
    with pytest.raises(InputError, match=r"row 3: .*1 of 4 values outside"):
        Recorded(name="triage", column="risk").predict({"risk": np.array([0.1, 0.2, wrong, np.nan])})


def test_is_built_from_a_study() -> None:
    context = {"name": "triage", "base": None}
    system = plugins.make("systems", "recorded", {"column": "p"}, where="systems.triage", context=context)
    assert (system.name, system.column) == ("triage", "p")
