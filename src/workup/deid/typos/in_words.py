"""Titles, saints, small words and set phrases through a slip: "Msq. Legg", "Sf. Mary's General", "t0", "92-year-olx".

Knows a few words that rules cannot do without and that are too short for a speller."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workup.text.typos import apart, beside

_STOP = re.compile(r"\. (?=[A-Z0-9])")
_SHORT = re.compile(r"(?<![A-Za-z0-9.])[A-Z05][A-Za-z0-9]{1,2}$")
_CALLED = re.compile(r"[A-Z0-9][A-Za-z0-9.']")
_TITLES = (
    {
        slip: title
        for title, slips in (
            ("Dr", "Or 0r Dn DEr Drs Dr5 Df Dt De Dd DDr Drr Drt Drf Xr Cr Er SDr Dfr Dre"),
            ("Mr", "Nr Mf MMr Mrr Mre Kr"),
            ("Ms", "Ns Ma M5 Mss MMs Na"),
            ("Mrs", "Mra Nrs Mrx Mrd"),
        )
        for slip in slips.split()
    }
    | {  # the key beside was struck too
        title[:at] + letter + title[at:]: title
        for title in ("Dr", "Mr", "Ms")
        for at in range(1, 3)
        for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        if letter.isupper() == (at == 1) and beside(letter.lower(), title[at - 1].lower())
    }
)
# What a hospital that is called by a saint goes on with.
_HOSPITAL = re.compile(
    r"[A-Z][A-Za-z]{2,15}(?:'[sS])? "
    r"(?i:general|regional|memorial|medical|university|community|hospital|children|health|cancer|county)\b"
)
_KIN = re.compile(r" kin(?=[:\s])(?<=[A-Za-z]{4} [a-z]{2} kin)(?<!Next of kin)(?<!next of kin)")
_YEARS = re.compile(r"year[- ](?P<v>[a-z0-9]{2,4})(?=[ ,])")


def titles(plain: str) -> Iterator[tuple[int, int, str]]:
    """Places of titles and saints before a name, and how they are to be read.

    >>> list(titles("Seen by Msq. Legg at Sf. Mary's General Hospital."))
    [(8, 11, 'Ms'), (21, 23, 'St')]
    """
    for stop in _STOP.finditer(plain):
        match = _SHORT.search(plain, max(0, stop.start() - 4), stop.start())
        if match is None:
            continue
        word = match[0]
        saint = len(word) == 2 and (word[0] in "S5" or word[1] == "t") and word not in ("St", "ST", "Mt", "Ft", "Sr")
        if saint and apart(word.lower(), "st", 1) == 1 and _HOSPITAL.match(plain, stop.end()):
            yield (*match.span(), "St" if word[1].islower() else "ST")
        elif word in _TITLES and _CALLED.match(plain, stop.end()):
            yield (*match.span(), _TITLES[word])


def years_old(plain: str) -> Iterator[tuple[int, int, str]]:
    """Places of what follows a count of years and is 'old' but for a slip."""
    for match in _YEARS.finditer(plain):
        if match["v"] != "old" and apart(match["v"], "old", 1) <= 1:
            yield (*match.span("v"), "old")


def small_words(plain: str) -> str:
    """The text with 'to' and 'next of kin' as they should be; as many characters as before.

    >>> small_words("mailed t0 12 Elm Way\\nNext ov kin: Berg")
    'mailed to 12 Elm Way\\nNext of kin: Berg'
    """
    if "t0" in plain:
        plain = plain.replace(" t0 ", " to ")
    pieces, at = [], 0
    for match in _KIN.finditer(plain):
        start = match.start() - 7
        if apart(plain[start : match.start()].lower(), "next of", 2) <= 2:
            pieces += [plain[at : start + 1], "ext of"]
            at = match.start()
    return "".join([*pieces, plain[at:]]) if pieces else plain
