"""Recorded answers: a column comes back as it is, a file is named, and what is not a risk is refused with its row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workup import plugins
from workup.errors import InputError, StudyError, SystemFailure
from workup.systems.any.recorded import Recorded
from workup.task import RiskSystem, SpanSystem


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
    with pytest.raises(InputError, match="must be a number in every row") as refused:
        Recorded(name="triage", column="risk").predict({"risk": np.array(["0,5", "Smith"], dtype=object)})
    assert "Smith" not in str(refused.value)


@pytest.mark.parametrize("wrong", [-0.001, 1.001, 37.0, np.inf, -np.inf])
def test_a_value_outside_names_its_row(wrong: float) -> None:
    with pytest.raises(InputError, match=r"outside in 1 of 4 rows, the first is row 3"):
        Recorded(name="triage", column="risk").predict({"risk": np.array([0.1, 0.2, wrong, np.nan])})


def test_is_built_from_a_study() -> None:
    context = {"name": "triage", "base": None}
    system = plugins.make("systems", "recorded", {"column": "p"}, where="systems.triage", context=context)
    assert (system.name, system.column) == ("triage", "p")


LINE = '{"id": "a", "spans": [{"start": 0, "end": 4, "label": "NAME"}]}\n'


def test_names_the_file_of_predictions(tmp_path: Path) -> None:
    (tmp_path / "found.jsonl").write_text(LINE)
    settings = {"path": "found.jsonl", "offsets": "utf16", "mapping": "presidio", "emits": ["PERSON"]}
    context = {"name": "theirs", "base": tmp_path}
    system = plugins.make("systems", "recorded", settings, where="systems.theirs", context=context)
    assert system.predictions() == tmp_path / "found.jsonl"
    assert (system.recorded, system.offsets, system.mapping, system.emits) == (True, "utf16", "presidio", ("PERSON",))
    assert isinstance(system, SpanSystem)
    assert [id for id, _ in plugins.find("formats", "predictions")(system.predictions())] == ["a"]
    version = system.version
    (tmp_path / "found.jsonl").write_text(LINE.replace("NAME", "DATE"))
    other = Recorded(name="theirs", base=tmp_path, path="found.jsonl")
    assert version.startswith("recorded sha256:") and other.version != version


def test_a_column_or_a_file_and_not_both(tmp_path: Path) -> None:
    for settings, got in (({}, "neither"), ({"column": "risk", "path": "found.jsonl"}, "both")):
        with pytest.raises(StudyError, match=f"'column' .*or 'path' .*; got {got}"):
            Recorded(name="triage", base=tmp_path, **settings)
    (tmp_path / "found.jsonl").write_text(LINE)
    spans, risks = Recorded(name="a", path=tmp_path / "found.jsonl"), Recorded(name="b", column="risk")
    with pytest.raises(StudyError, match="give 'column' in the place of 'path'"):
        spans.predict({"risk": np.array([0.1])})
    with pytest.raises(StudyError, match="give 'path' in the place of 'column'"):
        risks.predictions()
    with pytest.raises(SystemFailure, match="read by the ids of documents"):
        spans.detect(["Rose Berg"])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"file 'absent.jsonl': 'path' must be a file.*No such file"):
        Recorded(name="theirs", base=tmp_path, path="absent.jsonl")
    with pytest.raises(InputError, match="'path' must be a file"):
        Recorded(name="theirs", base=tmp_path, path=".")
