"""The files of the notes' grammar, read once: types of note with their families, sections and rules.

Half of the families belong to each of two phrasings, which share layouts with no one and, of what both may write,
no line that carries an identifier. Knows how the files are written, and nothing of what a rule means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from workup.errors import InputError, near

PHRASINGS = ("a", "b")
_OFTEN = 4  # the weight of a family of which the file says nothing
_WORD = re.compile(r"[A-Za-z_]+")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a note: its titles, long before short, and the ways to write it."""

    name: str
    titles: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """One layout of a type: which sections in which order, those that may be left out, and the style of its writing.

    `phrasing` says which of two sets of lines it is written with, where several families share a section or a rule.
    """

    name: str
    style: str
    phrasing: str
    sections: tuple[str, ...]
    optional: frozenset[str]
    weight: int


@dataclass(frozen=True, slots=True)
class NoteType:
    """A kind of note. `length` is its size as a share of the length that was asked for.

    A note of a type with `themes` keeps to one of them: where a template asks for it, rule@theme is written. A theme
    comes after the mark of whom it fits: f, m, a for adults, or nothing.
    """

    name: str
    titles: tuple[str, ...]
    weight: int
    length: float
    flags: frozenset[str]
    themes: tuple[tuple[str, str], ...]
    families: tuple[Family, ...]


@dataclass(frozen=True)
class Source:
    """Everything that the files hold. `shared` names the sections and rules that families of both phrasings come to."""

    types: Mapping[str, NoteType]
    sections: Mapping[str, Section]
    rules: Mapping[str, tuple[str, ...]]
    shared: frozenset[str]


@dataclass
class _Reading:
    sections: dict[str, Section] = field(default_factory=dict)
    rules: dict[str, tuple[str, ...]] = field(default_factory=dict)


@cache
def source() -> Source:
    """The shipped grammar."""
    folder = files("workup.corpora.generate.notes") / "data"
    reading, types = _Reading(), dict[str, NoteType]()
    for name in ("common.txt", "phi_lines.txt"):
        _take(reading, (folder / name).read_text(encoding="utf-8"), where=name)
    for file in sorted((folder / "types").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".txt"):
            found = _take(reading, file.read_text(encoding="utf-8"), where=file.name)
            types[found["type"][0]] = _type(found, reading, first=len(types), where=file.name)
    return Source(types, reading.sections, reading.rules, _shared(types, reading))


def _shared(types: Mapping[str, NoteType], reading: _Reading) -> frozenset[str]:
    """The sections and rules to which a family of either phrasing leads, by way of others too."""
    said = {name: section.options for name, section in reading.sections.items()}
    themed = {rule.partition("@")[0] for rule in reading.rules if "@" in rule}
    reached = []
    for phrasing in PHRASINGS:
        families = (family for kind in types.values() for family in kind.families if family.phrasing == phrasing)
        waiting = {name for family in families for name in family.sections}
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            found.add(name)
            # A word that happens to be the name of a rule counts as well: one rule too many is split at worst.
            words = {word for option in said.get(name, ()) for word in _WORD.findall(option)}
            words |= {word for option in reading.rules.get(name, ()) for word in _WORD.findall(option)}
            led = words & reading.rules.keys()
            led |= {rule for rule in reading.rules if "@" in rule and rule.partition("@")[0] in words & themed}
            waiting |= led - found
        reached.append(found)
    return frozenset(reached[0] & reached[1])


def _take(reading: _Reading, text: str, *, where: str) -> dict[str, list[str]]:
    """Sections and rules go into `reading`; what else the file says is handed back, by its first word."""
    said: dict[str, list[str]] = {}
    for head, body in _blocks(text):
        word, _, rest = head.partition(" ")
        if word in ("section", "rule"):
            name, _, titles = (part.strip() for part in rest.partition(":"))
            if name in (reading.sections if word == "section" else reading.rules) or not body:
                raise InputError("a section or rule must be written once, with at least one way to write it",
                                 where=f"{where}, {name}")  # fmt: skip
            if word == "section":
                named = tuple(title.strip() for title in titles.split(" / ") if title.strip())
                reading.sections[name] = Section(name, named, tuple(body))
            else:
                reading.rules[name] = tuple(body)
        else:
            said[word] = [rest, *body]
    return said


def _blocks(text: str) -> Iterable[tuple[str, list[str]]]:
    """Lines without indent, each with the indented lines under it; comments and blank lines are passed over."""
    head, body = "", list[str]()
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] != " ":
            if head:
                yield head, body
            head, body = line.strip(), []
        else:
            body.append(line.strip().replace("\\n", "\n"))
    if head:
        yield head, body


def _type(said: dict[str, list[str]], reading: _Reading, *, first: int, where: str) -> NoteType:
    name, _, titles = (part.strip() for part in said["type"][0].partition(":"))
    said["type"][0] = name
    families: list[Family] = []
    for line in said["families"][1:]:
        head, _, listed = line.partition(":")
        family, style, *often = head.split()
        words = listed.split()
        names = tuple(word.lstrip("?") for word in words)
        for section in names:
            if section not in reading.sections:
                raise InputError("a family must list known sections", where=f"{where}, family {family}",
                                 got=repr(section), remedy=near(section, reading.sections))  # fmt: skip
        optional = frozenset(word[1:] for word in words if word.startswith("?"))
        # In turn, and of every second type the other way round: a type with three layouts has two of one phrasing.
        phrasing = PHRASINGS[(first + len(families)) % len(PHRASINGS)]
        families.append(Family(family, style, phrasing, names, optional, int(often[0]) if often else _OFTEN))
    return NoteType(
        name,
        tuple(title.strip() for title in titles.split(" / ")),
        int(said["weight"][0]),
        float(said["length"][0]),
        frozenset(said.get("flags", [""])[0].split()),
        tuple(_theme(word) for word in said.get("themes", [""])[0].split()),
        tuple(families),
    )


def _theme(word: str) -> tuple[str, str]:
    marks, colon, name = word.rpartition(":")
    return (marks, name) if colon else ("", word)
