"""Addresses, places and organisations that stand for others, in the same form. Knows no patient and no key."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from workup.redaction.linking import normalised, value_key
from workup.redaction.surrogates.identifiers import reshaped
from workup.text import states
from workup.text.numbers import ordinal
from workup.text.wordlists import words_of
from workup.values import addresses, tables, vocabulary
from workup.values.draws import Chance

Draws = Callable[..., Chance]
LONGEST = 200
STATES = frozenset(states.STATE)
_TYPES = {word.casefold() for pair in addresses.STREET_TYPES for word in pair}
# Words of an address that say what it is, not where.
_KEPT = _TYPES | words_of(
    "n s e w ne nw se sw north south east west northeast northwest southeast southwest apt apartment unit suite ste "
    "floor fl room rm bldg building no box po p o pob rr route rte rural county road state highway hwy us psc block "
    "of and the calle avenida lot trailer space # c/o"
)
_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*\.?|\d+|[\W_]")
_UNIT_WORDS = words_of(
    "ward room rm bed floor tower or bay suite clinic unit pod level west east north south wing rooms beds"
)
_HOSPITALS = words_of(
    "hospital clinic center centre medical health healthcare care memorial hospice pharmacy infirmary rehab"
)


def cased(new: str, old: str) -> str:
    """A value in capitals or small letters as the other was."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    if old.islower():
        return new.lower()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def street(surface: str, *, draw: Draws) -> str | None:
    """An address of the same build: other numbers, another street; its kind, unit and direction stay.

    `draw` gives the chance that belongs to a number or a street, so that both are the same however it is written.

    >>> from workup.values.draws import Chance
    >>> full, short = (street(said, draw=lambda *names: Chance.of(1, *names))
    ...                for said in ("14 Elm Street, Apt 3B", "14 ELM ST"))
    >>> full.upper().split()[:2] == short.split()[:2], full.split()[-3:-1], "Elm" in full
    (True, ['Street,', 'Apt'], False)
    """
    if len(surface) > LONGEST or not any(one.isalnum() for one in surface):
        return None
    tokens = _WORDS.findall(surface)
    said = [normalised(token) for token in tokens if token[0].isalpha() and not _stays(token)]
    name = "".join(word for word in said if len(word) > 1)
    parts: list[str] = []
    named = False
    for token in tokens:
        if token.isdigit():
            parts.append(reshaped(token, chance=draw("number", token)))
        elif not token[0].isalpha() or _stays(token):
            parts.append(token)
        elif len(normalised(token)) < 2:
            parts.append(cased(draw("letter", token.casefold()).pick("ABCDEFGH"), token))
        elif named:
            while parts and not parts[-1][0].isalnum():  # one name for all words of the old one
                parts.pop()
        else:
            parts.append(cased(draw("street", name).pick(addresses.STREETS), token))
            named = True
    return _ordinals("".join(parts))


def _stays(token: str) -> bool:
    word = token.rstrip(".").casefold()
    return word in _KEPT or word in ("st", "nd", "rd", "th")


def _ordinals(text: str) -> str:
    """Digits were drawn, so that 42st has to become 42nd."""

    def right(found: re.Match[str]) -> str:
        end = ordinal(int(found[1]))[-2:]
        return found[1] + (end.upper() if found[2].isupper() else end)

    return re.sub(r"\b(\d{1,6})(st|nd|rd|th)\b", right, text, flags=re.IGNORECASE)


@cache
def _cities() -> dict[str, tuple[str, ...]]:
    """The states that a city of this name lies in."""
    found: dict[str, list[str]] = {}
    for code, places in tables.places().items():
        for city in places.cities:
            found.setdefault(city.casefold(), []).append(code)
    return {city: tuple(codes) for city, codes in found.items()}


@cache
def _all_places() -> tuple[tuple[str, ...], tuple[str, ...]]:
    cities = sorted({city for places in tables.places().values() for city in places.cities})
    counties = sorted({county for places in tables.places().values() for county in places.counties})
    return tuple(cities), tuple(counties)


def state_of_city(surface: str) -> str | None:
    """The state of a city, where only one has a city of that name."""
    codes = _cities().get(" ".join(surface.casefold().split()), ())
    return codes[0] if len(codes) == 1 else None


def city(surface: str, *, chance: Chance, state: str | None = None) -> str:
    """Another city, of a state where one is given."""
    options = tables.places()[state].cities if state else _all_places()[0]
    return cased(chance.pick(options), surface)


def county(surface: str, *, chance: Chance) -> str:
    """Another county, with or without the word, as it was."""
    name, _, kind = chance.pick(_all_places()[1]).rpartition(" ")
    words = surface.split()
    if len(words) > 2 and words[1].casefold() == "of":
        return cased(f"{words[0]} {words[1]} {name}", surface)
    has_kind = words and words[-1].casefold() in ("county", "parish", "borough", "co", "co.")
    return cased(f"{name} {words[-1]}" if has_kind else name or kind, surface)


def state(surface: str, *, becomes: str) -> str:
    """Another state by its code, written as this one is: in full, with two letters, or with an old abbreviation.

    >>> [state(said, becomes="OH") for said in ("MA", "Massachusetts", "Mass.", "MASSACHUSETTS")]
    ['OH', 'Ohio', 'OH', 'OHIO']
    """
    other, code = states.STATE[becomes], value_key("state", surface).upper()
    if len(surface) == 2:
        return cased(other.code, surface)
    if surface.casefold() == states.STATE[code].name.casefold():
        return cased(other.name, surface)
    short = states.OLD_ABBREVIATIONS.get(becomes, becomes)
    return short.lower() if surface.islower() else short


def state_forms(code: str) -> set[str]:
    """Code, name and old abbreviation of a state, as values are compared."""
    forms = (code, states.STATE[code].name, states.OLD_ABBREVIATIONS.get(code, code))
    return {normalised(form) for form in forms}


def other_state(code: str, *, chance: Chance) -> str:
    """The code of another state."""
    return chance.pick([one.code for one in states.STATES if one.code != code])


def country(surface: str, *, chance: Chance) -> str:
    """Another country."""
    options = sorted({name for names in addresses.COUNTRIES.values() for name in names})
    return cased(chance.pick(options), surface)


def is_country(surface: str) -> bool:
    """Whether a place is a country of the tables, or this one."""
    known = {name.casefold() for names in addresses.COUNTRIES.values() for name in names}
    return surface.casefold() in known or surface.replace(".", "").casefold() in ("usa", "us", "united states", "uk")


def zip_code(surface: str, *, chance: Chance) -> str | None:
    """Another postal code of the same length, valid for some state."""
    digits = "".join(one for one in surface if one.isdigit())
    if len(digits) not in (3, 5, 9):
        return reshaped(surface, chance=chance)
    home = chance.pick(states.STATES)
    new = f"{chance.integer(home.zip_low, home.zip_high):03d}{chance.digits(6)}"[: len(digits)]
    left = iter(new)
    return "".join(next(left) if one.isdigit() else one for one in surface)


# ---- organisations ---------------------------------------------------------------------------------------------------


def is_acronym(surface: str) -> bool:
    """MGH, UCSF: capitals alone, two to six of them."""
    return surface.isalpha() and surface.isupper() and 2 <= len(surface) <= 6


def initials(name: str) -> str:
    """The capitals that open the words of a name."""
    return "".join(word[0] for word in re.split(r"[\s-]+", name) if word[:1].isupper())


def organisation(surface: str, *, label: str, chance: Chance) -> str | None:
    """A made-up hospital, employer or other organisation in the place of another."""
    if len(surface) > LONGEST or not any(one.isalpha() for one in surface):
        return None
    if is_acronym(surface):
        return "".join(chance.pick("ABCDEFGHJKLMNPRSTVW") for _ in surface)
    words = {word.strip(".,").casefold() for word in surface.split()}
    if label == "facility" or (label == "ORG" and words & _HOSPITALS):
        return cased(vocabulary.facility(chance), surface)
    return cased(vocabulary.employer(chance), surface)


def unit(surface: str, *, chance: Chance) -> str | None:
    """Another ward, room or department."""
    if any(one.isdigit() for one in surface):
        parts = re.findall(r"[^\W\d_]+|\d+|[\W_]", surface)
        return "".join(one if one.casefold() in _UNIT_WORDS else reshaped(one, chance=chance) for one in parts)
    options = tables.words("units") if is_acronym(surface) else tables.words("departments")
    return cased(chance.pick(options), surface)


def background(surface: str, *, label: str, chance: Chance) -> str | None:
    """Another profession, nationality, religion, ethnic origin or sum."""
    if label == "profession":
        return cased(chance.pick(vocabulary.PROFESSIONS), surface)
    if label == "ethnicity":
        kinds = [one for group in vocabulary.BACKGROUND.values() for one in (*group.ethnicities, *group.languages)]
        return cased(chance.pick(sorted(set(kinds))), surface)
    if label == "nationality_religion_politics":
        religions = {one.casefold() for one in vocabulary.RELIGIONS}
        nations = tuple(sorted(addresses.DEMONYMS.values()))
        options = vocabulary.RELIGIONS if surface.casefold() in religions else nations
        if surface.casefold() in {one.casefold() for one in tables.words("politics")}:
            options = tables.words("politics")
        return cased(chance.pick(options), surface)
    if label == "quantity" and any(one.isdigit() for one in surface):
        return "".join(
            reshaped(part, chance=chance) if part.isdigit() else part for part in re.findall(r"\d+|\D+", surface)
        )
    return None
