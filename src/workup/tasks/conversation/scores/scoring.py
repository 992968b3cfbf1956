"""From transcripts to Scores: one row for each conversation held, in an order that no shuffling of files can change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from workup.scores import Levels, Scores, patient_codes
from workup.task import Case
from workup.tasks.conversation.cases.corpus import ConversationCorpus
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.design import TENTH
from workup.tasks.conversation.read.content import Grounding, extended_facts, told_facts
from workup.tasks.conversation.read.judging import Held, Told, held_of
from workup.tasks.conversation.scores.held import Readers, Shown, entity_counts, live_counts
from workup.tasks.conversation.scores.propagation import slip_counts
from workup.tasks.conversation.scores.rows import Row, row_of
from workup.tasks.conversation.settings import CLOCK, ConversationPart
from workup.tasks.conversation.talk.sources import with_sources
from workup.tasks.conversation.talk.transcripts import Said, Transcripts, slip_turn


@dataclass(frozen=True)
class Conversation:
    """One row: a case held once, in all of its arms."""

    case: Case
    replicate: int
    arms: Mapping[str, Held]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, eq=False)
class ConversationScores(Scores):
    """Scores of a chat model, with the conversations that they were made from and what is listed one by one."""

    conversations: tuple[Conversation, ...] = ()
    transcripts: Transcripts = None  # type: ignore[assignment]
    shown: Shown = field(default_factory=Shown)
    clock: int = CLOCK  # turns after its introduction to which the loss of a fact is followed
    seed: int = 0  # of the samples that a second reader is asked about

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that were held, live first; those in which an error was planted are no measure of the model."""
        found = {arm for one in self.conversations for arm in one.arms if slip_turn(arm) is None}
        return tuple(sorted(found, key=lambda arm: (_ORDER.get(arm, len(_ORDER)), arm)))

    @property
    def asked(self) -> bool:
        """Whether anybody asked for the facts, at any turn of a live conversation."""
        return any(told.asked for told in self._live())

    @property
    def unasked(self) -> bool:
        """Whether nobody did, at some turn that was held."""
        return any(not told.asked for told in self._live() if told.said)

    def _live(self) -> Iterator[Told]:
        return (told for one in self.conversations if "live" in one.arms for told in one.arms["live"].turns)

    @property
    def asked_turns(self) -> tuple[int, ...]:
        """Turns at which anybody asked, in any arm; those between have no figure of their own."""
        held = (held for one in self.conversations for held in one.arms.values())
        return tuple(sorted({told.turn for one in held for told in one.turns if told.asked}))

    @property
    def drafts(self) -> int:
        """Cases that nobody has checked."""
        return len({one.case.id for one in self.conversations if not one.case.input.checked})

    @property
    def sessions(self) -> tuple[int, ...]:
        """Numbers of the sessions, where a case has several."""
        several = any(one.case.input.returns for one in self.conversations)
        most = max(one.case.input.turns[-1].session for one in self.conversations)
        return tuple(range(1, most + 1)) if several else ()

    @property
    def sources(self) -> tuple[str, ...]:
        """What gave the model facts, where more than the history is known."""
        head = columns.whole("sendable_")
        return tuple(sorted(name.removeprefix(head) for name in self.values if name.startswith(head)))

    @property
    def slips(self) -> tuple[str, ...]:
        """The arms in which an error was planted, by their turn."""
        found = {(turn, arm) for one in self.conversations for arm in one.arms if (turn := slip_turn(arm)) is not None}
        return tuple(arm for _, arm in sorted(found))

    @property
    def turns(self) -> int:
        """Turns of the longest conversation."""
        return max(int(one.case.input.last_turn) for one in self.conversations)


_MOST_REPLICATES = 1000
_ORDER = {"live": 0, "oracle": 1, "naive": 2}


def as_scores(
    corpus: ConversationCorpus,
    transcripts: Transcripts,
    settings: ConversationPart,
    readers: Readers,
    *,
    more: Mapping[tuple[str, int], Row] | None = None,
    summaries_sent: bool = True,
) -> ConversationScores:
    """Every conversation judged and counted; `more` are numbers from elsewhere (ratings), by case and replicate.

    Where the summaries of cases with a ledger were not sent, facts of theirs count only as far as turns tell them.
    """
    lines: dict[str, list[Said]] = {}
    for said in transcripts.said:
        lines.setdefault(said.case, []).append(said)
    runs = sorted({(said.replicate, said.arm) for said in transcripts.said})
    asked = any(said.probe is not None for said in transcripts.said)
    shown, rows, conversations = Shown(), [], []
    for number, case in enumerate(corpus.cases, start=1):
        known = extended_facts(case.input) if summaries_sent else told_facts(case.input)
        own = lines.get(case.id, ())
        for one, row in score_case(case, own, settings, readers, shown, more=known, runs=runs, asked=asked):
            # Two models on the same cases are matched by this number.
            numbered = {"row": float(number * _MOST_REPLICATES + one.replicate)}
            rows.append({**row, **(more or {}).get((case.id, one.replicate), {}), **numbered})
            conversations.append(one)
    return in_rows(rows, conversations, transcripts, shown, clock=settings.clock)


def in_rows(
    rows: Sequence[Row],
    conversations: Sequence[Conversation],
    transcripts: Transcripts,
    shown: Shown | None = None,
    *,
    clock: int = CLOCK,
) -> ConversationScores:
    """Rows of conversations as Scores, with the design of their cases."""
    names = sorted({name for row in rows for name in row})
    cases = [one.case for one in conversations]
    sites, times = [case.site for case in cases], [case.time for case in cases]
    groups = sorted({name for case in cases for name in case.groups})
    return ConversationScores(
        values={name: np.array([row.get(name, 0.0) for row in rows]) for name in names},
        patient=patient_codes([case.patient for case in cases]),
        site=Levels.of(sites) if any(site is not None for site in sites) else None,
        time=np.array(times, dtype="datetime64[us]") if any(time is not None for time in times) else None,
        groups={name: Levels.of([case.groups.get(name) for case in cases]) for name in groups},
        conversations=tuple(conversations),
        transcripts=transcripts,
        shown=shown or Shown(),
        clock=clock,
    )


def score_case(
    case: Case,
    said: Sequence[Said],
    settings: ConversationPart,
    readers: Readers,
    shown: Shown,
    *,
    more: Sequence[Fact] = (),
    runs: Sequence[tuple[int, str]] = (),
    asked: bool | None = None,
) -> list[tuple[Conversation, Row]]:
    """The rows of one case, one for each time that it was held; `more` are the facts beside those of the ledger."""
    facts = (*case.input.facts, *more)
    said = with_sources(case.input, said, settings.tool_sources)
    grounding = Grounding(case.input, facts)
    held = held_of(
        case.input, said, facts=facts, runs=runs, matcher=settings.matcher, names=settings.names, asked=asked
    )
    found = []
    for replicate, group in groupby(held, key=lambda one: one.replicate):
        arms = {one.arm: one for one in group}
        plain = {arm: one for arm, one in arms.items() if slip_turn(arm) is None}
        row = row_of(plain, facts, horizons=(TENTH, settings.horizon, *settings.horizons), clock=settings.clock)
        row |= entity_counts(plain, grounding)
        row |= slip_counts(arms, facts, settings.horizon)
        if "live" in arms:
            row |= live_counts(arms["live"], facts, readers, shown)
        found.append((Conversation(case, replicate, arms, facts), row))
    return found
