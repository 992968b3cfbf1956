"""`make`: a value of any leaf in any of its surface forms, and the values of a day or a person that one has at hand."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import Literal, NamedTuple

from workup.documents.labels import SCHEME
from workup.errors import InputError, near
from workup.values import dates
from workup.values.draws import Chance
from workup.values.forms import (
    background,
    clinical,
    contacts,
    days,
    money,
    numbers,
    organisations,
    people,
    places,
    things,
)
from workup.values.patients import Patient
from workup.values.people import PERSON_FORMS, Person
from workup.values.surfaces import Form

Identifier = Literal["direct", "quasi"]
_MODULES = (people, places, organisations, days, contacts, numbers, money, things, background, clinical)
# Identify by themselves; names of relatives and clinicians, places, dates and all else do so together with others.
_DIRECT = frozenset({"name_patient", "username", "phone", "fax", "email", "url", "ip", "mac"})
_NAME_SUBTYPES = {"name_patient": "PATIENT_NAME", "name_relative": "FAMILY_NAME", "name_provider": "DOCTOR_NAME"}


@dataclass(frozen=True, slots=True)
class Value:
    """`text` is exactly what the gold span covers: no title, no possessive, no unit beside an age.

    `label` is a canonical leaf, `form` the name of the surface form. `entity` ties together the mentions of one thing
    over the notes of a patient. `identifier` says how it identifies (None where it does not, as of clinical terms).
    """

    text: str
    label: str
    form: str
    entity: str | None = None
    identifier: Identifier | None = None
    subtype: str | None = None


class _Leaf(NamedTuple):
    names: tuple[str, ...]
    cumulative: tuple[int, ...]
    forms: Mapping[str, Form]
    identifier: Identifier | None


def _identifier(leaf: str) -> Identifier | None:
    branch = SCHEME[leaf].branch
    if branch == "CLIN":
        return None
    own_number = branch == "ID" and leaf != "license_provider"
    return "direct" if leaf in _DIRECT or own_number else "quasi"


def _catalogue() -> dict[str, _Leaf]:
    held = {leaf: forms for module in _MODULES for leaf, forms in module.LEAVES.items()}
    return {
        leaf: _Leaf(
            tuple(held[leaf]),
            tuple(accumulate(form.weight for form in held[leaf].values())),
            MappingProxyType(held[leaf]),
            _identifier(leaf),
        )
        for leaf in SCHEME
        if leaf in held
    }


_CATALOGUE: Mapping[str, _Leaf] = MappingProxyType(_catalogue())
LEAVES: tuple[str, ...] = tuple(_CATALOGUE)


def forms(leaf: str) -> tuple[str, ...]:
    """Names of the surface forms of a leaf.

    >>> forms("age_over_89")
    ('number', 'words', 'words_spaced', 'padded')
    """
    return _leaf(leaf).names


def make(leaf: str, *, patient: Patient, chance: Chance, when: datetime.date, form: str | None = None) -> Value:
    """A value of a leaf, as a note of the day `when` would hold it; without `form`, usual forms come more often.

    What is the patient's own (name, birth, home, numbers, employer …) is the same in every value; what is not (another
    city, an event's date) is drawn. `date` is the day of some event around `when`: for a day that you have chosen
    use `date_value`, for a person that you have chosen `name_value`.

    >>> patient = Patient.of(7, 0)
    >>> value = make("mrn", patient=patient, chance=Chance.of(7, "note", 0), when=patient.visit, form="prefixed")
    >>> value.text == "MR" + patient.mrn, value.label, value.identifier
    (True, 'mrn', 'direct')
    """
    held = _CATALOGUE.get(leaf) or _leaf(leaf)
    name = chance.weighted(held.names, held.cumulative) if form is None else form
    chosen = held.forms.get(name)
    if chosen is None:
        raise InputError(
            f"{leaf} must be asked for in one of its forms", got=repr(name[:40]), remedy=near(name, held.names)
        )
    text, thing = chosen.write(patient, chance, when)
    return Value(text, leaf, name, f"{patient.id}:{thing}" if thing else None, held.identifier, chosen.subtype)


def date_value(
    day: datetime.date,
    *,
    patient: Patient,
    chance: Chance,
    leaf: str = "date",
    form: str | None = None,
    subtype: str | None = None,
) -> Value:
    """The value of a chosen day (an admission, a visit); `subtype` as in ADMISSION_DATE.

    >>> patient = Patient.of(7, 0)
    >>> date_value(datetime.date(2021, 3, 4), patient=patient, chance=Chance.of(7, "x"), form="weekday_long").text
    'Thursday, March 4, 2021'
    """
    if leaf not in ("date", "date_birth", "date_death"):
        raise InputError("a day is a value of date, date_birth or date_death", got=repr(leaf[:40]))
    held = _CATALOGUE[leaf]
    name = chance.weighted(held.names, held.cumulative) if form is None else form
    write = dates.DATE_FORMS.get(name)
    if write is None:
        raise InputError(
            "a date must be asked for in one of its forms", got=repr(name[:40]), remedy=near(name, held.names)
        )
    thing = f"date:{day.isoformat()}" if leaf == "date" else leaf.removeprefix("date_")
    return Value(write(day), leaf, name, f"{patient.id}:{thing}", held.identifier, subtype or held.forms[name].subtype)


def name_value(
    person: Person, *, leaf: str, patient: Patient, chance: Chance, entity: str | None = None, form: str | None = None
) -> Value:
    """The value of a chosen person's name. Without `entity`, that of the patient's relative or provider it is.

    >>> patient = Patient.of(7, 0)
    >>> doctor = patient.providers[0].person
    >>> name_value(doctor, leaf="name_provider", patient=patient, chance=Chance.of(7, "x"), form="family").entity
    'P000000:provider:0'
    """
    if leaf not in _NAME_SUBTYPES:
        raise InputError(
            "a person's name is a value of name_patient, name_relative or name_provider", got=repr(leaf[:40])
        )
    held = _CATALOGUE[leaf]
    name = chance.weighted(held.names, held.cumulative) if form is None else form
    if name not in PERSON_FORMS:
        raise InputError(
            "a name must be asked for in one of its forms", got=repr(name[:40]), remedy=near(name, held.names)
        )
    return Value(
        person.surface(name), leaf, name, entity or _entity_of(person, patient), held.identifier, _NAME_SUBTYPES[leaf]
    )


def _entity_of(person: Person, patient: Patient) -> str | None:
    if person == patient.person:
        return f"{patient.id}:patient"
    relatives = [relative.person for relative in patient.relatives]
    providers = [provider.person for provider in patient.providers]
    for kind, people_of_kind in (("relative", relatives), ("provider", providers)):
        if person in people_of_kind:
            return f"{patient.id}:{kind}:{people_of_kind.index(person)}"
    return None


def _leaf(leaf: str) -> _Leaf:
    if leaf not in _CATALOGUE:
        raise InputError(
            "a value must be of a leaf of the label scheme", got=repr(leaf[:40]), remedy=near(leaf, _CATALOGUE)
        )
    return _CATALOGUE[leaf]
