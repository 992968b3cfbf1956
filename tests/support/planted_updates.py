"""Cohorts whose risks are off in a known way, with studies on them, for updates that ought to mend them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tests.support.shell import SECRET, write


def off(
    rows: int = 1500, *, seed: int = 1, slope: float = 1.0, shift: float = 0.0, year: int = 2023, per_patient: int = 1
) -> dict[str, list[str]]:
    """Rows whose log odds are `shift` + `slope` times those that the risk says."""
    rng = np.random.default_rng(seed)
    given = rng.normal(-1, 1.3, rows)
    age = rng.integers(20, 90, rows)
    truth = 1 / (1 + np.exp(-(shift + slope * given)))
    outcome = (rng.random(rows) < truth).astype(int)
    days = rng.integers(0, 365, rows)
    return {
        "patient": [f"{SECRET}{year}{row // per_patient:05d}" for row in range(rows)],
        "p": [repr(float(risk)) for risk in 1 / (1 + np.exp(-given))],
        "died": [str(value) for value in outcome],
        "seen": [str(np.datetime64(f"{year}-01-01") + int(day)) for day in days],
        "sex": [str(one) for one in rng.choice(["F", "M"], rows)],
        "age": [str(one) for one in age],
    }


def study(folder: Path, table: str, *, name: str = "study.yaml", without: tuple[str, ...] = (), **more: Any) -> Path:
    """A study on a table of `off`; `without` names parts of its columns that it leaves out."""
    columns = {"outcome": "died", "risk": "p", "patient": "patient", "time": "seen", "groups": ["sex"]}
    content = {
        "name": "planted",
        "task": "risk",
        "corpus": {"path": table},
        "columns": {part: column for part, column in columns.items() if part not in without},
        "bootstrap": {"replicates": 200},
        **more,
    }
    (folder / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    return folder / name


def planted(folder: Path, table: str = "early.csv", *, rows: int = 1500, seed: int = 1, **how: Any) -> Path:
    """A table of `off` and a study on it."""
    write(folder / table, off(rows, seed=seed, **how))
    return study(folder, table)
