"""Whether a surface shows signs of noise: scanning errors, broken spacing, homoglyphs. Knows what leaves may hold."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from workup.text.calendar import MONTH_NUMBER
from workup.text.numbers import ENDINGS

_DOUBLED = re.compile(r"\S[^\S\n\r]{2,}\S")
_SPELT = re.compile(r"(?<![^\W_])(?:[^\W_] ){3,}[^\W_](?![^\W_])")  # J o h n
_RUN = re.compile(r"[^\W_]+")
_STRAY = re.compile(r"[^\W\d_][!@#$%^*|\\~{}<>=+][^\W\d_]")  # Sm!th
_INSIDE = re.compile(r"[A-Za-z]\d[A-Za-z]|[a-z]{2}\d|\d(?!st\b|nd\b|rd\b|th\b)[a-z]{2}")  # Ma1n, Genera1, 5mith
_LETTERS = re.compile(r"[^\W\d_]+")
_ORDINALS = frozenset(ENDINGS)
_IN_DATES = _ORDINALS | frozenset(MONTH_NUMBER) | {"am", "pm", "h", "hr", "hrs", "hours", "t", "z", "tz", "s"}
_IN_NUMBERS = frozenset({"x", "ext"})
_IN_AGES = frozenset({"y", "yo", "yr", "yrs", "year", "years", "m", "f"})
_NUMBERS = frozenset({"phone", "fax", "ssn", "credit_card", "bank_account", "CONTACT"})
_SCANNED_ZIP = re.compile(r"(?=(?:[OolISBZ]*\d){3})[OolISBZ\d]{5}")


def noisy(surface: str, *, leaf: str, branch: str) -> bool:
    """Whether something in a surface looks like damage rather than spelling.

    Everywhere: control, format and compatibility characters, blanks that are not a space, scripts mixed in one word,
    doubled blanks, letters set apart; a line break, except in addresses. In names, places and organisations: digits or
    stray signs inside words. In dates and numbers: letters that belong to no month, ordinal or extension. Identifiers
    may mix as they like.

    >>> noisy("J0hn", leaf="name_patient", branch="NAME"), noisy("O3/14/2O20", leaf="date", branch="DATE")
    (True, True)
    >>> noisy("05Sep2020", leaf="date", branch="DATE"), noisy("A12B", leaf="mrn", branch="ID")
    (False, False)
    """
    if not surface.isascii() and _strange(surface):
        return True
    address = leaf in ("street_address", "GEO")
    if ("\n" in surface or "\r" in surface) and not address:
        return True
    if _DOUBLED.search(surface) or _SPELT.search(surface) or any(c < " " and not c.isspace() for c in surface):
        return True
    if branch == "NAME":
        return leaf != "username" and (_mixed(surface, _ORDINALS) or _STRAY.search(surface) is not None)
    if branch == "DATE":
        return _mixed(surface, _IN_DATES)
    if branch == "AGE":
        return _mixed(surface, _IN_AGES)
    if leaf in _NUMBERS:
        return leaf != "CONTACT" and _mixed(surface, _IN_NUMBERS)
    if leaf == "zip":
        return _SCANNED_ZIP.fullmatch(surface) is not None and not surface.isdigit()
    if branch in ("GEO", "ORG", "QUASI") and leaf not in ("facility_unit", "quantity", "misc"):
        return _INSIDE.search(surface) is not None or _STRAY.search(surface) is not None
    return False


def _mixed(surface: str, allowed: frozenset[str]) -> bool:
    """Whether letters that do not belong there are in one run with digits."""
    return any(
        letters.lower() not in allowed
        for run in _RUN.findall(surface)
        if not (run.isdigit() or run.isalpha())
        for letters in _LETTERS.findall(run)
    )


def _strange(surface: str) -> bool:
    script = ""
    for character in surface:
        kind = _kind(character)
        if kind == "strange":
            return True
        if kind == "":
            script = ""
        elif kind != "mark":
            if script and kind != script:
                return True
            script = kind
    return False


@cache
def _kind(character: str) -> str:
    """The script of a letter, "mark" for what belongs to one, "strange" for what no keyboard writes, else nothing."""
    category = unicodedata.category(character)
    if character in " \t\n\r":
        return ""
    if character == "\ufffd" or category in ("Cc", "Cf", "Co", "Cn", "Cs", "Zs", "Zl", "Zp"):
        return "strange"
    if category.startswith("M"):
        return "mark"
    if category[0] not in "LN":
        return ""
    if category != "No" and character not in "ªºŉ" and unicodedata.normalize("NFKC", character) != character:
        return "strange"  # full-width, mathematical and other letters for show
    return unicodedata.name(character, "").split(" ")[0] if category[0] == "L" else "mark"
