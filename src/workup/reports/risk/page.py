"""The page of a risk model: discrimination, calibration, decisions at thresholds, and what each would mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workup.report import Estimate, LensResult, Report
from workup.reports.charts.figure import Figure, find
from workup.reports.estimates import HEADS, rows
from workup.reports.layout import Section, Table
from workup.reports.page import KeyFigure, Page, key_figure
from workup.reports.risk import flat, sweeps
from workup.reports.risk.headline import backwards, headline
from workup.reports.risk.panels import benefit_table, chance_words, decision_rows, ends_table, panels
from workup.reports.wording import at_threshold, number, p_value, signed, slice_name

MONTE_CARLO = (
    "The optimism is a mean over refits and has an error of its own, which more refits make smaller. It should be "
    "below a tenth of the standard error of the value."
)


class RiskPage(Page):
    """Risk-prediction models."""

    noun = "rows"

    def headline(self, report: Report) -> Sequence[str]:
        """What the internal lens says of the model, in sentences that need no statistics."""
        return tuple(headline(report)) if "internal" in report.results else ()

    def overall(self, report: Report, internal: LensResult) -> Iterator[Section]:
        """Figures of everyone, decisions at every threshold, refits, and the figures behind the panels."""

        def of(section: str) -> list[str]:
            held = [name for name, card in report.metrics.items() if card["section"] == section]
            return sorted(held, key=lambda name: report.metrics[name]["order"])

        yield _overall(internal, of("overall"))
        yield from _decisions(internal, of("decisions"))
        yield from _corrected(internal, report.shown("groups"))
        yield calibration_section(internal)
        yield benefit_section(internal)

    def lenses(self, report: Report) -> Iterator[Section]:
        """What each threshold would mean, then the lenses."""
        yield from sweeps.sections(report)
        yield from super().lenses(report)

    def limits(self, report: Report) -> Section:
        """What no figure here can prove."""
        plain = super().limits(report)
        more = (
            "A model that was fitted on these patients looks better here than it is; refit it or test it elsewhere.",
            "If clinicians acted on the risks, outcomes changed with them, and no figure here is the untreated truth.",
        )
        return replace(plain, points=(*plain.points, *more))

    def size(self, report: Report) -> str:
        """Patients, rows and events."""
        about = report.results["internal"].tables.get("summary") if "internal" in report.results else None
        return super().size(report) + (f", {number(about['events'])} events" if about else "")

    def key_figures(self, report: Report) -> list[KeyFigure]:
        """Where risks run backwards, calibration and sensitivity would mislead at a glance."""
        internal = report.results.get("internal")
        if internal is None or not backwards(report):
            return super().key_figures(report)
        auroc = find(internal, "auroc", {})
        return [] if auroc is None else [replace(key_figure(auroc), title="AUROC: the risks run backwards")]

    def panels(self, report: Report) -> list[Figure]:
        """Four views of the model."""
        return panels(report)

    def figures(self, report: Report, of_lenses: Mapping[str, list[Figure]]) -> dict[str, list[Figure]]:
        """Charts of the lenses, and of the thresholds."""
        return {**of_lenses, **sweeps.figures(report)}

    def flat(self, report: Report) -> dict[str, Any]:
        """Headline numbers under familiar names."""
        return flat.numbers(report)


def _plain(estimates: Iterable[Estimate], names: Sequence[str], level: float) -> list[Estimate]:
    held = [e for e in estimates if e.metric in names and e.level == level]
    return sorted(held, key=lambda e: names.index(e.metric))


def _overall(result: LensResult, names: Sequence[str]) -> Section:
    sub = []
    for level in sorted({e.level for e in result.estimates}, reverse=True):
        held = _plain([e for e in result.estimates if not e.slice], names, level)
        if held:
            heads = (HEADS[0], HEADS[1], f"{level:.0%} interval", *HEADS[3:])
            shown = _with_company(result, zip(held, rows(held), strict=True), level)
            sub.append(Table(heads, tuple(shown), f"All patients together, {level:.0%} intervals"))
    return Section("Overall", tables=(*sub, *_calibration_tests(result)), key="overall")


def _calibration_tests(result: LensResult) -> Iterator[Table]:
    """Tests, whose statistic has a p value and no interval."""
    body = tuple(
        (
            str(row["test"]),
            "–" if row["z"] is None else signed(row["z"]),
            p_value(row["p"]),
            number(row["n_patients"]),
            number(row["n_events"]),
            str(row["reason"] or row["method"]),
        )
        for row in result.tables.get("calibration_tests", ())
    )
    if body:
        heads = ("test", "z", "p", "patients", "events", "how")
        caption = "Test that every risk is right: a small p refutes it, a large one proves nothing"
        yield Table(heads, body, caption, titled=True)


def _with_company(
    result: LensResult, held: Iterable[tuple[Estimate, tuple[str, ...]]], level: float
) -> Iterator[tuple[str, ...]]:
    """Figures that would mislead alone, with what must stand beside them."""
    without = result.tables.get("slope_without_ends")
    chance = (result.tables.get("calibration_curve") or {}).get("by_chance")
    for e, row in held:
        yield row
        if e.metric == "calibration_slope" and without and level == 0.95:
            [(_, *rest)] = rows([Estimate(**without["without"])])
            yield (f"{row[0]} without risks of 0 or 1", *rest)
        if e.metric == "ici" and chance and level == 0.95:
            mean, most = chance["ici"]["mean"], number(chance["ici"]["p95"])
            how = f"outcomes drawn from the risks {chance['draws']} times; 95th percentile {most}"
            yield (f"{row[0]} expected by chance", number(mean), "–", *row[3:5], "", how)


def _decisions(result: LensResult, names: Sequence[str]) -> Iterator[Section]:
    thresholds = sorted({e.slice["threshold"] for e in result.estimates if set(e.slice) == {"threshold"}})
    for threshold in thresholds:
        held = [e for e in result.estimates if dict(e.slice) == {"threshold": threshold}]
        found = _plain(held, names, 0.95)
        said = (f"Everyone with a risk of {threshold:g} or more is flagged.",)
        title = f"Decisions at a threshold of {threshold:g}"
        yield Section(title, said, (Table(HEADS, tuple(rows(found)), title),), key=f"decisions:{threshold:g}")


def _corrected(result: LensResult, names: Sequence[str]) -> Iterator[Section]:
    kinds = dict.fromkeys(str(e.slice["validation"]) for e in result.estimates if "validation" in e.slice)
    for kind in kinds:
        held = [e for e in result.estimates if e.slice.get("validation") == kind and e.level == 0.95]
        shown = [e for e in held if e.metric in names]
        table = Table(
            ("where", *HEADS),
            tuple(
                (slice_name({k: v for k, v in e.slice.items() if k != "validation"}), *row)
                for e, row in zip(shown, rows(shown), strict=True)
            ),
            f"Refitted: {kind}",
        )
        more = _monte_carlo(result, names) if kind == "optimism-corrected" else ()
        said = (MONTE_CARLO,) if more else ()
        yield Section(f"Refitted: {kind}", said, (table, *more), key=f"refitted:{kind}")


def _monte_carlo(result: LensResult, names: Sequence[str]) -> tuple[Table, ...]:
    """Optimism with the error that the number of refits leaves in it."""
    rows = tuple(
        (
            at_threshold(row["metric"], row["slice"]),
            number(row["apparent"]),
            signed(row["optimism"]),
            number(row["monte_carlo_se"]),
            number(row["corrected"]),
            number(row["se"]),
            number(row["refits"]),
            f"about {row['refits_needed']:,} refits" if row["refits_needed"] else "enough" if row["se"] else "–",
        )
        for row in result.tables.get("optimism", ())
        if row["metric"] in names
    )
    heads = ("metric", "apparent", "optimism", "Monte-Carlo SE", "corrected", "SE of the value", "refits", "needed")
    return (Table(heads, rows, "Optimism and its Monte-Carlo error", titled=True),) if rows else ()


def calibration_section(result: LensResult) -> Section:
    """Tenths of the rows by risk; empty where there is no curve."""
    curve = result.tables.get("calibration_curve")
    if not curve:
        return Section("Calibration")
    rows = tuple(
        (str(i + 1), number(r["n"]), number(r["risk"]), number(r["observed"])) for i, r in enumerate(curve["rug"])
    )
    said = (
        "Rows in tenths by risk, equal risks together. The curve is a restricted cubic spline; its points and band are "
        "in report.json.",
    )
    tables = [Table(("tenth", "rows", "mean risk", "observed"), rows, "Mean risk and observed share in tenths by risk")]
    if curve.get("ends"):
        tables.append(ends_table(curve["ends"]))
    return Section("Calibration", (*said, *chance_words(result)), tuple(tables), key="calibration")


def benefit_section(result: LensResult) -> Section:
    """Net benefit at some thresholds; empty where there is no curve."""
    curve = decision_rows(result)
    if not curve:
        return Section("Decision curve")
    shown = [row for row in curve if round(row["threshold"] * 100) % 5 == 0 and row["threshold"] <= 0.5]
    said = [
        "Net benefit per row of treating by the model, of treating everyone and of treating no one (0). What the model "
        "gains over treating no one is its net benefit itself."
    ]
    if any(row.get("low") is not None for row in shown):
        said.append("95 % intervals are pointwise, each threshold by itself.")
    said += sorted({str(row["reason"]).partition(": ")[2] for row in shown if row.get("reason")})
    return Section("Decision curve", tuple(said), (benefit_table(shown),), key="decision-curve")
