"""The scripted model as a study names it: its cases from a file or a generator, its numbers from settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workup import plugins
from workup.errors import StudyError
from workup.study import Study
from workup.systems.chat.scripted import ScriptedModel
from workup.validate import validate

CASE = {
    "id": "a",
    "patient_summary": "",
    "critical_entities": ["penicillin allergy", "asthma"],
    "turns": [
        {"turn": 1, "message": "I am allergic to penicillin and have asthma."},
        {"turn": 2, "message": "What now?"},
    ],
}


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    lines = [{**CASE, "id": f"c{number}"} for number in range(3)]
    for number, line in enumerate(lines):
        line["turns"] = [{**turn, "message": f"{turn['message']} ({number})"} for turn in CASE["turns"]]  # type: ignore[attr-defined]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_it_reads_its_cases_and_changes_its_numbers(file: Path) -> None:
    model = ScriptedModel(name="script", base=file.parent, cases=file.name, behaviour="reversing", reversal=1.0)
    said = model.reply([{"role": "user", "content": "I am allergic to penicillin and have asthma. (1)"}])
    assert said.content == "The patient is not allergic to penicillin. The patient does not have asthma."
    assert "reversal" in model.model and "1.0" in model.model


@pytest.mark.parametrize("given", [{}, {"cases": "cases.jsonl", "generate": {"count": 2}}])
def test_it_needs_its_cases_from_one_place(file: Path, given: dict[str, object]) -> None:
    with pytest.raises(StudyError, match="needs the cases that it will meet"):
        ScriptedModel(name="script", base=file.parent, **given)  # type: ignore[arg-type]


def test_an_unknown_behaviour_answers_with_the_near_ones(file: Path) -> None:
    with pytest.raises(StudyError, match="did you mean 'perfect'"):
        ScriptedModel(name="script", base=file.parent, cases=file.name, behaviour="perfekt")


@pytest.mark.parametrize("use", ["scripted", "workup.systems.chat.scripted:ScriptedModel"])
def test_a_study_runs_it(file: Path, use: str) -> None:
    if ":" not in use and use not in plugins.registered("systems"):
        pytest.skip("the name 'scripted' is not registered in this installation")
    study = Study.of(
        {
            "name": "scripted",
            "task": "conversation",
            "corpus": {"path": file.name},
            "systems": [{"name": "script", "use": use, "with": {"cases": file.name, "behaviour": "perfect"}}],
            "conversation": {"arms": ["live", "oracle", "naive"]},
        },
        base=file.parent,
    )
    report = validate(study)
    assert report.estimate("recall", set="critical", arm="live").value == 1.0
    assert report.estimate("recall", set="critical", arm="naive").value == 0.0
    assert report.estimate("decay_gap", set="critical", arm="live").value == 0.0
