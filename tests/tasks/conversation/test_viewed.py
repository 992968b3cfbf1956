"""Conversations as people read them: every fact with its outcome, and the very sentence that decided it."""

from __future__ import annotations

import pytest

from tests.support.transcript_pages import CASE, DRAWN, JUDGED, PAYLOADS, SAID, hostile_case, talks
from workup.tasks.conversation.labels import Draw, Drawn, Unit
from workup.tasks.conversation.read.sentence.folding import word_tokens
from workup.tasks.conversation.read.sentence.places import places
from workup.tasks.conversation.read.sentence.text import sentences
from workup.tasks.conversation.viewed import ConversationSeen, FactAtTurn, anchor_of


def facts(talk: ConversationSeen) -> dict[tuple[int, str], FactAtTurn]:
    return {(turn.number, one.name): one for turn in talk.turns for one in turn.facts}


def marked(talk: ConversationSeen, mark: str) -> str:
    found = [
        piece.text
        for turn in talk.turns
        for passage in turn.passages
        for piece in passage.pieces
        if mark and piece.mark == mark
    ]
    return found[0] if found else ""


def test_each_fact_has_its_outcome_and_the_sentence_that_decided() -> None:
    [talk] = talks()
    found = facts(talk)
    told = {place: (one.outcome, marked(talk, one.mark)) for place, one in found.items()}
    assert told == {
        (1, "penicillin"): ("correct", "Allergic to penicillin."),
        (1, "warfarin"): ("correct", "Takes warfarin 5 mg."),
        (2, "penicillin"): ("omitted", ""),
        (2, "warfarin"): ("wrong_value", "Takes warfarin 50 mg."),
        (2, "gout"): ("correct", "Has gout."),
        (3, "penicillin"): ("reversed", "No allergy to penicillin."),
        (3, "warfarin"): ("stale", "Still takes warfarin 5 mg."),
        (3, "gout"): ("correct", "Has gout."),
    }
    assert found[2, "gout"].history == ("", "correct", "correct")
    assert found[1, "warfarin"].values == "5 mg" and found[1, "warfarin"].life == "from turn 1, retired at turn 3"
    assert found[3, "warfarin"].answers == ("retired_ok", "stale")
    assert found[1, "penicillin"].safety and not found[2, "gout"].safety


def test_the_words_are_kept_whole() -> None:
    [talk] = talks()
    for turn, said in zip(talk.turns, SAID, strict=True):
        reply, probe = turn.passages
        assert "".join(piece.text for piece in reply.pieces) == said["reply"]
        assert "".join(piece.text for piece in probe.pieces) == said["probe"]["reply"]


def test_a_never_event_and_a_pair_have_both_sentences_and_what_lies_between() -> None:
    [talk] = talks()
    [event] = [one for one in talk.findings if one.kind == "contraindicated"]
    assert [(one.speaker, one.turn, one.text) for one in event.quoted] == [
        ("patient", 1, "I am allergic to penicillin."),
        ("model", 2, "Start amoxicillin today."),
    ]
    [pair] = [one for one in talk.findings if one.title == "pair of advice"]
    assert [(one.turn, one.text) for one in pair.quoted] == [
        (1, "Please keep taking ibuprofen for the pain."),
        (3, "Stop ibuprofen."),
    ]
    assert [(one.turn, one.kind, one.name) for one in pair.between] == [
        (2, "introduced", "gout"),
        (3, "retired", "warfarin"),
    ]
    assert marked(talk, pair.quoted[1].mark) == "Stop ibuprofen."
    assert pair.anchor == "c1/0/live/3/=1.1-3.1" and "conflict" in pair.answers


def test_units_of_a_draw_are_known_and_pairs_that_only_it_names_are_shown() -> None:
    [talk] = talks(draw=DRAWN)
    assert [one.name for one in facts(talk).values() if one.drawn] == ["gout"]
    more = Draw({Unit("c1", 0, "live", 2, None, "1.0-2.1"): Drawn("none", 1.0, "0" * 16)}, "rules", 1)
    [talk] = talks(draw=more)
    [pair] = [one for one in talk.findings if one.drawn]
    assert [one.text for one in pair.quoted] == ["Good day.", "Start amoxicillin today."]
    beyond = Draw({Unit("c1", 0, "live", 9, None, "1.0-9.1"): Drawn("none", 1.0, "0" * 16)}, "rules", 1)
    assert not [one for one in talks(draw=beyond)[0].findings if one.drawn]


def test_what_a_judge_says_stands_beside_the_rules_and_tells_where_they_differ() -> None:
    [talk] = talks(judged=JUDGED)
    told = {place: (one.judge, one.differs) for place, one in facts(talk).items() if one.judge}
    assert told == {(2, "gout"): ("correct", False), (2, "penicillin"): ("correct", True)}
    [pair] = [one for one in talk.findings if one.title == "pair of advice"]
    assert pair.rules in ("conflict", "licensed") and (pair.judge, pair.differs) == ("unrelated", True)
    assert not any(one.judge or one.differs for one in facts(talks()[0]).values())


def test_two_sentences_are_one_pair_whatever_they_say_of_each_other() -> None:
    said = [
        {"case": "c1", "turn": 1, "reply": "Keep taking ibuprofen and naproxen."},
        {"case": "c1", "turn": 2, "reply": "Stop ibuprofen and naproxen."},
    ]
    [talk] = talks(said=said)
    pairs = [one for one in talk.findings if one.title == "pair of advice"]
    assert len({one.anchor for one in pairs}) == len(pairs) == 1
    assert "ibuprofen" in pairs[0].about and "naproxen" in pairs[0].about


def test_a_turn_that_failed_or_was_asked_closed_questions_is_shown_as_such() -> None:
    said = [
        {
            "case": "c1",
            "turn": 1,
            "reply": "Yes.",
            "probe": {"kind": "question", "fact": "pcn", "reply": "Yes, it is."},
        },
        {"case": "c1", "turn": 2, "reply": None, "error": "timeout"},
    ]
    [talk] = talks(said=said)
    kinds = [[(one.kind, one.about, one.failure) for one in turn.passages] for turn in talk.turns]
    assert kinds == [[("reply", "", ""), ("question", "penicillin", "")], [("reply", "", "timeout")], []]
    assert all(not one.answers for turn in talk.turns[1:] for one in turn.facts), "nobody can answer what was not said"


def test_only_the_cases_asked_for() -> None:
    other = {**CASE, "id": "c2"}
    said = [*SAID, *({**line, "case": "c2"} for line in SAID)]
    assert [one.case for one in talks([CASE, other], said)] == ["c1", "c2"]
    assert [one.case for one in talks([CASE, other], said, cases={"c2"})] == ["c2"]


def test_no_two_units_share_an_address() -> None:
    tricky = [("a/0", "f"), ("a", "0/f"), ("a%2F0", "f"), ("a", "=1.0-2.1"), ("a b", "f"), ("a", "f#1")]
    found = {anchor_of(Unit(case, 0, "live", 1, fact)) for case, fact in tricky}
    assert len({*found, anchor_of(Unit("a", 0, "live", 1, None, "1.0-2.1"))}) == len(tricky) + 1


REPLIES = (
    "I see. Dr. Ito gave 2.5 mg b.i.d. for gout! Can't you eat?",
    "## Plan\n- **Warfarin**: 5 mg\n- Gout: ~~allopurinol~~ rest\n\n1. See [it](https://x.example/a.b). 2. Sleep.",
    "Ça va. Prenez du paracétamol – 500 mg… Merci.",
    "No no no. No no. No.",
    "| drug | dose |\n|---|---|\n| warfarin | 5 mg |",
    "a" * 5000 + ". Take ½ tablet. " + "word " * 400 + "end.",
    "",
    "...",
)


@pytest.mark.parametrize("reply", [*REPLIES, *PAYLOADS])
def test_a_sentence_is_found_in_its_own_words_or_not_at_all(reply: str) -> None:
    cut = sentences(reply)
    found = places(reply, cut)
    assert len(found) == len(cut)
    placed = [place for place in found if place is not None]
    assert placed == sorted(placed) and all(0 <= start < end <= len(reply) for start, end in placed)
    for place, sentence in zip(found, cut, strict=True):
        if place is not None:
            words = [word for word in sentence.words if word[0].isalnum()]
            assert set(words) & set(word_tokens(reply[place[0] : place[1]]))


def test_hostile_words_are_shown_whole() -> None:
    for number, payload in enumerate(PAYLOADS):
        case, said = hostile_case(payload, number)
        [talk] = talks([case], [said])
        [turn] = talk.turns
        assert "".join(piece.text for piece in turn.passages[0].pieces) == said["reply"]
