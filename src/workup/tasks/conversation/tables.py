"""What the report of a chat model lists: outcomes, never-events, conflicts, curves, and the error of the readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workup.tasks.conversation.corrected import corrected_recall
from workup.tasks.conversation.curves_by_case import by_turn_rows, loss_rows, turn_rows
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.notes import why_withheld
from workup.tasks.conversation.read.advice import measured_error as advice_error
from workup.tasks.conversation.read.content import Ratings, extractor_facts, quality_tables
from workup.tasks.conversation.read.facts.probes import MeasuredError, Rate, measured_error
from workup.tasks.conversation.read.judging import NOT_ASKED
from workup.tasks.conversation.read.unseen import first_sight
from workup.tasks.conversation.scores.scoring import ConversationScores
from workup.tasks.conversation.talk.tokens_since import TOKENIZER, tokens_by_turn

MOST_OUTCOMES = 50_000  # rows of outcomes in a record; beyond, they stand in details.jsonl alone
MOST_OF_ALL_ARMS = 2_000  # beyond, the record holds those of the live arm
MOST_LISTED = 500  # never-events and conflicts each
_KINDS = ("contraindicated", "against_fact", "stale", "reversed")


def tables_of(
    scores: ConversationScores, *, seed: int = 0, labelled: Path | None = None, ratings: Ratings | None = None
) -> dict[str, Any]:
    """Every table, as plain data without a word of any message or reply."""
    every = sum(_facts(scores).values())
    chosen = ("live",) if every > MOST_OF_ALL_ARMS else tuple(_facts(scores))
    outcomes = [row for row in outcome_rows(scores) if row["arm"] in chosen] if every <= MOST_OUTCOMES else []
    return {
        "outcomes": outcomes,
        "never_events": sorted(scores.shown.never_events, key=_gravity)[:MOST_LISTED],
        "safety_errors": scores.shown.safety_errors[:MOST_LISTED],
        "conflicts": scores.shown.conflicts[:MOST_LISTED],
        "advice": _advice(scores),
        "losses": loss_rows(scores, seed=seed),
        "turns": turn_rows(scores),
        "by_turn": by_turn_rows(scores),
        "unscorable": _reasons(scores),
        "horizon": [] if why_withheld(scores) else _bounds(scores),
        "use": _use(scores),
        "tokens": _tokens(scores),
        "first_sight": {name: _rate(rate) for name, rate in first_sight()._asdict().items()},
        "matcher": _error(measured_error()),
        "extractor": extractor_facts(),
        "advice_reader": _named(advice_error()),
        "corrected": corrected_recall(scores, labelled),
        "quality": quality_tables(ratings),
        "plans": {
            "sources": dict(sorted(scores.shown.plans.items())),
            "methods": dict(sorted(scores.shown.plan_methods.items())),
            "refused": scores.shown.plan_refused,
        },
    }


def outcome_rows(scores: ConversationScores, *, sentences: bool = False) -> Iterator[dict[str, Any]]:
    """What became of every fact of the ledger, at every turn, in every arm."""
    for one in scores.conversations:
        for arm, held in one.arms.items():
            for told in held.turns:
                # The ledger's own come first; facts of the summary are counted and not listed.
                for fact, judged in zip(one.case.input.facts, told.outcomes, strict=False):
                    if judged is None:
                        continue
                    where = {"case": one.case.id, "replicate": one.replicate, "arm": arm, "turn": told.turn}
                    row = {**where, "fact": fact.id, "outcome": judged.outcome}
                    by = next((said.probe.by for said in told.said if said.probe is not None), "")
                    if by:
                        row["probed_by"] = by
                    if judged.outcome == "unscorable":
                        row["reason"] = judged.reason
                    if not told.asked and judged.outcome != NOT_ASKED:
                        row["asked"] = False
                    yield {**row, "sentence": judged.sentence} if sentences else row


def _facts(scores: ConversationScores) -> Counter[str]:
    """At most so many outcomes, by arm."""
    found: Counter[str] = Counter()
    for one in scores.conversations:
        found.update(dict.fromkeys(one.arms, len(one.case.input.facts) * one.case.input.last_turn))
    return found


def _gravity(event: dict[str, Any]) -> int:
    """Forbidden advice first: a list that is cut must not lose it behind facts that were kept too long."""
    return _KINDS.index(event["kind"])


def _named(value: Any) -> Any:
    """Named tuples as objects: a record that wrote them as lists would lose what each number is."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    return {key: _named(one) for key, one in value.items()} if isinstance(value, dict) else value


def _sum(scores: ConversationScores, column: str) -> float:
    values = scores.values.get(column)
    return 0.0 if values is None else float(values.sum())


def _advice(scores: ConversationScores) -> dict[str, Any]:
    names = (
        *("comparable", "conflicting", "against_fact", "licensed", "licensed_by_message", "unclear"),
        *("failures_to_update", "never_events", "safety_errors"),
    )
    return {name: int(_sum(scores, columns.whole(name))) for name in names}


def _reasons(scores: ConversationScores) -> dict[str, int]:
    """Why facts could not be scored, and how often."""
    found: Counter[str] = Counter()
    for one in scores.conversations:
        for held in one.arms.values():
            for told in held.turns:
                found.update(judged.reason for judged in told.outcomes if judged and judged.outcome == "unscorable")
    return dict(sorted(found.items()))


def _bounds(scores: ConversationScores) -> list[dict[str, Any]]:
    """Recall at ten turns if the conversations that are shorter had lost, or kept, everything."""
    found = []
    for kind in columns.SETS:
        kept = scores.values.get(columns.at_turn("live", kind, 10, "correct"))
        facts = scores.values.get(columns.at_turn("live", kind, 10, "scorable"))
        if kept is None or facts is None or not facts.sum():
            continue
        short = [one.case.input.last_turn < 10 for one in scores.conversations]
        missing = float(
            sum(len(_last(one, kind)) for one, is_short in zip(scores.conversations, short, strict=True) if is_short)
        )
        total = float(facts.sum()) + missing
        found.append(
            {
                "set": kind,
                "conversations": len(short) - sum(short),
                "shorter": sum(short),
                "worst": float(kept.sum()) / total,
                "best": (float(kept.sum()) + missing) / total,
            }
        )
    return found


def _last(one: Any, kind: str) -> list[Any]:
    """Facts still active when a conversation ends."""
    last = one.case.input.last_turn
    return [fact for fact in one.facts if fact.active(last) and (kind == "extended" or fact.critical)]


def _use(scores: ConversationScores) -> dict[str, int]:
    names = ("sendable", "sent", "sent_correct", "unsent_correct")
    return {name: int(_sum(scores, columns.whole(name))) for name in names}


def _tokens(scores: ConversationScores) -> dict[str, Any]:
    counted = [tokens_by_turn(one.arms["live"])[1] for one in scores.conversations if "live" in one.arms]
    return {"conversations": len(counted), "by_provider": sum(counted), "otherwise": TOKENIZER}


def _error(error: MeasuredError) -> dict[str, Any]:
    first = error.first_seen
    return {
        "n": error.n,
        "sensitivity": _rate(error.sensitivity),
        "specificity": _rate(error.specificity),
        "agreement": _rate(error.agreement),
        "first_seen": None if first is None else {name: _rate(getattr(first, name)) for name in first._fields},
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return rate._asdict()
