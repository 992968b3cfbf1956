"""The table of several systems in comparison.json → sections of a page, and CSV. Reads the record of a comparison."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from workup.errors import visible
from workup.reports.layout import Section, Table
from workup.reports.wording import count, number, p_value, signed

Row = Mapping[str, Any]
_VERDICTS = {"none": "no gates"}
_DECIDES = {"safety": "safety", "effect": "effect"}
_SHOWN = 60  # differences that a page lists; the record holds all
_RISKY = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the start of a formula


def sections(models: Row, *, wide: bool = True) -> list[Section]:
    """The table of systems, what tells them apart, and kinds of systems where these carry tags.

    A table that is not wide has the metrics that decide alone.
    """
    names = ", ".join(f"{one['letter']} {_name(one)}" for one in models["systems"])
    held = models["reference"]
    over = "in the order of their ranks" if held is None else f"against {held}"
    title = f"{len(models['systems'])} systems {over}"
    found = [
        Section(title, (f"{names}.", *_how(models)), (_table(models, wide=wide),), key="pair"),
        Section("Reached by each", _reached(models), tuple(_details(models)), key="models-values"),
        _told(models),
        _kinds(models["tags"]),
        Section("How to read this", tuple(models["notes"]), key="models-notes"),
    ]
    return [one for one in found if one.tables or one.sentences]


def _name(one: Row) -> str:
    return visible(str(one["system"].get("name")))


def _how(models: Row) -> tuple[str, ...]:
    decides = {
        part: [column["title"] for column in models["columns"] if column["decides"] == part] for part in _DECIDES
    }
    safety, effect = ("; ".join(decides[part]) for part in _DECIDES)
    order = ["their verdicts (a fail below all others)", *([f"safety ({safety})"] if safety else [])]
    order += [effect] if effect else []
    said = f"Ordered by {', then by '.join(order)}."
    if models["reference"] is None:
        return said, "Systems that no difference tells apart share their ranks: 1-3 may be first, second or third."
    alone = f"Each is compared with {models['reference']} alone, so nothing is said of the others among themselves."
    return said, alone


def _table(models: Row, *, wide: bool) -> Table:
    """Systems by metrics, those that decide first, and what they cost."""
    chosen = [place for place, column in enumerate(models["columns"]) if wide or column["decides"] in _DECIDES]
    cost = any(one["cost"] for one in models["systems"])
    rank = "rank" if models["reference"] is None else f"against {models['reference']}"
    of = next((one["cost"]["of"] for one in models["systems"] if one["cost"]), "case")
    heads = ("system", rank, "verdict", *(models["columns"][place]["title"] for place in chosen))
    rows = []
    for one in models["systems"]:
        cells = [_cell(models["columns"][place], one["values"][place]) for place in chosen]
        paid = "–" if one["cost"] is None else number(float(one["cost"]["each"]))
        rows.append(
            (f"{one['letter']} {_name(one)}", rank_words(one), _verdict(one), *cells, *((paid,) if cost else ()))
        )
    return Table((*heads, *((f"cost per {of}",) if cost else ())), tuple(rows), "Systems by metrics")


def rank_words(one: Row) -> str:
    """The place of a system, or how it stands to the reference.

    >>> rank_words({"rank": [1, 3], "against_reference": None}), rank_words({"rank": [2, 2], "against_reference": None})
    ('1-3', '2')
    """
    if one["rank"] is None:
        return str(one["against_reference"])
    first, last = one["rank"]
    return str(first) if first == last else f"{first}-{last}"


def _verdict(one: Row) -> str:
    return str(_VERDICTS.get(one["verdict"], one["verdict"]))


def _cell(column: Row, cell: Row) -> str:
    if cell["status"] in ("withheld", "absent"):
        return "withheld" if cell["status"] == "withheld" else "–"
    value = count(cell["value"]) if column["unit"] == "count" else number(cell["value"])
    if cell["low"] is None or cell["high"] is None:
        return value
    return f"{value} ({number(cell['low'])} to {number(cell['high'])})"


def _reached(models: Row) -> tuple[str, ...]:
    said = f"Each figure with its own {100 * models['level']:g} % interval."
    if any(cell["replicates"] for one in models["systems"] for cell in one["values"]):
        said += (
            " Where cases were put to a system several times, the least and the most of its replicates stand beside: "
            "what another run of the same system may move, with the same cases."
        )
    return (said,)


def _details(models: Row) -> list[Table]:
    """All columns, one line for each system and metric."""
    spread = any(cell["replicates"] for one in models["systems"] for cell in one["values"])
    rows = []
    for place, column in enumerate(models["columns"]):
        for one in models["systems"]:
            cell = one["values"][place]
            among = cell["replicates"]
            between = "–" if not among else f"{number(among['least'])} to {number(among['most'])} of {among['count']}"
            why = str(cell["reason"] or "")
            rows.append(
                (
                    column["title"],
                    f"{one['letter']} {_name(one)}",
                    _cell(column, cell),
                    *((between,) if spread else ()),
                    why,
                )
            )
    heads = ("metric", "system", "value (interval)", *(("replicates",) if spread else ()), "how")
    return [Table(heads, tuple(rows), "Every metric of every system")] if rows else []


def _told(models: Row) -> Section:
    """Differences between systems: those that decide, then those that are clear by themselves."""
    columns = models["columns"]
    deciding = [row for row in models["pairs"] if columns[row["column"]]["decides"] in _DECIDES]
    beside = [row for row in models["pairs"] if columns[row["column"]]["decides"] not in _DECIDES and row["told"]]
    rows = sorted(deciding, key=lambda row: (row["told"] is None, row["p_adjusted"] is None, row["p_adjusted"] or 0.0))
    said = [
        "Second less first on the same cases, each with its own interval and p; the adjusted p decides (Holm).",
    ]
    if len(rows) > _SHOWN:
        said.append(
            f"{len(rows) - _SHOWN:,} more are in comparison.json; those that tell two systems apart come first."
        )
    tables = [_differences(rows[:_SHOWN], columns, "Differences that decide")] if rows else []
    if beside:
        tables.append(_differences(beside[:_SHOWN], columns, "Clear differences beside them, which decide nothing"))
    return Section("What tells them apart", tuple(said), tuple(tables), key="models-pairs")


def _differences(rows: Sequence[Row], columns: Sequence[Row], caption: str) -> Table:
    heads = ("metric", "second − first", "difference", "p", "adjusted p", "better", "how")
    cells = tuple(
        (
            columns[row["column"]]["title"],
            f"{row['second']} − {row['first']}",
            _gap(row),
            p_value(row["p"]),
            p_value(row["p_adjusted"]),
            row["told"] or "not told apart",
            "; ".join(filter(None, (row["method"] if row["low"] is not None else "", row["reason"]))),
        )
        for row in rows
    )
    return Table(heads, cells, caption, titled=True)


def _gap(row: Row) -> str:
    if row["value"] is None:
        return "–"
    if row["low"] is None or row["high"] is None:
        return signed(row["value"])
    return f"{signed(row['value'])} ({signed(row['low'])} to {signed(row['high'])})"


def _kinds(tags: Sequence[Row]) -> Section:
    if not tags:
        return Section("")
    heads = ("metric", "second − first", "systems", "cases", "difference", "p", "adjusted p", "verdict", "how")
    rows = tuple(
        (
            row["metric"].replace("_", " "),
            visible(f"{row['tag']} {row['second']} − {row['first']}"),
            " and ".join(map(str, row["systems"])),
            count(row["cases"]),
            _gap(row),
            p_value(row["p"]),
            p_value(row["p_adjusted"]),
            str(row["verdict"]).replace("_", " "),
            row["reason"],
        )
        for row in tags
    )
    said = (
        "Kinds of systems by their tags, paired by case, with systems as a random factor. Below five systems of a kind "
        "a difference says something of these systems and nothing of their kinds."
    )
    return Section("Kinds of systems", (said,), (Table(heads, rows, "Kinds of systems"),), key="models-kinds")


# ---- for a spreadsheet -----------------------------------------------------------------------------------------------


def as_csv(models: Row) -> str:
    """One line for each system; three columns for each metric, and two more where there are replicates."""
    spread = any(cell["replicates"] for one in models["systems"] for cell in one["values"])
    heads = ["system", "name", "version", "rank_first", "rank_last", "against_reference", "verdict"]
    for column in models["columns"]:
        named = column["metric"] + "".join(f"[{key}={value}]" for key, value in sorted(column["slice"].items()))
        heads += [f"{named} {part}".strip() for part in ("", "low", "high", *(("least", "most") if spread else ()))]
    written = io.StringIO()
    out = csv.writer(written, lineterminator="\n")
    out.writerow([*heads, "cost_each"])
    for one in models["systems"]:
        first, last = one["rank"] or ("", "")
        line: list[Any] = [one["letter"], one["system"].get("name"), one["system"].get("version"), first, last]
        line += [one["against_reference"], one["verdict"]]
        for cell in one["values"]:
            shown = {} if cell["status"] == "withheld" else cell
            line += [shown.get(part) for part in ("value", "low", "high")]
            among = shown.get("replicates") or {}
            line += [among.get(part) for part in ("least", "most")] if spread else []
        out.writerow([_safe(value) for value in (*line, None if one["cost"] is None else one["cost"]["each"])])
    return written.getvalue()


def _safe(value: Any) -> Any:
    """A name that a spreadsheet would run as a formula is only a name."""
    if not isinstance(value, str):
        return "" if value is None else value
    shown = visible(value)
    return f"'{shown}" if shown.startswith(_RISKY) else shown
