"""What is known of each patient, held in memory alone, and what of it stands in a text of that patient.

Values are kept packed, one text per patient, and made ready to be found when a note of the patient comes. They are
never written: no message, finding or `repr` holds one, and a pickle is refused. A finding says which kind of value it
is and how the text's spelling differs."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

from workup.deid.clinical_terms import unprotected
from workup.deid.finding import Finding
from workup.deid.known_values.births import Days, read_date
from workup.deid.known_values.names import Names, Person, person, small_family
from workup.deid.known_values.numbers import Numbers
from workup.deid.known_values.places import Places, address_parts
from workup.deid.known_values.support import Support, titles
from workup.deid.overlaps import resolved
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.documents.labels import SCHEME, branch_of
from workup.errors import InputError
from workup.text.unicode import folded
from workup.text.wordlists import words_of

_BRANCH = {name: branch_of(name) for name in SCHEME}
_KINDS = (*SCHEME, *(f"{leaf}.{part}" for leaf in SCHEME if leaf.startswith("name_") for part in ("given", "family")))
_CODE = {kind: chr(0xE000 + place) for place, kind in enumerate(_KINDS)}  # of Unicode's private area: in no value
_OF_CODE = {code: kind for kind, code in _CODE.items()}
_PACKED = re.compile(r"([\ue000-\uf8ff])([^\ue000-\uf8ff]*)")
_INVISIBLE = re.compile("[\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_SEVERAL = re.compile(r"[;|\n]")
_NOTHING = words_of("nan NaN NA N/A n/a None none NULL null NaT <NA> Unknown unknown - ?") | {""}
_LONGEST = 400  # characters of a value
_MOST = 1_000  # values of one patient: more are a wrong column
_READY = 512  # patients whose values are kept ready to be found
_NUMBERS = frozenset(("CONTACT", "NET", "ID"))


class _Known(NamedTuple):
    names: Names | None
    numbers: Numbers | None
    days: Days | None
    places: Places | None


class KnownValues:
    """Known values by patient.

    >>> from workup.deid.settings import load
    >>> known = KnownValues([("p1", [("name_patient", "Lopez, Maria"), ("date_birth", "1961-03-04")])], load())
    >>> found = known.find("Mrs. LOPEZ, born 4 March 1961, and Mrs. Lopes, a typo.", "p1")
    >>> [(one.start, one.end, one.label, one.evidence[0]) for one in found]
    [(5, 10, 'name_patient', "known: patient's name"),
     (17, 29, 'date_birth', 'known: date of birth'),
     (40, 45, 'name_patient', "known: patient's name, one letter off")]
    >>> known, known.find("Maria Lopez", "p2")
    (KnownValues(1 patient), [])
    """

    def __init__(self, rows: Iterable[tuple[str, Iterable[tuple[str, str]]]], settings: Settings) -> None:
        """`rows` give a patient's key and pairs of a kind (a leaf, or name_patient.given) and a value; a key that
        comes again adds to what is known."""
        self._settings, self._titles = settings, titles(settings)
        self._packed: dict[str, str] = {}
        self._ready: dict[str, _Known] = {}
        self.values = self.unusable = 0
        for key, pairs in rows:
            packed = "".join(self._packing(pairs))
            if key in self._packed:
                packed = self._packed[key] + packed
                if sum(map(packed.count, set(_CODE.values()).intersection(packed))) > _MOST:
                    raise _too_many()
            self._packed[key] = packed

    def __len__(self) -> int:
        return len(self._packed)

    def __contains__(self, patient: object) -> bool:
        return patient in self._packed

    def __repr__(self) -> str:
        return f"KnownValues({len(self):,} patient{'s' if len(self) != 1 else ''})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("known values are held in memory alone; read their table again where they are needed")

    def _packing(self, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
        count = 0
        for kind, cell in pairs:
            code = _CODE[kind]
            for value in _values(cell, kind):
                if len(value) > _LONGEST or sum(map(str.isalnum, value[:8])) < 2:
                    self.unusable += 1
                    continue
                count += 1
                if count > _MOST:
                    raise _too_many()
                yield code + value
        self.values += count

    def find(self, text: str, patient: str | None, page: Page | None = None) -> list[Finding]:
        """What of the patient's values stands in a text, none overlapping; `page` is the text made ready."""
        if patient is None or patient not in self._packed or not text:
            return []
        shown, places = _shown(text)
        if page is None or shown != page.text:
            page = Page(shown)
        known, support = self._known(patient), Support(page, self._titles)
        found: list[Finding] = []
        if known.names is not None:
            found += known.names.find(page, support)
        if known.numbers is not None:
            found += known.numbers.find(page)
        if known.days is not None:
            found += known.days.find(page)
        if known.places is not None:
            found += known.places.find(page, support)
        kept = resolved(unprotected(page, found, self._settings, _BRANCH), page.text)
        if places is None:
            return kept
        return [one._replace(start=places[one.start], end=places[one.end - 1] + 1) for one in kept]

    def _known(self, patient: str) -> _Known:
        known = self._ready.get(patient)
        if known is None:
            if len(self._ready) >= _READY:
                self._ready.clear()
            known = self._ready[patient] = self._made_ready(self._packed[patient])
        return known

    def _made_ready(self, packed: str) -> _Known:
        people: list[Person] = []
        parts: dict[str, dict[str, list[str]]] = {}
        numbers: list[tuple[str, str]] = []
        days = []
        places: list[tuple[str, str]] = []
        for code, value in dict.fromkeys(_PACKED.findall(packed)):
            kind = _OF_CODE[code]
            leaf, _, part = kind.partition(".")
            branch = _BRANCH[leaf]
            if branch == "NAME" and part != "given" and (small := small_family(value)):
                places.append((leaf, small))
            if part:
                parts.setdefault(leaf, {"given": [], "family": []})[part].append(value)
            elif branch == "NAME" and leaf != "username":
                one = person(leaf, value)
                people += [one] if one is not None else []
            elif branch == "DATE":
                day = read_date(value, self._settings.date_order)
                days += [(leaf, day)] if day is not None else []
            elif leaf == "street_address":
                for own, piece in address_parts(value, self._settings.lists["street_types"]):
                    (numbers if own == "zip" else places).append((own, piece))
            elif branch in _NUMBERS or leaf in ("zip", "username"):
                numbers.append((leaf, value))
            else:
                places.append((leaf, value))
        people = [*_from_parts(parts), *people]
        return _Known(
            Names(people) if people else None,
            Numbers(numbers) if numbers else None,
            Days(days) if days else None,
            Places(places, self._settings) if places else None,
        )


def joined(found: Sequence[Finding], own: Iterable[Finding], text: str) -> list[Finding]:
    """All findings, none overlapping; a single letter of another finding that a known value leaves over goes with it.

    >>> rule, value = Finding(0, 9, "mrn", 0.6, "a"), Finding(1, 9, "mrn", 0.99, "known.number")
    >>> [(one.start, one.end) for one in joined([rule], [value], "F89854256")]
    [(0, 9)]
    """
    ends = [one.end for one in found]
    widened = []
    for one in own:
        at = bisect_right(ends, one.start)
        while at < len(found) and (other := found[at]).start < one.end:
            at += 1
            if sum(map(str.isalnum, text[other.start : one.start])) == 1:
                one = one._replace(start=other.start)
            if sum(map(str.isalnum, text[one.end : other.end])) == 1:
                one = one._replace(end=other.end)
        widened.append(one)
    return resolved([*found, *widened], text)


def _from_parts(parts: Mapping[str, Mapping[str, list[str]]]) -> list[Person]:
    """One person of what a register keeps in columns of their own: given names, and all names of a family borne."""
    found = []
    for leaf, own in parts.items():
        given = [word for value in own["given"] if (one := person(leaf, value)) for word in (*one.given, *one.family)]
        family = [word for value in own["family"] if (one := person(leaf, value)) for word in (*one.given, *one.family)]
        found.append(Person(leaf, tuple(dict.fromkeys(given)), tuple(dict.fromkeys(family))))
    return sorted(found)


def _values(cell: str, kind: str) -> Iterator[str]:
    """The values of a cell: several are divided by semicolons, strokes or line ends."""
    if len(cell) > _LONGEST * _MOST:
        yield cell
        return
    plain = folded(_INVISIBLE.sub("", _PRIVATE.sub("", unicodedata.normalize("NFC", cell))))
    several = [plain] if kind == "street_address" and "\n" in plain else _SEVERAL.split(plain)
    for one in several:
        value = " ".join(one.split()) if kind != "street_address" else one.strip()
        if value not in _NOTHING:
            yield value


def _shown(text: str) -> tuple[str, list[int] | None]:
    """The text without marks that stand on letters and without what is not seen, and where each character was."""
    if text.isascii() or _INVISIBLE.search(text) is None:
        return text, None
    places = [place for place, sign in enumerate(text) if not _INVISIBLE.match(sign)]
    return "".join(map(text.__getitem__, places)), places


def _too_many() -> InputError:
    return InputError(
        f"at most {_MOST:,} known values of one patient were expected",
        where="known values",
        got="more under one key",
        remedy="check which column is the patient's key",
    )
