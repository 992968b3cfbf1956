"""Names of the patient, relatives and providers, and user names."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from workup.values.draws import Chance
from workup.values.patients import ELECTRONIC, Patient
from workup.values.people import PERSON_FORMS, Person
from workup.values.surfaces import Forms, Write, Written, drawn, own
from workup.values.vocabulary import plain_letters

Whom = Callable[[Patient, Chance], tuple[Person, str]]


def _patient(patient: Patient, chance: Chance) -> tuple[Person, str]:
    return patient.person, "patient"


def _relative(patient: Patient, chance: Chance) -> tuple[Person, str]:
    at = chance.integer(0, len(patient.relatives) - 1)
    return patient.relatives[at].person, f"relative:{at}"


def _provider(patient: Patient, chance: Chance) -> tuple[Person, str]:
    at = chance.integer(0, len(patient.providers) - 1)
    return patient.providers[at].person, f"provider:{at}"


def _of(whom: Whom) -> dict[str, Write]:
    def writer(surface: Callable[[Person], str]) -> Write:
        def write(patient: Patient, chance: Chance, when: datetime.date) -> Written:
            person, thing = whom(patient, chance)
            return surface(person), thing

        return write

    return {name: writer(surface) for name, surface in PERSON_FORMS.items()}


def _short(patient: Patient) -> str:
    return plain_letters(patient.person.given)[0] + plain_letters(patient.person.family)


def _joined(patient: Patient, joint: str) -> str:
    return plain_letters(patient.person.given) + joint + plain_letters(patient.person.family)


USUAL_NAMES = ("full", "full_initial", "family_first", "family", "given", "caps")
LEAVES: dict[str, Forms] = {
    "name_patient": drawn(_of(_patient), usual=USUAL_NAMES, subtypes=dict.fromkeys(PERSON_FORMS, "PATIENT_NAME")),
    "name_relative": drawn(_of(_relative), usual=USUAL_NAMES, subtypes=dict.fromkeys(PERSON_FORMS, "FAMILY_NAME")),
    "name_provider": drawn(
        _of(_provider), usual=(*USUAL_NAMES, "initial_family"), subtypes=dict.fromkeys(PERSON_FORMS, "DOCTOR_NAME")
    ),
    "username": own(
        "username",
        {
            "plain": lambda p: p.username,
            "caps": lambda p: p.username.upper(),
            "handle": lambda p: f"@{p.username}",
            "dotted": lambda p: _joined(p, "."),
            "underscore": lambda p: f"{_joined(p, '_')}{p.own(ELECTRONIC)[9:11]}",
            "family_initial": lambda p: f"{plain_letters(p.person.family)}{plain_letters(p.person.given)[0]}1",
            "domain": lambda p: f"CLINIC\\{_short(p)}",
            "portal": lambda p: f"pt{p.own(ELECTRONIC)[10:16]}",
            "camel": lambda p: (
                f"{p.person.given[0]}{plain_letters(p.person.family).capitalize()}{p.own(ELECTRONIC)[12:14]}"
            ),
        },
        usual=("plain",),
        others=("dotted", "underscore", "family_initial", "domain", "portal", "camel"),
    ),
}
