"""What people say of a model's replies: lines of labels, and the draw that says which units they were asked about.

A line of a label names its unit and holds no text. The first version's form, a fact and a reply in each line, is still
read; it knows no place in a conversation, so it measures the rules alone and enters no rate.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from workup.errors import InputError, near
from workup.files.jsonlines import kind
from workup.report import canonical
from workup.tasks.conversation.cases.case import fact_of
from workup.tasks.conversation.cases.json_files import (
    list_of,
    needed,
    records,
    refuse_misspelt,
    text_of,
    whole_of,
)
from workup.tasks.conversation.read.facts.probes import Probe
from workup.tasks.conversation.read.facts.reply_outcomes import OUTCOMES
from workup.tasks.conversation.talk.transcripts import arm_of

CANNOT_TELL = "cannot_tell"
PAIR_ANSWERS = ("conflict", "licensed", "unrelated")
FACT_ANSWERS = tuple(outcome for outcome in OUTCOMES if outcome != "unscorable")
_KEYS = ("case", "replicate", "arm", "turn", "fact", "pair", "expected", "rater", "blind", "draw")
_REPLY_KEYS = ("fact", "reply", "expected", "turn")
_PAIR = re.compile(r"\d{1,4}\.\d{1,5}-\d{1,4}\.\d{1,5}")
_DRAW = re.compile(r"[0-9a-f]{16}")
_LONGEST_NAME = 200


class Unit(NamedTuple):
    """What one label is about: a fact at a turn, or a pair of sentences ("1.0-3.2" is turn 1, sentence 0 and turn 3,
    sentence 2), named by the turn of the second."""

    case: str
    replicate: int
    arm: str
    turn: int
    fact: str | None = None
    pair: str | None = None

    def record(self) -> dict[str, Any]:
        """As a line of a file names it."""
        return {key: value for key, value in self._asdict().items() if value is not None}


class Label(NamedTuple):
    """One answer of one person."""

    unit: Unit
    expected: str  # an outcome, the kind of a pair, or cannot_tell
    rater: str
    blind: bool  # given before the outcome was shown
    draw: str | None  # the id of the draw that the unit came from


@dataclass(frozen=True)
class Labels:
    """All labels of a file: those of units of this study, and labelled replies in the first version's form."""

    labels: tuple[Label, ...] = ()
    replies: tuple[Probe, ...] = ()

    def of_draw(self, draw: Draw | None) -> dict[Unit, dict[str, str]]:
        """Answers that may enter a rate, by unit and rater: blind, and to a unit of this draw under its id.

        The first blind answer of a rater stands, since the outcome was shown after it.
        """
        found: dict[Unit, dict[str, str]] = {}
        for one in self.labels:
            if draw is not None and one.blind and one.draw == draw.id and one.unit in draw.units:
                found.setdefault(one.unit, {}).setdefault(one.rater, one.expected)
        return found


def read_labels(path: Path | str) -> Labels:
    """The labels of a file, one object on each line. Errors name the line and never what it says."""
    labels: list[Label] = []
    replies: list[Probe] = []
    for where, record in records(Path(path)):
        if "reply" in record:
            replies.append(_reply_of(record, number=len(replies) + 1, where=where))
        else:
            labels.append(label_of(record, where=where))
    return Labels(tuple(labels), tuple(replies))


def label_of(record: Mapping[str, Any], *, where: str) -> Label:
    """One label, checked.

    >>> line = {"case": "c1", "turn": 3, "fact": "f1", "expected": "correct", "rater": "a", "blind": True}
    >>> label_of(line, where="line 1").unit
    Unit(case='c1', replicate=0, arm='live', turn=3, fact='f1', pair=None)
    """
    refuse_misspelt(record, _KEYS, where=where)
    unit = unit_of(record, where=where)
    allowed = (*(FACT_ANSWERS if unit.pair is None else PAIR_ANSWERS), CANNOT_TELL)
    expected = needed(record, "expected", where=where, known=_KEYS)
    if expected not in allowed:
        remedy = near(expected[:20], allowed) if isinstance(expected, str) else ""
        raise InputError(f"'expected' must be one of {', '.join(allowed)}", where=where, remedy=remedy)
    blind, draw = record.get("blind", False), record.get("draw")
    if not isinstance(blind, bool):
        raise InputError("'blind' must be true or false", where=where, got=kind(blind))
    if draw is not None and (not isinstance(draw, str) or not _DRAW.fullmatch(draw)):
        raise InputError("'draw' must be the id of a draw, or null", where=where, got=kind(draw))
    rater = _name(needed(record, "rater", where=where, known=_KEYS), field="rater", where=where)
    return Label(unit, expected, rater, blind, draw)


def unit_of(record: Mapping[str, Any], *, where: str) -> Unit:
    """The unit that a record names: a fact at a turn, or a pair of sentences."""
    case = _name(needed(record, "case", where=where, known=_KEYS), field="case", where=where)
    turn = whole_of(needed(record, "turn", where=where, known=_KEYS), field="turn", where=where)
    replicate = whole_of(record.get("replicate", 0), field="replicate", where=where, least=0)
    arm = arm_of(record.get("arm", "live"), where)
    pair = record.get("pair")
    if pair is None:
        fact = _name(needed(record, "fact", where=where, known=_KEYS), field="fact", where=where)
        return Unit(case, replicate, arm, turn, fact)
    if not isinstance(pair, str) or not _PAIR.fullmatch(pair) or record.get("fact") is not None:
        raise InputError(
            "'pair' must be two sentences by turn and place, such as 1.0-3.2, and stand without 'fact'",
            where=where,
            got=kind(pair),
        )
    return Unit(case, replicate, arm, turn, None, pair)


def _reply_of(record: Mapping[str, Any], *, number: int, where: str) -> Probe:
    fact = fact_of(needed(record, "fact", where=where, known=_REPLY_KEYS), where=where)
    reply = text_of(needed(record, "reply", where=where, known=_REPLY_KEYS), field="reply", where=where)
    expected = needed(record, "expected", where=where, known=_REPLY_KEYS)
    if expected not in OUTCOMES:
        raise InputError(f"'expected' must be one of {', '.join(OUTCOMES)}", where=where)
    return Probe(f"labelled-{number}", fact, record.get("turn"), reply, expected, "labelled", "labelled")


def _name(value: Any, *, field: str, where: str) -> str:
    text = text_of(value, field=field, where=where)
    if len(text) > _LONGEST_NAME:
        raise InputError(f"'{field}' must have at most {_LONGEST_NAME} characters", where=where, got=f"{len(text):,}")
    return text


# ---- draws -----------------------------------------------------------------------------------------------------------


class Drawn(NamedTuple):
    """How one unit came into a draw: what the reader said of it, the chance it had, and which reply was read."""

    verdict: str
    chance: float
    reply: str  # digest of the text that was read: a label does not outlive its reply


@dataclass(frozen=True)
class Draw:
    """Units that people are asked to label, with the reader that they were drawn by."""

    units: Mapping[Unit, Drawn] = field(default_factory=dict)
    reader: str = ""  # what read the units: rules, or the judge with its model and prompts
    seed: int = 0

    @property
    def id(self) -> str:
        """A digest of the draw, which each label of it repeats."""
        return hashlib.sha256(canonical(self._content()).encode()).hexdigest()[:16]

    def _content(self) -> dict[str, Any]:
        units = [{**unit.record(), **drawn._asdict()} for unit, drawn in self.units.items()]
        return {"reader": self.reader, "seed": self.seed, "units": units}

    def record(self) -> dict[str, Any]:
        """As draw.json holds it."""
        return {"id": self.id, **self._content()}


def read_draw(path: Path | str) -> Draw:
    """The draw of a file that `workup label draw` wrote; one that was changed since is refused."""
    path = Path(path)
    found = [record for _, record in records(path)]
    if len(found) != 1:
        raise InputError("one draw was expected", where=path.name, got=f"{len(found)} objects")
    record, where = found[0], path.name
    units: dict[Unit, Drawn] = {}
    listed = list_of(needed(record, "units", where=where, known=("units",)), field="units", where=where)
    for number, one in enumerate(listed, start=1):
        place = f"{where}, unit {number}"
        if not isinstance(one, Mapping):
            raise InputError("a unit of a draw must be an object", where=place, got=kind(one))
        units[unit_of(one, where=place)] = _drawn(one, where=place)
    reader, seed = record.get("reader", ""), record.get("seed", 0)
    draw = Draw(
        units,
        text_of(reader, field="reader", where=where, empty=True),
        whole_of(seed, field="seed", where=where, least=0),
    )
    if record.get("id") != draw.id or len(units) != len(listed):
        raise InputError(
            "a draw as it was written was expected",
            where=where,
            got="one whose id does not fit its units",
            remedy="draw again with workup label draw",
        )
    return draw


def _drawn(record: Mapping[str, Any], *, where: str) -> Drawn:
    verdict, chance, reply = (needed(record, name, where=where, known=(name,)) for name in Drawn._fields)
    if isinstance(chance, bool) or not isinstance(chance, (int, float)) or not 0 < chance <= 1:
        raise InputError("'chance' must lie above 0 and be at most 1", where=where, got=kind(chance))
    text_of(verdict, field="verdict", where=where)
    text_of(reply, field="reply", where=where)
    return Drawn(verdict, float(chance), reply)


def digest_of(texts: Iterable[str]) -> str:
    """A short digest of what was read, by which a label knows the reply that it was given to."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
