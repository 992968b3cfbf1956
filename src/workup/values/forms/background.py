"""Indirect identifiers: profession, nationality, religion, ethnic origin, quantities and whatever else singles out."""

from __future__ import annotations

import datetime

from workup.text.numbers import number_words
from workup.values import addresses, tables, vocabulary
from workup.values.draws import Chance
from workup.values.patients import Patient
from workup.values.surfaces import Forms, Written, drawn, listed, own

_SUM = 19  # place of the patient's digits


def _sum(patient: Patient, chance: Chance, when: datetime.date) -> Written:
    return f"${chance.integer(18, 240)},{chance.integer(0, 9)}00", ""


def _counted(patient: Patient, chance: Chance, when: datetime.date) -> Written:
    what = chance.pick(
        ("children", "grandchildren", "siblings", "cats", "dogs", "foster children", "marriages", "tours of duty")
    )
    return f"{number_words(chance.integer(4, 14))} {what}", ""


def _land(patient: Patient, chance: Chance, when: datetime.date) -> Written:
    return f"{chance.integer(12, 1900)} {chance.pick(('acres', 'head of cattle', 'square feet', 'employees'))}", ""


LEAVES: dict[str, Forms] = {
    "profession": own(
        "profession",
        {
            "plain": lambda p: p.profession,
            "capital": lambda p: p.profession.capitalize() if p.profession.islower() else p.profession,
            "caps": lambda p: p.profession.upper(),
        },
        usual=("plain",),
    )
    | listed("profession", {"other": tables.words("professions")}),
    "nationality_religion_politics": own(
        "belief",
        {
            "nationality": lambda p: addresses.DEMONYMS[p.country],
            "religion": lambda p: p.religion,
            "nationality_caps": lambda p: addresses.DEMONYMS[p.country].upper(),
            "citizen": lambda p: f"{addresses.DEMONYMS[p.country]} citizen",
        },
        usual=("nationality", "religion"),
        others=("nationality", "religion", "nationality_caps", "citizen"),
    )
    | listed("belief", {"politics": tables.words("politics")}),
    "ethnicity": own(
        "ethnicity",
        {
            "ethnic": lambda p: p.ethnicity,
            "language": lambda p: p.language,
            "people": lambda p: _people(p),
            "caps": lambda p: p.ethnicity.upper(),
            "lower": lambda p: p.ethnicity.lower(),
        },
        usual=("ethnic", "language"),
        others=("language", "people"),
    ),
    "quantity": drawn({"money": _sum, "count": _counted, "extent": _land})
    | own("quantity", {"height": lambda p: f"{4 + int(p.own(_SUM, 2)) % 3}'{int(p.own(_SUM)[3:5]) % 12}\""}),
    "misc": listed("misc", tables.word_lists("misc")),
}


def _people(patient: Patient) -> str:
    peoples = vocabulary.BACKGROUND[patient.person.origin].peoples
    return peoples[int(patient.own(_SUM)[5:9]) % len(peoples)]
