"""Thresholds so near each other that few patients of a group, site or window lie between them, and horizons before
which few of them were lost: figures at one of them are withheld from the whole grouping once a lens has made them.
Knows which rows of a lens's result speak of which grouping, threshold and horizon; `disclosure` decides which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.disclosure.differing_flags import Flags, Name, cells_within, known_at, told_by_column, told_settings
from workup.disclosure.risk_bands import risk_bands
from workup.errors import StudyError
from workup.estimate import Estimate
from workup.lenses.drift.monitor.state import ACTED
from workup.lenses.withholding import WINDOW, Withholding, as_withheld
from workup.metric import Metric
from workup.report import LensResult
from workup.scores import CROSS, RISK, Levels, Scores

THRESHOLD, HORIZON = "threshold", "horizon"
Setting = tuple[tuple[str, Any], ...]  # a threshold, with its horizon where there are several
_SITE = "site"
_ALERTS = "alert_rate"  # whose numerator is how many are flagged
_PLACES = {"sites": _SITE, "drift": WINDOW}
LOST = "few patients of a group were lost before this horizon, or between it and another that is told"
NEAR = "few patients of a group lie between this threshold and another that is told, or the edge of a band of risks"


@dataclass(frozen=True)
class ShownRows:
    """Rows that a lens looks at, with what it measures on them and its settings."""

    kept: Withholding
    metrics: Sequence[Metric]
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class NearThresholds:
    """Settings that are not told, by grouping: a column, a crossing, the sites or windows, or a column within them.

    `refitted` is the smallest cell where sites are predicted by models that only the lens knows: those between two of
    their thresholds are read from what it counted. `lost` are horizons that are not told, by grouping.
    """

    hidden: Mapping[str, frozenset[Setting]] = field(default_factory=dict)
    refitted: int = 0
    lost: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def hides(self, lens: str, keys: Mapping[str, Any], column: Any = None) -> str:
        """Why a row with these keys, or about all groups of a column, may not be told; empty where it may."""
        setting, horizon = setting_of(keys), keys.get(HORIZON)
        if setting is None and horizon is None:
            return ""
        place = _PLACES.get(lens)
        own = [str(name) for name in (*keys, keys.get("column"), column) if name is not None]
        groupings = own if place is None else [place, *(place + CROSS + name for name in own)]
        if lens == "internal":
            groupings = [_SITE] if {"site", "pooled"} & set(keys) else []
        if any(horizon in self.lost.get(name, ()) for name in groupings):
            return LOST
        return NEAR if any(setting in self.hidden.get(name, ()) for name in groupings) else ""

    def told(self, result: LensResult) -> LensResult:
        """The result of a lens without what is not told; an estimate says why it is not there."""
        if self.refitted:
            own = NearThresholds({**self.hidden, _SITE: _near_at_sites(result.estimates, self.refitted)}, 0, self.lost)
            return own.told(result)
        if not any(self.hidden.values()) and not any(self.lost.values()):
            return result
        lens = result.lens
        return replace(
            result,
            estimates=tuple(as_withheld(e, why) if (why := self.hides(lens, e.slice)) else e for e in result.estimates),
            tables={name: self._left(lens, table) for name, table in result.tables.items()},
            charts={name: self._left(lens, chart) for name, chart in result.charts.items()},
            notes=(*(note for note in result.notes if not self._speaks(lens, note)), *self._said()),
            comparisons=tuple(self._left(lens, result.comparisons)),
            pooled=tuple(self._left(lens, result.pooled)),
            alerts=tuple(self._left(lens, result.alerts)),
            charts_state=tuple(self._left(lens, result.charts_state)),
        )

    def _left(self, lens: str, table: Any) -> Any:
        if isinstance(table, Mapping):
            return {name: self._left(lens, part) for name, part in table.items()}
        if not isinstance(table, (list, tuple)):
            return table
        return [row for row in table if not (isinstance(row, Mapping) and self._hides_row(lens, row))]

    def _hides_row(self, lens: str, row: Mapping[str, Any]) -> bool:
        keys = {**_mapping(row.get("slice")), **_mapping(row.get("at"))}
        return bool(self.hides(lens, keys or row, row.get("column")))

    def _speaks(self, lens: str, note: str) -> bool:
        """Notes name a series as `ppv [sex=F, threshold=0.3]`, with how many rows it has or lacks."""
        for held in re.findall(r"\[([^\[\]]*(?:threshold|horizon)=[^\[\]]*)\]", note):
            keys = dict(part.partition("=")[::2] for part in held.split(", "))
            told = {name: _number(value) if name == THRESHOLD else value for name, value in keys.items()}
            if self.hides(lens, told):
                return True
        return False

    def _said(self) -> Iterator[str]:
        by: dict[str, list[str]] = {}
        for name, settings in self.hidden.items():
            for setting in sorted(settings, key=str):
                said = ", ".join(f"{key} {value}" for key, value in reversed(setting))
                by.setdefault(said, []).append(name.replace(WINDOW, WINDOW.strip()))
        for said, names in by.items():
            yield (
                f"At {said} nothing is told by {'; '.join(dict.fromkeys(names))}: few patients of a group would lie "
                "between it and another threshold that is told, or the edge of a band of risks (smallest_cell)."
            )
        for horizon in dict.fromkeys(one for held in self.lost.values() for one in sorted(held)):
            names = [name.replace(WINDOW, WINDOW.strip()) for name, held in self.lost.items() if horizon in held]
            yield (
                f"By {horizon} nothing is told by {'; '.join(names)}: {LOST}, and figures give their number away "
                "(smallest_cell)."
            )


def setting_of(keys: Mapping[str, Any]) -> Setting | None:
    """The threshold that keys name, with its horizon; None where they name none.

    >>> setting_of({"sex": "F", "threshold": 0.2})
    (('threshold', 0.2),)
    """
    if not isinstance(keys.get(THRESHOLD), (int, float)):
        return None
    return tuple((name, keys[name]) for name in (HORIZON, THRESHOLD) if keys.get(name) is not None)


def _near_at_sites(estimates: Sequence[Estimate], k: int) -> frozenset[Setting]:
    """Settings at which a site flags nearly as many as at an earlier one, by the alerts that were counted."""
    flagged: dict[Setting, dict[str, float]] = {}
    for e in estimates:
        setting = setting_of(e.slice)
        if e.metric == _ALERTS and setting is not None and "site" in e.slice and e.numerator is not None:
            flagged.setdefault(setting, {})[str(e.slice["site"])] = e.numerator
    told: list[Setting] = []
    for setting, own in flagged.items():
        if all(not 0 < abs(own[site] - flagged[other].get(site, own[site])) < k for other in told for site in own):
            told.append(setting)
    return frozenset(set(flagged) - set(told))


def _mapping(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def near_thresholds(lens: str, looked: Sequence[ShownRows]) -> NearThresholds:
    """What a lens may not tell of the rows of a study, of all their kinds together: one that may not be told of the
    rows of one kind is told of none, since they are of the same people."""
    hidden: dict[str, set[Setting]] = {}
    lost: dict[str, frozenset[str]] = {}
    refitted = 0
    for one in looked:
        if one.kept.k <= 1:
            continue
        known = known_at(one.kept.scores)
        for name, seen in _told(lens, one, known) if len(known) > 1 and lens != "internal" else ():
            lost[name] = frozenset(known) - frozenset(seen)
        flags = flags_of(one.kept.scores, one.metrics)
        if not flags:
            continue
        if lens == "internal":
            counted = one.kept.scores.weight is None and one.kept.scores.n_patients == len(one.kept.scores)
            if one.settings.get("leave_one_site_out") and counted:
                refitted = one.kept.k
            elif one.settings.get("leave_one_site_out"):
                hidden[_SITE] = set(list(flags)[1:])
            continue
        for name, told in _told(lens, one, flags):
            hidden.setdefault(name, set()).update(set(flags) - set(told))
    return NearThresholds(
        {name: frozenset(settings) for name, settings in hidden.items() if settings},
        refitted,
        {name: horizons for name, horizons in lost.items() if horizons},
    )


def flags_of(scores: Scores, metrics: Sequence[Metric]) -> dict[Setting, Flags]:
    """What each row shows at every setting of the metrics, in the order in which these are named."""
    found: dict[Setting, Flags] = {}
    for metric in metrics:
        setting = setting_of(metric.at)
        if setting is None or setting in found:
            continue
        at = dict(setting)
        risk = f"{RISK}@{at[HORIZON]}" if HORIZON in at else RISK
        own: list[Any] = [scores[risk] >= at[THRESHOLD]] if risk in scores.values else []
        label = f"@{at[THRESHOLD]:.12g}"
        own += [scores[name] for name in sorted(scores.values) if name.endswith(label)]
        if own:
            found[setting] = own
    sizes = {len(own) for own in found.values()}
    return found if len(sizes) == 1 else {}


def _told(lens: str, one: ShownRows, flags: Mapping[Name, Flags]) -> Iterator[tuple[str, Sequence[Name]]]:
    """Every grouping by which a lens tells figures, with the settings that may be told by it."""
    scores, k = one.kept.scores, one.kept.k
    asked = one.settings.get("by")
    columns = {name: levels for name, levels in scores.groups.items() if not asked or name in asked}
    bands = {} if "" in flags else risk_bands(scores, k)  # who is known by a horizon is not cut from the risk

    def told(parts: npt.NDArray[np.int64], within: bool = False) -> list[Name]:
        return told_settings(parts, scores.patient, flags, k=k, within=within)

    if lens in ("subgroups", "power"):
        yield from told_by_column(columns, scores.patient, flags, k=k, bands=bands).items()
        for pair in one.settings.get("intersections") or ():
            levels = _crossed(one.kept, *pair)
            if levels is not None:
                yield CROSS.join(pair), told(levels.codes, bool(set(bands) & set(pair)))
        return
    places = _places(lens, one)
    if places is None:
        return
    place = _PLACES[lens]
    yield place, told(places.codes)
    if (lens == "sites" and not asked) or asked == []:
        return
    if lens == "drift" and ACTED in scores.values:
        columns[ACTED] = Levels.of(np.where(scores[ACTED] == 0, "no", "yes"))
    for name, levels in columns.items():
        yield place + CROSS + name, told(cells_within(places, levels, scores.patient, k), name in bands)


def _crossed(kept: Withholding, first: str, second: str) -> Levels | None:
    """A crossing as it is told; None where it is not."""
    held = kept.crossed.get(CROSS.join((first, second)))
    if held is not None:
        return held.levels
    groups = kept.scores.groups
    return groups[first].crossed(groups[second]) if {first, second} <= set(groups) else None


def _places(lens: str, one: ShownRows) -> Levels | None:
    """Sites or windows as they are told."""
    scores, kept = one.kept.scores, one.kept
    if lens == "drift":
        held = kept.windows.get(WINDOW)
        if held is not None:
            return held.levels
        from workup.lenses.drift.lens import window_levels

        try:
            return window_levels(scores, one.settings)[0] if scores.time is not None else None
        except StudyError:  # the lens itself says what cannot be
            return None
    if lens != "sites" or scores.site is None:
        return None
    return scores.site if kept.site is None else kept.site.levels
