"""Plans with no data at hand, from closed forms: each answers a LensResult, and `plan_report` makes a record of it."""

from __future__ import annotations

from collections.abc import Mapping

from workup.lenses.power.plans.aucs import plan_auc
from workup.lenses.power.plans.decays import plan_decay
from workup.lenses.power.plans.development import plan_develop
from workup.lenses.power.plans.groups import Group
from workup.lenses.power.plans.leaks import plan_leak
from workup.lenses.power.plans.precision import plan_precision
from workup.lenses.power.plans.proportions import plan_proportions
from workup.report import LensResult, Report, digest

__all__ = [
    "Group",
    "plan_auc",
    "plan_decay",
    "plan_develop",
    "plan_leak",
    "plan_precision",
    "plan_proportions",
    "plan_report",
]


def plan_report(
    result: LensResult,
    *,
    name: str = "",
    seed: int = 0,
    as_of: str | None = None,
    environment: Mapping[str, str] | None = None,
    workup: str = "",
) -> Report:
    """A whole record of a plan. There is no corpus and no system in it.

    >>> from workup.lenses.power.plans import plan_proportions
    >>> report = plan_report(plan_proportions(0.80, p2=0.85))
    >>> report.study["name"], report.corpus["n_patients"], report.results["power"].notes[0]
    ('Plan: proportions', 0, 'To tell a proportion of 0.8 from one of 0.85 with 80% power,
    each of the 2 groups needs 906 patients.')
    """
    settings = dict(result.settings)
    return Report(
        study={"name": name or f"Plan: {settings['kind']}", "task": "plan", **settings},
        corpus={
            "name": "none: a plan",
            "version": "",
            "seed": None,
            "n_cases": 0,
            "n_patients": 0,
            "sha256": digest(settings),
        },
        system={"name": "none", "version": ""},
        seed=seed,
        results={"power": result},
        environment=dict(environment or {}),
        as_of=as_of,
        workup=workup,
    )
