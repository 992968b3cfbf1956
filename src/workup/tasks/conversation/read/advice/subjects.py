"""Subjects and what they make of a sentence: the patient, a relative, people at large, a doctor who is quoted.

It reads words to the left of a place; the lists are in data/advice_verbs.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workup.tasks.conversation.read.advice.verbs import words
from workup.tasks.conversation.read.sentence.cues import word_set

PLAIN, CONDITIONAL, QUESTION, REPORT, GENERAL = "plain", "conditional", "question", "report", "general"
PATIENT, OTHER = "patient", "other"
# Left of a verb: where a clause of its own begins.
JOINTS = frozenset([*",:;()-—→/&!.", "and", "or", "nor", "but", "then", "so", "yes", "no"])


class Frame(NamedTuple):
    """How a verb stands: its mood, to whom, denied or not. `subject` marks a gerund that waits for a judgement."""

    mood: str = PLAIN
    person: str = PATIENT
    negated: bool = False
    subject: bool = False
    no_longer: bool = False


def back(text: Sequence[str], place: int) -> tuple[int, bool, bool]:
    """Pass over adverbs and negations to the left."""
    negated = no_longer = False
    while place >= 0:
        word = text[place]
        if word == "longer" and place > 0 and text[place - 1] == "no":
            negated, no_longer, place = not negated, True, place - 1
        elif word in words("negators"):
            negated = not negated
        elif word == "and" and place > 1 and text[place - 1] == "ahead" and text[place - 2] == "go":
            place -= 2  # "go ahead and take"
        elif word not in words("adverbs") and word not in words("hedges"):
            break
        place -= 1
    return place, negated, no_longer


def subject_of(text: Sequence[str], place: int, before: Sequence[str]) -> Frame:
    """The frame that the subject ending at `place` gives: you and we advise, relatives are others, doctors report."""
    place, _, _ = back(text, place)
    word = text[place] if place >= 0 else ""
    if not word or word in JOINTS:
        return Frame()
    person = person_of(text, place, before)
    if person is not None:
        return person
    if word in words("subjects_own") or word in words("subjects_patient"):
        return Frame()
    return _long_subject(text, place, before)


def _long_subject(text: Sequence[str], place: int, before: Sequence[str]) -> Frame:
    """The head of a longer subject: "people with kidney disease should", "your sister with asthma should"."""
    left = place
    while left >= 0 and text[left] not in JOINTS:
        if text[left] in words("subjects_own") or text[left] in words("subjects_patient"):
            return Frame()
        person = person_of(text, left, before)
        if person is not None:
            return person
        left -= 1
    return Frame()


def person_of(text: Sequence[str], place: int, before: Sequence[str]) -> Frame | None:
    """What the noun or pronoun at `place` says of the person; None for words that say nothing."""
    word = text[place]
    if word in word_set("relatives"):
        return Frame(person=OTHER)
    if word in words("subjects_general") and not (word == "one" and place > 0 and text[place - 1] in ("this", "that")):
        return Frame(GENERAL)
    if word in words("subjects_reporting"):
        return Frame(REPORT)
    if word in ("she", "he", "they", "him", "her", "them"):
        # The nearest one named before the pronoun: "Your sister has asthma. She should ...".
        for other in (*reversed(text[:place]), *reversed(before)):
            if other in ("patient", "you", "i"):
                break
            if other in word_set("relatives"):
                return Frame(person=OTHER)
            if other in words("subjects_general"):
                return Frame(GENERAL)
        return Frame()
    return None


def doubted(text: Sequence[str], subject: int) -> bool:
    """ "I don't think you should take it" tells the patient not to."""
    place = subject - 1
    while place >= 0 and text[place] == "that":
        place -= 1
    if place > 0 and text[place] in ("reason", "why") and "no" in text[max(0, place - 2) : place]:
        return True  # "there is no reason you cannot take it"
    if place < 0 or text[place] not in ("think", "believe", "feel", "recommend", "suggest", "advise"):
        return False
    return back(text, place - 1)[1]


def unsaid(text: Sequence[str], subject: int) -> bool:
    """ "I am not saying you should stop", "it is not that you should stop"."""
    place = subject - 1
    while place >= 0 and text[place] == "that":
        place -= 1
    if place < 0:
        return False
    if text[place] in ("saying", "suggesting", "implying", "telling", "claiming"):
        return back(text, place - 1)[1]
    return text[place] == "not" and place != subject - 1


def reported(text: Sequence[str], subject: int) -> bool:
    """Whether another said what follows: "you asked whether you should stop", "your doctor said you should stop"."""
    if subject < 1:
        return False
    place = subject - 1
    while place >= 0 and text[place] in ("that", "me", "us", "you", "whether", "if", "it", "have", "were", "be"):
        place -= 1
    if place < 0 or text[place] not in words("reporting"):
        return text[subject - 1] == "whether"
    return not _own_words(text, place)


def _own_words(text: Sequence[str], place: int) -> bool:
    """ "I think you should", "as I mentioned, ...": the reply's own advice."""
    before, _, _ = back(text, place - 1)
    while before >= 0 and text[before] in ("have", "do", "am", "would", "d", "ve"):
        before, _, _ = back(text, before - 1)
    return before >= 0 and text[before] in ("i", "we")


def by_other(text: Sequence[str], place: int) -> bool:
    subject, _, _ = back(text, place - 1)
    return subject >= 0 and (text[subject] in words("subjects_reporting") or text[subject] in words("subjects_general"))


def denied_head(text: Sequence[str], place: int) -> bool:
    """Whether the word that advises is itself denied: "not recommend that you", "no need to"."""
    left, negated, _ = back(text, place - 1)
    if negated:
        return True
    if left >= 0 and text[left] in ("no", "without"):
        return True
    return left > 0 and text[left] in ("a", "any", "really") and text[left - 1] == "not"
