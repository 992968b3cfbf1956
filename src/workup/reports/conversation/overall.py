"""Every number of a chat model over whole conversations, by set and arm, with how its interval was made."""

from __future__ import annotations

from collections.abc import Iterator

from workup.report import Estimate, Report
from workup.reports.conversation.headline import cases_at
from workup.reports.conversation.setting import Numbers, Setting
from workup.reports.conversation.words import HEADS, capital, ends, estimate_rows, value_words
from workup.reports.layout import Section, Table

_BY_SET = (
    *("recall", "recall_weighted", "recall_at_10", "recall_at_horizon", "decay_gap", "decay_slope"),
    *("decay_slope_logistic", "decay_slope_tokens", "time_to_loss", "omission_rate", "reversal_rate"),
    *("wrong_value_rate", "stale_rate", "precision", "f1", "hallucination_rate", "coverage", "unscorable_rate"),
)
_WHOLE = (
    *("availability", "use", "conflict_rate", "never_events", "never_event_rate", "never_events_per_100"),
    *("plan_coverage", "plan_contradicted"),
    *("copy_rate", "persistence", "spread", "conflict_rate_published", "plan_alignment_published"),
)
_SLIPPED: tuple[tuple[str, dict[str, str]], ...] = (
    ("slip_persistence", {}),
    ("slip_persistence", {"slip": "dose"}),
    ("slip_persistence", {"slip": "denial"}),
    ("slip_spread", {}),
)
_BESIDE = ("recall", "recall_at_10", "decay_slope", "time_to_loss", "precision", "hallucination_rate")


def section(report: Report) -> Section:
    """Every number over whole conversations, by set and arm, with how its interval was made."""
    numbers, setting = Numbers.of(report), Setting.of(report)
    first = [e for e in (numbers.get(name, setting.keys()) for name in _BY_SET) if e is not None]
    kept = numbers.get("time_to_loss", setting.keys(loss="sustained"))
    rows = [_resting(e, row, report, setting) for e, row in zip(first, estimate_rows(first), strict=True)]
    if kept is not None:
        place = next((i + 1 for i, e in enumerate(first) if e.metric == "time_to_loss"), len(rows))
        rows.insert(place, ("time to loss for good", *next(estimate_rows([kept]))[1:]))
    if not rows:
        return Section("")
    tables = [Table(HEADS, tuple(rows), f"{capital(setting.kind)} facts, arm {setting.arm}", titled=True)]
    tables += _arms(numbers, setting)
    whole = [e for e in (numbers.get(name) for name in _WHOLE) if e is not None]
    by_rules = numbers.get("conflict_rate", {"judge": "rules"})
    body = list(estimate_rows(whole))
    if by_rules is not None:
        place = next((i + 1 for i, e in enumerate(whole) if e.metric == "conflict_rate"), len(body))
        body.insert(place, ("conflict rate K, by rules", *next(estimate_rows([by_rules]))[1:]))
    if body:
        tables.append(Table(HEADS, tuple(body), "Of the conversation as it was held", titled=True))
    tables += _slips(numbers)
    said = (
        "Recall, omission, reversal and wrong values add to 1 over the facts that could be scored. Precision and "
        "hallucination rest on the extractor of terms, whose error stands below.",
        "Values that end in 'as published' are for comparison with published work; no gate may rest on them. Tokens, "
        "cost and latency of a run are in timings.json beside the record.",
    )
    return Section("Overall", said, tuple(tables), key="overall")


def _slips(numbers: Numbers) -> Iterator[Table]:
    """What an error does that was put into the model's own reply, by the turn of the reply."""
    for arm in numbers.slips:
        rows = []
        for name, keys in _SLIPPED:
            e = numbers.get(name, {"arm": arm, **keys})
            if e is not None:
                [row] = estimate_rows([e])
                rows.append((f"{row[0]}, {keys['slip']}" if keys else row[0], *row[1:]))
        turn = arm.partition("-")[2]
        yield Table(HEADS, tuple(rows), f"After an error in the model's own reply at turn {turn}", titled=True)


def _resting(e: Estimate, row: tuple[str, ...], report: Report, setting: Setting) -> tuple[str, ...]:
    """Recall at one turn rests on the cases that reach it."""
    at = {"recall_at_10": 10, "recall_at_horizon": setting.horizon}.get(e.metric)
    cases = "" if at is None else cases_at(report, setting, at)
    return (*row[:3], cases or row[3], *row[4:])


def _arms(numbers: Numbers, setting: Setting) -> Iterator[Table]:
    """The arms and sets side by side."""
    columns = [(arm, kind) for arm in numbers.arms for kind in ("critical", "extended")]
    columns = [one for one in columns if one != (setting.arm, setting.kind)]
    body = []
    for arm, kind in columns:
        cells = [numbers.get(name, {"set": kind, "arm": arm}) for name in _BESIDE]
        body.append((arm, kind, *(_in_brief(e) for e in cells)))
    if body:
        heads = ("arm", "facts", *(_SHORT_TITLES.get(name, name.replace("_", " ")) for name in _BESIDE))
        yield Table(heads, tuple(body), "Other arms and sets", titled=True)


_SHORT_TITLES = {"recall_at_10": "recall@10", "hallucination_rate": "hallucination"}


def _in_brief(e: Estimate | None) -> str:
    if e is None:
        return "–"
    return value_words(e) if e.value is None or e.low is None else f"{value_words(e)} ({ends(e)})"
