"""Conversations of other programs score as the hand-made transcript does, byte for byte; what is broken is placed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workup.errors import InputError
from workup.score import score_conversation
from workup.study import Study
from workup.tasks.conversation.cases.case import read_cases
from workup.tasks.conversation.scores.scoring import as_scores
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.tables import outcome_rows
from workup.tasks.conversation.talk.imported import imported_lines, read_imported
from workup.tasks.conversation.talk.transcripts import read_transcripts

FIXTURES = Path(__file__).parents[3] / "fixtures" / "imports"
CASES = FIXTURES / "cases.jsonl"
LINES = [json.loads(line) for line in (FIXTURES / "transcript.jsonl").read_text().splitlines()]


def _messages(lines: list[dict[str, Any]], *, parts: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"role": "system", "content": "You are a doctor. The patient takes heparin."}]
    for line in lines:
        found.append({"role": "user", "content": line["message"]})
        for number, call in enumerate(line.get("tools", [])):
            made = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
            found.append({"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "function": made}]})
            found.append({"role": "tool", "tool_call_id": f"c{number}", "content": call["result"]})
        said: Any = line["reply"]
        if parts:
            said = [{"type": "reasoning", "text": "warfarin 50 mg"}, {"type": "text", "text": said}]
        found.append({"role": "assistant", "content": said, "finish_reason": line["finish_reason"]})
    return found


def _dialogues() -> dict[tuple[str, int], list[dict[str, Any]]]:
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for line in LINES:
        found.setdefault((line["case"], line["replicate"]), []).append(line)
    return found


def _openai(folder: Path) -> Path:
    file = folder / "chats.jsonl"
    rows = [
        {"messages": _messages(lines, parts=bool(replicate)), "id": case, "metadata": {"replicate": replicate}}
        for (case, replicate), lines in _dialogues().items()
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def _batch(folder: Path) -> Path:
    file = folder / "batch.jsonl"
    rows = []
    for line in LINES:
        message: dict[str, Any] = {"role": "assistant", "content": line["reply"]}
        body = {"choices": [{"index": 0, "message": message, "finish_reason": line["finish_reason"]}]}
        id = f"{line['case']}/{line['turn']}/{line['replicate']}"
        rows.append({"custom_id": id, "response": {"status_code": 200, "body": body}, "error": None})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def _sharegpt(folder: Path) -> Path:
    file = folder / "shared.json"
    rows = []
    for (case, _), lines in _dialogues().items():
        said: list[dict[str, Any]] = [{"from": "system", "value": "You are a doctor."}]
        for line in lines:
            said.append({"from": "patient", "value": line["message"]})
            for call in line.get("tools", []):
                made = json.dumps({"name": call["name"], "arguments": call["arguments"]})
                said.append({"from": "function_call", "value": made})
                said.append({"from": "observation", "value": call["result"]})
            said.append({"from": "gpt", "value": line["reply"], "finish_reason": line["finish_reason"]})
        rows.append({"id": case, "conversations": said})
    file.write_text(json.dumps(rows, indent=1))
    return file


def _source(name: str, folder: Path) -> tuple[Path, str]:
    makers = {"openai": _openai, "batch": _batch, "sharegpt": _sharegpt}
    if name in makers:
        return makers[name](folder), {"batch": "openai"}.get(name, name)
    if name == "zstandard.eval":
        pytest.importorskip("zstandard")
    return FIXTURES / name, "transcripts" if name == "transcript.jsonl" else "inspect"


SOURCES = (
    *("whole.eval", "pieces.eval", "zstandard.eval", "log.json", "transcript.jsonl"),
    *("openai", "batch", "sharegpt"),
)


@pytest.mark.parametrize("name", SOURCES)
def test_the_outcomes_are_those_of_the_hand_made_transcript_byte_for_byte(name: str, tmp_path: Path) -> None:
    cases = read_cases(CASES)
    source, format = _source(name, tmp_path)
    read = read_imported(source, format, cases, roles={"patient": "user"})
    made = read_transcripts(FIXTURES / "transcript.jsonl", cases)
    # Counts of tokens come along from a log, and the hand-made transcript has none.
    bare = replace(read, said=tuple(one._replace(usage={}) for one in read.said))
    if name == "batch":  # which gives back replies alone
        made = replace(made, said=tuple(one._replace(tools=()) for one in made.said))
    assert _outcomes(bare) == _outcomes(made)
    assert [one.finish for one in read.said] == [one.finish for one in made.said]
    assert [one.tools for one in read.said] == [one.tools for one in made.said]


def _outcomes(transcripts: Any) -> str:
    from workup.tasks.conversation.cases.corpus import corpus_of
    from workup.tasks.conversation.scores.held import Readers

    corpus = corpus_of(read_cases(CASES), name="", version="", source="", seed=None, recorded=None)
    scores = as_scores(corpus, transcripts, ConversationPart(), Readers())
    rows = list(outcome_rows(scores, sentences=True))
    assert {"correct", "reversed", "stale"} <= {row["outcome"] for row in rows}
    return json.dumps([rows, {name: list(column) for name, column in scores.values.items()}])


def test_a_study_reads_another_programs_log_by_its_format(tmp_path: Path) -> None:
    from workup.validate import validate

    for name in ("cases.jsonl", "whole.eval", "transcript.jsonl"):
        (tmp_path / name).write_bytes((FIXTURES / name).read_bytes())
    found = []
    for given in ({"path": "whole.eval", "format": "inspect"}, {"path": "transcript.jsonl"}):
        study = {
            "name": "imports",
            "task": "conversation",
            "corpus": {"path": "cases.jsonl"},
            "systems": [{"name": "model", "use": "recorded", "with": given}],
        }
        (tmp_path / "study.yaml").write_text(json.dumps(study))
        report = validate(Study.load(tmp_path / "study.yaml"))
        found.append([repr(one) for one in report.results["internal"].estimates if "tokens" not in one.metric])
    assert found[0] == found[1]


def test_messages_in_a_row_are_one_and_an_opening_by_the_assistant_is_no_turn(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    said = [
        {"role": "assistant", "content": "Hello, how can I help?"},
        *({"role": "user", "content": part} for part in ("I have asthma", "and I use salbutamol.")),
        *({"role": "assistant", "content": part} for part in ("You have asthma.", "You use salbutamol.")),
        {"role": "user", "content": "The cough is worse at night."},
    ]
    file.write_text(json.dumps({"messages": said, "id": "cough"}))
    cases = read_cases(CASES)
    lines = [line for _, line in imported_lines(file, "openai", cases=cases)]
    assert [(line["turn"], line["reply"]) for line in lines] == [
        (0, "Hello, how can I help?"),
        (1, "You have asthma.\n\nYou use salbutamol."),
        (2, None),
    ]
    read = read_imported(file, "openai", cases)
    assert [(one.turn, one.failure) for one in read.said] == [(0, ""), (1, ""), (2, "no_reply")]
    assert [one.turn for one in read.missing if one.case == "cough"] == [3]


def test_a_dialogue_without_an_id_is_known_by_its_first_words_alone(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    said = [{"from": "human", "value": "I have asthma  and I use salbutamol."}, {"from": "gpt", "value": "Yes."}]
    file.write_text(json.dumps({"conversations": said}) + "\n" + json.dumps({"conversations": said}))
    lines = [line for _, line in imported_lines(file, "sharegpt", cases=read_cases(CASES))]
    assert [(line["case"], line["replicate"]) for line in lines] == [("cough", 0), ("cough", 1)]
    file.write_text(json.dumps({"conversations": [{"from": "human", "value": "Hello."}]}))
    with pytest.raises(InputError, match=r"one\.jsonl, line 1: the id of one of the cases"):
        list(imported_lines(file, "sharegpt", cases=read_cases(CASES)))


def test_a_dialogue_held_from_other_words_than_its_case_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    said = [{"role": "user", "content": "I have gout."}, {"role": "assistant", "content": "You have gout."}]
    file.write_text(json.dumps({"messages": said, "id": "cough"}))
    with pytest.raises(InputError) as error:
        list(imported_lines(file, "openai", cases=read_cases(CASES)))
    assert "other words at turn 1" in str(error.value) and "gout" not in str(error.value)


def test_replies_of_a_batch_that_failed_are_failures_and_several_choices_are_replicates(tmp_path: Path) -> None:
    file = tmp_path / "batch.jsonl"
    choices = [{"message": {"content": text}, "finish_reason": "stop"} for text in ("One.", "Two.")]
    refusal = {"message": {"content": None, "refusal": "I cannot help."}, "finish_reason": "stop"}
    rows = [
        {"custom_id": "cough/1", "response": {"status_code": 200, "body": {"choices": choices}}},
        {"custom_id": "knee/1", "response": {"status_code": 500, "body": {}}},
        {"custom_id": "knee/2", "response": None, "error": {"code": "expired", "message": "secret"}},
        {"custom_id": "knee/3", "response": {"body": {"choices": [refusal]}}},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = read_imported(file, "openai", read_cases(CASES))
    found = [(one.case, one.turn, one.replicate, one.reply, one.failure, one.finish) for one in read.said]
    assert found == [
        ("knee", 1, 0, None, "http_500", ""),
        ("knee", 2, 0, None, "batch_error", ""),
        ("knee", 3, 0, "I cannot help.", "", "content_filter"),
        ("cough", 1, 0, "One.", "", "stop"),
        ("cough", 1, 1, "Two.", "", "stop"),
    ]
    file.write_text(json.dumps({"custom_id": "cough", "response": {"body": {"choices": choices[:1]}}}))
    with pytest.raises(InputError, match=r"batch\.jsonl, line 1: 'custom_id' must name the case and the turn"):
        read_imported(file, "openai", read_cases(CASES))


SECRET = "Zyxwort"  # stands for what a patient said
BROKEN = [
    ("openai", '{"messages": [', "line 2: valid JSON"),
    ("openai", f'{{"a": "{SECRET}", "a": 1}}', "line 2: valid JSON was expected; got a key that stands twice"),
    ("openai", f'["{SECRET}"]', "line 2: a JSON object was expected"),
    ("openai", f'{{"text": "{SECRET}"}}', "line 2: 'messages' is needed"),
    ("openai", '{"messages": 7, "id": "knee"}', "line 2: 'messages' must be a list"),
    ("openai", f'{{"messages": ["{SECRET}"], "id": "knee"}}', "line 2: a message must be an object"),
    ("openai", f'{{"messages": [{{"role": "{SECRET}"}}], "id": "knee"}}', "line 2: 'role' must be one of"),
    ("openai", '{"messages": [{"role": "user", "content": 7}], "id": "knee"}', "line 2: the content of a message"),
    ("openai", '{"messages": [], "id": "knee", "metadata": {"replicate": -1}}', "line 2: 'replicate' must be"),
    ("openai", f'{{"messages": [], "id": "{SECRET}"}}', "line 2: the id of one of the cases"),
    ("sharegpt", f'{{"id": "knee", "conversations": [{{"from": "{SECRET}"}}]}}', "line 2: 'from' must be a name"),
    ("sharegpt", '{"id": "knee", "conversations": {}}', "line 2: 'conversations' must be a list"),
    ("sharegpt", '{"id": [], "conversations": []}', "line 2: the id of a case must be a text"),
    ("transcripts", '{"case": "knee", "turn": 9, "reply": ""}', "line 2: 'turn' must be one of the 3"),
    ("transcripts", '{"case": "knee", "turn": 1, "reply": "", "tools": {}}', "line 2: 'tools' must be a list"),
    ("transcripts", '{"case": "knee", "turn": 1, "reply": "", "finish_reason": "A b"}', "line 2: 'finish_reason' must"),
]


@pytest.mark.parametrize(("format", "line", "expected"), BROKEN)
def test_a_broken_line_is_named_by_file_and_line_and_never_by_its_text(
    format: str, line: str, expected: str, tmp_path: Path
) -> None:
    good = {
        "openai": '{"messages": [{"role": "user", "content": "I have asthma and I use salbutamol."}], "id": "cough"}',
        "sharegpt": '{"id": "cough", "conversations": []}',
        "transcripts": '{"case": "cough", "turn": 1, "reply": ""}',
    }[format]
    file = tmp_path / "said.jsonl"
    file.write_text(f"{good}\n{line}\n")
    with pytest.raises(InputError) as error:
        list(imported_lines(file, format, cases=read_cases(CASES)))
    assert f"said.jsonl, {expected}" in str(error.value)
    assert SECRET not in str(error.value)


def test_an_unknown_side_can_be_mapped_to_a_known_one_only(tmp_path: Path) -> None:
    file = _sharegpt(tmp_path)
    with pytest.raises(InputError, match="entry 1: 'from' must be"):
        list(imported_lines(file, "sharegpt"))
    with pytest.raises(InputError, match="mapped to one of user"):
        list(imported_lines(file, "sharegpt", roles={"patient": "usr"}))
    assert len(list(imported_lines(file, "sharegpt", roles={"patient": "user"}))) == len(LINES)


def test_scoring_what_was_imported_gives_the_record_of_the_hand_made_one(tmp_path: Path) -> None:
    said = tmp_path / "said.jsonl"
    read = [line for _, line in imported_lines(FIXTURES / "whole.eval", "inspect")]
    plain = [{key: value for key, value in line.items() if key != "usage"} for line in read]
    said.write_text("".join(json.dumps(line) + "\n" for line in plain))
    records = []
    for file in (said, FIXTURES / "transcript.jsonl"):
        record = json.loads(score_conversation(CASES, file, replicates=200).to_json())
        records.append({key: record[key] for key in ("results", "tables", "verdicts") if key in record})
    assert records[0] == records[1] and records[0]["results"]
