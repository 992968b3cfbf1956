"""What plans for a gap share: the settings they record, plain rows, and sentences that a board can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workup.lenses.power.plans.directions import ByDirection, Sized
from workup.lenses.power.plans.groups import TOTAL, Adjust, Family, Group, Testing
from workup.stats.scales import or_none
from workup.stats.sizes.proportions import Detectable, whole


def recorded(
    groups: Sequence[Group],
    family: Family,
    alpha: float,
    power: float,
    allocation: float,
    testing: Testing,
    adjust: Adjust,
    n: int | None,
    assurance: float | None,
) -> dict[str, Any]:
    """The settings that every plan for a gap holds."""
    return {
        "alpha": alpha,
        "power": power,
        "groups": [{"name": g.name, "share": g.share, "prevalence": g.prevalence} for g in groups],
        "comparisons": len(family.pairs),
        "alpha_each": family.alpha_each,
        "allocation": allocation,
        "testing": testing,
        "adjust": "holm" if testing == "gatekeeper" else adjust,
        "n": n,
        "assurance": assurance,
    }


def alternative(direction: str, first: float, one: Sized, method: str, taken: bool) -> dict[str, Any]:
    """One way to reckon the size, and whether it is the one that was taken."""
    return {
        "direction": direction,
        "first": first,
        "other": one.other,
        "method": method,
        "n_first": whole(one.first),
        "n_other": whole(one.second),
        "taken": taken,
    }


def at_hand(
    plans: ByDirection,
    n: int,
    allocation: float,
    first: float,
    reached: Callable[[float, float], float],
    smallest: Detectable,
) -> dict[str, list[dict[str, Any]]]:
    """What the rows at hand reach: power for every direction, and the smallest gap they show."""
    sizes = {"n_first": n, "n_other": whole(n * allocation)}
    return {
        "reached": [
            {"direction": name, "first": first, "other": one.other, **sizes, "power": reached(one.other, n)}
            for name, one in plans.each.items()
        ],
        "smallest_difference": [smallest_row(sizes, first, smallest)],
    }


def smallest_row(sizes: Mapping[str, int], first: float, smallest: Detectable) -> dict[str, Any]:
    """The smallest gap that so many rows show, either way; null with its reason where they show none."""
    return {
        **sizes,
        "first": first,
        "lower": or_none(smallest.down),
        "higher": or_none(smallest.up),
        "smallest_difference": or_none(smallest.value),
        "status": "ok" if np.isfinite(smallest.value) else "undefined",
        "reason": "; ".join(smallest.reasons) or None,
    }


def sentences(
    plans: ByDirection, settings: Mapping[str, Any], tables: Mapping[str, Any], *, words: str, what: str
) -> Iterator[str]:
    """The plan in words: what is needed, why, and what it takes for granted."""
    needed, first = plans.needed, settings["p1" if settings["kind"] == "proportions" else "auc1"]
    yield (
        f"To tell {what} {first:g} from one of {needed.other:g} with {settings['power']:.0%} power, "
        f"{_who_needs(tables['requirement'], settings, words)}."
    )
    yield from _directions(plans)
    yield from _enrolment(tables["requirement"], settings)
    yield from _family(settings)
    yield from _reached(tables, settings, words)
    yield _assumed(settings)


def _who_needs(rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], words: str) -> str:
    sizes = {row["group"]: row["needed"] for row in rows if row["group"] != TOTAL}
    most = max(sizes.values())
    if settings.get("correlation") is not None:
        return f"{most:,} patients are needed, who are scored by both models"
    if len(set(sizes.values())) == 1:
        return f"each of the {len(sizes)} groups needs {most:,} {words}"
    if len(sizes) > 6:
        return f"the {len(sizes)} groups need up to {most:,} {words} each"
    return f"the groups need {', '.join(f'{n:,} ({group})' for group, n in sizes.items())} {words}"


def _directions(plans: ByDirection) -> Iterator[str]:
    if set(plans.each) == {"lower", "higher"}:
        each = " and ".join(f"{one.other:g} asks for {whole(one.first):,}" for one in plans.each.values())
        yield f"Whether the other group is lower or higher is not known: {each} in a group, and the larger is taken."
    for reason in plans.not_possible:
        side, _, why = reason.partition(": ")
        name = "lower" if side == "down" else "higher"
        yield f"Only one direction is planned: the other group cannot be {name}, since {why}."


def _enrolment(rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> Iterator[str]:
    total = next(row for row in rows if row["group"] == TOTAL)
    if total["patients"] is None:
        yield f"How many patients that is cannot be said: {total['reason']}."
        return
    held = "" if total["positives"] is None else f", about {round(total['positives']):,} of them with the outcome,"
    if total["enrolled"] is not None:
        yield (
            f"Enrolled as they come, {total['enrolled']:,} patients{held} are needed before every group has its "
            f"number; the rarest decides. Recruited group by group, {total['patients']:,} are enough."
        )
    elif settings["of"] != "patients" or len(rows) > 2:
        yield f"That is {total['patients']:,} patients in all{held.rstrip(',')}."
    yield from left_over(total, settings)
    if settings["of"] != "patients" or total["enrolled"] is not None:
        chance = settings["assurance"]
        often = (
            "on average, so about one study in two will fall a little short"
            if chance is None
            else f"with {chance:.0%} probability for each group"
        )
        yield f"So many patients hold the number needed {often}."


def left_over(total: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[str]:
    """Shares that do not add to 1 leave patients who are enrolled and belong to no group of the plan."""
    rest = 1 - sum(group["share"] or 0.0 for group in settings["groups"])
    if total["enrolled"] is not None and rest > 1e-9:
        yield f"{rest:.1%} of those enrolled are in none of these groups; their outcomes are not counted above."


def _family(settings: Mapping[str, Any]) -> Iterator[str]:
    m, alpha = settings["comparisons"], settings["alpha"]
    if settings["testing"] == "gatekeeper":
        yield (
            f"A test of all groups at {alpha:g} must reject before the {m} pairs are tested by Holm. The power stated "
            "is that of the pair found least often when one group is apart from all others, by 10,000 simulated "
            "studies (standard error about 0.004)."
        )
    elif m > 1 and settings["adjust"] != "none":
        yield (
            f"{m} comparisons are planned, so each is made at an alpha of {settings['alpha_each']:.4g} to keep the "
            f"chance of any false gap at {alpha:g}."
            + (
                " Holm tests no comparison at less, so it has at least this power."
                if settings["adjust"] == "holm"
                else ""
            )
        )
    elif m > 1:
        yield (
            f"{m} comparisons are planned, each at an alpha of {alpha:g} with no correction: the chance of at least "
            f"one false gap is up to {min(1.0, m * alpha):.0%}."
        )


def _reached(tables: Mapping[str, Any], settings: Mapping[str, Any], words: str) -> Iterator[str]:
    if settings["n"] is None:
        return
    first, sure = tables["reached"][0], f"{settings['power']:.0%} power"
    here = f"{first['n_first']:,} {words}"
    if settings.get("correlation") is None:
        here += (
            " in each group"
            if first["n_first"] == first["n_other"]
            else f" in the first group, {first['n_other']:,} in others"
        )
    others = " and ".join(f"{row['other']:g} with a power of {row['power']:.0%}" for row in tables["reached"])
    yield f"With {here} at hand, {first['first']:g} would be told from {others}."
    [row] = tables["smallest_difference"]
    least = [f"{row[side]:.3f} where the other is {side}" for side in ("lower", "higher") if row[side] is not None]
    yield (
        f"The smallest gap they find with {sure} is {' and '.join(least)}."
        if least
        else "They find no gap, however large."
    )
    for side in ("lower", "higher"):
        if row[side] is None and least:
            yield f"Where the other is {side} they find no gap with that power, however large."


def _assumed(settings: Mapping[str, Any]) -> str:
    expected = "proportions" if settings["kind"] == "proportions" else "AUCs"
    rates = (settings["prevalence"], *(group["prevalence"] for group in settings["groups"]))
    known = " and the prevalence" if any(rate is not None for rate in rates) else ""
    return (
        f"The plan takes for granted that the {expected}{known} will be as expected here, and that every patient "
        "counts once; where patients have several rows, a pilot's spread (the power lens) is the better ground."
    )
