"""Orders state nothing, grounds are affirmed, and whole kinds of allergies are denied by kind."""

from __future__ import annotations

import pytest

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import Matcher, outcome_of
from workup.tasks.conversation.read.facts.mention_verdicts import Reader
from workup.tasks.conversation.read.facts.mentions import Index, prepare_fact
from workup.tasks.conversation.read.sentence.reading import Met, read

ACTIVE = Fact("f", "medication", "torsemide", attributes={"dose_value": 20, "dose_unit": "mg"})
RETIRED = Fact("f", "medication", "torsemide", retired=2)
ALLERGY = Fact("f", "allergy", "torsemide")


@pytest.mark.parametrize(
    ("reply", "active", "retired", "allergy"),
    [
        ("Continue your torsemide.", "correct", "stale", "omitted"),
        ("Increase torsemide to 40 mg.", "correct", "stale", "omitted"),
        ("Please cut the torsemide back to 10 mg.", "correct", "stale", "omitted"),
        ("Continue torsemide 40 mg.", "wrong_value", "stale", "omitted"),
        ("Hold your torsemide until we have spoken.", "correct", "retired_ok", "omitted"),
        ("I suggest stopping torsemide.", "correct", "retired_ok", "omitted"),
        ("Torsemide should be tapered.", "correct", "retired_ok", "omitted"),
        ("Let's take you off torsemide.", "correct", "retired_ok", "omitted"),
        ("Torsemide: hold for two days.", "correct", "retired_ok", "omitted"),
        ("Do not stop torsemide.", "correct", "stale", "omitted"),
        ("Avoid torsemide.", "omitted", "retired_ok", "correct"),
        ("Never take torsemide.", "omitted", "retired_ok", "correct"),
        ("You should not be given torsemide.", "omitted", "retired_ok", "correct"),
        ("It is not safe to take torsemide.", "omitted", "retired_ok", "correct"),
        ("I would advise against torsemide.", "omitted", "retired_ok", "correct"),
        ("Start torsemide 20 mg tomorrow.", "omitted", "retired_ok", "omitted"),
        ("Restart torsemide on Monday.", "omitted", "retired_ok", "omitted"),
        ("Your surgeon told you to stop torsemide.", "omitted", "retired_ok", "omitted"),
        ("Torsemide was stopped in May.", "reversed", "retired_ok", "omitted"),
        ("You have come off torsemide.", "reversed", "retired_ok", "omitted"),
        ("Medications to stop:\n- torsemide", "correct", "retired_ok", "omitted"),
        ("Stopped:\n- torsemide", "reversed", "retired_ok", "omitted"),
    ],
)
def test_an_order_presupposes_and_states_nothing(reply: str, active: str, retired: str, allergy: str) -> None:
    found = (outcome_of(ACTIVE, reply), outcome_of(RETIRED, reply, turn=4), outcome_of(ALLERGY, reply))
    assert tuple(one.outcome for one in found) == (active, retired, allergy)


def test_what_an_order_to_stop_presupposes_is_the_reason() -> None:
    assert outcome_of(ACTIVE, "Hold your torsemide.").reason == "presupposed"


GROUNDS = [
    (Fact("f", "diagnosis", "glaucoma"), "in your glaucoma"),
    (Fact("f", "diagnosis", "chronic kidney disease"), "with your chronic kidney disease"),
    (Fact("f", "diagnosis", "asthma"), "because of your asthma"),
    (Fact("f", "social", "pregnancy"), "during your pregnancy"),
    (Fact("f", "medication", "warfarin"), "while you take warfarin"),
    (Fact("f", "diagnosis", "stomach ulcer"), "given your stomach ulcer"),
]
WARNINGS = [
    *("Pseudoephedrine is not a fit choice", "That medicine is not advisable", "I would not recommend ibuprofen"),
    *("You should not take naproxen", "Decongestants are not safe", "Please don't use that remedy"),
    *("It isn't a good idea to combine anything", "This tablet is not suitable", "Never take extra doses of it"),
    *("Aspirin isn't the best option", "NSAIDs can't be used safely", "No anti-inflammatory is appropriate"),
    *("There is no safe dose of it", "The combination is not allowed", "I wouldn't call it a wise pick"),
]


def test_warnings_affirm_their_ground() -> None:
    found = [outcome_of(fact, f"{warning} {ground}.") for warning in WARNINGS for fact, ground in GROUNDS]
    assert len(found) == 90
    assert sum(one.outcome == "reversed" for one in found) == 0
    assert sum(one.outcome == "correct" for one in found) >= 88


@pytest.mark.parametrize(
    ("reply", "drug", "food", "other"),
    [
        ("No known drug allergies.", "reversed", "omitted", "omitted"),
        ("NKDA.", "reversed", "omitted", "omitted"),
        ("You have no allergies to medicines.", "reversed", "omitted", "omitted"),
        ("No known allergies.", "reversed", "reversed", "reversed"),
        ("Allergies: none.", "reversed", "reversed", "reversed"),
        ("You don't have any food allergies.", "omitted", "reversed", "omitted"),
        ("Apart from penicillin, you have no drug allergies.", "correct", "omitted", "omitted"),
        ("No allergies except latex.", "reversed", "reversed", "correct"),
        ("You are allergic to penicillin. No other allergies.", "correct", "reversed", "reversed"),
        ("No other known allergies.", "omitted", "omitted", "omitted"),
    ],
)
def test_allergies_are_denied_by_kind(reply: str, drug: str, food: str, other: str) -> None:
    facts = [Fact(name, "allergy", name) for name in ("penicillin", "peanut", "latex")]
    assert [one.outcome for one in Matcher(facts).judge(reply)] == [drug, food, other]


def test_a_reply_that_denies_and_names_an_allergy_contradicts_itself() -> None:
    found = outcome_of(Fact("f", "allergy", "penicillin"), "No known allergies. You are allergic to penicillin.")
    assert (found.outcome, found.flag) == ("reversed", "self_contradiction")


class _Warfarin:
    pairs: frozenset[tuple[str, str]] = frozenset()

    def met(self, words: list[str]) -> list[Met]:
        return [Met("w", "medication", at, at + 1) for at, word in enumerate(words) if word == "warfarin"]


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("Hold your warfarin.", ("order", "patient", "affirmed", "stop")),
        ("You do not take warfarin.", ("statement", "patient", "denied", "none")),
        ("Do you take warfarin?", ("question", "patient", "affirmed", "none")),
        ("Your mother takes warfarin.", ("statement", "relative(mother)", "affirmed", "none")),
        ("Your surgeon told you to stop warfarin.", ("statement", "other", "affirmed", "none")),
    ],
)
def test_one_mention_says_mood_person_polarity_and_act(reply: str, wanted: tuple[str, ...]) -> None:
    (sentence,) = read(reply, _Warfarin())
    (said,) = sentence.mentions
    assert (said.mood, said.person, said.polarity, said.act) == wanted
    assert sentence.clauses and "warfarin" not in repr(sentence)


def test_the_names_of_facts_are_names_of_the_one_reading() -> None:
    index = Index([prepare_fact(Fact("w", "medication", "warfarin"), lexicon=True)])
    said = [one for sentence in read("Fine. Hold your Coumadin.", index) for one in sentence.mentions]
    assert [(one.thing, one.via, one.mood, one.act) for one in said] == [("w", "brand", "order", "stop")]


def test_the_reader_of_facts_takes_its_votes_from_that_mention(monkeypatch: pytest.MonkeyPatch) -> None:
    from workup.tasks.conversation.read.facts import mention_verdicts

    fact = Fact("f", "diagnosis", "gout")
    assert outcome_of(fact, "You have gout.").outcome == "correct"
    plain = mention_verdicts.said_of
    monkeypatch.setattr(mention_verdicts, "said_of", lambda *a, **k: plain(*a, **k)._replace(polarity="denied"))
    assert outcome_of(fact, "You have gout.").outcome == "reversed"
    assert Reader([prepare_fact(fact)]).pairs == frozenset()
