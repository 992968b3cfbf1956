"""The yes or no that closes an item ("Chest pain: no") or answers a question ("Chest pain? No."), and what it is of."""

from __future__ import annotations

from functools import cache

from workup.tasks.conversation.read.sentence.analysed import Analysed
from workup.tasks.conversation.read.sentence.cues import phrase_list, starts_with, word_set
from workup.tasks.conversation.read.sentence.vocabulary import table

_SIGNS: dict[tuple[str, ...], str] = {("(", "-", ")"): "no", ("(", "+", ")"): "yes"}
_CLOSERS = frozenset({",", ")", ";", "—", "-", ":"})
_DEFINITE = frozenset({"the", "this", "that", "these", "those", "your", "her", "his", "their", "my"})
_JOINTS = frozenset({",", "or", "and", "/"})
_AUXILIARIES = frozenset(
    {"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will"}
)


def answer(analysed: Analysed, start: int, end: int) -> str:
    """`yes`, `no` or nothing, for the mention in words [start, end).

    >>> from workup.tasks.conversation.read.sentence.text import Sentence
    >>> no = Sentence(["no"], False, ())
    >>> asked = Analysed(Sentence("do you have a rash".split(), True, ()), no)
    >>> about = Analysed(Sentence("did you put anything on the rash".split(), True, ()), no)
    >>> answer(asked, 4, 5), answer(about, 6, 7)
    ('no', '')
    """
    words = analysed.words
    if analysed.question:
        following = analysed.following
        if following is None or not following.words or not _asked_for(words, start, end):
            return ""
        place = _behind_label(following.words)
        found = _yes_or_no(following.words, place, closes=False)
        either = found == "yes" and "or" in words and {"both", "all"}.isdisjoint(following.words[place : place + 5])
        return "" if either else found  # "diabetes or gout? Yes." leaves open which
    place = end + (words[end : end + 1] == [":"])
    signed = _SIGNS.get(tuple(words[place : place + 3]), "")
    if not signed and start > 2:
        signed = _SIGNS.get(tuple(words[start - 3 : start]), "")
    if signed:
        return signed
    spoken = words[end : end + 1] == [","] and words[end + 1 : end + 2] in (["yes"], ["no"])
    if end < len(words) and (spoken or words[end] in (":", "(", "-", "—", "=")):
        return _yes_or_no(words, end + 1, closes=True)
    return ""


def _behind_label(words: list[str]) -> int:
    """Behind who speaks: "A: no", "Patient: no", "[patient] no"."""
    if words[1:2] == [":"]:
        return 2
    return 3 if words[0] == "[" and words[2:3] == ["]"] else 0


def _yes_or_no(words: list[str], place: int, *, closes: bool) -> str:
    for name, found in (("answers_no", "no"), ("answers_yes", "yes")):
        length = starts_with(words, place, phrase_list(name))
        after = place + length
        if length and (after >= len(words) or words[after] in _CLOSERS or (not closes and found == "yes")):
            return found
        if length and not closes and found == "no" and words[after] in word_set("subjects"):
            return found
    return ""


def _asked_for(words: list[str], start: int, end: int) -> bool:
    """Whether the question is after the mention itself: "any rash?", not "did anything help the rash?"."""
    asked_later = (
        words[at] in _AUXILIARIES and words[at + 1] in ("you", "she", "he") for at in range(end, len(words) - 1)
    )
    if any(asked_later):
        return False  # "I see you have asthma, have you had any treatment?"
    place = start - 1
    known = place >= 0 and not _DEFINITE.isdisjoint(words[max(0, place - 1) : start])
    while place >= 0:
        word = words[place]
        before = words[place - 1] if place else ""
        if word in word_set("asked_with") or f"{before} {word}" in _pairs():
            return True
        if word in word_set("asked_past") and word not in ("of", "to"):
            return False
        if word in ("of", "to"):  # "shortness of breath or wheezing", "history of"; "anything to the rash" is another
            if before not in word_set("asked_of") and (known or word == "to"):
                return False
            place -= 1
        elif word in word_set("subjects"):
            return before in _AUXILIARIES or not before
        elif word in _AUXILIARIES:
            return end >= len(words) or words[end] in _JOINTS
        elif known and word not in _DEFINITE and word not in _JOINTS and place < start - 2:
            return False
        place -= 1
    return not known


@cache
def _pairs() -> frozenset[str]:
    return frozenset(table("cues")["asked_with_pairs"])
