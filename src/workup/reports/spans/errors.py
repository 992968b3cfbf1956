"""What a detector missed, what it masked for nothing and what stayed visible: counts, categories, shapes, no text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.report import LensResult
from workup.reports.layout import Section, Table
from workup.reports.spans.setting import Primary
from workup.reports.spans.words import ALARM_CATEGORIES, MISS_CATEGORIES, category, percent
from workup.reports.wording import number, plural

Row = Mapping[str, Any]
MISSED, NO_IDENTIFIER = "(missed)", "(no identifier)"
MOST = 30  # rows of a list that text shows before the rest are counted
_FIFTHS = {1: "first fifth", 2: "second fifth", 3: "third fifth", 4: "fourth fifth", 5: "last fifth"}
_GRAVE = ("high", "medium", "low")


def sections(internal: LensResult, primary: Primary) -> Iterator[Section]:
    """In the order of a reader's questions: taken for what, missed why, masked for nothing why, visible in part."""
    yield from _confusion(internal)
    yield from _errors(internal, primary)
    yield from _partial(internal)
    yield from _residue(internal)


# ---- confusions ------------------------------------------------------------------------------------------------------


def pairs(internal: LensResult) -> list[tuple[str, str, int]]:
    """Gold, prediction and count, the most frequent first."""
    rows = internal.tables.get("confusion") or ()
    found = [(str(row["gold"]), str(row["prediction"]), int(row["count"])) for row in rows]
    return sorted(found, key=lambda pair: (-pair[2], pair[0], pair[1]))


def _confusion(internal: LensResult) -> Iterator[Section]:
    found = pairs(internal)
    if not found:
        return
    totals = Counter[str]()
    for gold, _, times in found:
        totals[gold] += times
    same = sum(times for gold, prediction, times in found if gold == prediction)
    met = sum(times for gold, prediction, times in found if prediction != MISSED and gold != NO_IDENTIFIER)
    wrong = [pair for pair in found if pair[0] != pair[1]]
    body = tuple(
        (gold, prediction, number(times), percent(times / totals[gold])) for gold, prediction, times in wrong[:MOST]
    )
    said = (
        f"Golds and predictions that share at least one character, paired one to one whatever their types: "
        f"{number(met)} pairs, {number(same)} of them of one type. {MISSED}: no prediction lies on the gold. "
        f"{NO_IDENTIFIER}: the prediction lies on nothing that must be masked."
    )
    most = f"The {MOST} most frequent of {number(len(wrong))} pairs" if len(wrong) > MOST else "Every pair"
    heads = ("the gold is", "it was taken for", "count", "share of the row")
    table = Table(heads, body, f"{most} of different types", titled=True)
    yield Section("Which type was taken for which", (said,), (table,) if body else (), key="confusion")


# ---- misses and false alarms -----------------------------------------------------------------------------------------


def tally(rows: Sequence[Row], key: str) -> list[tuple[Any, int]]:
    """Counts by one column, the largest first."""
    counts: Counter[Any] = Counter()
    for row in rows:
        counts[row.get(key)] += int(row["count"])
    return sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))


def _errors(internal: LensResult, primary: Primary) -> Iterator[Section]:
    table = internal.tables.get("errors")
    if not table:
        return
    at = f"at {primary.mode}, level {primary.level}" + (f", policy {primary.policy}" if primary.several else "")
    golds, predictions = _denominators(internal, primary)
    total, alarms = table["total_misses"], table["total_false_alarms"]
    of = f" of {number(golds)} golds that must be masked ({percent(total / golds)})" if golds else ""
    said = [f"{number(total)} missed{of}, {at}."]
    yield _section("What was missed", said, table.get("misses") or (), total, MISS_CATEGORIES, "misses", internal)
    of = f" of {number(predictions)} predictions ({percent(alarms / predictions)})" if predictions else ""
    said = [f"{plural(alarms, 'false alarm')}{of}, {at}."]
    yield _section(
        "What was masked for nothing",
        said,
        table.get("false_alarms") or (),
        alarms,
        ALARM_CATEGORIES,
        "alarms",
        internal,
    )


def _denominators(internal: LensResult, primary: Primary) -> tuple[int, int]:
    """Golds and predictions of the primary setting."""
    for row in internal.tables.get("counts", ()):
        own = (row["mode"], row["level"], row["policy"], row["label"], row.get("equivalent"))
        if own == (primary.mode, primary.level, primary.policy, None, None):
            return int(row["golds"]), int(row["predictions"])
    recall = next((e for e in internal.estimates if e.metric == "recall" and dict(e.slice) == primary.rule()), None)
    return (int(recall.denominator or 0) if recall is not None else 0), 0


def _section(
    title: str, said: list[str], rows: Sequence[Row], total: int, titles: dict[str, str], key: str, internal: LensResult
) -> Section:
    seen = sum(int(row["count"]) for row in rows)
    if seen < total:
        said.append(f"The first {number(seen)} of them were looked at one by one; the shares are of these.")
    tables = []
    if seen:
        by_category = [(category(str(name), titles), n) for name, n in tally(rows, "category")]
        tables = [
            _shares("category", by_category, seen, f"{title}, by category"),
            _shares("type", [(str(name), n) for name, n in tally(rows, "label")], seen, f"{title}, by type"),
        ]
        types = [(str(name or "not given"), n) for name, n in tally(rows, "type")]
        if len(types) > 1:
            tables.append(_shares("kind of document", types, seen, f"{title}, by kind of document"))
        places = sorted(tally(rows, "position"), key=lambda item: str(item[0]))
        named = [(_FIFTHS.get(place, str(place)), n) for place, n in places]
        tables.append(_shares("place", named, seen, f"{title}, by place in the document"))
        tables += _shapes(internal, "miss" if key == "misses" else "false_alarm", title)
    return Section(title, tuple(said), tuple(tables), key=key)


def _shares(head: str, rows: Sequence[tuple[str, int]], total: int, caption: str) -> Table:
    body = tuple((name, number(n), percent(n / total)) for name, n in rows)
    return Table((head, "count", "share"), body, caption)


def _shapes(internal: LensResult, kind: str, title: str) -> Iterator[Table]:
    """Shapes show how an error looked without showing what it said."""
    kinds = {"miss": ("miss", "misses"), "false_alarm": ("false_alarm", "false_alarms")}[kind]
    rows = [row for row in internal.tables.get("shapes") or () if row["kind"] in kinds][:MOST]
    if rows:
        body = tuple((str(row["label"]), str(row["shape"]), number(row["count"])) for row in rows)
        yield Table(("type", "shape", "count"), body, f"{title}, the most frequent shapes (X, x a letter; 9 a digit)")


# ---- what stayed visible ---------------------------------------------------------------------------------------------


def _partial(internal: LensResult) -> Iterator[Section]:
    rows = internal.tables.get("partial_leaks") or ()
    if not rows:
        return
    ordered = sorted(
        rows,
        key=lambda row: (
            _GRAVE.index(row["severity"]) if row["severity"] in _GRAVE else len(_GRAVE),
            -row["count"],
            str(row["label"]),
        ),
    )
    body = tuple(
        (str(row["severity"]), str(row["label"]), _visible(row["stayed_visible"]), number(row["count"]))
        for row in ordered
    )
    total = sum(int(row["count"]) for row in rows)
    grave = sum(int(row["count"]) for row in rows if row["severity"] == "high")
    said = (
        f"{plural(total, 'identifier')} masked in part: a mask touched each and left something of it to read; in "
        f"{number(grave)} of them what stayed is grave by itself."
    )
    heads = ("how grave", "type", "what stayed visible", "count")
    yield Section(
        "What stayed visible under partial masks",
        (said,),
        (Table(heads, body, "Partial leaks, the gravest first"),),
        key="partial",
    )


def _visible(parts: Any) -> str:
    names = [parts] if isinstance(parts, str) else list(parts or ())
    return ", ".join(str(name).replace("_", " ") for name in names)


def _residue(internal: LensResult) -> Iterator[Section]:
    found = internal.tables.get("residue")
    if not found or not found.get("documents"):
        return
    documents, values = found["documents"], found.get("values", 0)
    again, with_any = found.get("values_found_again", 0), found.get("documents_with_residue", 0)
    rows = [
        ("documents searched", number(documents)),
        ("documents in which a masked value stands elsewhere unmasked", number(with_any)),
        ("masked values searched for", number(values)),
        ("of them found again", number(again)),
    ]
    if found.get("places_not_in_gold") is not None:
        rows.append(("places where one was found that no gold marks", number(found["places_not_in_gold"])))
    share = f" ({percent(again / values)})" if values else ""
    said = (
        f"Every value that was masked, its words and its variants in case and spacing, was searched again in the text "
        f"that stays: {number(again)} of {number(values)} values{share} were found, in {number(with_any)} of "
        f"{number(documents)} documents. A place that no gold marks may be a gap of the gold or another meaning of the "
        "word; it is for a reader to judge."
    )
    yield Section(
        "Values found again", (said,), (Table(("what", "count"), tuple(rows), "Residual values"),), key="residue"
    )
