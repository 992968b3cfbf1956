"""`split`: from a table and a strategy to the rows of each side, with a record of what was done and what to beware."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workup.splits.assignment import REASONS, Drawn
from workup.splits.balance import changes
from workup.splits.checks import Plan, check_plan, check_table, exact_cut, exact_share, gathered
from workup.splits.patients import Rows, Table, event_of_patients, level_of_patients
from workup.splits.sites import by_site
from workup.splits.stratified import stratified
from workup.splits.summary import Counted
from workup.splits.temporal import temporal
from workup.splits.warnings import warnings
from workup.stats.arrays import Floats, Ints

SCHEMA_VERSION = 1
NO_PATIENT_COLUMN = "No patient column: each row is taken as a patient of its own."


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of each side, by their places in the table. `neither` names why a row is on no side.

    `weight` holds, where quotas over-sampled a group, the weight of every row on its side, NaN on neither.
    """

    development: Ints
    validation: Ints
    neither: Mapping[str, Ints] = field(default_factory=dict)
    weight: Floats | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Plain data for split.json."""
        return copy.deepcopy(dict(self.summary))


def split(
    table: Table,
    *,
    strategy: str,
    patient: str | None = None,
    outcome: str | None = None,
    by: Sequence[str] = (),
    site: str | None = None,
    time: str | None = None,
    share: float = 0.2,
    cut: Any = None,
    embargo: int = 0,
    minimum: int = 10,
    minimum_rows: int = 50,
    quota: Mapping[str, Mapping[str, int]] | None = None,
    hold_out: Sequence[str] = (),
    seed: int = 0,
    where: str = "table",
) -> Split:
    """Split a table (columns as arrays) into development and validation; a patient is on one side only.

    `strategy` is random, outcome, demographics, multidimensional, temporal or site; columns that it does not stratify
    by are still counted and compared. `minimum` is asked of patients with and without an event, `minimum_rows` of
    rows, in each group on each side: less is a warning. `quota` maps columns to levels to patients in validation.

    >>> table = {"sex": np.array(["F", "M"] * 50, dtype=object), "died": np.array([0.0, 0.0, 0.0, 1.0] * 25)}
    >>> found = split(table, strategy="multidimensional", outcome="died", by=["sex"], seed=1)
    >>> len(found.development), len(found.validation)
    (80, 20)
    >>> [(row["level"], row["patients"]["validation"]) for row in found.record()["levels"] if row["variable"] == "sex"]
    [('F', 10), ('M', 10)]
    """
    plan = Plan(
        strategy=strategy,
        patient=patient,
        outcome=outcome,
        by=tuple(by),
        site=site,
        time=time,
        share=exact_share(share),
        cut=exact_cut(cut),
        embargo=embargo,
        minimum=minimum,
        minimum_rows=minimum_rows,
        quota={name: dict(levels) for name, levels in (quota or {}).items()},
        hold_out=tuple(hold_out),
        seed=seed,
    )
    check_plan(plan)
    rows = gathered(check_table(table, plan, where=where), plan, where=where)
    of_patients = {
        name: event_of_patients(rows, levels) if name == plan.outcome else level_of_patients(rows, levels)
        for name, levels in rows.levels.items()
    }
    patients = {name: codes for name, (codes, _) in of_patients.items()}
    drawn = _drawn(rows, plan, patients, where=where)
    varying = {name: count for name, (_, count) in of_patients.items() if count}
    return Split(
        development=np.flatnonzero(drawn.side == 0),
        validation=np.flatnonzero(drawn.side == 1),
        neither={
            reason: np.flatnonzero(drawn.side == code) for code, reason in REASONS.items() if (drawn.side == code).any()
        },
        weight=drawn.weight,
        summary=_record(plan, Counted(rows, drawn, patients), varying),
    )


def _drawn(rows: Rows, plan: Plan, patients: dict[str, Ints], *, where: str) -> Drawn:
    if plan.strategy == "temporal":
        return temporal(rows, plan, where=where)
    if plan.strategy == "site":
        return by_site(rows, plan, where=where)
    return stratified(rows, plan, patients, where=where)


def _record(plan: Plan, counted: Counted, varying: dict[str, int]) -> dict[str, Any]:
    levels = counted.levels()
    # Where a quota changed the mix on purpose, or sites were parted, a difference is what was asked for.
    skip = tuple(counted.rows.levels) if plan.quota else (plan.site,) if plan.strategy == "site" and plan.site else ()
    record: dict[str, Any] = {
        "kind": "split",
        "schema_version": SCHEMA_VERSION,
        "strategy": plan.strategy,
        "seed": plan.seed,
        "columns": {
            "patient": plan.patient,
            "outcome": plan.outcome,
            "by": list(plan.by),
            "site": plan.site,
            "time": plan.time,
            "stratified_by": list(plan.strata),
        },
        "settings": _settings(plan),
        "whole": counted.whole(),
        "sides": counted.sides(),
        "left_out": counted.left_out(),
        "levels": levels,
        "margins": _margins(plan, counted, levels),
        "collapsed": counted.drawn.collapsed,
        "varying": varying,
        "changes": changes(levels, skip=skip),
        "about": dict(counted.drawn.about),
        "notes": _notes(plan, varying),
    }
    record["warnings"] = warnings(plan, record)
    return record


def _settings(plan: Plan) -> dict[str, Any]:
    unused = (plan.strategy == "temporal" and plan.cut is not None) or bool(plan.hold_out)
    return {
        "share": None if unused else float(plan.share),
        "cut": None if plan.cut is None else str(plan.cut),
        "embargo_days": plan.embargo if plan.strategy == "temporal" else None,
        "minimum_patients_each_outcome": plan.minimum,
        "minimum_rows": plan.minimum_rows,
        "quota": {name: dict(levels) for name, levels in plan.quota.items()},
        "hold_out": list(plan.hold_out),
    }


def _margins(plan: Plan, counted: Counted, levels: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """How near the held margins are to their shares; None where the strategy holds none."""
    wanted = counted.drawn.expected_total
    if wanted is None:
        return None
    total = int((counted.home == 1).sum())
    rows: list[dict[str, Any]] = [
        {
            "variable": None,
            "level": None,
            "validation": total,
            "expected": float(wanted),
            "deviation": float(total - wanted),
        }
    ]
    rows += [
        {
            "variable": row["variable"],
            "level": row["level"],
            "validation": row["patients"]["validation"],
            "expected": row["expected_validation"],
            "deviation": row["deviation"],
        }
        for row in levels
        if "deviation" in row
    ]
    off = [row for row in rows if abs(row["deviation"]) > 1]
    return {
        "held_within_one_patient": not off,
        "margins": len(rows),
        "largest_deviation": max(abs(row["deviation"]) for row in rows),
        "expected_total": float(wanted),
        "off": off,
    }


def _notes(plan: Plan, varying: Mapping[str, int]) -> list[str]:
    notes = [] if plan.patient is not None else [NO_PATIENT_COLUMN]
    for name, count in varying.items():
        rule = (
            "a patient with any event counts as one"
            if name == plan.outcome
            else "a patient counts under the first known level"
            if plan.time is not None
            else "a patient counts under the level that most rows have"
        )
        notes.append(f"{name} differs between rows of {count:,} patient{'' if count == 1 else 's'}; {rule}.")
    if plan.quota:
        notes.append(
            "Quotas changed the mix on purpose, so shares are not compared; use the weights, or every overall figure "
            "leans towards the groups that were over-sampled."
        )
    if plan.strategy == "temporal":
        notes.append("A patient belongs to the side of the first dated row; rows from the cut on are for validation.")
    if plan.strategy == "site":
        notes.append("Whole sites were parted; a patient belongs to the side of the home site.")
    return notes
