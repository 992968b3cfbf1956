"""From the figures a cohort is to show to the cell that shows them. Knows one cell at a time, and no mixture."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from workup.corpora.generate.cohort import planted_truth
from workup.corpora.generate.cohort.planted_truth import REACH, Axis, Cell, densities, normal
from workup.errors import InputError

_DECIMALS = 9  # solved parameters are rounded so that a last-bit difference between machines cannot reach a file
_NARROWEST, _WIDEST = 1e-3, 20.0  # SDs of the true log odds between which an AUROC is searched
_FURTHEST_SHIFT = 4.0  # log odds; an odds ratio of 55 either way
HIGHEST_AUROC = 0.99
_CLIPPED = 13.815510557964274  # log odds of a risk of 1 - 1e-6, beyond which scorers clip


class Target(NamedTuple):
    """What a cell is to show: its prevalence, AUROC, calibration slope and calibration-in-the-large."""

    prevalence: float
    auroc: float
    slope: float
    in_the_large: float


def solve(target: Target, *, where: str) -> Cell:
    """The cell that shows exactly these figures; refused where no normal log odds can.

    The true log odds t are Normal(m, s), with m and s fixed by prevalence and AUROC. The model's are (t - shift)/slope,
    which leaves AUROC, prevalence and slope alone; the shift is fixed by calibration-in-the-large.
    """
    _refuse_impossible(target, where)
    cell = _cell(target)
    if cell is None:
        raise InputError(
            "the AUROC must be one that normal log odds can reach at this prevalence",
            where=where,
            got=f"auroc {target.auroc:g} at prevalence {target.prevalence:g}",
            remedy="move auroc away from 0.5 and from 1, or bring prevalence nearer 0.5",
        )
    _refuse_clipped(cell, where)
    return cell


def _cell(target: Target) -> Cell | None:
    from scipy import optimize, special

    found = _true_log_odds(target.prevalence, target.auroc)
    if found is None:
        return None
    mean, sd = found
    axis = Axis.over(-REACH, REACH, width=min(1.0, 1.5 / sd, 1.5 * target.slope / sd))
    mass = axis.weights * normal(axis.nodes)
    true = mean + sd * axis.nodes

    def surplus(shift: float) -> float:
        """Events the recalibrated risk expects beyond those there are; falls as the shift grows."""
        return float(mass @ special.expit(target.in_the_large + (true - shift) / target.slope)) - target.prevalence

    reach = target.slope * (abs(target.in_the_large) + 40.0 + 4 * sd)
    shift = float(optimize.brentq(surplus, mean - reach, mean + reach, xtol=1e-13))
    rounded = [round(value, _DECIMALS) + 0.0 for value in ((mean - shift) / target.slope, sd / target.slope, shift)]
    return Cell(rounded[0], rounded[1], rounded[2], target.slope)


def _refuse_clipped(cell: Cell, where: str) -> None:
    """Scorers clip risks to [1e-6, 1 - 1e-6] inside a logit; a plan on which that would bend the slope is refused."""
    axis = Axis.of([cell], cuts=(-_CLIPPED, _CLIPPED))
    seen = planted_truth.slope(*densities(cell, axis), axis._replace(nodes=np.clip(axis.nodes, -_CLIPPED, _CLIPPED)))
    if abs(seen - cell.slope) > 1e-4 * cell.slope:
        raise InputError(
            "risks must stay inside 1e-6 to 1 - 1e-6, where scorers clip them, or so nearly that the slope is kept",
            where=where,
            got=f"a slope of {seen:.5g} after clipping where {cell.slope:g} is planted",
            remedy="bring slope nearer 1, lower auroc, or bring prevalence nearer 0.5",
        )


def _refuse_impossible(target: Target, where: str) -> None:
    rules = {
        "prevalence": (0 < target.prevalence < 1, "must lie between 0 and 1"),
        "slope": (target.slope > 0, "must be above 0, because risks rise with the true log odds"),
        "auroc": (
            0.5 < target.auroc <= HIGHEST_AUROC,
            f"must be above 0.5 (a positive slope cannot rank worse than chance) and at most {HIGHEST_AUROC}",
        ),
        "in_the_large": (abs(target.in_the_large) <= 10, "must lie between -10 and 10"),
    }
    for name, (holds, rule) in rules.items():
        if not holds:
            raise InputError(
                f"{name} {rule}",
                where=where,
                got=f"{getattr(target, name):g} after gaps, sites and drift are added",
                remedy=f"change {name} of the plan, or what a gap, the sites or the drift adds to it",
            )


@cache
def _true_log_odds(prevalence: float, auroc: float) -> tuple[float, float] | None:
    """Mean and SD of the true log odds with this prevalence and AUROC, None where there are none."""
    from scipy import optimize, special

    def centre(sd: float) -> float:
        axis = Axis.over(-REACH, REACH, width=min(1.0, 1.5 / sd))
        mass = axis.weights * normal(axis.nodes)
        reach = 40.0 + REACH * sd
        return float(
            optimize.brentq(
                lambda mean: float(mass @ special.expit(mean + sd * axis.nodes)) - prevalence, -reach, reach, xtol=1e-14
            )
        )

    def excess(sd: float) -> float:
        cell = Cell(centre(sd), sd, 0.0, 1.0)
        axis = Axis.of([cell])
        return planted_truth.auroc(*densities(cell, axis), axis) - auroc

    if excess(_WIDEST) < 0 or excess(_NARROWEST) > 0:
        return None
    sd = float(optimize.brentq(excess, _NARROWEST, _WIDEST, xtol=1e-13))
    return centre(sd), sd


def sensitivity(cell: Cell, threshold: float) -> float:
    """Share of the cell's events at or above the threshold."""
    [found] = planted_truth.mixtures([cell], np.ones((1, 1)), thresholds=[threshold])
    return float(found["thresholds"][f"{threshold:g}"]["sensitivity"])


def shift_for_sensitivity(target: Target, wanted: float, *, threshold: float, where: str) -> float:
    """The change of in_the_large with which the target shows the wanted sensitivity, all else held."""
    from scipy import optimize

    solve(target, where=where)

    def shown(shift: float) -> float:
        cell = _cell(target._replace(in_the_large=target.in_the_large + shift))
        assert cell is not None  # a shift leaves prevalence and AUROC alone, and those were just solved
        return sensitivity(cell, threshold)

    most, least = shown(-_FURTHEST_SHIFT), shown(_FURTHEST_SHIFT)
    if not least < wanted < most:
        raise InputError(
            f"the sensitivity at {threshold:g} must be one that shifted risks can reach, {least:.3f} to {most:.3f}",
            where=where,
            got=f"{wanted:.3f}",
            remedy="ask for a smaller gap, or another first threshold",
        )
    shift = optimize.brentq(lambda by: shown(by) - wanted, -_FURTHEST_SHIFT, _FURTHEST_SHIFT, xtol=1e-11)
    return round(float(shift), _DECIMALS)
