"""What a plan promises before anything is watched: how seldom stable years alarm, and how many windows pass until a
change as large as a limit is noticed.

An alert needs more than a signal of its chart: the change seen in that very window must reach the limit and differ from
none. A change of exactly the limit looks smaller than it in half of all windows, so the wait is longer than the run
length of the chart alone; it is simulated with the chart itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from workup.lenses.drift.series import Series
from workup.monitor.plan import Line
from workup.monitor.watching import Watch
from workup.stats.arrays import Bools, Floats, Ints
from workup.stats.charts import control_charts
from workup.stats.intervals import z_critical
from workup.stats.random import generator

RUNS = 20_000
_STABLE = 7  # windows before the change, so that a chart with a memory is in its usual state
LONGEST = 60  # windows after it; who has not noticed by then is told of as "not noticed"
_SEED = 20_261


class Promise(NamedTuple):
    """How soon a change of one series would be noticed."""

    said: str
    baseline: float
    error: float  # of a window's change, one standard error
    change: float
    windows: float | None  # expected until the alert, the first one counted as 1; None where most are never noticed
    within_3: float | None
    within_year: float | None


def promises(line: Line, watch: Watch, *, change: float | None = None) -> Iterator[Promise]:
    """Of every series of a line, how soon a change of the limit, or of another size, would be noticed."""
    family, limits = watch.monitor.watching.family, watch.monitor.watching.limits
    size = line.limit if change is None else change
    for s, series in enumerate(family.series):
        base = family.baseline[s]
        errors = [point.se for point in family.phase_one[s] if point.known]
        if not base.known or not errors or line.chart not in limits:
            yield Promise(words(series), base.value, float("nan"), size, None, None, None)
            continue
        window = float(np.median(errors))
        error = float(np.hypot(window, base.se))
        waits = waiting_times(
            line.chart,
            limits[line.chart],
            shift=size / error,
            least=max(line.limit / error, z_critical(0.95)),
            baseline_share=(base.se / error) ** 2,
        )
        noticed = waits <= LONGEST
        yield Promise(
            words(series),
            base.value,
            error,
            size,
            float(np.mean(waits[noticed])) if noticed.mean() > 0.99 else None,
            float(np.mean(waits <= 3)),
            float(np.mean(waits <= family.windows_a_year)) if family.windows_a_year <= LONGEST else None,
        )


def waiting_times(
    chart: str, limit: float, *, shift: float, least: float, baseline_share: float, runs: int = RUNS
) -> Ints:
    """Windows from a change until the alert in many simulated years; LONGEST + 1 where there is none.

    `shift` is the change and `least` the smallest change that can alarm, both in standard errors of the difference to
    the baseline; `baseline_share` is how much of that error's variance is the baseline's, which all windows share.
    """
    rng = generator(_SEED, "waiting times")
    own = rng.standard_normal((runs, _STABLE + LONGEST)) * np.sqrt(1 - baseline_share)
    z = own + rng.standard_normal((runs, 1)) * np.sqrt(baseline_share)
    z[:, _STABLE:] += shift
    alarms = _signals(chart, z, limit)[:, _STABLE:] & (z[:, _STABLE:] >= least)
    first = np.argmax(alarms, axis=1)
    return np.where(alarms.any(axis=1), first + 1, LONGEST + 1).astype(np.int64)


def _signals(chart: str, z: Floats, limit: float) -> Bools:
    """Where a chart signals on the side of the change."""
    if chart == "ewma":
        drawn = control_charts.ewma(z, limit=limit)
        return np.asarray(drawn.signal & (drawn.statistic > 0))
    if chart == "cusum":
        return np.asarray(control_charts.cusum(z, limit=limit).up > limit)
    return np.asarray(z > limit)  # charts of single windows


def words(series: Series) -> str:
    """A series as a plan names it."""
    at = "".join(f" at {name} {value:g}" for name, value in series.metric.at.items())
    where = ", ".join(f"{name} {level}" for name, level in series.key.items()) or "everyone"
    return f"{'gap in ' if series.gap else ''}{series.metric.name}{at}: {where}"
