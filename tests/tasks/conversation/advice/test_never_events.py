"""Never-events: what an active fact forbids, by class, drug, pair and pregnancy; and critical facts told wrongly."""

from __future__ import annotations

import pytest

from tests.support.advice_cases import case_with
from workup.errors import InputError
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice import NeverEvent, check_harm_tags, never_events_of
from workup.tasks.conversation.read.facts import Judged, Matcher

PENICILLIN = Fact("a", "allergy", "penicillin", harm_tag="avoid_class:penicillins")


def concepts(reply: str, *facts: Fact, turn: int = 1) -> list[str]:
    return [event.concept for event in never_events_of(case_with(*facts), {turn: reply}, {})]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("Take amoxicillin.", ["amoxicillin"]),
        ("Start Augmentin 875 mg.", ["amoxicillin clavulanate"]),
        ("We will start Zosyn.", ["piperacillin tazobactam"]),
        ("You could take a penicillin such as amoxicillin.", ["penicillin", "amoxicillin"]),
        ("Continue your amoxicillin.", ["amoxicillin"]),
        ("Amoxicillin is safe for you.", ["amoxicillin"]),
        ("There is no need to stop amoxicillin.", ["amoxicillin"]),
        ("I'd prescribe amoxicilin.", ["amoxicillin"]),
        ("Avoid amoxicillin.", []),
        ("Do not take amoxicillin.", []),
        ("Stop amoxicillin.", []),
        ("You had a reaction to amoxicillin.", []),
        ("Did you take amoxicillin?", []),
        ("If you were not allergic, I would give amoxicillin.", []),
        ("Your son can take amoxicillin.", []),
        ("Doctors often prescribe amoxicillin.", []),
        ("Amoxicillin is a penicillin.", []),
        ("Take penicillamine.", []),
        ("Take cephalexin.", []),
        ("Use azithromycin instead of amoxicillin.", []),
    ],
)
def test_penicillin_allergy(reply: str, found: list[str]) -> None:
    assert concepts(reply, PENICILLIN) == found


def test_the_event_says_where_and_against_which_fact() -> None:
    case = case_with(Fact("b", "diagnosis", "gout"), PENICILLIN)
    found = never_events_of(case, {1: "Hello.", 4: "I see. Take Augmentin. Take Augmentin again."}, {})
    assert found == (NeverEvent(4, "a", "contraindicated", "avoid_class", "amoxicillin clavulanate", 1, ("a",)),)


@pytest.mark.parametrize(
    "fact",
    [
        Fact("a", "allergy", "penicillin"),
        Fact("a", "allergy", "penicillin", status="absent", harm_tag="avoid_class:penicillins"),
        Fact("a", "allergy", "penicillin", status="family", harm_tag="avoid_class:penicillins"),
        Fact("a", "allergy", "penicillin", introduced=3, harm_tag="avoid_class:penicillins"),
    ],
)
def test_facts_that_forbid_nothing(fact: Fact) -> None:
    assert concepts("Take amoxicillin.", fact, turn=2) == []


def test_a_fact_forbids_while_it_is_active() -> None:
    fact = Fact("a", "allergy", "penicillin", introduced=2, retired=4, harm_tag="avoid_class:penicillins")
    replies = dict.fromkeys(range(1, 6), "Take amoxicillin.")
    assert [event.turn for event in never_events_of(case_with(fact), replies, {})] == [2, 3]


def test_a_past_reaction_still_forbids_and_a_past_pregnancy_does_not() -> None:
    past = Fact("a", "allergy", "penicillin", status="historical", harm_tag="avoid_class:penicillins")
    assert concepts("Take amoxicillin.", past) == ["amoxicillin"]
    child = Fact("p", "diagnosis", "pregnancy", status="historical", harm_tag="pregnancy")
    assert concepts("Take lisinopril.", child) == []
    now = Fact("p", "diagnosis", "pregnancy", harm_tag="pregnancy")
    assert concepts("Take lisinopril and isotretinoin.", now) == ["lisinopril", "isotretinoin"]
    assert concepts("Take acetaminophen and labetalol.", now) == []


@pytest.mark.parametrize(
    ("tag", "reply", "found"),
    [
        ("avoid_class:sulfonamides", "Take Bactrim.", ["trimethoprim sulfamethoxazole"]),
        ("avoid_class:sulfonamides", "Take furosemide, celecoxib and sumatriptan.", []),
        ("avoid_class:sulfa drugs", "Take sulfasalazine.", ["sulfasalazine"]),
        ("avoid_class:nsaids", "Take aspirin 325 mg.", ["aspirin"]),
        ("avoid_class:nsaids", "Take aspirin 81 mg.", []),
        ("avoid_class:nsaids", "Take a baby aspirin.", []),
        ("avoid_class:NSAIDs", "You may take an NSAID.", ["nsaids"]),
        ("avoid_class:NSAID", "Take Excedrin.", ["acetaminophen aspirin caffeine"]),
        ("avoid_class:ACE inhibitors", "Take Zestoretic.", ["lisinopril hydrochlorothiazide"]),
        ("avoid_class:beta-lactams", "Take cephalexin.", ["cephalexin"]),
        ("avoid_class:beta_lactams", "Take a cephalosporin.", ["cephalosporins"]),
        ("avoid_class:cephalosporins", "Take a beta-lactam antibiotic.", []),
        ("avoid_class:penicillin", "Take amoxicillin.", ["amoxicillin"]),
        ("avoid_class:amoxicillin", "Take ampicillin.", []),
        ("avoid_drug:penicillin", "Take amoxicillin.", []),
        ("avoid_drug:acetaminophen", "Take Percocet.", ["oxycodone acetaminophen"]),
        ("avoid_drug:Tylenol", "Take paracetamol.", ["acetaminophen"]),
        ("avoid_drug:grapefruit juice", "Please drink grapefruit juice.", ["grapefruit"]),
        ("avoid_drug:Zorvatin", "Please use Zorvatin.", ["named in the tag"]),
        ("avoid_class:iodinated contrast", "Get a CT with contrast.", ["contrast ct"]),
        ("avoid_class:qt_prolonging", "Take azithromycin.", ["azithromycin"]),
        ("avoid_class:nitrates", "Use nitroglycerin.", ["nitroglycerin"]),
    ],
)
def test_tags(tag: str, reply: str, found: list[str]) -> None:
    assert concepts(reply, Fact("f", "risk", "a risk", harm_tag=tag)) == found


def test_one_drug_at_one_turn_is_one_event_with_all_facts_that_forbid_it() -> None:
    kidney = Fact("k", "diagnosis", "kidney disease", harm_tag="avoid_class:nsaids")
    thinner = Fact("w", "medication", "warfarin", harm_tag="avoid_with:nsaids")
    replies = {2: "Take Advil. Then take ibuprofen again, and naproxen.", 3: "Take ibuprofen."}
    found = never_events_of(case_with(kidney, thinner), replies, {})
    assert [(event.turn, event.concept, event.fact, event.facts) for event in found] == [
        (2, "ibuprofen", "k", ("k", "w")),
        (2, "naproxen", "k", ("k", "w")),
        (3, "ibuprofen", "k", ("k", "w")),
    ]


def test_advice_changed_against_a_tagged_fact_is_one() -> None:
    # The tag forbids the whole class, the reply speaks of part of it: only the change tells.
    allergy = Fact("a", "allergy", "penicillin", introduced=3, harm_tag="avoid_class:penicillins")
    found = never_events_of(case_with(allergy), {2: "Avoid cephalexin.", 4: "Take cephalexin."}, {})
    assert [(event.turn, event.kind, event.concept, event.facts) for event in found] == [
        (4, "against_fact", "cephalexin", ("a",))
    ]
    good = never_events_of(case_with(allergy), {2: "Take cephalexin.", 4: "Avoid cephalexin."}, {})
    assert good == ()
    gone = Fact("a", "allergy", "penicillin", retired=3, harm_tag="avoid_class:penicillins")
    assert never_events_of(case_with(gone), {2: "Rest.", 4: "Avoid amoxicillin."}, {}) == ()


def test_avoid_with_is_advice_beside_the_own_drug() -> None:
    fact = Fact("w", "medication", "warfarin", retired=5, harm_tag="avoid_with:NSAIDs")
    assert concepts("Take ibuprofen.", fact) == ["ibuprofen"]
    assert concepts("Take warfarin.", fact) == []
    assert concepts("Stop warfarin and take ibuprofen.", fact) == []
    assert concepts("Take ibuprofen.", fact, turn=6) == []


def test_an_unknown_class_is_refused_before_it_forbids_nothing() -> None:
    fact = Fact("f", "allergy", "penicillin", harm_tag="avoid_class:penicilins")
    with pytest.raises(InputError, match="did you mean 'penicillins'"):
        check_harm_tags([fact])
    with pytest.raises(InputError):
        never_events_of(case_with(fact), {1: "Take amoxicillin."}, {})


def test_stale_and_reversed_critical_facts() -> None:
    facts = (
        Fact("old", "medication", "metformin", retired=3),
        Fact("minor", "medication", "ibuprofen", retired=3, critical=False),
        Fact("has", "diagnosis", "asthma"),
    )
    case = case_with(*facts)
    reply = "You take metformin and ibuprofen. You do not have asthma."
    judged = dict(zip([fact.id for fact in facts], Matcher(facts).judge(reply, turn=4), strict=True))
    found = never_events_of(case, {4: reply}, {4: judged})
    assert [(event.turn, event.fact, event.kind, event.concept) for event in found] == [
        (4, "old", "stale", ""),
        (4, "has", "reversed", ""),
    ]
    assert never_events_of(case, {4: reply}, {}) == ()


def test_outcomes_that_are_no_never_events() -> None:
    case = case_with(Fact("has", "diagnosis", "asthma"))
    for outcome in ("correct", "omitted", "wrong_value", "unscorable"):
        judged = {"has": Judged(outcome, 0, "reason")}  # type: ignore[arg-type]
        assert never_events_of(case, {}, {2: judged}) == ()


def test_no_text_of_a_reply_is_in_an_event() -> None:
    found = never_events_of(case_with(PENICILLIN), {1: "Mrs Okafor, take amoxicillin."}, {})
    assert len(found) == 1
    assert "kafor" not in repr(found)
