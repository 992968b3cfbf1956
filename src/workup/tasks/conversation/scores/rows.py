"""One row of Scores: all that is counted of one conversation, by arm, set and turn, from what was judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.read.judging import NOT_ASKED, SCORED, Held
from workup.tasks.conversation.scores.losses import loss_of
from workup.tasks.conversation.scores.safety import RETIRED, counted_as, types_of
from workup.tasks.conversation.settings import CLOCK
from workup.tasks.conversation.talk.sources import sources_of
from workup.tasks.conversation.talk.tokens_since import tokens_by_turn

Row = dict[str, float]
_PER_TOKENS = 1000.0  # slopes against tokens are per thousand


def row_of(arms: Mapping[str, Held], facts: Sequence[Fact], *, horizons: Sequence[int] = (), clock: int = CLOCK) -> Row:
    """The counts of one conversation in all of its arms; `facts` in the order in which outcomes stand.

    `horizons` are the turns at which facts are counted by type as well; `clock` is how many turns after its
    introduction a fact is followed.
    """
    row: Row = defaultdict(float)
    for arm, held in arms.items():
        for kind in columns.SETS:
            chosen = [place for place, fact in enumerate(facts) if kind == "extended" or fact.critical]
            _count_turns(row, held, facts, chosen, arm, kind)
            _count_sessions(row, held, arm, kind)
            _count_losses(row, held, facts, chosen, arm, kind, clock=clock)
            _count_types(row, held, facts, chosen, arm, kind, horizons)
            _slope_over_turns(row, held, arm, kind)
            _slope_over_tokens(row, held, facts, chosen, arm, kind)
    if "live" in arms:
        _count_available(row, arms["live"], facts)
    return dict(row)


def _count_turns(row: Row, held: Held, facts: Sequence[Fact], chosen: Sequence[int], arm: str, kind: str) -> None:
    for told in held.turns:
        for place in chosen:
            judged, fact = told.outcomes[place], facts[place]
            if judged is None or judged.outcome == NOT_ASKED:
                continue
            if not told.asked:
                _count_mentioned(row, fact.over(told.turn), judged.outcome, arm, kind, told.turn)
                continue
            if fact.over(told.turn):
                if judged.outcome in RETIRED:
                    row[columns.at_turn(arm, kind, told.turn, "retired")] += 1
                    row[columns.at_turn(arm, kind, told.turn, "stale")] += judged.outcome == "stale"
                continue
            row[columns.at_turn(arm, kind, told.turn, "facts")] += 1
            row[columns.at_turn(arm, kind, told.turn, judged.outcome)] += 1
            if judged.outcome not in SCORED:
                continue
            row[columns.at_turn(arm, kind, told.turn, "scorable")] += 1
            row[columns.at_turn(arm, kind, told.turn, "weight_scorable")] += fact.weight
            row[columns.at_turn(arm, kind, told.turn, "weight_correct")] += fact.weight * (judged.outcome == "correct")


def _count_mentioned(row: Row, over: bool, outcome: str, arm: str, kind: str, turn: int) -> None:
    """A fact that a reply speaks of although nobody asked: what it says of it can be wrong, and not what it omits."""
    if over and outcome in RETIRED:
        row[columns.at_turn(arm, kind, turn, "mentioned_retired")] += 1
        row[columns.at_turn(arm, kind, turn, "mentioned_stale")] += outcome == "stale"
    elif not over and outcome in SCORED:
        row[columns.at_turn(arm, kind, turn, "mentioned")] += 1
        if outcome in ("reversed", "wrong_value"):
            row[columns.at_turn(arm, kind, turn, f"mentioned_{outcome}")] += 1


def _count_types(
    row: Row, held: Held, facts: Sequence[Fact], chosen: Sequence[int], arm: str, kind: str, horizons: Sequence[int]
) -> None:
    """Outcomes by type of fact, over the whole conversation and at the horizons."""
    for place in chosen:
        fact = facts[place]
        types = types_of(fact)
        for told in held.turns:
            judged = told.outcomes[place]
            if judged is None or not told.asked:
                continue
            for type in types:
                for field in counted_as(type, judged, over=fact.over(told.turn)):
                    row[columns.of_type(arm, kind, type, field)] += 1
                    if told.turn in horizons:
                        row[columns.of_type(arm, kind, type, field, told.turn)] += 1


def _count_sessions(row: Row, held: Held, arm: str, kind: str) -> None:
    """Of a case of several sessions the counts of its turns by session, and at the first turn of each later one."""
    if not held.case.returns:
        return
    for turn in held.case.turns:
        for field in columns.OF_ACTIVE:
            count = row.get(columns.at_turn(arm, kind, turn.turn, field), 0.0)
            if count:
                row[columns.of_session(arm, kind, turn.session, field)] += count
                if turn.turn in held.case.returns:
                    row[columns.of_session(arm, kind, columns.RETURN, field)] += count


def _count_losses(
    row: Row, held: Held, facts: Sequence[Fact], chosen: Sequence[int], arm: str, kind: str, *, clock: int
) -> None:
    for place in chosen:
        fact = facts[place]
        outcomes = [
            None if (judged := told.outcomes[place]) is None or not told.asked else judged.outcome
            for told in held.turns
            if fact.active(told.turn)
        ]
        loss = loss_of(outcomes)
        if loss is None:
            continue
        for name, lost in (("first", loss.first), ("sustained", loss.sustained)):
            last = loss.followed if lost is None else lost
            for tick in range(1, min(last, clock) + 1):
                row[columns.of_loss(arm, kind, name, "risk", tick)] += 1
            if lost is not None and lost <= clock:
                row[columns.of_loss(arm, kind, name, "lost", lost)] += 1


def _slope_over_turns(row: Row, held: Held, arm: str, kind: str) -> None:
    """The least-squares slope of this conversation's own recall; needs two turns with a fact to score."""
    points = []
    for told in held.turns:
        scorable = row.get(columns.at_turn(arm, kind, told.turn, "scorable"), 0.0)
        if scorable:
            points.append((told.turn, row.get(columns.at_turn(arm, kind, told.turn, "correct"), 0.0) / scorable))
    _put_slope(row, columns.of_arm(arm, kind, "slope"), points)


def _slope_over_tokens(row: Row, held: Held, facts: Sequence[Fact], chosen: Sequence[int], arm: str, kind: str) -> None:
    """The slope of being correct against the tokens since the fact was introduced, over this conversation's facts."""
    if arm != "live":
        return
    tokens, _ = tokens_by_turn(held)
    points = []
    for place in chosen:
        fact = facts[place]
        for told in held.turns:
            judged = told.outcomes[place]
            if judged is None or not told.asked or judged.outcome not in SCORED or not fact.active(told.turn):
                continue
            passed = tokens[told.turn - 1] - tokens[fact.introduced - 1]
            points.append((passed / _PER_TOKENS, float(judged.outcome == "correct")))
    _put_slope(row, columns.of_arm(arm, kind, "token_slope"), points)


def _put_slope(row: Row, name: str, points: Sequence[tuple[float, float]]) -> None:
    if len({x for x, _ in points}) < 2:
        return
    x, y = np.array(points).T
    away = x - x.mean()
    row[name] = float(away @ (y - y.mean()) / (away @ away))
    row[f"{name}_known"] = 1.0


def _count_available(row: Row, held: Held, facts: Sequence[Fact]) -> None:
    """Of scorable facts of the ledger: did they still stand in what was sent, and were they used when they did?"""
    known = sources_of(line for told in held.turns for line in told.said)
    for told in held.turns:
        if not told.said or not told.asked:
            continue
        sent, by_source = told.said[0].available, told.said[0].sources
        for fact, judged in zip(facts, told.outcomes, strict=True):
            if not fact.critical or judged is None or judged.outcome not in SCORED or not fact.active(told.turn):
                continue
            kept = judged.outcome == "correct"
            for source in known | (by_source.keys() if known else set()):
                row[columns.whole(f"sendable_{source}")] += 1
                if fact.id in by_source.get(source, ()):
                    row[columns.whole(f"sent_{source}")] += 1
                    row[columns.whole(f"sent_correct_{source}")] += kept
            if sent is None:
                continue
            row[columns.whole("sendable")] += 1
            if fact.id in sent:
                row[columns.whole("sent")] += 1
                row[columns.whole("sent_correct")] += kept
            else:
                row[columns.whole("unsent_correct")] += kept
