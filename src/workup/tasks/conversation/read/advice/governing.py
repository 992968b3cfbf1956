"""Which verb before a thing asks for it, alone or with others: "avoid stopping", "replace one with the other"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workup.tasks.conversation.read.advice.gaps import Gap, carried, swapped
from workup.tasks.conversation.read.advice.parsed import Parsed
from workup.tasks.conversation.read.advice.right_context import passed
from workup.tasks.conversation.read.advice.subjects import OTHER, back
from workup.tasks.conversation.read.advice.targets import CLASS, DRUG, LIFE, NAMED, TEST, Found, Thing
from workup.tasks.conversation.read.advice.verbs import (
    AVOID,
    CHANGE,
    CONTINUE,
    DECREASE,
    GERUND,
    INCREASE,
    SPLIT,
    START,
    STOP,
    Verb,
    composed,
    opposite,
    second_half,
    words,
)
from workup.tasks.conversation.read.sentence.vocabulary import table

TAKEN = frozenset({DRUG, CLASS, NAMED})


class Reading(NamedTuple):
    """What is asked of one thing. `waits` marks a gerund whose judgement stands behind the thing, if anywhere."""

    action: str
    mood: str
    person: str
    verb: Verb | None
    barred: str = ""
    same_dose: bool = False
    waits: bool = False


def asked_before(text: Parsed, target: Found, thing: Thing) -> Reading | None:
    """What the nearest verb before the thing asks of it."""
    for place in range(len(text.verbs) - 1, -1, -1):
        verb = text.verbs[place]
        if verb.end > target.start:
            continue
        if verb.head == "have" and thing.kind in TAKEN and not _may_have(text.words, verb):
            return None
        special = swapped(text.words, verb, target.start, text.things) if thing.kind in TAKEN else ""
        action = special or verb.action(thing.kind)
        if not action and thing.name in table("advice_verbs")["scans"]:
            action = verb.action(TEST)
        against = (action in (STOP, AVOID)) != text.frame(place).negated
        # "Lower your blood pressure with losartan" lowers no losartan.
        alone = against or action in (INCREASE, DECREASE)
        gap = carried(text.words, verb, target.start, text.covered, text.shift, negative=alone)
        if thing.kind in LIFE and "with" in text.words[verb.end : target.start]:
            gap = None  # "should not be taken with dairy" speaks of the drug
        if special:
            gap = Gap()
        elif gap is not None and action and (not gap.chained or verb.head in words("keeping")):
            half = _passed_dose(text.words, target.end)
            behind = passed(text.words, target.end, text.covered)  # "keep morphine and codeine off the table"
            action = second_half(text.words, verb, half) or second_half(text.words, verb, behind) or action
            if verb.head == "leave" and verb.end - verb.start == 1:
                action = _left(text, verb, target, half) or action
        if action == SPLIT:
            action = START if "with" in text.words[verb.end : target.start] else ""
        if not action or gap is None:
            if gap is None and place and text.verbs[place - 1].end == verb.start:
                continue
            return None
        if gap.chained and _own_predicate(text, target):
            return None
        return _governed(text, place, action, gap, thing)
    return None


def _left(text: Parsed, verb: Verb, target: Found, half: int) -> str:
    """ "Leave your lithium alone" lets it be as it is; "leave ibuprofen alone", "leave it for others" keeps off it."""
    own = "your" in text.words[verb.end : target.start]
    return "" if own or text.words[half : half + 1] not in (["alone"], ["for"], ["to"]) else AVOID


def _may_have(text: Sequence[str], verb: Verb) -> bool:
    """ "You can have ibuprofen" advises; "you have ibuprofen at home" and "have your insulin ready" do not."""
    place, _, _ = back(text, verb.start - 1)
    return verb.end - verb.start == 1 and place >= 0 and text[place] in words("modals")


def _passed_dose(text: Sequence[str], place: int) -> int:
    """The word behind "dose" or "medication" where one follows a drug."""
    return place + (place < len(text) and text[place] in ("dose", "dosage", "tablets", "pills"))


def _own_predicate(text: Parsed, target: Found) -> bool:
    """ "Stop ibuprofen, acetaminophen is safer": what follows the second is said of it alone."""
    place = passed(text.words, target.end, text.covered)
    return place < len(text.words) and text.words[place] in words("finite")


def _governed(text: Parsed, place: int, action: str, gap: Gap, thing: Thing) -> Reading:
    verb, first = text.verbs[place], place
    turned = gap.turned
    while first and GERUND in text.verbs[first].forms:
        outer = text.verbs[first - 1]
        between = text.words[outer.end : text.verbs[first].start]
        if not all(word in words("negators") or word in words("adverbs") for word in between):
            break
        asked = outer.action(thing.kind) or START
        denied = sum(word in words("negators") for word in between) % 2 == 1
        action = composed(asked, opposite(action) if denied else action, outer.head)
        first -= 1
    frame = text.frame(first)
    barred = ""
    same = frame.negated and action == CHANGE
    if frame.negated:
        barred = action
        action = STOP if frame.no_longer and action == START else opposite(action)
        if verb.head in ("skip", "miss"):
            action = CONTINUE  # "don't skip your insulin"
    if turned:
        action = opposite(action)
        if action == STOP and gap.opposed:
            action = AVOID
    person = OTHER if gap.other else frame.person
    governing = text.verbs[first]
    return Reading(action, frame.mood, person, governing, barred, same, frame.subject)
