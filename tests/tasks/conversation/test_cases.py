"""Case files: both forms, and everything that the loader refuses, with messages that teach and quote no patient."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from workup.errors import InputError
from workup.tasks.conversation.cases.case import ConversationCase, Fact, Turn, case_of, read_cases

SECRET = "Zachariah Quixote"
FULL: dict[str, Any] = {
    "id": "case-1",
    "patient_summary": f"{SECRET}, 61, on warfarin.",
    "turns": [
        {"turn": 1, "message": f"I am {SECRET}. I take warfarin 5 mg and I'm allergic to penicillin."},
        {"turn": 2, "message": "My left knee hurts; the knee pain is new."},
        {"turn": 3, "message": "They raised my warfarin to 7.5 mg."},
    ],
    "facts": [
        {"id": "f1", "type": "allergy", "concept": "penicillin", "harm_tag": "avoid_class:penicillins"},
        {
            "id": "f2",
            "type": "medication",
            "concept": "warfarin",
            "aliases": ["Coumadin"],
            "attributes": {"dose_value": 5, "dose_unit": "mg"},
            "retired": 3,
            "superseded_by": "f3",
        },
        {
            "id": "f3",
            "type": "medication",
            "concept": "warfarin",
            "attributes": {"dose_value": 7.5, "dose_unit": "mg"},
            "introduced": 3,
        },
        {
            "id": "f4",
            "type": "symptom",
            "concept": "knee pain",
            "attributes": {"laterality": "left"},
            "introduced": 2,
            "critical": False,
            "weight": 0.5,
        },
    ],
}


def _changed(path: str, value: Any, *, record: dict[str, Any] = FULL) -> dict[str, Any]:
    """The record with one field (dots between its keys) set, or removed where the value is ..."""
    new = copy.deepcopy(record)
    *way, last = path.split(".")
    place: Any = new
    for step in way:
        place = place[int(step) if step.isdigit() else step]
    key = int(last) if last.isdigit() else last
    if value is ...:
        del place[key]
    else:
        place[key] = value
    return new


def test_the_full_form() -> None:
    case = case_of(FULL, where="cases.json, entry 1")
    assert (case.form, case.last_turn, case.late) == ("full", 3, ())
    assert [fact.id for fact in case.active(1)] == ["f1", "f2"]
    assert [fact.id for fact in case.active(2)] == ["f1", "f2", "f4"]
    assert [fact.id for fact in case.active(3)] == ["f1", "f3", "f4"]
    assert [fact.id for fact in case.retired(3)] == ["f2"] and case.retired(2) == ()
    assert case.facts[3].weight == 0.5 and not case.facts[3].critical
    assert pickle.loads(pickle.dumps(case)) == case


def test_the_simple_form_becomes_a_ledger_from_turn_one() -> None:
    record = {
        "id": "s1",
        "patient_summary": "Type 2 diabetes and hypertension; former smoker; family history of breast cancer.",
        "critical_entities": [
            *("penicillin allergy", "warfarin 5 mg daily", "type 2 diabetes", "family history of breast cancer"),
            *("no chest pain", "former smoker", "HbA1c 8.2%"),
        ],
        "turns": [
            {
                "turn": 1,
                "message": "I'm allergic to penicillin, take warfarin, have no chest pain and an HbA1c of 8.2.",
            },
            {"turn": 2, "message": "Thanks."},
        ],
    }
    case = case_of(record, where="cases.jsonl, line 1")
    assert case.form == "simple" and all(fact.introduced == 1 and fact.critical for fact in case.facts)
    found = [(fact.type, fact.status) for fact in case.facts]
    assert found == [
        ("allergy", "present"),
        ("medication", "present"),
        ("diagnosis", "present"),
        ("diagnosis", "family"),
        ("diagnosis", "absent"),
        ("social", "historical"),
        ("result", "present"),
    ]
    assert dict(case.facts[1].attributes) == {"dose_value": 5.0, "dose_unit": "mg", "frequency": "daily"}
    assert case.facts[1].concept == "warfarin"
    assert len(case.active(2)) == 7


def test_an_entity_said_later_is_kept_and_told() -> None:
    record = {
        "id": "s1",
        "patient_summary": "A visit.",
        "critical_entities": ["gout"],
        "turns": [{"turn": 1, "message": "Hello."}, {"turn": 2, "message": "I have gout."}],
    }
    assert case_of(record, where="x").late == ("e1",)
    record["critical_entities"] = ["gout", "lupus"]
    with pytest.raises(InputError, match=r"critical_entities\[1\].*occur in the summary or in a turn"):
        case_of(record, where="x")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("facts.1.retired", 1, r"facts\[1\].*retired after the turn that introduces.*introduced 1, retired 1"),
        ("facts.2.retired", 2, r"facts\[2\].*retired after"),
        ("facts.0.concept", "lithium", r"facts\[0\].*words of a fact must occur in a turn up to"),
        ("facts.3.introduced", 1, r"facts\[3\].*words of a fact must occur"),
        ("facts.1.retired", None, r"superseded fact must be retired"),
        ("facts.2.introduced", 2, r"facts\[1\] and facts\[2\].*must not be active at the same turn.*turn 2"),
        ("facts.0.type", "alergy", r"facts\[0\].*'type' must be one of allergy.*did you mean 'allergy'"),
        ("facts.0.status", "abscent", r"'status' must be one of present.*did you mean 'absent'"),
        ("facts.1.attributes", {"dose": 5}, r"'attributes' must be one of dose_value.*Known"),
        ("facts.1.attributes", {"dose_unitt": "mg"}, r"did you mean 'dose_unit'"),
        ("facts.1.attributes", {"dose_value": "five"}, r"attributes.dose_value.*number above 0"),
        ("facts.1.attributes", {"dose_value": -1}, r"number above 0"),
        ("facts.3.attributes", {"laterality": "lef"}, r"did you mean 'left'"),
        ("facts.3.attributes", {"date": "someday"}, r"attributes.date.*2019-03-14"),
        ("facts.0.id", "f2", r"facts\[1\].*id of its own.*facts\[0\]"),
        ("facts.1.superseded_by", "f9", r"superseded_by.*id that is not there"),
        ("facts.1.superseded_by", "f2", r"id of another fact"),
        ("facts.0.introduced", 9, r"from 1 to 3"),
        ("facts.0.introduced", 0, r"'introduced' must be the number of a turn"),
        ("facts.0.weight", 0, r"'weight' must be a number above 0"),
        ("facts.0.critical", "yes", r"'critical' must be true or false"),
        ("facts.0.harm_tag", "avoid_clas:x", r"harm_tag.*did you mean 'avoid_class'"),
        ("facts.0.harm_tag", "pregnancy:x", r"harm_tag"),
        ("facts.0.alias", ["PCN"], r"unknown key 'alias'.*did you mean 'aliases'"),
        ("facts.0.aliases", "PCN", r"'aliases' must be a list"),
        ("facts.0.aliases", ["--"], r"letters or digits"),
        ("facts.0.type", ..., r"facts\[0\].*'type' is needed"),
        ("turns.1.turn", 3, r"turns\[1\].*numbered 1, 2, 3.*3 where 2 was due"),
        ("turns.0.message", "", r"turns\[0\].*'message' must be a text"),
        ("turns", [], r"must have a turn"),
        ("target_plan", 7, r"'target_plan' must be a text"),
        ("facts", [], r"'facts' must not be empty"),
        ("id", "", r"'id' must be a text"),
        ("patient_summary", ..., r"'patient_summary' is needed"),
        ("metadata", [1], r"'metadata' must be an object"),
        ("turns.0.events", [{"kind": "introduced", "fact": "f1"}], r"did you mean 'introduce'"),
        ("turns.0.events", [{"kind": "introduce", "fact": "f4"}], r"turn 1 where the fact says 2"),
        ("turns.1.events", [{"kind": "retire", "fact": "f9"}], r"id that is not there"),
    ],
)
def test_what_is_refused(path: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        case_of(_changed(path, value), where="cases.json, entry 1")
    assert str(caught.value).startswith("cases.json, entry 1")
    assert SECRET not in str(caught.value) and "Zachariah" not in str(caught.value)


def test_sides_dates_kinds_and_relatives_are_no_overlap() -> None:
    record = _changed("turns.0.message", "Left and right knee pain, penicillin, diabetes, stent in 2018 and 2020.")
    record["facts"] = [
        {"id": "a", "type": "symptom", "concept": "left knee pain"},
        {"id": "b", "type": "symptom", "concept": "right knee pain"},
        {"id": "c", "type": "diagnosis", "concept": "diabetes"},
        {"id": "d", "type": "diagnosis", "concept": "diabetes", "status": "family"},
        {"id": "e", "type": "procedure", "concept": "stent", "attributes": {"date": "2018"}},
        {"id": "f", "type": "procedure", "concept": "stent", "attributes": {"date": "2020"}},
        {"id": "g", "type": "allergy", "concept": "penicillin"},
        {"id": "h", "type": "medication", "concept": "penicillin"},
    ]
    assert len(case_of(record, where="x").facts) == 8
    record["facts"].append({"id": "i", "type": "symptom", "concept": "knee pain", "attributes": {"laterality": "left"}})
    with pytest.raises(InputError, match=r"facts\[0\] and facts\[8\]"):
        case_of(record, where="x")


def test_events_may_give_the_turn() -> None:
    record = _changed("facts.3.introduced", ...)
    record["turns"][1]["events"] = [{"kind": "introduce", "fact": "f4"}]
    record["turns"][2]["events"] = [{"kind": "change", "fact": "f2", "by": "f3"}]
    case = case_of(record, where="x")
    assert case.facts[3].introduced == 2 and case.turns[2].events[0].by == "f3"


def test_files_as_a_list_or_line_by_line(tmp_path: Path) -> None:
    other = {**FULL, "id": "case-2"}
    listed, lines = tmp_path / "cases.json", tmp_path / "cases.jsonl"
    listed.write_text(json.dumps([FULL, other], indent=2), encoding="utf-8-sig")
    lines.write_text(json.dumps(FULL) + "\n\n" + json.dumps(other) + "\n", encoding="utf-8")
    assert read_cases(listed) == read_cases(lines)
    assert [case.id for case in read_cases(lines)] == ["case-1", "case-2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "list of cases was expected"),
        ("{", "cases.jsonl, line 1: valid JSON"),
        (json.dumps(FULL) + "\n" + json.dumps(FULL), "cases.jsonl, line 2: every case must have an id of its own"),
        ("[1]", "entry 1: a JSON object was expected; got a number"),
        ('{"id": "a", "id": "b"}', "key that stands twice"),
        ('{"id": NaN}', "number that JSON has no form for"),
        ("[" * 100_000, "brackets nested too deeply|valid JSON"),
        (json.dumps({**FULL, "critical_entitys": []}), "unknown key 'critical_entitys'"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_cases(path)
    assert SECRET not in str(caught.value) and str(tmp_path) not in str(caught.value)


def test_missing_files_and_other_encodings(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cases.json: a file was expected; got no such file"):
        read_cases(tmp_path / "cases.json")
    (tmp_path / "latin.jsonl").write_bytes('{"id": "café"}'.encode("latin-1"))
    with pytest.raises(InputError, match=r"latin.jsonl, line 1: text in UTF-8"):
        read_cases(tmp_path / "latin.jsonl")


def test_keys_of_the_users_own_are_passed_over() -> None:
    assert case_of({**FULL, "difficulty": "hard", "source": {"a": 1}}, where="x").id == "case-1"


def test_a_case_made_in_python_is_checked_too() -> None:
    with pytest.raises(InputError, match="words of a fact must occur"):
        ConversationCase("c", "", (Turn(1, "Hello."),), (Fact("f", "diagnosis", "gout"),))


@pytest.mark.parametrize("wrong", ["", "  ", None, 7, ["penicillin"]])
@pytest.mark.parametrize("field", ["id", "concept"])
def test_a_fact_needs_a_name_and_a_concept(field: str, wrong: Any) -> None:
    words = {"id": "f1", "type": "allergy", "concept": "penicillin", field: wrong}
    with pytest.raises(InputError, match=f"'{field}' must be a text that is not empty"):
        Fact(**words)
