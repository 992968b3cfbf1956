"""Words for a patient's background: relations, roles, professions, organisations, domains.

Organisations are made up from parts; domains are those that RFC 2606 and RFC 6761 reserve."""

from __future__ import annotations

from typing import NamedTuple

from workup.text.unicode import caseless
from workup.values.draws import Chance
from workup.values.tables import ORIGINS, words

# relation, sex (None: the other than the patient's), shift of the decade of birth, whether the family name is shared
RELATIONS: tuple[tuple[str, str | None, int, bool], ...] = (
    ("spouse", None, 0, True), ("mother", "F", -30, True), ("father", "M", -30, True), ("daughter", "F", 30, False),
    ("son", "M", 30, True), ("sister", "F", 0, False), ("brother", "M", 0, True), ("partner", None, 0, False),
    ("aunt", "F", -20, False), ("uncle", "M", -20, True), ("grandson", "M", 50, True), ("niece", "F", 20, False),
    ("neighbor", "F", -10, False), ("friend", "M", 0, False),
)  # fmt: skip
PROVIDER_ROLES: tuple[tuple[str, str], ...] = (
    ("attending", "MD"), ("primary care", "MD"), ("nurse", "RN"), ("surgeon", "MD"), ("resident", "DO"),
    ("cardiologist", "MD"), ("radiologist", "MD"), ("pathologist", "MD"), ("anesthesiologist", "MD"),
    ("psychiatrist", "MD"), ("physician assistant", "PA-C"), ("nurse practitioner", "NP"), ("pharmacist", "PharmD"),
    ("physical therapist", "DPT"), ("social worker", "LCSW"), ("psychologist", "PhD"), ("dietitian", "RD"),
)  # fmt: skip
PROFESSIONS, RELIGIONS, DOMAINS = words("professions"), words("religions"), words("domains")
_SAINTS, _LANDS, _FOUNDERS, _HOSPITALS = words("saints"), words("lands"), words("founders"), words("hospitals")
_TRADES, _COMPANY_ENDS, _PUBLIC = words("trades"), words("company ends"), words("public")


class Background(NamedTuple):
    """What goes with an origin group: words for ethnic origin, languages, peoples and tribes."""

    ethnicities: tuple[str, ...]
    languages: tuple[str, ...]
    peoples: tuple[str, ...]


BACKGROUND = {
    origin: Background(words("ethnicities", origin), words("languages", origin), words("peoples", origin))
    for origin in ORIGINS
}


def plain_letters(name: str) -> str:
    """A name in lower case ASCII letters, as it is written in an e-mail address.

    >>> plain_letters("de la Peña-O'Hara")
    'delapenaohara'
    """
    return "".join(c for c in caseless(name) if "a" <= c <= "z") or "x"


def place_name(chance: Chance) -> str:
    """A made-up place, or a founder's name, that opens the name of an organisation."""
    return chance.pick(_LANDS) if chance.happens(0.7) else chance.pick(_FOUNDERS)


def facility(chance: Chance) -> str:
    """A made-up hospital."""
    if chance.happens(0.25):
        return f"{chance.pick(_SAINTS)} {chance.pick(_HOSPITALS)}"
    return f"{place_name(chance)} {chance.pick(_HOSPITALS)}"


def employer(chance: Chance) -> str:
    """A made-up employer."""
    if chance.happens(0.2):
        return f"{place_name(chance)} {chance.pick(_PUBLIC)}"
    return f"{place_name(chance)} {chance.pick(_TRADES)} {chance.pick(_COMPANY_ENDS)}"
