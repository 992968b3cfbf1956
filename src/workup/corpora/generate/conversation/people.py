"""The people who write: sex, age, language, site and who speaks for them. One person writes one to four times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from workup.values.draws import Chance

SITES = ("harbour", "hillside", "lakeside", "riverside")
_SITE_STEPS = (4, 7, 9, 10)
AGES = ("0-17", "18-39", "40-64", "65+")
_AGE_STEPS = (2, 6, 11, 16)
_BLOCK = 12  # cases in a block of people
# How many times each person of a block writes; every list adds up to the block.
_TIMES = (
    (1, 1, 1, 2, 2, 2, 3),
    (1, 1, 2, 2, 3, 3),
    (1, 1, 1, 1, 1, 1, 2, 4),
    (2, 2, 4, 4),
    (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
)
# Patients to whom the language is new are not equally many everywhere.
_LIMITED = {"harbour": 0.35, "hillside": 0.10, "lakeside": 0.20, "riverside": 0.30}


@dataclass(frozen=True)
class Persona:
    """Who a conversation is about, and who writes it."""

    name: str
    sex: str
    age: str
    years: int
    language: str
    site: str
    speaker: str  # patient, mother, father, daughter, son

    @property
    def speaks_for_other(self) -> bool:
        """Whether somebody else writes for the patient."""
        return self.speaker != "patient"


def place_of(seed: int, number: int) -> tuple[int, int]:
    """The person who writes case `number`, and how often they wrote before.

    >>> places = [place_of(5, number) for number in range(12)]
    >>> places[0], len(set(places))
    ((0, 0), 12)
    """
    block, at = divmod(number, _BLOCK)
    first = block * _BLOCK
    for person, times in enumerate(_times(seed, block)):
        if at < times:
            return first + person, at
        at -= times
    raise AssertionError("a block of people has as many cases as it says")


@lru_cache(maxsize=64)
def _times(seed: int, block: int) -> tuple[int, ...]:
    chance = Chance.of(seed, "conversation", "block", block)
    return tuple(chance.shuffled(chance.pick(_TIMES)))


@lru_cache(maxsize=256)
def person(seed: int, number: int, ages: tuple[str, ...], sexes: tuple[str, ...]) -> Persona:
    """The person with this number, of one of these ages and sexes."""
    chance = Chance.of(seed, "conversation", "person", number)
    site = chance.weighted(SITES, _SITE_STEPS)
    age = _of(chance, ages)
    sex = chance.pick(sexes)
    years = {"0-17": (4, 15), "18-39": (20, 39), "40-64": (41, 64), "65+": (66, 89)}[age]
    language = "limited" if chance.happens(_LIMITED[site]) else "fluent"
    if age == "0-17":
        speaker = "mother" if chance.happens(0.65) else "father"
    else:
        other = age == "65+" and chance.happens(0.2)
        speaker = ("daughter" if chance.happens(0.6) else "son") if other else "patient"
    return Persona(f"person-{seed}-{number:06d}", sex, age, chance.integer(*years), language, site, speaker)


def _of(chance: Chance, ages: tuple[str, ...]) -> str:
    weights, total = [], 0.0
    for name in ages:
        place = AGES.index(name)
        total += _AGE_STEPS[place] - (_AGE_STEPS[place - 1] if place else 0)
        weights.append(total)
    return chance.weighted(ages, weights)
