"""One table with a row per rule set and one with a row per type: the same golds and predictions, counted by each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from workup.report import Estimate, LensResult
from workup.reports.layout import Section, Table
from workup.reports.spans.gains import NET, confused, gains
from workup.reports.spans.setting import LEVEL, Primary
from workup.reports.spans.words import UNITS, figure, rule
from workup.reports.wording import count, number, plural, signed, slice_name

Row = Mapping[str, Any]
_RATES = ("recall", "precision", "f1")
_NAMED = 6  # places named for one reason before the rest are counted
_Figures = dict[tuple[str, tuple[tuple[str, str], ...]], Estimate]


def figures_of(internal: LensResult) -> _Figures:
    """95 % estimates by metric and slice, for tables that look many of them up."""
    return {
        (e.metric, tuple(sorted((k, str(v)) for k, v in e.slice.items()))): e
        for e in internal.estimates
        if e.level == LEVEL
    }


def taken(figures: _Figures, metric: str, keys: Mapping[str, Any]) -> Estimate | None:
    """One of them."""
    return figures.get((metric, tuple(sorted((k, str(v)) for k, v in keys.items()))))


# ---- by rule set -----------------------------------------------------------------------------------------------------


def by_rule(internal: LensResult, primary: Primary) -> Section:
    """Every mode at every level, under each policy; then whether the denominators stayed the same."""
    rows = [row for row in internal.tables.get("counts", ()) if row["label"] is None]
    if not rows:
        return Section("")
    figures = figures_of(internal)
    policies = list(dict.fromkeys(str(row["policy"]) for row in rows))
    ordered = sorted(policies, key=lambda name: name != primary.policy)
    said, tables = [], []
    for policy in ordered:
        own = [row for row in rows if row["policy"] == policy]
        under = f"policy {policy}: " if primary.several else ""
        said.append(_denominators(own, under, ignored=bool(internal.settings.get("ignore"))))
        caption = "Every rule set" + (f", policy {policy}" if primary.several else "")
        tables.append(_rule_table(own, figures, primary, caption, net=not internal.tables.get("rules")))
    modes = list(dict.fromkeys(str(row["mode"]) for row in rows))
    words = Table(("rules", "a gold is found with"), tuple((mode, rule(mode)) for mode in modes), "What each rule asks")
    compared = internal.tables.get("rules") or ()
    opening = (
        "Found (TP) and missed (FN) count golds; credited (TP), neutral and false alarms (FP) count predictions. One "
        "mask may find several golds and several masks one, so the two sides need not agree. Neutral predictions lie "
        "on what may be masked and do not count."
    )
    against = "" if compared else NET
    tables = [*tables, *gains(compared, several=primary.several), *confused(compared, primary), words]
    points = reasons(e for e in figures.values() if "label" not in e.slice and "mode" in e.slice)
    sentences = tuple(filter(None, (opening, *said, against)))
    return Section("By rule set", sentences, tuple(tables), tuple(points), key="rules")


def reasons(estimates: Iterable[Estimate]) -> Iterator[str]:
    """Why figures are absent or have no interval, each reason once with the places it holds for."""
    held: dict[tuple[str, str], list[str]] = {}
    for e in estimates:
        if e.status != "ok" and e.metric in _RATES:
            by_label = "label" in e.slice
            keys = ("label",) if by_label else ("mode", "level", "equivalent", "policy")
            place = slice_name({key.replace("label", "type"): e.slice[key] for key in keys if key in e.slice})
            held.setdefault((e.status, str(e.reason)), []).append(f"{e.metric} {'of' if by_label else 'at'} {place}")
    for (status, reason), places in held.items():
        more = f" and {len(places) - _NAMED:,} more" if len(places) > _NAMED else ""
        yield f"{', '.join(places[:_NAMED])}{more}: {status}, {reason}."


def _denominators(rows: Sequence[Row], under: str, *, ignored: bool) -> str:
    """Relaxed rules must not change what is counted; where the record says otherwise, a reader is told."""
    spans = [row for row in rows if row["mode"] not in UNITS]
    golds, predictions = {row["golds"] for row in spans}, {row["predictions"] for row in spans}
    if not spans:
        return f"{under[:1].upper()}{under[1:]}no rule here counts spans."
    if len(golds) == len(predictions) == 1:
        said = (
            f"{under}{number(golds.pop())} golds and {number(predictions.pop())} predictions in every row that counts "
            "spans: no rule changes the denominators."
        )
    else:
        parts = [
            f"{name} {' or '.join(number(n) for n in sorted(held))}"
            for name, held in (("golds", golds), ("predictions", predictions))
            if len(held) > 1
        ]
        why = (
            ""
            if not ignored
            else " Labels that are ignored are removed at leaf and branch, where at phi a mask is a mask."
        )
        said = f"{under}the rows do not count the same spans ({', '.join(parts)}).{why}"
    return said[:1].upper() + said[1:]


def _rule_table(rows: Sequence[Row], figures: _Figures, primary: Primary, caption: str, *, net: bool) -> Table:
    body = []
    for row in rows:
        keys = {key: row[key] for key in ("mode", "level", "equivalent") if row.get(key)}
        found = [taken(figures, metric, keys | primary.policy_key(row["policy"])) for metric in _RATES]
        body.append(
            (
                str(row["mode"]) + (f" ({UNITS[row['mode']]})" if row["mode"] in UNITS else ""),
                str(row["level"]) + (f" with {row['equivalent']}" if row.get("equivalent") else ""),
                *(
                    count(row[key])
                    for key in ("golds", "hits", "misses", "predictions", "credited", "neutral", "false_alarms")
                ),
                *(figure(e) for e in found),
                *((_gained(row, rows),) if net else ()),
            )
        )
    heads = (
        *("rules", "level", "golds", "found", "missed", "predictions", "credited", "neutral", "false alarms"),
        *("recall", "precision", "F1", *(("gained or lost",) if net else ())),
    )
    return Table(heads, tuple(body), caption)


def _gained(row: Row, rows: Sequence[Row]) -> str:
    """Golds found less those found by the rule it relaxes: a net count, where the record does not hold both sides."""
    if row["mode"] in UNITS:
        return "–"
    wanted = (row["mode"] if row.get("equivalent") else "strict", row["level"])
    for other in rows:
        if not other.get("equivalent") and (other["mode"], other["level"]) == wanted:
            return "–" if other is row else signed(row["hits"] - other["hits"])
    return "–"


# ---- by type ---------------------------------------------------------------------------------------------------------


def labels_at(figures: _Figures, keys: Mapping[str, Any]) -> list[str]:
    """Every label with a figure at a setting, the one with most golds first."""
    wanted = {(key, str(value)) for key, value in keys.items()}
    held: dict[str, float] = {}
    for (metric, place), e in figures.items():
        own = dict(place)
        label = own.pop("label", None)
        if label is not None and set(own.items()) == wanted:
            held.setdefault(label, 0.0)
            if metric == "recall":
                held[label] = float(e.denominator or 0)
    return sorted(held, key=lambda label: (-held[label], label))


def by_type(internal: LensResult, primary: Primary) -> Iterator[Section]:
    """At the primary setting; then, folded on a page, with the type judged too, and by branch."""
    figures = figures_of(internal)
    first = _types(figures, primary.rule(), f"Every type at {primary.mode}, level {primary.level}")
    if first is None:
        return
    said = (
        f"{plural(len(first.rows), 'type')}, the largest first; none is left out. Recall is by the type of the gold, "
        "precision by the type the system gave. Judged: predictions less the neutral ones. A dash under recall: "
        "no gold of that type must be masked."
    )
    if primary.several:
        said += f" Policy {primary.policy}."
    points = reasons(e for e in figures.values() if primary.rule(label=e.slice.get("label")) == dict(e.slice))
    yield Section("By type", (said,), (first,), tuple(points), key="types")
    for level, title in (("leaf", "By type, where the type must be right"), ("branch", "By branch of types")):
        mode = _typed_mode(internal, level, primary)
        if mode is None or (mode, level) == (primary.mode, primary.level):
            continue
        table = _types(figures, {**primary.rule(), "mode": mode, "level": level}, f"{title}: {mode}, level {level}")
        if table is not None:
            words = f"Found with {rule(mode)}. A coarse label is a miss at leaf and is compared at its branch."
            yield Section(title, (words,), (table,), key=f"types-{level}")


def _typed_mode(internal: LensResult, level: str, primary: Primary) -> str | None:
    """The mode in which types are shown: IoU of one half where it was counted, else the first that looks at types."""
    held = [
        str(row["mode"])
        for row in internal.tables.get("counts", ())
        if row["level"] == level
        and row["label"] is None
        and row["policy"] == primary.policy
        and row["mode"] not in UNITS
    ]
    named = [mode for mode in held if not mode.startswith("published")]
    return "iou:0.5" if "iou:0.5" in named else next(iter(named), None)


def _types(figures: _Figures, keys: Mapping[str, Any], caption: str) -> Table | None:
    labels = labels_at(figures, keys)
    if not labels:
        return None
    body = []
    for label in labels:
        recall, precision, f1 = (taken(figures, metric, {**keys, "label": label}) for metric in _RATES)
        golds, hits = (None, None) if recall is None else (recall.denominator, recall.numerator)
        judged = None if precision is None else precision.denominator
        credited = None if precision is None else precision.numerator
        body.append(
            (
                label,
                *(count(value) for value in (golds, hits, None if golds is None or hits is None else golds - hits)),
                figure(recall),
                *(count(value) for value in (judged, credited)),
                figure(precision),
                figure(f1),
                "–" if recall is None else number(recall.n_patients),
            )
        )
    heads = ("type", "golds", "found", "missed", "recall", "judged", "credited", "precision", "F1", "patients")
    return Table(heads, tuple(body), caption)
