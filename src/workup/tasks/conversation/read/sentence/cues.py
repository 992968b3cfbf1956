"""Cues of a sentence: which words deny, end, doubt or suppose, found longest first. Knows not what they reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.vocabulary import table

PASSED_OVER = "passed_over"
_SIDED = (
    *(
        "negated",
        "trouble",
        "ruled_out",
        "stopped",
        "resolved",
        "no_longer",
        "past",
        "history",
        "now",
        "holds",
        "family",
    ),
    *("possible", "tested", "supposed", "feared", "flagged", "weighed", "condition", "confirmed"),
)


class Cue(NamedTuple):
    """Words [start, end) of a sentence; `before` says that it looks forward, to a mention that stands after it."""

    start: int
    end: int
    category: str
    before: bool


Entry = tuple[tuple[str, ...], tuple[tuple[str, bool], ...]]


def phrases(lines: Iterable[str]) -> list[tuple[str, ...]]:
    """Lines of a list as tuples of words."""
    return [tuple(line.split()) for line in lines]


@cache
def _lexicon() -> dict[str, list[Entry]]:
    """Cues by their first word, the longest first, each with all that it may mean."""
    meanings: dict[tuple[str, ...], list[tuple[str, bool]]] = {}
    lists = table("cues")
    for category in _SIDED:
        for side in ("before", "after"):
            for phrase in phrases(lists[category].get(side, ())):
                meanings.setdefault(phrase, []).append((category, side == "before"))
    for phrase in phrases(lists[PASSED_OVER]):
        meanings[phrase] = []
    opened: dict[str, list[Entry]] = {}
    for phrase, held in meanings.items():
        opened.setdefault(phrase[0], []).append((phrase, tuple(dict.fromkeys(held))))
    for entries in opened.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return opened


@cache
def word_set(name: str) -> frozenset[str]:
    """A plain list of data/cues.yaml or data/clauses.yaml as a set of words."""
    lists = table("cues") if name in table("cues") else table("clauses")
    return frozenset(word for line in lists[name] for word in line.split())


@cache
def phrase_list(name: str) -> dict[str, list[tuple[str, ...]]]:
    """A plain list of data/cues.yaml by first words, the longest first."""
    opened: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted(phrases(table("cues")[name]), key=len, reverse=True):
        opened.setdefault(phrase[0], []).append(phrase)
    return opened


def starts_with(words: Sequence[str], place: int, lists: dict[str, list[tuple[str, ...]]]) -> int:
    """How many words from `place` on are one of the phrases; 0 where none is.

    >>> starts_with(["x", "not", "present"], 1, {"not": [("not", "present")]})
    2
    """
    if place >= len(words):
        return 0
    for phrase in lists.get(words[place], ()):
        if tuple(words[place : place + len(phrase)]) == phrase:
            return len(phrase)
    return 0


def find_cues(words: list[str]) -> list[Cue]:
    """All cues of a sentence from the left; inside a longer cue no shorter one is seen.

    >>> [cue[:3] for cue in find_cues("no change in her asthma but no fever".split())]
    [(6, 7, 'negated')]
    """
    lexicon = _lexicon()
    found: list[Cue] = []
    if lexicon.keys().isdisjoint(words):
        return found
    place, size = 0, len(words)
    while place < size:
        entries = lexicon.get(words[place])
        step = 1
        if entries is not None and not (words[place] == "may" and place + 1 < size and words[place + 1].isdigit()):
            for phrase, meanings in entries:
                length = len(phrase)
                if length == 1 or tuple(words[place : place + length]) == phrase:
                    found += [Cue(place, place + length, category, before) for category, before in meanings]
                    if length > 1 and meanings:
                        found += _attributive(words, place + length, meanings)
                    step = length
                    break
        place += step
    return _without_double_negation(words, found)


def _attributive(words: list[str], end: int, meanings: tuple[tuple[str, bool], ...]) -> list[Cue]:
    """The adjective of "there is possible pneumonia", which looks forward, where "pneumonia is possible" looks back."""
    following = words[end] if end < len(words) else ""
    if (
        not following[:1].isalpha()
        or following in word_set("after_participle")
        or any(before for _, before in meanings)
    ):
        return []
    kinds = ("possible", "family")  # the second as in "anyone in the family ever had gout"
    for phrase, held in _lexicon().get(words[end - 1], ()):
        if len(phrase) == 1:
            return [Cue(end - 1, end, category, before) for category, before in held if before and category in kinds]
    return []


_REVERSIBLE = frozenset({"stopped", "resolved", "ruled_out", "no_longer"})
_DENYING = frozenset({"deny", "denies", "denied", "denying", "refuse", "refused", "declined", "decline", "lack"})


def _without_untrue(words: list[str], found: list[Cue]) -> list[Cue]:
    """As "it is not true that she does not have gout": a denial of a whole sentence cancels the one within it."""
    denials = [cue for cue in found if cue.category == "negated" and cue.before]
    for cue in denials:
        if words[cue.end - 1] == "that" and words[cue.end - 2] in ("true", "case", "correct", "untrue", "incorrect"):
            inner = next((one for one in denials if one.start >= cue.end), None)
            if inner is not None:
                return [one for one in found if one.start not in (cue.start, inner.start)]
    return found


def _without_double_negation(words: list[str], found: list[Cue]) -> list[Cue]:
    """Two that cancel: "has not stopped", "does not deny", "no need to hold". "Not been ruled out" leaves doubt."""
    reversible = [
        cue
        for cue in found
        if cue.category in _REVERSIBLE or (cue.category == "negated" and words[cue.start] in _DENYING)
    ]
    found = _without_untrue(words, found)
    if not reversible:
        return found
    fillers = word_set("negation_fillers")
    dropped: set[int] = set()
    added: list[Cue] = []
    for cue in reversible:
        place = cue.start - 1
        while place >= 0 and words[place] in fillers:
            place -= 1
        negator = next(
            (one for one in found if one.end == place + 1 and one.category == "negated" and one.before), None
        )
        # "Not to stop" cancels; "no longer", "never stopped" too; but "denies ... denied" are two statements.
        if place < 0 or words[place] not in word_set("negators") or (negator is None and words[place] != "no"):
            continue
        dropped |= {cue.start, *([negator.start] if negator else ())}
        added += [Cue(cue.start, cue.end, "possible" if cue.category == "ruled_out" else "uncancelled", cue.before)]
    if not dropped:
        return found
    return sorted([cue for cue in found if cue.start not in dropped] + list(dict.fromkeys(added)))
