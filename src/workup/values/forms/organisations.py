"""Facilities and their units, employers and other organisations; all made up."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from workup.values import tables, vocabulary
from workup.values.draws import Chance
from workup.values.patients import Patient
from workup.values.surfaces import Forms, Write, Written, drawn, own

_UNITS, _DEPARTMENTS = tables.words("units"), tables.words("departments")


def _initials(name: str) -> str:
    letters = "".join(word[0] for word in name.replace("-", " ").split() if word[0].isupper())
    return letters if len(letters) > 1 else name[:3].upper()


def _short(name: str) -> str:
    """The name without the word that says what it is: 'Northfield General' of 'Northfield General Hospital'."""
    return name.rpartition(" ")[0] or name


def _short_employer(name: str) -> str:
    """A company without its legal form; a public organisation with its last word abbreviated."""
    for word, short in (("Department", "Dept"), ("District", "Dist"), ("Authority", "Auth"), ("Library", "Library")):
        if name.endswith(word):
            return name.removesuffix(word) + short
    return _short(name).removesuffix(" &")


def _made(kinds: tuple[str, ...], *, thing: str) -> Write:
    def write(patient: Patient, chance: Chance, when: datetime.date) -> Written:
        name = f"{vocabulary.place_name(chance)} {chance.pick(kinds)}"
        return name, f"{thing}:{name}"

    return write


def _unit(form: Callable[[Chance], str]) -> Write:
    def write(patient: Patient, chance: Chance, when: datetime.date) -> Written:
        text = form(chance)
        return text, f"unit:{text}"

    return write


LEAVES: dict[str, Forms] = {
    "facility": own(
        "facility",
        {
            "full": lambda p: p.facility,
            "short": lambda p: _short(p.facility),
            "initials": lambda p: _initials(p.facility),
            "caps": lambda p: p.facility.upper(),
            "lower": lambda p: p.facility.lower(),
        },
        usual=("full", "short"),
    )
    | drawn(
        {
            "clinic": _made(tables.words("clinics"), thing="facility"),
            "care_home": _made(tables.words("care homes"), thing="facility"),
            "pharmacy": _made(tables.words("pharmacies"), thing="facility"),
        }
    ),
    "facility_unit": drawn(
        {
            "ward": _unit(lambda c: f"Ward {c.integer(1, 9)}{c.pick('ABCDE')}"),
            "room": _unit(lambda c: f"Room {c.integer(101, 899)}"),
            "room_bed": _unit(lambda c: f"Rm {c.integer(101, 899)}-{c.pick('AB12')}"),
            "bed": _unit(lambda c: f"Bed {c.integer(1, 40)}"),
            "floor": _unit(lambda c: f"{c.integer(2, 12)} {c.pick(('West', 'North', 'East', 'South'))}"),
            "tower": _unit(lambda c: f"Tower {c.integer(2, 12)}{c.pick('NSEW')}"),
            "acronym": _unit(lambda c: c.pick(_UNITS)),
            "department": _unit(lambda c: c.pick(_DEPARTMENTS)),
            "operating_room": _unit(lambda c: f"OR {c.integer(1, 24)}"),
            "bay": _unit(lambda c: f"Bay {c.integer(1, 30)}"),
            "suite": _unit(lambda c: f"Suite {c.integer(100, 990)}"),
            "clinic_letter": _unit(lambda c: f"Clinic {c.pick('ABCDEFG')}"),
        },
        usual=("ward", "room", "acronym", "department"),
    ),
    "employer": own(
        "employer",
        {
            "full": lambda p: p.employer,
            "short": lambda p: _short_employer(p.employer),
            "caps": lambda p: p.employer.upper(),
            "lower": lambda p: p.employer.lower(),
            "initials": lambda p: _initials(p.employer),
        },
        usual=("full", "short"),
    ),
    "org_other": drawn(
        {kind: _made(ends, thing="organisation") for kind, ends in tables.word_lists("organisations").items()}
    ),
}
