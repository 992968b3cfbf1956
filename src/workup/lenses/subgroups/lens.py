"""The subgroups lens: every metric on every group, the missing among them, and who is served worse, with how sure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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
from workup.lenses.subgroups.omnibus import omnibus
from workup.lenses.subgroups.parity import parity_ratios
from workup.metric import Metric
from workup.report import Z_POWER, LensResult
from workup.scores import CROSS, Levels, Scores
from workup.settings import Part
from workup.stats.arrays import Bools, Floats
from workup.stats.intervals import z_critical
from workup.stats.multiplicity import adjust
from workup.task import StudyDesign

OUTSIDE = "outside the family that the study declared"
_COMPARATORS = ("rest", "largest", "best", "overall")


class Family(Part):
    """Which comparisons are judged together: the fewer there are, the less each answer has to allow for the others."""

    metrics: tuple[str, ...] | None = Field(None, description="Metrics judged; all with a margin when left out")
    thresholds: Literal["all", "primary"] | tuple[float, ...] = Field(
        "all", description="Thresholds at which decisions are judged: all, primary, or a list of them"
    )


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
    family: Family = Field(
        default_factory=Family,
        description="Metrics and thresholds that are judged together; all with a margin if none",
        examples=[{"metrics": ["auroc", "sensitivity"], "thresholds": "primary"}],
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
        if {one, other} <= set(known) and (said := too_many(one + CROSS + other, known[one].crossed(known[other]))):
            yield f".intersections: {said}."
    yield from crowded("by", chosen.by or design.groups or (), design)
    yield from _wrong_margins(chosen, design)
    if design.metrics is not None:
        yield from _wrong_family(design.metrics, chosen)
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
    return [*(chosen.by or design.groups or ()), *map(CROSS.join, chosen.intersections)]


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
    primary: Mapping[str, Any] | None = None,
    crossed: Mapping[str, Levels] | None = None,
) -> LensResult:
    """Value, interval and n per group, none left out; differences, ratios and verdicts against declared margins.

    `primary` are the slice values that the study puts first, such as its primary threshold. `crossed` are the groups
    of a crossing, "a × b", where they are not simply all that occur.
    """
    chosen = Settings.checked(settings, where="lenses.subgroups")
    inside = _family(metrics, chosen, primary or {})
    groups = _groups(scores, chosen, crossed or {})
    slices = slices_by(groups)
    if not slices:
        raise StudyError("the subgroups lens needs groups. To fix: name columns under columns.groups.")
    found = estimate(scores, metrics, slices, draws=draws, levels=levels, progress=progress)
    compared = [metric for metric in metrics if not metric.grows_as_n_falls]
    pairs = [pair for name, one in groups.items() for pair in _pairs(scores, metrics, name, one, chosen)]
    sides = _Sides(scores, compared, slices, pairs, draws)
    tests = [row for name, one in groups.items() for row in omnibus(scores, compared, name, one)]
    rows, contrasts = _comparisons(compared, pairs, sides)
    _judge(rows, contrasts, chosen, inside, tests)
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


def _groups(scores: Scores, chosen: Settings, crossed: Mapping[str, Levels]) -> dict[str, Levels]:
    by = chosen.by or tuple(scores.groups)
    for name in (*by, *(part for pair in chosen.intersections for part in pair)):
        if name not in scores.groups:
            raise StudyError(f"lenses.subgroups: '{name}' is not one of columns.groups; {near(name, scores.groups)}.")
    groups = {name: scores.groups[name] for name in by}
    for first, second in chosen.intersections:
        name = first + CROSS + second
        groups[name] = crossed[name] if name in crossed else scores.groups[first].crossed(scores.groups[second])
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


_Place = tuple[str, str]  # a metric and where it is taken, such as a threshold


def _place(name: str, at: Mapping[str, Any]) -> _Place:
    threshold = at.get("threshold")
    return name, f"{threshold:.12g}" if isinstance(threshold, (int, float)) else ""


def _family(metrics: Sequence[Metric], chosen: Settings, primary: Mapping[str, Any]) -> dict[_Place, float | None]:
    """The margin of every metric that has one, at every place; None for what the study leaves out of the family."""
    for fault in _wrong_family(metrics, chosen):
        raise StudyError(f"lenses.subgroups{fault}")
    margins = {_place(metric.name, metric.at): _margin(metric, chosen) for metric in metrics}
    known = list(dict.fromkeys(at for _, at in margins if at))
    thresholds: Collection[str] = known
    if chosen.family.thresholds == "primary":
        thresholds = [f"{float(primary['threshold']):.12g}"] if "threshold" in primary else known[:1]
    elif chosen.family.thresholds != "all":
        thresholds = [f"{value:.12g}" for value in chosen.family.thresholds]
    wanted = chosen.family.metrics
    return {
        (name, at): margin if (wanted is None or name in wanted) and (not at or at in thresholds) else None
        for (name, at), margin in margins.items()
        if margin is not None
    }


def _wrong_family(metrics: Sequence[Metric], chosen: Settings) -> Iterator[str]:
    """Metrics and thresholds of the family that the study does not have or cannot judge."""
    names = {metric.name for metric in metrics}
    judged = {metric.name for metric in metrics if _margin(metric, chosen) is not None}
    if chosen.family.metrics == ():
        yield ".family.metrics: the list is empty. To fix: name the metrics to be judged, or leave the field out."
    for name in chosen.family.metrics or ():
        if name not in names:
            yield f".family.metrics: '{name}' is not a metric of this study; {near(name, names)}."
        elif name not in judged:
            yield (
                f".family.metrics: '{name}' has no margin, so it cannot be judged. To fix: give each metric its own "
                f"margin, as in margin: {{{name}: 0.05}}."
            )
    if chosen.family.thresholds == "all":
        return
    known = list(dict.fromkeys(at for metric in metrics if (at := _place("", metric.at)[1])))
    if not known:
        yield ".family.thresholds: the study names no threshold. To fix: list some under 'thresholds'."
    elif not chosen.family.thresholds:
        yield ".family.thresholds: the list is empty. To fix: write all, primary, or thresholds of the study."
    elif chosen.family.thresholds != "primary":
        for value in (f"{value:.12g}" for value in chosen.family.thresholds):
            if value not in known:
                yield (
                    f".family.thresholds: {value} is not a threshold of the study. To fix: choose among "
                    f"{', '.join(known)}, or list it under 'thresholds'."
                )


def _margin(metric: Metric, chosen: Settings) -> float | None:
    if isinstance(chosen.margin, dict):
        return chosen.margin.get(metric.name)
    return chosen.margin if metric.parity else None


def _judge(
    rows: list[dict[str, Any]],
    contrasts: Sequence[Contrast | None],
    chosen: Settings,
    inside: Mapping[_Place, float | None],
    tests: Sequence[Mapping[str, Any]],
) -> None:
    """Verdicts of the whole family at once: the more is asked, the surer each answer has to be.

    A disparity shows the interval that its own test inverts, which leaves out the margin exactly where the adjusted p
    is below alpha. Every other judged row shows the simultaneous interval, which decides whether it is within it.
    """
    family = []
    for i, contrast in enumerate(contrasts):
        place = _place(rows[i]["metric"], rows[i]["slice"])
        if contrast is None or place not in inside:
            continue
        margin = inside[place]
        if margin is None:
            rows[i]["reason"] = OUTSIDE
        else:
            family.append((rows[i], contrast, margin))
    p = np.array([contrast.p(margin) for _, contrast, margin in family])
    adjusted = adjust(p, method=chosen.adjust)
    for i, (row, contrast, margin) in enumerate(family):
        row |= {"p": float(p[i]), "p_adjusted": float(adjusted[i]), "margin": margin}
        together = _all_groups(row, tests)
        if together is not None:  # the gap is judged only where the groups differ at all, so the larger p decides
            row["p_adjusted"] = max(row["p_adjusted"], together)
        if row["p_adjusted"] < chosen.alpha:
            row |= _disparity(row, contrast, *_step(p, adjusted, i, chosen), chosen.alpha)
        else:
            row |= _no_disparity(row, contrast, len(family), chosen.alpha)
            if adjusted[i] < chosen.alpha:
                row |= _overruled(row, together)


def _all_groups(row: Mapping[str, Any], tests: Sequence[Mapping[str, Any]]) -> float | None:
    """P of the test of all groups together, where there are three or more and the group of the row took part."""
    for test in tests:
        same = test["metric"] == row["metric"] and test["column"] in row["slice"]
        if same and all(row["slice"].get(key) == value for key, value in test["at"].items()):
            took_part = row["slice"][test["column"]] not in test["without"]
            return test["p"] if test["groups"] > 2 and took_part else None
    return None


def _step(p: Floats, adjusted: Floats, i: int, chosen: Settings) -> tuple[float, str]:
    """Among how many alpha was shared when this row was decided, and that in words."""
    n = p.size
    if chosen.adjust == "bh":
        found = int(np.count_nonzero(adjusted < chosen.alpha))
        return n / found, f"Benjamini-Hochberg, {found} of {n} found"
    smaller = int(np.count_nonzero(p < p[i]))
    return n - smaller, f"Holm step {smaller + 1} of {n}"


def _disparity(
    row: Mapping[str, Any], contrast: Contrast, shared: float, rule: str, alpha: float
) -> dict[str, float | str]:
    """The interval that the test inverts: p adds the tails beyond the near and beyond the far margin, so the near end
    gets the same part of what alpha leaves for this row."""
    error = alpha / shared * contrast.near_share(row["margin"])
    level = 1 - 2 * error
    low, high = contrast.ends(level)
    reason = f"the gap exceeds {row['margin']:g} (adjusted p {row['p_adjusted']:.2g})"
    rule = f"{rule}, one-sided {100 * (1 - error):.4g} %"
    return {"low": low, "high": high, "level": level, "rule": rule, "verdict": "disparity", "reason": reason}


def _no_disparity(row: Mapping[str, Any], contrast: Contrast, family: int, alpha: float) -> dict[str, float | str]:
    margin, level = row["margin"], 1 - alpha / family
    low, high = contrast.ends(level)
    rule = f"simultaneous over {family}, {100 * level:.4g} %"
    found: dict[str, float | str] = {"low": low, "high": high, "level": level, "rule": rule}
    if -margin < low and high < margin:
        return found | {"verdict": "within", "reason": f"the interval lies within ±{margin:g}"}
    reason = f"the interval reaches beyond ±{margin:g}, but the gap may be smaller"
    return found | {"verdict": "inconclusive", "reason": reason}


def _overruled(row: Mapping[str, Any], together: float | None) -> dict[str, Any]:
    """A gap that is large by its own test while the groups together do not differ: the interval must allow for both."""
    margin = row["margin"]
    drawn_out = {"low": min(row["low"], margin)} if row["value"] > 0 else {"high": max(row["high"], -margin)}
    why = f"the test of all groups together finds no difference (p {together:.2g})"
    rule = f"{row['rule']}, extended to the margin because {why}"
    return drawn_out | {"rule": rule, "verdict": "inconclusive", "reason": why}


def _largest_gaps(metrics: Sequence[Metric], groups: Mapping[str, Levels], sides: _Sides) -> Iterator[dict[str, Any]]:
    """The gap between the best and the worst group, and the joint ones such as equalised odds."""
    for name, levels in groups.items():
        masks = [rows for _, rows in levels.masks() if rows.any()]
        joint: dict[tuple[str, str], list[tuple[Floats, Floats]]] = {}
        for m, metric in enumerate(metrics):
            if metric.scale != "logit" or metric.interval is None:
                continue
            values = np.array([sides.of(rows, m).value(metric) for rows in masks])
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
        "rule": None,
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
    """The standard error of a gap, or the one its interval implies where that is larger: a share of all or none has a
    standard error of 0, and no study sees everything."""
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
    judged = sum(row["margin"] is not None for row in rows)
    outside = sum(row["reason"] == OUTSIDE for row in rows)
    of = f" of {judged + outside} with a margin" if outside else ""
    how = "Holm" if chosen.adjust == "holm" else "Benjamini-Hochberg"
    yield f"{judged} comparisons between groups{of} are judged together ({how}); each row names its interval."
    if outside:
        left = sorted({row["metric"] for row in rows if row["reason"] == OUTSIDE})
        yield f"{outside} comparisons are shown and not judged, {OUTSIDE}: {', '.join(left)}."
