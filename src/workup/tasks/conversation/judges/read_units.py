"""Every unit with what each reader made of it and what people said: the one table behind agreement, rates and draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from workup.tasks.conversation.judges.asking import Judgements, composite, conversation_pairs, fact_units
from workup.tasks.conversation.judges.pairs import Pairs
from workup.tasks.conversation.labels import CANNOT_TELL, Draw, Labels, Unit, digest_of, read_draw, read_labels
from workup.tasks.conversation.scores.scoring import ConversationScores
from workup.tasks.conversation.settings import ConversationPart

DRAW_FILE = "draw.json"
SAFETY = ("allergy", "medication", "risk")


class ReadUnit(NamedTuple):
    """One unit. `reader` is the outcome by rules and judge together, `runs` that of each run of the judge alone."""

    unit: Unit
    rules: str
    judge: str | None  # its majority; None where it was not asked or gave none
    reader: str
    runs: tuple[str, ...]
    digest: str  # of what was read
    groups: frozenset[str] = frozenset()  # type of the fact, and safety
    weight: float = 1.0
    active: bool = True  # a fact that holds at the turn; a pair that is in the rate


@dataclass(frozen=True)
class People:
    """Answers of people that may enter a rate: blind, drawn, and of the replies as they are now."""

    answers: Mapping[Unit, Mapping[str, str]]
    chances: Mapping[Unit, float]
    stale: int = 0  # units whose reply has changed since they were drawn
    outside: int = 0  # labels that are not blind or not of the draw
    changed: str = ""  # why the draw was made by another reader than today's

    @property
    def raters(self) -> list[str]:
        """All raters, in one order."""
        return sorted({rater for given in self.answers.values() for rater in given})

    def share(self, unit: Unit, answer: str) -> float | None:
        """The share of raters who gave this answer; None where nobody could tell."""
        given = [one for one in self.answers.get(unit, {}).values() if one != CANNOT_TELL]
        return sum(one == answer for one in given) / len(given) if given else None


class Readings:
    """The units of a study, facts and pairs, as all readers read them."""

    def __init__(self, scores: ConversationScores) -> None:
        self._scores = scores
        judged = scores.transcripts.judged
        self.judged: Judgements | None = judged if isinstance(judged, Judgements) else None

    @classmethod
    def of(cls, scores: ConversationScores) -> Readings:
        """Those of some scores, made once."""
        return scores.kept("readings of units", lambda: cls(scores))

    @property
    def reader(self) -> str:
        """Who read, as a draw records it."""
        judged = self.judged or Judgements()
        return f"facts by {judged.identity('facts')}; advice by {judged.identity('advice')}"

    @property
    def runs(self) -> int:
        """How often a judge was asked; 1 where there was none."""
        return 1 if self.judged is None else self.judged.k

    @cached_property
    def facts(self) -> list[ReadUnit]:
        """Critical facts of the live conversations that could be scored."""
        found = []
        for one in fact_units(self._scores.conversations):
            answers = None if self.judged is None else self.judged.facts.get(one.unit)
            groups = {one.fact.type}
            if one.fact.type in SAFETY or one.fact.harm_tag:
                groups.add("safety")
            runs = (None,) * self.runs if answers is None else answers.runs
            found.append(
                ReadUnit(
                    one.unit,
                    one.rules.outcome,
                    None if answers is None else answers.majority,
                    composite(one, None if answers is None else answers.majority),
                    tuple(composite(one, run) for run in runs),
                    digest_of([one.text]),
                    frozenset(groups),
                    active=not one.fact.over(one.unit.turn),
                )
            )
        return found

    @cached_property
    def _by_conversation(self) -> list[Pairs]:
        return conversation_pairs(self._scores.conversations, seed=self._scores.seed)

    @cached_property
    def pairs(self) -> list[ReadUnit]:
        """Pairs of advice: in the rate are those that rules made, and those that the judge says belong together."""
        found = []
        for one in self._by_conversation:
            for pair in one.pairs:
                unit = pair.question.unit
                answers = None if self.judged is None else self.judged.pairs.get(unit)
                rules = pair.rules or "unrelated"
                majority = None if answers is None else answers.majority
                runs = (None,) * self.runs if answers is None else answers.runs
                found.append(
                    ReadUnit(
                        unit,
                        rules,
                        majority,
                        majority or rules,
                        tuple(run or rules for run in runs),
                        digest_of(pair.question.texts),
                        weight=pair.weight,
                        active=pair.rules is not None or (majority or rules) != "unrelated",
                    )
                )
        return found

    @cached_property
    def unmade(self) -> tuple[int, int]:
        """Pairs that the rules did not make: how many were read, and how many there are."""
        found = self._by_conversation
        return sum(pair.rules is None for one in found for pair in one.pairs), sum(one.unmade for one in found)


def people_of(readings: Readings, labels: Labels, draw: Draw | None) -> People:
    """The answers that count, held against the replies and the reader of today."""
    given = labels.of_draw(draw)
    outside = len(labels.labels) - sum(map(len, given.values()))
    if draw is None or not given:
        return People({}, {}, outside=outside)
    needed: list[ReadUnit] = []
    if any(unit.pair is None for unit in given):
        needed += readings.facts
    if any(unit.pair is not None for unit in given):
        needed += readings.pairs
    digests = {one.unit: one.digest for one in needed}
    fresh = {unit: answers for unit, answers in given.items() if digests.get(unit) == draw.units[unit].reply}
    changed = ""
    if draw.reader != readings.reader:
        changed = "the judge, its model or its prompt has changed since the labels were drawn: draw again"
    chances = {unit: draw.units[unit].chance for unit in fresh}
    return People(fresh, chances, len(given) - len(fresh), outside, changed)


def people_of_study(readings: Readings, part: ConversationPart, base: Path) -> People | None:
    """The answers that the study names; None where it names no labels of units."""
    if part.labelled is None:
        return None
    labels = read_labels(base / part.labelled)
    if not labels.labels:
        return None
    place = draw_file(part)
    path = None if place is None else base / place
    return people_of(readings, labels, read_draw(path) if path is not None and path.is_file() else None)


def draw_file(part: ConversationPart) -> str | None:
    """Where the draw is: what the study says, or beside the labels."""
    if part.draw is not None or part.labelled is None:
        return part.draw
    return str(Path(part.labelled).with_name(DRAW_FILE))
