"""A plan for texts: gold spans and documents for a bound on the leak rate, or for a gap in recall of two groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workup.errors import InputError
from workup.lenses.power.plans.directions import curve
from workup.lenses.power.plans.groups import EVERYTHING
from workup.lenses.power.plans.refusals import attainable, check_at_hand, one_of, refusing, unused
from workup.lenses.power.plans.wording import smallest_row
from workup.report import LensResult
from workup.stats.intervals import ASSUMED_ICC
from workup.stats.sizes import clustered
from workup.stats.sizes.proportions import Method, detectable_gap, two_proportions_power


def plan_leak(
    *,
    bound: float | None = None,
    leak_rate: float = 0.0,
    recall1: float | None = None,
    recall2: float | None = None,
    icc: float | None = None,
    design_effect: float | None = None,
    golds_per_document: float = 1.0,
    assurance: float = 0.8,
    level: float = 0.95,
    sides: clustered.Sides = "two",
    bound_method: clustered.Bound = "wilson",
    alpha: float = 0.05,
    power: float = 0.8,
    method: Method = "pooled",
    n: int | None = None,
) -> LensResult:
    """Gold spans and documents that show a leak rate under a bound, or a gap in recall between two groups.

    Gold spans of one document are found or missed together: `design_effect` is that of a pilot, or follows from `icc`.
    A bound is shown with `assurance` at a `level`, a gap with `power` at an `alpha`.

    >>> plan = plan_leak(bound=0.01, sides="one", bound_method="clopper-pearson")
    >>> plan.tables["requirement"][0]["golds"]
    299
    """
    _check(bound, recall1, recall2)
    if bound is None:
        given = {"leak_rate": leak_rate != 0, "assurance": assurance != 0.8, "level": level != 0.95}
        given |= {"sides": sides != "two", "bound_method": bound_method != "wilson"}
        unused(given, belongs="a bound on the leak rate", kind="leak")
    else:
        given = {"alpha": alpha != 0.05, "power": power != 0.8, "method": method != "pooled"}
        unused(given, belongs="a gap in recall", kind="leak")
    settings = _clustered(icc, design_effect, golds_per_document, n)
    documents = {"design_effect": settings["design_effect"], "golds_per_document": golds_per_document}
    if bound is not None:
        aim: dict[str, Any] = {"leak_rate": leak_rate, "assurance": assurance, "level": level, "sides": sides}
        with refusing("leak"):
            found = clustered.leak_size(bound, **aim, method=bound_method, **documents)
            return _bound_result(found, settings | {"bound": bound, **aim, "bound_method": bound_method})
    assert recall1 is not None
    assert recall2 is not None
    one_of("method", method, Method, kind="leak")
    with refusing("leak"):
        test: dict[str, Any] = {"alpha": alpha, "power": power, "method": method}
        gap = clustered.recall_gap_size(recall1, recall2, **test, **documents)
        return _recall_result(gap, settings | {"recall1": recall1, "recall2": recall2, **test})


def _check(bound: float | None, recall1: float | None, recall2: float | None) -> None:
    if (bound is None) == (recall1 is None) or (recall1 is None) != (recall2 is None):
        raise InputError(
            "give a bound for the leak rate, or two recalls to tell apart",
            where="plan leak",
            remedy="--bound, or --recall1 and --recall2",
        )
    if recall1 is not None and recall1 == recall2:
        raise InputError("no number of golds tells equal recalls apart", where="plan leak", got=f"{recall1:g} twice")


def _clustered(icc: float | None, effect: float | None, golds_per_document: float, n: int | None) -> dict[str, Any]:
    """The settings that both plans record, with the design effect that was given or follows from the icc."""
    if icc is not None and effect is not None:
        raise InputError("give a design effect or an icc, not both", where="plan leak")
    with refusing("leak"):
        if n is not None:
            check_at_hand(n, least=1, words="")
        if icc is not None:
            effect = clustered.design_effect(icc=icc, size=golds_per_document)
    return {
        "kind": "leak",
        "icc": icc,
        "design_effect": 1.0 if effect is None else effect,
        "golds_per_document": golds_per_document,
        "of": "golds",
        "groups": [],
        "n": n,
    }


def _bound_result(found: clustered.LeakSize, settings: Mapping[str, Any]) -> LensResult:
    attainable(max(found.golds, found.clustered.golds), "golds")

    def reached(golds: float) -> float:
        return float(
            clustered.leak_power(
                golds / settings["design_effect"],
                found.bound,
                leak_rate=found.leak_rate,
                level=settings["level"],
                sides=settings["sides"],
                method=settings["bound_method"],
            )
        )

    about = {"direction": "given", "first": found.leak_rate, "other": found.bound}
    row = {
        "group": EVERYTHING,
        "needed": found.golds,
        "golds": found.clustered.golds,
        "documents": found.documents,
        "allowed_misses": found.allowed_misses,
        "steady_golds": found.steady_golds,
    }
    tables: dict[str, Any] = {
        "requirement": [row],
        "curve": curve(reached, needed=found.clustered.golds, about=about),
    }
    if settings["n"] is not None:
        tables["reached"] = [{**about, "n_first": settings["n"], "power": reached(settings["n"])}]
    return LensResult(
        lens="power", settings=settings, tables=tables, notes=tuple(_bound_words(found, settings, tables))
    )


def _bound_words(found: clustered.LeakSize, settings: Mapping[str, Any], tables: Mapping[str, Any]) -> Iterator[str]:
    misses = "none may be missed" if found.allowed_misses == 0 else f"at most {found.allowed_misses:,} may be missed"
    yield (
        f"To show a leak rate under {found.bound:g}, {found.clustered.golds:,} golds in {found.documents:,} documents "
        f"are needed: as much as {found.golds:,} independent golds, of which {misses}."
    )
    yield (
        f"If the true leak rate is {found.leak_rate:g}, that succeeds with a probability of {found.assurance:.0%}: the "
        f"upper end of the {'two' if settings['sides'] == 'two' else 'one'}-sided {settings['level']:.0%} interval "
        f"({settings['bound_method']}) then lies at or under the bound."
    )
    if found.leak_rate == 0:
        yield "A true leak rate of 0 is the best case: a system that leaks at all needs more golds. Plan for its rate."
    if found.steady_golds > found.golds:
        yield (
            f"The chance of success saws with the number of golds; from {found.steady_golds:,} independent golds on it "
            "never falls below the one wanted."
        )
    if found.documents > found.clustered.documents:
        yield (
            "Golds that are all found do not show how alike those of one document are, so the analysis assumes an "
            f"intraclass correlation of {ASSUMED_ICC:.2f}: with fewer than {found.documents:,} "
            f"documents of {_golds(settings['golds_per_document'])} even a perfect result cannot show this bound. "
            "Rule of thumb, one-sided 95 %: (1 + 2/n)/b documents of n golds for a bound b."
        )
    for row in tables.get("reached", ()):
        yield f"With {_golds(row['n_first'])} at hand the chance of success is {row['power']:.0%}."
    yield _clustering(settings)


def _golds(n: float) -> str:
    number = f"{int(n):,}" if float(n).is_integer() else f"{n:g}"
    return f"{number} gold{'' if n == 1 else 's'}"


def _clustering(settings: Mapping[str, Any]) -> str:
    return (
        f"The plan takes for granted a design effect of {settings['design_effect']:.3g} and "
        f"{_golds(settings['golds_per_document'])} in a document"
        + (
            "."
            if settings["design_effect"] > 1
            else ": golds of one document are taken as independent, which they seldom are."
        )
    )


def _recall_result(found: clustered.RecallGapSize, settings: Mapping[str, Any]) -> LensResult:
    attainable(max(found.first.golds, found.second.golds), "golds")
    effect, pair = settings["design_effect"], found.pair
    rules = {"alpha": settings["alpha"], "method": settings["method"]}

    def reached(golds: float) -> float:
        return float(two_proportions_power(pair.p1, pair.p2, golds / effect, **rules))

    rows: list[dict[str, Any]] = [
        {"group": name, "needed": one.independent, "golds": one.golds, "documents": one.documents}
        for name, one in (("group 1", found.first), ("group 2", found.second))
    ]
    total = {"group": "total", **{key: sum(row[key] for row in rows) for key in ("needed", "golds", "documents")}}
    about = {"direction": "given", "first": pair.p1, "other": pair.p2}
    tables: dict[str, Any] = {
        "requirement": [*rows, total],
        "curve": curve(reached, needed=found.first.golds, about=about),
    }
    said = [
        f"To tell a recall of {pair.p1:g} in one group from one of {pair.p2:g} in another with {settings['power']:.0%} "
        f"power, each group needs {found.first.golds:,} golds in {found.first.documents:,} documents.",
    ]
    n = settings["n"]
    if n is not None:
        tables |= _golds_at_hand(pair.p1, settings)
        tables["reached"] = [{**about, "n_first": n, "n_other": n, "power": reached(n)}]
        said.append(f"With {_golds(n)} in each group at hand the power is {reached(n):.0%}.")
    return LensResult(lens="power", settings=settings, tables=tables, notes=(*said, _clustering(settings)))


def _golds_at_hand(recall: float, settings: Mapping[str, Any]) -> dict[str, Any]:
    n, rules = settings["n"], {key: settings[key] for key in ("alpha", "power", "method")}
    found = detectable_gap(recall, n / settings["design_effect"], **rules)
    return {"smallest_difference": [smallest_row({"n_first": n, "n_other": n}, recall, found)]}
