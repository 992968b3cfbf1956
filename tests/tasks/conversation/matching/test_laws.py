"""Laws of the matcher: it takes any text, and what should not matter does not."""

from __future__ import annotations

import csv
import random
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.facts import ALL, PENICILLIN, WARFARIN
from tests.support.places import DATA
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import (
    ACTIVE_OUTCOMES,
    RETIRED_OUTCOMES,
    Matcher,
    outcome_of,
    outcomes,
)
from workup.tasks.conversation.read.facts.probes import probes
from workup.tasks.conversation.read.sentence.vocabulary import table

MATCHER = Matcher(ALL)
RETIRED = Matcher([Fact(fact.id, fact.type, fact.concept, fact.aliases, fact.status, retired=2) for fact in ALL])
UNRELATED = (
    "The weather was pleasant on Tuesday.",
    "Thank you for writing.",
    "Please bring your insurance card.",
    "The clinic opens at nine.",
)
_WORDS = [
    *(
        "no",
        "not",
        "never",
        "denies",
        "mother",
        "if",
        "possible",
        "history of",
        "stopped",
        "was",
        "ruled out",
        "but",
        ";",
    ),
    *(
        ".",
        "?",
        ":",
        "\n",
        "- ",
        "**",
        "5",
        "mg",
        "twice daily",
        "left",
        "2019",
        "(",
        ")",
        "and",
        ",",
        "allergic to",
        "—",
    ),
    *(
        "penicillin",
        "warfarin",
        "asthma",
        "chest pain",
        "stroke",
        "breast cancer",
        "PE",
        "knee pain",
        "smoker",
        "1.",
        "|",
    ),
    *(
        "q.d.",
        "/",
        "→",
        "half",
        "every",
        "8",
        "hours",
        "from",
        "to",
        "%",
        "since",
        "her",
        "family history",
        "#",
        "à",
        "µg",
    ),
]
_TEXTS = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(_WORDS), max_size=40).map(" ".join))


@given(_TEXTS)
@settings(max_examples=300, deadline=None)
def test_any_text_has_one_outcome_of_the_right_set(text: str) -> None:
    for judged in MATCHER.judge(text):
        assert judged.outcome in ACTIVE_OUTCOMES
        assert (judged.attribute is not None) == (judged.outcome == "wrong_value")
        assert judged.sentence is None or judged.sentence >= 0
    for judged in RETIRED.judge(text, turn=3):
        assert judged.outcome in RETIRED_OUTCOMES


def test_the_two_sets_share_only_what_cannot_be_scored() -> None:
    assert set(ACTIVE_OUTCOMES) & set(RETIRED_OUTCOMES) == {"unscorable"}


@given(_TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_sentence_about_something_else_flips_nothing(text: str) -> None:
    # Before a text that opens in the middle of a sentence only a full stop keeps the two apart.
    before = [judged.outcome for judged in MATCHER.judge(text)]
    for other in UNRELATED:
        after = [judged.outcome for judged in MATCHER.judge(f"{other}\n\n{text}")]
        flips = {("correct", "reversed"), ("reversed", "correct")}
        assert not flips & set(zip(before, after, strict=True))


@pytest.mark.parametrize("probe", probes()[::5], ids=lambda probe: probe.name)
def test_other_sentences_around_a_reply_leave_it_as_it_is(probe) -> None:
    if any(sign in probe.reply for sign in ("\n", "|", "#")):
        pytest.skip("a list or a table ends with its own lines")
    alone = outcome_of(probe.fact, probe.reply, turn=probe.turn).outcome
    reply = probe.reply if probe.reply[-1] in ".?!" else probe.reply + "."
    for other in UNRELATED:
        assert outcome_of(probe.fact, f"{other} {reply} {other}", turn=probe.turn).outcome == alone


@pytest.mark.parametrize("probe", probes()[::3], ids=lambda probe: probe.name)
def test_case_and_line_ends_do_not_matter(probe) -> None:
    found = outcome_of(probe.fact, probe.reply, turn=probe.turn)
    for changed in (
        probe.reply.upper(),
        probe.reply.title(),
        probe.reply.replace("\n", "\r\n"),
        f"\n{probe.reply}\n\n",
    ):
        assert outcome_of(probe.fact, changed, turn=probe.turn).outcome == found.outcome
    if ". " in probe.reply and "\n" not in probe.reply:
        broken = probe.reply.replace(". ", ".\n")
        assert outcome_of(probe.fact, broken, turn=probe.turn).outcome == found.outcome


@pytest.mark.parametrize("probe", probes()[1::3], ids=lambda probe: probe.name)
def test_a_line_end_for_any_blank_of_a_sentence_changes_nothing(probe) -> None:
    reply = probe.reply
    if reply[-1] not in ".!?" or any(sign in reply for sign in "\n:|"):
        pytest.skip("no sentence of prose")
    found = outcome_of(probe.fact, reply, turn=probe.turn).outcome
    for place in (place for place, sign in enumerate(reply) if sign == " "):
        broken = f"{reply[:place]}\n{reply[place + 1 :]}"
        assert outcome_of(probe.fact, broken, turn=probe.turn).outcome == found


def test_a_wrapped_paragraph_is_read_like_one_line() -> None:
    text = (
        "The patient is a retired teacher who denies any fever, chills, night sweats, weight loss, palpitations, "
        "dizziness, shortness of breath on exertion or at rest, swelling of the legs or chest pain, and who has been "
        "taking warfarin 5 mg once daily by mouth for several years without any bleeding that needed treatment."
    )
    found = [judged.outcome for judged in MATCHER.judge(text)]
    assert found[1] == "correct" and found[4] == "correct"
    for width in (50, 60, 70, 80):
        wrapped = textwrap.fill(text, width)
        assert [judged.outcome for judged in MATCHER.judge(wrapped)] == found


@pytest.mark.parametrize("probe", probes()[::7], ids=lambda probe: probe.name)
def test_many_at_once_is_one_by_one(probe) -> None:
    """Another fact in the list changes nothing, unless its longer name covers this one."""
    alone = outcome_of(probe.fact, probe.reply, turn=probe.turn)
    other = Fact("other", "diagnosis", "xeroderma")
    assert outcomes([other, probe.fact], probe.reply, turn=probe.turn)[1] == alone


NOTES = DATA / "aci_bench" / "valid.csv"


@pytest.mark.real_data
@pytest.mark.skipif(not NOTES.is_file(), reason="the visit notes of ACI-Bench are not beside the project")
def test_real_notes_are_read_the_same_in_capitals() -> None:
    with NOTES.open(encoding="utf-8", newline="") as file:
        notes = [row["note"] for row in csv.DictReader(file)]
    assert len(notes) == 20
    mentioned = 0
    for note in notes:
        judged = MATCHER.judge(note)
        assert [one.outcome for one in MATCHER.judge(note.upper())] == [one.outcome for one in judged]
        mentioned += sum(one.reason != "no_mention" for one in judged)
    assert mentioned >= 10


@pytest.mark.parametrize(
    "text",
    [
        "no asthma " * 20_000,
        "**" + " " * 50_000 + "**",
        "[" * 50_000,
        "- " * 50_000,
        "\n" * 50_000,
        "a." * 30_000,
        "#" * 50_000 + "\n",
        "<" * 50_000,
        "1. " * 20_000,
        "warfarin 5 mg to " * 10_000,
        "<think>" * 5_000,
        "'" * 50_000,
        "~~" * 20_000,
        "warfarin, " * 10_000,
    ],
    ids=range(14),
)
def test_hostile_texts_end(text: str) -> None:
    # Quadratic work on these sizes would take minutes; the test's own time limit is the patience of its reader.
    assert len(MATCHER.judge(text)) == len(ALL)


def test_what_cannot_be_scored_says_why() -> None:
    for reply, reason in (
        (None, "no_reply"),
        ("", "empty_reply"),
        (" \n\t", "empty_reply"),
        ("?!?", "no_words"),
        ("<think>The patient takes warfarin.</think>", "only_reasoning"),
        ("<think>The patient takes warfarin", "only_reasoning"),
    ):
        found = outcome_of(WARFARIN, reply)
        assert (found.outcome, found.reason) == ("unscorable", reason)
    assert outcome_of(WARFARIN, "<think>Stop warfarin?</think>She takes warfarin.").outcome == "correct"


def test_before_its_turn_a_fact_is_not_scored() -> None:
    late = Fact("late", "diagnosis", "gout", introduced=4, retired=8)
    reply = "You have gout."
    outcomes_by_turn = [outcome_of(late, reply, turn=turn).outcome for turn in (3, 4, 7, 8)]
    assert outcomes_by_turn == ["unscorable", "correct", "correct", "stale"]
    assert outcome_of(late, reply, turn=3).reason == "not_yet_introduced"


def test_sentences_are_counted_and_never_quoted() -> None:
    reply = "Good morning. How are you? You are allergic to penicillin."
    judged = outcome_of(PENICILLIN, reply)
    assert (judged.outcome, judged.sentence, judged.reason) == ("correct", 2, "affirmed")
    text = repr(outcomes(ALL, "Zebra penicillin allergy quagga."))
    assert "zebra" not in text.casefold() and "quagga" not in text.casefold()


def test_word_lists_are_in_the_form_they_are_looked_up_in() -> None:
    """A cue with a capital, a hyphen or an apostrophe would never be met."""
    for name in ("cues", "clauses", "allergies", "names", "other_concepts"):
        for text in _strings(table(name)):
            plain = text.replace(" - ", " ")
            assert text == text.casefold() and "'" not in text, (name, text)
            assert "-" not in plain or plain == "-", (name, text)


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [text for part in parts for text in _strings(part)]  # type: ignore[union-attr]


def test_the_order_of_facts_does_not_matter() -> None:
    reply = " ".join(probe.reply for probe in probes()[:60])
    facts = list(ALL)
    wanted = {fact.id: judged for fact, judged in zip(facts, outcomes(facts, reply), strict=True)}
    random.Random(3).shuffle(facts)
    assert {fact.id: judged for fact, judged in zip(facts, outcomes(facts, reply), strict=True)} == wanted
