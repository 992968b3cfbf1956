"""Numbers of registers: social security, records, plans, accounts, licences, passports.

A patient's number keeps its digits in every form that names the same thing."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable

from workup.values.draws import Chance
from workup.values.patients import Patient, Provider
from workup.values.surfaces import Forms, Write, Written, drawn, grouped, own
from workup.values.vocabulary import plain_letters

_PLAN, _ACCOUNT, _LICENCE, _PASSPORT, _OTHER = 1, 3, 8, 14, 15  # places of the patient's digits
_MBI = "ACDEFGHJKMNPQRTUVWXY"  # letters of a Medicare number: S, L, O, I, B and Z are left out


def _medicare(patient: Patient, *, joint: str = "") -> str:
    """Eleven characters by the pattern of CMS: C A AN N A AN N A A N N."""
    digits = patient.own(_PLAN)

    def letter(at: int) -> str:
        return _MBI[int(digits[at : at + 2]) % len(_MBI)]

    number = (
        f"{1 + int(digits[0]) % 9}{letter(1)}{letter(3)}{digits[5]}{letter(6)}{digits[8]}{digits[9]}"
        f"{letter(10)}{letter(12)}{digits[14:16]}"
    )
    return grouped(number, 4, 3, 4, joint=joint) if joint else number


def _uuid(patient: Patient) -> str:
    """A universally unique identifier of version 4."""
    drawn_bits = hashlib.sha256(patient.own(_OTHER).encode()).hexdigest()
    return grouped(f"{drawn_bits[:12]}4{drawn_bits[13:16]}a{drawn_bits[17:32]}", 8, 4, 4, 4, 12, joint="-")


def _initial(patient: Patient) -> str:
    return plain_letters(patient.person.family)[0].upper()


def _name_based(patient: Patient) -> str:
    """Twelve characters that begin with the family name, filled up with stars."""
    letters, digits = patient.letters, patient.own(_LICENCE, 3)
    return f"{plain_letters(patient.person.family)[:5].upper().ljust(5, '*')}{letters[9:11]}{digits}{letters[11:13]}"


def _provider(form: Callable[[Provider], str], *, thing: str) -> Write:
    def write(patient: Patient, chance: Chance, when: datetime.date) -> Written:
        at = chance.integer(0, len(patient.providers) - 1)
        return form(patient.providers[at]), f"provider:{at}:{thing}"

    return write


_PROVIDER_NUMBERS: dict[str, tuple[str, Callable[[Provider], str]]] = {
    "npi": ("npi", lambda one: one.npi),
    "npi_spaced": ("npi", lambda one: grouped(one.npi, 4, 3, 3)),
    "dea": ("dea", lambda one: one.dea),
    "dea_dashed": ("dea", lambda one: f"{one.dea[:2]}-{one.dea[2:]}"),
    "state_license": ("license", lambda one: one.license),
    "state_license_dashed": ("license", lambda one: f"{one.credential.replace('-', '')}-{one.license[1:]}"),
    "state_license_dotted": ("license", lambda one: f"{one.license[1:4]}.{one.license[4:]}"),
}

LEAVES: dict[str, Forms] = {
    "ssn": own(
        "ssn",
        {
            "dashed": lambda p: p.ssn,
            "spaced": lambda p: p.ssn.replace("-", " "),
            "bare": lambda p: p.ssn.replace("-", ""),
            "dotted": lambda p: p.ssn.replace("-", "."),
            "dashed_spaced": lambda p: p.ssn.replace("-", " - "),
            "last_four": lambda p: p.ssn[-4:],
            "masked": lambda p: f"XXX-XX-{p.ssn[-4:]}",
            "masked_stars": lambda p: f"***-**-{p.ssn[-4:]}",
        },
        usual=("dashed", "bare"),
    ),
    "mrn": own(
        "mrn",
        {
            "bare": lambda p: p.mrn,
            "seven": lambda p: p.mrn[1:],
            "padded": lambda p: f"00{p.mrn}",
            "dashed": lambda p: grouped(p.mrn, 2, 2, 4, joint="-"),
            "dashed_last": lambda p: f"{p.mrn[:7]}-{p.mrn[7]}",
            "spaced": lambda p: grouped(p.mrn, 3, 3, 2),
            "letter": lambda p: f"{p.letters[0]}{p.mrn}",
            "letter_dash": lambda p: f"{p.letters[:2]}-{p.mrn}",
            "letter_end": lambda p: f"{p.mrn}{p.letters[0]}",
            "prefixed": lambda p: f"MR{p.mrn}",
            "hash": lambda p: f"#{p.mrn}",
        },
        usual=("bare", "seven", "dashed", "letter"),
    ),
    "health_plan_id": own(
        "plan",
        {
            "member": lambda p: p.plan_id,
            "member_spaced": lambda p: f"{p.plan_id[:3]} {grouped(p.plan_id[3:], 3, 3, 3)}",
            "member_suffix": lambda p: f"{p.plan_id}-{p.own(_PLAN)[9:11]}",
            "w_number": lambda p: f"W{p.own(_PLAN)[:4]} {p.own(_PLAN)[4:9]}",
            "digits": lambda p: p.own(_PLAN, 12),
            "medicare": _medicare,
            "medicare_dashed": lambda p: _medicare(p, joint="-"),
            "medicaid": lambda p: f"{p.letters[1:3]}{p.own(_PLAN)[3:8]}{p.letters[5]}",
            "group": lambda p: f"GRP-{p.own(_PLAN)[6:12]}",
        },
        usual=("member", "medicare", "digits"),
        others=("w_number", "medicare", "medicare_dashed", "medicaid", "group"),
    ),
    "account": own(
        "account",
        {
            "bare": lambda p: p.own(_ACCOUNT, 10),
            "dashed": lambda p: grouped(p.own(_ACCOUNT), 4, 4, 2, joint="-"),
            "prefixed": lambda p: f"ACCT-{p.own(_ACCOUNT, 8)}",
            "letter": lambda p: f"{p.letters[6]}{p.own(_ACCOUNT, 9)}",
            "visit": lambda p: f"V{p.own(_ACCOUNT, 11)}",
            "invoice": lambda p: f"INV-{p.visit.year}-{p.own(_ACCOUNT)[4:9]}",
            "spaced": lambda p: grouped(p.own(_ACCOUNT), 3, 4, 3),
            "hash": lambda p: f"#{p.own(_ACCOUNT, 7)}",
        },
        usual=("bare", "prefixed"),
        others=("invoice",),
    ),
    "license_person": own(
        "licence",
        {
            "letter_seven": lambda p: f"{_initial(p)}{p.own(_LICENCE, 7)}",
            "nine": lambda p: p.own(_LICENCE, 9),
            "nine_spaced": lambda p: grouped(p.own(_LICENCE), 3, 3, 3),
            "eight": lambda p: p.own(_LICENCE, 8),
            "soundex": lambda p: f"{_initial(p)}{grouped(p.own(_LICENCE), 3, 3, 2, 3, 1, joint='-')}",
            "letter_twelve": lambda p: f"{_initial(p)}{grouped(p.own(_LICENCE), 3, 4, 4, joint='-')}",
            "two_letters": lambda p: f"{p.letters[7:9]}{p.own(_LICENCE, 6)}",
            "name_based": _name_based,
            "commercial": lambda p: f"CDL-{p.own(_LICENCE, 8)}",
            "pilot": lambda p: f"FAA {p.own(_LICENCE, 7)}",
        },
        usual=("letter_seven", "nine", "eight"),
        others=("commercial", "pilot"),
    ),
    "license_provider": drawn(
        {name: _provider(form, thing=thing) for name, (thing, form) in _PROVIDER_NUMBERS.items()},
        usual=("npi", "dea"),
        subtypes={name: thing.upper() for name, (thing, _) in _PROVIDER_NUMBERS.items()},
    ),
    "passport": own(
        "passport",
        {
            "nine": lambda p: p.own(_PASSPORT, 9),
            "letter_eight": lambda p: f"{p.letters[22]}{p.own(_PASSPORT, 8)}",
            "two_letters": lambda p: f"{p.letters[21:23]}{p.own(_PASSPORT, 6)}",
            "letter_seven": lambda p: f"{p.letters[22]}{p.own(_PASSPORT, 7)}",
            "spaced": lambda p: grouped(p.own(_PASSPORT), 3, 3, 3),
            "german": lambda p: f"C0{p.own(_PASSPORT, 1)}X{p.own(_PASSPORT)[1:3]}T{p.own(_PASSPORT)[3:5]}",
            "lower": lambda p: f"{p.letters[22].lower()}{p.own(_PASSPORT, 8)}",
        },
        usual=("nine", "letter_eight"),
        others=("german",),
    ),
    "id_other": own(
        "other",
        {
            "accession": lambda p: f"S{p.visit.year % 100:02d}-{p.own(_OTHER, 5)}",
            "study": lambda p: f"{p.letters[:4]}-{p.own(_OTHER, 3)}-{p.own(_OTHER)[3:7]}",
            "claim": lambda p: f"CLM{p.own(_OTHER, 10)}",
            "prescription": lambda p: f"Rx{p.own(_OTHER, 7)}",
            "specimen": lambda p: f"SP-{p.visit.year}-{p.own(_OTHER, 6)}",
            "student": lambda p: f"{p.letters[0]}{p.own(_OTHER)[2:10]}",
            "alien_number": lambda p: f"A{p.own(_OTHER)[4:7]}-{p.own(_OTHER)[7:10]}-{p.own(_OTHER)[10:13]}",
            "inmate": lambda p: f"{p.letters[3:5]}{p.own(_OTHER)[3:7]}",
            "uuid": lambda p: _uuid(p),
            "case": lambda p: f"{p.visit.year}-CV-{p.own(_OTHER)[5:10]}",
            "badge": lambda p: f"badge #{p.own(_OTHER)[8:12]}",
            "employee": lambda p: f"EMP{p.own(_OTHER)[6:12]}",
            "order": lambda p: f"ORD-{p.own(_OTHER)[5:13]}",
        },
        usual=("accession", "study", "claim"),
        others=(
            "accession", "study", "claim", "prescription", "specimen", "student", "alien_number", "inmate", "uuid",
            "case", "badge", "employee", "order",
        ),
    ),
}  # fmt: skip
