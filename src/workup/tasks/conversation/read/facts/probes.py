"""The labelled replies that ship with the matcher, and how often it is right on them.

They are hard on purpose and were written by the people who wrote the rules: they do not describe a model's replies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import yaml

from workup.stats.intervals import wilson
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts.reply_outcomes import OUTCOMES, outcome_of
from workup.tasks.conversation.read.sentence.vocabulary import data_file

HELD_OUT_EVERY = 3  # of the first replies, each third was kept from the tuning
LATER = (  # groups written after the first, each one in turn; whole replies from the seventh on
    *("fresh", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"),
)
PARTS = ("tuned", "held_out", *LATER)


class Probe(NamedTuple):
    """A labelled reply: the fact, the reply, the outcome that a reader gives it, its kind and part."""

    name: str
    fact: Fact
    turn: int | None
    reply: str
    expected: str
    kind: str
    part: str


class Rate(NamedTuple):
    """A share with its 95 % Wilson interval; None over nothing."""

    value: float | None
    low: float | None
    high: float | None
    right: int
    n: int


class OutcomeError(NamedTuple):
    """How well one outcome is told from the others."""

    outcome: str
    sensitivity: Rate
    specificity: Rate


class FirstSeen(NamedTuple):
    """What was measured on replies that no rule had been fitted to, before any was mended: the honest numbers."""

    sensitivity: Rate
    specificity: Rate
    agreement: Rate


class MeasuredError(NamedTuple):
    """What the matcher gets right on labelled replies today. The headline is `correct`, on which recall rests."""

    n: int
    agreement: Rate
    outcomes: tuple[OutcomeError, ...]
    parts: dict[str, Rate]
    first_seen: FirstSeen | None = None  # of the shipped replies; None for those of a user

    @property
    def sensitivity(self) -> Rate:
        """Of replies in which the fact stands correctly, the share found correct."""
        return self.outcomes[0].sensitivity

    @property
    def specificity(self) -> Rate:
        """Of replies in which it does not, the share found other than correct."""
        return self.outcomes[0].specificity


@cache
def _content() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load(data_file("probes"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return loaded


@cache
def probes() -> tuple[Probe, ...]:
    """The shipped labelled replies.

    >>> len(probes()) >= 200 and {probe.part for probe in probes()} <= set(PARTS)
    True
    """
    content = _content()
    facts = {name: _fact(name, dict(record)) for name, record in content["facts"].items()}
    found: list[Probe] = []
    for group in ("first", *LATER):
        number = 0
        for kind, rows in (content.get(group) or {}).items():
            for name, expected, reply in _units(rows):
                number += 1
                held = "held_out" if number % HELD_OUT_EVERY == 0 else "tuned"
                fact, turn = facts[name]
                part = held if group == "first" else group
                found.append(Probe(f"{group}-{number}", fact, turn, str(reply), str(expected), kind, part))
    return tuple(found)


def _units(rows: Iterable[Any]) -> Iterator[tuple[str, str, str]]:
    """Fact, expected outcome and reply; a whole reply stands once, with what is expected of several facts."""
    for row in rows:
        if isinstance(row, dict):
            yield from ((name, expected, row["reply"]) for name, expected in row["expected"].items())
        else:
            yield row[0], row[1], row[2]


def _fact(name: str, record: dict[str, Any]) -> tuple[Fact, int | None]:
    turn = record.pop("turn", None)
    attributes = {key: str(value) if key == "date" else value for key, value in record.pop("attributes", {}).items()}
    return Fact(name, attributes=attributes, **record), turn


def measured_error(labelled: Iterable[Probe] | None = None) -> MeasuredError:
    """Sensitivity and specificity of the matcher, of each outcome against the others, with n and intervals.

    >>> error = measured_error()
    >>> error.n == len(probes()) and 0 < error.sensitivity.low <= error.sensitivity.value
    True
    """
    return _shipped_error() if labelled is None else _error(tuple(labelled))


@cache
def _shipped_error() -> MeasuredError:
    rows = _content()["first_seen"].values()
    counts = {name: [sum(row[name][place] for row in rows) for place in (0, 1)] for name in FirstSeen._fields}
    first = FirstSeen(*(share_of(right, n) for right, n in counts.values()))
    return _error(probes())._replace(first_seen=first)


def _error(labelled: tuple[Probe, ...]) -> MeasuredError:
    pairs = [(one, outcome_of(one.fact, one.reply, turn=one.turn).outcome) for one in labelled]
    by_outcome = []
    for outcome in OUTCOMES[:-1]:
        hits = [found == outcome for one, found in pairs if one.expected == outcome]
        others = [found != outcome for one, found in pairs if one.expected != outcome]
        by_outcome.append(OutcomeError(outcome, _rate(hits), _rate(others)))
    right = [one.expected == found for one, found in pairs]
    parts = {
        part: _rate([one.expected == found for one, found in pairs if one.part == part])
        for part in PARTS
        if any(one.part == part for one in labelled)
    }
    return MeasuredError(len(pairs), _rate(right), tuple(by_outcome), parts)


def _rate(right: list[bool]) -> Rate:
    return share_of(sum(right), len(right))


def share_of(right: int, n: int) -> Rate:
    """A share of labelled units with its interval; nothing over none."""
    if not n:
        return Rate(None, None, None, 0, 0)
    ends = wilson(right / n, n)
    return Rate(right / n, ends.low, ends.high, right, n)
