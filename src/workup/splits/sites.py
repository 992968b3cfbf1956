"""Whole sites to one side: those that are named, or sites drawn at random until the share of patients is nearest."""

from __future__ import annotations

import numpy as np

from workup.errors import InputError
from workup.scores import MISSING
from workup.splits.assignment import DEVELOPMENT, NO_SITE, STRADDLING, VALIDATION, Drawn
from workup.splits.checks import Plan, known_levels, level_codes
from workup.splits.patients import Rows, level_of_patients
from workup.stats.arrays import Ints
from workup.stats.random import generator


def by_site(rows: Rows, plan: Plan, *, where: str) -> Drawn:
    """A patient belongs to the side of the home site: that of the first row where times are known, else of most rows.

    Rows at a site of the other side would put a patient on both, and are left out as straddling; rows without a site
    might come from a held-out one, and are on neither side.
    """
    assert plan.site is not None
    levels = rows.levels[plan.site]
    known = known_levels(levels)
    if len(known) < 2:
        raise InputError(
            "a split by site needs two sites or more",
            where=f"{where}, column '{plan.site}'",
            got=f"{len(known)}",
            remedy="choose another strategy, or name the column of the site",
        )
    home, _ = level_of_patients(rows, levels)
    held = _held_out(home, known, levels.names, rows, plan, where)
    is_held = np.isin(np.arange(len(levels.names)), held)
    side = np.where(is_held[home][rows.patient], VALIDATION, DEVELOPMENT).astype(np.int8)
    side[is_held[levels.codes] != is_held[home][rows.patient]] = STRADDLING
    if MISSING in levels.names:
        side[levels.codes == levels.names.index(MISSING)] = NO_SITE
    for code, name in ((DEVELOPMENT, "development"), (VALIDATION, "validation")):
        if not (side == code).any():
            raise InputError(
                f"these sites leave no patient for {name}",
                where=f"{where}, column '{plan.site}'",
                remedy="hold out other sites: a patient belongs to one home site",
            )
    names = [levels.names[place] for place in known]
    return Drawn(
        side,
        about={
            "sites_validation": [levels.names[place] for place in sorted(held)],
            "sites_development": [name for name in names if name not in {levels.names[place] for place in held}],
            "chosen": "named" if plan.hold_out else "drawn at random",
        },
    )


def _held_out(home: Ints, known: list[int], names: tuple[str, ...], rows: Rows, plan: Plan, where: str) -> list[int]:
    assert plan.site is not None
    if plan.hold_out:
        place = f"{where}, column '{plan.site}'"
        held = level_codes(rows.levels[plan.site], plan.hold_out, where=place)
        if MISSING in plan.hold_out or set(held) >= set(known):
            raise InputError(
                "some sites must be held out and some left for development",
                where=place,
                got="the rows without a site" if MISSING in plan.hold_out else "every site",
                remedy="name fewer sites",
            )
        return held
    sizes = np.bincount(home, minlength=len(names))
    target = plan.share * int(sizes[known].sum())
    held, patients = [], 0
    order = generator(plan.seed, "split", "sites").permutation([place for place in known if sizes[place]])
    for place in order.tolist():
        after = patients + int(sizes[place])
        if abs(after - target) < abs(patients - target) and len(held) < len(order) - 1:
            held.append(place)
            patients = after
    # Where every site is more than twice the target none came nearer: the smallest is then the nearest there is.
    return held or [min(order.tolist(), key=lambda place: (int(sizes[place]), names[place]))]
