"""Which packs may be pooled with each other: one of each site, all of one study, and none a near copy of another.

Sites that measured apart agree on few figures to a fraction of their error; a pack sent under two names, even with
numbers changed here and there, agrees on most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Any

from workup.errors import visible
from workup.packs.load import Pack, refused
from workup.packs.pack import study_digest
from workup.report import canonical

# Two honest sites with the same true value lie within a twentieth of their joint standard error in 4 of 100 figures.
_NEAR = 0.05
NEAR_COPY = 0.5  # share of figures that lie so near from which two packs are held to be of the same people
_FEWEST = 6  # figures below which nothing is said

_Figure = tuple[float, float]  # a value and its standard error


def check_together(packs: Sequence[Pack]) -> None:
    """Refuse packs that must not be pooled: one site twice, or sites that measured different things."""
    for i, one in enumerate(packs):
        for other in packs[:i]:
            pair = f"{other.where} and {one.where}"
            names = f"'{other.site[:60]}' and '{one.site[:60]}'"
            if one.site.strip().casefold() == other.site.strip().casefold():
                raise refused(
                    pair,
                    "each site stands in one pack",
                    f"two packs of the site '{one.site}'",
                    "give one of them, or make one again with its own name by --site",
                )
            if _figures(one) == _figures(other):
                raise refused(
                    pair,
                    "each site stands in one pack",
                    f"the same figures under two names, {names}",
                    "give one of them",
                )
            if (alike := likeness(one.record, other.record)) >= NEAR_COPY:
                raise refused(
                    pair,
                    "each site stands in one pack",
                    f"nearly the same figures under two names, {names} ({alike:.0%} of them)",
                    "ask both sites whose patients these are, and give one of the packs",
                )
            for what, read in _SAME.items():
                mine, theirs = canonical(read(one.record)), canonical(read(other.record))
                if mine != theirs:
                    raise refused(
                        pair,
                        f"packs that are pooled must have the same {what}",
                        f"{visible(theirs)[:80]} and {visible(mine)[:80]}",
                        "pool them apart, or make the reports of the sites again from one study",
                    )


def _figures(pack: Pack) -> str:
    """All that was measured, without what a site says of itself."""
    told = [row for row in pack.record["estimates"] if row["status"] == "ok"]
    return canonical([told, pack.record["holdings"]]) if told else pack.sha256


def _study(record: Mapping[str, Any]) -> str:
    """The hash of the settings that must agree; a pack of version 1 does not say it, but what it is of."""
    if record.get("study") is not None:
        return str(record["study"]["sha256"])
    return study_digest(record["task"], record["system"], record["settings"])


_SAME: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "task": lambda record: record["task"],
    "system": lambda record: record["system"],
    "thresholds": lambda record: sorted(record["settings"]["thresholds"]),
    "levels of confidence": lambda record: record["settings"]["levels"],
    "study settings": lambda record: _study(record),
}


def likeness(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """The share of figures told by both packs that are nearly the same; 0 where they are too few to say.

    How many patients there are is left out: sites may be asked for as many as each other.
    """
    mine, theirs = dict(_each_figure(one)), dict(_each_figure(other))
    both = [name for name in mine if name in theirs]
    if len(both) < _FEWEST:
        return 0.0
    return sum(_near(mine[name], theirs[name]) for name in both) / len(both)


def _near(one: _Figure, other: _Figure) -> bool:
    return abs(one[0] - other[0]) <= _NEAR * sqrt(one[1] ** 2 + other[1] ** 2)


def _each_figure(record: Mapping[str, Any]) -> Iterator[tuple[str, _Figure]]:
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
