"""Whether a verb reaches a thing behind it: over articles, doses and lists, and not over another clause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workup.tasks.conversation.read.advice.subjects import GENERAL, PLAIN, REPORT, Frame
from workup.tasks.conversation.read.advice.targets import CLASS, DRUG, NAMED, Found
from workup.tasks.conversation.read.advice.verbs import PARTICIPLE, PAST, START, STOP, THIRD, Verb, at, words
from workup.tasks.conversation.read.sentence.cues import word_set

_LONGEST = 40  # words; a list that runs on for longer is followed no further


class Gap(NamedTuple):
    """What lies between a verb and a thing: `turned` by "instead of" or "except", `other` for a relative's."""

    turned: bool = False
    opposed: bool = False
    other: bool = False
    chained: bool = False


def carried(
    text: Sequence[str], verb: Verb, start: int, covered: frozenset[int], shift: int, *, negative: bool
) -> Gap | None:
    """The gap, or None where the verb does not reach."""
    opened = _opened(text, verb, start) if start - verb.end <= _LONGEST else None
    if opened is None:
        return None
    place, turned = opened
    opposed = other = chained = False
    while place < start:
        word = text[place]
        if place in covered:
            chained = True
            place += 1
            continue
        length = _turning(text, place)
        if length:
            opposed = opposed or not at(text, place, "excepting")
            turned, place = True, place + length
            continue
        if word == "no":
            turned = not turned  # "you need no antibiotics"
        elif word in word_set("relatives"):
            other = True
        elif (
            (word == ":" and not (place < shift or place == verb.end))
            or (word == "with" and chained and negative)
            or (word in words("breaking") and word != "that")
        ):
            return None
        elif not _carries(word, chained=chained):
            # "Avoid alcohol, smoking and ibuprofen": other items of the list.
            joint = _item_end(text, place, start)
            if not joint:
                return None
            chained, place = True, joint
        place += 1
    return Gap(turned, opposed, other, chained)


def _opened(text: Sequence[str], verb: Verb, start: int) -> tuple[int, bool] | None:
    """Where the gap begins, and whether "against" turns it; "treat this with" begins behind its "with"."""
    place = verb.end
    turned = place < start and text[place] == "against"
    place += turned
    if verb.head not in _WITH or text[verb.end - 1] in ("with", "using"):
        return place, turned
    joint = next((one for one in range(place, min(place + 6, start)) if text[one] in ("with", "using")), None)
    return None if joint is None else (joint + 1, turned)


def _carries(word: str, *, chained: bool) -> bool:
    known = word in words("carried") or word in word_set("number_words") or word[0].isdigit()
    return known or (chained and word in words("passed_behind"))


def _item_end(text: Sequence[str], place: int, start: int) -> int:
    """The comma or "and" behind an item of a list that is no thing of ours; 0 where the words are no such item."""
    for end in range(place, min(place + 4, start)):
        if text[end] in (",", "and", "or", "&") and end > place:
            return end
        if not text[end].isalpha() or text[end] in words("no_items") or text[end] in word_set("verbs"):
            return 0
        if text[end] in words("breaking") or text[end] in word_set("finite_verbs"):
            return 0
    return 0


def _turning(text: Sequence[str], place: int) -> int:
    if text[place] == "over" and list(text[place + 1 : place + 2]) in (["the"], ["counter"]):
        return 0
    return at(text, place, "excepting") or at(text, place, "opposing")


_WITH = frozenset(["treat", "manage", "cover", "control", "relieve", "ease", "pair"])
_SWAPS = {"replace": ("with", "by"), "swap": ("for", "with"), "substitute": ("for",)}
_MOVES = frozenset(["switch", "change", "transition", "move", "convert"])


def swapped(text: Sequence[str], verb: Verb, start: int, things: Sequence[Found]) -> str:
    """What a change from one drug to another asks of the thing at `start`: the first is stopped, the second started."""
    if verb.head not in _SWAPS and verb.head not in _MOVES:
        return ""
    drugs = [one.start for one in things if one.things[0].kind in (DRUG, CLASS, NAMED) and one.start >= verb.end]
    if start not in drugs or start - verb.end > _LONGEST:
        return ""
    joints = _SWAPS.get(verb.head, ("to",))
    turn = next((place for place in range(verb.end, len(text)) if text[place] in joints), None)
    if turn is None or (verb.head in _MOVES and verb.end - verb.start == 1 and not any(one < turn for one in drugs)):
        return ""
    if "to" in text[verb.start : verb.end] and start > verb.end:
        return ""
    behind = [one for one in drugs if one > turn]
    if not behind or behind[0] - turn > 5:
        return ""
    first = start < turn
    if verb.head == "substitute":
        return START if first else STOP
    return STOP if first else START


def label_of(text: Sequence[str], verb: Verb, shift: int) -> Frame | None:
    """The frame of a verb in a heading: "Medicines to avoid:" advises, "Stopped:" reports. None for other verbs."""
    if verb.end > shift:
        return None
    heading = text[:shift]
    if verb.head in words("bringing") and verb.head not in words("proposing_verbs"):
        return Frame(GENERAL)  # "Things to consider:"
    told = verb.start > 0 and heading[verb.start - 1] == "you"  # "Medications you take:"
    past = told or ({PAST, PARTICIPLE, THIRD} & verb.forms and "base" not in verb.forms)
    if past or not words("report_labels").isdisjoint(heading) or "if" in heading or "?" in heading:
        return Frame(REPORT)
    denied = verb.start > 0 and any(word in words("negators") for word in text[max(0, verb.start - 3) : verb.start])
    return Frame(PLAIN, negated=denied)
