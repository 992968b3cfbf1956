"""Two chat models on the same cases: their rows side by side, and which facts only one of them kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from workup.task import Paired
from workup.tasks.conversation.read.judging import SCORED
from workup.tasks.conversation.scores.scoring import ConversationScores

_KEPT = {(True, True): "both", (True, False): "only_first", (False, True): "only_second", (False, False): "neither"}
Unit = tuple[str, int, int, str]  # case, replicate, turn, fact


def paired(first: ConversationScores, second: ConversationScores) -> Paired:
    """Rows are matched by case and replicate; facts are counted where both replies could be scored."""
    kept = [dict(_kept(one)) for one in (first, second)]
    shared = kept[0].keys() & kept[1].keys()
    types = {
        (one.case.id, fact.id): fact.type
        for scores in (first, second)
        for one in scores.conversations
        for fact in one.facts
    }
    counts: dict[str, Counter[str]] = {}
    for unit in shared:
        case, _, _, fact = unit
        counts.setdefault(types[case, fact], Counter())[_KEPT[kept[0][unit], kept[1][unit]]] += 1
    rows: list[dict[str, Any]] = [
        {"type": type, **{name: found[name] for name in _KEPT.values()}} for type, found in sorted(counts.items())
    ]
    lost = [len(one) - len(shared) for one in kept]
    notes = []
    if any(lost):
        notes.append(
            f"Facts at a turn that one model alone could be scored on are in no count of both: {lost[0]:,} of A and "
            f"{lost[1]:,} of B."
        )
    return Paired(first, second, tables={"facts": rows}, notes=notes, intervals="linearised")


def _kept(scores: ConversationScores) -> Iterator[tuple[Unit, bool]]:
    """Critical facts of the conversations as they were held: whether each was kept at each turn."""
    for one in scores.conversations:
        held = one.arms.get("live")
        for told in held.turns if held else ():
            for fact, judged in zip(one.facts, told.outcomes, strict=True):
                if not told.asked or judged is None or judged.outcome not in SCORED:
                    continue
                if fact.critical and fact.active(told.turn):
                    yield (one.case.id, one.replicate, told.turn, fact.id), judged.outcome == "correct"
