"""The static site: a page for each model and one for all of them, each one file that asks for nothing from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from sqlalchemy import Connection

from workup.files.disk import make_folder, replace_whole
from workup.monitor import watching
from workup.monitor.integrity import WATCHES
from workup.monitor.overview import fleet, sections
from workup.monitor.plan import Plan
from workup.monitor.scoring import metrics_of
from workup.monitor.store.database import Store
from workup.monitor.store.models import last_plan, models, versions
from workup.monitor.store.windows import watches
from workup.reports.charts import drawing
from workup.reports.charts.figure import Figure
from workup.reports.drift.charts import control_charts
from workup.reports.html import NO_CHARTS, asset, legible, policy
from workup.reports.layout import Section, Table

_FIGURE = re.compile(r"^[<+-]?[\d.,]+(e-?\d+)?$|^–$|^$")
HOME = "index.html"


@dataclass(frozen=True)
class _Grid:
    label: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: tuple[bool, ...]
    links: tuple[str, ...]


@dataclass(frozen=True)
class _Drawing:
    title: str
    svg: Markup
    says: tuple[str, ...]


@dataclass(frozen=True)
class _Part:
    id: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[_Grid, ...]
    points: tuple[str, ...]
    figures: tuple[_Drawing, ...] = ()


def write_site(store: Store, folder: Path, *, now: int) -> Path:
    """Write the pages of all models into a folder, each whole or not at all; answers the first page."""
    make_folder(folder)
    with store.read() as connection:
        listed = models(connection)
        links = {one["id"]: f"model-{one['id']}.html" for one in listed}
        pages = {
            links[one["id"]]: render(
                sections(connection, one, now=now), charts=charts_of(connection, one["id"]), home=HOME
            )
            for one in listed
        }
        pages[HOME] = render([fleet(connection, listed, now=now, links=links)], charts=[])
    for name, page in pages.items():
        replace_whole(folder / name, [page], mode=0o644)
    return folder / HOME


def charts_of(connection: Connection, model: int) -> list[Figure]:
    """The control charts of every line of the plan, of every version that has windows."""
    held = last_plan(connection, model)
    if held is None:
        return []
    plan = Plan.of(held["content"], where=f"plan {held['number']}")
    metrics = metrics_of(plan)
    wanted = [watching.key_of(line, plan) for line in plan.watch]
    found = []
    for version in versions(connection, model):
        kept = watches(connection, version["id"])
        for key in wanted:
            if key in kept and key not in WATCHES and kept[key]["windows"]:
                watch = watching.restored(key, "", json.loads(kept[key]["state"])["lens"], metrics)
                found += control_charts(watch.monitor.result())
    return found


def render(found: Sequence[Section], *, charts: Sequence[Figure], home: str = "") -> str:
    """A page; every word is escaped, and characters that steer a reader's eye are shown."""
    style = asset("static/report.css")
    return (
        templates()
        .get_template("site.html")
        .render(
            policy=policy(style, ""),
            style=Markup(style),
            title=legible(found[0].title),
            home=home,
            parts=parts_of(found, charts=charts),
        )
    )


def templates() -> Environment:
    """The templates of pages; whatever is put into them is escaped."""
    return Environment(
        loader=PackageLoader("workup.monitor"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )


def parts_of(found: Sequence[Section], *, charts: Sequence[Figure] = ()) -> list[_Part]:
    """Sections as a page shows them, with the charts after the second."""
    parts = [_part(f"part-{place}", section) for place, section in enumerate(found)]
    if charts:
        drawable = drawing.available()
        drawn = tuple(_drawing(f"chart-{place}", chart, drawable) for place, chart in enumerate(charts))
        said = () if drawable else (NO_CHARTS,)
        parts.insert(2, _Part("charts", "Control charts", said, (), (), drawn))
    return parts


def _part(id: str, section: Section) -> _Part:
    return _Part(
        id,
        legible(section.title),
        tuple(map(legible, section.sentences)),
        tuple(_grid(f"{id} {place}", table) for place, table in enumerate(section.tables)),
        tuple(map(legible, section.points)),
    )


def _grid(place: str, table: Table) -> _Grid:
    rows = tuple(tuple(map(legible, row)) for row in table.rows)
    figures = tuple(bool(rows) and all(_FIGURE.match(row[i]) for row in rows) for i in range(len(table.heads)))
    return _Grid(f"Table {place}: {table.caption}", table.caption, table.heads, rows, figures, table.links)


def _drawing(id: str, chart: Figure, drawable: bool) -> _Drawing:
    # The drawing holds shapes and escaped words only, so it may stand in the page as it is.
    svg = Markup(drawing.svg(chart.spec, name=id)) if drawable else Markup("")
    return _Drawing(legible(chart.title), svg, tuple(map(legible, chart.says)))
