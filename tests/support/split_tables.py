"""Random tables to split, and a count of margins that owes nothing to the code it checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from workup.splits import Split

Columns = dict[str, np.ndarray[Any, Any]]


def objects(values: Iterable[Any]) -> np.ndarray[Any, Any]:
    """A column of objects, as tables hold text."""
    found = list(values)
    return np.fromiter(found, dtype=object, count=len(found))


def random_table(seed: int, *, most_variables: int = 4, most_patients: int = 250) -> tuple[Columns, float]:
    """One row per patient, one to four variables with skewed levels, some cells missing; and a share."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, most_patients)), int(rng.integers(1, most_variables + 1))
    table: Columns = {"id": objects(f"p{i}" for i in range(n))}
    for variable in range(k):
        levels = [f"L{i}" for i in range(int(rng.integers(1, 7)))]
        chosen = rng.choice(levels, n, p=rng.dirichlet(np.full(len(levels), 0.7)))
        table[f"v{variable}"] = objects(None if rng.random() < 0.05 else str(value) for value in chosen)
    return table, float(rng.choice([0.1, 0.2, 0.25, 1 / 3, 0.5]))


def deviations(
    table: Mapping[str, Any], validation: Iterable[int], variables: Iterable[str], share: float
) -> list[float]:
    """How far each level's validation count lies from its share, and the total's; one row per patient."""
    rows = list(validation)
    n = len(next(iter(table.values())))
    found = [len(rows) - share * n]
    for name in variables:
        every = Counter(str(value) for value in table[name])
        held = Counter(str(table[name][row]) for row in rows)
        found += [held[level] - share * count for level, count in every.items()]
    return found


def visits(seed: int = 1, patients: int = 120) -> dict[str, Any]:
    """Patients with one to four visits; sex is fixed, ward and outcome may differ between visits."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(patients), rng.integers(1, 5, patients))
    sex = rng.choice(["F", "M"], patients)
    return {
        "id": objects(f"p{i:03d}" for i in who),
        "sex": objects(str(sex[i]) for i in who),
        "ward": objects(rng.choice(["A", "B", "C"], len(who)).tolist()),
        "died": (rng.random(len(who)) < 0.3).astype(float),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 200, len(who)).astype("timedelta64[D]"),
    }


def days(*numbers: int | None) -> Any:
    start = np.datetime64("2024-01-01")
    return np.array([np.datetime64("NaT") if n is None else start + n for n in numbers], dtype="datetime64[us]")


def level_row(found: Split, variable: str, level: str) -> dict[str, Any]:
    [row] = [row for row in found.record()["levels"] if (row["variable"], row["level"]) == (variable, level)]
    return row


def kinds(found: Split) -> set[tuple[str, str | None, str | None]]:
    return {(row["kind"], row["level"], row["side"]) for row in found.record()["warnings"]}


STRATEGIES: list[dict[str, Any]] = [
    {"strategy": "random"},
    {"strategy": "outcome"},
    {"strategy": "demographics"},
    {"strategy": "multidimensional"},
    {"strategy": "temporal"},
    {"strategy": "temporal", "cut": "2024-04-01", "embargo": 14},
    {"strategy": "site"},
    {"strategy": "site", "hold_out": ["B"]},
    {"strategy": "demographics", "quota": {"sex": {"F": 30}}},
]
PARTS: dict[str, Any] = {"patient": "id", "outcome": "died", "by": ["sex"], "site": "ward", "time": "day"}
