"""What the tests cover and what they cannot prove: the Safe Harbor matrix, weights, the annotators' ceiling, limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.report import LensResult, Report
from workup.reports.layout import Section, Table
from workup.reports.spans.words import share
from workup.reports.wording import number, plural

Row = Mapping[str, Any]
_MEASURES = {
    "f1": "F1 of spans",
    "kappa": "Cohen's kappa of characters",
    "alpha": "Krippendorff's alpha of characters",
}


def safe_harbor(internal: LensResult) -> Section:
    """Letters A to R: what was tested, how well, and what was not tested at all."""
    rows: Sequence[Row] = internal.tables.get("safe_harbor") or ()
    if not rows:
        return Section("")
    body = tuple(
        (
            str(row["letter"]),
            str(row["title"]),
            _types(row),
            number(row.get("golds") or 0),
            number(row.get("patients") or 0),
            share(row.get("recall")),
            _between(row),
            share(row.get("upper_bound")),
            "tested" if tested(row) else "not tested",
            str(row.get("reason") or (row.get("uncertain") if row.get("golds") else "") or ""),
        )
        for row in rows
    )
    missing = [str(row["letter"]) for row in rows if not tested(row)]
    said = [
        "The identifiers that Safe Harbor lists (45 CFR 164.514(b)(2)(i)), each with the golds of this corpus. Tested "
        "says that there were golds, not that the result is good: that is for the recall and its interval to say. "
        "Misses at most: the upper end of what these data leave open (one-sided 95 %)."
    ]
    if missing:
        said.append(
            f"Not tested: {', '.join(missing)} ({len(missing)} of {len(rows)}). Nothing may be claimed of how the "
            "system treats these."
        )
    conditions = tuple(_conditions(rows))
    heads = (
        *("letter", "identifier", "types", "golds", "patients", "recall", "95% interval", "misses at most", "coverage"),
        "reason",
    )
    tables = [Table(heads, body, "Safe Harbor, letter by letter")]
    if conditions:
        tables.append(
            Table(("letter", "type", "belongs here if"), conditions, "Types that belong to a letter on a condition")
        )
    tables += _coarse(internal.tables.get("safe_harbor_coarse") or ())
    return Section("Safe Harbor", tuple(said), tuple(tables), key="safe-harbor")


def _coarse(rows: Sequence[Row]) -> Iterator[Table]:
    """Golds whose label is too coarse to say which letter they fall under: they count for none."""
    if not rows:
        return
    body = tuple(
        (
            str(row["label"]),
            ", ".join(str(letter) for letter in row.get("letters") or ()),
            number(row.get("golds") or 0),
            number(row.get("patients") or 0),
            share(row.get("recall")),
            _between(row),
        )
        for row in rows
    )
    heads = ("label", "may fall under", "golds", "patients", "recall", "95% interval")
    yield Table(heads, body, "Golds with labels too coarse for a letter, counted for none")


def _conditions(rows: Sequence[Row]) -> Iterator[tuple[str, str, str]]:
    for row in rows:
        if row.get("condition"):
            yield str(row["letter"]), "all", str(row["condition"])
        for leaf in row.get("by_leaf") or ():
            if leaf.get("condition"):
                yield str(row["letter"]), str(leaf["leaf"]), str(leaf["condition"])


def _types(row: Row) -> str:
    """The types of a letter: those that were seen, with their golds, apart from those that were not."""
    leaves = row.get("by_leaf")
    if not leaves:
        names = row.get("leaves")
        return names if isinstance(names, str) else ", ".join(str(name) for name in names or ()) or "–"
    seen = ", ".join(f"{leaf['leaf']} ({number(leaf['golds'])})" for leaf in leaves if leaf.get("golds"))
    unseen = ", ".join(str(leaf["leaf"]) for leaf in leaves if not leaf.get("golds"))
    return "; ".join(filter(None, (seen, f"not seen: {unseen}" if unseen else "")))


def tested(row: Row) -> bool:
    """Tested needs the word and at least one gold: a matrix must not be talked into coverage it does not have."""
    return row.get("status") == "tested" and bool(row.get("golds"))


def _between(row: Row) -> str:
    low, high = row.get("low"), row.get("high")
    return "–" if low is None or high is None else f"{share(low)} to {share(high)}"


def severity(internal: LensResult) -> Section:
    """The weights behind severity_recall, so that who disagrees can say with what."""
    rows = internal.tables.get("severity") or ()
    if not rows:
        return Section("")
    body = tuple((str(row["leaf"]), f"{row['weight']:g}", str(row["why"])) for row in rows)
    said = "Weights of the severity-weighted recall: how much harm a type does when it leaks, from 1 to 10."
    return Section(
        "Severity weights", (said,), (Table(("type", "weight", "why"), body, "Severity weights"),), key="severity"
    )


def agreement(internal: LensResult) -> Section:
    """How far annotators agree with each other: the ceiling that a system is judged by."""
    rows: Sequence[Row] = internal.tables.get("agreement") or ()
    if not rows:
        return Section("")
    whole = [row for row in rows if row.get("label") is None]
    single = [row for row in rows if row.get("label") is not None and row.get("pair") is None]
    ceiling = next(
        (
            r
            for r in whole
            if (r["measure"], r["level"], r.get("pair")) == ("f1", "phi", None) and r["value"] is not None
        ),
        None,
    )
    said = ["No system can be expected to agree with the annotators more than they agree with each other."]
    if ceiling is not None:
        between = "" if ceiling.get("low") is None else f" (95 % interval {_between(ceiling)})"
        said.append(
            f"Taken in pairs they reach an F1 of {share(ceiling['value'])}{between} on "
            f"{plural(ceiling['documents'], 'document')} that several of them read."
        )
    tables = [Table(*_agreement(whole), "Agreement, all types together")] if whole else []
    tables += [Table(*_agreement(single), "Agreement by type, all annotators")] if single else []
    return Section("Annotators among themselves", tuple(said), tuple(tables), key="agreement")


def _agreement(rows: Sequence[Row]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    body = tuple(
        (
            _MEASURES.get(str(row["measure"]), str(row["measure"])),
            str(row["level"]),
            str(row.get("label") or "all"),
            _pair(row.get("pair")),
            share(row["value"]) if row["value"] is None or row["value"] >= 0 else number(float(row["value"])),
            _between(row),
            number(row.get("documents")),
            str(row.get("reason") or ""),
        )
        for row in rows
    )
    heads = ("measure", "level", "type", "annotators", "value", "95% interval", "documents", "reason")
    if any(row[-1] for row in body):
        return heads, body
    return heads[:-1], tuple(row[:-1] for row in body)


def _pair(pair: Any) -> str:
    if pair is None:
        return "all"
    return str(pair) if isinstance(pair, str) else " and ".join(str(one) for one in pair)


def limits(report: Report) -> Section:
    """What this corpus cannot prove; general first, then what is true of this record."""
    points = [
        "An interval allows for the play of chance among documents like these, not for notes of another hospital, "
        "kind, language or year.",
        "The golds are taken as the truth. An identifier that the annotators missed counts as a false alarm where the "
        "system finds it, and as nothing where it does not.",
        "Text alone was tested: images, scanned pages, file names, headers and structured fields were not.",
        "Masking every identifier does not rule out that someone is known by the rest of the note, such as a rare "
        "disease or a well-known accident; Safe Harbor itself asks for no actual knowledge of that.",
        *_of_record(report),
    ]
    return Section("Limits: what this corpus cannot prove", points=tuple(points), key="limits")


def _of_record(report: Report) -> Iterator[str]:
    internal = report.results.get("internal", LensResult("internal"))
    tables = internal.tables
    about = tables.get("summary") or {}
    if report.corpus.get("seed") is not None or (report.study.get("corpus") or {}).get("generate"):
        yield "The documents were generated: a system may find generated identifiers more easily than real ones."
    missing = [str(row["letter"]) for row in tables.get("safe_harbor") or () if not tested(row)]
    if missing:
        yield f"Safe Harbor {', '.join(missing)}: not tested by this corpus, so nothing may be claimed of them."
    if about and not about.get("negative_documents"):
        yield "Every document holds identifiers, so nothing is known of documents that should come through untouched."
    if about.get("language_uncertain"):
        yield f"{plural(about['language_uncertain'], 'document')} may not be in English."
    labels = tables.get("labels") or {}
    unmapped = len(labels.get("unmapped_golds") or {}) + len(labels.get("unmapped_predictions") or {})
    if unmapped:
        yield f"{plural(unmapped, 'label')} without a canonical name: compared as identifiers only, not by type."
    claims = tables.get("leak_claims") or ()
    open_claims = [row for row in claims if row["still_needed"]]
    if open_claims:
        row = open_claims[-1]
        yield (
            f"Without a leak so far, a rate of {100 * row['rate']:g} % can still not be ruled out: "
            f"{number(row['still_needed'])} more clean patients are needed."
        )
    if not tables.get("agreement") and about.get("readings") == about.get("documents"):
        yield "One annotation was used as the truth; how far annotators would agree with each other is not known here."
