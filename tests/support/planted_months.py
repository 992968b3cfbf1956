"""Months of patients with a planted truth: who comes, how often it happens, what a risk means, and from when on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.estimate import Draws
from workup.lenses.drift.lens import drift
from workup.metric import Metric, ratio
from workup.report import LensResult
from workup.scores import Scores
from workup.tasks.risk.metrics import Smoother, risk_metrics

DRAWS = Draws(seed=7, replicates=200)


@dataclass(frozen=True)
class Month:
    """Log odds of the risk are normal (`mean`, 1.2); those of the event are `shift` + `slope` times them.

    `blur` is noise in the risk that patients do not have: the ranking gets worse.
    """

    rows: int = 600
    mean: float = -1.0
    slope: float = 1.0
    shift: float = 0.0
    blur: float = 0.0


STABLE = Month()


def months(*plans: tuple[int, Month], start: str = "2023-01") -> list[tuple[str, Month]]:
    """So many months of each plan, one after another, with their names."""
    listed = [plan for count, plan in plans for _ in range(count)]
    return [(str(np.datetime64(start, "M") + i), plan) for i, plan in enumerate(listed)]


def rows_of(name: str, plan: Month, *, seed: int) -> dict[str, npt.NDArray[Any]]:
    """The columns of one month."""
    rng = np.random.default_rng([seed, int(np.datetime64(name, "M").astype(int))])
    truth = rng.normal(plan.mean, 1.2, plan.rows)
    given = truth + rng.normal(0, plan.blur, plan.rows) if plan.blur else truth
    happened = rng.random(plan.rows) < special.expit(plan.shift + plan.slope * truth)
    begin, end = (np.datetime64(name, "M") + i for i in (0, 1))
    span = int((end.astype("datetime64[us]") - begin.astype("datetime64[us]")).astype(int))
    return {
        "outcome": happened.astype(float),
        "risk": special.expit(given),
        "age": 60 + 10 * truth + rng.normal(0, 5, plan.rows),
        "pulse": rng.normal(80, 12, plan.rows),
        "time": begin.astype("datetime64[us]") + rng.integers(0, span, plan.rows).astype("timedelta64[us]"),
        "sex": rng.choice(["F", "M"], plan.rows),
    }


def planted(listed: Sequence[tuple[str, Month]], *, seed: int = 1, inputs: bool = False, groups: bool = True) -> Scores:
    """All months as one table."""
    parts = [rows_of(name, plan, seed=seed) for name, plan in listed]
    columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    return Scores.of(
        {"outcome": columns["outcome"], "risk": columns["risk"]},
        time=columns["time"],
        groups={"sex": columns["sex"]} if groups else None,
        inputs={"age": columns["age"], "pulse": columns["pulse"]} if inputs else None,
    )


def metrics_of(scores: Scores) -> list[Metric]:
    """The metrics of the risk task at one threshold."""
    return risk_metrics(thresholds=[0.3], smoother=Smoother.of(scores))


def looked(
    scores: Scores, *, metrics: Sequence[Metric] | None = None, follow: Sequence[str] = ("auroc",), **settings: Any
) -> LensResult:
    """The drift lens on a table; of the risk task AUROC alone, by no group, unless something else is asked for."""
    asked = {"metrics": list(follow), "by": []} | settings if metrics is None else settings
    return drift(scores, metrics or metrics_of(scores), settings=asked, draws=DRAWS)


def with_values(scores: Scores, **columns: npt.ArrayLike) -> Scores:
    """The same rows with more columns of values."""
    return replace(scores, values={**scores.values, **{k: np.asarray(v, dtype=float) for k, v in columns.items()}})


# ---- exact shares ----------------------------------------------------------------------------------------------------

FOUND = ratio("found", lambda s: s["hit"], lambda s: np.ones(len(s)), describe="share found", parity=True)


def shares(
    *values: float | None, rows: int = 2000, groups: dict[str, Sequence[float]] | None = None, start: str = "2023-01"
) -> Scores:
    """A month of exactly this share for each value; None is a month without rows. Groups have shares of their own."""
    hit, time, level = [], [], []
    for i, value in enumerate(values):
        month = (np.datetime64(start, "M") + i).astype("datetime64[us]")
        for name, own in (groups or {"": values}).items():
            if value is not None:
                share = own[i] if groups else value
                hit.append(np.arange(rows) < round(rows * share))
                time.append(np.full(rows, month))
                level.append(np.full(rows, name))
    return Scores.of(
        {"hit": np.concatenate(hit).astype(float)},
        time=np.concatenate(time),
        groups={"sex": np.concatenate(level)} if groups else None,
    )


def watched(scores: Scores, metric: Metric = FOUND, **settings: Any) -> LensResult:
    return drift(scores, [metric], settings={"baseline": 10, **settings}, draws=DRAWS)


def alerts(result: LensResult, **only: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in result.alerts if all(row[key] == value for key, value in only.items())]


BASE = [0.90] * 10
