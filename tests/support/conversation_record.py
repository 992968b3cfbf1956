"""A small record of a chat model that forgets at a known rate, and the tables that replies of other kinds would add."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import workup
from tests.support.report_parts import with_tables
from workup.report import Report
from workup.stats.random import generator
from workup.tasks.conversation.task import GivenTranscripts

TURNS, CASES, SHORT = 10, 36, 6  # the first six cases end at turn 7
DRUGS = ("warfarin", "metformin", "lisinopril", "sertraline")
SECRET = "Zweifelhaft"  # a word of every reply, which no report may repeat
STARTS = {"live": 1.0, "oracle": 0.98, "naive": 0.08}
PER_TURN = {"live": -0.045, "oracle": 0.0, "naive": 0.0}


def cases(count: int = CASES, *, turns: int = TURNS, short: int = SHORT) -> list[dict[str, Any]]:
    """Four drugs and an allergy each; sertraline is stopped at turn 6 in every second case."""
    return [_case(i, 7 if i < short else turns) for i in range(count)]


def _case(i: int, turns: int) -> dict[str, Any]:
    facts: list[dict[str, Any]] = [
        {"id": f"f{k}", "type": "medication", "concept": drug, "introduced": 1} for k, drug in enumerate(DRUGS)
    ]
    allergy = {"id": "a1", "type": "allergy", "concept": "penicillin", "introduced": 1}
    facts.append({**allergy, "harm_tag": "avoid_class:penicillins"})
    stopped = i % 2 == 0 and turns > 6
    if stopped:
        facts[3]["retired"] = 6
    messages = {1: f"I take {', '.join(DRUGS)} and I am allergic to penicillin."}
    messages[6] = "My doctor stopped my sertraline." if stopped else "What else should I know?"
    return {
        "id": f"case-{i:02d}",
        "patient_summary": "Has asthma and hypothyroidism; on levothyroxine.",
        "facts": facts,
        "turns": [{"turn": t, "message": messages.get(t, "And how do I go on?")} for t in range(1, turns + 1)],
        "metadata": {
            "groups": {"sex": "FM"[i % 2]},
            "site": f"site {i % 4}",
            "time": f"2024-{1 + i % 12:02d}-15",
        },
    }


def transcripts(held: list[dict[str, Any]], *, arms: tuple[str, ...] = ("live", "oracle", "naive")) -> list[Any]:
    """Each fact is kept by a draw of its own; live calls of one case fail at turn 4."""
    chance = generator(7, "conversation report")
    lines = []
    for case in held:
        for arm in arms:
            for one in case["turns"]:
                turn = one["turn"]
                due = [fact for fact in case["facts"] if turn < fact.get("retired", 99)]
                share = STARTS[arm] + PER_TURN[arm] * (turn - 1)
                kept = [fact for fact in due if chance.random() < share]
                sent = [fact["id"] for fact in due if turn < 6 or chance.random() < 0.7]
                reply = _said(kept)
                line = {"case": case["id"], "turn": turn, "arm": arm, "reply": reply}
                line["probe"] = {"kind": "summary", "reply": reply}
                if arm == "live":
                    line["available"] = sorted({*sent, *(fact["id"] for fact in kept)})
                if arm == "live" and case["id"] == "case-08" and turn == 4:
                    failed = {"reply": None, "error": "timeout"}
                    line |= {**failed, "probe": {"kind": "summary", **failed}}
                lines.append(line)
    return lines


def _said(kept: list[dict[str, Any]]) -> str:
    drugs = [fact["concept"] for fact in kept if fact["type"] == "medication"]
    said = [f"The patient takes {', '.join(drugs)}."] if drugs else []
    said += ["The patient is allergic to penicillin."] if any(fact["id"] == "a1" for fact in kept) else []
    return " ".join([*said, f"{SECRET} nothing else."])


# Tables by hand, in the shape in which the record holds them.
NEVER = [
    {"case": "case-03", "replicate": 0, "turn": 7, "fact": "a1", "kind": "contraindicated", "rule": "avoid_class"}
    | {"concept": "amoxicillin", "sentence": 2},
    {"case": "case-08", "replicate": 0, "turn": 9, "fact": "f3", "kind": "stale", "rule": "retired"}
    | {"concept": "", "sentence": 0},
]
PAIRS = [
    {"case": "case-05", "replicate": 0, "turns": [3, 8], "slot": "drug:warfarin", "actions": ["continue", "stop"]}
    | {"sentences": [1, 0], "kind": "conflict"},
]
ADVICE = {"comparable": 40, "conflicting": 1, "licensed": 3, "failures_to_update": 2, "never_events": 2}


@cache
def scored(**options: Any) -> Report:
    """As the scorer gives it."""
    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in options.items()}
    held = cases()
    return workup.score_conversation(held, transcripts(held), replicates=200, name="memory check", **settings)


def turn_rows(held: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cases with a scorable fact by set, arm and turn, counted from the cases."""
    found = []
    for arm in ("live", "oracle", "naive"):
        for kind in ("critical", "extended"):
            for turn in range(1, TURNS + 1):
                reach = [case for case in held if len(case["turns"]) >= turn]
                failed = sum(arm == "live" and case["id"] == "case-08" and turn == 4 for case in reach)
                found.append({"arm": arm, "set": kind, "turn": turn, "cases": len(reach) - failed})
    return found


def with_estimate(found: Report, metric: str, keys: dict[str, Any], **fields: Any) -> Report:
    """The report with fields of one estimate replaced, at every level."""
    internal = found.results["internal"]
    changed = tuple(
        replace(e, **fields) if e.metric == metric and dict(e.slice) == keys else e for e in internal.estimates
    )
    assert changed != internal.estimates, (metric, keys)
    return replace(found, results={**found.results, "internal": replace(internal, estimates=changed)})


def report(**options: Any) -> Report:
    """With every table that a report can show."""
    found = scored(
        by=("sex",),
        gates=("recall_at_10.low >= 0.7", "decay_gap{turn=10}.low >= -0.1", "pdsqi{attribute=useful}.low >= 3"),
        **options,
    )
    found = with_tables(found, never_events=NEVER, conflicts=PAIRS, advice=ADVICE, turns=turn_rows(cases()))
    for level in (0.95, 0.9):
        found = _counted(found, level)
    return replace(found, as_of="2024-06-30")


def _counted(found: Report, level: float) -> Report:
    internal = found.results["internal"]
    rates = {"value": 1 / 40, "numerator": 1.0, "denominator": 40.0, "status": "ok"}
    changed = []
    for e in internal.estimates:
        if e.level == level and e.metric == "never_events":
            e = replace(e, value=2.0, low=None, high=None, status="ok", reason="in 2 of 36 cases")
        if e.level == level and e.metric == "never_event_rate":
            e = replace(e, value=2 / 36, low=0.01, high=0.164, numerator=2.0, denominator=36.0, status="ok")
        if e.level == level and e.metric == "conflict_rate":
            ends = {"low": 0.004, "high": 0.13} if e.slice else {}
            reason = "in 1 of 20 cases, exact upper bound 0.249" if e.slice else "found by rules"
            e = replace(e, **{**rates, **ends}, reason=reason)
        changed.append(e)
    return replace(found, results={**found.results, "internal": replace(internal, estimates=tuple(changed))})


def studied(lenses: dict[str, Any], **conversation: Any) -> Report:
    """A study with lenses of the user's choice, its conversations given."""
    held = cases()
    content = {
        "name": "memory check",
        "task": "conversation",
        "systems": [{"name": "parrot", "use": "tests:parrot"}],
        "lenses": {"internal": {}, **lenses},
        "conversation": conversation,
        "bootstrap": {"replicates": 200},
    }
    system = GivenTranscripts(transcripts(held))
    return workup.validate(workup.Study.of(content), system=system, table=held)
