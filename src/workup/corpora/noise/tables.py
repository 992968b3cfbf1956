"""What noise puts in the place of what: neighbouring keys and Unicode variants. Scanners and look-alikes are in `text`.

Plain tables. No replacement is punctuation unless what it replaces is, so a value never turns into ignorable marks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workup.text.typos import KEYBOARD
from workup.text.wordlists import alternatives


def _neighbours() -> dict[str, str]:
    """Keys beside each key and in the next row, on the layout of the United States; capitals have capitals."""
    found: dict[str, str] = {}
    for number, row in enumerate(KEYBOARD):
        for place, key in enumerate(row):
            near = [row[i] for i in (place - 1, place + 1) if 0 <= i < len(row)]
            if not key.isdigit():  # a typo from letters into digits is rare, and from digits into letters too
                for other in (number - 1, number + 1):
                    if 1 <= other < len(KEYBOARD):
                        near += [KEYBOARD[other][i] for i in (place - 1, place) if 0 <= i < len(KEYBOARD[other])]
            found[key] = "".join(near)
            found[key.upper()] = "".join(near).upper()
    return found


KEYS: Mapping[str, str] = MappingProxyType(_neighbours())

# Variants that the same text takes on its way through editors, exports and keyboards of other languages.
UNICODE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        " ": ("\u00a0", "\u2009", "\u202f"),
        **alternatives("""
            -=\u2010|\u2011|\u2013 '=\u2019|\u02bc "=\u201c|\u201d /=\u2044 ,=\u201a
            a=á|à|ä c=ç|č d=đ e=é|è|ë i=í|ï l=ł n=ñ|ń o=ó|ö r=ř s=š|ş t=ţ u=ú|ü y=ý z=ž
            A=Á|Ä C=Ç E=É|È I=Í N=Ñ O=Ó|Ö S=Š U=Ü
            0=０ 1=１ 2=２ 3=３ 4=４ 5=５ 6=６ 7=７ 8=８ 9=９
        """),
    }
)
