"""What a paid detector would be asked for, told before the first call and cut off where a limit is reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workup.task import Budget


def within(budget: Budget, system: Any, questions: Sequence[Sequence[str]]) -> int:
    """How many of the groups of texts may be asked, by the system's own estimate; all where it has none.

    A system without an estimate is taken to make one call for each group.
    """
    estimate = getattr(system, "estimate", None)
    if estimate is None and budget.calls is None and budget.cost is None:
        return len(questions)
    calls, cost, priced, affordable = 0, 0.0, True, len(questions)
    for place, texts in enumerate(questions):
        asked: dict[str, Any] = estimate(texts) if estimate is not None else {"calls": 1, "cost": None}
        calls += int(asked["calls"])
        priced = priced and asked.get("cost") is not None
        cost += float(asked.get("cost") or 0.0)
        over = (budget.calls is not None and calls > budget.calls) or (
            budget.cost is not None and (not priced or cost > budget.cost)
        )
        if over:
            affordable = min(affordable, place)
    said = f"cost {cost:,.4g}" if priced else "cost not known (the system names no price)"
    budget.tell(
        f"Before the first call: {sum(map(len, questions)):,} documents, {calls:,} calls, {said}"
        + (
            ""
            if affordable == len(questions)
            else f"; the limit lets {affordable:,} of {len(questions):,} groups through"
        )
    )
    return affordable
