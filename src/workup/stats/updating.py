"""Updating a risk model by as little as the data support: the closed test, its candidates, and cross-fitting.

Candidates, from the least to the most: none, in_the_large (a + lp), recalibration (a + b lp), refit (lp and predictors);
by name only: beta and isotonic. lp is the log odds of the clipped risk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from workup.stats.arrays import Floats, Ints
from workup.stats.calibration import CLIP

METHODS = ("none", "in_the_large", "recalibration", "refit", "beta", "isotonic")
LEAST_EVENTS = {"in_the_large": 20, "recalibration": 50, "beta": 100, "isotonic": 500}  # and non-events
ADVISED_EVENTS = {"recalibration": 100}
FEWEST_PATIENTS = 11  # behind a step of an isotonic update: fewer are merged with a neighbour


class CannotUpdate(ValueError):
    """A named update that these data do not carry; the message says why and what to do."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to update on: outcomes (0 or 1), risks, and where there are any predictors, patients of rows and weights."""

    outcome: Floats
    risk: Floats
    predictors: Mapping[str, Floats] = field(default_factory=dict)
    patient: Ints | None = None  # None: every row is a patient
    weight: Floats | None = None

    def take(self, rows: Any) -> Sample:
        """Some of the rows, by mask or position."""
        raise NotImplementedError


class TestRow(NamedTuple):
    """One candidate against the largest model."""

    candidate: str
    statistic: float
    df: int
    p: float | None  # None: the candidate is the largest model
    kind: str


@dataclass(frozen=True, eq=False)
class ClosedTest:
    """The closed test (Vergouwe 2017): which candidate it chose, its rows, and the fits it compared."""

    chosen: str
    rows: tuple[TestRow, ...]
    kind: str
    rank: int
    kept: tuple[str, ...]  # predictors that add rank, in order
    log_likelihood: Mapping[str, float]  # of none, in_the_large, recalibration and the largest
    in_the_large: float
    recalibration: tuple[float, float]
    largest: Floats  # coefficients of 1, lp and the kept predictors
    alpha: float


@dataclass(frozen=True, eq=False)
class Update:
    """How risks are mended: a method with its parameters, and how it was found."""

    method: str
    parameters: Mapping[str, Any]  # {} | {intercept} | {intercept, slope} | {columns, coefficients} | {a, b, c} | {x, y}
    fitted_on: tuple[float, float]  # least and greatest lp
    chosen_by: str = "closed test"  # or "named"
    test: tuple[TestRow, ...] = ()
    reason: str | None = None  # why the method is not the one that the test pointed to
    backwards: bool = False  # higher risks go with fewer events, which no recalibration mends
    clip: float = CLIP

    def apply(self, risk: Floats, predictors: Mapping[str, Floats] | None = None) -> Floats:
        """The updated risks, each in (0, 1). A refit needs the predictors in `parameters["columns"]` by name."""
        raise NotImplementedError

    def beyond(self, risk: Floats) -> int:
        """How many risks lie outside those that the update was fitted on."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Risks of every row by an update made without its fold, and the updates."""

    risk: Floats
    updates: tuple[Update, ...]  # by fold

    @property
    def methods(self) -> tuple[str, ...]:
        """The method of each fold."""
        return tuple(one.method for one in self.updates)


def closed_test(sample: Sample, *, alpha: float = 0.05) -> ClosedTest:
    """None, in_the_large and recalibration, each against the largest model; the first that is not refused at `alpha`."""
    raise NotImplementedError


def not_offered(sample: Sample) -> dict[str, str]:
    """Methods that the number of events and rows forbids, each with the reason and what it takes."""
    raise NotImplementedError


def update(
    sample: Sample, *, method: str = "closed", alpha: float = 0.05, forbidden: Mapping[str, str] | None = None
) -> Update:
    """The update that the closed test chooses, or the one named.

    `forbidden` are methods that may not be used, with the reason (`not_offered` of the whole table; {} for none). The
    closed test then steps down to the next simpler candidate and says so; a named method raises `CannotUpdate`.
    """
    raise NotImplementedError


def folds_of_patients(patient: Ints, *, folds: int = 10, seed: int = 0) -> Ints:
    """A fold from 0 on for every row; all rows of a patient share one, and folds differ by at most one patient."""
    raise NotImplementedError


def cross_fit(sample: Sample, procedure: Callable[[Sample], Update], fold: Ints) -> CrossFitted:
    """The whole procedure anew without each fold, applied to it."""
    raise NotImplementedError
