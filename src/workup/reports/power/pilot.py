"""What the power lens found in the data at hand, as sections: patients needed, power reached, smallest difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.report import LensResult
from workup.reports.layout import Section, Table
from workup.reports.power.curves import pilot_figures, sound
from workup.reports.wording import at_threshold, group_words, number, percent, plural

Row = Mapping[str, Any]


def pilot(result: LensResult) -> Iterator[Section]:
    """Sections of a plan that rests on a pilot; metrics without a declared difference are left to the record."""
    settings, tables = result.settings, result.tables
    planned = {row["metric"] for row in tables["reached"] if row["target"] is not None}
    left = len({row["metric"] for row in tables["spread"]} - planned)
    yield Section("Planning from these data", tables=(_parameters(settings),), key="power-parameters")
    gaps = [row for row in tables["needed"] if row["kind"] == "difference" and row["metric"] in planned]
    said = [
        "Patients with which a true difference of the size that matters would be found. Groups of one size, or a "
        "cohort in which the groups are as unequal as here: then the smaller group decides."
    ]
    if left:
        said.append(
            f"{plural(left, 'metric')} without a declared difference: how they vary is in report.json (table spread)."
        )
    yield Section("Patients needed for a difference", tuple(said), (_needed(gaps),), key="power-needed")
    widths = [row for row in tables["needed"] if row["kind"] == "half_width" and row["target"] is not None]
    if widths:
        about = "Patients with which the interval of a group reaches so far to either side."
        yield Section("Patients needed for an interval", (about,), (_widths(widths),), key="power-widths")
    reached = [row for row in tables["reached"] if row["metric"] in planned]
    about = "The chance with which these data would have shown the difference that matters, were it there."
    yield Section("Power these data reached", (about,), (_reached(reached),), key="power-reached")
    least = [row for row in tables["smallest_difference"] if row["metric"] in planned]
    about = (
        f"The smallest true difference that these data find with {settings['power']:.0%} power. Smaller ones may exist "
        "unseen."
    )
    yield Section("Smallest difference by comparison", (about,), (_smallest(least),), key="power-smallest")
    charts = tuple(chart.table for chart in pilot_figures(result))
    yield Section("Behind the curves", tables=charts, key="power-curve")


def _parameters(settings: Row) -> Table:
    wanted = settings["difference"]
    gap = (
        ", ".join(f"{at_threshold(k, {})} {v:g}" for k, v in sorted(wanted.items()))
        if isinstance(wanted, dict)
        else f"{wanted:g}"
    )
    testing = {
        "all-pairs": "every group with every other",
        "versus-reference": f"every group with the reference ({_reference(settings['reference'])})",
        "gatekeeper": "all groups together first, then every pair by Holm",
    }
    rows = [
        ("Difference that matters", gap),
        ("Alpha, two-sided", f"{settings['alpha']:.4g}"),
        ("Power wanted", percent(settings["power"])),
        ("Groupings", ", ".join(map(str, settings["by"])) or "none"),
    ]
    if settings["comparisons"]:
        each = "as Holm goes" if settings["testing"] == "gatekeeper" else f"{settings['alpha_each']:.4g}"
        rows += [
            ("Compared", testing.get(settings["testing"], str(settings["testing"]))),
            ("Comparisons planned for each metric", number(settings["comparisons"])),
            ("Alpha of each comparison", each),
        ]
    rows.append(("Patients at hand", number(settings["patients"])))
    return Table(("what", "value"), tuple(rows), "Parameters")


def _reference(given: Any) -> str:
    return ", ".join(f"{k}: {v}" for k, v in sorted(given.items())) if isinstance(given, dict) else str(given)


def _who(row: Row) -> tuple[str, str]:
    words = group_words(row["slice"])
    return "everyone" if words == "all" else words, at_threshold(row["metric"], row["slice"])


def _how(row: Row) -> str:
    if row["status"] == "ok":
        return str(row["reason"] or "ok")
    return f"{row['status'].replace('_', ' ')}: {row['reason']}"


def _whole(value: float | None) -> str:
    return "–" if value is None else number(round(value))


def _needed(rows: Sequence[Row]) -> Table:
    body = tuple(
        (
            *_who(row),
            str(row["against"]),
            number(row["target"]),
            number(row["patients_each"]),
            number(row["patients"]),
            number(row["against_patients"]),
            _whole(row["events"]),
            number(row["cohort"]),
            _how(row),
        )
        for row in rows
    )
    heads = (
        "group",
        "metric",
        "against",
        "difference",
        "each, if equal",
        "as here: group",
        "as here: against",
        "events in group",
        "whole cohort",
        "how",
    )
    return sound(heads, body, "Patients needed for the difference that matters")


def _widths(rows: Sequence[Row]) -> Table:
    body = tuple(
        (
            *_who(row),
            f"± {row['target']:g}",
            number(row["patients_here"]),
            number(row["patients"]),
            _whole(row["events"]),
            number(row["cohort"]),
            _how(row),
        )
        for row in rows
    )
    heads = ("group", "metric", "half-width", "patients here", "patients needed", "events", "whole cohort", "how")
    return sound(heads, body, "Patients needed for intervals of the width wanted")


def _reached(rows: Sequence[Row]) -> Table:
    body = tuple(
        (
            *_who(row),
            str(row["against"]),
            number(row["target"]),
            number(row["patients_here"]),
            number(row["against_here"]),
            "–" if row["power"] is None else percent(row["power"]),
            _how(row),
        )
        for row in rows
    )
    heads = ("group", "metric", "against", "difference", "patients here", "patients against", "power", "how")
    return sound(heads, body, "Power reached by the data at hand")


def _smallest(rows: Sequence[Row]) -> Table:
    body = tuple(
        (*_who(row), str(row["against"]), number(row["patients_here"]), number(row["smallest_difference"]), _how(row))
        for row in rows
    )
    heads = ("group", "metric", "against", "patients here", "smallest difference", "how")
    return sound(heads, body, "Smallest difference found with the power wanted")
