"""Generated conversations: same bytes everywhere, loaded without a fault, and perfect to a perfect summary."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.ledger_sentences import faults_of
from tests.support.shell import call
from workup.corpora.generate.conversation import generate
from workup.corpora.generate.conversation.settings import FEWEST_TURNS, MOST_TURNS
from workup.corpora.generate.conversation.sources import families, specialties, table
from workup.errors import InputError
from workup.lexicon import Extractor
from workup.tasks.conversation.cases.case import ConversationCase, case_of, read_cases
from workup.tasks.conversation.cases.facts import STATUSES, TYPES
from workup.tasks.conversation.read.facts import Matcher
from workup.tasks.conversation.read.sentence.vocabulary import data_file

COUNT = 500
# The bytes of 40 cases of seed 42; another value means another version of the generator.
PINNED = "97c850659d723f4dfefbbd7d88bb9b17b6c8742d340e02d834bbd9fbaac31804"


def loaded(**settings: Any) -> list[ConversationCase]:
    """Generated cases, through the loader."""
    return [case_of(record, where=record["id"]) for record in generate(**settings).cases()]


@pytest.fixture(scope="module")
def cases() -> list[ConversationCase]:
    """500 cases of one seed."""
    return loaded(count=COUNT, seed=42)


def test_a_perfect_summary_of_every_case_is_perfect_at_every_turn(cases: list[ConversationCase]) -> None:
    assert [fault for case in cases for fault in faults_of(case)] == []


@pytest.mark.parametrize("turns", [FEWEST_TURNS, 9, 31, MOST_TURNS])
def test_any_length_can_be_asked_for(turns: int) -> None:
    for case in loaded(count=25, seed=3, turns=turns):
        assert case.last_turn == turns and faults_of(case) == []
        assert any(fact.type == "allergy" for fact in case.facts)


def test_each_fact_is_told_as_it_is_in_the_turn_that_introduces_it(cases: list[ConversationCase]) -> None:
    """The ceiling: a model that repeats the sentences of the patient has everything right."""
    for case in cases[:200]:
        matcher = Matcher(case.facts)
        for place, fact in enumerate(case.facts):
            judged = matcher.judge(case.turns[fact.introduced - 1].message)[place]
            assert judged.outcome == "correct" and not judged.fuzzy, (case.id, fact.id, judged)


def test_plan_and_summary_agree_with_the_ledger_at_the_end(cases: list[ConversationCase]) -> None:
    for case in cases[:200]:
        matcher = Matcher(case.facts)
        for text in (case.target_plan, case.patient_summary):
            told = {judged.outcome for judged in matcher.judge(text, turn=case.last_turn)}
            assert told <= {"correct", "omitted", "retired_ok"}, case.id


def test_facts_are_of_every_kind_and_change(cases: list[ConversationCase]) -> None:
    facts = [fact for case in cases for fact in case.facts]
    assert {fact.type for fact in facts} == set(TYPES) and {fact.status for fact in facts} == set(STATUSES)
    assert {fact.critical for fact in facts} == {True, False} and len({fact.weight for fact in facts}) >= 4
    assert {key for fact in facts for key in fact.attributes} == {
        *("dose_value", "dose_unit", "frequency", "route", "laterality", "date")
    }
    assert sum(any(fact.superseded_by for fact in case.facts) for case in cases) > 0.7 * COUNT
    assert sum(any(fact.retired and not fact.superseded_by for fact in case.facts) for case in cases) > 0.9 * COUNT
    kinds = Counter((fact.harm_tag or "none").partition(":")[0] for fact in facts)
    assert min(kinds[kind] for kind in ("avoid_class", "avoid_drug", "avoid_with", "pregnancy", "none")) >= 15
    known = yaml.safe_load(data_file("advice_classes"))
    assert {tag[12:] for fact in facts if (tag := fact.harm_tag or "").startswith("avoid_class:")} <= set(known)
    assert all(len({fact.introduced for fact in case.facts}) >= 6 for case in cases)
    # Nothing is left to be learned in the turn that asks for a summary.
    assert all(max(fact.introduced for fact in case.facts) < case.last_turn for case in cases)


def test_nobody_takes_at_the_end_what_they_must_not(cases: list[ConversationCase]) -> None:
    known = yaml.safe_load(data_file("advice_classes"))
    for case in cases:
        held = case.active(case.last_turn)
        drugs = {fact.concept for fact in held if (fact.type, fact.status) == ("medication", "present")}
        for fact in held:
            kind, _, what = (fact.harm_tag or "").partition(":")
            members = set(known.get("teratogens" if kind == "pregnancy" else what, {}).get("members", ())) | {what}
            assert kind == "" or drugs.isdisjoint(members), (case.id, fact.id)
        allergies = {fact.concept for fact in held if (fact.type, fact.status) == ("allergy", "present")}
        assert drugs.isdisjoint(allergies), case.id


def test_openings_and_mixes_vary(cases: list[ConversationCase]) -> None:
    assert len({case.turns[0].message for case in cases}) > 0.95 * COUNT
    assert len({tuple(fact.concept for fact in case.facts) for case in cases}) > 0.95 * COUNT
    assert {case.metadata["template"] for case in cases} == set(families())
    assert {case.metadata["specialty"] for case in cases} == set(specialties())
    assert sum(case.metadata["specialty"] == "mental_health" for case in cases) > 0.1 * COUNT


def test_a_person_is_the_same_person_each_time(cases: list[ConversationCase]) -> None:
    seen: dict[str, set[tuple[Any, ...]]] = {}
    for case in cases:
        about = case.metadata
        fixed = (about["site"], about["speaker"], *(about["groups"][name] for name in ("sex", "age", "language")))
        seen.setdefault(about["persona"], set()).add(fixed)
    assert all(len(fixed) == 1 for fixed in seen.values())
    times = Counter(case.metadata["persona"] for case in cases)
    assert set(times.values()) == {1, 2, 3, 4} and len(seen) > COUNT / 3


def test_sites_groups_and_months_differ_as_they_were_planted(cases: list[ConversationCase]) -> None:
    sites = Counter(case.metadata["site"] for case in cases)
    assert len(sites) == 4 and min(sites.values()) > 0.05 * COUNT
    lengths = {site: [case.last_turn for case in cases if case.metadata["site"] == site] for site in sites}
    assert max(lengths["harbour"]) < 15 and min(lengths["riverside"]) >= 14
    limited = Counter(case.metadata["site"] for case in cases if case.metadata["groups"]["language"] == "limited")
    assert limited["harbour"] / sites["harbour"] > limited["hillside"] / sites["hillside"] + 0.1
    late = [case for case in cases if case.metadata["time"] >= "2024-09-01"]
    early = [case for case in cases if case.metadata["time"] < "2024-09-01"]
    several = [sum(c.metadata["groups"]["changes"] == "several" for c in part) / len(part) for part in (early, late)]
    assert several[1] > several[0] + 0.1
    days = {datetime.date.fromisoformat(case.metadata["time"]) for case in cases}
    assert {day.month for day in days} == set(range(1, 13)) and {day.year for day in days} == {2024}


def test_children_are_spoken_for_and_only_women_are_pregnant(cases: list[ConversationCase]) -> None:
    for case in cases:
        groups, speaker = case.metadata["groups"], case.metadata["speaker"]
        assert (groups["age"] == "0-17") == (speaker in ("mother", "father"))
        assert speaker == "patient" or "'m writing" in case.turns[0].message
        assert case.metadata["template"] not in ("pregnancy", "breast_cancer") or groups["sex"] == "female"


def test_small_talk_names_nothing_clinical() -> None:
    talk = table("small_talk")
    lines = [*talk["fluent"], *talk["limited"]]
    lines += [
        line for part in ("openings", "questions", "closings") for listed in talk[part].values() for line in listed
    ]
    extractor = Extractor.load(categories=["disease", "drug", "procedure", "lab"])
    assert [line for line in lines if extractor.extract(line)] == []


def test_the_same_seed_gives_the_same_bytes_in_any_world(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from workup.corpora.generate.conversation import generate;"
        "generate(40, seed=42).write(Path(sys.argv[1]))"
    )
    digests = set()
    worlds = ({"LC_ALL": "C", "TZ": "Pacific/Apia"}, {"LC_ALL": "tr_TR.UTF-8", "TZ": "America/Adak"})
    for number, world in enumerate(worlds):
        out = tmp_path / f"{number}.jsonl"
        environment = {**os.environ, "PYTHONHASHSEED": str(number + 1), "PYTHONUTF8": "0", **world}
        subprocess.run([sys.executable, "-c", code, str(out)], env=environment, check=True)
        digests.add(hashlib.sha256(out.read_bytes()).hexdigest())
    assert digests == {PINNED}


def test_a_case_depends_on_its_number_alone() -> None:
    few, many = generate(8, seed=5), generate(300, seed=5)
    assert [few.case(number) for number in range(8)] == [many.case(number) for number in (0, 1, 2, 3, 4, 5, 6, 7)]
    assert [case["id"] for case in generate(3, seed=6).cases()] != [case["id"] for case in generate(3, seed=5).cases()]
    assert {turn["message"] for turn in few.case(0)["turns"]} != {
        turn["message"] for turn in generate(8, seed=6).case(0)["turns"]
    }


def test_specialties_and_time_can_be_chosen() -> None:
    made = list(generate(30, seed=1, specialties=["obstetrics"], start="2019-11-15", months=3).cases())
    assert {case["metadata"]["specialty"] for case in made} == {"obstetrics"}
    times = [case["metadata"]["time"] for case in made]
    assert min(times) >= "2019-11-15" and max(times) <= "2020-01-31"
    dates = [fact["attributes"]["date"] for case in made for fact in case["facts"] if "date" in fact["attributes"]]
    assert dates and max(dates) < "2020"


def test_a_file_is_written_whole_and_never_over_another(tmp_path: Path) -> None:
    out = tmp_path / "cases.jsonl"
    told: list[tuple[str, int, int]] = []
    assert generate(5, seed=2).write(out, watch=lambda *args: told.append(args)) == (out,)
    assert told[-1] == ("conversations", 5, 5) and len(read_cases(out)) == 5
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert records == list(generate(5, seed=2).cases())
    with pytest.raises(InputError, match="would be lost"):
        generate(5, seed=2).write(out)
    for wrong in (tmp_path / "cases.csv", tmp_path / "nowhere" / "cases.jsonl"):
        with pytest.raises(InputError, match="jsonl"):
            generate(1).write(wrong)
    assert [path.name for path in tmp_path.iterdir()] == ["cases.jsonl"]


def test_the_command_line_makes_the_same_file(tmp_path: Path) -> None:
    out = tmp_path / "cases.jsonl"
    words = ("--kind", "workup.corpora.generate.conversation:generate", "--count", "6", "--seed", "9")
    done = call("corpus", "generate", *words, "--specialties", "mental_health,cardiology", "-o", out)
    assert done.code == 0 and str(out) in done.err, done.err
    asked = generate(6, seed=9, specialties=["mental_health", "cardiology"])
    assert [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] == list(asked.cases())
    again = call("corpus", "generate", *words, "-o", out)
    assert again.code == 2 and "would be lost" in again.err


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"count": 0}, "count"),
        ({"count": True}, "count"),
        ({"count": 5, "seed": -1}, "seed"),
        ({"count": 5, "turns": 5}, "turns"),
        ({"count": 5, "turns": 61}, "turns"),
        ({"count": 5, "months": 0}, "months"),
        ({"count": 5, "specialties": ["cardiologie"]}, "cardiology"),
        ({"count": 5, "specialties": "cardiology"}, "list"),
        ({"count": 5, "start": "next week"}, "2024-01-01"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        generate(**settings)
