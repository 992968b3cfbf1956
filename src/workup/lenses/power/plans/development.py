"""A plan for a model that is yet to be built: the least patients with which it is not overfitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workup.lenses.power.plans.groups import EVERYONE, Group, requirement
from workup.lenses.power.plans.refusals import refusing
from workup.report import LensResult
from workup.stats.sizes.development import develop


def plan_develop(
    prevalence: float,
    *,
    parameters: int,
    cox_snell: float | None = None,
    nagelkerke: float | None = None,
    cstatistic: float | None = None,
    shrinkage: float = 0.9,
) -> LensResult:
    """The least patients to develop a model of a yes/no outcome with so many candidate parameters.

    >>> plan_develop(0.2, parameters=10, cox_snell=0.2).tables["requirement"][0]["patients"]
    398
    """
    kind = "develop"

    def at(count: int) -> Any:
        return develop(
            prevalence=prevalence,
            parameters=count,
            cox_snell=cox_snell,
            nagelkerke=nagelkerke,
            cstatistic=cstatistic,
            shrinkage=shrinkage,
        )

    with refusing(kind):
        found = at(parameters)
        rows = requirement([Group(EVERYONE, None, prevalence)], [found.n], "patients", assurance=None)
        counts = sorted({1, parameters, *(round(x) for x in np.linspace(1, 2 * parameters, 16).tolist())})
        curve = [{"parameters": count, "n": at(count).n} for count in counts]
    settings = {
        "kind": kind,
        "prevalence": prevalence,
        "parameters": parameters,
        "cox_snell": found.cox_snell,
        "cox_snell_max": found.cox_snell_max,
        "nagelkerke": found.nagelkerke,
        "cstatistic": cstatistic,
        "shrinkage": shrinkage,
        "of": "patients",
        "groups": [],
    }
    criteria = [row._asdict() for row in found.criteria]
    tables = {"requirement": rows, "develop": criteria, "curve": curve}
    return LensResult(lens="power", settings=settings, tables=tables, notes=tuple(_develop_words(found, settings)))


def _develop_words(found: Any, settings: Mapping[str, Any]) -> Iterator[str]:
    why = {
        "shrinkage": f"effects are to shrink by no more than {1 - settings['shrinkage']:.0%} when the model is fitted",
        "optimism": "apparent and adjusted R² are to lie within 0.05",
        "overall risk": "the overall risk is to be known to within 0.05",
    }
    yield (
        f"To develop a model with {settings['parameters']:,} candidate parameters at least {found.n:,} patients with "
        f"{found.events:,} events are needed, {found.events_per_parameter:g} events for each parameter."
    )
    yield f"The criterion that decides is that {why[found.decided_by]}."
    yield (
        f"The model is expected to explain a Cox–Snell R² of {found.cox_snell:.3g} out of at most "
        f"{found.cox_snell_max:.3g} at this prevalence (Nagelkerke {found.nagelkerke:.3g}). A model that turns out "
        "weaker would have needed more patients."
    )
    yield "This is a least size to fit a model. Its validation, overall and in groups, needs a plan of its own."
