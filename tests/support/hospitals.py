"""Small hospitals with known rows, and their own reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from workup.corpora.generate.cohort.generator import generate
from workup.report import Report
from workup.study import Study
from workup.validate import validate

GROUPS = {"sex": {"F": 0.5, "M": 0.46, "X": 0.04}, "unit": {"ICU": 0.25, "ward": 0.75}}
THRESHOLDS = (0.3, 0.2)


def study(*, thresholds: Sequence[float] = THRESHOLDS, **changes: Any) -> Study:
    """One study for all hospitals, as it must be."""
    content: dict[str, Any] = {
        "name": "readmission",
        "task": "risk",
        "seed": 5,
        "columns": {
            "outcome": "outcome",
            "risk": "risk",
            "patient": "patient",
            "groups": ["sex", "unit"],
            "inputs": ["age"],
        },
        "thresholds": list(thresholds),
        "lenses": {"internal": {}, "subgroups": {}},
        "bootstrap": {"replicates": 200},
        "smallest_cell": 1,  # the report stays at the hospital, and its pack keeps small counts back
    }
    return Study.of({**content, **changes})


@cache
def hospital(rows: int = 400, seed: int = 1, sites: int = 1, per_patient: int = 1) -> Mapping[str, Any]:
    """A cohort with a small level of sex, and ages that are sometimes missing."""
    plan = {
        "sites": sites,
        "prevalence": 0.35,
        "groups": GROUPS,
        "missing_groups": 0.03,
        "site_slope_sd": 0.1,
        "site_in_the_large_sd": 0.2,
        "rows_per_patient": per_patient,
    }
    table = dict(generate(rows, seed=seed, plan=plan).table)
    age = table["age"].copy()
    age[np.random.default_rng(seed).random(rows) < 0.1] = np.nan
    return {**table, "age": age}


def rows_of(table: Mapping[str, Any], site: str) -> dict[str, Any]:
    """The rows of one site."""
    return {name: column[table["site"] == site] for name, column in table.items()}


def report_of(table: Mapping[str, Any], **changes: Any) -> Report:
    """The hospital's own report."""
    return validate(study(**changes), table=dict(table))
