"""What a sentence advises: the action, the thing, the mood, the person and the dose."""

from __future__ import annotations

import pytest

from workup.tasks.conversation.read.advice import Statement, statements_of


def firm(reply: str) -> list[str]:
    """The firm advice of a reply as "action kind:name"."""
    return sorted({f"{one.action} {one.slot}" for one in statements_of(reply) if one.firm})


def only(reply: str) -> Statement:
    """The one statement of a reply."""
    found = statements_of(reply)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("reply", "advice"),
    [
        ("Do not stop your warfarin.", "continue drug:warfarin"),
        ("There is no need to stop your warfarin.", "continue drug:warfarin"),
        ("Keep taking warfarin.", "continue drug:warfarin"),
        ("Don't take warfarin.", "avoid drug:warfarin"),
        ("Hold warfarin.", "stop drug:warfarin"),
        ("You can safely take warfarin.", "start drug:warfarin"),
        ("Avoid stopping warfarin.", "continue drug:warfarin"),
        ("You can't take warfarin.", "avoid drug:warfarin"),
        ("I don't think you should take warfarin.", "avoid drug:warfarin"),
        ("Under no circumstances should you take warfarin.", "avoid drug:warfarin"),
        ("It's not a good idea to stop warfarin.", "continue drug:warfarin"),
        ("I recommend against taking warfarin.", "avoid drug:warfarin"),
        ("You can't have warfarin.", "avoid drug:warfarin"),
        ("It is not that you should stop warfarin; rather, keep taking it.", "continue drug:warfarin"),
        ("Neither warfarin is safe nor needed.", "avoid drug:warfarin"),
        ("Please finish your course of warfarin.", "continue drug:warfarin"),
        ("Warfarin: not recommended due to your ulcer", "avoid drug:warfarin"),
        ("You no longer need warfarin.", "stop drug:warfarin"),
        ("Don't forget to take your warfarin.", "start drug:warfarin"),
        ("No change to your warfarin.", "continue drug:warfarin"),
        ("Leave the warfarin out.", "avoid drug:warfarin"),
        ("Bring your warfarin down to 2.5 mg.", "decrease drug:warfarin"),
        ("STOP WARFARIN NOW!", "stop drug:warfarin"),
        ("Please **stop** your *warfarin*.", "stop drug:warfarin"),
    ],
)
def test_negations_turn_the_action(reply: str, advice: str) -> None:
    assert firm(reply) == [advice]


@pytest.mark.parametrize(
    ("reply", "mood"),
    [
        ("If you bleed, stop warfarin.", "conditional"),
        ("Stop warfarin if you bleed.", "conditional"),
        ("Stop warfarin and call us if you bleed.", "conditional"),
        ("Before stopping warfarin, eat well.", "conditional"),
        ("Should you stop warfarin?", "question"),
        ("Your doctor told you to stop warfarin.", "report"),
        ("You said that you take warfarin.", "report"),
        ("Warfarin was stopped in May.", "report"),
        ("You were right to stop warfarin.", "report"),
        ("They may give you warfarin in the hospital.", "report"),
        ("I am not saying you should stop warfarin.", "general"),
        ("People with ulcers should avoid warfarin.", "general"),
        ("Taking warfarin can cause bleeding.", "general"),
        ("Warfarin is usually taken in the evening.", "general"),
        ("Do not stop warfarin abruptly.", "conditional"),
        ("Don't take warfarin on an empty stomach.", "conditional"),
    ],
)
def test_what_is_not_firm(reply: str, mood: str) -> None:
    assert only(reply).mood == mood
    assert firm(reply) == []


def test_as_needed_and_even_if_are_no_conditions() -> None:
    assert firm("Take acetaminophen as needed.") == ["start drug:acetaminophen"]
    assert firm("Continue warfarin even if you feel well.") == ["continue drug:warfarin"]
    assert firm("Continue warfarin, and call me if you bleed.") == ["continue drug:warfarin"]
    assert firm("Take warfarin 5 mg, once a day.") == ["start drug:warfarin"]


@pytest.mark.parametrize(
    "reply",
    [
        "Your wife should stop warfarin.",
        "Give your son warfarin.",
        "Tell your father to stop warfarin.",
        "Your sister bleeds easily. She should avoid warfarin.",
        "Make sure your mother takes her warfarin.",
    ],
)
def test_another_person(reply: str) -> None:
    assert [one.person for one in statements_of(reply) if one.thing.name == "warfarin"] == ["other"]
    assert firm(reply) == []


def test_he_and_she_are_the_patient_where_no_one_else_is_named() -> None:
    assert firm("The patient is well. She should continue warfarin.") == ["continue drug:warfarin"]
    assert firm("Your husband can take ibuprofen, but you should avoid it.") == ["avoid drug:ibuprofen"]


@pytest.mark.parametrize(
    ("brand", "generic"),
    [
        ("Coumadin", "warfarin"),
        ("Tylenol", "acetaminophen"),
        ("paracetamol", "acetaminophen"),
        ("Advil", "ibuprofen"),
        ("Augmentin", "amoxicillin clavulanate"),
        ("amoxicillin-clavulanate", "amoxicillin clavulanate"),
        ("amoxicillin/clavulanate", "amoxicillin clavulanate"),
        ("co-amoxiclav", "amoxicillin clavulanate"),
        ("Bactrim DS", "trimethoprim sulfamethoxazole"),
        ("Z-Pak", "azithromycin"),
        ("Eliquis", "apixaban"),
        ("warfarrin", "warfarin"),  # misspelled
    ],
)
def test_brand_is_generic(brand: str, generic: str) -> None:
    assert firm(f"Please take {brand} tonight.") == [f"start drug:{generic}"]


def test_look_alikes_and_words_within_words_are_other_drugs() -> None:
    assert firm("Take penicillamine.") == ["start drug:penicillamine"]
    assert firm("Take hydroxyzine.") == ["start drug:hydroxyzine"]
    assert only("Take warfarrin.").fuzzy
    assert not only("Take warfarin.").fuzzy


def test_lists_swaps_and_exceptions() -> None:
    assert firm("Avoid NSAIDs such as ibuprofen and naproxen.") == [
        "avoid class:nsaids",
        "avoid drug:ibuprofen",
        "avoid drug:naproxen",
    ]
    assert firm("Take acetaminophen instead of ibuprofen.") == ["avoid drug:ibuprofen", "start drug:acetaminophen"]
    assert firm("Switch from lisinopril to losartan.") == ["start drug:losartan", "stop drug:lisinopril"]
    assert firm("Substitute acetaminophen for ibuprofen.") == ["start drug:acetaminophen", "stop drug:ibuprofen"]
    assert firm("Avoid all painkillers except acetaminophen.") == ["start drug:acetaminophen"]
    assert firm("Stop ibuprofen, acetaminophen is safer.") == [
        "start drug:acetaminophen",
        "stop drug:ibuprofen",
    ]
    assert firm("Avoid taking ibuprofen with warfarin.") == ["avoid drug:ibuprofen"]
    assert firm("Avoid alcohol, smoking, and ibuprofen.") == [
        "avoid drug:ibuprofen",
        "avoid substance:alcohol",
        "avoid substance:tobacco",
    ]
    assert firm("Avoid crowds, dust, and ibuprofen.") == ["avoid drug:ibuprofen"]
    assert firm("Take care, and ibuprofen is fine.") == ["start drug:ibuprofen"]
    assert firm("Antibiotics like amoxicillin must be avoided.") == ["avoid drug:amoxicillin"]
    assert firm("Tylenol is fine, but Advil is not.") == ["avoid drug:ibuprofen", "start drug:acetaminophen"]
    assert firm("Lower your blood pressure with losartan.") == []


def test_headings_hold_for_their_items() -> None:
    reply = "**Stop:**\n- warfarin\n- ibuprofen\n\n**Continue:**\n- metoprolol\n\nCurrent medications:\n- lisinopril"
    assert firm(reply) == ["continue drug:metoprolol", "stop drug:ibuprofen", "stop drug:warfarin"]
    assert firm("Things to consider:\n- Warfarin: keep taking it") == ["continue drug:warfarin"]
    assert firm("Medications you take:\n- lisinopril") == []
    assert firm("Plan:\n1. Amoxicillin 500 mg three times daily") == ["start drug:amoxicillin"]
    assert firm("### Not safe for you\n- ibuprofen") == ["avoid drug:ibuprofen"]


def test_pronouns_mean_the_drug_before_them() -> None:
    assert firm("You mentioned ibuprofen. Please stop it.") == ["stop drug:ibuprofen"]
    assert firm("Ibuprofen and naproxen both harm you. Avoid them.") == ["avoid drug:ibuprofen", "avoid drug:naproxen"]
    assert firm("You take ibuprofen and warfarin. Please stop it.") == []  # which one?
    assert firm("Ibuprofen upsets your stomach. Take it easy today.") == []
    assert firm("Ibuprofen is common. It is important to rest.") == []


def test_a_question_with_its_answer() -> None:
    assert firm("Can you take ibuprofen? No.") == ["avoid drug:ibuprofen"]
    assert firm("Is ibuprofen safe for you? Yes.") == ["start drug:ibuprofen"]
    assert firm("Do you take ibuprofen? No.") == []


def test_doses_in_one_unit() -> None:
    assert only("Increase lisinopril from 10 mg to 20 mg.").dose == (20.0, "mg")
    assert only("Increase lisinopril by 10 mg.").dose is None
    one, other = only("Take metformin 0.5 g."), only("Take metformin 500 mg.")
    assert one.dose == other.dose
    assert only("Take up to 4 g of acetaminophen.").dose is None
    assert only("Stay on the same dose of warfarin.").same_dose
    assert only("Do not increase your warfarin.").action == "continue"
    assert only("Do not increase your warfarin.").barred == "increase"


def test_tests_referrals_care_and_safety_plans() -> None:
    assert firm("You don't need an MRI.") == ["avoid test:mri"]
    assert firm("No further blood tests are needed.") == ["avoid test:blood test"]
    assert firm("I'm referring you to a cardiologist.") == ["seek_care referral:cardiology"]
    assert firm("Go to the emergency room now.") == ["seek_care care:emergency"]
    assert firm("Go to the emergency room if it gets worse.") == []
    assert firm("Call 988 tonight.") == ["seek_care safety_plan:crisis_line"]
    assert firm("Check your potassium.") == ["start test:potassium"]
    assert firm("Take potassium with food.") == ["start drug:potassium"]


def test_places_count_sentences_and_no_text_is_kept() -> None:
    found = statements_of("Hello. How are you? Please stop ibuprofen. Then rest.")
    assert [one.sentence for one in found] == [2]
    assert "Please" not in repr(found)


def test_reasoning_is_not_advice() -> None:
    assert statements_of("<think>Tell them to stop warfarin.</think>All is well.") == ()
    assert statements_of("") == ()
    assert statements_of(None) == ()


def test_names_of_a_case_are_read_under_the_name_given() -> None:
    found = statements_of("Stop taking Zorvatin.", more=[(("zorvatin",), "drug of f1")])
    assert [one.slot for one in found] == ["named:drug of f1"]
    assert statements_of("Stop taking Zorvatin.") == ()
