"""What to know before the sides are used: small groups, levels unseen, shares that changed, rows left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.splits.assignment import SIDES
from workup.splits.checks import Plan

_WHY = {
    "undated": "without a date are on neither side",
    "embargoed": "within the embargo before the cut are on neither side: their outcome window reaches it",
    "straddling": "of patients who belong to the other side are left out, so that no patient is on both",
    "no site": "without a site are on neither side",
}

Row = Mapping[str, Any]


def warnings(plan: Plan, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every warning with its kind, its place and a sentence."""
    return [
        *_margins(record),
        *_left_out(record["left_out"]),
        *_unseen(plan, record["levels"]),
        *_small(plan, record),
        *_changed(record["changes"]),
        *_quota(plan, record["levels"]),
    ]


def _warning(kind: str, message: str, row: Row | None = None, side: str | None = None) -> dict[str, Any]:
    place = {"variable": None, "level": None} if row is None else {key: row[key] for key in ("variable", "level")}
    return {"kind": kind, **place, "side": side, "message": message}


def _named(row: Row) -> str:
    return f"{row['variable']} {row['level']}"


def _margins(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for row in (record["margins"] or {}).get("off", ()):
        who = "The total" if row["variable"] is None else f"{row['variable']} {row['level']}"
        yield _warning(
            "margin",
            f"{who} has {row['validation']} patients in validation where {row['expected']:.1f} are its share: no draw "
            "within one patient on all margins was found.",
            row,
        )


def _left_out(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    for row in rows:
        noun = "row" if row["rows"] == 1 else "rows"
        gone = row["patients_on_no_side"]
        lost = "" if not gone else f" {gone:,} patient{'' if gone == 1 else 's'} of these {noun} are on no side at all."
        yield _warning("left_out", f"{row['rows']:,} {noun} {_WHY[row['reason']]}.{lost}")


def _unseen(plan: Plan, levels: Sequence[Row]) -> Iterator[dict[str, Any]]:
    for row in levels:
        if plan.strategy == "site" and row["variable"] == plan.site:
            continue
        for side, other in (SIDES, SIDES[::-1]):
            # A level that only later rows of a patient have is there: its rows are counted as a small group.
            if not row["patients"][side] and not row["rows"][side] and row["patients"][other]:
                count = row["patients"][other]
                yield _warning(
                    "unseen_level",
                    f"{_named(row)} has no patient in {side} ({count:,} in {other}): nothing can be "
                    f"{'learnt' if side == 'development' else 'validated'} for it.",
                    row,
                    side,
                )


def _small(plan: Plan, record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for side, found in record["sides"].items():
        said = _below(plan, found["rows"], found)
        if said:
            yield _warning("small_group", f"All patients, {side}: {said}.", None, side)
    for row in record["levels"]:
        if row["variable"] == plan.outcome:
            continue
        for side in SIDES:
            said = _below(plan, row["rows"][side], row.get("events", {}).get(side, {}))
            if said and row["rows"][side]:  # none at all is said as an unseen level
                yield _warning("small_group", f"{_named(row)}, {side}: {said}.", row, side)


def _below(plan: Plan, rows: int, found: Row) -> str:
    parts = []
    if rows < plan.minimum_rows:
        parts.append(f"{rows:,} rows where {plan.minimum_rows:,} are the minimum")
    for key, words in (("event_patients", "with an event"), ("non_event_patients", "without")):
        if key in found and found[key] < plan.minimum:
            noun = "patient" if found[key] == 1 else "patients"
            parts.append(f"{found[key]:,} {noun} {words} where {plan.minimum:,} are the minimum")
    return "; ".join(parts)


def _changed(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    for row in rows:
        if row["changed"]:
            yield _warning(
                "changed_share",
                f"{_named(row)}: {100 * row['development']:.1f} % of development, {100 * row['validation']:.1f} % of "
                f"validation (difference {100 * row['difference']:+.1f} points, {100 * row['low']:+.1f} to "
                f"{100 * row['high']:+.1f}; Cohen's h {row['cohens_h']:+.2f}; {row['test']}, Holm-adjusted p "
                f"{_p(row['p_adjusted'])}).",
                row,
            )


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.3f}"


def _quota(plan: Plan, levels: Sequence[Row]) -> Iterator[dict[str, Any]]:
    for row in levels:
        wanted = plan.quota.get(row["variable"], {}).get(row["level"])
        if wanted is None:
            continue
        if row["patients"]["validation"] < wanted:
            yield _warning(
                "quota", f"{_named(row)}: {row['patients']['validation']:,} of the {wanted:,} asked for.", row
            )
        elif wanted < float(plan.share) * row["patients"]["all"]:
            yield _warning("quota", f"{_named(row)}: the share alone brings more than the {wanted:,} asked for.", row)
