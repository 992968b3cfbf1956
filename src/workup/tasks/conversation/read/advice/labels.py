"""Advice without a verb of its own: items of a plan, "my suggestion is ...", "instead of ..." at the head."""

from __future__ import annotations

from workup.tasks.conversation.read.advice.governing import TAKEN, Reading
from workup.tasks.conversation.read.advice.parsed import Parsed
from workup.tasks.conversation.read.advice.subjects import PATIENT, PLAIN
from workup.tasks.conversation.read.advice.targets import CARE, REFERRAL, SAFETY, Found, Thing
from workup.tasks.conversation.read.advice.verbs import AVOID, SEEK, START, at, words


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
    if not start and ":" in text.words[: target.start]:
        start = text.words.index(":") + 1
    return all(
        place in text.covered or word in words("carried") or word[0].isdigit()
        for place, word in enumerate(text.words[start : target.start], start=start)
    )


def from_before(text: Parsed, target: Found, thing: Thing) -> Reading | None:
    """ "My suggestion is ibuprofen"; and "instead of ibuprofen, take ..." at the head of a sentence."""
    place = target.start - 1
    while place >= text.shift and (place in text.covered or text.words[place] in words("listed_before")):
        place -= 1
    word = text.words[place] if place >= text.shift else ""
    if word in ("of", "than", "to") and at(text.words, place - 1, "opposing") == 2:
        return Reading(AVOID, PLAIN, PATIENT, None) if thing.kind in TAKEN else None
    if word == "be":
        place -= 2
    elif word in ("is", "are", "include", "includes", "remains"):
        place -= 1
    else:
        return None
    if text.words[max(0, place - 1) : place + 1] == ["for", "you"]:
        place -= 2
    noun = text.words[place] if place >= text.shift else ""
    near = text.words[max(text.shift, place - 3) : place]
    if noun not in words("proposals") or words("proposing").isdisjoint(near) or "not" in near:
        return None
    return Reading(SEEK if thing.kind in (CARE, REFERRAL) else START, PLAIN, PATIENT, None)
