"""Facts as sentences of the speaker: patient or parent, fluent or new to the language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workup.corpora.generate.conversation.people import Persona
from workup.corpora.generate.conversation.plots import Drafted, Plot, Told
from workup.corpora.generate.conversation.sources import table
from workup.values.draws import Chance

# Ways to say how often, all of one meaning.
_OFTEN: Mapping[str, tuple[str, ...]] = {
    "once daily": ("once daily", "once a day"),
    "twice daily": ("twice daily", "twice a day"),
    "three times daily": ("three times daily", "three times a day"),
    "once weekly": ("once weekly", "once a week"),
}
_FIRST_PERSON = {
    "I": "I",
    "am": "'m",
    "ve": "'ve",
    "have": "have",
    "my": "my",
    "take": "take",
    "dont": "don't",
    "was": "was",
    "me": "me",
    "live": "live",
}


def speech_of(persona: Persona) -> dict[str, str]:
    """Pronouns and verbs in the person that the speaker uses of the patient.

    >>> from workup.corpora.generate.conversation.people import Persona
    >>> speech_of(Persona("p", "female", "0-17", 8, "fluent", "harbour", "mother"))["take"]
    'takes'
    """
    if not persona.speaks_for_other:
        return {**_FIRST_PERSON, "i": "I", "My": "My"}
    she = persona.sex == "female"
    third = {"I": "She" if she else "He", "i": "she" if she else "he", "me": "her" if she else "him"}
    own = {"my": "her" if she else "his", "My": "Her" if she else "His"}
    return {
        **third,
        **own,
        "am": "'s",
        "ve": "'s",
        "have": "has",
        "take": "takes",
        "dont": "doesn't",
        "was": "was",
        "live": "lives",
    }


def introduction_of(persona: Persona) -> str:
    """Who the conversation is about, where another speaks; empty where the patient does."""
    child = "daughter" if persona.sex == "female" else "son"
    parent = "mother" if persona.sex == "female" else "father"
    if persona.speaker in ("mother", "father"):
        return f"I'm writing about my {child}, {speech_of(persona)['i']}'s {persona.years}."
    if persona.speaker in ("daughter", "son"):
        return f"I'm writing for my {parent}, {speech_of(persona)['i']}'s {persona.years}."
    return ""


def sentence_of(told: Told, plot: Plot, persona: Persona, chance: Chance) -> str:
    """One thing told in one sentence."""
    options: Any = table("sentences")[persona.language]
    for step in told.way:
        options = options[step]
    fact = plot.facts[told.fact or told.ends]
    text: str = chance.pick(options).format(**speech_of(persona), **_words_of(fact, persona, chance))
    return text[0].upper() + text[1:]


def _words_of(fact: Drafted, persona: Persona, chance: Chance) -> dict[str, str]:
    attributes = fact.attributes
    words = {
        "x": fact.concept,
        "X": fact.concept[0].upper() + fact.concept[1:],
        "side": "",
        "year": "",
        "dose": "",
        "value": "",
    }
    words["a"] = _article(fact.concept)
    if "laterality" in attributes:
        words["side"] = f"{attributes['laterality']} "
        words["a"] = "a " if words["a"] else ""
    words["year"] = str(attributes.get("date", ""))
    if fact.type == "medication":
        words["dose"] = _dose_of(attributes, chance)
    elif "dose_value" in attributes:
        words["value"] = " ".join(str(attributes[key]) for key in ("dose_value", "dose_unit") if key in attributes)
    plural = fact.concept.endswith("s") and not fact.concept.endswith(("ss", "is", "us", "diabetes"))
    words["has"] = "have" if plural else "has"
    words["why"] = str(fact.words.get("why_other" if persona.speaks_for_other else "why", ""))
    words |= {name: str(fact.words.get(name, "")) for name in ("reaction", "relative")}
    return words


def _article(concept: str) -> str:
    pools = table("pools")
    return "a " if concept in pools["a"] else "an " if concept in pools["an"] else ""


def _dose_of(attributes: Mapping[str, Any], chance: Chance) -> str:
    often = str(attributes["frequency"])
    said = chance.pick(_OFTEN.get(often, (often,)))
    unit = str(attributes["dose_unit"])
    if unit == "mcg":
        unit = chance.pick(("mcg", "micrograms"))
    route = f" {attributes['route']}" if "route" in attributes else ""
    return f"{attributes['dose_value']} {unit}{route} {said}"
