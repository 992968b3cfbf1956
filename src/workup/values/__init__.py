"""Values for synthetic notes: people, patients and every leaf of the label scheme in many surface forms.

Same seed, same text: nothing here reads a clock, a locale or an unseeded source. Numbers are valid by construction and,
where such ranges exist, taken from those reserved for examples."""

from __future__ import annotations

from workup.values.addresses import Address
from workup.values.ambiguous import AMBIGUOUS
from workup.values.make import LEAVES, Value, date_value, forms, make, name_value
from workup.values.negatives import HARD_NEGATIVES, HardNegative
from workup.values.patients import Patient, Provider, Relative
from workup.values.people import AMBIGUITY, PERSON_FORMS, SEXES, Person, draw_person, name_pool
from workup.values.tables import ORIGINS, provenance, versions

__all__ = [
    "AMBIGUITY",
    "AMBIGUOUS",
    "HARD_NEGATIVES",
    "LEAVES",
    "ORIGINS",
    "PERSON_FORMS",
    "SEXES",
    "Address",
    "HardNegative",
    "Patient",
    "Person",
    "Provider",
    "Relative",
    "Value",
    "date_value",
    "draw_person",
    "forms",
    "make",
    "name_pool",
    "name_value",
    "provenance",
    "versions",
]
