"""Earlier patients to development, later ones to validation: a cut between calendar days, with an embargo before it."""

from __future__ import annotations

import math

import numpy as np

from workup.errors import InputError
from workup.splits.assignment import DEVELOPMENT, EMBARGOED, STRADDLING, UNDATED, VALIDATION, Drawn
from workup.splits.checks import Plan
from workup.splits.patients import Days, Rows
from workup.stats.arrays import Ints


def temporal(rows: Rows, plan: Plan, *, where: str) -> Drawn:
    """Rows from the cut on are for validation. A patient belongs to the side of the first dated row.

    Later rows of a patient who began before the cut would show the model someone it was built on: they are left out as
    straddling. Rows of the last `embargo` days before the cut are left out too, since their outcome window reaches it.
    """
    assert rows.day is not None
    dated = ~np.isnat(rows.day)
    days = np.unique(rows.day[dated])
    if days.size < 2:
        raise InputError(
            "a temporal split needs two different dates or more",
            where=f"{where}, column '{plan.time}'",
            got=f"{days.size}",
            remedy="choose another strategy, or name the column of the time",
        )
    cut = plan.cut if plan.cut is not None else days[_place(plan, days.size)]
    if not days[0] < cut <= days[-1]:
        raise InputError(
            "the cut must leave dates on both sides",
            where=f"{where}, column '{plan.time}'",
            got=f"{cut} where dates run from {days[0]} to {days[-1]}",
            remedy="rows from the cut on are for validation, earlier ones for development",
        )
    first = first_day(rows)
    late = np.where(np.isnat(first), False, first >= cut)[rows.patient]
    side = np.where(late, VALIDATION, DEVELOPMENT).astype(np.int8)
    side[~late & dated & (rows.day >= cut - np.timedelta64(plan.embargo, "D"))] = EMBARGOED
    side[~late & dated & (rows.day >= cut)] = STRADDLING
    side[~dated] = UNDATED
    _refuse_empty(side, plan, cut, where)
    before, since = int((days < cut).sum()), int((days >= cut).sum())
    return Drawn(
        side, about={"cut": str(cut), "dates_before_cut": before, "dates_from_cut": since, "embargo_days": plan.embargo}
    )


def _place(plan: Plan, n: int) -> int:
    """The first date of validation: as many distinct dates before it as development's share of them, rounded up."""
    return min(max(1, math.ceil((1 - plan.share) * n)), n - 1)


def first_day(rows: Rows) -> Days:
    """The first dated day of each patient, NaT where none is dated."""
    assert rows.day is not None
    late = np.iinfo(np.int64).max
    first: Ints = np.full(rows.n_patients, late)
    dated = ~np.isnat(rows.day)
    np.minimum.at(first, rows.patient[dated], rows.day[dated].astype(np.int64))
    return np.where(first == late, np.datetime64("NaT", "D"), np.where(first == late, 0, first).astype("datetime64[D]"))


def _refuse_empty(side: np.ndarray[tuple[int], np.dtype[np.int8]], plan: Plan, cut: object, where: str) -> None:
    for code, name, remedy in (
        (DEVELOPMENT, "development", "choose a later cut or a shorter embargo"),
        (VALIDATION, "validation", "choose an earlier cut; only patients whose first row is on or after it count"),
    ):
        if not (side == code).any():
            raise InputError(
                f"a cut at {cut} with an embargo of {plan.embargo} days leaves no row for {name}",
                where=where,
                remedy=remedy,
            )
