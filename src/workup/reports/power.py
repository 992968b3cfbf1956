"""The sample-size report: what was asked and expected, how many patients that takes, and what data at hand show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from workup.report import LensResult, Report
from workup.reports.charts import Figure
from workup.reports.layout import Section, Table
from workup.reports.power_curves import pilot_figures, plan_figures, sound
from workup.reports.power_pilot import pilot
from workup.reports.wording import count, number, percent

Row = Mapping[str, Any]
Rows = Sequence[Row]

TOTAL = "total"
_TESTING = {
    "all-pairs": "every group with every other",
    "versus-reference": "every group with the first",
    "gatekeeper": "all groups together first, then every pair",
}
_ADJUST = {"bonferroni": "Bonferroni", "holm": "Holm", "none": "none"}
_METHODS = {
    "pooled": "pooled z test",
    "unpooled": "unpooled z test",
    "continuity": "pooled z test, continuity-corrected",
    "arcsine": "arcsine",
    "simulated": "simulated procedure",
}
_COUNTED = {
    "positives": "patients with the outcome",
    "negatives": "patients without the outcome",
    "patients": "patients",
    "golds": "independent golds",
    "cases": "cases",
}
_EXPECTED = {
    "p1": "Proportion in the first group",
    "p2": "Proportion in another group",
    "auc1": "AUC, first",
    "auc2": "AUC, other",
    "recall1": "Recall in the first group",
    "recall2": "Recall in the other group",
    "difference": "Difference that matters",
    "prevalence": "Prevalence of the outcome",
    "correlation": "Correlation",
    "cstatistic": "C-statistic",
    "lp_mean": "Linear predictor, mean",
    "lp_sd": "Linear predictor, SD",
    "threshold": "Decision threshold",
    "sensitivity": "Sensitivity at the threshold",
    "specificity": "Specificity at the threshold",
    "parameters": "Candidate parameters",
    "cox_snell": "Cox–Snell R² expected",
    "cox_snell_max": "Largest Cox–Snell R² possible",
    "nagelkerke": "Nagelkerke R² expected",
    "shrinkage": "Shrinkage wanted",
    "bound": "Bound on the leak rate",
    "leak_rate": "True leak rate expected",
    "icc": "Correlation within a document or case (icc)",
    "design_effect": "Design effect",
    "golds_per_document": "Golds in a document",
    "slope": "Slope of recall a turn",
    "start": "Recall at the first turn",
    "turns": "Turns",
    "facts": "Facts in a case",
    "slope_sd": "SD of slopes between cases",
    "live": "Recall, live",
    "oracle": "Recall, oracle",
    "sd": "Spread of one case",
}
_CRITERIA = {
    "oe": "observed / expected",
    "calibration_slope": "calibration slope",
    "auroc": "AUROC",
    "net_benefit": "standardised net benefit",
}


def sections(report: Report) -> list[Section]:
    """A plan, or what the power lens found in the data at hand; nothing where the report holds neither."""
    result = report.results.get("power")
    if result is None:
        return []
    found = list(pilot(result) if result.settings.get("kind") == "pilot" else _plan(result))
    return [section for section in found if section.tables]


def figures(report: Report) -> dict[str, list[Figure]]:
    """Power curves, beside the section that says how many patients are needed."""
    result = report.results.get("power")
    if result is None:
        return {}
    drawn = pilot_figures(result) if result.settings.get("kind") == "pilot" else plan_figures(result)
    return {"power-needed": drawn} if drawn else {}


def _plan(result: LensResult) -> Iterator[Section]:
    settings, tables = result.settings, result.tables
    yield Section(
        "Parameters", tables=(_pairs(_parameters(settings), "Parameters of the plan"),), key="power-parameters"
    )
    said = ("These are assumptions of the plan, not findings. If they turn out otherwise, so does what is needed.",)
    yield Section("What is expected", said, tuple(_expected(settings)), key="power-expected")
    yield _requirement(tables["requirement"], settings)
    yield from _criteria(tables, settings)
    yield from _at_hand(tables, settings)
    yield from _other_ways(tables)
    yield from _comparisons(tables)
    yield Section("Behind the curves", tables=tuple(chart.table for chart in plan_figures(result)), key="power-curve")


def _pairs(rows: Sequence[tuple[str, str]], caption: str) -> Table:
    return Table(("what", "value"), tuple(rows), caption)


def _parameters(settings: Row) -> list[tuple[str, str]]:
    groups = settings.get("groups") or ()
    shown: list[tuple[str, str | None]] = [
        ("Plan", str(settings["kind"])),
        ("Alpha, two-sided", _number(settings, "alpha")),
        ("Power wanted", percent(settings["power"]) if "power" in settings else None),
        ("Level of intervals", percent(settings["level"]) if "level" in settings else None),
        ("Groups", number(len(groups)) if groups else None),
    ]
    if groups and "comparisons" in settings:
        simulated = settings["testing"] == "gatekeeper"
        shown += [
            ("Compared", _TESTING.get(settings["testing"], settings["testing"])),
            ("Comparisons planned", number(settings["comparisons"])),
            ("Correction", _ADJUST.get(settings["adjust"], settings["adjust"])),
            ("Alpha of each comparison", "as Holm goes" if simulated else _plain(settings["alpha_each"])),
            (
                "Others for each patient of the first group",
                None if settings["allocation"] == 1 else _plain(settings["allocation"]),
            ),
        ]
    shown += [
        ("Method", _METHODS.get(settings["method"], settings["method"]) if "method" in settings else None),
        ("Bound by", settings.get("bound_method")),
        ("Sides of the interval", settings.get("sides")),
        ("Chance of success wanted", percent(settings["assurance"]) if "bound" in settings else None),
        ("Counted", _COUNTED[settings["of"]]),
        ("Chance that enough are enrolled", _assurance(settings)),
    ]
    return [(name, value) for name, value in shown if value is not None]


def _number(settings: Row, name: str) -> str | None:
    return None if settings.get(name) is None else _plain(settings[name])


def _assurance(settings: Row) -> str | None:
    by_chance = settings["of"] in ("positives", "negatives") or any(g["share"] for g in settings["groups"])
    if "assurance" not in settings or "bound" in settings or not by_chance:
        return None
    return "about one half (on average)" if settings["assurance"] is None else percent(settings["assurance"])


def _expected(settings: Row) -> Iterator[Table]:
    rows = [(title, _plain(settings[name])) for name, title in _EXPECTED.items() if settings.get(name) is not None]
    widths = settings.get("widths", {})
    rows += [(f"Width wanted: {title}", _plain(widths[name])) for name, title in _CRITERIA.items() if name in widths]
    if rows:
        yield _pairs(rows, "Expected performance and prevalence")
    groups = settings.get("groups") or ()
    if any(group["share"] is not None or group["prevalence"] is not None for group in groups):
        fields = [field for field in ("share", "prevalence") if any(group[field] is not None for group in groups)]
        body = tuple((str(group["name"]), *(_share(group[field]) for field in fields)) for group in groups)
        titles = {"share": "share of patients", "prevalence": "prevalence"}
        yield Table(("group", *(titles[field] for field in fields)), body, "Groups expected")


def _plain(value: float | int) -> str:
    return number(value) if isinstance(value, int) or abs(value) >= 1000 else f"{value:.4g}"


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _requirement(rows: Rows, settings: Row) -> Section:
    shown = [row for row in rows if len(rows) > 2 or row["group"] != TOTAL]
    columns: list[tuple[str, Callable[[Row], str]]] = [("group", lambda row: str(row["group"]))]
    if settings["of"] in ("positives", "negatives"):
        columns.append((f"{_COUNTED[settings['of']]} needed", lambda row: number(row["needed"])))
    columns += [
        (title, _reader(field))
        for title, field in (
            ("patients", "patients"),
            ("enrolled as they come", "enrolled"),
            ("expected with the outcome", "positives"),
            ("expected without", "negatives"),
            ("independent golds", "needed"),
            ("golds", "golds"),
            ("documents", "documents"),
            ("misses allowed", "allowed_misses"),
            ("cases", "cases"),
        )
        if any(row.get(field) is not None for row in shown) and (field != "needed" or settings["of"] == "golds")
    ]
    if any(row.get("reason") for row in shown):
        columns.append(("how", lambda row: f"{row['status']}: {row['reason']}" if row.get("reason") else "ok"))
    body = tuple(tuple(read(row) for _, read in columns) for row in shown)
    table = Table(tuple(title for title, _ in columns), body, "Requirement for each group and in total")
    return Section("How many are needed", tables=(table,), key="power-needed")


def _reader(field: str) -> Callable[[Row], str]:
    return lambda row: "–" if row.get(field) is None else count(round(row[field]))


def _criteria(tables: Mapping[str, Any], settings: Row) -> Iterator[Section]:
    if tables.get("criteria"):
        body = tuple(
            (
                str(row["group"]),
                _CRITERIA[row["criterion"]],
                "–" if row["value"] is None else _plain(row["value"]),
                _plain(row["width"]),
                "–" if row["se"] is None else f"{row['se']:.4f}",
                number(row["patients"]),
                "–" if row["events"] is None else number(round(row["events"])),
                "ok" if row["status"] == "ok" else f"not assessed: {row['reason']}",
            )
            for row in tables["criteria"]
        )
        heads = ("group", "criterion", "value expected", "width", "SE needed", "patients", "events", "how")
        said = "Each criterion by itself; the largest decides. The SE of observed / expected is that of its logarithm."
        made = sound(heads, body, "Patients for each criterion")
        yield Section("Criteria", (said,), (made,), key="power-criteria")
    if tables.get("develop"):
        rows = tuple(
            (str(row["criterion"]), number(row["n"]), f"{row['shrinkage']:.3f}", f"{row['events_per_parameter']:.2f}")
            for row in tables["develop"]
        )
        made = Table(
            ("criterion", "patients", "shrinkage", "events per parameter"), rows, "Patients for each criterion"
        )
        yield Section("Criteria", tables=(made,), key="power-criteria")


def _at_hand(tables: Mapping[str, Any], settings: Row) -> Iterator[Section]:
    reached, smallest = tables.get("reached", ()), tables.get("smallest_difference", ())
    made = []
    if reached:
        made.append(_power_reached(reached))
    if smallest:
        made.append(_smallest_found(smallest))
    counted = "golds" if settings["of"] == "golds" else _COUNTED[settings["of"]]
    where = " in the first group" if reached and reached[0].get("n_other") is not None else ""
    said = f"With {number(settings.get('n'))} {counted}{where} at hand."
    yield Section("What the data at hand can show", (said,), tuple(made), key="power-at-hand")


def _power_reached(rows: Rows) -> Table:
    paired = any(row.get("n_other") is not None for row in rows)
    body = tuple(
        (
            _plain(row["first"]),
            _plain(row["other"]),
            number(row["n_first"]),
            *((number(row.get("n_other")),) if paired else ()),
            percent(row["power"]),
        )
        for row in rows
    )
    sizes = ("first group", "any other group") if paired else ("at hand",)
    return Table(("first", "other", *sizes, "power"), body, "Power reached")


def _smallest_found(rows: Rows) -> Table:
    sided = any("lower" in row for row in rows)
    body = [
        (
            number(row["n_first"]),
            *((number(row["lower"]), number(row["higher"])) if sided else ()),
            number(row["smallest_difference"]),
            str(row["reason"] or "ok"),
        )
        for row in rows
    ]
    sides = ("first group", "if lower", "if higher", "either way") if sided else ("at hand", "smallest effect")
    return sound((*sides, "how"), body, "Smallest difference found with the power wanted")


def _other_ways(tables: Mapping[str, Any]) -> Iterator[Section]:
    rows = tables.get("alternatives", ())
    if len(rows) < 2:
        return
    body = tuple(
        (
            _plain(row["first"]),
            _plain(row["other"]),
            _METHODS.get(row["method"], row["method"]),
            number(row["n_first"]),
            number(row["n_other"]),
            "yes" if row["taken"] else "",
        )
        for row in rows
    )
    said = "The same question in either direction and by other methods, at the same alpha and power"
    simulated = any(row["method"] == "simulated" for row in rows)
    said += "; closed forms beside a simulated answer are at Bonferroni's alpha." if simulated else "."
    heads = ("first", "other", "method", "first group", "any other group", "taken")
    yield Section("Other ways to reckon it", (said,), (Table(heads, body, "Alternatives"),), key="power-alternatives")


def _comparisons(tables: Mapping[str, Any]) -> Iterator[Section]:
    rows = tables.get("comparisons", ())
    if len(rows) > 1:
        body = tuple(
            (str(row["group"]), str(row["against"]), "as Holm goes" if row["alpha"] is None else _plain(row["alpha"]))
            for row in rows
        )
        table = Table(("group", "against", "alpha"), body, "Planned comparisons")
        yield Section("Comparisons planned", tables=(table,), key="power-comparisons")
