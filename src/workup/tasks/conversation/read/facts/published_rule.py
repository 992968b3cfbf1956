"""The published fuzzy rule, for comparison only: exact, substring or word overlap, and five tokens looked at for "no".

It takes "started penicillin V" for the allergy and "warfarin 50 mg" for 5 mg; that is why it is never the default.
"""

from __future__ import annotations

import re

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts.reply_outcomes import Judged

JACCARD = 0.6
WINDOW = 5  # tokens before the match
_NEGATIONS = frozenset(("no", "not", "denies", "denied", "without", "never", "negative", "none"))
_WORD = re.compile(r"\w+")


def published_outcome(fact: Fact, reply: str) -> Judged:
    """Correct where a name matches anywhere, reversed where the first match has a negation in the window before it.

    >>> published_outcome(Fact("f1", "allergy", "penicillin"), "We started penicillin V.").outcome
    'correct'
    >>> warfarin = Fact("f2", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg"})
    >>> published_outcome(warfarin, "Warfarin 50 mg daily").outcome
    'correct'
    """
    words = _WORD.findall(reply.casefold())
    if not words:
        return Judged("unscorable", None, "no_words")
    for name in fact.names:
        wanted = _WORD.findall(name.casefold())
        found = _exact(words, wanted) or _substring(reply.casefold(), name.casefold()) or _overlap(words, wanted)
        if found is None:
            continue
        place, how = found
        negated = not _NEGATIONS.isdisjoint(words[max(0, place - WINDOW) : place])
        if negated == (fact.status == "absent"):
            return Judged("correct", None, how)
        return Judged("reversed", None, how)
    return Judged("omitted", None, "no_mention")


def _exact(words: list[str], wanted: list[str]) -> tuple[int, str] | None:
    size = len(wanted)
    places = (place for place in range(len(words) - size + 1) if words[place : place + size] == wanted)
    place = next(places, None)
    return None if place is None else (place, "exact")


def _substring(reply: str, name: str) -> tuple[int, str] | None:
    at = reply.find(name)
    return None if at < 0 else (len(_WORD.findall(reply[:at])), "substring")


def _overlap(words: list[str], wanted: list[str]) -> tuple[int, str] | None:
    """The first run of as many words that shares 0.6 of the words of both: |A and B| / |A or B|."""
    need, size = set(wanted), len(wanted)
    for place in range(max(1, len(words) - size + 1)):
        run = set(words[place : place + size])
        if len(need & run) / len(need | run) >= JACCARD:
            return place, "jaccard"
    return None
