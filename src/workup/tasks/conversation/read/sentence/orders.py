"""What a clause asks to be done with a thing: stop it, keep it, avoid it, start it; an order states nothing itself.

The verb that governs a mention is looked for on its left, or on its right where the thing is its subject. A report of
what somebody else asked for is no order, nor is what is merely weighed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.analysed import Analysed
from workup.tasks.conversation.read.sentence.clauses import CAUSE, EXCEPTION, HARD, RELATIVE, SUBJECT
from workup.tasks.conversation.read.sentence.cues import word_set
from workup.tasks.conversation.read.sentence.vocabulary import drug_words, listed, table

START, CONTINUE, STOP, INCREASE, DECREASE, AVOID = "start", "continue", "stop", "increase", "decrease", "avoid"
TAKE = "take"  # what is told of any drug; asks for nothing but where it is denied
SETTING = frozenset({START, INCREASE, DECREASE, STOP})  # a value that stands with these is new
PRESUPPOSING = frozenset({CONTINUE, STOP, INCREASE, DECREASE})
ORDER, WEIGHED, REPORT, UNFIT = "order", "supposition", "report", "unfit"
_BASE, _PAST, _PARTICIPLE, _GERUND = "base", "past", "participle", "gerund"
_FARTHEST, _BEHIND, _ITEM_OPENS = 16, 12, 2
_CLAUSE = frozenset({HARD, SUBJECT, CAUSE, RELATIVE, EXCEPTION})


class Order(NamedTuple):
    """What is asked of a mention, in which mood, by the words [start, end)."""

    act: str
    mood: str
    start: int
    end: int


class _Verb(NamedTuple):
    start: int
    end: int
    act: str
    form: str


def _forms(verb: str) -> tuple[str, str, str]:
    irregular = table("orders")["irregular"].get(verb)
    if irregular:
        return irregular[0], irregular[1], irregular[2]
    if verb.endswith("e"):
        return verb + "d", verb + "d", verb[:-1] + "ing"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied", verb[:-1] + "ied", verb + "ing"
    return verb + "ed", verb + "ed", verb + "ing"


@cache
def _verbs() -> Mapping[str, list[tuple[tuple[str, ...], str, str]]]:
    """Phrases by their last word, the longest first: words, act, form."""
    found: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
    acts = {**table("orders")["acts"], TAKE: table("orders")["taking"]}
    for act, lines in acts.items():
        for phrase in (part.strip() for line in lines for part in line.split(";")):
            first, *rest = phrase.split()
            past, participle, gerund = _forms(first)
            forms = {first: _BASE, gerund: _GERUND}
            forms.setdefault(past, _PAST)
            forms[participle] = _BASE if participle == first else _PARTICIPLE
            objects = ((), *((one,) for one in sorted(listed("whom")))) if rest else ((),)
            for word, form in forms.items():
                for whom in objects:
                    found.setdefault(rest[-1] if rest else word, []).append(((word, *whom, *rest), act, form))
    for entries in found.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return found


@cache
def deciding_words() -> frozenset[str]:
    """Words without which a sentence asks for nothing and calls nothing unfit.

    >>> {"stopping", "unsafe"} <= deciding_words()
    True
    """
    return frozenset(_verbs()) | listed("unfit") | listed("negators")


def _verb_ending(words: list[str], last: int) -> _Verb | None:
    """The verb of asking that ends with this word."""
    for phrase, act, form in _verbs().get(words[last], ()):
        start = last + 1 - len(phrase)
        if start >= 0 and tuple(words[start : last + 1]) == phrase:
            return _Verb(start, last + 1, act, form)
    return None


def _verb_opening(words: list[str], first: int) -> _Verb | None:
    """The verb of asking that opens with this word, the longest."""
    for last in range(min(first + 4, len(words)) - 1, first - 1, -1):
        for phrase, act, form in _verbs().get(words[last], ()):
            if tuple(words[first : last + 1]) == phrase:
                return _Verb(first, last + 1, act, form)
    return None


def is_ground(analysed: Analysed, start: int) -> bool:
    """Whether the words from the nearest verb or noun to the mention open with a preposition of circumstance.

    >>> from workup.tasks.conversation.read.sentence.text import Sentence
    >>> is_ground(Analysed(Sentence("not a fit choice in your glaucoma".split(), False, ()), None), 6)
    True
    """
    words = analysed.words
    for place in range(start - 1, analysed.shift, -1):
        word = words[place]
        if word in listed("circumstance"):
            return words[place - 1] not in listed("carriers")
        if not (word in word_set("determiners") or word in word_set("qualifiers")):
            return False
    return False


def order_of(analysed: Analysed, start: int, end: int) -> Order | None:
    """What is asked of the mention in words [start, end); None where it is told of, or nothing governs it.

    >>> from workup.tasks.conversation.read.sentence.text import Sentence
    >>> analysed = Analysed(Sentence("please do not stop your warfarin".split(), False, ()), None)
    >>> order_of(analysed, 5, 6)
    Order(act='continue', mood='order', start=3, end=4)
    """
    return _on_the_left(analysed, start) or _on_the_right(analysed, start, end) or _of_heading(analysed, start)


def _of_heading(analysed: Analysed, start: int) -> Order | None:
    """What the heading asks of all items below it: "Medications to stop:", "Avoid:"; "Stopped:" tells of an end."""
    words = analysed.words[: analysed.shift]
    opening = analysed.words[analysed.shift : start]
    if len(opening) > _ITEM_OPENS or not listed("negators").isdisjoint(opening):
        return None  # told in the item itself
    for place in range(len(words)):
        verb = _verb_ending(words, place)
        if verb is None or verb.form != _BASE or verb.act == TAKE:
            continue
        before = words[verb.start - 1] if verb.start else ""
        if not before or before in listed("heading_verbs_after"):
            return _order(verb, ORDER, negated=False)
    return None


def _on_the_left(analysed: Analysed, start: int) -> Order | None:
    words = analysed.words
    first = max([analysed.shift, start - _FARTHEST])
    for bound in analysed.bounds:
        if bound.kind in _CLAUSE and bound.place <= start:
            first = max(first, bound.place)
    inner: _Verb | None = None
    instead = False  # behind the "to" of "switch from one to the other"
    exchanged = not listed("exchanging").isdisjoint(words[first:start])
    for place in range(start - 1, first - 1, -1):
        verb = _verb_ending(words, place)
        if verb is not None and verb.start >= first:
            if inner is not None and verb.end > inner.start:
                continue
            if inner is not None and verb.form in (_BASE, _GERUND) and inner.form == _GERUND:
                composed = _composed(verb, inner)
                return _asked(analysed, verb._replace(act=composed), first) if composed else None
            if inner is None:
                inner = verb
                if verb.form == _GERUND and verb.start > first:
                    continue
            break
        word = words[place]
        if word in listed("against") and inner is None and place > first:
            head = words[place - 1]
            if head in listed("performatives") or head in listed("warning") or head in listed("subjects"):
                return Order(AVOID, ORDER, place, place + 1)
        if inner is not None:
            if word in listed("adverbs") or word in listed("negators") or word in listed("owners"):
                continue
            break
        if exchanged and word in listed("exchanged_for"):
            instead = True
        elif word in listed("circumstance") and words[place - 1] not in listed("carriers"):
            return None
        if word in word_set("finite_verbs") or word in listed("subjects") or word in (":", ";", ")"):
            return None
    if inner is not None and instead and words[inner.start] in listed("exchanging"):
        inner = inner._replace(act=START)
    return _asked(analysed, inner, first) if inner is not None else None


def _composed(outer: _Verb, inner: _Verb) -> str:
    """As "avoid stopping", "keep taking", "stop using"."""
    if inner.act == TAKE:
        return outer.act
    if outer.act in (AVOID, STOP):
        return CONTINUE if inner.act == STOP else AVOID
    return inner.act


def _asked(analysed: Analysed, verb: _Verb, first: int) -> Order | None:
    """The mood of the clause that the verb heads, read from the words on its left."""
    words = analysed.words
    place, negated, done = verb.start - 1, False, False
    while place >= first and (
        words[place] in listed("adverbs") or words[place] in listed("negators") or words[place] == "do"
    ):
        negated ^= words[place] in listed("negators")
        done |= words[place] == "do"
        place -= 1
    word = words[place] if place >= first else ""
    if negated and words[verb.start] in listed("needing"):
        return Order(AVOID, UNFIT, verb.start, verb.end)  # "you do not need it" denies its use, not that it is used
    if not word or not (word[0].isalnum()) or word in ("and", "or", "then", "so", "but"):
        if verb.form == _GERUND:
            return _order(verb, WEIGHED, negated=negated) if verb.act != TAKE else None  # "not taking: aspirin"
        return _order(verb, ORDER, negated=negated) if verb.form == _BASE else None
    if verb.form == _GERUND:
        return _of_gerund(words, verb, place, negated=negated)
    if verb.form != _BASE:
        return None
    if word == "to":
        return _after_to(words, verb, place, first, negated=negated)
    if word in listed("modals") or word in listed("modals_weighed"):
        return _after_modal(words, verb, place, first, negated=negated)
    if place > first and words[place - 1] in listed("helping") and word in listed("subjects"):
        return _order(verb, ORDER, negated=negated) if verb.act in (STOP, DECREASE) else None
    if word in ("you", "we", "i", "patient", "us", "let", "lets"):
        if (word in ("i", "we") and verb.act == TAKE) or _forms(words[verb.start])[0] == words[verb.start]:
            return None  # "I do not have aspirin on your list"; "you quit smoking" is told of
        if word == "you" and verb.act in (CONTINUE, TAKE, START, INCREASE, DECREASE):
            before = words[place - 1] if place > first else ""
            asked = before in listed("performatives") or (negated and not done)  # "I would rather you not take it"
            return _order(verb, ORDER, negated=negated) if asked else None
        return _order(verb, ORDER, negated=negated)
    if word in word_set("subjects") or word in listed("others") or word in word_set("relatives"):
        return None
    if word in listed("performatives") or word in listed("against"):
        return _order(verb, ORDER, negated=negated ^ (word in listed("against")))
    return None


def _after_modal(words: list[str], verb: _Verb, place: int, first: int, *, negated: bool) -> Order | None:
    subject = place - 1
    while subject >= first and (words[subject] in listed("adverbs")):
        subject -= 1
    who = words[subject] if subject >= first else ""
    if who in listed("others") and who not in ("he", "she", "they"):
        return _order(verb, REPORT, negated=negated)
    if words[place] in listed("modals_weighed"):
        own = words[place] == "would" and who in ("i", "we")
        return _order(verb, ORDER if own else WEIGHED, negated=negated)
    if verb.act == TAKE and not negated:
        return None
    return _order(verb, ORDER, negated=negated)


def _after_to(words: list[str], verb: _Verb, place: int, first: int, *, negated: bool) -> Order | None:
    """Behind "to": what the head before it makes of the verb."""
    head = place - 1
    while head >= first and (
        words[head] in listed("adverbs") or words[head] in listed("negators") or words[head] in listed("subjects")
    ):
        negated ^= words[head] in listed("negators")
        head -= 1
    word = words[head] if head >= first else ""
    clause = words[first:head]
    if word in listed("reported_heads") and not listed("others").isdisjoint(clause):
        return _order(verb, REPORT, negated=negated)
    if word in listed("wanting") and not listed("others").isdisjoint(clause) and "you" not in words[head:place]:
        return _order(verb, REPORT, negated=negated)  # "your surgeon may want to stop it"
    unfit = word in listed("unfit")
    if unfit or word in listed("fit") or word in listed("asking_heads"):
        near = clause[-5:]
        negated ^= not listed("negators").isdisjoint(near)
        if unfit and not negated:
            return Order(AVOID if verb.act in (TAKE, START) else verb.act, UNFIT, verb.start, verb.end)
        if verb.act == TAKE and not negated:
            owned = words[verb.end : verb.end + 1]
            allowed = word in listed("fit") and not (owned and owned[0] in listed("owners"))
            return Order(START, ORDER, verb.start, verb.end) if allowed else None  # "it is fine to take naproxen"
        return _order(verb, ORDER, negated=negated)
    if word in listed("weighed_heads") or word in ("whether",):
        return _order(verb, WEIGHED, negated=negated)
    if verb.act == STOP and not negated:
        return _order(verb, ORDER, negated=False)
    return None


def _of_gerund(words: list[str], verb: _Verb, place: int, *, negated: bool) -> Order | None:
    word = words[place]
    if word in listed("performatives"):
        return _order(verb, ORDER, negated=negated)
    if word in listed("against"):
        return _order(verb, ORDER, negated=not negated)
    if word in listed("weighed_heads"):
        return _order(verb, WEIGHED, negated=negated)
    if word in listed("done_before") or word in word_set("finite_verbs") or word in ("you", "she", "he", "been"):
        return None
    return _order(verb, WEIGHED, negated=negated)


def _order(verb: _Verb, mood: str, *, negated: bool) -> Order | None:
    act = verb.act
    if negated:
        act = {STOP: CONTINUE, CONTINUE: STOP, START: AVOID, TAKE: AVOID, AVOID: ""}.get(act, CONTINUE)
    if not act or act == TAKE:
        return None
    return Order(act, mood, verb.start, verb.end)


def _on_the_right(analysed: Analysed, start: int, end: int) -> Order | None:
    """As "your warfarin should be held", "ibuprofen is not a safe choice": the thing is the subject."""
    words = analysed.words
    last = min(len(words), end + _BEHIND)
    for bound in analysed.bounds:
        if bound.kind in _CLAUSE and end < bound.place < last:
            last = bound.place
    place = end
    if end + 1 < len(words) and words[end] in (":", "-", "\u2014", "("):
        verb = _verb_opening(words, end + 1)
        if verb is not None and verb.form == _BASE and verb.act != TAKE:
            return Order(verb.act, ORDER, verb.start, verb.end)  # "Warfarin: hold tonight"
    first = max((bound.place for bound in analysed.bounds if bound.place <= start), default=analysed.shift)
    lead = words[first:start]
    opens = (word_set("verbs") | word_set("finite_verbs") | listed("subjects")).isdisjoint(lead)
    denied = opens and not listed("neither").isdisjoint(lead)
    if last - end > 1 and any(
        " ".join(words[at : at + 2]) in table("orders")["moves"] for at in range(end, min(end + 6, last - 1))
    ):
        return Order(INCREASE, ORDER, end, end + 2)
    while place < last and not (words[place] in listed("modals") or words[place] in listed("modals_weighed")):
        word = words[place]
        if word in ("is", "are", "needs", "need", "has", "have", "was", "were"):
            break
        listing = opens and (word in drug_words() or word in ("and", "or", "nor", ","))
        if word in (";", ":") or word in word_set("finite_verbs"):
            return None
        if not listing and (word in drug_words() or word in ("and", "or", "nor")):
            return None
        place += 1
    if place >= last:
        return None
    return _passive(words, place, last, denied=denied) or _judged(words, place, last, denied=denied)


def _passive(words: list[str], place: int, last: int, *, denied: bool) -> Order | None:
    head = words[place]
    weighed = head in listed("modals_weighed")
    obliged = weighed or head in listed("modals")
    negated = denied
    at = place + 1
    while at < last and (
        words[at] in ("to", "be", "not", "never", "been", "need", "have") or words[at] in listed("adverbs")
    ):
        negated ^= words[at] in ("not", "never")
        obliged = obliged or (words[at] == "to" and head in ("is", "are", "needs", "need", "has", "have"))
        at += 1
    if at >= last or not obliged:
        return None
    verb = _verb_opening(words, at)
    if verb is not None and not (verb.act == TAKE and not negated):
        return _order(verb, WEIGHED if weighed else ORDER, negated=negated)
    return None


def _judged(words: list[str], place: int, last: int, *, denied: bool) -> Order | None:
    """The thing is said to be unfit: "is not recommended", "would be unsafe", "is off limits"."""
    negated = denied
    at = place
    while at < last:
        word = words[at]
        if word in listed("unfit"):
            return None if negated else Order(AVOID, UNFIT, place, at + 1)
        if negated and word in listed("fit"):
            return Order(AVOID, UNFIT, place, at + 1)
        if word in ("not", "never", "no"):
            negated = True
        elif word not in listed("linking") and word not in ("off",):
            return None
        at += 1
    return None


def asked_in(analysed: Analysed, start: int, end: int) -> Order | None:
    """The first thing that the clause of words [start, end) asks for, whatever it is asked of."""
    for place in range(start, end):
        verb = _verb_ending(analysed.words, place)
        if verb is not None and verb.start >= start and verb.act != TAKE:
            order = _asked(analysed, verb, start)
            if order is not None:
                return order
    return None
