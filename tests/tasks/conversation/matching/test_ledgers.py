"""Facts of one case that touch each other (doses that come back, the family and the patient), and what says nothing."""

from __future__ import annotations

import pytest

from workup.lexicon.sources import everyday_words
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import Matcher, outcome_of
from workup.tasks.conversation.read.facts.probes import probes
from workup.tasks.conversation.read.sentence.fuzzy import misspells
from workup.tasks.conversation.read.sentence.text import sentences


def judged(facts: list[Fact], reply: str, *, turn: int | None = None) -> list[str]:
    return [one.outcome for one in Matcher(facts).judge(reply, turn=turn)]


def _dose(name: str, amount: int, **life: object) -> Fact:
    return Fact(name, "medication", "lisinopril", attributes={"dose_value": amount, "dose_unit": "mg"}, **life)


DOSES = [
    _dose("first", 10, retired=3, superseded_by="second"),
    _dose("second", 20, introduced=3, retired=6, superseded_by="third"),
    _dose("third", 10, introduced=6),
]


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("Lisinopril 10 mg daily.", ["retired_ok", "retired_ok", "correct"]),
        ("Lisinopril 20 mg daily.", ["retired_ok", "stale", "wrong_value"]),
        ("You take lisinopril.", ["retired_ok", "retired_ok", "correct"]),
        ("Lisinopril was stopped.", ["retired_ok", "retired_ok", "reversed"]),
        ("Nothing new.", ["retired_ok", "retired_ok", "omitted"]),
    ],
)
def test_a_dose_that_came_back_is_not_stale(reply: str, wanted: list[str]) -> None:
    assert judged(DOSES, reply, turn=8) == wanted


def test_a_retired_fact_is_excused_only_where_the_reply_is_right_of_an_active_one() -> None:
    old = Fact("old", "medication", "metformin", retired=3)
    again = Fact("again", "medication", "metformin", introduced=6)
    assert judged([old, again], "You take metformin.", turn=4) == ["stale", "unscorable"]
    assert judged([old, again], "You take metformin.", turn=6) == ["retired_ok", "correct"]
    other = Fact("other", "medication", "glipizide", introduced=6)
    assert judged([old, other], "You take metformin and glipizide.", turn=6) == ["stale", "correct"]


FAMILY = Fact("family", "diagnosis", "hypertension", ("HTN",), status="family")
OWN = Fact("own", "diagnosis", "high blood pressure", ("hypertension",))
FREE = Fact("free", "diagnosis", "hypertension", status="absent")


@pytest.mark.parametrize(
    ("own", "reply", "wanted"),
    [
        (OWN, "She has hypertension. Family history of hypertension.", ["correct", "correct"]),
        (OWN, "Family history of hypertension. She has hypertension.", ["correct", "correct"]),
        (OWN, "Her father has hypertension, and she has hypertension too.", ["correct", "correct"]),
        (OWN, "She has hypertension.", ["omitted", "correct"]),
        (OWN, "Her father has hypertension.", ["correct", "omitted"]),
        (OWN, "No family history of hypertension, but she has hypertension.", ["reversed", "correct"]),
        (OWN, "She does not have hypertension; her father has hypertension.", ["correct", "reversed"]),
        (FREE, "No hypertension. Father has hypertension.", ["correct", "correct"]),
        (FREE, "She has hypertension. Family history of hypertension.", ["correct", "reversed"]),
    ],
)
def test_the_family_and_the_patient_have_the_same_disease(own: Fact, reply: str, wanted: list[str]) -> None:
    assert judged([FAMILY, own], reply) == wanted
    assert judged([own, FAMILY], reply) == wanted[::-1]


def test_alone_a_family_fact_said_of_the_patient_is_reversed() -> None:
    assert outcome_of(FAMILY, "She has hypertension.").outcome == "reversed"


def test_what_is_denied_of_the_other_side_or_dose_is_not_this_fact() -> None:
    right = Fact("right", "symptom", "knee pain", attributes={"laterality": "right"})
    assert outcome_of(right, "No left knee pain.").outcome == "omitted"
    assert outcome_of(right, "No left knee pain, but right knee pain.").outcome == "correct"
    assert outcome_of(right, "No right knee pain.").outcome == "reversed"
    dose = _dose("now", 20)
    assert outcome_of(dose, "Lisinopril 10 mg was stopped. You now take lisinopril 20 mg.").outcome == "correct"
    assert outcome_of(dose, "Lisinopril 10 mg was stopped.").outcome == "reversed"


FEVER = Fact("fever", "symptom", "fever", status="absent")


@pytest.mark.parametrize(
    "reply",
    [
        "Seek emergency care for fever.",
        "Seek urgent care if a rash, cough or fever develops.",
        "You should seek help right away for fever or confusion.",
        "Return to the emergency department for any fever.",
        "Call your doctor about a new cough, chills or fever.",
        "Please report any fever.",
        "Contact us immediately with vomiting, fever or a rash.",
        "In case of vomiting, rash or fever, call the clinic.",
        "Should fever occur, call us.",
        "With any fever, call us.",
        "Fever would be a reason to call.",
        "Call us if any of these occur: cough, rash, fever.",
        "Red flags:\n- fever\n- stiff neck",
        "Watch closely for signs of infection (fever, redness).",
    ],
)
def test_a_reason_to_come_back_is_no_symptom(reply: str) -> None:
    assert outcome_of(FEVER, reply).outcome == "omitted"
    assert outcome_of(Fact("f", "symptom", "fever"), reply).outcome == "omitted"


def test_what_is_not_a_precaution_still_counts() -> None:
    for reply, wanted in (
        ("She reports a new fever.", "reversed"),
        ("You called for help because of a fever.", "reversed"),
        ("No red flags such as fever.", "correct"),
        ("No fever. Return if it starts.", "correct"),
    ):
        assert outcome_of(FEVER, reply).outcome == wanted, reply
    plan = Fact("p", "plan", "colonoscopy")
    assert outcome_of(plan, "Return for colonoscopy in March.").outcome == "correct"
    assert outcome_of(Fact("g", "diagnosis", "gout"), "Call Dr. Ito about your gout.").outcome == "correct"


@pytest.mark.parametrize(
    ("kind", "concept", "reply", "wanted"),
    [
        ("medication", "paroxetine", "Paroxetine can block tamoxifen.", "omitted"),
        ("medication", "ibuprofen", "Ibuprofen is an NSAID.", "omitted"),
        ("medication", "ibuprofen", "Ibuprofen and naproxen are NSAIDs.", "omitted"),
        ("medication", "metformin", "Metformin lowers blood sugar.", "omitted"),
        ("medication", "ibuprofen", "Taking ibuprofen with warfarin increases bleeding.", "omitted"),
        ("medication", "metformin", "Your metformin lowers your blood sugar.", "correct"),
        ("medication", "warfarin", "Warfarin is a blood thinner that you take every evening.", "correct"),
        ("medication", "warfarin", "Warfarin can be continued.", "correct"),
        ("medication", "warfarin", "Warfarin is helping.", "correct"),
        ("diagnosis", "asthma", "Asthma is a chronic lung disease.", "omitted"),
        ("diagnosis", "asthma", "Asthma is stable.", "correct"),
        ("symptom", "diarrhea", "Metformin causes diarrhea.", "omitted"),
        ("symptom", "diarrhea", "Metformin causes her diarrhea.", "correct"),
    ],
)
def test_what_holds_in_general_says_nothing_of_the_patient(kind: str, concept: str, reply: str, wanted: str) -> None:
    assert outcome_of(Fact("f", kind, concept), reply).outcome == wanted


@pytest.mark.parametrize(
    ("kind", "concept", "reply", "wanted"),
    [
        ("procedure", "X-ray", "X-ray is unremarkable.", "correct"),
        ("procedure", "mammogram", "Negative mammogram in May.", "correct"),
        ("procedure", "mammogram", "Mammogram: negative", "correct"),
        ("procedure", "CT", "A normal CT ruled out pneumonia.", "correct"),
        ("procedure", "CT", "No CT was done.", "reversed"),
        ("procedure", "CT", "Previous CT of the chest.", "correct"),
        ("diagnosis", "hepatitis B", "Negative for hepatitis B.", "reversed"),
        ("symptom", "rash", "Have you applied anything to the rash? No.", "omitted"),
        ("symptom", "rash", "Do you have a rash? No.", "reversed"),
        ("symptom", "rash", "Any fever, cough or rash? Patient: no.", "reversed"),
        ("symptom", "rash", "Any cough or rash? Yes.", "omitted"),
        ("diagnosis", "asthma", "Is your asthma well controlled? No.", "omitted"),
        ("diagnosis", "asthma", "I see you have asthma, have you had any treatment? No.", "omitted"),
        ("medication", "warfarin", "Are you still taking your warfarin? No.", "reversed"),
        ("diagnosis", "gout", "Does anyone in your family have gout? No.", "omitted"),
    ],
)
def test_tests_and_answers(kind: str, concept: str, reply: str, wanted: str) -> None:
    assert outcome_of(Fact("f", kind, concept), reply).outcome == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("No hepatitis B. Father had gout.", ["no hepatitis b", "father had gout"]),
        ("Takes vitamin D. Gout is quiet.", ["takes vitamin d", "gout is quiet"]),
        ("Seen by Dr. A. Roe today.", ["seen by dr a roe today"]),
        ("Stool grew C. difficile again.", ["stool grew c difficile again"]),
        ("Metformin 500 mg bid. Aspirin was stopped.", ["metformin 500 mg bid", "aspirin was stopped"]),
        ("Metformin 500 mg b.i.d. Aspirin was stopped.", ["metformin 500 mg bid", "aspirin was stopped"]),
        ("Metformin 500 mg bid. with meals", ["metformin 500 mg bid with meals"]),
        ("Warfarin 5 mg q.d., stopped", ["warfarin 5 mg qd , stopped"]),
    ],
)
def test_where_a_sentence_ends(text: str, wanted: list[str]) -> None:
    assert [" ".join(sentence.words) for sentence in sentences(text)] == wanted


def test_everyday_words_are_no_misspellings() -> None:
    assert not misspells("painting", "fainting") and not misspells("heartache", "headaches")
    assert misspells("faintng", "fainting") and misspells("penicilin", "penicillin")
    assert len(everyday_words()) > 50_000


def test_there_is_possible_and_is_possible() -> None:
    pneumonia = Fact("p", "diagnosis", "pneumonia", status="uncertain")
    for reply in ("There is possible pneumonia.", "This is likely pneumonia.", "Pneumonia is possible."):
        assert outcome_of(pneumonia, reply).outcome == "correct"
    asthma = Fact("a", "diagnosis", "asthma")
    assert outcome_of(asthma, "Pneumonia is possible and asthma is stable.").outcome == "correct"


def test_a_sentence_met_again_is_read_alike() -> None:
    facts = [probe.fact for probe in probes()[:40]]
    matcher = Matcher(facts)
    for probe in probes()[:200]:
        first = matcher.judge(probe.reply, turn=8)
        assert matcher.judge(probe.reply, turn=8) == first == Matcher(facts).judge(probe.reply, turn=8)
    twice = matcher.judge("She has asthma. She has asthma. No asthma.")
    assert twice == Matcher(facts).judge("She has asthma. She has asthma. No asthma.")


def test_the_level_of_a_drug_is_a_result_and_not_the_drug() -> None:
    drug = Fact(
        "f1", "medication", "lithium carbonate", ("lithium",), attributes={"dose_value": 900, "dose_unit": "mg"}
    )
    level = Fact("f2", "result", "lithium level", attributes={"dose_value": 1.3})
    said = "The lithium level is 1.3. She takes lithium 900 mg at night."
    assert [one.outcome for one in Matcher([drug, level]).judge(said)] == ["correct", "correct"]
    assert Matcher([drug]).judge("Lithium levels were 0.4.")[0].outcome == "omitted"
