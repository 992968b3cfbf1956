"""Are the inputs still what they were? Each is compared with its baseline; a change is flagged only when it is both
significant, among all inputs of the window, and large enough to matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from pydantic import Field

from workup.lenses.alerts import Finding, Severity
from workup.lenses.windows import Window
from workup.scores import MISSING, Floats, Levels, Scores
from workup.stats.distances import missingness
from workup.stats.kernel_tests import classifier_test, mmd
from workup.stats.multiplicity import adjust
from workup.stats.reference import Reference
from workup.stats.shares import categories, chi_square, jensen_shannon
from workup.study import Part

TOGETHER = "all inputs together"
FEWEST_ROWS = 20  # on either side; below that no distance means anything


class InputLimits(Part):
    """How large a change of an input must be to be flagged."""

    wasserstein: float = Field(0.10, gt=0, description="Mean move of a number, in its own standard deviations")
    jensen_shannon: float = Field(0.10, gt=0, description="Jensen–Shannon distance of a category, 0 to 1")
    missing: float = Field(0.05, gt=0, description="Change in the share that is missing")
    separable: float = Field(
        0.60, gt=0.5, lt=1, description="AUC with which a classifier tells the window from the baseline"
    )
    together: Literal["latest", "every", "none"] = Field(
        "latest", description="Windows in which all inputs are also tested together (MMD and a classifier)"
    )


@dataclass(frozen=True)
class Tested:
    """One comparison of one input: what was measured, how surely, and what would matter."""

    input: str
    test: str
    statistic: float
    p: float
    effect: float
    effect_is: str
    limit: float
    more: Mapping[str, Any]


@dataclass(frozen=True)
class InputReference:
    """The inputs of the baseline, kept in order for every window to come."""

    numbers: Mapping[str, Reference]
    levels: Mapping[str, Levels]
    rows: Scores
    limits: InputLimits
    seed: int

    @classmethod
    def of(cls, baseline: Scores, *, limits: InputLimits, seed: int) -> InputReference:
        """Freeze the baseline: one row of each patient, since rows of one patient are not independent."""
        rows = _one_row_each(baseline)
        numbers = {
            name: Reference.exact(column)
            for name, column in rows.inputs.items()
            if not isinstance(column, Levels) and np.isfinite(column).sum() >= FEWEST_ROWS
        }
        levels = {name: column for name, column in rows.inputs.items() if isinstance(column, Levels)}
        return cls(numbers, levels, rows, limits, seed)

    def compared(
        self, window: str, scores: Scores, *, chance: float, latest: bool
    ) -> list[tuple[dict[str, Any], Finding]]:
        """Every input of one window as a row of the report and a finding for the alerts.

        Among all inputs of the window false discoveries are kept to `chance` (Benjamini and Hochberg).
        """
        rows = _one_row_each(scores)
        if not self.rows.inputs:
            return []
        if len(rows) < FEWEST_ROWS:
            reason = f"{len(rows)} patients; at least {FEWEST_ROWS} are needed"
            return [_unknown(window, name, reason) for name in self.rows.inputs]
        tested = [one for name in self.rows.inputs for one in self._input(name, rows)]
        asked = self.limits.together == "every" or (self.limits.together == "latest" and latest)
        if asked and len(self.numbers) > 1:
            tested += self._together(rows)
        known = [one for one in tested if isinstance(one, Tested)]
        adjusted = adjust([one.p for one in known], method="bh")
        found = [_row(window, one, float(p), chance) for one, p in zip(known, adjusted, strict=True)]
        return found + [_unknown(window, *one) for one in tested if not isinstance(one, Tested)]

    def _input(self, name: str, rows: Scores) -> list[Tested | tuple[str, str]]:
        now = rows.inputs[name]
        missing = self._missing(name, now)
        found: list[Tested | tuple[str, str]] = [] if missing is None else [missing]
        if isinstance(now, Levels):
            return [*found, self._category(name, now)]
        if name not in self.numbers:
            return [*found, (name, "the baseline holds too few values")]
        if np.isfinite(now).sum() < FEWEST_ROWS:
            return [*found, (name, f"fewer than {FEWEST_ROWS} values in the window")]
        return [*found, self._number(name, now)]

    def _number(self, name: str, now: Floats) -> Tested:
        seen = self.numbers[name].compare(now, seed=self.seed)
        more = {
            "psi": seen.psi.value,
            "psi_null": seen.psi.critical,
            "jensen_shannon": seen.jensen_shannon.distance,
        }
        moved = seen.wasserstein.scaled
        if not np.isfinite(moved):  # a baseline without spread: any other value is a change without measure
            moved = float(seen.ks.statistic > 0) * np.inf
        return Tested(
            name,
            "Kolmogorov–Smirnov",
            seen.ks.statistic,
            seen.ks.p,
            moved,
            "Wasserstein/SD",
            self.limits.wasserstein,
            more,
        )

    def _category(self, name: str, now: Levels) -> Tested | tuple[str, str]:
        before = self.levels[name]
        sides = [np.array(levels.names, dtype=str)[levels.codes] for levels in (before, now)]
        sides = [side[side != MISSING] for side in sides]  # missing values have a test of their own
        if min(map(len, sides)) < FEWEST_ROWS:
            return name, f"fewer than {FEWEST_ROWS} values on one side"
        counted = categories(*sides)
        test = chi_square(counted.reference, counted.window, seed=self.seed)
        distance = jensen_shannon(counted.reference, counted.window).distance
        return Tested(
            name,
            f"chi-square ({test.method})",
            test.statistic,
            test.p,
            distance,
            "Jensen–Shannon",
            self.limits.jensen_shannon,
            {"unseen_levels": counted.unseen, "cramers_v": test.cramers_v},
        )

    def _missing(self, name: str, now: Floats | Levels) -> Tested | None:
        before = _missing_count(self.rows.inputs[name])
        if before == 0 and _missing_count(now) == 0:
            return None
        found = missingness(before, len(self.rows), _missing_count(now), len(now))
        more = {"baseline": found.reference, "now": found.window, "low": found.low, "high": found.high}
        return Tested(
            f"{name} (missing)",
            found.method,
            abs(found.difference),
            found.p,
            abs(found.difference),
            "change in share",
            self.limits.missing,
            more,
        )

    def _together(self, rows: Scores) -> list[Tested]:
        """All numbers at once: a change in how inputs go together leaves each of them as it was."""
        sides = [
            np.column_stack([np.asarray(part.inputs[name]) for name in self.numbers]) for part in (self.rows, rows)
        ]
        kernel = mmd(*sides, seed=self.seed)
        told = classifier_test(*sides, seed=self.seed)
        limit = self.limits.separable
        more = {"mmd": kernel.squared, "mmd_p": kernel.p}
        return [Tested(TOGETHER, "classifier", told.auc, told.p, told.auc, "AUC", limit, more)]


def all_rows(scores: Scores, windows: Sequence[Window]) -> Scores:
    """Every row of some windows, those that wait for their answer included; values that both have."""
    known = scores.take(np.concatenate([window.rows for window in windows]))
    later = scores.waiting
    places = np.concatenate([window.waiting for window in windows])
    if later is None or places.size == 0:
        return known
    more = later.take(places)
    shared = [name for name in known.values if name in more.values]
    inputs = {name: _stacked(column, more.inputs[name]) for name, column in known.inputs.items()}
    return Scores(
        {name: np.concatenate([known[name], more[name]]) for name in shared},
        np.concatenate([known.patient, more.patient]),
        time=None if known.time is None or more.time is None else np.concatenate([known.time, more.time]),
        inputs=inputs,
    )


def _stacked(first: Floats | Levels, second: Floats | Levels) -> Floats | Levels:
    if isinstance(first, Levels) and isinstance(second, Levels):
        names = [np.array(levels.names, dtype=object)[levels.codes] for levels in (first, second)]
        return Levels.of(np.concatenate(names))
    return np.concatenate([np.asarray(first), np.asarray(second)])


def _one_row_each(scores: Scores) -> Scores:
    """The earliest row of every patient. Rows are ordered by risk as they come, so the first of them is no fair one."""
    if scores.n_patients == len(scores):
        return scores
    order = np.arange(len(scores)) if scores.time is None else np.argsort(scores.time, kind="stable")
    _, first = np.unique(scores.patient[order], return_index=True)
    return scores.take(np.sort(order[first]))


def _missing_count(column: Floats | Levels) -> int:
    if isinstance(column, Levels):
        return (
            int(np.count_nonzero(np.array(column.names, dtype=object)[column.codes] == MISSING)) if len(column) else 0
        )
    return int(np.isnan(column).sum())


def _row(window: str, one: Tested, adjusted: float, chance: float) -> tuple[dict[str, Any], Finding]:
    flagged = adjusted <= chance and one.effect >= one.limit
    row = {
        "window": window,
        "input": one.input,
        "test": one.test,
        "statistic": one.statistic,
        "p": one.p,
        "p_adjusted": adjusted,
        "effect": one.effect,
        "effect_is": one.effect_is,
        "limit": one.limit,
        "flagged": flagged,
        "reason": "",
        **one.more,
    }
    message = f"{one.input}: {one.effect_is} {one.effect:.3g} (limit {one.limit:g}; adjusted p {adjusted:.2g})"
    severity: Severity = "high" if one.effect >= 2 * one.limit and one.effect_is != "AUC" else "medium"
    finding = Finding("input", one.input, {"input": one.input}, window, flagged, one.effect, message=message)
    return row, replace(finding, severity=severity)


def _unknown(window: str, name: str, reason: str) -> tuple[dict[str, Any], Finding]:
    empty = dict.fromkeys(("test", "statistic", "p", "p_adjusted", "effect", "effect_is", "limit"))
    row = {"window": window, "input": name, **empty, "flagged": None, "reason": f"insufficient: {reason}"}
    return row, Finding("input", name, {"input": name}, window, None)
