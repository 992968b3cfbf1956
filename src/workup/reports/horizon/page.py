"""The page of risks at horizons: figures over the horizons, curves over time, each horizon by itself, follow-up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workup.report import LensResult, Report
from workup.reports.charts.figure import Figure
from workup.reports.estimates import HEADS, rows
from workup.reports.groups import by_group, comparisons
from workup.reports.horizon import curves, followup, over
from workup.reports.horizon.headline import headline
from workup.reports.horizon.setting import at, horizons, primary, short, words
from workup.reports.layout import Section, Table
from workup.reports.page import KeyFigure, Page
from workup.reports.risk import flat, panels
from workup.reports.risk.headline import backwards
from workup.reports.risk.page import RiskPage, benefit_section, calibration_section
from workup.reports.wording import count


class HorizonPage(RiskPage):
    """Risks by one or several horizons."""

    views = "The model over the horizons"

    def narrowed(self, report: Report) -> Report:
        """The primary horizon: the one that lenses are shown at."""
        return at(report, primary(report))

    def headline(self, report: Report) -> Sequence[str]:
        """What the internal lens says of the model, in sentences that need no statistics."""
        return tuple(headline(report)) if "internal" in report.results and horizons(report) else ()

    def overall(self, report: Report, internal: LensResult) -> Iterator[Section]:
        """Every figure at every horizon, the curves over time, each horizon by itself, and who was followed."""
        yield over.section(report, internal)
        yield curves.section(internal)
        for horizon in horizons(report):
            yield _at_one(at(report, horizon), horizon)
        yield from followup.sections(internal)

    def lenses(self, report: Report) -> Iterator[Section]:
        """The lenses at the primary horizon; groups and judged gaps at the others too, so that none is out of sight."""
        named, first = horizons(report), primary(report)
        shown = list(Page.lenses(self, self.narrowed(report)))
        if len(named) < 2:
            yield from shown
            return
        places = [place for place, section in enumerate(shown) if _of_groups(section)]
        if {"sites", "drift"} & set(report.results):
            shown[-1] = replace(shown[-1], points=(*shown[-1].points, _ELSEWHERE))  # the limits
        for place, section in enumerate(shown):
            named_so = place in places or section.key in _FIGURES
            yield replace(section, title=f"{section.title}, by {short(first)}") if named_so else section
            if places and place == places[-1]:
                for horizon in named:
                    yield from _groups_at(report, horizon) if horizon != first else ()

    def of_groups(self, report: Report) -> Iterator[str]:
        """How the judged gaps fell out by each horizon."""
        for horizon in horizons(report):
            for sentence in super().of_groups(at(report, horizon)):
                yield f"By {short(horizon)}: {sentence}"

    def limits(self, report: Report) -> Section:
        """What no figure here can prove."""
        plain = super().limits(report)
        more = (
            "That those who were lost would have fared like those who stayed, alike in what the study names, cannot be "
            "tested by these data.",
            "A risk by a horizon is one in a world with the competing events: where fewer people die of something "
            "else, more will have the event.",
        )
        return replace(plain, points=(*plain.points, *more))

    def size(self, report: Report) -> str:
        """Patients, rows and events."""
        about = report.results["internal"].tables.get("summary") if "internal" in report.results else None
        return Page.size(self, report) + (f", {count(about['events'])} events" if about else "")

    def key_figures(self, report: Report) -> list[KeyFigure]:
        """The figures at the primary horizon, which each of them names."""
        if not horizons(report):
            return Page.key_figures(self, report)
        said = f" by {short(primary(report))}"
        held = super().key_figures(self.narrowed(report))
        return held if backwards(report) else [replace(one, title=one.title + said) for one in held]

    def panels(self, report: Report) -> list[Figure]:
        """Figures over the horizons; with one alone, the four views of it."""
        internal = report.results.get("internal")
        if internal is None:
            return []
        several = over.figures(report, internal)
        return several or panels.panels(self.narrowed(report))

    def figures(self, report: Report, of_lenses: Mapping[str, list[Figure]]) -> dict[str, list[Figure]]:
        """Charts of the lenses, the curves over time, and calibration and decision curve of each horizon."""
        internal = report.results.get("internal")
        found = dict(of_lenses)
        if internal is None:
            return found
        over_time = curves.figure(internal)
        if over_time is not None:
            found["observed-curves"] = [over_time]
        named = horizons(report)
        for horizon in named if len(named) > 1 else ():
            found[f"at-horizon:{horizon}"] = _drawn(at(report, horizon), horizon)
        return found

    def flat(self, report: Report) -> dict[str, Any]:
        """Headline numbers of the primary horizon under familiar names, and which horizon that is."""
        return {"horizon": primary(report), **flat.numbers(self.narrowed(report))}


_ELSEWHERE = "Sites and windows are shown by the primary horizon; the others are in report.json."
# Sections of lenses that show figures of the primary horizon alone.
_FIGURES = (
    *("sites-internal", "sites-each", "sites-pooled", "sites-without", "sites-meaning"),
    *("drift-now", "drift-charts", "drift-fairness", "smallest", "smallest-gaps"),
)


def _of_groups(section: Section) -> bool:
    return section.key.partition(":")[0] in ("by", "gaps", "gaps-open", "omnibus", "largest-gaps", "parity")


def _groups_at(report: Report, horizon: str) -> Iterator[Section]:
    """Every group and the judged gaps by one more horizon; the rest of its comparisons is in the record."""
    result = at(report, horizon).results["subgroups"]
    for section in (*by_group(result, HEADS, rows), *comparisons(result)):
        if section.key.startswith("by:") or section.key == "gaps":
            yield replace(section, title=f"{section.title}, by {short(horizon)}", key=f"{section.key}@{horizon}")


def _at_one(seen: Report, horizon: str) -> Section:
    """Decisions, calibration and net benefit by one horizon."""
    internal = seen.results["internal"]
    said, tables = [], []
    for threshold in panels.thresholds(internal):
        held = [e for e in internal.estimates if dict(e.slice) == {"threshold": threshold} and e.level == 0.95]
        title = f"Decisions at a threshold of {threshold:g} by {horizon}: everyone with that risk or more is flagged"
        tables.append(Table(HEADS, tuple(rows(held)), title, titled=True))
    for part in (calibration_section(internal), benefit_section(internal)):
        said += list(part.sentences)
        tables += [replace(table, titled=True) for table in part.tables]
    if tables:
        said.insert(0, "Of the rows whose outcome by then is known; observed shares are weighted for those lost.")
    band = (internal.tables.get("calibration_curve") or {}).get("band")
    if band:
        said.append(f"Band of the calibration curve: {band}.")
    reason = internal.tables.get("reason")
    if reason:
        said.append(f"Nothing can be drawn by {short(horizon)}: {reason}.")
    return Section(f"By {words(horizon)}", tuple(said), tuple(tables), key=f"at-horizon:{horizon}")


def _drawn(seen: Report, horizon: str) -> list[Figure]:
    wanted = ("calibration", "decision-curve")
    return [
        replace(figure, key=f"{figure.key}-{horizon}", title=f"{figure.title}, by {short(horizon)}")
        for figure in panels.panels(seen)
        if figure.key in wanted
    ]
