"""A chosen threshold as sections: the verdict, the thresholds tried, what the scores mean. Reads its record only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workup.reports.layout import Section, Table
from workup.reports.wording import count, number

Row = Mapping[str, Any]
_WORDS = {
    "confirmed": "confirmed",
    "not_confirmed": "NOT confirmed",
    "unsure": "unsure",
    "none": "no threshold reaches it",
}


def sections(record: Row) -> list[Section]:
    """Verdict, curve and reliability."""
    return [_verdict(record), _tried(record), _reliability(record)]


def _verdict(record: Row) -> Section:
    facts = record["facts"]
    chosen = "–" if record["threshold"] is None else f"{record['threshold']:.6g}"
    setting = ", ".join(f"{key} {value}" for key, value in facts["setting"].items())
    sides = facts["patients"]
    rows = [
        ("Target", f"lower bound of recall at least {record['target']:g}"),
        ("Threshold", f"{chosen}: keep predictions with this score or more"),
        ("Verdict", f"{_WORDS[record['verdict']]}: {record['reason']}"),
        ("Counted by", setting),
        ("Patients", f"{number(sides['choosing'])} to choose on, {number(sides['confirming'])} to confirm on"),
        ("Seed of the split", str(facts["seed"])),
    ]
    if record["confirming"] is not None:
        for name in ("recall", "precision", "over_redaction", "leak_rate_document"):
            rows.append((f"{name.replace('_', ' ')}, confirming", _figure(record["confirming"][name])))
    said = []
    if facts["without_score"]:
        said.append(
            f"{count(facts['without_score'])} of {count(facts['predictions'])} predictions have no score: always kept."
        )
    if facts["of_unknown_documents"]:
        said.append(
            f"Predictions of documents that the corpus does not hold, left out: {facts['of_unknown_documents']:,}."
        )
    return Section("Threshold", tuple(said), (Table(("", ""), tuple(rows)),), key="threshold")


def _tried(record: Row) -> Section:
    rows = tuple(
        (
            f"{row['threshold']:.6g}" + (" *" if row["threshold"] == record["threshold"] else ""),
            count(row["predictions"]),
            *(_figure(row[name]) for name in ("recall", "precision", "over_redaction")),
        )
        for row in record["choosing"]
    )
    said = (
        "On the patients that the threshold was chosen on; * is the one with the least over-redaction that reaches it."
    )
    heads = ("threshold", "kept", "recall", "precision", "over-redaction")
    return Section("Thresholds tried", (said,), (Table(heads, rows, "Thresholds tried"),), key="tried")


def _reliability(record: Row) -> Section:
    held = record["reliability"]
    rows = tuple(
        (
            f"{row['from']:.4g} to {row['to']:.4g}",
            count(row["predictions"]),
            number(row["mean_score"]),
            _figure({**row, "value": row["share"]}),
            count(row["patients"]),
        )
        for row in held["bins"]
    )
    said = ["Of the predictions with such a score, the share that is credited; all patients, every prediction kept."]
    if held.get("reason"):
        said.append(f"{held['reason'][:1].upper()}{held['reason'][1:]}.")
    if held.get("gap"):
        said.append(
            f"Share credited less mean score: {_figure(held['gap'])}; below 0 the detector is too sure of itself."
        )
    table = Table(("score", "predictions", "mean score", "share credited", "patients"), rows, "Reliability of scores")
    return Section("What the scores mean", tuple(said), (table,), key="reliability")


def _figure(seen: Row) -> str:
    ends = "" if seen.get("low") is None else f" ({number(seen['low'])} to {number(seen['high'])})"
    return number(seen.get("value")) + ends
