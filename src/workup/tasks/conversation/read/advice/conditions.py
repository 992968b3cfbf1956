"""Whether advice holds only under a condition, or is told as another's words. Clauses come from the matcher."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from workup.tasks.conversation.read.advice.verbs import AVOID, STOP, Verb, at, words
from workup.tasks.conversation.read.sentence.clauses import (
    COMMA_PREDICATE,
    DASH,
    HARD,
    PREDICATE,
    RELATIVE,
    SUBJECT,
    Bound,
)
from workup.tasks.conversation.read.sentence.cues import phrases
from workup.tasks.conversation.read.sentence.vocabulary import table

_CLAUSE = frozenset({HARD, SUBJECT, PREDICATE, COMMA_PREDICATE, DASH})
_SEEKING = frozenset(["call", "seek", "contact", "go", "see", "visit", "phone", "text", "tell", "let", "return"])
_AT_HEAD = frozenset([",", ";", ":", "and", "or", "but", "—", "-", "("])


@cache
def _leading() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Conditions that stand before what they hold for: those of the matcher, and some of advice."""
    listed = phrases(table("cues")["condition"]["before"]) + phrases(table("advice_verbs")["trailing_conditions"])
    listed += phrases(table("advice_verbs")["more_conditions"])
    opened: dict[str, set[tuple[str, ...]]] = {}
    for phrase in listed:
        opened.setdefault(phrase[0], set()).add(phrase)
    return {first: tuple(sorted(some, key=len, reverse=True)) for first, some in opened.items()}


def _condition_at(text: Sequence[str], place: int) -> int:
    for phrase in _leading().get(text[place], ()):
        if tuple(text[place : place + len(phrase)]) == phrase:
            return len(phrase)
    return 0


def conditions(text: Sequence[str]) -> list[int]:
    """Where conditions begin; "as needed", "even if" and "if you have questions" are none.

    >>> conditions("take it if needed but call if it bleeds".split())
    [6]
    """
    if words("condition_signs").isdisjoint(text):
        return []
    found = []
    for place, word in enumerate(text):
        if word not in words("condition_signs") or not _condition_at(text, place):
            continue
        if at(text, place, "as_needed") or at(text, place, "not_conditions"):
            continue
        if place and at(text, place - 1, "not_conditions"):
            continue
        if word in ("should", "were", "when", "once") and not _heads(text, place):
            continue
        found.append(place)
    return found


def _heads(text: Sequence[str], place: int) -> bool:
    """ "Should" opens a condition at the head of a clause; "when" and "once" behind a verb have their own list."""
    if text[place] == "once" and (place + 1 == len(text) or text[place + 1] in words("how_often")):
        return False  # "once a day" says how often
    if place == 0 or text[place - 1] in _AT_HEAD:
        return True
    return text[place] in ("when", "once") and bool(at(text, place, "trailing_conditions"))


def is_conditional(
    text: Sequence[str],
    found: Sequence[int],
    verb: Verb | None,
    span: tuple[int, int],
    bounds: Sequence[Bound],
    action: str,
) -> bool:
    """Whether one of the conditions found holds for the thing in these words and the verb that asks for it."""
    start, end = span
    first = min(start, verb.start) if verb is not None else start
    last = max(end, verb.end) if verb is not None else end
    return any(
        _holds_forward(text, place, first, bounds) if place < first else _holds_back(text, place, last, bounds, action)
        for place in found
    )


def _parted(bounds: Sequence[Bound], first: int, last: int, kinds: frozenset[str]) -> list[Bound]:
    return [bound for bound in bounds if first <= bound.place <= last and bound.kind in kinds]


def _holds_forward(text: Sequence[str], place: int, first: int, bounds: Sequence[Bound]) -> bool:
    if _parted(bounds, place + 1, first, frozenset({HARD})):
        return False
    if place == 0 or text[place - 1] in _AT_HEAD or text[place - 1] in ("only", "even", "except", "then", "so"):
        return True
    # It belongs to the clause before it: "call me if it hurts, and continue metformin".
    return not _parted(bounds, place + 1, first, _CLAUSE | {RELATIVE})


def _holds_back(text: Sequence[str], place: int, last: int, bounds: Sequence[Bound], action: str) -> bool:
    if place and text[place - 1] in (",", ";") and _verb_follows(text, place):
        return False  # "continue metformin, if you feel unwell call us"
    if any(list(text[at_ : at_ + 2]) in ([",", "and"], [",", "plus"]) for at_ in range(last, place)):
        return False  # "you need Augmentin, and a tetanus shot if you are overdue"
    parting = _parted(bounds, last + 1, place, _CLAUSE)
    if not parting:
        return True
    # "Stop it and call us if you bleed" is one condition for both; "take it with food and call us if ..." is not.
    joined = all(bound.kind == PREDICATE and text[bound.place - 1] == "and" for bound in parting)
    no_comma = "," not in text[last:place]
    return joined and no_comma and action in (STOP, AVOID) and not _SEEKING.isdisjoint(text[last:place])


def _verb_follows(text: Sequence[str], place: int) -> bool:
    rest = text[place + 1 :]
    comma = "," in rest
    return comma or not _SEEKING.isdisjoint(rest)


def is_reported(text: Sequence[str], first: int) -> bool:
    """Whether the sentence gives a source other than its writer before the advice: "according to your chart"."""
    return any(
        word in ("according", "based", "per", "you", "as") and at(text, place, "reporting_sources")
        for place, word in enumerate(text[:first])
    )


def is_sudden(text: Sequence[str]) -> bool:
    """ "Do not stop it abruptly" forbids the manner and leaves the matter open."""
    return any(at(text, place, "suddenly") for place in range(len(text)))


def is_manner(text: Sequence[str], end: int) -> bool:
    """ "Do not take it on an empty stomach", behind the thing that ends at `end`."""
    return any(at(text, place, "manners") for place in range(end, min(end + 6, len(text))))
