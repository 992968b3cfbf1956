"""Are the inputs still what they were? Each is compared with its baseline; a change is flagged only when it is both
significant, among all inputs of the window, and large enough to matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from pydantic import Field
from scipy import special

from workup.errors import InputError
from workup.lenses.drift.alerts import Finding, Severity
from workup.lenses.drift.windows import Window, rows_of
from workup.lenses.input_rows import everyone, level_counts, one_row_each
from workup.scores import MISSING, Levels, Scores
from workup.settings import Part
from workup.stats.arrays import Floats
from workup.stats.categorical_distances import chi_square, jensen_shannon
from workup.stats.distances import in_spreads, missingness
from workup.stats.kernel_tests import classifier_test, mmd
from workup.stats.multiplicity import adjust
from workup.stats.reference import BinnedReference, Reference

TOGETHER = "all inputs together"
MISSING_SUFFIX = " (missing)"  # after the name of an input: the share of rows without it
FEWEST_ROWS = 20  # on either side; below that no distance means anything
MOST_LEVELS = 2_000  # of a category whose counts are stored: as many as the quantiles of a number


class InputLimits(Part):
    """How large a change of an input must be to be flagged."""

    wasserstein: float = Field(0.10, gt=0, description="Mean move of a number, in its own standard deviations")
    jensen_shannon: float = Field(0.10, gt=0, description="Jensen–Shannon distance of a category, 0 to 1")
    missing: float = Field(0.05, gt=0, description="Change in the share that is missing")
    separable: float = Field(
        0.60, gt=0.5, lt=1, description="AUC with which a classifier tells the window from the baseline"
    )
    tied_deciles: Literal["own_bin", "merge"] = Field(
        "own_bin",
        description="PSI where deciles coincide: the value gets a bin of its own, or its deciles are merged as in R",
    )
    together: Literal["latest", "every", "none"] = Field(
        "latest", description="Windows in which all inputs are also tested together (MMD and a classifier)"
    )


@dataclass(frozen=True)
class Compared:
    """One comparison of one input: what was measured, how surely, and what would matter."""

    input: str
    test: str
    statistic: float
    p: float
    effect: float
    effect_is: str
    limit: float
    more: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class InputReference:
    """The inputs of the baseline, kept for every window to come: numbers in order or binned, categories as counts.

    `table` holds the numbers row by row, for tests of all of them together; a stream keeps none.
    """

    inputs: tuple[str, ...]
    rows: int
    missing: Mapping[str, int]
    numbers: Mapping[str, Reference]
    levels: Mapping[str, Mapping[str, int]]
    limits: InputLimits
    seed: int
    table: Floats | None = None

    @classmethod
    def of(
        cls, baseline: Scores, *, limits: InputLimits, seed: int, keep: Literal["exact", "binned"] = "exact"
    ) -> InputReference:
        """Freeze the baseline: one row of each patient, since rows of one patient are not independent.

        `binned` keeps counts at 2,000 quantiles, and no row.
        """
        rows = one_row_each(everyone(baseline))
        columns = {name: _finite(name, column) for name, column in rows.inputs.items()}
        numeric = {
            name: column
            for name, column in columns.items()
            if not isinstance(column, Levels) and np.isfinite(column).sum() >= FEWEST_ROWS
        }
        make = Reference.exact if keep == "exact" else Reference.binned
        counted = {name: level_counts(column) for name, column in columns.items() if isinstance(column, Levels)}
        return cls(
            tuple(columns),
            len(rows),
            {name: _missing_count(column) for name, column in columns.items()},
            {name: make(column, ties=limits.tied_deciles) for name, column in numeric.items()},
            {name: counts for name, counts in counted.items() if keep == "exact" or len(counts) <= MOST_LEVELS},
            limits,
            seed,
            np.column_stack(list(numeric.values())) if keep == "exact" and numeric else None,
        )

    def notes(self) -> list[str]:
        """What is kept of the baseline, where that is not all of it."""
        binned = [one for one in self.numbers.values() if isinstance(one, BinnedReference)]
        found = [max(binned, key=lambda one: one.ks_bound).note()] if binned else []
        if binned and self.limits.together != "none":
            found.append("Inputs are not tested together: that needs the baseline's rows, and a stream keeps none.")
        return found

    def compared(
        self, window: str, scores: Scores, *, chance: float, latest: bool
    ) -> list[tuple[dict[str, Any], Finding]]:
        """Every input of one window as a row of the report and a finding for the alerts.

        Among all inputs of the window false discoveries are kept to `chance` (Benjamini and Hochberg). Rows that wait
        for their answer have inputs like any other.
        """
        if not self.inputs:
            return []
        rows = one_row_each(everyone(scores))
        if len(rows) < FEWEST_ROWS:
            reason = f"{len(rows)} patients; at least {FEWEST_ROWS} are needed"
            return [_unknown(window, name, reason) for name in self.inputs]
        tested = [one for name in self.inputs for one in self._input(name, rows)]
        asked = self.limits.together == "every" or (self.limits.together == "latest" and latest)
        if asked and self.table is not None and len(self.numbers) > 1:
            tested.append(self._together(rows, self.table))
        known = [one for one in tested if isinstance(one, Compared)]
        adjusted = adjust([one.p for one in known], method="bh")
        found = [_row(window, one, float(p), chance) for one, p in zip(known, adjusted, strict=True)]
        return found + [_unknown(window, *one) for one in tested if not isinstance(one, Compared)]

    def _input(self, name: str, rows: Scores) -> list[Compared | tuple[str, str]]:
        if name not in rows.inputs:
            raise InputError(
                "every window needs the inputs of the baseline",
                where=f"input '{name}'",
                got="none in this window",
                remedy="give the column, empty where it was not measured",
            )
        now = _finite(name, rows.inputs[name])
        missing = self._missing(name, now)
        found: list[Compared | tuple[str, str]] = [] if missing is None else [missing]
        if isinstance(now, Levels):
            return [*found, self._category(name, now)]
        if name not in self.numbers:
            return [*found, (name, "the baseline holds too few numbers")]
        if np.isfinite(now).sum() < FEWEST_ROWS:
            return [*found, (name, f"fewer than {FEWEST_ROWS} values in the window")]
        return [*found, self._number(name, now)]

    def _number(self, name: str, now: Floats) -> Compared:
        kept = self.numbers[name]
        seen = kept.compare(now, seed=self.seed)
        more = {
            "psi": seen.psi.value,
            "psi_null": seen.psi.critical,
            "jensen_shannon": seen.jensen_shannon.distance,
        }
        if isinstance(kept, BinnedReference):
            error = in_spreads(seen.wasserstein_error, kept.deviation)
            more |= {"statistic_error": seen.ks_error, "effect_error": error}
        moved = seen.wasserstein.scaled
        if not np.isfinite(moved):  # a baseline without spread: any other value is a change without measure
            moved = np.inf if seen.ks.statistic > 0 else 0.0
        return Compared(
            name,
            "Kolmogorov–Smirnov",
            seen.ks.statistic,
            seen.ks.p,
            moved,
            "Wasserstein/SD",
            self.limits.wasserstein,
            more,
        )

    def _category(self, name: str, now: Levels) -> Compared | tuple[str, str]:
        if name not in self.levels:
            return name, f"the baseline holds no categories, or more than {MOST_LEVELS:,} of them"
        both = (self.levels[name], level_counts(now))
        sides = [{level: n for level, n in side.items() if level != MISSING} for side in both]
        if min(sum(side.values()) for side in sides) < FEWEST_ROWS:
            return name, f"fewer than {FEWEST_ROWS} values on one side"
        every = sorted(sides[0].keys() | sides[1].keys())
        before, after = ([side.get(level, 0) for level in every] for side in sides)
        test = chi_square(before, after, seed=self.seed)
        return Compared(
            name,
            f"chi-square ({test.method})",
            test.statistic,
            test.p,
            jensen_shannon(before, after).distance,
            "Jensen–Shannon",
            self.limits.jensen_shannon,
            {"unseen_levels": len(sides[1].keys() - sides[0].keys()), "cramers_v": test.cramers_v},
        )

    def _missing(self, name: str, now: Floats | Levels) -> Compared | None:
        """Missing values have a test of their own."""
        before, missing = self.missing[name], _missing_count(now)
        if before == 0 and missing == 0:
            return None
        found = missingness(before, self.rows, missing, len(now))
        more = {"baseline": found.reference, "now": found.window, "low": found.low, "high": found.high}
        return Compared(
            f"{name}{MISSING_SUFFIX}",
            found.method,
            abs(found.difference),
            found.p,
            abs(found.difference),
            "change in share",
            self.limits.missing,
            more,
        )

    def _together(self, rows: Scores, table: Floats) -> Compared:
        """All numbers at once: a change in how inputs go together leaves each of them as it was."""
        now = np.column_stack([np.asarray(rows.inputs[name]) for name in self.numbers])
        # Rows are dealt to folds by their place, so the places must be those of the values, not of the file.
        sides = [side[np.lexsort(side.T)] for side in (table, now)]
        kernel = mmd(*sides, seed=self.seed)
        separated = classifier_test(*sides, seed=self.seed)
        p = separated.p
        if p <= 1 / (1 + separated.permutations) and separated.se > 0:
            # No deal of the labels came as far. That alone could never pass the limit of many tests in many windows;
            # how far beyond the deals it lies, in their own spread, can.
            p = min(p, float(special.ndtr(-(separated.auc - 0.5) / separated.se)))
        more = {"mmd": kernel.squared, "mmd_p": kernel.p}
        return Compared(TOGETHER, "classifier", separated.auc, p, separated.auc, "AUC", self.limits.separable, more)


def all_rows(scores: Scores, windows: Sequence[Window]) -> Scores:
    """Every row of some windows, those that wait for their answer included; values that both have."""
    return everyone(rows_of(scores, windows))


def _finite(name: str, column: Floats | Levels) -> Floats | Levels:
    if not isinstance(column, Levels) and np.isinf(column).any():
        raise InputError(
            "an input must hold finite numbers, or nothing where it was not measured",
            where=f"input '{name}'",
            got=f"{int(np.isinf(column).sum())} infinite values",
            remedy="replace them by numbers, or empty the cells",
        )
    return column


def _missing_count(column: Floats | Levels) -> int:
    return level_counts(column).get(MISSING, 0) if isinstance(column, Levels) else int(np.isnan(column).sum())


def _row(window: str, one: Compared, adjusted: float, chance: float) -> tuple[dict[str, Any], Finding]:
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
    message = f"{one.input}: {one.effect_is} {one.effect:.3g} (limit {one.limit:g}; adjusted p {_p(adjusted)})"
    severity: Severity = "high" if one.effect >= 2 * one.limit and one.effect_is != "AUC" else "medium"
    finding = Finding("input", one.input, {"input": one.input}, window, flagged, one.effect, message=message)
    return row, replace(finding, severity=severity)


def _p(value: float) -> str:
    """A p value in words; one too small for a float is not 0."""
    return f"{value:.2g}" if value > 0 else "below 1e-300"


def _unknown(window: str, name: str, reason: str) -> tuple[dict[str, Any], Finding]:
    empty = dict.fromkeys(("test", "statistic", "p", "p_adjusted", "effect", "effect_is", "limit"))
    row = {"window": window, "input": name, **empty, "flagged": None, "reason": f"insufficient: {reason}"}
    return row, Finding("input", name, {"input": name}, window, None)
