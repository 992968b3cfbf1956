"""Words of a note that follow from the patient or from the note itself: pronouns, nouns for a person, titles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workup.corpora.generate.notes import clinical
from workup.corpora.generate.notes.slot_writers import EMPTY
from workup.text.numbers import ordinal

if TYPE_CHECKING:
    from workup.corpora.generate.notes.note_writer import Scribe

_PRONOUNS = {
    "F": {"he": "she", "He": "She", "him": "her", "his": "her", "His": "Her", "himself": "herself"},
    "M": {"he": "he", "He": "He", "him": "him", "his": "his", "His": "His", "himself": "himself"},
}


def word(scribe: Scribe, name: str) -> str:
    """The word of this name for this note."""
    pronoun = _PRONOUNS[scribe.patient.person.sex].get(name)
    return _WORDS[name](scribe) if pronoun is None else pronoun


def _person_word(scribe: Scribe) -> str:
    woman = scribe.patient.person.sex == "F"
    if scribe.age < 1:
        return "infant"
    if scribe.age < 13:
        return "girl" if woman else "boy"
    if scribe.age < 18:
        return "teenager"
    return "woman" if woman else "man"


def _title(scribe: Scribe) -> str:
    """Mr. or Ms.; of a child the given name is used instead, and no title."""
    if scribe.age < 16:
        return EMPTY
    return "Ms." if scribe.patient.person.sex == "F" else "Mr."


def _other_specialty(scribe: Scribe) -> str:
    return clinical.OTHERS[int(scribe.draw() * len(clinical.OTHERS))]


def _school(scribe: Scribe) -> str:
    if scribe.age < 5:
        return "stays at home with family" if scribe.age < 2 else "attends preschool"
    return f"in {ordinal(scribe.age - 5)} grade" if scribe.age > 5 else "in kindergarten"


def _stay(scribe: Scribe) -> str:
    days = (scribe.visit.days["discharge"] - scribe.visit.days["admit"]).days
    return f"{days} days" if days > 1 else "1 day" if days else "less than a day"


_WORDS: Mapping[str, Callable[[Scribe], str]] = {
    "man": _person_word,
    "sex": lambda scribe: "female" if scribe.patient.person.sex == "F" else "male",
    "sex_letter": lambda scribe: scribe.patient.person.sex,
    "Mr": _title,
    "relation": lambda scribe: scribe.relation,
    "title": lambda scribe: scribe.title,
    "TITLE": lambda scribe: scribe.title.upper(),
    "specialty": lambda scribe: scribe.visit.specialty.title,
    "SPECIALTY": lambda scribe: scribe.visit.specialty.title.upper(),
    "specialty_other": _other_specialty,
    "credential": lambda scribe: scribe.credential,
    "school": _school,
    "stay": _stay,
}
