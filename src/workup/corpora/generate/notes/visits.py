"""Which patient, day, site, type and specialty a note is of: a function of the seed and the note's number alone.

Patients have one to seven notes; the notes of a patient follow each other in time and agree on every day they name."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from workup.corpora.generate.notes import vocabulary
from workup.corpora.generate.notes.grammar import NoteType
from workup.corpora.generate.notes.site_styles import SiteStyle, site_styles
from workup.corpora.generate.notes.vocabulary import Specialty
from workup.values import Patient
from workup.values.draws import Chance
from workup.values.vocabulary import facility

_SIZES = (1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 5, 7)  # notes of the patients of one block
BLOCK = sum(_SIZES)
_PLACES = 9_000_000  # numbers of the people who lend their address to a site; no corpus has so many patients
# The order in which the notes of a patient come, and those that are written in the course of one stay.
STAGES: Mapping[str, int] = {
    "registration_form": 0, "referral_letter": 1, "message": 1, "emergency_note": 2, "history_and_physical": 3,
    "lab_report": 4, "radiology_report": 4, "consultation": 5, "operative_report": 6, "pathology_report": 7,
    "nursing_note": 7, "progress_note": 8, "psychiatry_note": 8, "discharge_summary": 9, "prescription": 10,
    "insurance_eob": 11, "telehealth_transcript": 12, "search_query": 13,
}  # fmt: skip
_STAY = range(2, 10)
_NOT_FOR_ALL = ("Children", "Women", "Cancer", "Veterans")  # a site of the corpus sees everybody
_YOUNG = ("child", "school", "teen", "newborn", "any", "active")
_NEEDS = ("operative", "tissue", "imaging")
_MINDS = frozenset(("psychiatry", "child_psychiatry", "addiction_medicine", "geriatrics", "adolescent_medicine"))
Day = datetime.date


def _days(count: int) -> datetime.timedelta:
    return datetime.timedelta(days=count)


@dataclass(frozen=True, slots=True)
class Visit:
    """One note that is to be written. `days` are the days that it may name."""

    patient: Patient
    site_style: SiteStyle
    place: Patient
    specialty: Specialty
    type: NoteType
    day: Day
    days: Mapping[str, Day]


@dataclass(frozen=True)
class Wanted:
    """What a corpus is to hold: types with their weights, specialties, and how often names are ambiguous."""

    types: tuple[NoteType, ...]
    specialties: tuple[Specialty, ...]
    ambiguity: str
    neutral: bool = False  # nothing that fits one sex only, since names of both will be put in


def place_of(seed: int, number: int) -> tuple[int, int, int]:
    """The patient of a note, which of the patient's notes it is, and how many the patient has.

    >>> [place_of(7, number)[:2] for number in range(3)] == [place_of(7, number)[:2] for number in range(3)]
    True
    """
    block, within = divmod(number, BLOCK)
    for at, (first, size) in enumerate(_block(seed, block)):
        if within < first + size:
            return block * len(_SIZES) + at, within - first, size
    raise AssertionError("a block has room for all its notes")


@lru_cache(maxsize=8)
def _block(seed: int, block: int) -> tuple[tuple[int, int], ...]:
    sizes = Chance.of(seed, "notes", "block", block).shuffled(_SIZES)
    return tuple((sum(sizes[:at]), size) for at, size in enumerate(sizes))


def visits(seed: int, index: int, size: int, wanted: Wanted) -> tuple[Visit, ...]:
    """The notes of a patient in the order of their days."""
    chance = Chance.of(seed, "notes", "chart", index)
    styles = site_styles()
    site_style = styles[chance.integer(0, len(styles) - 1)]
    place = site_place(seed, site_style.site)
    patient = replace(Patient.of(seed, index, ambiguity=wanted.ambiguity), facility=place.facility)
    own = _specialty(chance, patient, wanted.specialties, neutral=wanted.neutral)
    types = sorted(_types(chance, wanted.types, size), key=lambda kind: STAGES.get(kind.name, 8))
    days = _course(chance, patient.visit, types)
    stay = [day for day, kind in zip(days, types, strict=True) if STAGES.get(kind.name, 8) in _STAY]
    return tuple(
        Visit(
            patient,
            site_style,
            place,
            _fitting(chance, patient, kind, own, wanted),
            kind,
            day,
            _moments(chance, patient, kind, day, stay, days[:at], days[at + 1 :]),
        )
        for at, (kind, day) in enumerate(zip(types, days, strict=True))
    )


@lru_cache(maxsize=64)
def site_place(seed: int, site: str) -> Patient:
    """Somebody whose address, telephone and hospital stand for those of a site."""
    lent = Patient.of(seed, _PLACES + int(site[1:]), ambiguity="none")
    chance = Chance.of(seed, "notes", "site", site)
    name = facility(chance)
    while any(word in name for word in _NOT_FOR_ALL):
        name = facility(chance)
    return replace(lent, facility=name)


def _types(chance: Chance, types: tuple[NoteType, ...], size: int) -> list[NoteType]:
    """Drawn by weight; a patient has most types once."""
    total, cumulative = 0, []
    for kind in types:
        total += kind.weight
        cumulative.append(total)
    found: list[NoteType] = []
    for _ in range(size):
        kind = chance.weighted(types, cumulative)
        again = chance.weighted(types, cumulative)
        found.append(again if kind in found else kind)
    return found


def _course(chance: Chance, first: Day, types: list[NoteType]) -> list[Day]:
    days, day, before = [], first, None
    for kind in types:
        stage = STAGES.get(kind.name, 8)
        gap = chance.uniform()
        if before is not None:
            during = before in _STAY and stage in _STAY
            day += _days(int(gap * 3) if during else 5 + int(gap * 85))
        days.append(day)
        before = stage
    return days


def _moments(
    chance: Chance, patient: Patient, kind: NoteType, day: Day, stay: list[Day], earlier: list[Day], later: list[Day]
) -> dict[str, Day]:
    """The days that a note may name; none of a patient's own past lies before birth."""
    born = patient.birth + _days(1)

    def since(candidate: Day) -> Day:
        return min(max(candidate, born), day)

    before, ahead, long_ago, short = (chance.uniform() for _ in range(4))
    admitted = min([*stay, day])
    if kind.name == "discharge_summary" and admitted == day:
        admitted = day - _days(2 + int(before * 9))
    following = [other for other in later if other > day]
    coming = following[0] if following else day + _days(5 + int(ahead * 85))
    past = since(day - _days(300 + int(long_ago * 3600)))
    vaccine = Day(2021, 2, 1)
    return {
        "visit": day,
        "admit": since(admitted),
        "discharge": day,
        "surgery": day if kind.name == "operative_report" else since(admitted + _days(int(short * 2))),
        "onset": since(admitted - _days(1 + int(before * 20))),
        "prior": since(earlier[-1] if earlier and earlier[-1] < day else day - _days(14 + int(before * 200))),
        "past": past,
        "past2": since(past + _days(2 + int(short * 7))),
        "next": coming,
        "next2": coming + _days(1 + int(short * 13)),
        "vaccine": since(vaccine + (day - vaccine) * long_ago) if day > vaccine else day,
    }


# ---- specialties -----------------------------------------------------------------------------------------------------


def suits(specialty: Specialty, patient: Patient, day: Day) -> bool:
    """Whether a specialty sees such a patient."""
    age, sex = patient.age_at(day), patient.person.sex
    fits = {
        "any": age >= 2,
        "adult": age >= 18,
        "worker": 18 <= age < 71,
        "active": 8 <= age < 65,
        "old": age >= 68,
        "child": 1 <= age < 13,
        "school": 4 <= age < 20,
        "teen": 10 <= age < 20,
        "newborn": age < 1,
        "female": sex == "F" and age >= 14,
        "pregnant": sex == "F" and 18 <= age < 45,
    }
    return fits[specialty.sees]


def _specialty(chance: Chance, patient: Patient, among: tuple[Specialty, ...], *, neutral: bool) -> Specialty:
    """Drawn among those that see such a patient, the special ones for the special more often.

    Where none does, a child goes to those that see children, and everybody else to whom there is.
    """
    sexed = ("female", "pregnant") if neutral else ()
    fitting = [one for one in among if one.sees not in sexed and suits(one, patient, patient.visit)]
    often = [one for one in fitting for _ in range(1 if one.sees in ("any", "adult", "worker", "active") else 4)]
    young = [one for one in among if one.sees in _YOUNG] if patient.age_at(patient.visit) < 18 else []
    return chance.pick(often or young or among)


def _fitting(chance: Chance, patient: Patient, kind: NoteType, own: Specialty, wanted: Wanted) -> Specialty:
    """The patient's own specialty where such a note is written there, else another that writes them."""
    need = next((need for need in _NEEDS if need in kind.flags), "")
    minds = "psychiatry" in kind.flags

    def writes(specialty: Specialty) -> bool:
        return (not need or need in specialty.does) and (not minds or specialty.name in _MINDS)

    if writes(own):
        chance.uniform()
        return own
    return _specialty(
        chance, patient, tuple(filter(writes, wanted.specialties)) or wanted.specialties, neutral=wanted.neutral
    )


@lru_cache(maxsize=1)
def all_specialties() -> tuple[Specialty, ...]:
    """Every specialty but the one that holds what is common to all."""
    return tuple(one for one in vocabulary.specialties().values() if one.name != vocabulary.COMMON)
