"""How alike the figures of two packs are. Sites that measured apart agree on few figures to a fraction of their error;
a pack sent under two names, even with numbers changed here and there, agrees on most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Any

from workup.report import canonical

# Two honest sites with the same true value lie within a twentieth of their joint standard error in 4 of 100 figures.
NEAR = 0.05
SAME = 0.5  # share of figures that lie so near from which two packs are held to be of the same people
FEWEST = 6  # figures below which nothing is said

Figure = tuple[float, float]  # a value and its standard error


def likeness(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """The share of figures told by both packs that are nearly the same; 0 where they are too few to say.

    How many patients there are is left out: sites may be asked for as many as each other.
    """
    mine, theirs = dict(_figures(one)), dict(_figures(other))
    both = [name for name in mine if name in theirs]
    if len(both) < FEWEST:
        return 0.0
    return sum(_near(mine[name], theirs[name]) for name in both) / len(both)


def _near(one: Figure, other: Figure) -> bool:
    return abs(one[0] - other[0]) <= NEAR * sqrt(one[1] ** 2 + other[1] ** 2)


def _figures(record: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    """Each figure that has a standard error, at one level of confidence, and the events of each group, once."""
    for row in record["estimates"]:
        if row["status"] != "ok":
            continue
        at = canonical(row["slice"])
        if row["se"]:
            yield f"{row['metric']} {at}", (row["value"], row["se"])
        if row["n_events"] is not None and "threshold" not in row["slice"]:
            events = float(row["n_events"])
            yield f"events {at}", (events, sqrt(events * max(0.0, 1 - events / max(1, row["n_rows"]))))
