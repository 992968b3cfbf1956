"""The headline numbers of a chat model under the names that other people's notebooks use; null where undefined."""

from __future__ import annotations

from typing import Any

from workup.report import Estimate, Report
from workup.reports.conversation.setting import LEVEL, SETS, Numbers, Setting

# Familiar name → metric of the record, over whole conversations.
_WHOLE = {
    "continuity_score": "plan_alignment_published",
    "plan_coverage": "plan_coverage",
    "plan_contradicted": "plan_contradicted",
    "never_events": "never_events",
    "availability": "availability",
    "use": "use",
}
_OF_FACTS = {"truth_decay_rate": "decay_slope", "time_to_loss": "time_to_loss", "decay_gap": "decay_gap"}
_CURVES = {
    "recall": "recall",
    "precision": "precision",
    "f1": "f1",
    "hallucinated_rate": "hallucination_rate",
}


def numbers(report: Report) -> dict[str, Any]:
    """One key each; ends in `_lower` and `_upper`. A curve is a list by turn, from turn 1 on."""
    held, setting = Numbers.of(report), Setting.of(report)
    made: dict[str, Any] = {
        "interval_level": LEVEL,
        "set": setting.kind,
        "arm": setting.arm,
        "n_cases": report.corpus.get("n_cases"),
        "n_clusters": report.corpus.get("n_patients"),
        "n_turns": held.turns or None,
    }
    for kind in SETS:
        end = "" if kind == "critical" else "_extended"
        made |= _ends(f"entity_recall_at_t10{end}", held.get("recall_at_10", {"set": kind, "arm": setting.arm}))
    made |= _ends("decay_gap_at_t10", held.gap_at(10, setting.kind))
    for name, metric in _OF_FACTS.items():
        arm = "live" if metric == "decay_gap" else setting.arm
        made |= _ends(name, held.get(metric, {"set": setting.kind, "arm": arm}))
    made |= _ends("knowledge_conflict_rate", held.conflicts(setting))
    made["knowledge_conflict_rate_judge"] = setting.judge or "rules"
    for name, metric in _WHOLE.items():
        made |= _ends(name, held.get(metric))
    for name, metric in _CURVES.items():
        for kind in SETS:
            made[f"average_{name}_curve_{kind}"] = [_value(e) for e in held.turn_ends(metric, kind, setting.arm)]
    return made


def _value(e: Estimate | None) -> float | None:
    return None if e is None or e.status in ("undefined", "withheld") else e.value


def _ends(name: str, e: Estimate | None) -> dict[str, float | None]:
    """What is undefined or withheld is null; what lacks an honest interval keeps its value."""
    if e is None or e.status in ("undefined", "withheld"):
        return dict.fromkeys((name, f"{name}_lower", f"{name}_upper"))
    return {name: e.value, f"{name}_lower": e.low, f"{name}_upper": e.high}
