"""Words that say what is beside them ("MRN", "Dr.", "lives in"), found in one pass over the words of a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from workup.deid.settings import Settings
from workup.deid.text_view import Page

LABEL = "label:"
_JOINTS = frozenset(("", " ", "  ", "'", ".", ". ", "/", "-", "&", " & ", " / ", "/ ", " #", "\t"))


class Cue(NamedTuple):
    """Words `first` to `last` of a page, and the kinds of what they tell."""

    first: int
    last: int
    kinds: frozenset[str]
    labels: tuple[str, ...]  # the leaves of values that follow it


class CueBook:
    """All phrases, by their first word, the longest first."""

    def __init__(self, phrases: Mapping[str, frozenset[str]]) -> None:
        opened: dict[str, dict[tuple[str, ...], frozenset[str]]] = {}
        for phrase, kinds in phrases.items():
            first, *rest = Page(phrase).words or [""]
            table = opened.setdefault(first, {})
            table[tuple(rest)] = table.get(tuple(rest), frozenset()) | kinds
        self._opened = {
            first: [
                (rest, found, tuple(sorted(kind[len(LABEL) :] for kind in found if kind.startswith(LABEL))))
                for rest, found in sorted(table.items(), key=lambda entry: -len(entry[0]))
            ]
            for first, table in opened.items()
            if first
        }

    @classmethod
    def of(cls, settings: Settings) -> CueBook:
        """The phrases of labels and cues in the rules."""
        kinds: dict[str, set[str]] = {}
        for leaf, rule in settings.labels.items():
            for phrase in rule.words:
                kinds.setdefault(phrase, set()).add(LABEL + leaf)
        for kind, phrases in settings.cues.items():
            for phrase in phrases:
                kinds.setdefault(phrase, set()).add(kind)
        return cls({phrase: frozenset(found) for phrase, found in kinds.items()})

    def find(self, page: Page) -> list[Cue]:
        """The cues of a page from the left; of those that open with one word, the longest."""
        found: list[Cue] = []
        words, opened = page.words, self._opened
        free = 0
        for first in page.of(opened):
            if first < free:
                continue
            for rest, kinds, labels in opened[words[first]]:
                length = len(rest)
                if length == 0 or (
                    tuple(words[first + 1 : first + 1 + length]) == rest
                    and all(page.gaps[first + i] in _JOINTS for i in range(length))
                ):
                    found.append(Cue(first, first + length, kinds, labels))
                    free = first + length + 1
                    break
        return found
