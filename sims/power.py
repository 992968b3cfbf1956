"""Does a study of the planned size find what it was planned for as often as planned? Every kind of plan, simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import special

from sims.repetitions import Cell, Outcome, Result, Size
from workup.stats import rank
from workup.stats.sizes.auc import auc_groups, auc_models
from workup.stats.sizes.clustered import leak_size
from workup.stats.sizes.decay import decay_slope_size
from workup.stats.sizes.groups import Need, family, pairs, population
from workup.stats.intervals import chi2_proportions, t_critical, wilson
from workup.stats.multiplicity import adjust
from workup.stats.sizes.proportions import two_proportions
from workup.stats.sizes.simulated_power import family_size, one_apart

NAME = "power"
QUESTION = "Does a study planned for a power of 80 % find the planned difference in 80 ± 3 % of repetitions?"
SEED = 20261115
TESTED = [
    "estimate.py",
    "stats/sizes/auc.py",
    "stats/sizes/auc_variance.py",
    "stats/sizes/clustered.py",
    "stats/sizes/decay.py",
    "stats/sizes/groups.py",
    "stats/intervals.py",
    "stats/multiplicity.py",
    "stats/random.py",
    "stats/rank.py",
    "stats/sizes/proportions.py",
    "stats/sizes/simulated_power.py",
]
MADE_BY = ["power.py", "repetitions.py"]

POWER = 0.80
ALPHA = 0.05
BAND = (0.77, 0.83)
AT_LEAST = (0.77, 1.0)  # Holm finds no less than Bonferroni, for which the size was planned


def cells(size: Size) -> list[Cell]:
    """Plans of every kind; cells without a band show what common formulas, or other scores, would have given."""
    return [
        Cell(name, {"kind": kind, "planned": POWER, **settings}, size, band=band)
        for kind, made in _KINDS.items()
        for name, settings, band in made()
    ]


Made = list[tuple[str, dict[str, Any], tuple[float, float] | None]]


@cache
def _proportions() -> Made:
    made: Made = []
    for p1, p2, share in (
        (0.80, 0.85, 0.5),
        (0.80, 0.70, 0.5),
        (0.80, 0.70, 0.2),
        (0.02, 0.05, 0.5),
        (0.50, 0.30, 0.5),
    ):
        plan = two_proportions(p1, p2, share=share, alpha=ALPHA, power=POWER)
        settings = {"p1": p1, "p2": p2, "n1": plan.first, "n2": plan.second}
        made.append((f"{p1} against {p2}, {plan.first} and {plan.second} rows", settings, BAND))
    # The formula without its factor 2, and a claim that is often read.
    made.append(("0.8 against 0.85, 454 rows (no factor 2)", {"p1": 0.80, "p2": 0.85, "n1": 454, "n2": 454}, None))
    made.append(("0.8 against 0.7, 75 events a group", {"p1": 0.80, "p2": 0.70, "n1": 75, "n2": 75}, None))
    return made


@cache
def _enrolled() -> Made:
    """Sensitivities of two groups of a population: events come as they come."""
    share, prevalence = (0.7, 0.3), (0.10, 0.15)
    part = share[0] * prevalence[0] / (share[0] * prevalence[0] + share[1] * prevalence[1])
    plan = two_proportions(0.80, 0.70, share=part, alpha=ALPHA, power=POWER)
    needs = [Need(*one) for one in zip("AB", (plan.n1, plan.n2), (0.0, 0.0), prevalence, share, strict=True)]
    total = population(needs).total
    settings = {"p1": 0.80, "p2": 0.70, "total": total, "share": list(share), "prevalence": list(prevalence)}
    return [(f"sensitivity 0.8 against 0.7, {total} patients enrolled", settings, BAND)]


@cache
def _aucs() -> Made:
    """Scores as the formula takes them are judged; the usual formula on normal scores is shown."""
    made: Made = []
    for auc1, auc2, prevalence in ((0.80, 0.85, 0.1), (0.85, 0.75, 0.3), (0.70, 0.80, 0.2), (0.80, 0.85, 0.9)):
        at: dict[str, Any] = {"auc1": auc1, "auc2": auc2, "prevalence": prevalence}
        for planned, drawn in (("exponential", "exponential"), ("normal", "normal"), ("exponential", "normal")):
            plan = auc_groups(auc1, auc2, prevalence=prevalence, alpha=ALPHA, power=POWER, scores=planned)  # type: ignore[arg-type]
            name = f"AUC {auc1} against {auc2}, prevalence {prevalence}, {plan.first} each for {planned}, {drawn} met"
            settings = {**at, "n": plan.first, "planned_for": planned, "scores": drawn}
            made.append((name, settings, BAND if planned == drawn else None))
    wrong = auc_models(0.80, 0.85, correlation=0.5, prevalence=0.1, alpha=ALPHA, power=POWER).first
    at = {"auc1": 0.80, "auc2": 0.85, "prevalence": 0.1, "n": wrong, "scores": "exponential"}
    made.append((f"AUC 0.8 against 0.85, {wrong} a group (correlation 0.5 assumed)", at, None))
    return made


@cache
def _families() -> Made:
    made: Made = []
    for groups in (3, 4):
        rates = one_apart(0.80, -0.10, groups)
        each = family(groups, alpha=ALPHA).alpha_each
        plan = two_proportions(rates[0], rates[-1], alpha=each, power=POWER).first
        at = {"rates": list(rates), "sizes": [plan] * groups, "goal": "weakest"}
        made.append((f"{groups} groups, all pairs, {plan} each, Bonferroni", {**at, "procedure": "bonferroni"}, BAND))
        made.append((f"{groups} groups, all pairs, {plan} each, Holm", {**at, "procedure": "holm"}, AT_LEAST))
        for goal in ("weakest", "all", "any"):
            sizes = family_size(rates, goal=goal, alpha=ALPHA, power=POWER, seed=SEED).sizes  # type: ignore[arg-type]
            settings = {"rates": list(rates), "sizes": list(sizes), "goal": goal, "procedure": "gatekeeper"}
            made.append((f"{groups} groups, all pairs, {sizes[0]} each, gatekeeper, {goal}", settings, BAND))
    return made


@cache
def _leaks() -> Made:
    plan = leak_size(0.01, leak_rate=0.008, assurance=POWER)
    settings = {"bound": 0.01, "leak_rate": 0.008, "golds": plan.golds}
    return [(f"leak rate 0.008 shown to lie under 0.01, {plan.golds} golds", settings, BAND)]


@cache
def _decays() -> Made:
    model = {"start": 0.95, "turns": 10, "facts": 8}
    plan = decay_slope_size(-0.005, **model, alpha=ALPHA, power=POWER)  # type: ignore[arg-type]
    settings = {"slope": -0.005, **model, "cases": plan.cases}
    return [(f"decay of 0.005 a turn, {plan.cases} cases", settings, BAND)]


_KINDS: dict[str, Callable[[], Made]] = {
    "proportions": _proportions,
    "patients": _enrolled,
    "auc": _aucs,
    "family": _families,
    "leak": _leaks,
    "decay": _decays,
}


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One study of the planned size: "covered" when it found what it was planned for."""
    of = cell.settings
    found = _STUDIES[of["kind"]](of, rng)
    return {"found": "covered" if found else "below"}


def _two_proportions(of: Any, rng: np.random.Generator) -> bool:
    counts = rng.binomial([of["n1"], of["n2"]], [of["p1"], of["p2"]])
    return bool(chi2_proportions(counts, [of["n1"], of["n2"]]).p <= ALPHA)


def _two_of_a_population(of: Any, rng: np.random.Generator) -> bool:
    patients = rng.multinomial(of["total"], of["share"])
    positives = rng.binomial(patients, of["prevalence"])
    counts = rng.binomial(positives, [of["p1"], of["p2"]])
    return bool(chi2_proportions(counts, positives).p <= ALPHA)


def _two_aucs(of: Any, rng: np.random.Generator) -> bool:
    first, second = (_one_auc(of, of[name], rng) for name in ("auc1", "auc2"))
    return bool(rank.delong_unpaired(first, second).p <= ALPHA)


def _one_auc(of: Any, auc: float, rng: np.random.Generator) -> rank.AucVariance:
    """Exponential scores make Hanley and McNeil's variance exact; normal ones have equal spread."""
    y = rng.random(of["n"]) < of["prevalence"]
    if of["scores"] == "exponential":
        score = rng.exponential(size=y.size) * np.where(y, auc / (1 - auc), 1.0)
    else:
        score = rng.normal(size=y.size) + np.where(y, np.sqrt(2) * special.ndtri(auc), 0.0)
    return rank.delong(y, score)


def _several_groups(of: Any, rng: np.random.Generator) -> bool:
    """By the tests of the library one at a time, not by the arrays with which the size was found."""
    sizes, rates = of["sizes"], of["rates"]
    counts = rng.binomial(sizes, rates)
    planned = pairs(len(sizes))
    p = [chi2_proportions(counts[[i, j]], [sizes[i], sizes[j]]).p for i, j in planned]
    adjusted = adjust(p, method="bonferroni" if of["procedure"] == "bonferroni" else "holm")
    if of["procedure"] == "gatekeeper" and not chi2_proportions(counts, sizes).p <= ALPHA:
        return False
    hits = [value <= ALPHA for value, (i, j) in zip(adjusted, planned, strict=True) if rates[i] != rates[j]]
    # All true gaps are alike here, so the weakest is any one of them.
    return bool({"weakest": hits[0], "all": all(hits), "any": any(hits)}[of["goal"]])


def _leak(of: Any, rng: np.random.Generator) -> bool:
    misses = rng.binomial(of["golds"], of["leak_rate"])
    return wilson(misses / of["golds"], of["golds"]).high <= of["bound"]


def _decay(of: Any, rng: np.random.Generator) -> bool:
    t = np.arange(of["turns"])
    recall = rng.binomial(of["facts"], of["start"] + of["slope"] * t, size=(of["cases"], t.size)) / of["facts"]
    slopes = recall @ ((t - t.mean()) / np.sum((t - t.mean()) ** 2))
    se = slopes.std(ddof=1) / np.sqrt(of["cases"])
    return bool(abs(slopes.mean()) >= t_critical(1 - ALPHA, of["cases"] - 1) * se)


_STUDIES: dict[str, Callable[[Any, np.random.Generator], bool]] = {
    "proportions": _two_proportions,
    "patients": _two_of_a_population,
    "auc": _two_aucs,
    "family": _several_groups,
    "leak": _leak,
    "decay": _decay,
}


def summarise(results: Sequence[Result]) -> list[Result]:
    """The judged cell farthest from the planned power, and what the common formulas gave."""
    judged = [one for one in results if one["band"] == list(BAND) and one["rate"] is not None]
    worst = max(judged, key=lambda one: abs(one["rate"] - POWER), default=None)
    shown = [one for one in results if one["band"] is None and one["rate"] is not None]
    rows: list[Result] = [
        {
            "cell": "farthest from the planned power" if worst is None else worst["cell"],
            "metric": "farthest from the planned power",
            "rate": None if worst is None else worst["rate"],
            "ok": None,
        }
    ]
    return rows + [{"cell": one["cell"], "metric": "not judged", "rate": one["rate"], "ok": None} for one in shown]
