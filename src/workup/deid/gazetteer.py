"""Names of people, ordinary words and places, with how common each is; read once, on first use.

A word is looked up in a table; an automaton would find no more, since every name ends where a word ends."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from workup.errors import InputError
from workup.text.memo import Memo

_DATA = files("workup.deid") / "data"


class Source(NamedTuple):
    """One shipped gazetteer: where it is from, under which terms, and how it was made."""

    file: str
    source: str
    version: str
    licence: str
    derived: str
    rows: int
    sha256: str


@cache
def provenance() -> tuple[Source, ...]:
    """The shipped gazetteers with their licences.

    >>> [source.file for source in provenance()]
    ['everyday.txt.gz', 'people.tsv.gz', 'places.tsv.gz']
    """
    records = json.loads((_DATA / "provenance.json").read_text(encoding="utf-8"))["files"]
    return tuple(
        Source(name, one["source"], one["version"], one["licence"], one["derived"], one["rows"], one["sha256_of_text"])
        for name, one in sorted(records.items())
    )


def _lines(name: str) -> list[str]:
    source = next(one for one in provenance() if one.file == name)
    try:
        text = gzip.decompress((_DATA / name).read_bytes())
    except (OSError, EOFError):
        text = b""
    if hashlib.sha256(text).hexdigest() != source.sha256:
        raise InputError(
            "the gazetteer must be the one recorded in provenance.json",
            where=f"workup/deid/data/{name}",
            got="a damaged or changed file",
            remedy="install Workup again, or rebuild it with scripts/build_gazetteers.py",
        )
    return text.decode("ascii").splitlines()


class Commonness(NamedTuple):
    """Decimal logarithms of how many bear a word as given name and as surname, and how often books hold it.

    0 is none. `balance` weighs the two against each other: above 0 a word with a capital is more likely a name."""

    given: float
    surname: float
    word: float
    balance: float


# Books hold a name about a hundred times for each person of the census who bears it: about what is seen for names that
# are nothing else (John 64, Mary 21, Smith 27). Words that no book holds are names, with little doubt.
_PER_BEARER = 1.8
_ONLY_A_NAME = 1.4
_ONLY_A_WORD = -3.0
UNKNOWN = Commonness(0.0, 0.0, 0.0, 0.0)


def _commonness(code: str) -> Commonness:
    given, surname, word = ((ord(character) - 48) / 4 for character in code)
    borne = max(given, surname)
    if not borne:
        return Commonness(0.0, 0.0, word, _ONLY_A_WORD)
    if not word:
        return Commonness(given, surname, 0.0, _ONLY_A_NAME)
    return Commonness(given, surname, word, max(_ONLY_A_WORD, min(_ONLY_A_NAME, borne + _PER_BEARER - word)))


@cache
def people() -> dict[str, Commonness]:
    """Every known word.

    >>> people()["emily"].balance > 0 > people()["will"].balance
    True
    """
    known = Memo(_commonness)  # a quarter of a million words have a few thousand codes of three characters
    return {line[:-4]: known[line[-3:]] for line in _lines("people.tsv.gz")}


@cache
def everyday() -> frozenset[str]:
    """Words that a dictionary writes small; names that are nothing else are not among them.

    >>> "bill" in everyday(), "howard" in everyday()
    (True, False)
    """
    return frozenset(_lines("everyday.txt.gz"))


class Place(NamedTuple):
    """A place: its kinds (u town at home, w town abroad, c county, s state, n country) and log10 of its people."""

    kinds: str
    people: float


@cache
def places() -> dict[str, Place]:
    """Names of places in lower case without accents, words parted by one blank.

    >>> places()["chapel hill"].kinds, "s" in places()["ohio"].kinds
    ('u', True)
    """
    known = Memo(_place)
    return {name: known[about] for name, _, about in (line.partition("\t") for line in _lines("places.tsv.gz"))}


def _place(about: str) -> Place:
    kinds, size = about.split("\t")
    return Place(kinds, int(size) / 2)


@cache
def place_openings() -> dict[str, int]:
    """First words of places, and how many words the longest place that opens so has."""
    longest: dict[str, int] = {}
    for name in places():
        first, _, rest = name.partition(" ")
        longest[first] = max(longest.get(first, 0), rest.count(" ") + 2 if rest else 1)
    return longest


@cache
def state_openings() -> frozenset[str]:
    """First words of states."""
    return frozenset(name.split(" ", 1)[0] for name, place in places().items() if "s" in place.kinds)
