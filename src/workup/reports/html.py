"""Report → one HTML file that a hospital board can read: no outside request, and nothing in a record can act.

Charts are static SVG drawn when the page is made, so they need no script, print as they stand and follow the dark
theme through the style sheet. The one script sorts tables; the page allows that script by its hash and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import zip_longest
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from workup.errors import visible
from workup.report import Report
from workup.reports.charts import drawing
from workup.reports.charts.figure import Figure
from workup.reports.layout import Section, Table
from workup.reports.page import KeyFigure, Page, key_figures, page_of
from workup.reports.sections import HOLDS_TEXT, figures, kind, sections
from workup.reports.wording import drawn, rule_words

NO_CHARTS = (
    "Charts are left out because the library vl-convert-python is not installed (extra 'report'); "
    "the figures behind them stand in tables instead."
)
_IN_CHARTS = ("calibration", "decision-curve", "power-curve")  # sections whose table stands behind a chart
# Sections that stay, with their table behind the chart.
_BEHIND = ("curve", "confusion", "recall-turns", "gap-turns", "outcome-turns", "losses")
_NARROW = ("corpus", "misses", "alarms")  # sections of narrow tables
ON_PAPER = 6  # documents of the viewer that are printed
# Longer tables are printed as lines of type of one width, with a rule after every fifth: each cell of a table costs the
# printer's layout a millisecond or two, and a report of five lenses has tens of thousands of them.
_ROWS_IN_CELLS, _LINE, _RULED = 30, 118, 5
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
_LONG_WORD = re.compile(r"\S{26}")  # wider than a column should be: the only cells in which a word may be cut
_FIGURE = re.compile(r"^[<+-]?[\d.,]+(e-?\d+)?( ?%)?$|^–$|^$")
_PAIR = re.compile(r"^[+-]?[\d.,e-]+( to |/)[+-]?[\d.,e-]+$|^–$|^$")
FOLDED = {
    "types-leaf": "Every type, where the type must be right",
    "types-branch": "Every branch of types",
    "severity": "The weights",
    "documents": "List of the documents",
    "curves-by": "Some points of the curves of every group",
    "at-horizon": "Decisions, calibration in tenths and net benefit by this horizon",
    "observed-curves": "Figures of the curves, and those at risk",
}
LONGEST = 300  # letters of one name that a page shows


@dataclass(frozen=True)
class Verdict:
    """How an outcome looks: a word and a sign beside the colour, which is never alone."""

    word: str
    tone: str
    sign: str


VERDICTS = {
    "pass": Verdict("pass", "good", "✓"),
    "fail": Verdict("fail", "bad", "✗"),
    "unsure": Verdict("unsure", "unsure", "?"),
    "not assessed": Verdict("not assessed", "none", "–"),
    "within": Verdict("within", "good", "✓"),
    "disparity": Verdict("disparity", "bad", "✗"),
    "inconclusive": Verdict("inconclusive", "unsure", "?"),
    "adequate": Verdict("adequate", "good", "✓"),
    "inadequate": Verdict("inadequate", "bad", "✗"),
    # Tested is no verdict on the result, so it is not green; what was not tested stands out.
    "tested": Verdict("tested", "none", "•"),
    "not tested": Verdict("not tested", "unsure", "?"),
}


@dataclass(frozen=True)
class Grid:
    """A table with what the page needs to know of each column."""

    label: str
    caption: str
    heads: tuple[str, ...]
    kinds: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[str, ...] = ()

    def as_lines(self) -> tuple[Lines, ...]:
        """Heads and rows as lines of one width, numbers to the right; none where cells serve better on paper."""
        if len(self.rows) <= _ROWS_IN_CELLS or not any(self.heads):
            return ()
        judged = "verdict" in self.kinds
        table = [self.heads, *(tuple(map(_signed, row, self.kinds)) for row in self.rows)]
        widths = [max(len(row[i]) for row in table) for i in range(len(self.heads))]
        below = _too_wide(widths) and self.kinds[-1].startswith(("words", "reason"))
        if below:  # the last column, of words, has a line of its own
            widths.pop()
        while _too_wide(widths) and max(widths) > 10:
            widths[widths.index(max(widths))] -= 1  # the widest column gives way, and its words go on below
        heads, *rows = (_line(row, widths, self.kinds, below=below) for row in table)
        if judged:
            place = self.kinds.index("verdict")
            tones = [VERDICTS[row[place]].tone if row[place] in VERDICTS else "" for row in self.rows]
            return Lines(heads), *map(Lines, rows, tones)
        return Lines(heads), *(Lines("\n".join(rows[i : i + _RULED])) for i in range(0, len(rows), _RULED))


@dataclass(frozen=True)
class Lines:
    """Rows of a table as type of one width, between two rules; in the tone of the verdict where there is one."""

    text: str
    tone: str = ""


def _signed(cell: str, kind: str) -> str:
    return f"{VERDICTS[cell].sign} {cell}" if kind == "verdict" and cell in VERDICTS else cell


def _too_wide(widths: Sequence[int]) -> bool:
    return sum(widths) + 2 * (len(widths) - 1) > _LINE


def _line(row: Sequence[str], widths: Sequence[int], kinds: Sequence[str], *, below: bool) -> str:
    cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=not below)]
    lines = []
    for parts in zip_longest(*cells, fillvalue=""):
        placed = [
            part.rjust(width) if kind == "num" else part.ljust(width)
            for part, width, kind in zip(parts, widths, kinds, strict=not below)
        ]
        lines.append("  ".join(placed).rstrip())
    if below:
        lines += textwrap.wrap(row[-1], _LINE, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


@dataclass(frozen=True)
class Drawn:
    """A chart on the page; an empty `svg` where charts cannot be drawn."""

    id: str
    title: str
    svg: Markup
    says: tuple[str, ...]
    grid: Grid
    wide: bool = False


@dataclass(frozen=True)
class Part:
    """One titled part of the page."""

    id: str
    key: str
    title: str
    sentences: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    figures: tuple[Drawn, ...] = ()
    record: tuple[tuple[str, str], ...] = ()
    folded: str = ""
    documents: tuple[Any, ...] = ()
    all_documents: int = 0
    side_by_side: bool = False


@dataclass
class _Names:
    """Labels of scrolling regions must differ, and groups may share a name with each other or with a part."""

    used: Counter[str] = field(default_factory=Counter)

    def fresh(self, label: str) -> str:
        self.used[label] += 1
        return label if self.used[label] == 1 else f"{label} ({self.used[label]})"


@drawn
def render(report: Report, *, interactive: bool = True) -> str:
    """The whole report as one HTML file; without `interactive` there is no script at all, as for printing."""
    page = page_of(report)
    shown = page.documents(report)
    style = "".join(asset(f"static/{name}") for name in ("report.css", *page.styles))
    style += asset("static/patient_text.css") if report.contains_phi else ""
    script = asset("static/sort.js") + (asset("static/viewer.js") if shown else "") if interactive else ""
    header, *rest = sections(report)
    environment = Environment(
        loader=PackageLoader("workup.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    tally = Counter(verdict.outcome.replace("_", " ") for verdict in report.verdicts)
    study = legible(str(report.study.get("name", "")))
    system, corpus = (legible(str(part.get("name", ""))) for part in (report.system, report.corpus))
    return environment.get_template("report.html").render(
        policy=policy(style, script),
        style=Markup(style),
        script=Markup(script),
        title=f"{study}: {kind(report).lower()}",
        study=study,
        system=system,
        corpus=corpus,
        kind=kind(report),
        planned=not page.judged,
        facts=" · ".join(filter(None, (_size(report, page), f"as of {legible(report.as_of)}" if report.as_of else ""))),
        more_facts=legible(page.facts(report)),
        alarms=[legible(sentence) for sentence in header.sentences],
        phi=HOLDS_TEXT if report.contains_phi else "",
        marks=list(page.marks),
        on_paper=ON_PAPER,
        tally=[(VERDICTS[word], tally[word]) for word in VERDICTS if tally[word]],
        cards=[_legible(one) for one in key_figures(report)],
        interactive=interactive,
        words=_isolated if interactive else _printed,
        parts=list(_parts(report, page, header, rest, shown if interactive else shown[:ON_PAPER], len(shown))),
        verdicts=VERDICTS,
        sha256=report.sha256,
    )


def _size(report: Report, page: Page) -> str:
    """How much was tested; nothing for a plan."""
    return page.size(report) if report.corpus["n_cases"] else ""


def _legible(figure: KeyFigure) -> KeyFigure:
    return KeyFigure(legible(figure.title), legible(figure.value), legible(figure.ends))


def _parts(
    report: Report, page: Page, header: Section, rest: Sequence[Section], shown: Sequence[Any], documents: int
) -> Iterator[Part]:
    names, drawable = _Names(), drawing.available()
    beside = figures(report)
    for i, section in enumerate(rest):
        if section.key in _IN_CHARTS:
            continue
        part = _part(f"part-{i}", section, beside.get(section.key, []), names, drawable)
        viewed = section.key == "documents"
        yield replace(part, documents=tuple(shown), all_documents=documents) if viewed else part
        if section.key == "gates":
            yield from _panels(page.panels(report), page.views, names, drawable)
    record = tuple((name, legible(value)) for name, value in header.tables[0].rows)
    yield Part("part-record", "record", "The record", record=record)


def _panels(charts: Sequence[Figure], title: str, names: _Names, drawable: bool) -> Iterator[Part]:
    if charts:
        said = () if drawable else (NO_CHARTS,)
        figures = tuple(_figure(f"panel-{i}", chart, names, drawable) for i, chart in enumerate(charts))
        yield Part("part-panels", "panels", title, sentences=said, figures=figures)


def _part(id: str, section: Section, charts: Sequence[Figure], names: _Names, drawable: bool) -> Part:
    folded = {"by": "Every figure of every group", "gaps-open": "Gaps that are described and not judged", **FOLDED}
    tables = () if charts and section.key in _BEHIND else section.tables
    return Part(
        id,
        section.key,
        legible(section.title),
        sentences=tuple(map(legible, section.sentences)),
        points=tuple(map(legible, section.points)),
        grids=tuple(_grid(_in_words(table), names) for table in tables),
        figures=tuple(_figure(f"{id}-{j}", chart, names, drawable) for j, chart in enumerate(charts)),
        folded=folded.get(section.key.partition(":")[0], ""),
        side_by_side=section.key in _NARROW,
    )


def _in_words(table: Table) -> Table:
    """Gates with what they ask in words beside the rule, the worst first."""
    if table.heads != ("outcome", "rule", "reason"):
        return table
    worst = ("fail", "unsure", "not assessed", "pass")
    rows = sorted(table.rows, key=lambda row: worst.index(row[0]) if row[0] in worst else 0)
    asked = tuple((outcome, rule_words(rule), reason, rule) for outcome, rule, reason in rows)
    return Table(("outcome", "what was asked", "reason", "rule"), asked, table.caption)


def _figure(id: str, chart: Figure, names: _Names, drawable: bool) -> Drawn:
    # The drawing holds shapes and escaped words only (see drawing.py), so it may stand in the page as it is.
    svg = Markup(drawing.svg(chart.spec, name=id)) if drawable else Markup("")
    grid = _grid(chart.table, names)
    return Drawn(id, legible(chart.title), svg, tuple(map(legible, chart.says)), grid, chart.wide)


def _grid(table: Table, names: _Names) -> Grid:
    rows = tuple(tuple(legible(cell.replace("not_assessed", "not assessed")) for cell in row) for row in table.rows)
    heads = tuple(legible(head) for head in table.heads)
    kinds = tuple(_kind(head, [row[i] for row in rows]) for i, head in enumerate(heads))
    caption = legible(table.caption)
    return Grid(names.fresh(f"Table: {caption[:80]}"), caption, heads, kinds, rows, table.links)


def _kind(head: str, cells: Sequence[str]) -> str:
    if head in ("outcome", "verdict", "coverage") and all(cell in VERDICTS or cell == "–" for cell in cells):
        return "verdict"
    if all(_FIGURE.match(cell) for cell in cells) or all(_PAIR.match(cell) for cell in cells):
        return "num"
    kind = "reason" if head in ("how", "reason", "status") else "words"
    if any(_LONG_WORD.search(cell) for cell in (head, *cells)):
        return f"{kind} long"
    return f"{kind} short" if all(len(cell) <= 26 for cell in cells) else kind


def _isolated(text: str) -> Markup:
    """Words of others, whose direction must not turn what stands beside them."""
    return Markup("<bdi>{}</bdi>").format(text)


def _printed(text: str) -> Markup:
    """The same for paper, where an element that changes nothing is left out."""
    return _isolated(text) if _RIGHT_TO_LEFT.search(text) else escape(text)


def legible(text: str) -> str:
    """Control and bidirectional characters made visible, and a name that never ends cut."""
    shown = visible(text)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}… ({len(shown):,} letters)"


def asset(name: str) -> str:
    """A file of this package, as text."""
    return (resources.files("workup.reports") / name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """Nothing may be fetched, framed, sent or run but the style sheet and the script that stand in the page."""

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    scripts = digest(script) if script else "'none'"
    return f"default-src 'none'; style-src {digest(style)}; script-src {scripts}; base-uri 'none'; form-action 'none'"
