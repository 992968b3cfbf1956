"""A gap in either direction: what each asks for, the larger of the two, and power over the size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from workup.errors import InputError
from workup.lenses.power.plans.refusals import refusing
from workup.stats.sizes.proportions import both_directions, inside, power_curve, whole

POINTS, FEW_POINTS = 31, 11  # of a power curve


class Sized(NamedTuple):
    """One expectation for the group that differs, and the exact rows of the first group and of any other."""

    other: float
    first: float
    second: float

    @property
    def total(self) -> int:
        """Whole rows of a pair."""
        return whole(self.first) + whole(self.second)


class ByDirection(NamedTuple):
    """What is needed for each direction in which the other group may differ; the larger is `needed`."""

    each: Mapping[str, Sized]
    needed: Sized
    not_possible: tuple[str, ...]


def by_direction(
    value: float,
    other: float | None,
    gap: float | None,
    plan: Callable[[float], Sized],
    *,
    names: tuple[str, str, str],
    kind: str,
) -> ByDirection:
    """Plan for the pair given, or for a gap in both directions."""
    if (other is None) == (gap is None):
        raise InputError(
            f"give {names[1]} or {names[2]}, one of the two",
            where=f"plan {kind}",
            got="neither" if other is None else "both",
        )
    with refusing(kind):
        inside(names[0], value)
        if other is not None:
            inside(names[1], other)
            found = plan(other)
            return ByDirection({"given": found}, found, ())
        assert gap is not None
        # 0.8 + 0.05 is 0.8500000000000001 to a machine and to nobody else.
        both = both_directions(value, gap, lambda end: plan(round(end, 12)), lambda one: one.total)
    each = {name: found for name, found in (("lower", both.down), ("higher", both.up)) if found is not None}
    return ByDirection(each, both.needed, both.not_possible)


def curve(
    power_at: Callable[[float], float],
    *,
    needed: float,
    about: Mapping[str, Any],
    reach: float = 2.0,
    points: int = POINTS,
) -> list[dict[str, Any]]:
    """Power over the rows of the first group, as plain rows."""
    found = power_curve(lambda sizes: [power_at(n) for n in sizes.tolist()], needed=needed, points=points, reach=reach)
    return [{**about, "n": int(n), "power": float(reached)} for n, reached in zip(found.n, found.power, strict=True)]
