"""Estimate: a number that cannot leave without its interval and its n; and estimate(), which makes many at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from workup.errors import InputError
from workup.metric import FEWEST_PATIENTS, Interval, Metric, Status
from workup.scores import Levels, Scores
from workup.stats import bootstrap
from workup.stats.arrays import Bools, Floats

JACKKNIFE_GROUPS = 200
_MOST_KEPT = 32_000_000  # numbers of replicates kept for later lenses: a quarter of a gigabyte
_MOST_AT_ONCE = 64_000_000  # cells of weight matrices that all workers together may hold
MOST_UNDEFINED = 0.01  # share of resamples without a value above which an interval is not given


@dataclass(frozen=True)
class Estimate:
    """One number of a report, with everything a reader needs to weigh it."""

    metric: str
    slice: Mapping[str, Any]
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    se: float | None
    n_patients: int
    n_rows: int
    n_events: int | None = None
    numerator: float | None = None
    denominator: float | None = None
    status: Status = "ok"
    reason: str | None = None
    clusters: int | None = None  # of a share whose rows cluster: how many clusters have any
    ceiling: float | None = None  # and the most that its low end can be with them, however good the result

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as the report holds it. What only clustered shares have is left out of the others, so that a
        record made before it existed comes back byte for byte."""
        found = asdict(self)
        return {key: value for key, value in found.items() if value is not None or key not in ("clusters", "ceiling")}


class Slice(NamedTuple):
    """A choice of rows with the keys that name it; `rows` None is all of them."""

    key: Mapping[str, str]
    rows: Bools | None = None

    @property
    def digest(self) -> bytes:
        """The rows as a short name; empty for all of them."""
        if self.rows is None or self.rows.all():
            return b""
        return hashlib.blake2b(np.packbits(self.rows).tobytes(), digest_size=16).digest()


EVERYTHING = Slice({})


def slices_by(groups: Mapping[str, Levels]) -> list[Slice]:
    """One slice per level of each grouping, the largest first, none left out."""
    found = []
    for name, levels in groups.items():
        masks = sorted(levels.masks(), key=lambda item: (-int(item[1].sum()), item[0]))
        found += [Slice({name: level}, rows) for level, rows in masks]
    return found


@dataclass(frozen=True)
class Draws:
    """How replicates are drawn: whole patients, from this seed, within `strata` where a design fixed the mix.

    `workers` is how many threads share the work; it changes how long that takes and not one digit of the result.
    """

    seed: int = 0
    replicates: int = 2000
    strata: Levels | None = None
    workers: int = 1


Progress = Callable[[int, int], None]
Item = TypeVar("Item")
Result = TypeVar("Result")


def _mapped(work: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    """Results in the order of the items. Threads are enough: numpy lets others run while it is at work."""
    if min(workers, len(items)) < 2:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(min(workers, len(items)), thread_name_prefix="workup")
    try:
        yield from pool.map(work, items)
    finally:
        pool.shutdown(cancel_futures=True)


class _Known:
    """Replicates and estimates that were made on some rows, for lenses that ask for the same ones again.

    A metric is known by the object it is, which is held here so that no other can take its place in memory.
    """

    def __init__(self) -> None:
        self._replicates: dict[tuple[Any, ...], Floats] = {}
        self._estimates: dict[tuple[Any, ...], Estimate] = {}
        self._held: dict[int, Any] = {}
        self._room = _MOST_KEPT

    @classmethod
    def of(cls, scores: Scores) -> _Known:
        return scores.kept("replicates and estimates", cls)

    def keys(self, one: Slice, draws: Draws, metrics: Sequence[Metric]) -> list[tuple[Any, ...]]:
        """What decides the replicates of each metric on a slice."""
        self._held |= {id(thing): thing for thing in (*metrics, draws.strata)}
        common = one.digest, draws.seed, draws.replicates, id(draws.strata)
        return [(*common, id(metric)) for metric in metrics]

    def replicates(self, key: tuple[Any, ...]) -> Floats | None:
        return self._replicates.get(key)

    def keep(self, key: tuple[Any, ...], values: Floats) -> None:
        if values.size <= self._room:
            self._room -= values.size
            self._replicates[key] = values

    def estimate(self, key: tuple[Any, ...], level: float) -> Estimate | None:
        return self._estimates.get((*key, level))

    def keep_estimate(self, key: tuple[Any, ...], found: Estimate) -> None:
        self._estimates[*key, found.level] = found


def replicate(
    scores: Scores,
    metrics: Sequence[Metric],
    slices: Sequence[Slice] = (EVERYTHING,),
    *,
    draws: Draws,
    progress: Progress | None = None,
) -> Floats:
    """Every metric on every slice under every resample of patients: an array [slice, metric, replicate].

    All slices see the same resampled patients, so the difference of two entries is a paired replicate.
    """
    known = _Known.of(scores)
    keys = [known.keys(one, draws, metrics) for one in slices]
    missing = [[m for m, key in enumerate(row) if known.replicates(key) is None] for row in keys]
    values = np.full((len(slices), len(metrics), draws.replicates), np.nan)
    made = _replicated(
        scores,
        [(_Part.of(scores, one), [metrics[m] for m in wanted]) for one, wanted in zip(slices, missing, strict=True)],
        draws,
        progress,
    )
    for s, wanted in enumerate(missing):
        for place, m in enumerate(wanted):
            known.keep(keys[s][m], made[s][place])
            values[s, m] = made[s][place]
        for m in set(range(len(metrics))) - set(wanted):
            found = known.replicates(keys[s][m])
            assert found is not None
            values[s, m] = found
    return values


def _replicated(
    scores: Scores, asked: Sequence[tuple[_Part, Sequence[Metric]]], draws: Draws, progress: Progress | None
) -> list[Floats]:
    """The metrics asked for on each slice, [metric, replicate]; every worker draws the resamples of its own blocks."""
    found = [np.full((len(metrics), draws.replicates), np.nan) for _, metrics in asked]
    ready = [
        (place, part, metrics, _Columns.of(part.scores, metrics))
        for place, (part, metrics) in enumerate(asked)
        if metrics and part.rows.size
    ]
    if not ready:
        return found
    units, patient = np.unique(scores.patient, return_inverse=True)
    drawn = bootstrap.Resamples(
        units.size, draws.replicates, draws.seed, _patient_strata(draws.strata, patient, units.size)
    )
    one_row_each = np.array_equal(patient, np.arange(len(scores)))

    def work(block: range) -> list[Floats]:
        counts = drawn.counts(block)
        weights = counts if one_row_each else np.take(counts.T, patient, axis=0).T
        if scores.weight is not None:
            weights = weights * scores.weight
        return [_compute(part.scores, metrics, columns, part.weights(weights)) for _, part, metrics, columns in ready]

    blocks = drawn.blocks()
    most = max(1, _MOST_AT_ONCE // max(1, len(blocks[0]) * len(scores)))
    for block, values in zip(blocks, _mapped(work, blocks, min(draws.workers, most)), strict=True):
        for (place, *_), one in zip(ready, values, strict=True):
            found[place][:, block.start : block.stop] = one
        if progress is not None:
            progress(block.stop, draws.replicates)
    return found


class _Part(NamedTuple):
    """A slice made ready: its rows and the scores on them."""

    rows: npt.NDArray[np.intp]
    scores: Scores
    everything: bool

    @classmethod
    def of(cls, scores: Scores, one: Slice) -> _Part:
        if one.rows is None or one.rows.all():
            return cls(np.arange(len(scores)), scores, True)
        rows = np.flatnonzero(one.rows)
        return cls(rows, scores.take(rows), False)

    def weights(self, weights: Floats) -> Floats:
        return weights if self.everything else np.take(weights.T, self.rows, axis=0).T


def _compute(scores: Scores, metrics: Sequence[Metric], columns: _Columns, weights: Floats) -> Floats:
    """All metrics under a block of weights: linear ones by one matrix product, families by one pass each."""
    values = np.empty((len(metrics), len(weights)))
    sums = columns.sums(weights)
    families: dict[int, Mapping[str, Floats]] = {}
    for m, metric in enumerate(metrics):
        if metric.linear is not None:
            values[m] = metric.linear.finish(sums[m])
        elif metric.family is not None:
            key = id(metric.family)
            if key not in families:
                families[key] = metric.family.compute(scores, weights)
            values[m] = families[key][metric.name]
        else:
            values[m] = metric.compute(scores, weights)
    return values


class _Columns(NamedTuple):
    """The columns of every linear metric, [column, row], each once; and which of them a metric asks for."""

    columns: Floats
    wanted: dict[int, list[int]]

    @classmethod
    def of(cls, scores: Scores, metrics: Sequence[Metric]) -> _Columns:
        unique: dict[bytes, int] = {}
        columns: list[Floats] = []
        wanted: dict[int, list[int]] = {}
        for m, metric in enumerate(metrics):
            if metric.linear is None:
                continue
            wanted[m] = []
            for column in metric.linear.columns(scores).T:
                column = np.ascontiguousarray(column)
                digest = column.tobytes()
                if digest not in unique:
                    unique[digest] = len(columns)
                    columns.append(column)
                wanted[m].append(unique[digest])
        return cls(np.array(columns) if columns else np.empty((0, len(scores))), wanted)

    def sums(self, weights: Floats) -> dict[int, Floats]:
        """Weighted column sums by the place of the metric."""
        if not self.wanted:
            return {}
        sums = (self.columns @ weights.T).T
        return {m: sums[:, places] for m, places in self.wanted.items()}


def _patient_strata(
    strata: Levels | None, patient: npt.NDArray[np.intp], n_patients: int
) -> npt.NDArray[np.int64] | None:
    if strata is None:
        return None
    codes = np.full(n_patients, -1, dtype=np.int64)
    codes[patient] = strata.codes
    if np.any(codes[patient] != strata.codes):
        raise InputError(
            "a bootstrap stratum must be the same in all rows of a patient",
            got="a patient with rows in two strata",
            remedy="name a variable that was fixed by the design, or leave strata out",
        )
    return codes


def estimate(
    scores: Scores,
    metrics: Sequence[Metric],
    slices: Sequence[Slice] = (EVERYTHING,),
    *,
    draws: Draws,
    levels: Sequence[float] = (0.95,),
    progress: Progress | None = None,
) -> list[Estimate]:
    """Every metric on every slice with its interval, resampling only what has no analytic interval.

    >>> from workup.metric import mean
    >>> scores = Scores.of({"error": np.linspace(0, 1, 50)})
    >>> error = mean("error", lambda s: s["error"], describe="mean error")
    >>> [found] = estimate(scores, [error], draws=Draws(seed=1, replicates=200))
    >>> round(found.value, 3), found.low < 0.5 < found.high, found.n_patients
    (0.5, True, 50)
    """
    known = _Known.of(scores)
    keys = [known.keys(one, draws, metrics) for one in slices]
    lacking = [
        [m for m, key in enumerate(row) if any(known.estimate(key, level) is None for level in levels)] for row in keys
    ]
    open_slices = [s for s, wanted in enumerate(lacking) if wanted]
    resampled = [metric for metric in metrics if metric.interval is None]
    place = {id(metric): i for i, metric in enumerate(resampled)}
    asked = [slices[s] for s in open_slices]
    values = replicate(scores, resampled, asked, draws=draws, progress=progress) if resampled and asked else None

    def work(i: int) -> list[tuple[int, Estimate]]:
        one = slices[open_slices[i]]
        part = _Part.of(scores, one).scores
        influences = _Influences(part, resampled)
        found = []
        for m in lacking[open_slices[i]]:
            where = place.get(id(metrics[m]))
            replicates = None if values is None or where is None else values[i, where]
            found += [(m, e) for e in _estimates(part, metrics[m], one, levels, replicates, influences)]
        return found

    for s, made in zip(open_slices, _mapped(work, range(len(open_slices)), draws.workers), strict=True):
        for m, one_estimate in made:
            known.keep_estimate(keys[s][m], one_estimate)
    return [
        # Another lens may have asked for the same rows under another name.
        replace(found, slice={**one.key, **metric.at})
        for one, row in zip(slices, keys, strict=True)
        for key, metric in zip(row, metrics, strict=True)
        for level in levels
        if (found := known.estimate(key, level)) is not None
    ]


def _estimates(
    scores: Scores,
    metric: Metric,
    one: Slice,
    levels: Sequence[float],
    replicates: Floats | None,
    influences: _Influences,
) -> Iterator[Estimate]:
    value = metric.value(scores)
    numerator, denominator = metric.counts(scores) if metric.counts and len(scores) else (None, None)
    events = int(np.count_nonzero(scores[metric.events] > 0)) if metric.events else None
    for level in levels:
        found = _interval(scores, metric, value, level, replicates, influences)
        yield Estimate(
            metric=metric.name,
            slice={**one.key, **metric.at},
            value=_finite(value),
            low=_finite(found.low),
            high=_finite(found.high),
            level=level,
            method=found.method,
            se=_finite(found.se),
            n_patients=scores.n_patients,
            n_rows=len(scores),
            n_events=events,
            numerator=numerator,
            denominator=denominator,
            status=found.status,
            reason=found.reason or None,
            clusters=found.clusters,
            ceiling=found.ceiling,
        )


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def _interval(
    scores: Scores, metric: Metric, value: float, level: float, replicates: Floats | None, influences: _Influences
) -> Interval:
    if not np.isfinite(value):
        reason = "no rows" if len(scores) == 0 else metric.undefined
        return Interval.refused(reason, status="undefined")
    if replicates is None:
        assert metric.interval is not None
        found = metric.interval(scores, level)
        counted = found.low is None and found.high is None  # what was seen has no interval, and says so
        if found.status == "ok" and not counted and (_finite(found.low) is None or _finite(found.high) is None):
            return Interval.refused("the interval is not finite: too little information", method=found.method)
        return found
    return _resampled(scores, value, level, replicates, influences.of(metric), upwards=metric.grows_as_n_falls)


def _resampled(
    scores: Scores, value: float, level: float, replicates: Floats, influence: Floats, *, upwards: bool
) -> Interval:
    if scores.n_patients < FEWEST_PATIENTS:
        return Interval.refused(
            f"{scores.n_patients} patients; a resampling interval needs at least {FEWEST_PATIENTS}",
            method="BCa bootstrap",
        )
    defined = replicates[np.isfinite(replicates)]
    lost = replicates.size - defined.size
    if lost > MOST_UNDEFINED * replicates.size:
        return Interval.refused(
            f"undefined in {lost} of {replicates.size} resamples; the limit is {MOST_UNDEFINED:.0%}",
            method="BCa bootstrap",
        )
    if defined.max() == defined.min():
        return Interval.refused(
            "every resample gives the same value, so the data cannot show its uncertainty", method="BCa bootstrap"
        )
    low, high, method = bootstrap.bca(value, defined, influence, level=level)
    if upwards:
        # BCa takes the upward bias of the resamples off both ends, and then the high end is too low one time in ten;
        # a limit on a distance is judged by that end.
        high = max(high, float(bootstrap.percentile(defined, level=level)[1]))
        method += ", high end no lower than the percentile's"
    said = [f"undefined in {lost} of {replicates.size} resamples, which were left out"] if lost else []
    if not low <= value <= high:
        # All but a few resamples lie on one side of the value, as those of a distance near 0 do: corrected for that
        # bias, the ends pass it by. A value is never shown outside its own interval.
        low, high = min(low, value), max(high, value)
        said.append("widened to hold the value, which nearly all resamples lie to one side of")
    how = f"{method}, {replicates.size} replicates"
    return Interval(low, high, float(defined.std(ddof=1)), how, reason="; ".join(said))


class _Influences:
    """Delete-a-group jackknife of the resampled metrics on one slice, made once and only when asked for."""

    def __init__(self, scores: Scores, metrics: Sequence[Metric]) -> None:
        self._scores, self._metrics = scores, metrics
        self._values: Floats | None = None

    def of(self, metric: Metric) -> Floats:
        """Mean of the leave-out values minus each; zeros where a leave-out value is undefined."""
        if self._values is None:
            self._values = jackknife(self._scores, self._metrics)
        index = next(i for i, one in enumerate(self._metrics) if one is metric)
        values = self._values[index]
        if not np.isfinite(values).all():
            return np.zeros_like(values)
        return np.asarray(values.mean() - values)


def jackknife(scores: Scores, metrics: Sequence[Metric], *, groups: int = JACKKNIFE_GROUPS) -> Floats:
    """Each metric with one group of patients left out at a time, [metric, group]; at most `groups` groups."""
    _, unit = np.unique(scores.patient, return_inverse=True)
    n_units = int(unit.max()) + 1 if unit.size else 0
    size = min(groups, n_units)
    group = unit * size // max(1, n_units)
    values = np.empty((len(metrics), size))
    columns = _Columns.of(scores, metrics)
    block = max(1, 4_000_000 // max(1, len(scores)))
    for first in range(0, size, block):
        codes = np.arange(first, min(size, first + block))
        weights = np.where(group[None, :] == codes[:, None], 0.0, scores.base_weight)
        values[:, codes] = _compute(scores, metrics, columns, weights)
    return values
