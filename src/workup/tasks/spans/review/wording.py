"""The score of a review as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workup.errors import visible

_DASH = "–"


def as_text(record: Mapping[str, Any]) -> str:
    """Tables of rates, strata and agreement, with what must be known to read them."""
    queue, answers = record["queue"], record["answers"]
    lines = [
        f"Review {queue['id']}: {queue['mode']} at phi, policy {visible(queue['policy'])}, "
        f"consensus: {record['consensus']}",
        f"{answers['answered']:,} of {answers['regions']:,} regions answered, reviewers: {len(answers['reviewers'])} "
        f"({answers['answered_by_several']:,} by several), {answers['unsure']:,} unsure, "
        f"{answers['not_answered']:,} not answered",
    ]
    lines += [f"{what}: {times:,}" for what, times in answers["beside"].items()]
    lines += ["", "Rates", *_table(["system", "rate", "golds", "value", "interval", "of"], _rates(record["estimates"]))]
    lines += ["", "What reviewers found of the golds", *_table(_STRATA, [_stratum(row) for row in record["strata"]])]
    lines += ["", "Agreement", *_table(["of", "with", "regions", "equal", "kappa"], _agreement(record["agreement"]))]
    rows = record["reviewer_error"]["reviewers"]
    if rows:
        lines += ["", f"Errors of reviewers ({record['reviewer_error']['kind']})"]
        lines += _table(["reviewer", "sensitivity", "specificity"], [_error(row) for row in rows])
    if record["if_unanswered"]:
        head = ["system", "rate", "golds right there", "golds wrong there"]
        lines += ["", "If every region without an answer were as the golds say, or not"]
        lines += _table(head, [_bound(row) for row in record["if_unanswered"]])
    return "\n".join([*lines, "", *(f"* {note}" for note in record["notes"])]) + "\n"


_STRATA = ["regions", "of", "drawn", "answered", "wrong", "interval", "in all", "other borders"]


def _rates(estimates: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    found = []
    for one in estimates:
        system = visible(str(one["slice"].get("system", "the golds")))
        name = one["metric"].removeprefix("gold_")
        of = _DASH if one["denominator"] is None else f"{one['numerator']:.1f} / {one['denominator']:.1f}"
        value = _share(one["value"]) if one["value"] is not None else (one["reason"] or _DASH)
        found.append([system, name, one["slice"]["golds"], value, _between(one["low"], one["high"]), of])
    return found


def _stratum(row: Mapping[str, Any]) -> list[str]:
    in_all = _DASH if row["wrong_regions"] is None else f"{row['wrong_regions']:.1f}"
    return [
        row["in_words"],
        f"{row['regions']:,}",
        f"{row['drawn']:,}",
        f"{row['answered']:,}",
        _share(row["wrong_share"]),
        _between(row["wrong_low"], row["wrong_high"]),
        in_all,
        f"{row['other_borders']:,}",
    ]


def _agreement(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    return [
        [
            visible(row["first"]),
            visible(row["second"]),
            f"{row['regions']:,}",
            _with_ends(row["share"], row["share_low"], row["share_high"]),
            _with_ends(row["kappa"], row["kappa_low"], row["kappa_high"]),
        ]
        for row in rows
    ]


def _error(row: Mapping[str, Any]) -> list[str]:
    rates = []
    for name in ("sensitivity", "specificity"):
        spread = row[f"{name}_se"]
        rates.append(_share(row[name]) + ("" if spread is None else f" (standard error {spread:.3f})"))
    return [visible(row["reviewer"]), *rates]


def _bound(row: Mapping[str, Any]) -> list[str]:
    return [visible(row["system"]), row["metric"], _share(row["golds_right"]), _share(row["golds_wrong"])]


def _share(value: float | None) -> str:
    return _DASH if value is None else f"{value:.4f}"


def _between(low: float | None, high: float | None) -> str:
    return _DASH if low is None or high is None else f"{low:.4f} to {high:.4f}"


def _with_ends(value: float | None, low: float | None, high: float | None) -> str:
    return _share(value) + ("" if low is None or high is None else f" ({low:.3f} to {high:.3f})")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]
