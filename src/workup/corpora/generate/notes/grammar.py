"""The files of the notes' grammar, read once: types of note with their families, sections and rules.

Knows how the files are written, and nothing of what a rule means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from workup.errors import InputError, near

_OFTEN = 4  # the weight of a family of which the file says nothing


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a note: its titles, long before short, and the ways to write it."""

    name: str
    titles: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """One layout of a type: which sections in which order, those that may be left out, and the style of its writing."""

    name: str
    style: str
    sections: tuple[str, ...]
    optional: frozenset[str]
    weight: int


@dataclass(frozen=True, slots=True)
class NoteType:
    """A kind of note. `length` is its size as a share of the length that was asked for.

    A note of a type with `themes` keeps to one of them: where a template asks for it, rule@theme is written. A theme
    stands behind the mark of whom it fits: f, m, a for adults, or nothing.
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
    """Everything that the files hold. A section or rule of a type's own file comes before that of the common one."""

    types: Mapping[str, NoteType]
    sections: Mapping[str, Section]
    rules: Mapping[str, tuple[str, ...]]


@dataclass
class _Reading:
    sections: dict[str, Section] = field(default_factory=dict)
    rules: dict[str, tuple[str, ...]] = field(default_factory=dict)


@cache
def source() -> Source:
    """The shipped grammar."""
    folder = files("workup.corpora.generate.notes") / "data"
    reading, types = _Reading(), {}
    for name in ("common.txt", "phi_lines.txt"):
        _take(reading, (folder / name).read_text(encoding="utf-8"), where=name)
    for file in sorted((folder / "types").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".txt"):
            found = _take(reading, file.read_text(encoding="utf-8"), where=file.name)
            types[found["type"][0]] = _type(found, reading, where=file.name)
    return Source(types, reading.sections, reading.rules)


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


def _type(said: dict[str, list[str]], reading: _Reading, *, where: str) -> NoteType:
    name, _, titles = (part.strip() for part in said["type"][0].partition(":"))
    said["type"][0] = name
    families = []
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
        families.append(Family(family, style, names, optional, int(often[0]) if often else _OFTEN))
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
