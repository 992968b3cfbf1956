"""Clinical utility in a detector's report: how many clinical terms masking leaves, and what lost the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.report import LensResult
from workup.reports.layout import Section, Table
from workup.reports.spans.setting import Primary, found
from workup.reports.spans.words import counted, ends, how, share
from workup.reports.wording import number, plural

Row = Mapping[str, Any]
_ALL = "all together"
_SHOWN = 40  # kinds of losses listed; the record holds all of them
_HOW = {
    "whole": "masked whole",
    "part": "masked in part",
    "beside": "what it was read by was masked",
    "no_answer": "the system gave no answer",
}


def utility(internal: LensResult, primary: Primary) -> Section:
    """Retention by category, terms lost and gained, and the labels of the predictions that lost them."""
    table: Row = internal.tables.get("utility") or {}
    if not table:
        return Section("")
    rows: Sequence[Row] = table["categories"]
    tables = [_retention(internal, primary, rows), *_losses(table["losses"])]
    return Section("Clinical utility", tuple(_said(table, rows)), tuple(tables), key="utility")


def _said(table: Row, rows: Sequence[Row]) -> Iterator[str]:
    terms, lost = (sum(int(row[key]) for row in rows) for key in ("terms", "lost"))
    yield (
        f"Clinical terms that {table['extractor']} finds in the text, looked for again with every prediction replaced "
        f"by {table['token']}. A term counts where it is left when just the identifiers are masked, under the policy "
        f"{table['policy']}; it is kept where the same term of the same category is found at the same place."
    )
    yield (
        f"{plural(terms, 'term')} counted, {number(lost)} lost. Each lost term is a false alarm of the detector or the "
        "overhang of a true one; details.jsonl lists them by place (kind: term). Gained: terms that appear only in the "
        "masked text, mostly pieces of lost ones."
    )
    yield (
        "Terms are those of one vocabulary. A detector that leaves the words of the same vocabulary alone by design "
        "looks better here than on terms that the vocabulary does not hold."
    )


def _retention(internal: LensResult, primary: Primary, rows: Sequence[Row]) -> Table:
    body = []
    totals = {key: sum(int(row[key]) for row in rows) for key in ("lost", "gained")}
    for row in ({"category": None, **totals}, *rows):
        name = row["category"]
        keys = {**primary.policy_key(), **({"category": name} if name else {})}
        e = found(internal.estimates, "retention", keys)
        shown = (
            ("–", "–", "–", "–", "")
            if e is None
            else (share(e.value), ends(e), counted(e), number(e.n_patients), how(e))
        )
        body.append((str(name or _ALL), *shown[:4], number(row["lost"]), number(row["gained"]), shown[4]))
    heads = ("category", "retention", "95% interval", "kept/terms", "patients", "lost", "gained", "method")
    return Table(heads, tuple(body), "Clinical terms that masking leaves, by category")


def _losses(losses: Sequence[Row]) -> Iterator[Table]:
    """What lost them: the label of the prediction, how, and whether that prediction was on an identifier at all."""
    if not losses:
        return
    body = [
        (
            str(row["category"]),
            str(row["label"] or "–"),
            _HOW.get(str(row["how"]), str(row["how"])),
            "yes" if row["on_identifier"] else "no",
            number(row["count"]),
        )
        for row in losses[:_SHOWN]
    ]
    rest = losses[_SHOWN:]
    if rest:
        body.append(("others", f"{len(rest)} kinds", "", "", number(sum(int(row["count"]) for row in rest))))
    heads = ("category", "label of the prediction", "how", "also on an identifier", "lost")
    yield Table(heads, tuple(body), "Lost clinical terms by what lost them")
