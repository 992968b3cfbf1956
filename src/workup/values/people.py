"""People of synthetic notes, with the surface forms of their names. Titles and possessives are no part of a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Literal

from workup.errors import InputError, near
from workup.text.unicode import unaccented
from workup.values import ambiguous, tables
from workup.values.draws import Chance
from workup.values.tables import ORIGINS, Draw

Ambiguity = Literal["none", "standard", "high"]
SEXES: tuple[str, ...] = ("F", "M")
AMBIGUITY: Mapping[str, float] = MappingProxyType({"none": 0.0, "standard": 0.1, "high": 0.6})
_SUFFIXES = ("Jr.", "Jr", "Sr.", "II", "III", "IV")
_TELLING = 0.5
_BANDS = ("rare", "medium", "common")
# How names are written beyond the tables.
_NICKNAMES = tables.word_pairs("nicknames")
_ACCENTED = {unaccented(name): name for name in tables.words("accented")}
# By origin group: surnames whose particle, apostrophe or hyphen breaks a detector that looks for one capitalised word.
_PARTICLES = tables.word_lists("particles")


@dataclass(frozen=True, slots=True)
class Person:
    """A person whose name carries tags: sex, origin group, popularity band and decade of birth (1950).

    `popularity` is the band of the rarer of the two names, since that is the one a dictionary lacks. `ambiguous` names
    the kinds of ambiguity that the name was chosen for.
    """

    given: str
    middle: str
    family: str
    suffix: str | None
    sex: str
    origin: str
    popularity: str
    decade: int
    nickname: str | None = None
    ambiguous: tuple[str, ...] = ()

    def surface(self, form: str = "full") -> str:
        """The name in one of the forms of `PERSON_FORMS`; where a part is missing, in the nearest form that has it.

        >>> ada = Person("Ada", "Ruth", "de la Cruz", None, "F", "hispanic", "common", 1950)
        >>> ada.surface("family_first_initial"), ada.surface("caps"), ada.surface("initial_family")
        ('de la Cruz, Ada R.', 'ADA DE LA CRUZ', 'A. de la Cruz')
        """
        write = PERSON_FORMS.get(form)
        if write is None:
            raise InputError(
                "a name must be asked for in a known form", got=repr(form[:40]), remedy=near(form, PERSON_FORMS)
            )
        return write(self)

    @property
    def last(self) -> str:
        """The family name with its suffix, as it closes a full name."""
        return f"{self.family} {self.suffix}" if self.suffix else self.family


def _hl7(person: Person) -> str:
    parts = [person.family, person.given, person.middle]
    return "^".join([*parts, person.suffix] if person.suffix else parts).upper()


PERSON_FORMS: Mapping[str, Callable[[Person], str]] = MappingProxyType(
    {
        "full": lambda p: f"{p.given} {p.last}",
        "full_middle": lambda p: f"{p.given} {p.middle} {p.last}",
        "full_initial": lambda p: f"{p.given} {p.middle[0]}. {p.last}",
        "full_bare_initial": lambda p: f"{p.given} {p.middle[0]} {p.last}",
        "initial_family": lambda p: f"{p.given[0]}. {p.last}",
        "initials_family": lambda p: f"{p.given[0]}.{p.middle[0]}. {p.last}",
        "initial_bare_family": lambda p: f"{p.given[0]} {p.last}",
        "family_first": lambda p: f"{p.last}, {p.given}",
        "family_first_initial": lambda p: f"{p.last}, {p.given} {p.middle[0]}.",
        "family_first_middle": lambda p: f"{p.last}, {p.given} {p.middle}",
        "family_first_tight": lambda p: f"{p.last},{p.given}",
        "family_first_caps": lambda p: f"{p.last}, {p.given}".upper(),
        "family_initial": lambda p: f"{p.last} {p.given[0]}",
        "given": lambda p: p.given,
        "family": lambda p: p.last,
        "given_initial": lambda p: f"{p.given} {p.family.rpartition(' ')[2][0].upper()}.",
        "caps": lambda p: f"{p.given} {p.last}".upper(),
        "family_caps": lambda p: f"{p.given} {p.family.upper()}",
        "lower": lambda p: f"{p.given} {p.last}".lower(),
        "given_lower": lambda p: p.given.lower(),
        "nickname": lambda p: p.nickname or p.given,
        "nickname_family": lambda p: f"{p.nickname or p.given} {p.last}",
        "nickname_quoted": lambda p: f'{p.given} "{p.nickname}" {p.last}' if p.nickname else f"{p.given} {p.last}",
        "initials": lambda p: f"{p.given[0]}.{p.middle[0]}.{p.family.rpartition(' ')[2][0].upper()}.",
        "hl7": _hl7,
    }
)


def check_group(*, origin: str | None, sex: str | None) -> None:
    """Origin and sex must be known ones, or None."""
    if origin is not None and origin not in ORIGINS:
        raise InputError(
            f"an origin group must be one of {', '.join(ORIGINS)}", got=repr(origin[:40]), remedy=near(origin, ORIGINS)
        )
    if sex is not None and sex not in SEXES:
        raise InputError("the sex of a name must be F or M", got=repr(sex[:40]))


def rarer(one: str, two: str) -> str:
    """The rarer of two bands."""
    return min(one, two, key=_BANDS.index)


def draw_person(
    chance: Chance, *, sex: str, origin: str, decade: int, ambiguity: str = "standard", kin: Person | None = None
) -> Person:
    """A person of a group; with `kin`, one who bears the family name of that person.

    Half of the names are as frequent as in the group. The others lean to names that are typical of it: in small
    groups most people bear names that are common everywhere, and a contrast of groups by name would find nothing.
    """
    given_table = tables.given_names(origin, sex, decade, telling=chance.happens(_TELLING))
    given, middle = (chance.weighted(given_table.names, given_table.cumulative) for _ in range(2))
    table = tables.surnames(origin, telling=chance.happens(_TELLING))
    surname = chance.weighted(table.names, table.cumulative)
    twisted, doubled, suffixed = chance.uniform(), chance.uniform(), chance.uniform()
    if ambiguity == "none":
        given, surname = _plain(given, given_table), _plain(surname, table)
    written = _family_name(surname.text, origin=origin, sex=sex, how=doubled, second=table, chance=chance)
    if ambiguity == "none" and ambiguous.is_ambiguous(written):
        written = surname.text
    person = Person(
        _accented(given.text) if origin == "hispanic" and twisted > 0.7 else given.text,
        middle.text,
        kin.family if kin else written,
        chance.pick(_SUFFIXES) if sex == "M" and suffixed < 0.06 else None,
        sex,
        origin,
        rarer(tables.band(given.bearers), kin.popularity if kin else tables.band(surname.bearers)),
        decade,
        _NICKNAMES.get(given.text),
    )
    return _twisted(person, chance, keep_family=kin is not None) if twisted < AMBIGUITY[ambiguity] else person


def _plain(name: tables.Name, table: tables.Draw) -> tables.Name:
    """The name itself, or the next one of the table that is not ambiguous."""
    if not ambiguous.is_ambiguous(name.text):
        return name
    at = table.names.index(name)
    later = (*table.names[at:], *table.names[:at])
    return next(other for other in later if not ambiguous.is_ambiguous(other.text))


def _twisted(person: Person, chance: Chance, *, keep_family: bool) -> Person:
    """The person with an ambiguous given name, family name or both."""
    part = 0.0 if keep_family else chance.uniform()
    given, family, found = person.given, person.family, []
    if part < 0.6:
        kinds = ambiguous.GIVEN[person.origin, person.sex]
        found.append(chance.pick(tuple(kinds)))
        given = chance.pick(kinds[found[-1]])
    if part > 0.45:
        kinds = ambiguous.FAMILY[person.origin]
        found.append(chance.pick(tuple(kinds)))
        family = chance.pick(kinds[found[-1]])
    bands = tables.popularity(given, part=person.sex), tables.popularity(family, part="family")
    nickname = person.nickname if given == person.given else None
    return replace(
        person, given=given, family=family, nickname=nickname, popularity=rarer(*bands), ambiguous=tuple(found)
    )


@cache
def name_pool(*, origin: str, sex: str) -> tuple[Person, ...]:
    """Telling names of one group, aligned: the k-th person of every pool has a name as frequent as the k-th of others.

    For a paired contrast put `name_pool(origin=…, sex=…)[k]`, with one k for all groups, into the same text.

    >>> pools = [name_pool(origin=origin, sex="F") for origin in ORIGINS]
    >>> {len(pool) for pool in pools}, {pool[5].popularity for pool in pools}
    ({40}, {'rare'})
    """
    check_group(origin=origin, sex=sex)
    rows = tables.pool_rows(origin, sex)
    people = []
    for place, row in enumerate(rows):
        bands = tables.band(row.given_bearers), tables.band(row.family_bearers)
        middle = rows[(place + 11) % len(rows)].given
        people.append(Person(row.given, middle, row.family, None, sex, origin, rarer(*bands), 1970))
    return tuple(people)


def _accented(name: str) -> str:
    """The name with its Spanish accents, where it has any.

    >>> _accented("Nunez"), _accented("Smith")
    ('Núñez', 'Smith')
    """
    return _ACCENTED.get(name, name)


def _family_name(drawn: str, *, origin: str, sex: str, how: float, second: Draw, chance: Chance) -> str:
    """The surname as written: mostly as drawn; sometimes with a particle, accents, or as one of two surnames.

    `how` is a uniform draw. Two names are joined by a hyphen, or by a blank as is Spanish custom.
    """
    if how < 0.04:
        return chance.pick(_PARTICLES[origin])
    if how < (0.10 if sex == "F" else 0.06):
        other = chance.weighted(second.names, second.cumulative).text
        return f"{drawn}-{other}" if other != drawn else drawn
    if origin == "hispanic":
        if how < 0.22:
            return f"{_accented(drawn)} {_accented(chance.weighted(second.names, second.cumulative).text)}"
        if how < 0.5:
            return _accented(drawn)
    return drawn
