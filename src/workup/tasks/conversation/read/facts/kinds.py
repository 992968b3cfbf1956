"""Whole kinds of facts denied at once: "no known drug allergies", "takes no medications"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from workup.tasks.conversation.read.sentence.cues import phrases, starts_with
from workup.tasks.conversation.read.sentence.text import Sentence
from workup.tasks.conversation.read.sentence.vocabulary import table

_EXCEPT = frozenset(
    {"except", "besides", "other", "apart", "aside", "save", "exception", "until", "before", "if", "new"}
)
_SPEAKERS = frozenset({"mother", "father", "sister", "brother", "wife", "husband", "son", "daughter"})


def denial_of(kind: str, status: str) -> str:
    """The kind of denial that speaks of a fact; nothing for facts that no such sentence can touch."""
    if status == "family":
        return "family"
    if kind == "diagnosis":
        return "diagnosis" if status == "present" else ""
    if kind in ("allergy", "medication"):
        return kind if status in ("present", "absent") else ""
    return ""


@cache
def _denials(kind: str) -> dict[str, list[tuple[str, ...]]]:
    opened: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted(phrases(table("cues")["kinds_denied"][kind]), key=len, reverse=True):
        opened.setdefault(phrase[0], []).append(phrase)
    return opened


# A sentence without one of these words denies no kind.
HEADS = frozenset(
    [
        "allergies",
        "allergy",
        "nkda",
        "nka",
        "nkma",
        "allergic",
        "medications",
        "medication",
        "medicines",
        "history",
        "problems",
        "conditions",
        "illnesses",
        "meds",
        "drugs",
        "anything",
    ]
)


def denied_kinds(sentence: Sentence, kinds: frozenset[str]) -> Iterator[str]:
    """The kinds that a sentence denies as a whole; one with an exception denies none.

    >>> list(denied_kinds(Sentence("no known drug allergies".split(), False, ()), frozenset({"allergy"})))
    ['allergy']
    """
    words = [*sentence.heading, *sentence.words] if sentence.heading else sentence.words
    for kind in sorted(kinds):
        opened = _denials(kind)
        if opened.keys().isdisjoint(words):
            continue
        for place, word in enumerate(words):
            length = starts_with(words, place, opened) if word in opened else 0
            if not length or not _SPEAKERS.isdisjoint(words) or not _EXCEPT.isdisjoint(words):
                continue
            if _closes(words[place + length : place + length + 3]):
                yield kind
                break


_CLOSING = frozenset(
    (
        *(
            ",",
            ";",
            ":",
            ")",
            "(",
            "—",
            "-",
            "and",
            "or",
            "at",
            "on",
            "as",
            "so",
            "currently",
            "presently",
            "regularly",
        ),
        *("today", "noted", "documented", "listed", "reported", "known", "daily", "right", "whatsoever"),
    )
)
_TOLD = frozenset({"reported", "noted", "documented", "known", "listed", "recorded"})


def _closes(rest: list[str]) -> bool:
    """ "No medications" ends the statement; "no medications were changed" and "no allergies to foods" say less."""
    if not rest or rest[0] in _CLOSING:
        return True
    if rest[0] in ("were", "are", "is"):
        return not _TOLD.isdisjoint(rest[1:])
    return rest[0] == "to" and not {"medications", "medication", "drugs", "medicines"}.isdisjoint(rest[1:])
