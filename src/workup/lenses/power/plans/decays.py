"""A plan for conversations: cases with which a decay of recall over turns, or a gap at one turn, is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workup.errors import InputError
from workup.lenses.power.plans.directions import curve
from workup.lenses.power.plans.groups import EVERYTHING
from workup.lenses.power.plans.refusals import refusing, unused
from workup.report import LensResult
from workup.stats.sizes import decay


def plan_decay(
    *,
    slope: float | None = None,
    start: float = 0.95,
    turns: int = 10,
    facts: float = 8,
    slope_sd: float = 0.0,
    live: float | None = None,
    oracle: float | None = None,
    icc: float = 0.0,
    correlation: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.8,
    n: int | None = None,
) -> LensResult:
    """Cases with which a decay of recall (`slope` a turn), or a gap live against oracle at one turn, is found.

    >>> plan_decay(slope=-0.02, start=0.95, turns=10, facts=8, slope_sd=0.03).tables["requirement"][0]["needed"]
    24
    """
    kind = "decay"
    if (slope is None) == (live is None) or (live is None) != (oracle is None):
        raise InputError(
            "give a slope, or the recalls live and oracle", where="plan decay", remedy="--slope, or --live and --oracle"
        )
    if slope is not None:
        unused({"icc": icc != 0}, belongs="a gap at one turn", kind=kind)
    else:
        given = {"start": start != 0.95, "turns": turns != 10, "slope_sd": slope_sd != 0}
        unused(given, belongs="a slope over turns", kind=kind)
    settings: dict[str, Any] = {"kind": kind, "of": "cases", "groups": [], "alpha": alpha, "power": power, "n": n}
    with refusing(kind):
        if slope is not None:
            model = {"start": start, "facts": facts, "correlation": correlation, "slope_sd": slope_sd}
            found = decay.decay_slope_size(slope, turns=turns, alpha=alpha, power=power, **model)
            settings |= {"slope": slope, "turns": turns, **model}
        else:
            assert live is not None
            assert oracle is not None
            spread = {"facts": facts, "icc": icc, "correlation": correlation}
            found = decay.decay_gap_size(live, oracle, alpha=alpha, power=power, **spread)
            settings |= {"live": live, "oracle": oracle, **spread}
        settings["sd"] = found.sd
        return _decay_result(found, settings)


def _decay_result(found: decay.CasesPlan, settings: Mapping[str, Any]) -> LensResult:
    def reached(cases: float) -> float:
        return float(decay.mean_power(found.effect, sd=found.sd, cases=cases, alpha=settings["alpha"]))

    about = {"direction": "given", "first": 0.0, "other": found.effect}
    tables: dict[str, Any] = {
        "requirement": [{"group": EVERYTHING, "needed": found.cases, "cases": found.cases}],
        "curve": curve(reached, needed=found.cases, about=about),
    }
    n = settings["n"]
    if n is not None:
        smallest = decay.mean_detectable(sd=found.sd, cases=n, alpha=settings["alpha"], power=settings["power"])
        tables["reached"] = [{**about, "n_first": n, "power": reached(n)}]
        tables["smallest_difference"] = [
            {"n_first": n, "first": 0.0, "smallest_difference": smallest, "status": "ok", "reason": None}
        ]
    return LensResult(
        lens="power", settings=settings, tables=tables, notes=tuple(_decay_words(found, settings, tables))
    )


def _decay_words(found: decay.CasesPlan, settings: Mapping[str, Any], tables: Mapping[str, Any]) -> Iterator[str]:
    what = (
        f"a decay of {found.effect:g} a turn over {settings['turns']} turns"
        if "slope" in settings
        else f"a gap of {found.effect:g} (live {settings['live']:g}, oracle {settings['oracle']:g})"
    )
    yield (
        f"To tell {what} from none with {settings['power']:.0%} power at a two-sided alpha of {settings['alpha']:g}, "
        f"{found.cases:,} cases are needed (a t test of one number for each case, whose spread is {found.sd:.3g})."
    )
    for row in tables.get("reached", ()):
        least = tables["smallest_difference"][0]["smallest_difference"]
        said = (
            f"With {row['n_first']:,} cases the power is {row['power']:.0%}; the smallest effect found is {least:.3g}."
        )
        yield said
    if settings.get("slope_sd") == 0:
        yield (
            "All cases are taken to decay at one speed (slope_sd 0), which is never the cautious choice: take their "
            "spread from a pilot."
        )
    if settings.get("icc") == 0:
        yield "Facts of one case are taken to be kept or lost independently (icc 0): take the icc from a pilot."
    yield (
        f"The plan takes for granted {settings['facts']:g} facts in a case and recalls as expected here. Replicates of "
        "one case are no new cases."
    )
