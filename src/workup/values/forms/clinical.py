"""Clinical terms that must never be masked: diseases, drugs, procedures, anatomy, laboratory values and vital signs."""

from __future__ import annotations

from collections.abc import Callable

from workup.values import tables
from workup.values.draws import Chance
from workup.values.surfaces import Forms, Write, drawn, listed

EPONYMS, DISEASES = tables.words("eponyms"), tables.words("diseases")
DRUGS, NAME_LIKE_DRUGS = tables.words("drugs"), tables.words("name like drugs")
PROCEDURES, NAMED_PROCEDURES = tables.words("procedures"), tables.words("named procedures")
ANATOMY, NAMED_ANATOMY = tables.words("anatomy"), tables.words("named anatomy")


def _numbers(form: Callable[[Chance], str]) -> Write:
    return lambda patient, chance, when: (form(chance), "")


LEAVES: dict[str, Forms] = {
    "disease": listed(
        "", {"plain": DISEASES, "eponym": EPONYMS, "caps": tuple(name.upper() for name in DISEASES)}, usual=("plain",)
    ),
    "drug": listed(
        "",
        {"plain": DRUGS, "name_like": NAME_LIKE_DRUGS, "capital": tuple(name.capitalize() for name in DRUGS)},
        usual=("plain",),
    ),
    "procedure": listed("", {"plain": PROCEDURES, "eponym": NAMED_PROCEDURES}, usual=("plain",)),
    "anatomy": listed("", {"plain": ANATOMY, "eponym": NAMED_ANATOMY}, usual=("plain",)),
    "lab": drawn(
        {
            "a1c": _numbers(lambda c: f"A1C {c.integer(5, 13)}.{c.integer(0, 9)}"),
            "hba1c_percent": _numbers(lambda c: f"HbA1c {c.integer(5, 13)}.{c.integer(0, 9)}%"),
            "sodium": _numbers(lambda c: f"Na {c.integer(128, 148)}"),
            "potassium": _numbers(lambda c: f"K {c.integer(3, 5)}.{c.integer(0, 9)}"),
            "creatinine": _numbers(lambda c: f"creatinine {c.integer(0, 4)}.{c.integer(1, 9)} mg/dL"),
            "white_cells": _numbers(lambda c: f"WBC {c.integer(3, 22)}.{c.integer(0, 9)}"),
            "hemoglobin": _numbers(lambda c: f"Hgb {c.integer(7, 16)}.{c.integer(0, 9)} g/dL"),
            "platelets": _numbers(lambda c: f"platelets {c.integer(90, 420)},000"),
            "troponin": _numbers(lambda c: f"troponin 0.{c.integer(1, 99):02d} ng/mL"),
            "inr": _numbers(lambda c: f"INR {c.integer(1, 4)}.{c.integer(0, 9)}"),
            "ratio": _numbers(lambda c: f"titer 1:{c.pick((40, 80, 160, 320, 640, 1280))}"),
            "gas": _numbers(lambda c: f"ABG 7.{c.integer(20, 50)}/{c.integer(30, 60)}/{c.integer(60, 100)}"),
            "glucose": _numbers(lambda c: f"glucose {c.integer(65, 420)}"),
        }
    ),
    "vital": drawn(
        {
            "blood_pressure": _numbers(lambda c: f"BP {c.integer(88, 190)}/{c.integer(50, 110)}"),
            "blood_pressure_bare": _numbers(lambda c: f"{c.integer(88, 190)}/{c.integer(50, 110)}"),
            "heart_rate": _numbers(lambda c: f"HR {c.integer(45, 140)}"),
            "temperature": _numbers(lambda c: f"T {c.integer(96, 103)}.{c.integer(0, 9)}"),
            "temperature_celsius": _numbers(lambda c: f"{c.integer(35, 40)}.{c.integer(0, 9)} °C"),
            "respiration": _numbers(lambda c: f"RR {c.integer(10, 32)}"),
            "saturation": _numbers(lambda c: f"SpO2 {c.integer(84, 100)}% on RA"),
            "pain": _numbers(lambda c: f"pain {c.integer(0, 10)}/10"),
            "weight": _numbers(lambda c: f"{c.integer(45, 140)}.{c.integer(0, 9)} kg"),
            "body_mass": _numbers(lambda c: f"BMI {c.integer(17, 48)}.{c.integer(0, 9)}"),
            "glasgow": _numbers(lambda c: f"GCS {c.integer(3, 15)}"),
        }
    ),
}
