"""A sentence under its heading with its things, verbs, clauses and conditions, each found once for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from workup.tasks.conversation.read.advice.amounts import has_number
from workup.tasks.conversation.read.advice.conditions import conditions
from workup.tasks.conversation.read.advice.frames import frame_of
from workup.tasks.conversation.read.advice.gaps import label_of
from workup.tasks.conversation.read.advice.subjects import Frame
from workup.tasks.conversation.read.advice.targets import Found, acted
from workup.tasks.conversation.read.advice.verbs import BASE, Verb, find_verbs, words
from workup.tasks.conversation.read.sentence.clauses import Bound, find_bounds
from workup.tasks.conversation.read.sentence.text import Sentence

_MOST_THINGS = 60  # in one sentence; a list that is longer is no advice
_ARTICLES = frozenset(["a", "an", "the", "your", "another", "my", "our", "any", "its"])


class Parsed:
    """The words of heading and sentence with what was found in them once."""

    def __init__(self, sentence: Sentence, things: Sequence[Found], before: Sequence[str]) -> None:
        self.words: list[str] = [*sentence.heading, *sentence.words] if sentence.heading else sentence.words
        self.shift = len(sentence.heading)
        self.question = sentence.question and not _assured(sentence.words)
        self.before = before
        shift = self.shift
        self.things = [one for one in things[:_MOST_THINGS] if not _done(sentence.words, one)]
        if shift:
            self.things = [one._replace(start=one.start + shift, end=one.end + shift) for one in self.things]
        self.covered = frozenset(place for one in self.things for place in range(one.start, one.end))
        verbs = find_verbs(self.words)
        self.verbs = [verb for verb in verbs if verb.start not in self.covered and not _noun(self.words, verb)]
        self.numbered = has_number(self.words)
        self._frames: dict[int, Frame] = {}
        self._bounds: list[Bound] | None = None
        self._conditions: list[int] | None = None

    @property
    def bounds(self) -> list[Bound]:
        """Where clauses begin."""
        if self._bounds is None:
            self._bounds = find_bounds(self.words)
        return self._bounds

    @property
    def conditions(self) -> list[int]:
        """Where conditions begin."""
        if self._conditions is None:
            self._conditions = conditions(self.words)
        return self._conditions

    def frame(self, place: int) -> Frame:
        """The frame of the verb at this place in the list of verbs."""
        found = self._frames.get(place)
        if found is None:
            verb = self.verbs[place]
            earlier = (self.verbs[place - 1], self.frame(place - 1)) if place else None
            found = label_of(self.words, verb, self.shift) or frame_of(self.words, verb, self.before, earlier)
            self._frames[place] = found
        return found


def _done(text: Sequence[str], thing: Found) -> bool:
    """ "You can exercise": the verb, not the noun."""
    before = text[thing.start - 1] if thing.start else ""
    if before == "to" and text[max(0, thing.start - 2)] in ("return", "back"):
        return False
    verb = thing.end - thing.start == 1 and text[thing.start] in acted()
    return verb and (before in words("modals") or before in words("negators") or before in ("you", "to", "i"))


def _assured(text: Sequence[str]) -> bool:
    """ "Let's stop the ibuprofen, okay?" asks nothing."""
    return len(text) > 2 and text[-1] in ("okay", "ok", "alright")


def _noun(text: Sequence[str], verb: Verb) -> bool:
    """ "A repeat A1c", "your call": a noun or an adjective."""
    return verb.end - verb.start == 1 and BASE in verb.forms and verb.start > 0 and text[verb.start - 1] in _ARTICLES
