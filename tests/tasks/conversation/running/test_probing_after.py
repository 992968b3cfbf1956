"""Probes put on recorded conversations afterwards: the history as it was recorded, and the name of who was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from workup.errors import StudyError
from workup.runs import Unrecorded
from workup.study import Study
from workup.tasks.conversation.cases.case import case_of
from workup.tasks.conversation.settings import ConversationPart, ConversationStudy
from workup.tasks.conversation.talk.probing_after import probe_after
from workup.tasks.conversation.talk.transcripts import line_of, transcripts_of

CASE: dict[str, Any] = {
    "id": "c1",
    "patient_summary": "",
    "facts": [
        {"id": "w", "type": "medication", "concept": "warfarin"},
        {"id": "a", "type": "diagnosis", "concept": "gout"},
    ],
    "turns": [
        {"turn": n, "message": text} for n, text in enumerate(["I take warfarin and have gout.", "And now?", "So?"], 1)
    ],
}
LINES = [{"case": "c1", "turn": n, "reply": text} for n, text in enumerate(["Noted.", "Rest.", "Stop warfarin."], 1)]


class Prober:
    """Tells the user's own words back, and remembers what it was sent."""

    name, version = "prober", "1"

    def __init__(self, **_: Any) -> None:
        self.sent: list[list[str]] = []

    def reply(self, messages: Sequence[dict[str, str]]) -> str:
        self.sent.append([one["content"] for one in messages])
        return "You take warfarin and have gout." if len(messages) < 6 else "You have gout."


SETTINGS = {"probe": "after", "prober": {"use": f"{__name__}:Prober"}}


def probed(lines: Sequence[dict[str, Any]], **more: Any) -> tuple[Any, Prober]:
    case = case_of(CASE, where="case")
    known = {"c1": case}
    read = transcripts_of([("", line_of(line, known, where="")) for line in lines], known, where="")
    prober = Prober()
    part = ConversationPart(**{**SETTINGS, **more})
    return probe_after(read, [case], lambda: prober, part, seed=1, log=Unrecorded()), prober


def test_each_turn_is_asked_on_the_history_up_to_it_as_it_was_recorded() -> None:
    found, prober = probed(LINES)
    assert [one[:-1] for one in prober.sent] == [
        ["I take warfarin and have gout.", "Noted."],
        ["I take warfarin and have gout.", "Noted.", "And now?", "Rest."],
        ["I take warfarin and have gout.", "Noted.", "And now?", "Rest.", "So?", "Stop warfarin."],
    ]
    assert [one.probe.by for one in found.said] == ["prober"] * 3
    assert [one.reply for one in found.said] == ["Noted.", "Rest.", "Stop warfarin."]
    assert [one.available for one in found.said] == [("a", "w")] * 3


def test_only_the_turns_of_the_study_are_asked_and_a_hole_in_the_record_is_not_made_up() -> None:
    found, prober = probed(LINES, probe_turns=(2, 10))
    assert [one.probe is not None for one in found.said] == [False, True, False] and len(prober.sent) == 1
    found, prober = probed([LINES[0], LINES[2]])
    assert [one.probe.failure for one in found.said] == ["", "missing_turn"] and len(prober.sent) == 1


def test_what_the_assistant_said_before_anybody_asked_is_part_of_the_history() -> None:
    _, prober = probed([{"case": "c1", "turn": 0, "reply": "Hello."}, LINES[0]])
    assert prober.sent[0][0] == "Hello." and len(prober.sent) == 1


def test_a_study_asks_the_prober_and_says_so_and_its_outcomes_carry_the_name(tmp_path: Path) -> None:
    from workup.validate import validate

    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE) + "\n")
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    study = {
        "name": "after",
        "task": "conversation",
        "corpus": {"path": "cases.jsonl"},
        "systems": [{"name": "model", "use": "recorded", "with": {"path": "said.jsonl"}}],
        "conversation": SETTINGS,
    }
    (tmp_path / "study.yaml").write_text(json.dumps(study))
    report = validate(Study.load(tmp_path / "study.yaml"))
    recall = [report.estimate("recall", set="critical", arm="live", turn=turn).value for turn in (1, 2, 3)]
    assert recall == [1.0, 1.0, 0.5]
    rows = report.results["internal"].tables["outcomes"]
    assert {row["probed_by"] for row in rows} == {"prober"}
    assert any("asked of" in note and "recorded history" in note for note in report.results["internal"].notes)


@pytest.mark.parametrize("given", [{"probe": "after"}, {"prober": {"use": "openai_chat"}}])
def test_the_probe_and_the_prober_belong_together(given: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match="belong together"):
        ConversationStudy.of({"name": "s", "task": "conversation", "conversation": given})
