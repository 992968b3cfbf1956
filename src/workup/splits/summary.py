"""What is on each side, in whole counts: rows, patients, events, dates and levels. Shares are made from counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workup.scores import Levels
from workup.splits.assignment import REASONS, SIDES, Drawn
from workup.splits.patients import Rows
from workup.stats.arrays import Bools, Ints

_PLACES = (*SIDES, "left_out")


@dataclass(frozen=True, eq=False)
class Counted:
    """Rows and patients by the place they are in: development, validation or left out."""

    rows: Rows
    drawn: Drawn
    patients: Mapping[str, Ints]  # the level of each patient, by variable

    @property
    def place(self) -> Ints:
        """Of each row: 0, 1, or 2 for left out."""
        return np.minimum(self.drawn.side, 2).astype(np.int64)

    @property
    def home(self) -> Ints:
        """Of each patient: the side that holds any of the rows, 2 where none is held."""
        found = np.full(self.rows.n_patients, 2)
        np.minimum.at(found, self.rows.patient, self.place)
        return found

    def sides(self) -> dict[str, dict[str, Any]]:
        """Sizes, events and the range of dates of each side."""
        per_row, per_patient = (np.bincount(where, minlength=3) for where in (self.place, self.home))
        known = int(per_patient[:2].sum())
        found = {}
        for code, name in enumerate(SIDES):
            mask = self.place == code
            found[name] = {
                "rows": int(per_row[code]),
                "patients": int(per_patient[code]),
                "share_of_patients": int(per_patient[code]) / known,
                **self._events(mask),
                **self._dates(mask),
            }
        return found

    def whole(self) -> dict[str, Any]:
        """The same of the whole table."""
        everything = np.ones(len(self.rows), dtype=bool)
        sizes = {"rows": len(self.rows), "patients": self.rows.n_patients}
        return {**sizes, **self._events(everything), **self._dates(everything)}

    def left_out(self) -> list[dict[str, Any]]:
        """Rows on neither side, by reason."""
        found = []
        for code, reason in REASONS.items():
            mask = self.drawn.side == code
            if mask.any():
                who = np.unique(self.rows.patient[mask])
                without = int((self.home[who] == 2).sum())
                found.append(
                    {
                        "reason": reason,
                        "rows": int(mask.sum()),
                        "patients": len(who),
                        "patients_on_no_side": without,
                        **self._events(mask),
                    }
                )
        return found

    def levels(self) -> list[dict[str, Any]]:
        """Every level of every variable, largest first within a variable, with its counts in each place.

        Patients are counted under their own level; rows and events under the level that the row itself has.
        """
        found = []
        for variable, levels in self.rows.levels.items():
            rows = [self._level(variable, levels, code) for code in range(len(levels.names))]
            found += sorted(rows, key=lambda row: (-row["patients"]["all"], row["level"]))
        return found

    def _level(self, variable: str, levels: Levels, code: int) -> dict[str, Any]:
        mine = self.patients[variable] == code
        of_rows = levels.codes == code
        here = np.bincount(self.home[mine], minlength=3)
        sizes = np.bincount(self.home, minlength=3)
        everyone = int(mine.sum()) / self.rows.n_patients
        shares = {name: int(here[place]) / int(sizes[place]) for place, name in enumerate(SIDES) if sizes[place]}
        row: dict[str, Any] = {
            "variable": variable,
            "level": levels.names[code],
            "patients": {**_by_place(here), "all": int(mine.sum())},
            "rows": {**_by_place(np.bincount(self.place[of_rows], minlength=3)), "all": int(of_rows.sum())},
            "share": {**shares, "all": everyone},
            "representation": {name: share / everyone if everyone else None for name, share in shares.items()},
        }
        if self.rows.outcome is not None:
            row["events"] = {name: self._events(of_rows & (self.place == place)) for place, name in enumerate(SIDES)}
        if self.drawn.expected is not None and variable in self.drawn.expected:
            wanted = self.drawn.expected[variable][code]
            row["expected_validation"] = float(wanted)
            row["deviation"] = float(int(here[1]) - wanted)
        return row

    def _events(self, mask: Bools) -> dict[str, Any]:
        outcome = self.rows.outcome
        if outcome is None:
            return {}
        found: dict[str, Any] = {}
        for name, value in (("events", 1.0), ("non_events", 0.0)):
            rows = mask & (outcome == value)
            found[name] = int(rows.sum())
            found[f"{name[:-1]}_patients"] = int(np.unique(self.rows.patient[rows]).size)
        return {**found, "outcome_missing": int((mask & np.isnan(outcome)).sum())}

    def _dates(self, mask: Bools) -> dict[str, Any]:
        if self.rows.day is None:
            return {}
        days = self.rows.day[mask]
        days = days[~np.isnat(days)]
        ends = (str(days.min()), str(days.max())) if days.size else (None, None)
        return {"first_date": ends[0], "last_date": ends[1]}


def _by_place(counts: Ints) -> dict[str, int]:
    return {name: int(counts[place]) for place, name in enumerate(_PLACES)}
