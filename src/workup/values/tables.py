"""The shipped tables of names and places, read once, as sequences ready for weighted draws. Knows no value."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Literal, NamedTuple

Popularity = Literal["common", "medium", "rare"]
ORIGINS: tuple[str, ...] = ("white", "black", "hispanic", "asian", "native")  # in the order of the shares
FIRST_DECADE, LAST_DECADE = 1910, 2010
_DATA = files("workup.values") / "data"
_COMMON, _MEDIUM = 1000, 100  # bearers in ten millions: from 1 in 10,000 people on, from 1 in 100,000 on


class Name(NamedTuple):
    """A name with the number of its bearers in ten millions and the per mille of them in each origin group."""

    text: str
    bearers: int
    shares: tuple[int, ...]
    decades: tuple[int, ...] = ()


class Draw(NamedTuple):
    """Names with cumulative weights, as `Chance.weighted` takes them."""

    names: tuple[Name, ...]
    cumulative: tuple[int, ...]


class Places(NamedTuple):
    """Cities and counties of one state."""

    cities: tuple[str, ...]
    counties: tuple[str, ...]


class PoolRow(NamedTuple):
    """One place in the aligned pools of the paired design."""

    given: str
    family: str
    given_bearers: int
    family_bearers: int


def band(bearers: int) -> Popularity:
    """The popularity band of a name: common from 1 bearer in 10,000 people on, medium from 1 in 100,000 on."""
    return "common" if bearers >= _COMMON else "medium" if bearers >= _MEDIUM else "rare"


def _rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (_DATA / name).read_text(encoding="utf-8").splitlines()]


@cache
def _surnames() -> tuple[Name, ...]:
    return tuple(Name(row[0], int(row[1]), tuple(map(int, row[2:7]))) for row in _rows("surnames.tsv"))


@cache
def _given() -> dict[str, tuple[Name, ...]]:
    names: dict[str, list[Name]] = {"F": [], "M": []}
    for row in _rows("given_names.tsv"):
        names[row[1]].append(Name(row[0], int(row[2]), tuple(map(int, row[3:8])), tuple(map(int, row[8:]))))
    return {sex: tuple(mine) for sex, mine in names.items()}


def _weighted(names: tuple[Name, ...], weights: list[int]) -> Draw:
    kept = [(name, weight) for name, weight in zip(names, weights, strict=True) if weight > 0]
    return Draw(tuple(name for name, _ in kept), tuple(accumulate(weight for _, weight in kept)))


@cache
def surnames(origin: str, *, telling: bool = False) -> Draw:
    """Surnames as frequent as among the people of a group; `telling` ones weighted by how much they say of it too."""
    place = ORIGINS.index(origin)
    names = _surnames()
    return _weighted(names, [name.bearers * _share(name, place, telling=telling) for name in names])


@cache
def given_names(origin: str, sex: str, decade: int, *, telling: bool = False) -> Draw:
    """Given names as frequent as among the people of a group, sex and decade of birth; `telling` as of surnames."""
    place = ORIGINS.index(origin)
    born = (min(max(decade, FIRST_DECADE), LAST_DECADE) - FIRST_DECADE) // 10
    names = _given()[sex]
    weights = [name.bearers * _share(name, place, telling=telling) * name.decades[born] for name in names]
    return _weighted(names, weights)


def _share(name: Name, place: int, *, telling: bool) -> int:
    """P(group | name), or its square: the chance of the name in the group, times how much it says of the group."""
    return name.shares[place] ** 2 if telling else name.shares[place]


@cache
def _bearers() -> dict[str, dict[str, int]]:
    found = {sex: {name.text: name.bearers for name in names} for sex, names in _given().items()}
    return {**found, "family": {name.text: name.bearers for name in _surnames()}}


def popularity(text: str, *, part: str) -> Popularity:
    """The band of a name; `part` is F or M for a given name, family for a surname. Unlisted names are rare."""
    return band(_bearers()[part].get(text, 0))


@cache
def pool_rows(origin: str, sex: str) -> tuple[PoolRow, ...]:
    """The rows of one aligned pool, in the order of their places."""
    rows = sorted((int(row[0]), row) for row in _rows("name_pools.tsv") if row[1] == origin and row[2] == sex)
    return tuple(PoolRow(row[3], row[4], int(row[5]), int(row[6])) for _, row in rows)


@cache
def places() -> dict[str, Places]:
    """Cities and counties by the state's two letters. A state without counties (DC) has none."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for state, kind, name in _rows("places.tsv"):
        found.setdefault(state, ([], []))[kind == "county"].append(name)
    return {state: Places(tuple(cities), tuple(counties)) for state, (cities, counties) in sorted(found.items())}


@cache
def _lists() -> dict[str, tuple[str, ...]]:
    lists: dict[str, list[str]] = {}
    kept: list[str] = []
    for line in (_DATA / "words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            kept = lists.setdefault(line[2:], [])
        elif line and not line.startswith("#"):
            kept.append(line)
    # Joined first: an entry of several words may run over the end of a line.
    return {name: tuple(word.strip() for word in " ".join(lines).split(",")) for name, lines in lists.items()}


def words(*name: str) -> tuple[str, ...]:
    """One of the hand-written lists of words.txt.

    >>> words("units")[:3]
    ('ICU', 'MICU', 'SICU')
    """
    return _lists()[" ".join(name)]


def word_pairs(*name: str) -> dict[str, str]:
    """A list of `word:other word` as a dictionary."""
    return dict(pair.split(":", 1) for pair in words(*name))


def word_lists(*prefix: str) -> dict[str, tuple[str, ...]]:
    """All lists whose name begins with these words, by the rest of the name."""
    start = " ".join(prefix) + " "
    return {name[len(start) :]: kept for name, kept in _lists().items() if name.startswith(start)}


def bracketed() -> list[list[str]]:
    """Kind, leaf and phrase of each hard negative."""
    return [row for row in _rows("hard_negatives.tsv") if not row[0].startswith("#")]


@cache
def provenance() -> dict[str, dict[str, str]]:
    """Source, version, licence and hash of each shipped table, by file name."""
    record: dict[str, dict[str, str]] = json.loads((_DATA / "provenance.json").read_text(encoding="utf-8"))["files"]
    return record


def versions() -> dict[str, str]:
    """The tables that values are drawn from, each with its version and the start of its hash, to record in a corpus.

    >>> sorted(versions())
    ['given_names.tsv', 'hard_negatives.tsv', 'name_pools.tsv', 'places.tsv', 'surnames.tsv', 'values', 'words.txt']
    """
    tables = {name: f"{record['version']} (sha256 {record['sha256'][:16]})" for name, record in provenance().items()}
    return {**tables, "values": VALUES_VERSION}


# Raised whenever a form, a list or the order of draws changes: equal seeds give equal texts within one version only.
VALUES_VERSION = "1"
