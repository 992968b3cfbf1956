"""Which groups and sites of a study its report shows. Small ones are counted as one before any lens sees the rows, so
that no figure of theirs is ever made. Knows the lenses' settings and what is withheld; `disclosure` decides that."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workup.disclosure.identifying import near_unique, refusal
from workup.disclosure.risk_bands import risk_bands
from workup.disclosure.small_groups import GivenAway, Regrouped, regrouped
from workup.errors import StudyError
from workup.estimate import Estimate
from workup.evidence import BANDS
from workup.lenses.few_missing import lacking, without_few_missing
from workup.metric import Metric
from workup.report import LensResult
from workup.scores import CROSS, MISSING, OUTCOME, Levels, Scores
from workup.stats.arrays import Bools, Floats
from workup.study import Study

SITE = "site "  # beside a group that may bear the name of the site column
WINDOW, WINDOW_BEFORE = "window ", "window of the baseline "
_TOLD = "told "  # beside them, everyone by the thresholds of a risk that are told
TOLD_RISKS = (*(step / 100 for step in range(1, 100)), 0.075)  # of the decision curve, and of the sweep of thresholds
# Settings that may name a level, what takes its place where it is withheld, and the words that are no levels.
_REFERENCES = {
    "subgroups": ("comparator", "rest", ("rest", "largest", "best", "overall")),
    "power": ("reference", "largest", ("largest",)),
}
FEW = "it would tell of few patients, or let a group of few be worked out"
_COUNTED = re.compile(r"(?<![\d.,])(\d+)(?= (?:rows?|events?|patients?)\b)")


def as_withheld(e: Estimate, reason: str = FEW) -> Estimate:
    """An estimate with nothing in it but its name and the reason.

    >>> few = Estimate("auroc", {"sex": "X"}, 0.9, 0.8, 1.0, 0.95, "DeLong", 0.1, 3, 4, 1)
    >>> as_withheld(few).value, as_withheld(few).n_patients, as_withheld(few).status
    (None, 0, 'withheld')
    """
    return Estimate(e.metric, e.slice, None, None, None, e.level, "none", None, 0, 0, status="withheld", reason=reason)


def without_small_counts(text: str, k: int) -> str:
    """A sentence in which counts of people from 1 to k - 1 are not given.

    >>> without_small_counts("3 rows; at least 100 are needed", 5)
    'fewer than 5 rows; at least 100 are needed'
    """
    return _COUNTED.sub(lambda found: f"fewer than {k}" if 0 < int(found[1]) < k else found[1], text)


@dataclass(frozen=True)
class Withholding:
    """What a report withholds, and the rows as it may show them.

    `scores` have the withheld levels as one; `crossed` are the crossings that the subgroups lens makes,
    `site` the sites and `at_sites` the groups within them.
    """

    k: int
    scores: Scores
    columns: Mapping[str, Regrouped] = field(default_factory=dict)
    crossed: Mapping[str, Regrouped] = field(default_factory=dict)
    site: Regrouped | None = None
    at_sites: Mapping[str, Regrouped] = field(default_factory=dict)
    groups: Mapping[str, Levels] = field(default_factory=dict)  # as they were
    windows: Mapping[str, Regrouped] = field(default_factory=dict)  # of the drift lens
    bands: tuple[str, ...] = ()  # groups that are bands of the risk

    @property
    def _missing(self) -> dict[str, Bools]:
        return {
            name: np.asarray(levels.codes == levels.names.index(MISSING))
            for name, levels in self.groups.items()
            if MISSING in levels.names
        }

    @property
    def reason(self) -> str:
        """Why a level is withheld, in words that say nothing of its size."""
        return f"fewer than {self.k} patients, or one such group could be worked out from it"

    @property
    def _untold_rows(self) -> Bools:
        """Rows of windows that are not told."""
        rows = np.zeros(len(self.scores), dtype=bool)
        for one in self.windows.values():
            rows |= np.ones(len(rows), dtype=bool) if one.levels is None else False if one.held is None else one.held
        return rows

    @property
    def sites(self) -> tuple[str, ...]:
        """Sites that are withheld."""
        return () if self.site is None else self.site.withheld

    def applied(self, scores: Scores) -> Scores:
        """Other rows of the same study with the same levels counted as one."""
        if not any(one.withheld for one in self.columns.values()):
            return scores
        held = {name: levels for name, levels in scores.groups.items() if name not in self.columns}
        shown = {name: one for name, one in self.columns.items() if one.levels is not None and name in scores.groups}
        groups = {name: _regrouped(scores.groups[name], one) for name, one in shown.items()}
        return replace(scores, groups={**groups, **held})

    def lens_scores(self, lens: str, settings: Mapping[str, Any]) -> Scores | None:
        """The rows that a lens is given; None where nothing that it asks for may be shown."""
        asked = settings.get("by") or ()
        gone = bool(asked) and not set(asked) & set(self.scores.groups)
        if lens == "subgroups" and self.columns and (gone or not self.scores.groups):
            return None
        if lens == "sites" and self.site is not None and self.site.levels is None:
            return None
        if lens == "drift" and (watched := self.windows.get(WINDOW)) is not None:
            from workup.lenses.drift.small_windows import BASELINE

            if watched.levels is None or BASELINE in watched.withheld:
                return None
        return replace(self.scores, groups={}) if lens == "power" and gone else self.scores

    def settings(self, lens: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a lens without what may not be shown."""
        found = dict(settings)
        if found.get("by"):
            found["by"] = [name for name in found["by"] if name not in self.columns or name in self.scores.groups]
        if found.get("intersections"):
            found["intersections"] = [
                pair
                for pair in found["intersections"]
                if (one := self.crossed.get(CROSS.join(pair))) is None or one.levels is not None
            ]
        if lens in _REFERENCES:
            named, instead, words = _REFERENCES[lens]
            if named in found and (hidden := self._hidden(found[named], words)):
                held = found[named]
                by = dict.fromkeys(self.scores.groups, held) if isinstance(held, str) else dict(held)
                found[named] = {**by, **dict.fromkeys(hidden, instead)}
        if lens == "sites" and found.get("development") in self.sites:
            found.pop("development")
        return found

    def _hidden(self, named: Any, words: Sequence[str]) -> list[str]:
        """Columns whose reference level is withheld."""
        found = []
        for name, one in self.columns.items():
            level = named.get(name) if isinstance(named, Mapping) else named
            if level not in words and level in one.withheld:
                found.append(name)
        return found

    def own(self, lens: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        """What a lens is given beside its settings."""
        if lens == "subgroups" and self.crossed:
            return {"crossed": {name: one.levels for name, one in self.crossed.items() if one.levels is not None}}
        if lens == "internal" and self.sites and settings.get("leave_one_site_out"):
            return {"withheld_sites": self.sites}
        if lens == "sites" and self.k > 1:
            return {"withheld_sites": self.sites, "withheld_groups": dict(self._within_sites())}
        if lens == "drift" and self.k > 1:
            return {"smallest_cell": self.k, "withheld_rows": self._untold_rows}
        return {}

    def _within_sites(self) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
        """Levels that are withheld at a site, by site and column."""
        place = None if self.site is None else self.site.levels
        if place is None:
            return
        for name, one in self.at_sites.items():
            groups = self.scores.groups.get(name)
            if groups is None or not one.withheld:
                continue
            rows = one.held if one.levels is not None else np.ones(len(groups), dtype=bool)
            assert rows is not None
            for site, here in place.masks():
                codes = np.unique(groups.codes[here & rows])
                if codes.size:
                    yield (site, name), tuple(groups.names[code] for code in codes)

    # ---- what the record says of it ----------------------------------------------------------------------------------

    def told(
        self, result: LensResult, settings: Mapping[str, Any], metrics: Sequence[Metric], levels: Sequence[float]
    ) -> LensResult:
        """A lens's result with a row that says so for every level that is withheld from it, so that a gate on it is not
        assessed and never passes because nothing is there. `settings` are the study's own."""
        slices: list[dict[str, str]] = []
        asked = settings.get("by") or self.columns
        columns = {name: one for name, one in self.columns.items() if name in asked}
        if result.lens == "subgroups":
            by = {**columns, **self.crossed}
            slices = [{name: level} for name, one in by.items() for level in one.withheld]
        elif result.lens == "sites":
            slices = [{"site": name} for name in self.sites]
        elif result.lens == "internal" and settings.get("leave_one_site_out"):
            slices = [{"validation": "leave-one-site-out", "site": name} for name in self.sites]
        elif result.lens == "drift":
            by = {} if settings.get("by") == [] else columns
            windows = list(dict.fromkeys(str(e.slice["window"]) for e in result.estimates if "window" in e.slice))
            slices = [
                {"window": window, name: level}
                for window in windows
                for name, one in by.items()
                for level in one.withheld
            ]
        more = tuple(
            _nothing(metric, {**keys, **metric.at}, level, self.reason)
            for keys in slices
            for metric in metrics
            for level in levels
        )
        found = replace(result, estimates=(*result.estimates, *more)) if more else result
        return without_few_missing(found, self.scores, self.k, self._parts(result.lens, settings))

    def _parts(self, lens: str, settings: Mapping[str, Any]) -> dict[str, Levels]:
        """The groupings by whose parts a lens tells figures, under the keys of its slices."""
        if lens == "sites":
            return {} if self.scores.site is None else {"site": self.scores.site}
        if lens == "drift":
            watched = window_groupings(self.scores, {lens: settings})[0]
            return {"window": watched[WINDOW]} if watched else {}
        crossed = {name: one.levels for name, one in self.crossed.items() if one.levels is not None}
        return {**self.scores.groups, **crossed} if lens == "subgroups" else {}

    def nothing(self, lens: str) -> LensResult:
        """The result of a lens that has nothing it may show."""
        return LensResult(lens=lens, settings={"by": []}, notes=(f"The {lens} lens tells nothing here: {self.why}",))

    @property
    def why(self) -> str:
        """The rule in a sentence."""
        return (
            f"what would show fewer than {self.k} patients is withheld, and so is what such a group could be worked "
            "out from (smallest_cell)."
        )

    def table(self) -> list[dict[str, Any]]:
        """Every column with its withheld levels; never how many people they are."""
        rows = [_row(name, one) for name, one in (*self.columns.items(), *self.crossed.items())]
        if self.site is not None:
            rows.append(_row("site", replace(self.site, together="")))
        rows += [_row(f"{name} at sites", replace(one, together="")) for name, one in self.at_sites.items()]
        rows += [_row(name.strip(), replace(one, together="")) for name, one in self.windows.items()]
        return [row for row in rows if row["levels"]]

    def holdings(self, held: dict[str, Any]) -> dict[str, Any]:
        """What the data hold, where a missing value of an input may be a level that is withheld."""
        if self.bands:
            held = {**held, BANDS: list(self.bands)}
        empty = [name for name, one in self.columns.items() if MISSING in one.withheld]
        if not empty:
            return held
        sizes = {int(np.count_nonzero(self._missing[name])) for name in empty}
        rows = [
            {**row, "missing": None, "share": None} if row["input"] in empty or row["missing"] in sizes else row
            for row in held["inputs"]
        ]
        return {**held, "inputs": rows}

    def split(self, tables: Mapping[str, Any]) -> dict[str, Any]:
        """The record of the split of a corpus without variables of which a side holds few patients."""
        if "split" not in tables or self.k <= 1:
            return dict(tables)
        record = dict(tables["split"])
        few = {
            str(row["variable"])
            for row in record["levels"]
            if any(0 < n < self.k for n in row["patients"].values() if isinstance(n, int))
        }
        if not few:
            return dict(tables)
        for part in ("levels", "changes", "warnings"):
            record[part] = [row for row in record[part] if str(row.get("variable")) not in few]
        record["warnings"] = [row for row in record["warnings"] if not any(name in str(row) for name in few)]
        record["collapsed"] = []
        if record["margins"] is not None:
            record["margins"] = {**record["margins"], "off": []}
        said = f"Not told by {', '.join(sorted(few))}, of which a side holds few patients: {self.why}"
        record["notes"] = [*record["notes"], said]
        return {**tables, "split": record}

    def notes(self) -> Iterator[str]:
        """What a reader must know before the first group."""
        rows = self.table()
        if not rows:
            return
        parts = [
            f"all of {row['column']}" if row["whole"] else f"{row['column']} {', '.join(row['levels'])}" for row in rows
        ]
        yield f"Withheld: {'; '.join(parts)}. This means: {self.why}"
        if any(row["together"] for row in rows):
            names = dict.fromkeys(row["together"] for row in rows if row["together"])
            yield (
                f"Patients of groups that are withheld are counted as one group, {' or '.join(map(repr, names))}, so "
                "that nobody is left out of what is said of groups."
            )


def _row(name: str, one: Regrouped) -> dict[str, Any]:
    return {
        "column": name,
        "levels": list(one.withheld),
        "whole": one.levels is None and bool(one.withheld),
        "together": one.together,
    }


def asked_by(study: Study) -> list[str]:
    """Groupings that the lenses of a study name themselves."""
    named = [name for settings in study.lenses.values() for name in settings.get("by") or ()]
    named += [name for pair in study.lenses.get("subgroups", {}).get("intersections") or () for name in pair]
    return list(dict.fromkeys(map(str, named)))


def withhold(scores: Scores, study: Study, also: Mapping[str, Collection[str]] | None = None) -> Withholding:
    """What the report of a study may show of the groups and sites in these rows; `also` are levels that it may not in
    any case, by column, `SITE` or `WINDOW`."""
    k, lenses = study.smallest_cell, study.lenses
    for name in asked_by(study):
        if name in scores.groups and near_unique(scores.groups[name], scores.patient):
            raise StudyError(refusal(name))
    crossings = [(str(one), str(other)) for one, other in lenses.get("subgroups", {}).get("intersections") or ()]
    crossings = [pair for pair in crossings if set(pair) <= set(scores.groups)]
    if k <= 1:
        return Withholding(k, scores)
    places: dict[str, Levels] = {}
    by_site: list[tuple[str, str]] = []
    if scores.site is not None and ("sites" in lenses or lenses.get("internal", {}).get("leave_one_site_out")):
        places = {SITE: scores.site}
        by_site = [(SITE, name) for name in scores.groups] if "sites" in lenses else []
    periods, kept = window_groupings(scores, lenses)
    bands = risk_bands(scores, k)
    cut = dict.fromkeys(risk for own in bands.values() for risk in own)
    try:
        found = regrouped(
            {**scores.groups, **places, **periods},
            scores.patient,
            k=k,
            crossings=[*crossings, *by_site],
            outcome=scores[OUTCOME] > 0 if OUTCOME in scores.values else None,
            wanted=_wanted(scores, lenses) | kept,
            withheld=also,
            told={_TOLD + risk: _flagged(scores[risk], study) for risk in cut},
            bands={name: [_TOLD + risk for risk in own] for name, own in bands.items()},
        )
    except GivenAway as column:
        raise StudyError(
            f"columns.groups: '{column}' is made of the risk, and a level of fewer than {k} patients lies between "
            "thresholds that are told of everyone (yours, and every hundredth). To fix: cut the risk where more lie "
            "between, or set smallest_cell: 1 if all may be told."
        ) from None
    columns = {name: found[name] for name in scores.groups}
    return Withholding(
        k,
        _regrouped_scores(scores, columns),
        columns,
        {CROSS.join(pair): found[CROSS.join(pair)] for pair in crossings},
        found.get(SITE),
        {name: found[CROSS.join((site, name))] for site, name in by_site},
        scores.groups,
        {name: found[name] for name in periods},
        tuple(bands),
    )


def _flagged(risk: Floats, study: Study) -> Levels:
    """Rows between the thresholds at which a report tells how many are flagged: those of the study, of its curves and
    of its distribution of risks."""
    named: tuple[float, ...] = getattr(study, "all_thresholds", tuple)()
    edges = np.unique([*TOLD_RISKS, *named])
    return Levels(np.digitize(risk, edges).astype(np.int64), tuple(map(str, range(edges.size + 1))))


def window_groupings(
    scores: Scores, lenses: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, Levels], dict[str, list[str]]]:
    """The windows of the drift lens as groupings of the same people, and those that others are compared with."""
    if "drift" not in lenses or scores.time is None:
        return {}, {}
    from workup.lenses.drift.lens import ELSEWHERE, window_levels
    from workup.lenses.drift.small_windows import BASELINE

    try:
        watched, before, last = window_levels(scores, lenses["drift"])
    except StudyError:  # the lens itself says what cannot be
        return {}, {}
    return {WINDOW: watched, WINDOW_BEFORE: before}, {WINDOW: [last, BASELINE], WINDOW_BEFORE: [ELSEWHERE]}


def _wanted(scores: Scores, lenses: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Levels that others are compared with."""
    found: dict[str, list[str]] = {}
    for lens, (named, _, _) in _REFERENCES.items():
        held = lenses.get(lens, {}).get(named)
        for name in scores.groups:
            level = held.get(name) if isinstance(held, Mapping) else held
            if isinstance(level, str):
                found.setdefault(name, []).append(level)
    development = lenses.get("sites", {}).get("development")
    return {**found, SITE: [development]} if isinstance(development, str) else found


def _regrouped_scores(scores: Scores, columns: Mapping[str, Regrouped]) -> Scores:
    if not any(one.withheld for one in columns.values()):
        return scores
    groups = {name: one.levels for name, one in columns.items() if one.levels is not None}
    secret = _secret_inputs(scores, columns)
    later = scores.waiting
    if later is not None:
        own = {
            name: _regrouped(levels, columns[name])
            for name, levels in later.groups.items()
            if name not in columns or columns[name].levels is not None
        }
        later = replace(later, groups=own, inputs={n: c for n, c in later.inputs.items() if n not in secret})
    inputs = {name: column for name, column in scores.inputs.items() if name not in secret}
    return replace(scores, groups=groups, inputs=inputs, waiting=later)


def _secret_inputs(scores: Scores, columns: Mapping[str, Regrouped]) -> set[str]:
    """Inputs whose levels or gaps are a group that is withheld, by their name or by whom they are missing for: drift,
    case mix and completeness of an input would count the very people whose group is withheld."""
    found = {name for name, one in columns.items() if one.withheld and name in scores.inputs}
    for name, one in columns.items():
        if MISSING in one.withheld:
            gap = scores.groups[name].codes == scores.groups[name].names.index(MISSING)
            found |= {other for other, column in scores.inputs.items() if np.array_equal(lacking(column), gap)}
    return found


def _regrouped(levels: Levels, one: Regrouped | None) -> Levels:
    """Rows that wait for their answer, with the same levels counted as one."""
    if one is None or one.levels is None or not one.withheld:
        return levels
    names = one.levels.names
    more = [name for name in levels.names if name not in names and name not in one.withheld]
    place = {name: code for code, name in enumerate((*names, *more))}
    new = np.array([place[one.together if name in one.withheld else name] for name in levels.names], dtype=np.int64)
    return Levels(new[levels.codes], (*names, *more))


def _nothing(metric: Metric, keys: Mapping[str, Any], level: float, reason: str) -> Estimate:
    """The place of an estimate that was never made, and why."""
    none = Estimate(metric.name, dict(keys), None, None, None, level, "none", None, n_patients=0, n_rows=0)
    return as_withheld(none, reason)
