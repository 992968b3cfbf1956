"""How names are written beyond the tables: nicknames, accents, particles, double surnames. Knows no person."""

from __future__ import annotations

from workup.text.unicode import unaccented
from workup.values import tables
from workup.values.draws import Chance
from workup.values.tables import Draw

NICKNAMES = tables.word_pairs("nicknames")
ACCENTED = {unaccented(name): name for name in tables.words("accented")}
# By origin group: surnames whose particle, apostrophe or hyphen breaks a detector that looks for one capitalised word.
PARTICLES = tables.word_lists("particles")


def accented(name: str) -> str:
    """The name with its Spanish accents, where it has any.

    >>> accented("Nunez"), accented("Smith")
    ('Núñez', 'Smith')
    """
    return ACCENTED.get(name, name)


def family_name(drawn: str, *, origin: str, sex: str, how: float, second: Draw, chance: Chance) -> str:
    """The surname as written: mostly as drawn; sometimes with a particle, accents, or as one of two surnames.

    `how` is a uniform draw. Two names are joined by a hyphen, or by a blank as is Spanish custom.
    """
    if how < 0.04:
        return chance.pick(PARTICLES[origin])
    if how < (0.10 if sex == "F" else 0.06):
        other = chance.weighted(second.names, second.cumulative).text
        return f"{drawn}-{other}" if other != drawn else drawn
    if origin == "hispanic":
        if how < 0.22:
            return f"{accented(drawn)} {accented(chance.weighted(second.names, second.cumulative).text)}"
        if how < 0.5:
            return accented(drawn)
    return drawn
