"""What each specialty talks about: problems, complaints, drugs, tests, findings, plans. Read once; knows no patient."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from workup.errors import InputError

_KEYS = ("problems", "complaints", "drugs", "procedures", "anatomy", "labs", "exam", "studies", "plans", "story")
_LAB = re.compile(r"(.+?) (\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)(?: ([^\[]+?))?(?: \[(\S+)-(\S+)\])?")
_RECENT = ("COVID", "SARS-CoV-2", "mRNA")
COMMON = "common"


@dataclass(frozen=True, slots=True)
class Drug:
    """A medicine and the dose that is usually written, a template."""

    name: str
    dose: str


@dataclass(frozen=True, slots=True)
class Lab:
    """A test with the range in which values are drawn, their decimals, their unit, and the range that reports print."""

    name: str
    low: float
    high: float
    decimals: int
    unit: str
    usual: tuple[float, float] | None = None
    reference: str = ""

    def at(self, share: float) -> str:
        """The value at a share of the range, as it is written."""
        return f"{self.low + share * (self.high - self.low):.{self.decimals}f}"

    def flag(self, share: float) -> str:
        """H or L where the value at a share lies outside the range that reports print, where there is one."""
        if self.usual is None:
            return " "
        value = float(self.at(share))
        return "L" if value < self.usual[0] else "H" if value > self.usual[1] else " "


@dataclass(frozen=True)
class Specialty:
    """A specialty: whom it sees (any, adult, old, child …), what is done there, and what it talks about, in lists."""

    name: str
    title: str
    clinician: str
    sees: str
    does: frozenset[str]
    listed: Mapping[str, tuple[str, ...]]

    def items(self, key: str, *, marks: str) -> tuple[str, ...]:
        """The items of a list that fit: unmarked ones, and those marked (m), (f) or (a) where `marks` has the letter.

        What speaks of COVID-19 needs the letter c: a note of earlier years knows nothing of it.
        """
        return tuple(
            item[4:] if item[:1] == "(" and item[2:4] == ") " else item
            for item in self.listed.get(key, ())
            if (item[:1] != "(" or item[2:4] != ") " or item[1] in marks)
            and ("c" in marks or not any(word in item for word in _RECENT))
        )


@cache
def specialties() -> Mapping[str, Specialty]:
    """All specialties by name, in a fixed order.

    >>> len(specialties()) >= 40, specialties()["cardiology"].title
    (True, 'Cardiology')
    """
    folder = files("workup.corpora.generate.notes") / "data" / "specialties"
    found: dict[str, Specialty] = {}
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".txt"):
            for block in file.read_text(encoding="utf-8").split("\n== ")[1:]:
                one = _specialty(block, where=file.name)
                found[one.name] = one
    return MappingProxyType(found)


def _specialty(block: str, *, where: str) -> Specialty:
    head, *lines = block.strip().splitlines()
    name, title, clinician, sees, does = (part.strip() for part in head.split("|"))
    listed: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if line and not line.startswith("#"):
            key, _, items = line.partition(":")
            listed[key] = tuple(item.strip() for item in items.split(";") if item.strip())
    needed = (*_KEYS, "operation") if "operative" in does.split() else _KEYS
    missing = [key for key in needed if not listed.get(key)]
    if missing and name != COMMON:
        raise InputError(
            "a specialty must list all that notes talk about", where=f"{where}, {name}", got=f"no {missing[0]}"
        )
    one = Specialty(name, title, clinician, sees, frozenset(does.split()), MappingProxyType(listed))
    for item in (*one.items("labs", marks="mfac"), *one.items("drugs", marks="mfac")):  # a typo in the file is met here
        drug_of(item, where=where) if " = " in item else lab_of(item, where=f"{where}, {name}")
    return one


def drug_of(item: str, *, where: str = "") -> Drug:
    """A medicine as its list has it: name = dose."""
    name, equals, dose = item.partition(" = ")
    if not equals:
        raise InputError("a drug must be its name = its dose", where=where, got=repr(item[:60]))
    return Drug(name.strip(), dose.strip())


def lab_of(item: str, *, where: str = "") -> Lab:
    """A test as its list has it: name, range, unit."""
    found = _LAB.fullmatch(item)
    if found is None:
        raise InputError("a lab must be its name, its range and its unit", where=where, got=repr(item[:60]))
    name, low, high, unit, least, most = found.groups()
    decimals = max(len(number.partition(".")[2]) for number in (low, high))
    usual = (float(least), float(most)) if least else None
    return Lab(name, float(low), float(high), decimals, unit or "", usual, f"{least}-{most}" if least else "")
