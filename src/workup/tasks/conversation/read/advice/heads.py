"""Verbs behind "to" and behind prepositions: which word before them advises, denies, reports or only tells."""

from __future__ import annotations

from collections.abc import Sequence

from workup.tasks.conversation.read.advice.subjects import (
    CONDITIONAL,
    GENERAL,
    JOINTS,
    OTHER,
    REPORT,
    Frame,
    back,
    by_other,
    denied_head,
    doubted,
    person_of,
    reported,
    subject_of,
)
from workup.tasks.conversation.read.advice.verbs import words
from workup.tasks.conversation.read.sentence.cues import word_set


def after_to(text: Sequence[str], place: int, before: Sequence[str]) -> Frame:
    """ "Need to", "best to", "want you to" advise; "told you to", "used to", "you want to" do not."""
    left, negated, _ = back(text, place - 1)
    named: Frame | None = None
    while left >= 0 and text[left] in words("told"):
        named = person_of(text, left, before) or named
        left -= 1
    if left >= 0 and text[left] in word_set("relatives"):
        return Frame(person=OTHER)
    head = text[left] if left >= 0 else ""
    if head in words("forgetting"):
        frame = _heading_of(text, left, before)
        return frame._replace(negated=not frame.negated if denied_head(text, left) else True)
    if head in words("denying_heads"):
        return Frame(negated=not negated)
    frame = _heading_of(text, left, before)
    if named is not None and named.person == OTHER:
        frame = frame._replace(person=OTHER)
    return frame._replace(negated=frame.negated != negated)


def _heading_of(text: Sequence[str], place: int, before: Sequence[str]) -> Frame:
    """The frame that the word before "to" gives."""
    head = text[place] if place >= 0 else ""
    subject, denied, _ = back(text, place - 1)
    who = text[subject] if subject >= 0 else ""
    if who in ("was", "were"):
        return Frame(REPORT)  # "you were right to stop it"
    if who == "to":
        return after_to(text, subject, before)  # "hard to remember to take it"
    if head in ("need", "reason", "necessity", "cause") and who in ("no", "any", "little"):
        return Frame(negated=True)
    if head == "reason" and who in ("a", "another", "good", "enough", "one"):
        return Frame(negated=denied)  # "that is a reason to stop it"
    if head in words("advising_passives") and who in ("are", "is", "be", "am"):
        left, _, _ = back(text, subject - 1)
        person = person_of(text, left, before) if left >= 0 else None
        return (person or Frame())._replace(negated=denied)
    if head in words("choices"):
        return _chosen(text, place)
    if head in ("is", "are", "be"):
        if who in words("subjects_patient"):
            return subject_of(text, place - 1, before)._replace(negated=denied)
        while subject > 0 and (who in words("modals") or who in words("modals_unsure")):  # "my advice would be to"
            subject, again, _ = back(text, subject - 1)
            denied, who = denied != again, text[subject] if subject >= 0 else ""
        return Frame(negated=denied) if who in words("advising_heads") or who in words("proposals") else Frame(GENERAL)
    if head in words("past_heads"):
        return Frame(REPORT)
    if head not in words("advising_heads") and head not in words("forgetting"):
        return Frame(GENERAL)
    while subject >= 0 and (text[subject] in words("modals") or text[subject] in ("do", "would", "will", "does", "d")):
        subject, again, _ = back(text, subject - 1)
        denied = denied != again
        who = text[subject] if subject >= 0 else ""
    if head in words("wanting") and who in words("subjects_patient"):
        # "You'll want to avoid it" is advice and loses its "will" in folding; "I know you want to stop" is none.
        opens = head == "want" and (subject == 0 or text[subject - 1] in JOINTS)
        asked = "might" in text[:place] or "may" in text[:place]
        return Frame(negated=denied) if asked or opens else Frame(REPORT)
    led = subject > 0 and who in ("you", "i", "we") and text[subject - 1] in words("subordinating")
    if led or who in words("subordinating"):
        return Frame(CONDITIONAL)
    person = person_of(text, subject, before) if who else None
    if reported(text, subject):
        return Frame(REPORT)
    if head == "need" and doubted(text, subject):  # "I don't think you need to"
        denied = not denied
    return (person or Frame())._replace(negated=denied or (who == "no"))


def _chosen(text: Sequence[str], place: int) -> Frame:
    """ "It is not a good idea to", "the safest thing is to", "a bad idea to"."""
    negated = False
    for left in range(place - 1, max(-1, place - 6), -1):
        word = text[left]
        if word in words("bad_adjectives"):
            negated = not negated
        elif word in words("negators"):
            return Frame(negated=not negated)
        elif word in ("was", "were"):
            return Frame(REPORT)
        elif word in JOINTS:
            break
    return Frame(negated=negated)


def after_preposition(text: Sequence[str], place: int) -> Frame:
    """A gerund behind a preposition: "advise against taking", "instead of stopping", "before starting"."""
    word = text[place]
    if word == "against":
        left, _, _ = back(text, place - 1)
        while left >= 0 and text[left] in ("you", "anyone", "her", "him", "patient", "the"):
            left -= 1
        head = text[left] if left >= 0 else ""
        if head in words("past_heads") or by_other(text, left):
            return Frame(REPORT)
        return Frame(negated=True)
    unharmed = drawback(text, place)
    if unharmed is not None:
        return unharmed
    if word == "in" and place > 1 and text[place - 1] in words("pointless"):
        near = text[max(0, place - 5) : place - 1]
        return Frame(negated=bool({"no", "not", "little", "never"} & set(near)))  # "no point in taking"
    if word in ("of", "than") and place > 0 and text[place - 1] in ("instead", "rather"):
        return Frame(negated=True)
    if word in words("subordinating"):
        return Frame(CONDITIONAL)
    if word in words("advising_heads"):
        return Frame(negated=denied_head(text, place))
    return Frame(GENERAL)


def drawback(text: Sequence[str], place: int) -> Frame | None:
    """ "No harm in taking", "nothing wrong with", "no concerns about you taking": told fit by what is denied of it."""
    while place >= 0 and text[place] in (
        "you",
        "your",
        "in",
        "with",
        "about",
        "to",
        "at",
        "all",
        "for",
        "here",
        "from",
    ):
        place -= 1
    if place < 1:
        return None
    if text[place] in words("drawbacks"):
        before = text[max(0, place - 3) : place]
        return Frame() if {"no", "nothing", "not", "without", "any"} & set(before) else None
    if text[place] in words("content_with") and text[place + 1] in ("with", "about"):
        own = {"i", "we", "you"} & set(text[max(0, place - 4) : place])
        return Frame(negated="not" in text[max(0, place - 4) : place]) if own else None
    return None
