"""Advice without a verb of its own: items of a plan, "my suggestion is ...", "instead of ..." at the head."""

from __future__ import annotations

from workup.tasks.conversation.read.advice.governing import TAKEN, Reading
from workup.tasks.conversation.read.advice.heads import drawback
from workup.tasks.conversation.read.advice.parsed import Parsed
from workup.tasks.conversation.read.advice.subjects import PATIENT, PLAIN
from workup.tasks.conversation.read.advice.targets import CARE, LIFE, REFERRAL, SAFETY, Found, Thing
from workup.tasks.conversation.read.advice.verbs import AVOID, SEEK, START, at, opposite, words


def from_label(text: Parsed, target: Found, thing: Thing) -> Reading | None:
    """An item of a plan without a verb of its own: "Plan: amoxicillin 500 mg"."""
    if thing.kind == SAFETY or not _opens_item(text, target):
        return None
    labels = set(text.words[: text.shift])
    if not text.shift and ":" in text.words[: target.start]:
        labels = set(text.words[: target.start])
    if not labels or not words("report_labels").isdisjoint(labels) or words("plan_labels").isdisjoint(labels):
        return None
    if not labels.isdisjoint(("not", "never", "unsafe", "no")):
        return Reading(AVOID, PLAIN, PATIENT, None)
    return Reading(SEEK if thing.kind in (CARE, REFERRAL) else START, PLAIN, PATIENT, None)


def _opens_item(text: Parsed, target: Found) -> bool:
    start = text.shift
    for mark in (":", "-", "—"):
        if mark in text.words[start : target.start]:
            start = text.words.index(mark, start) + 1
    return all(
        place in text.covered or word in words("carried") or word[0].isdigit()
        for place, word in enumerate(text.words[start : target.start], start=start)
    )


def from_dose(text: Parsed, target: Found, thing: Thing) -> Reading | None:
    """A prescription without a verb: "Septra DS: 1 tablet twice daily for 3 days", "Ambien 5 mg tonight".

    How long or when makes a dose an order; in a list it is one unless the list is a record.
    """
    if thing.kind not in TAKEN or text.question or not _opens_item(text, target):
        return None
    end = next((at_ for at_ in range(target.end, len(text.words)) if text.words[at_] in (";", ",")), len(text.words))
    said = text.words[target.end : end]
    often = text.numbered or not words("how_often_taken").isdisjoint(said)
    told = words("finite") | words("subjects_own") | words("past_copulas") | words("negators") | {"you", "if", "no"}
    records = words("report_labels") | words("record_labels")
    if not often or not told.isdisjoint(said) or not records.isdisjoint(text.words[: target.start]):
        return None
    dated = not words("orders_by_time").isdisjoint(said) or any(
        word in words("spans_of_time") and said[max(0, at_ - 2)] in ("for", "x") for at_, word in enumerate(said)
    )
    labelled = text.shift > 0 or bool({":", "-", "—"} & set(text.words[: target.start]))
    taken = words("how_often_taken") | words("amounts")
    if dated or (labelled and text.numbered and not taken.isdisjoint(said)):
        return Reading(START, PLAIN, PATIENT, None)
    return None


def _should_be(text: Parsed, place: int, thing: Thing) -> Reading | None:
    """ "The antibiotic should be Bactrim"; "should not be"."""
    denied = text.words[place - 1] == "not"
    modal = place - 1 - denied
    if modal < text.shift + 1 or text.words[modal] not in ("should", "must"):
        return None
    if text.words[modal - 1] not in words("proposals"):
        return None
    good = SEEK if thing.kind in (CARE, REFERRAL) else START
    return Reading(AVOID if denied else good, PLAIN, PATIENT, None)


def _what_is(text: Parsed, place: int, thing: Thing) -> Reading | None:
    """ "What you need is ibuprofen", "what I'd take is ibuprofen"; "what you should avoid is"."""
    start = max(text.shift, place - 7)
    opening = next((one for one in range(start, place) if text.words[one] == "what"), None)
    if opening is None or {"you", "i", "we"}.isdisjoint(text.words[opening:place]):
        return None
    verbs = [verb for verb in text.verbs if opening < verb.start < place and verb.action(thing.kind)]
    if not verbs or "if" in text.words[opening:place]:
        return None
    denied = sum(word in words("negators") for word in text.words[opening:place]) % 2 == 1
    action = verbs[-1].action(thing.kind)
    return Reading(opposite(action) if denied else action, PLAIN, PATIENT, None)


_LONGEST_PROPOSAL = 9  # words between "option" and "is": "the best option for the pain right now is"


def from_before(text: Parsed, target: Found, thing: Thing) -> Reading | None:
    """ "My suggestion is ibuprofen"; and "instead of ibuprofen, take ..." at the head of a sentence."""
    place = target.start - 1
    while place >= text.shift and (place in text.covered or text.words[place] in words("listed_before")):
        place -= 1
    word = text.words[place] if place >= text.shift else ""
    if word in ("of", "than", "to") and at(text.words, place - 1, "opposing") == 2:
        return Reading(AVOID, PLAIN, PATIENT, None) if thing.kind in TAKEN else None
    if word == "for" and place > text.shift and text.words[place - 1] in words("wants"):
        near = text.words[max(text.shift, place - 6) : place - 1]
        denied = any(one in words("negators") or one == "no" for one in near)
        return Reading(AVOID, PLAIN, PATIENT, None) if denied else None
    if word == "for" and text.words[place - 1] in words("candidates"):
        near = text.words[max(text.shift, place - 5) : place - 1]
        bad = any(one in words("negators") or one in words("bad_adjectives") or one == "no" for one in near)
        return Reading(AVOID if bad else START, PLAIN, PATIENT, None) if "you" in near else None
    if word in ("with", "in", "about") and thing.kind in TAKEN | LIFE:
        found = drawback(text.words, place)
        if found is not None and found.mood == PLAIN:
            return Reading(AVOID if found.negated else START, PLAIN, PATIENT, None)
    if word == "is":
        named = _what_is(text, place, thing)
        if named is not None:
            return named
    if word == "be":
        told = _should_be(text, place, thing)
        if told is not None:
            return told
        place -= 2
    elif word in ("is", "are", "include", "includes", "remains"):
        place -= 1
    else:
        return None
    for noun in range(place, max(text.shift - 1, place - _LONGEST_PROPOSAL), -1):
        word = text.words[noun]
        if word in words("proposals"):
            near = text.words[max(text.shift, noun - 3) : noun]
            if words("proposing").isdisjoint(near) or "not" in near:
                return None
            return Reading(SEEK if thing.kind in (CARE, REFERRAL) else START, PLAIN, PATIENT, None)
        if word in words("ends_adjuncts") and word != "you":
            return None
    return None
