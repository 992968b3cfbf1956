"""What each rule of matching gains and loses by itself, and the labels confused behind the matches it allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.reports.layout import Table
from workup.reports.spans.setting import Primary
from workup.reports.wording import number

Row = Mapping[str, Any]
NET = (
    "Gained or lost: golds found by this rule less those found by strict at the same level (for a row with equivalent "
    "labels: by the same rule without them), as a net count."
)
_PAIRS = 12  # confusions listed for a rule


def gains(rows: Sequence[Row], *, several: bool) -> Iterator[Table]:
    """A row per rule set: golds gained and lost against the rule named, and golds that several masks cover together."""
    if not rows:
        return
    body = tuple(
        (
            *((str(row["policy"]),) if several else ()),
            str(row["mode"]),
            _level(row),
            _level(row["against"], named=str(row["against"]["mode"])),
            *(number(row[key]) for key in ("gained", "lost", "credited_gained", "credited_lost")),
            number(row.get("compound")),
            number(row.get("other_label")),
        )
        for row in rows
    )
    heads = (
        *(("policy",) if several else ()),
        *("rules", "level", "against", "golds gained", "golds lost", "predictions gained", "predictions lost"),
        *("by several masks together", "found with another type"),
    )
    yield Table(heads, body, "What each rule gains and loses by itself")


def confused(rows: Sequence[Row], primary: Primary) -> Iterator[Table]:
    """The labels behind matches of another type, for the rule of each level that allows most of them."""
    body = []
    for level in dict.fromkeys(str(row["level"]) for row in rows):
        own = [row for row in rows if row["level"] == level and row["policy"] == primary.policy and row["confusions"]]
        if own:
            most = max(own, key=lambda row: row["other_label"])
            pairs = most["confusions"][:_PAIRS]
            body += [
                (str(most["mode"]), _level(most), str(pair["gold"]), str(pair["prediction"]), number(pair["count"]))
                for pair in pairs
            ]
    if body:
        caption = (
            f"Labels confused behind the matches: at most {_PAIRS} pairs for the rule of each level with most of them"
        )
        yield Table(("rules", "level", "the gold is", "found as", "count"), tuple(body), caption)


def _level(row: Row, *, named: str = "") -> str:
    equal = f" with {row['equivalent']}" if row.get("equivalent") else ""
    return f"{named} {row['level']}{equal}".strip()
