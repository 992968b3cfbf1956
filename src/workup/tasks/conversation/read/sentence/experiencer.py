"""Whose it is: the patient's, a relative's, the family's. A relative who reports or helps is not the one who has it."""

from __future__ import annotations

from workup.tasks.conversation.read.sentence.analysed import TREATMENTS, Analysed
from workup.tasks.conversation.read.sentence.clauses import HARD, SUBJECT
from workup.tasks.conversation.read.sentence.cues import Cue, word_set
from workup.tasks.conversation.read.sentence.mention import FAMILY, SPEAKERS

_PERSON = frozenset({HARD, SUBJECT})


def experiencer(analysed: Analysed, found: dict[str, Cue], start: int, end: int, kind: str) -> tuple[str, bool]:
    """The relative or family that a mention is of (or nothing), and whether it is the patient's as well."""
    words = analysed.words
    cue = found.get("family")
    if cue is not None:
        personal = "personal" in words[max(0, cue.start - 3) : cue.start]
        return FAMILY, personal
    relatives = word_set("relatives")
    if relatives.isdisjoint(words):
        return "", True
    for place, word in enumerate(words):
        if word not in relatives:
            continue
        if place < start and _of_relative_before(analysed, place, start, kind):
            if place and words[place - 1] in ("my", "our"):
                return f"{SPEAKERS}{word})", False  # the one who speaks has a family too
            return f"relative({word})", False
        if place >= end and _of_relative_after(words, end, place):
            return f"relative({word})", False
    return "", True


def _of_relative_before(analysed: Analysed, place: int, start: int, kind: str) -> bool:
    words = analysed.words
    if analysed.parted(place + 1, start, _PERSON) and place >= analysed.shift:
        return False
    if kind in TREATMENTS and "," in words[place:start]:
        return False
    before = place - 1
    while before >= 0 and (words[before] in word_set("determiners") or words[before] in ("maternal", "paternal")):
        before -= 1
    if before >= 0 and words[before] in word_set("informants_before") and place - before <= 3:
        return False
    if before > 0 and words[before] == "with" and words[before - 1] in word_set("beside"):
        return False
    following = place + 1
    while following < start and words[following] in word_set("adverbs"):
        following += 1
    return words[following] not in word_set("informants")


_HAS_IT = frozenset({"is", "was", "are", "common", "present", "also", "runs", "comes"})
_IN_RELATIVE = frozenset({"in", "(", ":", "-", "—"})


def _of_relative_after(words: list[str], end: int, place: int) -> bool:
    """As in "diabetes in her mother", "breast cancer (mother)"."""
    gap = words[end:place]
    while gap and gap[0] in _HAS_IT:
        gap = gap[1:]
    on_side = words[place + 1 : place + 2] == ["side"]
    if not gap or not (gap[0] in _IN_RELATIVE or (on_side and gap[0] in ("on", "from"))) or len(gap) > 5:
        return False
    return all(
        word in ("on", "from")
        or word in word_set("determiners")
        or word in _IN_RELATIVE
        or word in word_set("relatives")
        or word == "both"
        for word in gap
    )
