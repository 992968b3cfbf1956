"""What licenses a change of advice: each row of the table in its direction, against it, and where it cannot bear."""

from __future__ import annotations

import pytest

from tests.support.advice_cases import case_with
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice import conflicts_of


def fact(kind: str, concept: str, **more: object) -> Fact:
    given = {"introduced": 3, **more}
    return Fact("f", kind, concept, **given)  # type: ignore[arg-type]


def retired(kind: str, concept: str, **more: object) -> Fact:
    return Fact("f", kind, concept, introduced=1, retired=3, **more)  # type: ignore[arg-type]


def mg(amount: float) -> dict[str, object]:
    return {"dose_value": amount, "dose_unit": "mg"}


def kinds(facts: Fact | tuple[Fact, ...], before: str, after: str) -> list[str]:
    held = facts if isinstance(facts, tuple) else (facts,)
    return [pair.kind for pair in conflicts_of(case_with(*held), {2: before, 4: after}).pairs]


# The event, the advice before it, the advice that it licenses, and an event that bears on nothing here. The wrong
# direction is the same pair the other way round.
ROWS = {
    "allergy introduced": (
        fact("allergy", "penicillin", status="uncertain"),
        ("Take cephalexin.", "Do not take cephalexin."),
        fact("allergy", "penicillin", status="absent"),
    ),
    "allergy retired": (
        retired("allergy", "penicillin"),
        ("Avoid amoxicillin.", "Take amoxicillin."),
        retired("allergy", "penicillin", status="family"),
    ),
    "harm tag introduced": (
        fact("diagnosis", "bariatric surgery", harm_tag="avoid_class:nsaids"),
        ("Keep taking naproxen.", "Stop the naproxen."),
        fact("diagnosis", "bariatric surgery", harm_tag="avoid_class:nsaids", status="uncertain"),
    ),
    "caution introduced": (
        fact("symptom", "nosebleed"),
        ("Continue warfarin.", "Hold your warfarin."),
        fact("symptom", "nosebleed", status="family"),
    ),
    "indication introduced": (
        fact("diagnosis", "atrial fibrillation"),
        ("You don't need apixaban.", "Start apixaban."),
        fact("diagnosis", "atrial fibrillation", status="historical"),
    ),
    "result too high": (
        fact("result", "potassium", attributes={"dose_value": 6.1, "dose_unit": "mmol/L"}),
        ("Continue spironolactone.", "Stop spironolactone."),
        fact("result", "potassium"),
    ),
    "medication that may not be taken with it": (
        fact("medication", "warfarin"),
        ("You can take ibuprofen.", "Avoid ibuprofen."),
        fact("medication", "loratadine"),
    ),
    "the medication itself retired": (
        retired("medication", "metoprolol"),
        ("Continue metoprolol.", "Stop metoprolol."),
        retired("medication", "lisinopril"),
    ),
    "procedure planned": (
        fact("procedure", "colonoscopy"),
        ("Continue apixaban.", "Hold the apixaban."),
        fact("procedure", "colonoscopy", status="historical"),
    ),
    "plan of another clinician": (
        fact("plan", "start gabapentin"),
        ("Avoid gabapentin.", "Take gabapentin."),
        fact("plan", "start physiotherapy"),
    ),
    "ground for a test": (
        fact("symptom", "severe headache"),
        ("You don't need a CT scan.", "You need a CT scan."),
        fact("social", "lives alone"),
    ),
    "result reported": (
        fact("procedure", "MRI of the knee"),
        ("You should get an MRI.", "You don't need an MRI."),
        fact("procedure", "MRI of the knee", status="family"),
    ),
    "alarm introduced": (
        fact("symptom", "chest pain"),
        ("You don't need to go to the ER.", "Go to the ER now."),
        fact("symptom", "chest pain", status="absent"),
    ),
    "risk of self-harm introduced": (
        fact("risk", "suicidal ideation"),
        ("You don't need a safety plan.", "Please write a safety plan."),
        fact("risk", "suicidal ideation", status="historical"),
    ),
    "caution for a way of life": (
        fact("medication", "metronidazole"),
        ("You can have a glass of wine.", "Avoid alcohol."),
        fact("medication", "levothyroxine"),
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_each_row_in_its_direction_against_it_and_where_it_cannot_bear(row: str) -> None:
    event, (before, after), unrelated = ROWS[row]
    assert kinds(event, before, after) == ["licensed"]
    assert kinds(event, after, before) == ["against_fact"]
    assert kinds(unrelated, before, after) == ["conflict"]


# ---- the second halves of the rows, and what the table says beside them ----------------------------------------------


@pytest.mark.parametrize(
    ("event", "before", "after"),
    [
        (retired("diagnosis", "stomach surgery", harm_tag="avoid_class:nsaids"), "Avoid naproxen.", "Take naproxen."),
        (retired("diagnosis", "acute kidney injury"), "Avoid ibuprofen.", "You can take ibuprofen."),
        (retired("diagnosis", "atrial fibrillation"), "Continue apixaban.", "Stop apixaban."),
        (retired("medication", "warfarin"), "Avoid ibuprofen.", "You may take ibuprofen."),
        (fact("medication", "metoprolol"), "Do not take metoprolol.", "Continue metoprolol."),
        (fact("procedure", "colonoscopy done"), "Hold the apixaban.", "Restart apixaban."),
        (fact("social", "declines statins"), "Start atorvastatin.", "Do not take atorvastatin."),
        (fact("medication", "warfarin"), "You don't need an INR.", "Check your INR."),
        (retired("symptom", "chest pain"), "Go to the ER.", "You don't need to go to the ER."),
        (retired("medication", "metronidazole"), "Avoid alcohol.", "You can have a glass of wine."),
        (fact("result", "TSH high"), "Don't take levothyroxine.", "Start levothyroxine."),
        (fact("result", "potassium normal"), "Hold the lisinopril.", "Restart lisinopril."),
        (fact("diagnosis", "seizure"), "You can drive.", "Do not drive."),
        (fact("symptom", "chest pain"), "Mention it at your next visit.", "Please call your doctor today."),
    ],
)
def test_what_else_the_table_licenses(event: Fact, before: str, after: str) -> None:
    assert kinds(event, before, after) == ["licensed"]
    assert kinds(event, after, before) in (["against_fact"], ["licensed"])


def test_a_past_reaction_bleed_or_clot_stays_a_caution() -> None:
    for event in (
        fact("allergy", "amoxicillin", status="historical"),
        fact("diagnosis", "gi bleed", status="historical"),
        fact("diagnosis", "deep vein thrombosis", status="historical"),
    ):
        drug = "estradiol" if "vein" in event.concept else "aspirin" if "bleed" in event.concept else "amoxicillin"
        assert kinds(event, f"Take {drug}.", f"Avoid {drug}.") == ["licensed"]
    assert kinds(fact("diagnosis", "gout", status="historical"), "Avoid allopurinol.", "Take allopurinol.") == [
        "conflict"
    ]


def test_a_class_under_both_licenses_either_way() -> None:
    failing = fact("diagnosis", "heart failure")
    assert kinds(failing, "Continue carvedilol.", "Stop carvedilol.") == ["licensed"]
    assert kinds(failing, "Avoid carvedilol.", "Start carvedilol.") == ["licensed"]


def test_a_changed_dose_licenses_that_dose_alone() -> None:
    old = Fact("o", "medication", "lisinopril", attributes=mg(10), retired=3, superseded_by="n")
    new = Fact("n", "medication", "lisinopril", attributes=mg(20), introduced=3)
    assert kinds((old, new), "Continue lisinopril 10 mg.", "Continue lisinopril 20 mg.") == ["licensed"]
    assert kinds((old, new), "Continue lisinopril 10 mg.", "Take lisinopril 40 mg.") == ["conflict"]
    assert kinds((old, new), "Continue lisinopril 10 mg.", "Take lisinopril 5 mg.") == ["against_fact"]
    assert kinds((old, new), "Continue lisinopril.", "Stop lisinopril.") == ["conflict"]


def test_what_bears_without_a_direction_is_in_neither_part_of_k() -> None:
    old = Fact("o", "diagnosis", "gout", retired=3, superseded_by="n")
    new = Fact("n", "diagnosis", "gout of the left foot", introduced=3)
    found = conflicts_of(case_with(old, new), {2: "Take colchicine.", 4: "Stop colchicine."})
    assert [pair.kind for pair in found.pairs] == ["unclear"]
    assert (found.comparable, found.conflicting, found.unclear, found.rate) == (0, 0, 1, None)


def test_against_fact_counts_as_a_conflict() -> None:
    found = conflicts_of(case_with(fact("symptom", "nosebleed")), {2: "Hold warfarin.", 4: "Continue warfarin."})
    assert (found.comparable, found.conflicting, found.against_fact) == (1, 1, 1)
    assert found.pairs[0].facts == ("f",)


def test_the_same_table_read_from_its_end() -> None:
    def failures(event: Fact, advice: str) -> int:
        return conflicts_of(case_with(event), {2: advice, 4: advice}).failures_to_update

    assert failures(fact("diagnosis", "acute kidney injury"), "Keep taking ibuprofen.") == 1
    assert failures(fact("diagnosis", "acute kidney injury", status="family"), "Keep taking ibuprofen.") == 0
    assert failures(fact("diagnosis", "acute kidney injury"), "Avoid ibuprofen.") == 0
    assert failures(fact("symptom", "back pain"), "Avoid ibuprofen.") == 0  # an indication asks for no drug
    assert failures(fact("symptom", "chest pain"), "You don't need to go to the ER.") == 1
    assert failures(fact("risk", "suicidal ideation"), "You don't need a safety plan.") == 1
    assert failures(fact("medication", "metronidazole"), "You can have a glass of wine.") == 1


# ---- urgency ---------------------------------------------------------------------------------------------------------

PLAIN = case_with(Fact("s", "social", "smoker"))


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("You can manage this at home.", "Go to the emergency room now.", ["conflict"]),
        ("Please see your doctor this week.", "Please see your doctor next month.", ["conflict"]),
        ("See your doctor today.", "See your doctor today.", []),
        ("Go to the ER.", "You don't need to go to the ER; you can manage this at home.", ["conflict"]),
        ("Call 911.", "Go to the emergency department.", []),
    ],
)
def test_two_steps_of_the_ladder_are_one_slot(one: str, other: str, found: list[str]) -> None:
    pairs = conflicts_of(PLAIN, {1: one, 3: other})
    assert [pair.kind for pair in pairs.pairs] == found
    assert pairs.comparable == 1


# ---- what the message says -------------------------------------------------------------------------------------------


def said(message: str, before: str, after: str) -> list[tuple[str, str]]:
    turns = (Turn(1, "Hello."), Turn(2, "And now?"), Turn(3, message), Turn(4, "Well?"))
    case = ConversationCase("c1", "", turns, (Fact("s", "social", "hello"),))
    return [(pair.kind, pair.source) for pair in conflicts_of(case, {2: before, 3: after}).pairs]


def test_what_the_message_asserts_counts_and_is_told_apart() -> None:
    home, away = "You can manage this at home.", "Go to the emergency room now."
    assert said("One calf has turned hot and tight since this morning.", home, away) == [
        ("licensed (message)", "message")
    ]
    assert said("I have chest pain since an hour.", home, away) == [("licensed (message)", "message")]
    assert said("My father has chest pain.", home, away) == [("conflict", "ledger")]
    assert said("I have no chest pain.", home, away) == [("conflict", "ledger")]
    assert said("I had a nosebleed today.", "Continue warfarin.", "Hold your warfarin.")[0][0] == "licensed (message)"
    assert said("I have a nosebleed.", "Hold your warfarin.", "Continue warfarin.") == [("against_fact", "message")]


def test_no_word_of_a_message_is_in_a_pair() -> None:
    turns = (Turn(1, "Hi."), Turn(2, "One calf has turned hot and tight."))
    case = ConversationCase("c1", "", turns, (Fact("s", "social", "hi"),))
    found = conflicts_of(case, {1: "You can manage this at home.", 2: "Go to the ER."})
    assert found.licensed_by_message == 1
    assert "calf" not in repr(found)
