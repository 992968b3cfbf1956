"""A sentence under its heading, with its cues and clauses found once for all mentions in it."""

from __future__ import annotations

from workup.tasks.conversation.read.sentence.clauses import (
    CAUSE,
    COMMA_PREDICATE,
    DASH,
    EXCEPTION,
    HARD,
    PREDICATE,
    RELATIVE,
    SUBJECT,
    find_bounds,
)
from workup.tasks.conversation.read.sentence.cues import find_cues
from workup.tasks.conversation.read.sentence.precautions import warnings_in
from workup.tasks.conversation.read.sentence.text import Sentence

TREATMENTS = frozenset({"medication", "plan", "procedure"})
_CLAUSE = frozenset({HARD, EXCEPTION, SUBJECT, PREDICATE, COMMA_PREDICATE, CAUSE, RELATIVE, DASH})
PASSIVE = frozenset({"was", "were", "is", "are", "be", "been", "being"})


class Analysed:
    """The words of heading and sentence; the sentence's own begin at `shift`. `following` is the next sentence."""

    __slots__ = ("_warnings", "bounds", "cues", "following", "question", "shift", "words")

    def __init__(self, sentence: Sentence, following: Sentence | None) -> None:
        self.words = [*sentence.heading, *sentence.words] if sentence.heading else sentence.words
        self.shift = len(sentence.heading)
        self.question = sentence.question
        self.following = following
        self.cues = find_cues(self.words)
        self.bounds = find_bounds(self.words)
        self._warnings: list[tuple[int, int]] | None = None

    def warnings(self) -> list[tuple[int, int]]:
        """Where the sentence tells to seek help, looked for once."""
        if self._warnings is None:
            self._warnings = warnings_in(self.words)
        return self._warnings

    def parted(self, first: int, last: int, kinds: frozenset[str]) -> bool:
        """Whether a clause of these kinds begins behind `first` and up to `last`."""
        return any(first <= bound.place <= last and bound.kind in kinds for bound in self.bounds)

    def clause_between(self, place: int, start: int) -> bool:
        """Whether a clause of any kind begins between a word and the mention behind it."""
        return self.parted(place + 1, start, _CLAUSE)
