"""The split behind a corpus, drawn from the record that `workup split` wrote: who is on each side, what to beware."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workup.reports.layout import Section, Table
from workup.reports.wording import count, number, p_value, percent, plural, signed

Row = Mapping[str, Any]

_SIDES = ("development", "validation")
_SHOWN = 40  # joined cells and compared levels that are listed; the record holds all
_STRATEGIES = {
    "random": "Patients were drawn at random",
    "outcome": "Patients were drawn at random with the share of events held",
    "demographics": "Patients were drawn at random with the share of every group held",
    "multidimensional": "Patients were drawn at random with the shares of several variables held at once",
    "temporal": "Patients were parted by time",
    "site": "Whole sites were parted",
}


def sections(split: Mapping[str, Any]) -> list[Section]:
    """The split in the order people read it: sizes, levels, joined cells, changed shares, warnings."""
    if split.get("kind") != "split" or "sides" not in split:
        said = (
            "The record named as the split of this study was not written by 'workup split', so nothing is shown of it."
        )
        return [Section("Split", (said,), key="split")]
    found = [_sizes(split), *_levels(split), *_joined(split), *_changes(split), *_warnings(split)]
    return [section for section in found if section.sentences or section.tables or section.points]


def _sizes(split: Row) -> Section:
    sides = split["sides"]
    heads = ("side", "patients", "share", "rows", *_if(split, "events", "non-events", "outcome unknown"))
    heads += ("first date", "last date") if "first_date" in split["whole"] else ()
    rows = [(name, *_size(split, sides[name], sides[name]["share_of_patients"])) for name in _SIDES]
    rows += [(f"left out: {part['reason']}", *_size(split, part, None)) for part in split["left_out"]]
    rows.append(("whole table", *_size(split, split["whole"], None)))
    notes = tuple(split["notes"])
    return Section(
        "Split",
        (_strategy(split), *_held(split), *notes),
        (Table(heads, tuple(rows), "Sizes of the two sides"), Table(("", ""), tuple(_columns(split)))),
        key="split",
    )


def _if(split: Row, *heads: str) -> tuple[str, ...]:
    return heads if split["columns"]["outcome"] is not None else ()


def _size(split: Row, part: Row, share: float | None) -> tuple[str, ...]:
    cells = [number(part["patients"]), "" if share is None else percent(share), number(part["rows"])]
    cells += [number(part[key]) for key in _if(split, "events", "non_events", "outcome_missing")]
    if "first_date" in split["whole"]:
        cells += [str(part.get(key) or "–") for key in ("first_date", "last_date")]
    return tuple(cells)


def _strategy(split: Row) -> str:
    about, settings = split["about"], split["settings"]
    said = str(_STRATEGIES.get(split["strategy"], split["strategy"]))
    if split["strategy"] == "temporal":
        embargo = f", the {plural(about['embargo_days'], 'day')} before it left out" if about["embargo_days"] else ""
        said += f": rows from {about['cut']} on are for validation{embargo}"
    elif split["strategy"] == "site":
        said += f": {_listed(about['sites_validation'])} for validation, {about['chosen']}"
    if settings["share"] is not None:
        of = {"temporal": "of the dates", "site": "of the patients, as near as whole sites allow"}
        said += f"; {percent(settings['share'])} {of.get(split['strategy'], 'of the patients')} were asked for"
    return f"{said} (seed {split['seed']})."


def _listed(names: list[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def _held(split: Row) -> Iterator[str]:
    margins = split["margins"]
    if margins is None:
        return
    off = len(margins["off"])
    held = f"All but {off} of " if off else "All "
    yield (
        f"{held}{plural(margins['margins'], 'margin')} (the total and every level held in proportion) lie within one "
        f"patient of their share; the largest deviation is {number(margins['largest_deviation'])}."
    )
    for side, weights in split["about"].get("weights", {}).items():
        yield (
            f"Weights of {side} run from {number(weights['smallest'])} to {number(weights['largest'])} and leave "
            f"{number(float(weights['effective_patients']))} effective patients; weighted margins differ from the "
            f"whole table by {number(round(weights['largest_gap_of_a_margin'], 6))} patients at most."
        )


def _columns(split: Row) -> Iterator[tuple[str, str]]:
    columns, settings = split["columns"], split["settings"]
    yield "Patient", columns["patient"] or "each row"
    for title, key in (("Outcome", "outcome"), ("Site", "site"), ("Time", "time")):
        if columns[key] is not None:
            yield title, columns[key]
    for title, key in (("Groups", "by"), ("Held in proportion", "stratified_by")):
        if columns[key]:
            yield title, ", ".join(columns[key])
    quotas = [f"{name} {level}: {n:,}" for name, levels in settings["quota"].items() for level, n in levels.items()]
    if quotas:
        yield "Quotas", ", ".join(quotas)


def _levels(split: Row) -> Iterator[Section]:
    variables = dict.fromkeys(row["variable"] for row in split["levels"])
    if not variables:
        return
    said = (
        "Patients count under their own level, rows and events under the level of the row. Representation is the share "
        "of a level among the patients of a side over its share in the whole table: 1 is in proportion."
    )
    tables = tuple(_variable(split, name) for name in variables)
    yield Section("Split: who is on each side", (said,), tables, key="split-levels")


def _variable(split: Row, variable: str) -> Table:
    rows = [row for row in split["levels"] if row["variable"] == variable]
    heads = (
        *(variable, "patients", "development", "validation", "share", "share", "representation", "rows", "rows"),
        *_if(split, "events", "events"),
        *(("off by",) if "deviation" in rows[0] else ()),
    )
    heads = tuple(_side_of(i, head, heads) for i, head in enumerate(heads))
    body = []
    for row in rows:
        cells = [str(row["level"]), number(row["patients"]["all"])]
        cells += [number(row["patients"][side]) for side in _SIDES]
        cells += [percent(row["share"][side]) if side in row["share"] else "–" for side in _SIDES]
        cells.append(number(row["representation"].get("validation")))
        cells += [number(row["rows"][side]) for side in _SIDES]
        if "events" in row:
            cells += [number(row["events"][side]["events"]) for side in _SIDES]
        if "deviation" in row:
            cells.append(signed(row["deviation"]))
        body.append(tuple(cells))
    return Table(heads, tuple(body), f"Levels of {variable} on each side")


def _side_of(place: int, head: str, heads: tuple[str, ...]) -> str:
    """Heads that come in pairs say which side they are of."""
    if place == 0 or head not in ("share", "rows", "events"):
        return head
    return f"{head} dev." if heads.index(head, 1) == place else f"{head} val."


def _joined(split: Row) -> Iterator[Section]:
    log = split["collapsed"]
    if not log:
        return
    points = [
        f"{_cell(row['cell'])} ({plural(row['patients'], 'patient')}) joined with {_cell(row['joined_with'])} "
        f"({plural(row['joined_patients'], 'patient')}): {row['reason']}."
        if row["joined_patients"]
        else f"{row['step']} was left out of the joined cells: {row['reason']}."
        for row in log[:_SHOWN]
    ]
    if len(log) > _SHOWN:
        points.append(f"… and {len(log) - _SHOWN:,} more, in split.json.")
    said = (
        f"{plural(len(log), 'step')}: cells too small to be on both sides were joined with a neighbour, so that the "
        "joined cell is in proportion. The margins of every single variable are held all the same."
    )
    yield Section("Split: cells that were joined", (said,), points=tuple(points), key="split-joined")


def _cell(levels: Mapping[str, list[str]]) -> str:
    return ", ".join(f"{name} {' or '.join(found)}" for name, found in levels.items())


def _changes(split: Row) -> Iterator[Section]:
    rows = sorted(split["changes"], key=lambda row: -abs(row["cohens_h"]))
    if not rows:
        return
    body = tuple(
        (
            f"{row['variable']} {row['level']}",
            percent(row["development"]),
            percent(row["validation"]),
            f"{100 * row['difference']:+.1f}",
            f"{100 * row['low']:+.1f} to {100 * row['high']:+.1f}",
            signed(round(row["cohens_h"], 3)),
            row["test"],
            p_value(row["p_adjusted"]),
            "changed" if row["changed"] else "",
        )
        for row in rows[:_SHOWN]
    )
    changed = sum(row["changed"] for row in rows)
    more = f" The {_SHOWN} largest are shown." if len(rows) > _SHOWN else ""
    said = (
        f"{count(changed)} of {plural(len(rows), 'level')} changed between the sides: a Holm-adjusted p below 0.05 and "
        f"Cohen's h of at least 0.1.{more}"
    )
    heads = ("level", *_SIDES, "points", "95% interval", "Cohen's h", "test", "adjusted p", "verdict")
    table = Table(heads, body, "Shares of patients on the two sides compared")
    yield Section("Split: do the sides differ", (said,), (table,), key="split-changes")


def _warnings(split: Row) -> Iterator[Section]:
    found = split["warnings"]
    said = () if found else ("None: no group is below the minimum, no level unseen, no share changed.",)
    yield Section("Split: warnings", said, points=tuple(row["message"] for row in found), key="split-warnings")
