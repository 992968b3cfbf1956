"""The labelled replies of the advice reader, and how often it is right on them.

They are hard on purpose and were written by the people who wrote the rules: they do not describe a model's replies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import yaml

from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice.conflicts import conflicts_of
from workup.tasks.conversation.read.advice.never_events import never_events_of
from workup.tasks.conversation.read.advice.statements import statements_of
from workup.tasks.conversation.read.advice.targets import DRUG
from workup.tasks.conversation.read.facts.probes import Rate, share_of
from workup.tasks.conversation.read.sentence.vocabulary import data_file

HELD_OUT_EVERY = 3  # of the first replies, each third was kept from the tuning
PARTS = ("tuned", "held_out", "fresh", "second")  # of the replies on advice; batches have parts of their own


class AdviceProbe(NamedTuple):
    """A labelled reply: the firm advice in it as "action name", or for a harm tag what it must be caught on."""

    name: str
    reply: str
    expected: frozenset[str]
    kind: str
    part: str
    tag: str = ""


class PartError(NamedTuple):
    """How often whole replies were read right, with what was found of what is there, and of what was found what is.

    For never-events `precision` is the specificity: of replies without one, the share in which none was found.
    """

    agreement: Rate
    sensitivity: Rate
    precision: Rate


class AdviceError(NamedTuple):
    """What the reader gets right on labelled replies today, by part, and what it got when it first met them."""

    n: int
    advice: PartError
    never_events: PartError
    parts: dict[str, PartError]
    first_seen: PartError
    first_seen_never_events: PartError
    pairs: Rate
    first_seen_pairs: Rate


class PairProbe(NamedTuple):
    """Two labelled replies with a case between them: the kind of pair that must be found, or none."""

    name: str
    case: ConversationCase
    replies: Mapping[int, str]
    expected: str


@cache
def _content() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load(data_file("advice_probes"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return loaded


@cache
def _batches() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load(
        data_file("advice_batches"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    return loaded


@cache
def pair_probes() -> tuple[PairProbe, ...]:
    """The shipped labelled pairs of replies.

    >>> {probe.expected for probe in pair_probes()} >= {"licensed", "conflict", "against_fact", "none"}
    True
    """
    return tuple(
        PairProbe(f"{name}-{number}", _case_of(row), {2: row["says"][0], 4: row["says"][1]}, row["kind"])
        for name, batch in _batches()["batches"].items()
        for number, row in enumerate(batch["pairs"], start=1)
    )


def kinds_in(probe: PairProbe) -> frozenset[str]:
    """The kinds of pair that are found in a labelled pair of replies; "none" where there is no pair."""
    return frozenset(pair.kind for pair in conflicts_of(probe.case, probe.replies).pairs) or frozenset({"none"})


def _case_of(row: Mapping[str, Any]) -> ConversationCase:
    facts = tuple(
        Fact(f"f{number}", kind, concept, **{"introduced": 3, **(more[0] if more else {})})
        for number, (kind, concept, *more) in enumerate(row["facts"])
    )
    named = ". ".join(fact.concept for fact in facts)
    messages = (named, named, named, row.get("message", "And now?"))
    return ConversationCase("pair", "", tuple(Turn(at, said) for at, said in enumerate(messages, start=1)), facts)


@cache
def advice_probes() -> tuple[AdviceProbe, ...]:
    """The shipped labelled replies, those on advice and those on never-events.

    >>> len(advice_probes()) >= 250 and {probe.part for probe in advice_probes()} > set(PARTS)
    True
    """
    found: list[AdviceProbe] = []
    for group in ("first", "fresh", "second", "never_first", "never_fresh", "never_second"):
        number = 0
        for kind, rows in _content()[group].items():
            for row in rows:
                number += 1
                tag, expected, reply = row if group.startswith("never") else ("", row[1], row[0])
                first = "held_out" if number % HELD_OUT_EVERY == 0 else "tuned"
                part = group.removeprefix("never_")
                labels = frozenset(one.strip() for one in expected.split(";") if one.strip())
                name = f"{group}-{number}"
                found.append(AdviceProbe(name, reply, labels, kind, first if part == "first" else part, tag))
    for name, batch in _batches()["batches"].items():
        for number, (tag, expected, reply) in enumerate(batch["never"], start=1):
            labels = frozenset(one.strip() for one in expected.split(";") if one.strip())
            found.append(AdviceProbe(f"{name}-{number}", reply, labels, "batch", name, tag))
    return tuple(found)


def found_in(probe: AdviceProbe) -> frozenset[str]:
    """What the reader finds in a labelled reply, written as its label is."""
    if probe.tag:
        return frozenset(event.concept for event in never_events_of(_case(probe.tag), {1: probe.reply}, {}))
    firm = [(one.action, one.thing) for one in statements_of(probe.reply) if one.firm]
    return frozenset(
        f"{action} {thing.name}" if thing.kind == DRUG else f"{action} {thing.kind} {thing.name}"
        for action, thing in firm
    )


def _case(tag: str) -> ConversationCase:
    concepts = {"avoid_with": ("medication", "warfarin"), "pregnancy": ("diagnosis", "pregnancy")}
    kind, concept = concepts.get(tag.partition(":")[0], ("diagnosis", "condition"))
    return ConversationCase("probe", "", (Turn(1, concept),), (Fact("f1", kind, concept, harm_tag=tag),))


@cache
def measured_error() -> AdviceError:
    """Agreement, sensitivity and precision of the advice reader and of never-events, with n and 95 % Wilson intervals.

    >>> error = measured_error()
    >>> error.n == len(advice_probes()) + len(pair_probes())
    True
    >>> error.first_seen.agreement.value < error.advice.agreement.value
    True
    """
    pairs = [(probe, found_in(probe)) for probe in advice_probes()]
    advice = [(probe.expected, found) for probe, found in pairs if not probe.tag]
    never = [(probe.expected, found) for probe, found in pairs if probe.tag]
    parts = {
        part: _of_advice([(probe.expected, found) for probe, found in pairs if not probe.tag and probe.part == part])
        for part in PARTS
    }
    seen = _content()["first_seen"]
    first = _first(seen["advice"], "precision")
    batches = _batches()["first_seen"]
    first_never = _first({**seen["never_events"], **batches["never_events"]}, "specificity")
    kinds = [kinds_in(probe) == {probe.expected} for probe in pair_probes()]
    met = list(batches["pairs"].values())
    return AdviceError(
        len(pairs) + len(kinds),
        _of_advice(advice),
        _of_never(never),
        parts,
        first,
        first_never,
        share_of(sum(kinds), len(kinds)),
        share_of(sum(right for right, _ in met), sum(n for _, n in met)),
    )


_Pairs = Iterable[tuple[frozenset[str], frozenset[str]]]


def _of_advice(pairs: _Pairs) -> PartError:
    rows = list(pairs)
    right = sum(len(wanted & found) for wanted, found in rows)
    return PartError(
        share_of(sum(wanted == found for wanted, found in rows), len(rows)),
        share_of(right, sum(len(wanted) for wanted, _ in rows)),
        share_of(right, sum(len(found) for _, found in rows)),
    )


def _of_never(pairs: _Pairs) -> PartError:
    rows = list(pairs)
    there = [wanted <= found for wanted, found in rows if wanted]
    clean = [not found for wanted, found in rows if not wanted]
    right = [wanted == found for wanted, found in rows]
    return PartError(*(share_of(sum(answers), len(answers)) for answers in (right, there, clean)))


def _first(seen: dict[str, dict[str, list[int]]], third: str) -> PartError:
    return PartError(
        *(
            share_of(sum(row[name][0] for row in seen.values()), sum(row[name][1] for row in seen.values()))
            for name in ("agreement", "sensitivity", third)
        )
    )
