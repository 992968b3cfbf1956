"""Every sentence that Workup itself puts into a conversation. A change of any of them is a new TEMPLATE.

No sentence here tells a value or a status of a fact: a question names the thing it asks for and nothing more.
"""

from __future__ import annotations

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts.mentions import prepare_fact
from workup.tasks.conversation.read.facts.names import SIDE

TEMPLATE = "1"

OPENING = "I would like to talk about my health."  # where an arm leaves nothing else to be said
NOTED = "Thank you, I have noted this."  # what an assistant is taken to have answered in arms that are not live
NO_ANSWER = "(no answer)"  # stands in the history for a reply without a word; an empty message is refused by many
_WORDS_PER_TOKEN = 0.75
_FEWEST_WORDS = 12

# Each can be answered by a bare yes or no about the present, and asks for the rest in words.
_QUESTIONS = {
    "allergy": "Has the patient an allergy to {it}?",
    "medication": "Does the patient take {it}? If so, say in which dose, how often and by which route.",
    "procedure": "Has the patient had {it}? If so, say when and on which side.",
    "result": "Was {it} spoken of? If so, say its value, unit and date.",
    "plan": "Was {it} agreed on for this patient? If so, say when.",
}
_ANY = "Does {it} apply to the patient?"
_STATUS = "Say whether it is present, absent, past, in a relative or uncertain."

# Said by the patient in the filler arms: nothing of medicine, and nothing that calls for an answer.
NEUTRAL = (
    "The bus was on time this morning.",
    "My neighbour painted the fence green.",
    "I found a nice book at the library.",
    "We are repainting the kitchen next month.",
    "The train to the coast was full.",
    "My phone has a new ringtone.",
    "There is a market in our street on Saturdays.",
    "I am looking for a new umbrella.",
    "The museum opens at ten.",
    "My sister sent me a postcard.",
    "They are building a bridge near our house.",
    "I learned a new song on the guitar.",
    "The shop around the corner sells old maps.",
    "We watched the boats in the harbour.",
    "My office moved to the third floor.",
    "The clock in the hall runs five minutes fast.",
)


# Put into the model's own reply in the arms that plant an error there.
_WRONG_DOSE = "You take {it} {amount}."
_DENIALS = {"allergy": "You are not allergic to {it}."}
_DENIAL = "You do not have {it}."


def wrong_dose_of(fact: Fact, amount: str) -> str:
    """A drug with a dose that is not its own."""
    unit = fact.attributes.get("dose_unit")
    often = fact.attributes.get("frequency")
    words = [amount, *(str(part) for part in (unit, often) if part)]
    return _WRONG_DOSE.format(it=name_of(fact), amount=" ".join(words))


def denial_of(fact: Fact) -> str:
    """A fact denied.

    >>> denial_of(Fact("f1", "allergy", "penicillin allergy"))
    'You are not allergic to penicillin.'
    """
    return _DENIALS.get(fact.type, _DENIAL).format(it=name_of(fact))


def summary_probe(tokens: int) -> str:
    """What is asked of the model at a turn, off the history: all that it knows, within a number of tokens."""
    words = max(_FEWEST_WORDS, int(tokens * _WORDS_PER_TOKEN))
    return (
        "Before we go on: summarise the state of the patient as it stands now, from this conversation alone. Name "
        "allergies, medicines with dose, frequency and route, diagnoses, symptoms, risks, results, procedures, social "
        "circumstances and plans; for each say whether it is present, absent, past, in the family or uncertain, and "
        f"leave out what no longer holds. Use full sentences and at most {words} words."
    )


def question_probe(fact: Fact) -> str:
    """The closed question for one fact. It names the fact and tells neither its status nor its values.

    >>> question_probe(Fact("f1", "allergy", "penicillin allergy"))[31:72]
    'Has the patient an allergy to penicillin?'
    """
    asked = _QUESTIONS.get(fact.type, _ANY).format(it=name_of(fact))
    return (
        f"Before we go on, one question. {asked} {_STATUS} Answer from this conversation alone, in one full sentence "
        'that names it. If it was not spoken of, answer "I do not know."'
    )


def name_of(fact: Fact) -> str:
    """The plain name of a fact: "penicillin allergy" is penicillin, "warfarin 5 mg" is warfarin."""
    names = prepare_fact(fact).names
    words = [word for word in names[0].words if word != SIDE] if names else []
    return " ".join(words) or fact.concept


def opening_of(summary: str, message: str) -> str:
    """The first message: what is known of the patient beforehand, then what the turn says."""
    return f"Patient summary: {summary}\n\n{message}" if summary else message


def with_summary(summary: str, message: str) -> str:
    """A message behind the summary of the turns that were left out before it."""
    return f"Summary of our conversation so far: {summary}\n\n{message}" if summary else message


def compaction_request(summary: str, said: str, tokens: int) -> str:
    """What the model is asked for when older turns are to be replaced by a summary."""
    words = max(_FEWEST_WORDS, int(tokens * _WORDS_PER_TOKEN))
    before = f"Summary so far:\n{summary}\n\n" if summary else ""
    return (
        f"{before}Conversation to add:\n{said}\n\nWrite one summary of all of the above that can take its place in the "
        f"conversation. Keep every fact about the patient, with its values. Use at most {words} words."
    )
