"""What a plan was asked and what it expects, as two tables of the sample-size report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.reports.layout import Table
from workup.reports.wording import number, percent

Row = Mapping[str, Any]

_TESTING = {
    "all-pairs": "every group with every other",
    "versus-reference": "every group with the first",
    "gatekeeper": "all groups together first, then every pair",
}
_ADJUST = {"bonferroni": "Bonferroni", "holm": "Holm", "none": "none"}
METHODS = {
    "pooled": "pooled z test",
    "unpooled": "unpooled z test",
    "continuity": "pooled z test, continuity-corrected",
    "arcsine": "arcsine",
    "simulated": "simulated procedure",
}
COUNTED = {
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
CRITERIA = {
    "oe": "observed / expected",
    "calibration_slope": "calibration slope",
    "auroc": "AUROC",
    "net_benefit": "standardised net benefit",
}


def _pairs(rows: Sequence[tuple[str, str]], caption: str) -> Table:
    return Table(("what", "value"), tuple(rows), caption)


def parameters(settings: Row) -> Table:
    """Alpha, power, groups, comparisons and how they are tested."""
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
            ("Alpha of each comparison", "as Holm goes" if simulated else plain(settings["alpha_each"])),
            (
                "Others for each patient of the first group",
                None if settings["allocation"] == 1 else plain(settings["allocation"]),
            ),
        ]
    shown += [
        ("Method", METHODS.get(settings["method"], settings["method"]) if "method" in settings else None),
        ("Bound by", settings.get("bound_method")),
        ("Sides of the interval", settings.get("sides")),
        ("Chance of success wanted", percent(settings["assurance"]) if "bound" in settings else None),
        ("Counted", COUNTED[settings["of"]]),
        ("Chance that enough are enrolled", _assurance(settings)),
    ]
    return _pairs([(name, value) for name, value in shown if value is not None], "Parameters of the plan")


def _number(settings: Row, name: str) -> str | None:
    return None if settings.get(name) is None else plain(settings[name])


def _assurance(settings: Row) -> str | None:
    by_chance = settings["of"] in ("positives", "negatives") or any(g["share"] for g in settings["groups"])
    if "assurance" not in settings or "bound" in settings or not by_chance:
        return None
    return "about one half (on average)" if settings["assurance"] is None else percent(settings["assurance"])


def expected(settings: Row) -> Iterator[Table]:
    """Performance, prevalence and groups that the plan takes for granted."""
    rows = [(title, plain(settings[name])) for name, title in _EXPECTED.items() if settings.get(name) is not None]
    widths = settings.get("widths", {})
    rows += [(f"Width wanted: {title}", plain(widths[name])) for name, title in CRITERIA.items() if name in widths]
    if rows:
        yield _pairs(rows, "Expected performance and prevalence")
    groups = settings.get("groups") or ()
    if any(group["share"] is not None or group["prevalence"] is not None for group in groups):
        fields = [field for field in ("share", "prevalence") if any(group[field] is not None for group in groups)]
        body = tuple((str(group["name"]), *(_share(group[field]) for field in fields)) for group in groups)
        titles = {"share": "share of patients", "prevalence": "prevalence"}
        yield Table(("group", *(titles[field] for field in fields)), body, "Groups expected")


def plain(value: float | int) -> str:
    """A number as it was given, to four digits."""
    return number(value) if isinstance(value, int) or abs(value) >= 1000 else f"{value:.4g}"


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)
