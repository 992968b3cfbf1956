"""What stands behind a thing: "should be avoided", "is safe for you", ": stop". It reads from its last word on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workup.tasks.conversation.read.advice.subjects import GENERAL, OTHER, PATIENT, PLAIN, REPORT
from workup.tasks.conversation.read.advice.verbs import BASE, GERUND, PARTICIPLE, Verb, at, words
from workup.tasks.conversation.read.sentence.cues import word_set

GOOD, BAD, UNCHANGED, ACTION = "good", "bad", "unchanged", "action"
_LABELS = frozenset([":", "-", "—", "(", "=", "→"])


class Behind(NamedTuple):
    """A judgement (good, bad, unchanged) or an action asked of the thing, with its mood and person."""

    kind: str
    verb: Verb | None = None
    negated: bool = False
    mood: str = PLAIN
    person: str = PATIENT


def passed(text: Sequence[str], place: int, covered: frozenset[int]) -> int:
    """The first word behind a thing that is not its dose, its form or another thing of the same list."""
    size = len(text)
    while place < size:
        word = text[place]
        if place not in covered and word not in words("passed_behind") and not word[0].isdigit():
            break
        place += 1
    return place


def behind(text: Sequence[str], end: int, covered: frozenset[int], verbs: Sequence[Verb]) -> Behind | None:
    """What is said behind a thing that ends at `end`; None where nothing is."""
    label = end
    if label < len(text) and text[label] in _LABELS:
        found = _labelled(text, label + 1, verbs)
        if found is not None:
            return found
    place = passed(text, end, covered)
    if place >= len(text):
        return None
    if text[place] in _LABELS:
        return _labelled(text, place + 1, verbs)
    found = _predicate(text, place, verbs)
    if found is None:
        found = _behind_aside(text, end, verbs)
    if found is None and text[place] in ("which", "that") and text[place + 1 : place + 2]:
        found = _predicate(text, place + 1, verbs)  # "..., which is safe for you"
    opening = next((one for one in range(end, place + 1) if text[one] in words("adjuncts")), None)
    if found is None and opening is not None:
        finite = _over_adjunct(text, opening, verbs)
        found = _predicate(text, finite, verbs) if finite else None
    return found


def _behind_aside(text: Sequence[str], end: int, verbs: Sequence[Verb]) -> Behind | None:
    """Over what stands between two commas: "ibuprofen or Tylenol, whichever you prefer, is fine"."""
    first = next((place for place in range(end, min(end + 4, len(text))) if text[place] == ","), None)
    if first is None or first + 1 >= len(text) or text[first + 1] not in words("asides"):
        return None
    second = next((place for place in range(first + 2, min(first + 9, len(text))) if text[place] == ","), None)
    return _predicate(text, second + 1, verbs) if second is not None and second + 1 < len(text) else None


def coordinated(text: Sequence[str], end: int, verbs: Sequence[Verb]) -> Behind | None:
    """What a second predicate says of a subject: "ibuprofen irritates the stomach and should be avoided"."""
    for place in range(end + 1, len(text) - 1):
        if text[place] in words("parts_subjects"):
            return None
        if text[place] in ("and", "but") and text[place + 1] in words("finite"):
            return _predicate(text, place + 1, verbs)
    return None


def without_copula(text: Sequence[str], place: int, verbs: Sequence[Verb]) -> Behind | None:
    """The judgement right behind a thing whose "is" is lost: "ibuprofen fine for you", "that what i recommend"."""
    found = _after_copula(text, place, verbs)
    if found is None or (found.kind == ACTION and found.verb is None):
        return None
    return found


_LONGEST_ADJUNCT = 10  # words


def _over_adjunct(text: Sequence[str], place: int, verbs: Sequence[Verb]) -> int:
    """The finite verb behind "with dinner", "every six hours as needed", "before the speech"; 0 where none follows."""
    for after in range(place + 1, min(place + _LONGEST_ADJUNCT, len(text))):
        if text[after] in words("finite"):
            return after
        verb = _verb_at(verbs, after)
        if text[after] in words("ends_adjuncts") or (verb is not None and BASE in verb.forms):
            return 0
    return 0


def judged_at(text: Sequence[str], place: int, verbs: Sequence[Verb]) -> Behind | None:
    """The judgement that a question asks for: "Is ibuprofen safe for me?" """
    found = _judged(text, place, verbs, participle=False)
    return found if found is not None and found.kind in (GOOD, BAD) else None


def _verb_at(verbs: Sequence[Verb], place: int) -> Verb | None:
    return next((verb for verb in verbs if verb.start == place), None)


def _labelled(text: Sequence[str], place: int, verbs: Sequence[Verb]) -> Behind | None:
    """ "Ibuprofen: avoid", "metformin - continue", "naproxen (not safe for you)"."""
    if list(text[place : place + 2]) == ["do", "not"]:
        place += 1
    place, negated, _ = _forward(text, place)
    verb = _verb_at(verbs, place)
    if verb is not None and BASE in verb.forms and (verb.end >= len(text) or text[verb.end] not in ("you", "i")):
        return Behind(ACTION, verb, negated)
    if at(text, place, "unchanged"):
        return Behind(UNCHANGED)
    kind, end, _ = judgement(text, place)
    if kind and (end >= len(text) or text[end] in words("behind_labels")):
        return Behind(kind, None, negated)
    return None


def _forward(text: Sequence[str], place: int) -> tuple[int, bool, bool]:
    """Pass over adverbs and negations to the right; the third answer is whether one of them hedges."""
    negated = hedged = False
    while place < len(text):
        word = text[place]
        if word in words("negators") and not at(text, place, "bad"):
            negated = not negated
        elif word in words("hedges"):
            hedged = True
        elif word in words("adverbs") or word in words("degrees"):
            if at(text, place, "good") and word in ("best", "better", "fine", "okay", "ok"):
                break
        else:
            break
        place += 1
    return place, negated, hedged


def _predicate(text: Sequence[str], place: int, verbs: Sequence[Verb]) -> Behind | None:
    if at(text, place, "unchanged"):
        return Behind(UNCHANGED)
    word = text[place]
    if word in words("modals") or word == "would":
        if word in ("will", "should") or (word == "would" and "you" in text[place + 2 : place + 6]):
            after, negated, hedged = _forward(text, place + 1)
            if at(text, after, "promises"):
                return Behind(GOOD, None, negated, GENERAL if hedged else PLAIN)
        return _after_modal(text, place + 1, verbs)
    if word in ("needs", "need", "has", "have", "ought", "does", "do"):
        return _after_need(text, place, verbs)
    if word in ("is", "are", "seems", "remains", "s"):
        return _after_copula(text, place + 1, verbs)
    if word in words("past_copulas"):
        return Behind(ACTION, None, mood=REPORT)
    return None


def _after_modal(text: Sequence[str], place: int, verbs: Sequence[Verb]) -> Behind | None:
    place, negated, hedged = _forward(text, place)
    if at(text, place, "unchanged"):
        return Behind(UNCHANGED, None, negated)
    if negated and at(text, place, "hurts"):
        return Behind(GOOD, None, mood=GENERAL if hedged else PLAIN)
    if at(text, place, "goes"):
        return Behind(BAD, None, negated)
    if place >= len(text) or text[place] != "be":
        return None
    found = _judged(text, place + 1, verbs, participle=True)
    if found is None:
        return None
    mood = GENERAL if hedged else found.mood
    return found._replace(negated=found.negated != negated, mood=mood)


def _after_need(text: Sequence[str], place: int, verbs: Sequence[Verb]) -> Behind | None:
    """ "Needs to be stopped", "has to be held", "does not need to be stopped"; "has been stopped" is a report."""
    negated = False
    if text[place] in ("does", "do"):
        place, negated, _ = _forward(text, place + 1)
        if place >= len(text) or text[place] not in ("need", "have"):
            return Behind(UNCHANGED) if at(text, place, "unchanged") else None
    if place + 1 < len(text) and text[place + 1] == "been":
        return Behind(ACTION, None, mood=REPORT)
    after, again, _ = _forward(text, place + 1)
    if list(text[after : after + 2]) == ["to", "be"]:
        found = _judged(text, after + 2, verbs, participle=True)
        return found._replace(negated=found.negated != (negated != again)) if found is not None else None
    if list(text[after : after + 1]) == ["to"] and at(text, after + 1, "goes"):
        return Behind(BAD, None, negated != again)
    if list(text[after : after + 2]) == ["to", "change"] and (negated != again):
        return Behind(UNCHANGED)
    return None


def _after_copula(text: Sequence[str], place: int, verbs: Sequence[Verb]) -> Behind | None:
    if list(text[place : place + 2]) == ["what", "i"] or list(text[place : place + 2]) == ["what", "we"]:
        for verb in verbs:
            if place + 2 <= verb.start <= place + 4 and BASE in verb.forms:
                return Behind(ACTION, verb)
    place, negated, hedged = _forward(text, place)
    if negated and place >= len(text):
        return Behind(BAD)  # "Tylenol is fine, Advil is not"
    if list(text[place : place + 2]) == ["to", "be"]:
        found = _judged(text, place + 2, verbs, participle=True)
    elif text[place : place + 1] and text[place] == "being":
        found = _judged(text, place + 1, verbs, participle=True)
    else:
        found = _judged(text, place, verbs, participle=False)
    if found is None:
        return None
    return found._replace(negated=found.negated != negated, mood=GENERAL if hedged else found.mood)


def _judged(text: Sequence[str], place: int, verbs: Sequence[Verb], *, participle: bool) -> Behind | None:
    place, negated, hedged = _forward(text, place)
    kind, end, hedge = judgement(text, place)
    mood = GENERAL if hedged or hedge else PLAIN
    if kind:
        scope, person = _for_whom(text, end)
        return Behind(kind, None, negated, mood if scope == PLAIN else scope, person)
    thing = _something_at(text, place)
    if thing is not None:
        last = "last" in text[place:thing]  # "the last thing you need"
        return _something(text, thing + 1, verbs, negated=negated != last)
    verb = _verb_at(verbs, place)
    if verb is None or not ({PARTICIPLE, GERUND} & verb.forms):
        return None
    if participle:
        joint = "together" in text[verb.end : verb.end + 3]  # "should not be taken together" forbids neither
        return Behind(ACTION, verb, negated, GENERAL if joint else mood)
    return Behind(ACTION, None, mood=GENERAL)  # "is taken with meals", "is used for pain"


def _something_at(text: Sequence[str], place: int) -> int | None:
    """Where "something", "the one" or "the next drug" ends that a clause of the speaker or the patient follows."""
    if place < len(text) and text[place] in _SOMETHING:
        return place
    if place >= len(text) or text[place] not in ("the", "a", "one"):
        return None
    for noun in range(place + 1, min(place + 5, len(text) - 1)):
        if text[noun] in _SOMETHING or text[noun] in words("choices"):
            after = text[noun + 1]
            if after in ("i", "we", "you") or (
                after == "that" and text[noun + 2 : noun + 3] in (["i"], ["we"], ["you"])
            ):
                return noun
    return None


_SOMETHING = frozenset(["something", "one", "what", "anything"])


def _something(text: Sequence[str], place: int, verbs: Sequence[Verb], *, negated: bool) -> Behind | None:
    """ "Ibuprofen is not something you should be taking", "is one that I would avoid"."""
    told = [one for one in verbs if place <= one.start <= place + 8 and "drug" in one.asks]
    near = [one for one in told if {BASE, GERUND} & one.forms]
    verb = near[0] if near else None
    for one in near[1:]:  # "one of the drugs you need to avoid"
        if verb is not None and list(text[verb.end : one.start]) in (["to"], ["to", "not"], ["not", "to"]):
            verb = one
    between = text[place : verb.start] if verb is not None else ()
    if verb is None or {"you", "i", "we"}.isdisjoint(between) or {"if", "when"} & set(between):
        return None
    denied = sum(word in words("negators") for word in between) % 2 == 1
    return Behind(ACTION, verb, negated != denied)


def judgement(text: Sequence[str], place: int) -> tuple[str, int, bool]:
    """A judgement that begins at a word (good, bad or nothing), the word behind it, and whether it hedges.

    >>> judgement("a very good choice for you".split(), 0)
    ('good', 4, False)
    """
    for name in (BAD, GOOD):
        length = at(text, place, name)
        if length:
            return name, place + length, False
    if place < len(text) and text[place] in ("a", "an", "the", "your", "my", "one", "another"):
        after, _, hedged = _forward(text, place + 1)
        first = text[after] if after < len(text) else ""
        if text[place] in ("my", "your") and text[place + 1 : place + 2] and text[place + 1] in words("own_adjectives"):
            for end in (place + 2, place + 3):
                if end < len(text) and text[end] in words("choices"):
                    return GOOD, end + 1, hedged
        for name in (BAD, GOOD):
            if first not in words(f"{name}_adjectives"):
                continue
            for end in (after + 1, after + 2):
                if end < len(text) and text[end] in words("choices"):
                    return name, end + 1, hedged
    return "", place, False


def _for_whom(text: Sequence[str], place: int) -> tuple[str, str]:
    """ "Safe for most people", "fine for your husband", "safe during pregnancy"."""
    if place >= len(text) or text[place] not in ("for", "in", "with"):
        return PLAIN, PATIENT
    for word in text[place + 1 : place + 5]:
        if word in ("you", ",", ";", ".", "and", "because", "to"):
            return PLAIN, PATIENT
        if word in word_set("relatives"):
            return PLAIN, OTHER
        if word in words("subjects_general"):
            return GENERAL, PATIENT
    return PLAIN, PATIENT
