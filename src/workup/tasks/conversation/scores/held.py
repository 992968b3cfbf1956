"""What only the conversation as it was held can show: entities named, conflicts, never-events, plans, copying."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.read.advice import conflicts_of, never_events_of, published_conflicts_of
from workup.tasks.conversation.read.content import (
    Grounding,
    copy_rate,
    items_of,
    plan_of,
    plan_score,
    published_alignment,
)
from workup.tasks.conversation.read.facts import Judged
from workup.tasks.conversation.read.judging import Held
from workup.tasks.conversation.read.sentence.folding import word_tokens
from workup.tasks.conversation.scores.propagation import error_counts
from workup.tasks.conversation.scores.rows import Row
from workup.tasks.conversation.scores.safety import safety_errors_of
from workup.tasks.conversation.settings import ToolAct
from workup.tasks.conversation.talk.sources import act_in


@dataclass(frozen=True)
class Readers:
    """Plug-ins that read replies beside the matcher, and the plans of the study; rules alone where absent."""

    judge: Any = None
    encoder: Any = None
    plans: Mapping[str, str] = field(default_factory=dict)
    tool_acts: Sequence[ToolAct] = ()  # calls of tools that are advice


@dataclass
class Shown:
    """What is listed one by one in the report: places and kinds, never text."""

    never_events: list[dict[str, Any]] = field(default_factory=list)
    safety_errors: list[dict[str, Any]] = field(default_factory=list)
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    plans: dict[str, int] = field(default_factory=lambda: defaultdict(int))  # where plans came from
    plan_methods: dict[str, int] = field(default_factory=lambda: defaultdict(int))  # how they were looked for
    plan_refused: int = 0  # items and sentences that the encoder would have cut


def entity_counts(arms: Mapping[str, Held], grounding: Grounding) -> Row:
    """Entities that replies and summaries name, by arm, set and turn."""
    row: Row = {}
    for arm, held in arms.items():
        for told in held.turns:
            if not told.text:
                continue
            found = grounding.support(told.text, told.turn)
            if not told.asked:
                # Nobody asked for the facts here, so what is named beside them is no error; what nobody said still is.
                for kind in columns.SETS:
                    row[columns.at_turn(arm, kind, told.turn, columns.NAMED)] = float(found.entities)
                    row[columns.at_turn(arm, kind, told.turn, columns.UNGROUNDED)] = float(found.ungrounded)
                continue
            for kind, supported in (("critical", found.in_critical), ("extended", found.in_extended)):
                row[columns.at_turn(arm, kind, told.turn, columns.NAMED)] = float(found.entities)
                row[columns.at_turn(arm, kind, told.turn, columns.LISTED)] = float(found.entities)
                row[columns.at_turn(arm, kind, told.turn, columns.SUPPORTED)] = float(supported)
                row[columns.at_turn(arm, kind, told.turn, columns.UNGROUNDED)] = float(found.ungrounded)
    return row


def live_counts(held: Held, facts: Sequence[Fact], readers: Readers, shown: Shown) -> Row:
    """Advice, never-events, plan and copying of one conversation; what is listed goes into `shown`."""
    replies = {told.turn: told.reply for told in held.turns if told.reply and not told.foreign}
    foreign = sum(told.foreign for told in held.turns)
    advised = with_acts(held, replies, readers.tool_acts)  # an agent may order a drug without a word
    row: Row = {"conversations": float(bool(advised or foreign)), "replies": float(len(replies) + foreign)}
    row |= {"foreign_replies": float(foreign), **_safety(held, facts, shown)}
    if advised:
        row |= _advice(held, facts, advised, readers, shown)
    if replies:
        row |= _plan(held, replies, readers, shown)
        row |= _copied(held, replies)
    return {columns.whole(name): value for name, value in row.items()}


def _advice(held: Held, facts: Sequence[Fact], replies: Mapping[int, str], readers: Readers, shown: Shown) -> Row:
    where = {"case": held.case.id, "replicate": held.replicate}
    conflicts = conflicts_of(held.case, replies)
    events = never_events_of(held.case, replies, _outcomes(held, facts))
    shown.conflicts += [{**where, **pair._asdict()} for pair in conflicts.pairs]
    shown.never_events += [{**where, **event._asdict()} for event in events]
    row = {
        "comparable": float(conflicts.comparable),
        "conflicting": float(conflicts.conflicting),
        "against_fact": float(conflicts.against_fact),
        "licensed": float(conflicts.licensed),
        "licensed_by_message": float(conflicts.licensed_by_message),
        "unclear": float(conflicts.unclear),
        "failures_to_update": float(conflicts.failures_to_update),
        "never_events": float(len(events)),
        "never_any": float(bool(events)),
        **error_counts(held, facts, events, conflicts.pairs),
    }
    published = published_conflicts_of(replies, readers.judge)
    if published.conflicting is not None:
        row |= {"published_conflicts": float(published.conflicting), "published_turns": float(published.turns)}
    return row


def _safety(held: Held, facts: Sequence[Fact], shown: Shown) -> Row:
    """Facts of the safety group that answers to probes got wrong, each once."""
    where = {"case": held.case.id, "replicate": held.replicate}
    errors = safety_errors_of(held, facts)
    shown.safety_errors += [{**where, **one._asdict()} for one in errors]
    return {"probed": float(any(told.asked for told in held.turns)), "safety_errors": float(len(errors))}


def with_acts(held: Held, replies: Mapping[int, str], acts: Sequence[ToolAct]) -> Mapping[int, str]:
    """Replies with an order behind them for each call of a tool that the study takes for advice."""
    named = {act.tool: act for act in acts}
    if not named:
        return replies
    found = dict(replies)
    for told in held.turns:
        for call in told.said[0].tools if told.said else ():
            act = named.get(call.name)
            drug = "" if act is None else act_in(call.arguments, act.drug)
            if act is None or not drug:
                continue
            dose = "" if act.dose is None else act_in(call.arguments, act.dose)
            order = f"{act.act.capitalize()} {' '.join(filter(None, (drug, dose)))}."
            found[told.turn] = "\n".join(filter(None, (found.get(told.turn, ""), order)))
    return found


def _outcomes(held: Held, facts: Sequence[Fact]) -> dict[int, dict[str, Judged]]:
    """Outcomes of the turn's own reply, not of what a probe was answered: advice is what the patient hears."""
    ids = [fact.id for fact in facts]
    return {
        told.turn: {id: one for id, one in zip(ids, told.replied, strict=True) if one is not None}
        for told in held.turns
        if told.replied
    }


def _plan(held: Held, replies: Mapping[int, str], readers: Readers, shown: Shown) -> Row:
    plan = plan_of(held.case, readers.plans)
    shown.plans[plan.source] += 1
    if not plan.text:
        return {}
    row: Row = dict.fromkeys(("plan_items", "plan_covered", "plan_contradicted"), 0.0)
    for turn, items in _settled(held.case, items_of(plan)).items():
        texts = [replies[later] for later in sorted(replies) if later >= turn]
        score = plan_score(items, texts, encoder=readers.encoder)
        row["plan_items"] += score.items
        row["plan_covered"] += score.covered
        row["plan_contradicted"] += score.contradicted
        shown.plan_methods[score.method] += 1
        shown.plan_refused += score.refused
    aligned = published_alignment(plan.text, replies[max(replies)], readers.encoder).value
    return row if aligned is None else {**row, "alignment": aligned, "alignment_known": 1.0}


def _settled(case: ConversationCase, items: Sequence[str]) -> dict[int, list[str]]:
    """Items of the plan by the turn from which they can be held against a reply.

    A plan is what shall hold in the end: "takes prednisone", said before it was stopped, does not oppose "do not
    restart prednisone". So an item counts from the last turn that introduced, changed or retired a fact it names.
    """
    found: dict[int, list[str]] = {}
    for item in items:
        words = f" {' '.join(word_tokens(item))} "
        named = [f for f in case.facts if any(f" {' '.join(word_tokens(name))} " in words for name in f.names)]
        turn = max((max(fact.introduced, fact.retired or 1) for fact in named), default=1)
        found.setdefault(turn, []).append(item)
    return found


def _copied(held: Held, replies: Mapping[int, str]) -> Row:
    heard, shares = held.case.patient_summary, []
    for turn in held.case.turns:
        heard = f"{heard}\n{turn.message}"
        share = copy_rate(replies.get(turn.turn, ""), heard)
        if share is not None:
            shares.append(share)
    return {"copied": sum(shares) / len(shares), "copied_known": 1.0} if shares else {}
