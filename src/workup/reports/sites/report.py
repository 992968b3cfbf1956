"""The external validation report: sites and samples, each site, all pooled, and what a new site may expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workup.report import Estimate, LensResult, Report
from workup.reports import case_mix
from workup.reports.charts.figure import Figure
from workup.reports.charts.forest import brief
from workup.reports.layout import Section, Table
from workup.reports.sites.forests import forests, main_rows, of_site, primary_first
from workup.reports.sites.pooling import against, cell, gaps, not_pooled, pooled, regression, subsets, without
from workup.reports.wording import at_threshold, drawn, number, percent, plural

_PLACE = ("name", "type", "region", "volume")
_OWN = (
    *("site", "source", "role", "patients", "rows", "events", "waiting", "small", "demographics", "missing_inputs"),
    *("label_delay_days", "withheld", "notes"),
)
Row = Mapping[str, Any]


@drawn
def sections(report: Report) -> list[Section]:
    """The sections of the external validation report, in the order people know."""
    result = primary_first(report)
    if result is None:
        return []
    found = [
        _samples(result),
        _settings(result),
        _completeness(result),
        *case_mix.section(result, title="How the sites differ in inputs and risks", key="sites-case-mix"),
        _internal(result),
        _site_by_site(result),
        pooled(result),
        subsets(result),
        without(result),
        not_pooled(result),
        regression(result),
        gaps(result),
        against(result),
        _meaning(result),
    ]
    return [section for section in found if section.sentences or section.tables or section.points]


@drawn
def figures(report: Report) -> dict[str, list[Figure]]:
    """Forests of the main metrics, beside the pooled figures."""
    found = forests(report)
    return {"sites-pooled": found} if found else {}


def _samples(result: LensResult) -> Section:
    rows = result.tables["sites"]
    facts = [name for name in _PLACE if any(name in row for row in rows)]
    others = list(dict.fromkeys(key for row in rows for key in row if key not in (*_OWN, *_PLACE)))
    body = tuple(
        (
            str(row["site"]),
            *(cell(row.get(name)) for name in (*facts, *others)),
            cell(row["patients"]),
            cell(row["events"]),
            _remarks(row),
        )
        for row in rows
    )
    pooled = sum(row["role"] == "validation" for row in rows)
    patients = [row["patients"] for row in rows if row["role"] == "validation"]
    known = [n for n in patients if n is not None]
    said = f"{plural(pooled, 'site')} with {plural(sum(known), 'patient')}."
    if len(known) < len(patients):
        said += f" {plural(len(patients) - len(known), 'site')} did not say how many."
    heads = ("site", *facts, *others, "patients", "events", "remarks")
    return Section("Sites and samples", (said,), (Table(heads, body, "Sites and samples"),), key="sites")


def _remarks(row: Row) -> str:
    said = []
    if row["role"] == "development":
        said.append("the model was built here; not pooled")
    if row["small"]:
        said.append("small")
    if row["source"] != "rows":
        said.append("from a site pack" if row["source"] == "pack" else "from a publication")
    if row.get("waiting"):
        said.append(f"{number(row['waiting'])} rows wait for their outcome")
    if row["withheld"]:
        said.append(f"{plural(row['withheld'], 'cell')} withheld")
    return "; ".join([*said, *([str(row["notes"])] if row.get("notes") else [])])


def _settings(result: LensResult) -> Section:
    rows = result.tables["settings"]
    if not rows:
        said = "The study does not name the settings where the system will be used, so none is checked."
        return Section("Intended settings", (said,), key="sites-settings")
    body = tuple(
        (str(row["setting"]), row["status"], ", ".join(row["sites"]), cell(row["patients"]), row["reason"] or "")
        for row in rows
    )
    bare = [str(row["setting"]) for row in rows if row["status"] == "not validated"]
    said = f"Not validated: {', '.join(bare)}." if bare else "Each intended setting has at least one validating site."
    heads = ("intended setting", "status", "sites", "patients", "reason")
    return Section(
        "Intended settings against validated ones",
        (said,),
        (Table(heads, body, "Where the system will be used, and which sites speak for it"),),
        key="sites-settings",
    )


def _completeness(result: LensResult) -> Section:
    rows = result.tables["sites"]
    inputs = list(dict.fromkeys(name for row in rows for name in row["missing_inputs"]))
    tables = []
    delays = any(row["label_delay_days"] for row in rows)
    if inputs or delays:
        body = tuple(
            (
                str(row["site"]),
                *(_share(row["missing_inputs"].get(name)) for name in inputs),
                *((_delay(row),) if delays else ()),
            )
            for row in rows
        )
        late = ("days until the outcome was known",) if delays else ()
        heads = ("site", *(f"{name} missing" for name in inputs), *late)
        tables.append(Table(heads, body, "Missing inputs and delay of outcomes by site"))
    groups = list(
        dict.fromkeys((name, level) for row in rows for name, one in row["demographics"].items() for level in one)
    )
    if groups:
        body = tuple(
            (str(row["site"]), *(_level(row["demographics"], name, level) for name, level in groups)) for row in rows
        )
        heads = ("site", *(f"{name}: {level}" for name, level in groups))
        tables.append(Table(heads, body, "Who the patients are, share of each site"))
    return Section("Completeness and patients by site", (), tuple(tables), key="sites-completeness")


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _level(groups: Row, name: str, level: str) -> str:
    """A level that a site does not have is 0; a share that was withheld is a dash."""
    if name not in groups:
        return "–"
    found = groups[name].get(level, 0.0)
    return _share(found)


def _delay(row: Row) -> str:
    days = row["label_delay_days"]
    return "–" if not days else f"{number(days['median'])} (90th percentile {number(days['p90'])})"


def _internal(result: LensResult) -> Section:
    rows = [row for row in result.comparisons if row.get("internal") is not None]
    if not rows:
        said = "No internal reference was given: neither a report of the development data nor a development site."
        return Section("Internal reference", (said,), key="sites-internal")
    whose = ", ".join(dict.fromkeys(str(row["against"]) for row in rows))
    shown = ", ".join(f"{at_threshold(r['metric'], r['slice'])} {number(r['internal'])}" for r in rows[:6])
    return Section("Internal reference", (f"Taken from the {whose}: {shown}.",), key="sites-internal")


def _site_by_site(result: LensResult) -> Section:
    mains = list(main_rows(result))
    kinds = [name for name in ("type", "region") if any(name in row for row in result.tables["sites"])]
    found = [of_site(result, row) for row in mains]
    body = tuple(
        (
            str(row["site"]),
            *(cell(row.get(name)) for name in kinds),
            cell(row["patients"]),
            *(_figure(by_site.get(str(row["site"]))) for by_site in found),
            _remarks(row),
        )
        for row in result.tables["sites"]
    )
    titles = (at_threshold(row["metric"], row["slice"]) for row in mains)
    heads = ("site", *kinds, "patients", *titles, "remarks")
    said = "Each site by itself, with 95 % intervals. Every other metric and threshold is in report.json."
    return Section("Site by site", (said,), (Table(heads, body, "Site by site"),), key="sites-each")


def _figure(e: Estimate | None) -> str:
    if e is None:
        return "–"
    if e.value is None or e.status != "ok":
        return e.status if e.value is None else f"{brief(e.value)} ({e.status})"
    return f"{brief(e.value)} ({brief(e.low)} to {brief(e.high)})"


def _meaning(result: LensResult) -> Section:
    points = tuple(_sentence(row) for row in main_rows(result))
    return Section("What this means for a new site", points=points, key="sites-meaning")


def _sentence(row: Row) -> str:
    what = at_threshold(row["metric"], row["slice"])
    what = what[:1].upper() + what[1:]
    if row["value"] is None:
        return f"{what}: the sites could not be pooled."
    if row["pi_low"] is None:
        few = "one site" if row["k"] == 1 else f"{row['k']} sites"
        return f"{what}: with {few} nothing can be said of a new one; a prediction interval needs at least three."
    span = f"{number(row['pi_low'])} to {number(row['pi_high'])}"
    said = f"{what}: {number(row['value'])} on average; one more site like these may lie anywhere from {span}"
    ending = {
        "adequate": "all of which meets the limit set beforehand: adequate.",
        "inadequate": "none of which meets the limit set beforehand: inadequate.",
        "inconclusive": "part of which misses the limit set beforehand: inconclusive, so check locally before use.",
    }
    unjudged = "and no limit was set to judge it by." if row["limit"] is None else f"but {row['reason']}: not judged."
    return f"{said}, {ending.get(row['verdict'], unjudged)}"
