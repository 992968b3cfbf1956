"""The hand-set weights of name finding: one table, `data/name_weights.yaml`, read once. Each module takes its own from
it as constants, so that weighing a name costs no look-up."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

from workup.text.wordlists import read_lists


class NameWeight(NamedTuple):
    """A weight by its name in the table, and what it weighs."""

    name: str
    value: float
    means: str


def name_weight(name: str) -> float:
    """The value of a weight by its name.

    >>> name_weight("cue.title"), name_weight("whole.one_word")
    (4.0, -2.0)
    """
    return table()[name].value


@cache
def table() -> dict[str, NameWeight]:
    """All weights by their names."""
    rooms = read_lists((files("workup.deid") / "data" / "name_weights.yaml").read_text(encoding="utf-8"))
    rows = ((f"{room}.{name}", row) for room, own in rooms.items() for name, row in own.items())
    return {name: NameWeight(name, float(row["value"]), row["means"]) for name, row in rows}
