"""What a threshold chosen from data does on new patients, by choosing it anew in resamples of patients.

In every resample the rule picks its own threshold, and the figure there on the resample is compared with the figure
there on the data: that difference is how far the data flatter a threshold that they chose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats, Ints
from workup.stats.bootstrap import Resamples, quantiles
from workup.stats.intervals import Ends

SHARES = ("sensitivity", "specificity", "ppv", "alert_rate")
Cuts = npt.NDArray[np.intp]  # how many rows of the table lie below a threshold


@dataclass(frozen=True, eq=False)
class Below:
    """Running weights of rows, and of events, below every cut: [b, rows + 1]. The last cut flags nobody."""

    rows: Floats
    events: Floats

    def tallies(self, cut: Cuts) -> dict[str, tuple[Floats, Floats]]:
        """Numerator and denominator of every share at one cut for each replicate (or at many cuts of the data)."""
        at = np.arange(len(self.rows)) if len(self.rows) > 1 else 0
        total, events = self.rows[:, -1], self.events[:, -1]
        below, missed = self.rows[at, cut], self.events[at, cut]
        return {
            "sensitivity": (events - missed, events),
            "specificity": (below - missed, total - events),
            "ppv": (events - missed, total - below),
            "alert_rate": (total - below, total),
        }


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in the order of their risks."""

    risk: Floats
    outcome: Floats
    weight: Floats
    patient: Ints  # 0 to the number of patients − 1
    independent: bool  # one row a patient, and all of one weight

    @classmethod
    def of(cls, outcome: Floats, risk: Floats, patient: Ints | None = None, weight: Floats | None = None) -> Table:
        """Sort the rows; rows without weight are left out."""
        used = np.ones(risk.size, dtype=bool) if weight is None else weight > 0
        order = np.flatnonzero(used)[np.argsort(risk[used], kind="stable")]
        w = np.ones(order.size) if weight is None else weight[order]
        if w.size and np.all(w == w[0]):
            w = np.ones(order.size)
        codes = np.arange(order.size) if patient is None else np.unique(patient[order], return_inverse=True)[1]
        alone = bool(np.all(w == 1.0)) and np.unique(codes).size == order.size
        return cls(risk[order], outcome[order].astype(np.float64), w, np.asarray(codes, dtype=np.int64), alone)

    @property
    def patients(self) -> int:
        """How many there are."""
        return int(self.patient.max()) + 1 if self.patient.size else 0

    def cut(self, threshold: float) -> int:
        """How many rows lie below a threshold."""
        return int(np.searchsorted(self.risk, threshold, side="left"))

    @property
    def below(self) -> Below:
        """The running weights of the data themselves."""
        return self.under(self.weight[None, :])

    def under(self, weights: Floats) -> Below:
        """The running weights of replicates [b, rows]."""
        return Below(_running(weights), _running(weights * self.outcome))

    def replicates(self, resamples: Resamples) -> Iterator[Below]:
        """The running weights of resampled patients, block by block."""
        for block in resamples.blocks(cells=max(1, 4_000_000 * resamples.n_units // max(1, self.risk.size))):
            yield self.under(resamples.counts(block)[:, self.patient] * self.weight)


def _running(values: Floats) -> Floats:
    found = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values, axis=1, out=found[:, 1:])
    return found


class Chosen(NamedTuple):
    """A threshold, and the rule that chose it."""

    cut: int
    odds: float  # at which net benefit weighs needless alerts
    rule: Callable[[Below], Cuts]


def chosen_ends(
    table: Table, chosen: Sequence[Chosen], *, replicates: int, seed: int, level: float = 0.95
) -> list[dict[str, Ends]]:
    """For each threshold the interval of every share, and of net benefit, for what it does on new patients.

    Half a row is added to either side of a share, so that none or all still have log odds.
    """
    data, tails = table.below, np.array([(1 - level) / 2, (1 + level) / 2])
    shifts: list[dict[str, list[Floats]]] = [{} for _ in chosen]
    for drawn in table.replicates(Resamples(table.patients, replicates, seed)):
        for one, kept in zip(chosen, shifts, strict=True):
            cuts = one.rule(drawn)
            there = _scaled(data.tallies(cuts), one.odds)
            for name, here in _scaled(drawn.tallies(cuts), one.odds).items():
                kept.setdefault(name, []).append(here - there[name])
    return [
        {name: _ends(here[name][0], quantiles(np.concatenate(shift), tails), name) for name, shift in kept.items()}
        for here, kept in (
            (_scaled(data.tallies(np.array([one.cut])), one.odds), kept)
            for one, kept in zip(chosen, shifts, strict=True)
        )
    ]


def _ends(here: float, shift: Floats, name: str) -> Ends:
    back = special.expit if name in SHARES else float
    return Ends(float(back(here - shift[1])), float(back(here - shift[0])))


def _scaled(tallies: Mapping[str, tuple[Floats, Floats]], odds: float) -> dict[str, Floats]:
    """Shares as log odds, and net benefit as it is."""
    found = {name: np.log(x + 0.5) - np.log(np.maximum(n - x, 0.0) + 0.5) for name, (x, n) in tallies.items()}
    hits, (alerts, rows) = tallies["sensitivity"][0], tallies["alert_rate"]
    found["net_benefit"] = (hits - odds * (alerts - hits)) / rows
    return found
