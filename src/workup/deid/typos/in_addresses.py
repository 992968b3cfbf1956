"""Streets and states through a typo: "9683 Lincoln n.", "A031 Birch Lane", "2696 Couynty Toad 77".

Knows the kinds of streets, and where in an address they stand; a kind of street that is spelt right is left."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workup.deid.typos.ocr_digits import AS_DIGITS
from workup.text.typos import Speller, apart

# A figure before a capital or another number: where an address may begin. Most notes have few.
_NUMBERED = re.compile(r"[0-9](?:-[0-9]{1,4})?[A-Za-z]? (?=[A-Z]|[0-9G]{1,3}[a-z]{2}|block )")
_TOKEN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{1,6}(?:-\d{0,4})?$")
_END = r"(?=\.?(?:,|\n| #|;| \(|$|\. )| (?:Apt|Unit|Suite|Ste)\b)"
# Number, words with capitals, and a last word that should be a kind of street.
_STREET = re.compile(
    r"(?<![\w.,:/-])(?P<n>(?=[A-Za-z]?\d)[0-9OoIlZzSsBbGgqA]{1,6})(?:-\d{1,4})? "
    r"(?:[NSEW]\.? |(?:North|South|East|West) )?"
    rf"(?P<w>(?:(?:[A-Z][A-Za-z']{{1,20}}|[0-9G]{{1,3}}[a-z]{{2,3}}) ){{1,3}})(?P<k>[A-Za-z][A-Za-z0-9]{{0,9}}){_END}"
)
_ROAD = re.compile(r"(?<![\w.,:/-])\w{1,6} (?P<a>[A-Z][a-z]{2,7}) (?P<b>[A-Z][a-z]{1,7}) (?=[0-9Z]\d{0,3}(?!\w))")
# A figure that was read as a letter, in the number of a house or of a road.
_HOUSE = re.compile(r"\b(?P<v>[OoIlZzSsBbGgqA]\d{1,5})(?= (?:County|State|Highway|Hwy|Route|US) | block of )")
_ROAD_NUMBER = re.compile(r" (?:Road|Route|Highway|Hwy) (?P<v>[OoIlZzSsBbGgqA]\d{1,3}|\d{1,3}[OoIlZzSsBb])(?=[,.;\n)])")
_PLACES, _WAYS = ("county", "state"), ("road", "route", "highway")


class Kinds:
    """The kinds of streets, ready to be told through a typo."""

    def __init__(self, kinds: Iterable[str]) -> None:
        self._kinds = frozenset(kinds)
        self._short = tuple(sorted(kind for kind in self._kinds if len(kind) < 5))
        self._speller = Speller(kind for kind in self._kinds if len(kind) > 4)

    def changes(self, plain: str) -> Iterator[tuple[int, int, str]]:
        """Places of what is to be read otherwise, and how."""
        for number in _NUMBERED.finditer(plain):
            token = _TOKEN.search(plain, max(0, number.start() - 12), number.start() + 1)
            if token is not None:
                yield from self._from(plain, token.start())
        if any(road in plain for road in ("Road ", "Route ", "Highway ")):
            for match in _ROAD_NUMBER.finditer(plain):
                yield (*match.span("v"), match["v"].translate(AS_DIGITS))

    def _from(self, plain: str, start: int) -> Iterator[tuple[int, int, str]]:
        """Changes of an address that begins at a place."""
        if (match := _STREET.match(plain, start)) is not None:
            kind = match["k"]
            meant = kind if kind.lower() in self._kinds else self._meant(kind)
            if meant is not None and not match["n"].isdigit():
                yield (*match.span("n"), match["n"].translate(AS_DIGITS))
            if meant is not None and meant != kind:
                yield (*match.span("k"), meant.upper() if kind.isupper() and len(kind) > 2 else meant.capitalize())
        if (match := _HOUSE.match(plain, start)) is not None:
            yield (*match.span("v"), match["v"].translate(AS_DIGITS))
        if (match := _ROAD.match(plain, start)) is not None:
            first, second = match["a"].lower(), match["b"].lower()
            place = _closest(first, _PLACES)
            way = _closest(second, _WAYS)
            if place and way and (first, second) != (place, way):
                yield (*match.span("a"), place.capitalize())
                yield (*match.span("b"), way.capitalize())

    def _meant(self, kind: str) -> str | None:
        low = kind.lower()
        if kind[0].islower():  # the capital was lost with the first letter
            return next((one for one in self._short if one[1:] == low), None) or (
                next((one for one in sorted(self._kinds) if one[1:] == low), None) if len(low) > 2 else None
            )
        if len(low) > 4:
            return self._speller.meant(low)
        if low.startswith("vv"):
            return "w" + low[2:] if "w" + low[2:] in self._kinds else None
        return next((one for one in self._short if abs(len(one) - len(low)) < 2 and apart(low, one, 1) <= 1), None)


def _closest(word: str, words: Iterable[str]) -> str | None:
    return next((one for one in words if apart(word, one, 1) <= 1), None)
