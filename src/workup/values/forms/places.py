"""Addresses and places. A street with its unit is one value; city, state and ZIP code are values of their own."""

from __future__ import annotations

import datetime

from workup.text import states
from workup.text.numbers import number_words, ordinal
from workup.values import addresses, tables
from workup.values.draws import Chance
from workup.values.patients import Patient
from workup.values.surfaces import Forms, Written, drawn, own

_ORDINALS = ("Third", "Fifth", "Second")
_ABROAD = {"United Kingdom": "U.K.", "South Korea": "Republic of Korea", "Dominican Republic": "D.R."}


def _short(patient: Patient) -> str:
    home = patient.home
    return f"{_line(patient, short=True)} Apt {home.unit}" if home.unit else _line(patient, short=True)


def _street(patient: Patient, *, short: bool = True) -> str:
    return f"{patient.home.street_name} {patient.home.street_type[short]}"


def _nth(patient: Patient) -> str:
    return ordinal(patient.home.route + 1)


def _line(patient: Patient, *, short: bool = False) -> str:
    return f"{patient.home.number} {_street(patient, short=short)}"


def _of(patient: Patient, options: tuple[str, ...]) -> str:
    """One of the options, always the same of this patient."""
    return options[patient.home.box % len(options)]


def _other_city(patient: Patient, chance: Chance, when: datetime.date) -> Written:
    state = chance.weighted(states.STATES, addresses.STATE_WEIGHTS)
    city = chance.pick(tables.places()[state.code].cities)
    return city, f"city:{city}"


def _other_state(patient: Patient, chance: Chance, when: datetime.date) -> Written:
    state = chance.weighted(states.STATES, addresses.STATE_WEIGHTS)
    return state.name, f"state:{state.code}"


def _country(patient: Patient, chance: Chance, when: datetime.date) -> Written:
    country = chance.pick(addresses.COUNTRIES[chance.pick(tables.ORIGINS)])
    return country, f"country:{country}"


def _county_of(patient: Patient) -> str:
    name, _, kind = patient.home.county.rpartition(" ")
    return f"{kind} of {name}"


LEAVES: dict[str, Forms] = {
    "street_address": own(
        "home",
        {
            "standard": lambda p: p.home.street,
            "abbreviated": _short,
            "abbreviated_dot": lambda p: f"{_line(p, short=True)}.",
            "unit": lambda p: f"{_line(p)}, Unit {p.home.spare_unit}",
            "unit_hash": lambda p: f"{_line(p, short=True)} #{p.home.spare_unit}",
            "unit_first": lambda p: f"Apt. {p.home.spare_unit}, {_line(p)}",
            "direction": lambda p: f"{p.home.number} {p.home.direction} {p.home.street_name} {p.home.street_type[1]}",
            "caps": lambda p: _short(p).upper(),
            "lower": lambda p: _short(p).lower(),
            "no_type": lambda p: f"{p.home.number} {p.home.street_name}",
            "no_street_word": lambda p: f"{p.home.number} {_of(p, addresses.BARE_STREETS)}",
            "numbered": lambda p: f"{p.home.number} {p.home.direction} {_nth(p)} {p.home.street_type[1]}",
            "numbered_words": lambda p: f"{p.home.number} {_of(p, _ORDINALS)} {p.home.street_type[0]}",
            "po_box": lambda p: f"PO Box {p.home.box}",
            "po_box_dots": lambda p: f"P.O. Box {p.home.box}",
            "rural_route": lambda p: f"RR {p.home.route % 9 + 1} Box {p.home.box}",
            "county_road": lambda p: f"{p.home.number} County Road {p.home.route}",
            "highway": lambda p: f"{p.home.number} Highway {p.home.route} {_of(p, ('North', 'South'))}",
            "state_route": lambda p: f"{p.home.number} State Route {p.home.route}",
            "hyphenated": lambda p: f"{p.home.route + 10}-{p.home.box % 90 + 10} {_street(p)}",
            "fraction": lambda p: f"{p.home.number} 1/2 {_street(p)}",
            "grid": lambda p: f"W{p.home.route + 100} N{p.home.box} {_street(p)}",
            "words": lambda p: f"{number_words(p.home.route + 1).capitalize()} {_street(p, short=False)}",
            "spanish": lambda p: f"Calle {p.home.street_name} {p.home.number}",
            "military": lambda p: f"PSC {p.home.box} Box {p.home.number}",
            "building": lambda p: f"{_line(p)}, Building {_of(p, tuple('ABCDE'))}",
            "corner": lambda p: f"{_nth(p)} and {p.home.street_name}",
            "block": lambda p: f"{p.home.route + 1}00 block of {_street(p, short=False)}",
        },
        usual=("standard", "abbreviated", "unit", "caps"),
        others=(
            "direction", "no_street_word", "numbered", "numbered_words", "po_box", "po_box_dots", "rural_route",
            "county_road", "highway", "state_route", "hyphenated", "fraction", "grid", "words", "spanish", "military",
            "building", "corner", "block",
        ),
    ),
    "city": own(
        "city",
        {
            "plain": lambda p: p.home.city,
            "caps": lambda p: p.home.city.upper(),
            "lower": lambda p: p.home.city.lower(),
            "district": lambda p: _of(p, addresses.DISTRICTS),
        },
        usual=("plain",),
        others=("district",),
    )
    | drawn({"other": _other_city}),
    "county": own(
        "county",
        {"plain": lambda p: p.home.county, "caps": lambda p: p.home.county.upper(), "of": _county_of,
         "lower": lambda p: p.home.county.lower()},
        usual=("plain",),
    ),
    "zip": own(
        "zip",
        {
            "five": lambda p: p.home.zip,
            "plus_four": lambda p: f"{p.home.zip}-{p.home.plus_four}",
            "plus_four_spaced": lambda p: f"{p.home.zip} {p.home.plus_four}",
            "nine": lambda p: f"{p.home.zip}{p.home.plus_four}",
            "sparse_prefix": lambda p: _of(p, addresses.SPARSE_PREFIXES),
        },
        usual=("five", "plus_four"),
        others=("sparse_prefix",),
    ),
    "state": own(
        "state",
        {
            "name": lambda p: p.home.state_name,
            "code": lambda p: p.home.state,
            "caps": lambda p: p.home.state_name.upper(),
            "lower": lambda p: p.home.state_name.lower(),
            "old_abbreviation": lambda p: states.OLD_ABBREVIATIONS.get(p.home.state, p.home.state_name),
        },
        usual=("name", "code"),
    )
    | drawn({"other": _other_state}),
    "country": own(
        "country",
        {
            "name": lambda p: p.country,
            "caps": lambda p: p.country.upper(),
            "short": lambda p: _ABROAD.get(p.country, p.country),
            "home": lambda p: _of(p, ("USA", "United States", "U.S.", "US", "United States of America")),
        },
        usual=("name",),
        others=("home",),
    )
    | drawn({"other": _country}),
}  # fmt: skip
