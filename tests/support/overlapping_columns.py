"""A cohort whose columns overlap (sex beside male, bands of age beside elderly), its reports, what packs withhold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.support.hospitals import report_of
from workup.report import Report

THRESHOLDS = [0.3, 0.5]


def cohort(n: int, seed: int, *, few: float = 0.02) -> dict[str, Any]:
    """Sex and male, age in bands, elderly and retired, which lies across a band, and a unit that overlaps with none."""
    rng = np.random.default_rng(seed)
    risk = np.clip(rng.beta(2, 3, n), 0.02, 0.98)
    sex = rng.choice(["F", "M", "X"], n, p=[0.52 - few, 0.48, few])
    age = np.clip(rng.normal(62, 16, n), 18, 99).astype(int)
    bands = np.array(["18-44", "45-59", "60-69", "70-84", "85+"], dtype=object)
    return {
        "patient": np.arange(n),
        "outcome": (rng.random(n) < risk).astype(float),
        "risk": risk,
        "sex": sex.astype(object),
        "male": np.where(sex == "M", "yes", "no").astype(object),
        "woman": np.where(sex == "F", "yes", "no").astype(object),
        "band": bands[np.searchsorted([45, 60, 70, 85], age, side="right")],
        "elderly": np.where(age >= 70, "yes", "no").astype(object),
        "retired": np.where(age >= 67, "yes", "no").astype(object),
        "unit": rng.choice(["ICU", "ward"], n, p=[0.3, 0.7]).astype(object),
    }


def report(table: Mapping[str, Any], groups: list[str], *, crossed: list[list[str]] | None = None) -> Report:
    columns = {"outcome": "outcome", "risk": "risk", "patient": "patient", "groups": groups}
    lenses = {"internal": {}, "subgroups": {"intersections": crossed or []}}
    return report_of(table, columns=columns, lenses=lenses, thresholds=THRESHOLDS, bootstrap={"replicates": 200})


def withheld(pack: dict[str, Any]) -> list[str]:
    """Groups that are withheld whole."""
    rows = [row for row in pack["withheld"] if row["what"] == "patients and rows"]
    return sorted(f"{column} {level}" for row in rows for column, level in row["slice"].items())
