"""The subgroups lens: every metric on every group, the missing among them, and who is served worse, with how sure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from pydantic import Field

from workup.errors import StudyError, near
from workup.estimate import EVERYTHING, Draws, Estimate, Progress, Slice, estimate, replicate, slices_by
from workup.lenses.case_mix import differences, one_row_a_patient
from workup.lenses.checks import crowded, refuse_too_many, too_many, unknown_groups, unknown_metrics
from workup.lenses.contrasts import Contrast, Side, as_row, difference, ratio
from workup.lenses.omnibus import omnibus
from workup.lenses.parity import parity_ratios
from workup.metric import Metric
from workup.report import LensResult
from workup.scores import Bools, Floats, Levels, Scores
from workup.stats.intervals import z_critical
from workup.stats.multiplicity import adjust
from workup.study import Part
from workup.task import StudyDesign

Z_POWER = 2.80159  # normal quantiles of 0.975 and 0.80 added: a two-sided 5 % test with 80 % power


_COMPARATORS = ("rest", "largest", "best", "overall")


class Settings(Part):
    """Which groups are compared with whom, and what gap would matter."""

    by: tuple[str, ...] = Field((), description="Columns to group by; all of columns.groups when empty")
    intersections: tuple[tuple[str, str], ...] = Field(
        (), description="Pairs of columns whose combinations are groups too", examples=[[["sex", "ethnicity"]]]
    )
    comparator: str | dict[str, str] = Field(
        "rest",
        description="rest, largest, best, overall, or a reference level for each column",
        examples=[{"sex": "F"}],
    )
    margin: float | dict[str, float] | None = Field(
        None,
        description="Largest gap that does not matter: one number, or a number for each metric by name",
        examples=[{"auroc": 0.05}],
    )
    adjust: Literal["holm", "bh"] = Field("holm", description="holm to confirm, bh to explore")
    alpha: float = Field(0.05, gt=0, lt=1, description="Chance of a false disparity over the whole family")


def check(chosen: Settings, design: StudyDesign) -> Iterator[str]:
    """What cannot work, as far as it is known before a system is asked."""
    if design.groups is not None and not (chosen.by or design.groups):
        yield " needs groups. To fix: name columns under columns.groups."
    for field, names in (
        ("by", chosen.by),
        ("intersections", [name for pair in chosen.intersections for name in pair]),
    ):
        yield from unknown_groups(field, names, design)
    for one, other in chosen.intersections:
        known = design.groups or {}
        if {one, other} <= set(known) and (said := too_many(f"{one} × {other}", known[one].crossed(known[other]))):
            yield f".intersections: {said}."
    yield from crowded("by", chosen.by or design.groups or (), design)
    yield from _wrong_margins(chosen, design)
    if isinstance(chosen.comparator, dict):
        yield from unknown_groups("comparator", chosen.comparator, design)
    for name in chosen.by or design.groups or ():
        choice = chosen.comparator.get(name, "rest") if isinstance(chosen.comparator, dict) else chosen.comparator
        levels = design.levels(name)
        if levels is not None and choice not in (*levels, *_COMPARATORS):
            yield (
                f".comparator: '{choice}' is neither {', '.join(_COMPARATORS)} nor a level of '{name}'; "
                f"{near(choice, levels)}."
            )


def slice_keys(chosen: Settings, design: StudyDesign) -> list[str]:
    """Keys of the slices that the lens will make."""
    return [*(chosen.by or design.groups or ()), *(f"{one} × {other}" for one, other in chosen.intersections)]


def _wrong_margins(chosen: Settings, design: StudyDesign) -> Iterator[str]:
    """A gap between two shares or AUCs cannot reach 1, so a margin of 5 would let anything pass."""
    one = {} if chosen.margin is None else {"": chosen.margin}
    margins: dict[str, Any] = chosen.margin if isinstance(chosen.margin, dict) else one
    yield from unknown_metrics("margin", filter(None, margins), design)
    for name, margin in margins.items():
        field = f".margin.{name}" if name else ".margin"
        if not (np.isfinite(margin) and margin > 0):
            yield f"{field}: expected a number above 0; got {margin:g}."
        elif margin >= 1 and (not name or design.scale(name) == "logit"):
            percent = f" To fix: write {margin / 100:g} for {margin:g} points." if margin <= 100 else ""
            yield f"{field}: expected a gap between two shares or AUCs, above 0 and below 1; got {margin:g}.{percent}"


@dataclass(frozen=True)
class _Pair:
    """A group and what it is held against."""

    column: str
    level: str
    rows: Bools
    against: str
    other: Bools


def subgroups(
    scores: Scores,
    metrics: Sequence[Metric],
    *,
    settings: Mapping[str, Any],
    draws: Draws,
    levels: Sequence[float] = (0.95,),
    progress: Progress | None = None,
) -> LensResult:
    """Value, interval and n per group, none left out; differences, ratios and verdicts against declared margins."""
    chosen = Settings.checked(settings, where="lenses.subgroups")
    groups = _groups(scores, chosen)
    slices = slices_by(groups)
    if not slices:
        raise StudyError("the subgroups lens needs groups. To fix: name columns under columns.groups.")
    found = estimate(scores, metrics, slices, draws=draws, levels=levels, progress=progress)
    compared = [metric for metric in metrics if not metric.grows_as_n_falls]
    pairs = [pair for name, one in groups.items() for pair in _pairs(scores, metrics, name, one, chosen)]
    sides = _Sides(scores, compared, slices, pairs, draws)
    tests = [row for name, one in groups.items() for row in omnibus(scores, compared, name, one)]
    rows, contrasts = _comparisons(compared, pairs, sides)
    _judge(rows, contrasts, compared, chosen, tests)
    return LensResult(
        lens="subgroups",
        settings=chosen.model_dump(mode="json") | {"by": list(groups)},
        estimates=tuple(found),
        comparisons=(
            *rows,
            *_largest_gaps(compared, groups, sides),
            *parity_ratios(compared, groups, partial(_shared, compared, sides)),
        ),
        tables={
            "omnibus": tests,
            "smallest_difference": _smallest(rows),
            "groups": _sizes(found, groups),
            **_case_mix(scores, pairs, draws.seed),
        },
        notes=tuple(_notes(chosen, rows)),
    )


def _groups(scores: Scores, chosen: Settings) -> dict[str, Levels]:
    by = chosen.by or tuple(scores.groups)
    for name in (*by, *(part for pair in chosen.intersections for part in pair)):
        if name not in scores.groups:
            raise StudyError(f"lenses.subgroups: '{name}' is not one of columns.groups; {near(name, scores.groups)}.")
    groups = {name: scores.groups[name] for name in by}
    for first, second in chosen.intersections:
        groups[f"{first} × {second}"] = scores.groups[first].crossed(scores.groups[second])
    for name, levels in groups.items():
        refuse_too_many(name, levels, where="lenses.subgroups")
    return groups


def _pairs(scores: Scores, metrics: Sequence[Metric], name: str, levels: Levels, chosen: Settings) -> Iterator[_Pair]:
    """Who is compared with whom in one column."""
    masks = {level: rows for level, rows in levels.masks() if rows.any()}
    by_size = sorted(masks, key=lambda level: (-int(masks[level].sum()), level))
    choice = chosen.comparator.get(name, "rest") if isinstance(chosen.comparator, dict) else chosen.comparator
    if choice == "overall":
        everyone = np.ones(len(scores), dtype=bool)
        yield from (_Pair(name, level, masks[level], "overall", everyone) for level in by_size)
    elif choice == "rest":
        # With two groups each is the other's rest: one comparison, not the same one twice.
        for level in by_size[1:] if len(by_size) == 2 else by_size:
            other = ~masks[level]
            if other.any():
                yield _Pair(name, level, masks[level], "rest", other)
    else:
        reference = by_size[0] if choice == "largest" else _best(scores, metrics, masks) if choice == "best" else choice
        if reference not in masks:
            raise StudyError(
                f"lenses.subgroups.comparator: '{reference}' is neither rest, largest, best, overall nor a level of "
                f"'{name}'; {near(str(reference), masks)}."
            )
        for level in by_size:
            if level != reference:
                yield _Pair(name, level, masks[level], str(reference), masks[reference])


def _best(scores: Scores, metrics: Sequence[Metric], masks: Mapping[str, Bools]) -> str:
    """The level that does best on the first metric of which more is better, among those with an interval."""
    leading = next((metric for metric in metrics if metric.better == "higher" and metric.interval is not None), None)
    values = {}
    for level, rows in masks.items():
        part = scores.take(np.flatnonzero(rows))
        if leading is not None and np.isfinite(leading.value(part)):
            assert leading.interval is not None
            if leading.interval(part, 0.95).status == "ok":
                values[level] = leading.value(part)
    return (
        max(values, key=lambda level: (values[level], level))
        if values
        else max(masks, key=lambda one: masks[one].sum())
    )


class _Sides:
    """Rows and shared replicates of every slice that is compared, each made once."""

    def __init__(
        self, scores: Scores, metrics: Sequence[Metric], slices: Sequence[Slice], pairs: Sequence[_Pair], draws: Draws
    ) -> None:
        masks = [np.ones(len(scores), dtype=bool) if s.rows is None else s.rows for s in (EVERYTHING, *slices)]
        masks += [pair.other for pair in pairs]
        self._place: dict[bytes, int] = {}
        kept: list[Slice] = []
        for mask in masks:
            if mask.tobytes() not in self._place:
                self._place[mask.tobytes()] = len(kept)
                kept.append(Slice({}, mask))
        self._parts = [scores.take(np.flatnonzero(one.rows)) for one in kept if one.rows is not None]
        overlap = any(np.intersect1d(scores.patient[p.rows], scores.patient[p.other]).size for p in pairs)
        # Slices without common patients are compared by their own intervals; only a largest gap needs resamples then.
        drawn = [m for m, one in enumerate(metrics) if overlap or one.interval is None or one.scale == "logit"]
        self._drawn = {m: i for i, m in enumerate(drawn)}
        self._values = replicate(scores, [metrics[m] for m in drawn], kept, draws=draws)

    def of(self, rows: Bools, metric: int) -> Side:
        """A slice ready to be compared on the metric at a place in the list."""
        return Side(self._parts[self._place[rows.tobytes()]], self.replicates(rows, metric))

    def replicates(self, rows: Bools, metric: int) -> Floats | None:
        """Shared replicates of one metric on one slice, where they were made."""
        if metric not in self._drawn:
            return None
        return np.asarray(self._values[self._place[rows.tobytes()], self._drawn[metric]])


def _comparisons(
    metrics: Sequence[Metric], pairs: Sequence[_Pair], sides: _Sides
) -> tuple[list[dict[str, Any]], list[Contrast | None]]:
    rows: list[dict[str, Any]] = []
    contrasts: list[Contrast | None] = []
    for pair in pairs:
        for m, metric in enumerate(metrics):
            keys = {pair.column: pair.level, **metric.at}
            first, second = sides.of(pair.rows, m), sides.of(pair.other, m)
            gap = difference(metric, first, second)
            rows.append(as_row(metric.name, keys, pair.against, "difference", gap))
            contrasts.append(None if isinstance(gap, str) else gap)
            if metric.scale in ("logit", "log"):
                row = as_row(metric.name, keys, pair.against, "ratio", ratio(metric, first, second))
                if row["value"] is not None:
                    row["reason"] = "margins are declared for differences"
                rows.append(row)
                contrasts.append(None)
    return rows, contrasts


def _margin(metric: Metric, chosen: Settings) -> float | None:
    if isinstance(chosen.margin, dict):
        return chosen.margin.get(metric.name)
    return chosen.margin if metric.parity else None


def _judge(
    rows: list[dict[str, Any]],
    contrasts: Sequence[Contrast | None],
    metrics: Sequence[Metric],
    chosen: Settings,
    tests: Sequence[Mapping[str, Any]],
) -> None:
    """Verdicts of the whole family at once: the more is asked, the surer each answer has to be."""
    margins = {metric.name: _margin(metric, chosen) for metric in metrics}
    family = [i for i, found in enumerate(contrasts) if found is not None and margins[rows[i]["metric"]] is not None]
    if not family:
        return
    against_margin = []
    for i in family:
        contrast, margin = contrasts[i], margins[rows[i]["metric"]]
        assert contrast is not None
        assert margin is not None
        against_margin.append(contrast.p(margin))
    adjusted = adjust(against_margin, method=chosen.adjust)
    level = 1 - chosen.alpha / len(family)
    for i, p in zip(family, adjusted, strict=True):
        contrast, margin = contrasts[i], margins[rows[i]["metric"]]
        assert contrast is not None
        assert margin is not None
        low, high = contrast.ends(level)
        rows[i] |= {"low": low, "high": high, "level": level, "margin": margin, "p_adjusted": float(p)}
        rows[i] |= _verdict(rows[i], float(p), chosen.alpha, _equal(rows[i], tests, chosen.alpha))


def _equal(row: Mapping[str, Any], tests: Sequence[Mapping[str, Any]], alpha: float) -> bool:
    """Did the omnibus test of this metric and column find no difference among three groups or more?"""
    for test in tests:
        same = test["metric"] == row["metric"] and test["column"] in row["slice"]
        if same and all(row["slice"].get(key) == value for key, value in test["at"].items()) and test["groups"] > 2:
            return test["p"] is not None and test["p"] >= alpha
    return False


def _verdict(row: Mapping[str, Any], p: float, alpha: float, equal: bool) -> dict[str, str]:
    margin, low, high = row["margin"], row["low"], row["high"]
    if p < alpha and not equal:
        return {"verdict": "disparity", "reason": f"the gap exceeds {margin:g} (adjusted p {p:.2g})"}
    if -margin < low and high < margin:
        return {"verdict": "within", "reason": f"the interval lies within ±{margin:g}"}
    if p < alpha:
        return {"verdict": "inconclusive", "reason": "the test of all groups together finds no difference"}
    return {"verdict": "inconclusive", "reason": f"the interval reaches beyond ±{margin:g}, but the gap may be smaller"}


def _largest_gaps(metrics: Sequence[Metric], groups: Mapping[str, Levels], sides: _Sides) -> Iterator[dict[str, Any]]:
    """The gap between the best and the worst group, and the joint ones such as equalised odds."""
    for name, levels in groups.items():
        masks = [rows for _, rows in levels.masks() if rows.any()]
        joint: dict[tuple[str, str], list[tuple[Floats, Floats]]] = {}
        for m, metric in enumerate(metrics):
            if metric.scale != "logit" or metric.interval is None:
                continue
            values = np.array([metric.value(sides.of(rows, m).scores) for rows in masks])
            drawn = np.array([sides.replicates(rows, m) for rows in masks])
            yield _gap_row(metric.name, {"column": name, **metric.at}, _spread(values[:, None])[0], _spread(drawn))
            if metric.joint_gap:
                key = (metric.joint_gap, str(sorted(metric.at.items())))
                joint.setdefault(key, []).append((_spread(values[:, None]), _spread(drawn)))
                if len(joint[key]) == 2:
                    point = float(np.max([one[0][0] for one in joint[key]]))
                    both = np.max([one[1] for one in joint[key]], axis=0)
                    yield _gap_row(metric.joint_gap, {"column": name, **metric.at}, point, both)


def _shared(metrics: Sequence[Metric], sides: _Sides, rows: Bools, m: int) -> tuple[float, Floats | None]:
    """A metric on one group and its shared replicates, where they were made."""
    return metrics[m].value(sides.of(rows, m).scores), sides.replicates(rows, m)


def _spread(values: Floats) -> Floats:
    """Largest less smallest along the groups; NaN where a group has no value."""
    return np.asarray(values.max(axis=0) - values.min(axis=0))


def _gap_row(metric: str, keys: dict[str, Any], value: float, drawn: Floats) -> dict[str, Any]:
    defined = drawn[np.isfinite(drawn)]
    enough = np.isfinite(value) and defined.size >= 0.99 * drawn.size
    low, high = np.quantile(defined, [0.025, 0.975]) if enough else (None, None)
    reason = "a largest gap is biased upwards: it is never below 0 and grows with the number of groups"
    return {
        "metric": metric,
        "slice": keys,
        "against": "all groups",
        "kind": "max_gap",
        "level": 0.95,
        "value": float(value) if np.isfinite(value) else None,
        "low": low,
        "high": high,
        "se": float(defined.std(ddof=1)) if enough else None,
        "p": None,
        "p_adjusted": None,
        "margin": None,
        "method": "shared replicates, percentile",
        "verdict": "not_assessed",
        "reason": reason if enough else "undefined in a group, or in more than 1 % of the resamples",
    }


def _smallest(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The smallest true gap that a study of this size would find with 80 % power, two-sided 5 %."""
    return [
        {
            "metric": row["metric"],
            "slice": row["slice"],
            "against": row["against"],
            "smallest_difference": None if row["se"] is None else Z_POWER * _error(row),
        }
        for row in rows
        if row["kind"] == "difference"
    ]


def _error(row: Mapping[str, Any]) -> float:
    """The standard error of a gap, or that which its interval bespeaks where it is larger: a share of all or none has
    a standard error of 0, and no study sees everything."""
    spread = float(row["se"])
    if row["low"] is None or row["high"] is None:
        return spread
    return max(spread, (row["high"] - row["low"]) / (2 * z_critical(row["level"])))  # type: ignore[no-any-return]


def _case_mix(scores: Scores, pairs: Sequence[_Pair], seed: int) -> dict[str, Any]:
    """How inputs and risks of a group differ from those it is held against; everyone would hold the group itself."""
    kept = one_row_a_patient(scores, seed=seed)
    one_each = scores.take(kept)
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        everyone = pair.against == "overall"
        against, other = ("rest", ~pair.rows) if everyone else (pair.against, pair.other)
        rows += differences(one_each, pair.rows[kept], other[kept], keys={pair.column: pair.level}, against=against)
    return {"standardised_differences": rows} if rows else {}


def _sizes(found: Sequence[Estimate], groups: Mapping[str, Levels]) -> list[dict[str, Any]]:
    """Every group with its n, so that none can vanish."""
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    for e in found:
        for name in groups:
            if name in e.slice:
                row = {"patients": e.n_patients, "rows": e.n_rows, "events": e.n_events}
                seen.setdefault((name, str(e.slice[name])), {"column": name, "level": str(e.slice[name]), **row})
    return list(seen.values())


def _notes(chosen: Settings, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if chosen.margin is None:
        yield "No margin was declared for the gaps between groups, so no verdict is given on them."
        return
    judged = [row for row in rows if row["margin"] is not None]
    yield (
        f"{len(judged)} comparisons between groups are judged together "
        f"({'Holm' if chosen.adjust == 'holm' else 'Benjamini-Hochberg'}); their intervals are simultaneous."
    )
