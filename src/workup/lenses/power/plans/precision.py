"""A plan without a comparison: patients with which the intervals of a validation are as narrow as wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workup.errors import InputError
from workup.lenses.power.plans.groups import EVERYONE, TOTAL, Group, requirement, resolved
from workup.lenses.power.plans.refusals import refusing
from workup.lenses.power.plans.wording import left_over
from workup.report import LensResult
from workup.stats.sizes import precision
from workup.stats.sizes.proportions import inside

TITLES = {
    "oe": "observed / expected events",
    "calibration_slope": "calibration slope",
    "auroc": "AUROC",
    "net_benefit": "standardised net benefit",
}
_WIDTHS = np.linspace(0.5, 2.0, 16)  # of the widths wanted, over which a curve is drawn
_LARGEST_LP = 20.0  # log odds: a risk of 2e-9


def plan_precision(
    prevalence: float,
    *,
    cstatistic: float | None = None,
    lp_mean: float | None = None,
    lp_sd: float | None = None,
    threshold: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    oe_width: float = 0.2,
    slope_width: float = 0.2,
    auroc_width: float = 0.1,
    net_benefit_width: float = 0.2,
    groups: Sequence[Group] = (),
    level: float = 0.95,
    assurance: float | None = None,
) -> LensResult:
    """Patients with which a validation's intervals are as narrow as wanted, overall and in every group.

    Widths go from end to end. Linear predictors are normal (`lp_mean`, `lp_sd`), or follow from the c-statistic; a
    criterion that what is given cannot decide is listed as not assessed.

    >>> plan = plan_precision(0.1, cstatistic=0.8, lp_mean=-2.5, lp_sd=1.1)
    >>> [(row["criterion"], row["patients"]) for row in plan.tables["criteria"]]
    [('oe', 3469), ('calibration_slope', 4778), ('auroc', 836), ('net_benefit', None)]
    """
    kind = "precision"
    widths = {"oe": oe_width, "calibration_slope": slope_width, "auroc": auroc_width, "net_benefit": net_benefit_width}
    given = {"cstatistic": cstatistic, "lp_mean": lp_mean, "lp_sd": lp_sd, "threshold": threshold}
    given |= {"sensitivity": sensitivity, "specificity": specificity}
    _check(widths, lp_mean, lp_sd)
    named = resolved(groups, prevalence=prevalence, kind=kind) if groups else ()
    everyone = Group(EVERYONE, None, prevalence)
    rows, curve = [], []
    with refusing(kind):
        inside("prevalence", prevalence), inside("level", level)
        for group in (everyone, *named):
            criteria = _criteria(group, prevalence, given, level)
            rows += list(_rows(group, criteria, widths))
            curve += list(_curves(group, criteria, widths)) if group is everyone else []
        planned = named or (everyone,)
        sizes = [max(row["patients"] or 0 for row in rows if row["group"] == one.name) for one in planned]
        needed = requirement(planned, sizes, "patients", assurance=assurance)
    _mark_left_out(needed, rows)
    settings = {
        "kind": kind,
        "prevalence": prevalence,
        **given,
        "lp_prevalence": None if lp_mean is None else precision.normal_information(lp_mean, lp_sd or 0.0).events,
        "widths": widths,
        "level": level,
        "of": "patients",
        "groups": [{"name": g.name, "share": g.share, "prevalence": g.prevalence} for g in named],
        "assurance": assurance,
    }
    tables = {"requirement": needed, "criteria": rows, "curve": curve}
    return LensResult(lens="power", settings=settings, tables=tables, notes=tuple(_precision_words(settings, tables)))


def _check(widths: Mapping[str, float], lp_mean: float | None, lp_sd: float | None) -> None:
    for name, width in widths.items():
        if not (np.isfinite(width) and width > 0):
            raise InputError(f"the width for {TITLES[name]} must be positive", where="plan precision", got=f"{width:g}")
    if (lp_mean is None) != (lp_sd is None):
        raise InputError("give lp_mean and lp_sd together", where="plan precision", got="one of them")
    if lp_mean is not None and lp_sd is not None and not (abs(lp_mean) <= _LARGEST_LP and 0 < lp_sd <= _LARGEST_LP):
        raise InputError(
            f"linear predictors are log odds: their mean lies within {_LARGEST_LP:g} of 0, their SD is above 0 and no "
            f"more than {_LARGEST_LP:g}",
            where="plan precision",
            got=f"{lp_mean:g} and {lp_sd:g}",
        )


def _mark_left_out(needed: Sequence[dict[str, Any]], rows: Sequence[Mapping[str, Any]]) -> None:
    """A group's number that leaves out a criterion which everyone's holds would look like the whole of it."""
    held = {row["criterion"] for row in rows if row["group"] == EVERYONE and row["status"] == "ok"}
    for one in needed:
        missing = [
            TITLES[row["criterion"]]
            for row in rows
            if row["group"] == one["group"] and row["status"] != "ok" and row["criterion"] in held
        ]
        if missing:
            one |= {"status": "insufficient", "reason": f"without the {', '.join(missing)}: not assessed in this group"}


Criterion = Callable[[float], precision.Criterion]


def _criteria(
    group: Group, prevalence: float, given: Mapping[str, float | None], level: float
) -> dict[str, Criterion | str]:
    """How each criterion's size follows from its width in one group, or why it cannot."""
    share, auc = group.prevalence or prevalence, given["cstatistic"]
    # Linear predictors described for everyone are not those of a group in which the outcome is rarer or commoner.
    own = given["lp_mean"] is not None and share == prevalence
    slope: Criterion | str = "give the linear predictors (lp_mean, lp_sd) or a c-statistic"
    if own or auc is not None:
        information = (
            precision.normal_information(float(given["lp_mean"] or 0.0), float(given["lp_sd"] or 0.0))
            if own
            else precision.cstatistic_information(float(auc or 0.0), prevalence=share)
        )

        def slope(width: float) -> precision.Criterion:
            return precision.slope_size(information, width=width, level=level, prevalence=share)

    return {
        "oe": lambda width: precision.oe_size(prevalence=share, width=width, level=level),
        "calibration_slope": slope,
        "auroc": "give a c-statistic"
        if auc is None
        else lambda width: precision.cstatistic_size(auc, prevalence=share, width=width, level=level),
        "net_benefit": _net_benefit(share, given, own=own, level=level),
    }


def _net_benefit(share: float, given: Mapping[str, float | None], *, own: bool, level: float) -> Criterion | str:
    threshold, found = given["threshold"], (given["sensitivity"], given["specificity"])
    if threshold is None:
        return "give a threshold"
    if found == (None, None) and own:
        found = precision.normal_accuracy(
            float(given["lp_mean"] or 0.0), float(given["lp_sd"] or 0.0), threshold=threshold
        )
    sensitivity, specificity = found
    if sensitivity is None or specificity is None:
        return "give sensitivity and specificity at the threshold, or the linear predictors"
    return lambda width: precision.net_benefit_size(
        sensitivity=sensitivity,
        specificity=specificity,
        prevalence=share,
        threshold=threshold,
        width=width,
        level=level,
    )


def _rows(
    group: Group, criteria: Mapping[str, Criterion | str], widths: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    for name, size in criteria.items():
        row: dict[str, Any] = {"group": group.name, "criterion": name, "width": widths[name]}
        if isinstance(size, str):
            empty = dict.fromkeys(("value", "se", "patients", "events"))
            yield row | empty | {"status": "not_assessed", "reason": size}
            continue
        found = size(widths[name])
        sized = {"value": found.value, "se": found.se, "patients": found.patients, "events": found.events}
        yield row | sized | {"status": "ok", "reason": None}


def _curves(
    group: Group, criteria: Mapping[str, Criterion | str], widths: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    """Patients over the width of each interval, relative to the one that is wanted."""
    for name, size in criteria.items():
        if not isinstance(size, str):
            for times in _WIDTHS.tolist():
                if name != "auroc" or widths[name] * times < 1:
                    width = widths[name] * times
                    yield {"criterion": name, "relative": times, "width": width, "n": size(width).patients}


def _precision_words(settings: Mapping[str, Any], tables: Mapping[str, Any]) -> Iterator[str]:
    rows = [row for row in tables["criteria"] if row["group"] == EVERYONE]
    sized = [row for row in rows if row["status"] == "ok"]
    most = max(sized, key=lambda row: row["patients"])
    yield (
        f"For everyone together {most['patients']:,} patients, about {round(most['events']):,} of them with the "
        f"outcome, are needed: the interval of the {TITLES[most['criterion']]} decides."
    )
    for row in sized:
        yield (
            f"{TITLES[row['criterion']][:1].upper()}{TITLES[row['criterion']][1:]}: an interval {row['width']:g} wide "
            f"around {row['value']:.3g} needs {row['patients']:,} patients."
        )
    for row in rows:
        if row["status"] != "ok":
            yield f"The {TITLES[row['criterion']]} was not planned for: {row['reason']}."
    if settings["groups"]:
        total = next(row for row in tables["requirement"] if row["group"] == TOTAL)
        come = f"; enrolled as they come, {total['enrolled']:,}" if total["enrolled"] is not None else ""
        yield f"For intervals as narrow in every group, {total['patients']:,} patients are needed in all{come}."
        yield from left_over(total, settings)
    if settings["groups"] and settings["lp_mean"] is not None:
        yield (
            "Linear predictors were described for everyone: in a group of another prevalence they are taken from the "
            "c-statistic, or the criterion is not assessed there."
        )
    implied = settings["lp_prevalence"]
    if implied is not None and abs(implied - settings["prevalence"]) > 0.1 * settings["prevalence"]:
        yield (
            f"The linear predictors given imply a prevalence of {implied:.3f}, not {settings['prevalence']:g}: check "
            "which of the two is meant."
        )
    yield (
        "The plan takes for granted that the model is calibrated, that prevalence and performance will be as expected "
        "here, and that every patient counts once. At this size an interval is as wide as wanted on average."
    )
