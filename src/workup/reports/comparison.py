"""comparison.json → text, Markdown or HTML: the headline, what else moved, and for detectors who found what by type.

Reads the record of a comparison only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from workup.errors import visible
from workup.reports import markdown, ranking, text
from workup.reports.layout import Section, Table
from workup.reports.wording import count, number, p_value, signed, slice_name

Row = Mapping[str, Any]
Form = Literal["text", "md", "html"]
FILES: Mapping[Form, str] = {"text": "comparison.txt", "md": "comparison.md", "html": "comparison.html"}
_VERDICTS = {"no_clear_difference": "no clear difference", "not_assessed": "not assessed"}
_SHOWN = 30  # rows of what moved elsewhere, and documents, that a page lists; the record holds more
_SCOPES = {
    "all types": "all types",
    "first can emit": "types that A can emit",
    "second can emit": "types that B can emit",
    "both can emit": "types that both can emit",
}


def render(record: Mapping[str, Any], *, form: Form) -> str:
    """The table of several systems where there is one, then all comparisons of a record, one after another."""
    found = ranking.sections(record["models"]) if record.get("models") else []
    found += [section for one in record["comparisons"] for section in sections(one)]
    if form == "html":
        from workup.reports import comparison_page

        return comparison_page.render(found)
    if form == "md":
        return "\n".join(
            markdown.section_markdown(section, "#" if section.key == "pair" else "##") for section in found
        )
    return "\n".join(text.section_text(section) for section in found).rstrip() + "\n"


def sections(one: Row) -> list[Section]:
    """One comparison as titled parts."""
    names = [visible(str(one[side]["system"].get("name"))) for side in ("first", "second")]
    head = Section(f"B {names[1]} against A {names[0]}", tuple(one["notes"]), (_sides(one),), key="pair")
    parts = [head, _headline(one), *_moved(one), *table_sections(one)]
    return [part for part in parts if part.sentences or part.tables or part.points]


def models_text(models: Row) -> str:
    """The table of several systems, for a terminal; every metric of every system stands in the files alone."""
    parts = ranking.sections(models, wide=False)
    return "\n".join(text.section_text(part) for part in parts if part.key != "models-values")


def models_csv(models: Row) -> str:
    """The same for a spreadsheet."""
    return ranking.as_csv(models)


def tables_text(one: Row) -> str:
    """The task's own tables of a comparison, for a terminal; single documents stand in the files alone."""
    return "\n".join(text.section_text(part) for part in table_sections(one) if part.key != "pair-documents")


def _sides(one: Row) -> Table:
    rows = []
    for letter, side in (("A", one["first"]), ("B", one["second"])):
        system, corpus = side["system"], side["corpus"]
        held = (
            f"{corpus.get('name')}, {number(corpus.get('n_cases'))} cases, {number(corpus.get('n_patients'))} patients"
        )
        rows.append((letter, f"{system.get('name')} {system.get('version')}".strip(), held, str(side["report"])[:12]))
    return Table(("", "system", "corpus", "record"), tuple(rows), "What is compared")


# ---- metrics ---------------------------------------------------------------------------------------------------------

_HEADS = ("metric", "where", "A", "B", "B − A", "p")


def _headline(one: Row) -> Section:
    rows = [row for row in one["rows"] if row["headline"]]
    said = (
        "Differences are B − A, each with its own 95 % interval and the p that belongs to it. Better and worse are "
        "decided by the adjusted p (Holm over the rows of this table)."
    )
    if one["margin"] is not None:
        said += f" No worse than A by more than {one['margin']:g}: within, worse or unsure."
    return Section("Headline", (said,), (_table(rows, "Headline metrics"),), key="headline") if rows else Section("")


def _moved(one: Row) -> Iterator[Section]:
    rest = [row for row in one["rows"] if not row["headline"]]
    for direction, title in (("better", "Improved elsewhere"), ("worse", "Regressed elsewhere")):
        rows = sorted((row for row in rest if row["direction"] == direction), key=lambda row: row["p"] or 0.0)
        if rows:
            more = f" {len(rows) - _SHOWN:,} more are in comparison.json." if len(rows) > _SHOWN else ""
            said = f"{len(rows):,} of {len(rest):,} rows, not adjusted: worth a look, not yet a conclusion.{more}"
            yield Section(title, (said,), (_table(rows[:_SHOWN], title),), key=f"elsewhere-{direction}")
    unclear = sum(row["direction"] == "no_clear_difference" for row in rest)
    unknown = sum(row["direction"] == "not_assessed" for row in rest)
    if rest:
        said = f"{unclear:,} of {len(rest):,} rows show no clear difference and {unknown:,} could not be assessed."
        yield Section("The rest", (said,), key="elsewhere-rest")


def _table(rows: Sequence[Row], caption: str) -> Table:
    adjusted = any(row["p_adjusted"] is not None for row in rows)
    heads = (*_HEADS, *(("adjusted p",) if adjusted else ()), "verdict", "how")
    return Table(heads, tuple(_cells(row, adjusted=adjusted) for row in rows), caption)


def _cells(row: Row, *, adjusted: bool) -> tuple[str, ...]:
    verdict = str(_VERDICTS.get(row["verdict"], row["verdict"]))
    if row["margin"] is not None and row["direction"] in {"better", "worse"} - {row["verdict"]}:
        verdict += f", {row['direction']}"
    method = "" if row["low"] is None and row["reason"] else row["method"]
    how = "; ".join(filter(None, (method, row["reason"], row.get("rule"))))
    return (
        row.get("title") or row["metric"].replace("_", " "),
        slice_name(row["slice"]),
        _with_ends(row["first"]),
        _with_ends(row["second"]),
        _with_ends(row, signed),
        p_value(row["p"]),
        *((p_value(row["p_adjusted"]),) if adjusted else ()),
        verdict,
        how,
    )


def _with_ends(seen: Row, form: Callable[[float], str] = number) -> str:
    if seen.get("value") is None:
        return "–"
    if seen.get("low") is None or seen.get("high") is None:
        return form(seen["value"])
    return f"{form(seen['value'])} ({form(seen['low'])} to {form(seen['high'])})"


# ---- detectors -------------------------------------------------------------------------------------------------------


def table_sections(one: Row) -> list[Section]:
    """Who found what, by type, by what the systems can emit, and by document."""
    tables = one.get("tables") or {}
    if not tables.get("types"):
        return []
    return [_types(tables), _alarms(tables), _scopes(tables), _documents(tables)]


def _types(tables: Row) -> Section:
    setting = tables["setting"]
    said = (
        f"Golds that must be masked, at {setting['mode']}, level {setting['level']}, policy {setting['policy']}: found "
        "by both, by one alone, by neither.",
        "McNemar's exact test takes golds as independent; they cluster in patients, so go by the sign-flip test over "
        "patients. Both are adjusted by Holm over the types.",
    )
    heads = (
        *("type", "golds", "both", "only A", "only B", "neither", "recall A", "recall B", "B − A"),
        *("patients that differ", "p sign flip", "adjusted", "p McNemar", "adjusted"),
    )
    rows = tuple(
        (
            "all" if row["label"] is None else str(row["label"]),
            *(count(row[key]) for key in ("golds", "both", "only_first", "only_second", "neither")),
            *(number(row["recall"][side]) for side in ("first", "second")),
            _with_ends(row["recall"], signed),
            count(row["patients_differing"]),
            *(p_value(row[key]) for key in ("p_permutation", "p_permutation_adjusted")),
            *(p_value(row[key]) for key in ("p_mcnemar", "p_mcnemar_adjusted")),
        )
        for row in tables["types"]
        if row["golds"]
    )
    return Section("Who found what, by type", said, (Table(heads, rows, "Golds by type"),), key="pair-types")


def _alarms(tables: Row) -> Section:
    heads = (
        *("type predicted", "judged A", "judged B", "false alarms A", "of them B's too", "false alarms B"),
        *("of them A's too", "precision A", "precision B", "B − A"),
    )
    rows = tuple(
        (
            "all" if row["label"] is None else str(row["label"]),
            *(count(row[f"predictions_{side}"]) for side in ("first", "second")),
            *(
                count(row[f"{key}_{side}"])
                for side in ("first", "second")
                for key in ("false_alarms", "false_alarms_agreed")
            ),
            *(number(row["precision"][side]) for side in ("first", "second")),
            _with_ends(row["precision"], signed),
        )
        for row in tables["types"]
        if row["label"] is None or row["predictions_first"] or row["predictions_second"]
    )
    said = (
        "A false alarm of one that overlaps a false alarm of the other is worth a look at the gold: both may be right."
    )
    return Section("False alarms", (said,), (Table(heads, rows, "Predictions by type"),), key="pair-alarms")


def _scopes(tables: Row) -> Section:
    heads = ("over", "types", "golds", "recall A", "recall B", "B − A", "p sign flip", "p McNemar")
    rows, points = [], []
    for row in tables["scopes"]:
        if row["types"] is None:
            points.append(f"{_SCOPES[row['scope']]}: {row['reason']}.")
            continue
        rows.append(
            (
                _SCOPES[row["scope"]],
                count(len(row["types"])),
                count(row["golds"]),
                *(number(row["recall"][side]) for side in ("first", "second")),
                _with_ends(row["recall"], signed),
                *(p_value(row[key]) for key in ("p_permutation", "p_mcnemar")),
            )
        )
    said = "A detector cannot find what it has no label for: recall over all types, and over those it can emit at all."
    table = Table(heads, tuple(rows), "Recall by what the systems can emit")
    return Section("Types that the systems can emit", (said,), (table,), tuple(points), key="pair-scopes")


def _documents(tables: Row) -> Section:
    held: dict[int, dict[str, int]] = {}
    for row in tables.get("documents", ()):
        sums = held.setdefault(row["document"], dict.fromkeys(_OF_DOCUMENTS, 0))
        for key in _OF_DOCUMENTS:
            sums[key] += row[key]
    moved = {name: sums for name, sums in held.items() if sums["only_first"] + sums["only_second"]}
    if not moved:
        return Section("")
    ordered = sorted(moved, key=lambda number: (-moved[number]["only_first"] - moved[number]["only_second"], number))
    rows = tuple((str(name), *(count(moved[name][key]) for key in _OF_DOCUMENTS)) for name in ordered[:_SHOWN])
    said = (
        f"The {len(rows):,} documents in which the two differ most in what they found, by their number; by type in "
        "comparison.json, and with their ids in comparison-documents.jsonl."
    )
    heads = ("document", "golds", "both", "only A", "only B", "neither", "false alarms A", "false alarms B")
    return Section("Documents", (said,), (Table(heads, rows, "Documents that differ"),), key="pair-documents")


_OF_DOCUMENTS = ("golds", "both", "only_first", "only_second", "neither", "false_alarms_first", "false_alarms_second")
