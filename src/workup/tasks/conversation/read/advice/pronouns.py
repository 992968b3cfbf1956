"""Pronouns that mean a drug named before: "Since naproxen ..., avoid it", "Please continue both"."""

from __future__ import annotations

from collections.abc import Sequence

from workup.tasks.conversation.read.advice.governing import TAKEN
from workup.tasks.conversation.read.advice.parsed import Parsed
from workup.tasks.conversation.read.advice.right_context import behind
from workup.tasks.conversation.read.advice.subjects import PLAIN
from workup.tasks.conversation.read.advice.targets import Found, Thing
from workup.tasks.conversation.read.advice.verbs import words

_NOT_OBJECTS = frozenset(["easy", "slow", "slowly", "up", "seriously", "personally", "simple", "short", "in", "all"])


def pronouns(text: Parsed, known: tuple[Thing, ...], run: tuple[Thing, ...]) -> list[Found]:
    """Pronouns behind a verb that mean a drug named before: "Since naproxen ..., avoid it"."""
    found = []
    for verb in text.verbs:
        if "drug" not in verb.asks or verb.end < text.shift:
            continue
        length = _pronoun_at(text.words, verb.end)
        if not length:
            continue
        many = text.words[verb.end] in ("them", "these", "those", "both")
        meant = _antecedents(text, verb.start, run if many else known, many=many)
        if text.words[verb.end] == "both" and len(meant) != 2:
            continue
        found += [Found(verb.end, verb.end + length, (thing,)) for thing in meant]
    opening = text.words[text.shift] if text.shift < len(text.words) else ""
    if opening in ("it", "that", "this", "they") and len(known) == 1:
        judged = behind(text.words, text.shift + 1, text.covered, text.verbs)
        if judged is not None and judged.mood == PLAIN and not _expletive(text.words, text.shift):
            found.append(Found(text.shift, text.shift + 1, known))
    return found


def _expletive(words_: Sequence[str], place: int) -> bool:
    """ "It is important to", "it is safe for you to": no drug is meant."""
    return not {"to", "that", "if", "when", "whether"}.isdisjoint(words_[place + 1 :])


def _pronoun_at(text: Sequence[str], place: int) -> int:
    if place >= len(text):
        return 0
    word = text[place]
    after = text[place + 1] if place + 1 < len(text) else ""
    if word in ("the", "this", "that", "these", "those", "your") and after in words("things_meant_nouns"):
        return 2
    if word in ("it", "them", "both") or (word in words("things_meant") and not after[:1].isalpha()):
        return 0 if after in _NOT_OBJECTS else 1
    return 0


def _antecedents(text: Parsed, place: int, known: tuple[Thing, ...], *, many: bool) -> tuple[Thing, ...]:
    here = [one for one in text.things if one.end <= place and one.things[0].kind in TAKEN]
    if here:
        near = here if many else here[-1:]
        return tuple(dict.fromkeys(one.things[0] for one in near))
    return known if many or len(known) == 1 else ()
