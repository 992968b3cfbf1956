"""Homes: streets, countries and the other parts of an address, all of one state, in their plain form."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from workup.text.states import STATES
from workup.values import tables
from workup.values.draws import Chance

STATE_WEIGHTS: tuple[int, ...] = tuple(accumulate(state.people for state in STATES))
# Prefixes of areas with 20,000 people or fewer (2010 Census): Safe Harbor does not even allow their three digits.
SPARSE_PREFIXES = tables.words("sparse zip prefixes")
STREETS, BARE_STREETS, DISTRICTS = tables.words("streets"), tables.words("bare streets"), tables.words("districts")
STREET_TYPES: tuple[tuple[str, str], ...] = (
    ("Street", "St"), ("Avenue", "Ave"), ("Road", "Rd"), ("Drive", "Dr"), ("Lane", "Ln"), ("Court", "Ct"),
    ("Boulevard", "Blvd"), ("Place", "Pl"), ("Terrace", "Ter"), ("Circle", "Cir"), ("Way", "Way"), ("Trail", "Trl"),
    ("Parkway", "Pkwy"), ("Square", "Sq"),
)  # fmt: skip
COUNTRIES = tables.word_lists("countries")  # by origin group
DEMONYMS = tables.word_pairs("demonyms")


@dataclass(frozen=True, slots=True)
class Address:
    """A home: the parts, from which every form of the address is written. `county` holds the word County.

    `box` and `route` are of the same household's postal address. `state` is the two-letter code.
    """

    number: int
    street_name: str
    street_type: tuple[str, str]
    direction: str
    unit: str | None
    spare_unit: str
    box: int
    route: int
    city: str
    county: str
    state: str
    state_name: str
    zip: str
    plus_four: str

    @property
    def street(self) -> str:
        """Number, street and, where there is one, the unit: one span."""
        line = f"{self.number} {self.street_name} {self.street_type[0]}"
        return f"{line}, Apt {self.unit}" if self.unit else line


def home_address(chance: Chance) -> Address:
    """An address whose city, county, ZIP code and area code belong to one state."""
    state = chance.weighted(STATES, STATE_WEIGHTS)
    places = tables.places()[state.code]
    unit = f"{chance.integer(1, 29)}{chance.pick(('', 'A', 'B', 'C', 'D'))}"
    return Address(
        number=chance.integer(1, 99) if chance.happens(0.2) else chance.integer(100, 9899),
        street_name=chance.pick(STREETS),
        street_type=chance.pick(STREET_TYPES),
        direction=chance.pick(("N", "S", "E", "W", "NW", "SE", "North", "South", "East", "West")),
        unit=unit if chance.happens(0.3) else None,
        spare_unit=unit,
        box=chance.integer(11, 9899),
        route=chance.integer(1, 99),
        city=chance.pick(places.cities),
        # The District has no counties; its neighbours' are named in its notes.
        county=chance.pick(places.counties or ("Arlington County", "Montgomery County")),
        state=state.code,
        state_name=state.name,
        zip=f"{chance.integer(state.zip_low, state.zip_high):03d}{chance.integer(1, 99):02d}",
        plus_four=f"{chance.integer(1, 9899):04d}",
    )
