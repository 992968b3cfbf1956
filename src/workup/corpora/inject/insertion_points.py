"""Sites: where in a text a phrase with values may come in. The default kinds are a table; users bring their own.

A kind looks at the original text alone, so the places of one never depend on what another put in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from workup import plugins
from workup.corpora.inject.phrases import Phrase
from workup.corpora.inject.residual_phi import read_table
from workup.documents.document import Span
from workup.errors import InputError, StudyError, near
from workup.files.yaml_files import read_yaml

_KEYS = ("finds", "at", "phrases")


class Place(NamedTuple):
    """Where a phrase may come in (`at`), and the words that lead to it, between which nothing else may come."""

    at: int
    start: int
    end: int


@runtime_checkable
class SiteKind(Protocol):
    """A kind of site. Anything with these members is one; `PatternSite` is the one that tables describe."""

    @property
    def name(self) -> str:
        """Its own name, unlike any other's."""

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """What may come in at its places."""

    def places(self, text: str) -> Iterable[Place]:
        """Places in a text, in order."""


@dataclass(frozen=True)
class PatternSite:
    """A kind whose places a pattern finds: after what it finds, or before it.

    >>> kind = PatternSite("seen", re.compile(r"was seen(?= by)"), (Phrase.read(" on {date}", where="seen"),))
    >>> [place.at for place in kind.places("She was seen by us.")]
    [12]
    """

    name: str
    finds: re.Pattern[str]
    phrases: tuple[Phrase, ...]
    before: bool = False

    def places(self, text: str) -> Iterator[Place]:
        """Places in a text, in order."""
        for match in self.finds.finditer(text):
            start, end = match.span()
            yield Place(start if self.before else end, start, end)


@cache
def default_sites() -> tuple[SiteKind, ...]:
    """The kinds that come with the package.

    >>> len(default_sites()) >= 25
    True
    """
    return _kinds(read_table("sites.yaml"), where="the default sites", words={})


def find_sites(name_or_path: str) -> tuple[SiteKind, ...]:
    """Kinds of one's own: a YAML file of the same form as the default table, or `package.module:OBJECT`.

    The file may use the lists of words of the default table, and `extends: default` adds its kinds to the default ones.
    """
    path = Path(name_or_path)
    if path.suffix.lower() in (".yaml", ".yml"):
        if not path.is_file():
            raise InputError("a YAML file with kinds of sites was expected", where=str(path), got="no such file")
        content, _ = read_yaml(path, noun="table of sites")
        words = read_table("sites.yaml")["words"]
        own = _kinds(content, where=path.name, words=words)
        return (*default_sites(), *own) if content.get("extends") == "default" else own
    found = plugins.find("generators", name_or_path)
    kinds = tuple(found) if isinstance(found, Iterable) else (found,)
    for kind in kinds:
        if not isinstance(kind, SiteKind):
            raise StudyError(f"'{name_or_path[:200]}' is no kind of site: it needs name, phrases and places(text).")
    return kinds


def _kinds(table: Any, *, where: str, words: dict[str, str]) -> tuple[SiteKind, ...]:
    if not isinstance(table, dict) or not isinstance(table.get("kinds"), dict) or not table["kinds"]:
        raise StudyError(f"{where}: a table with 'kinds' was expected, each with 'finds' and 'phrases'.")
    words = {**words, **(table.get("words") or {})}
    return tuple(
        _kind(str(name), row, where=f"{where}, kind '{name}'", words=words) for name, row in table["kinds"].items()
    )


def _kind(name: str, row: Any, *, where: str, words: dict[str, str]) -> PatternSite:
    if not isinstance(row, dict):
        raise StudyError(f"{where}: 'finds' and 'phrases' were expected.")
    for key in row:
        if key not in _KEYS:
            raise StudyError(f"{where}: unknown key '{str(key)[:40]}'; {near(str(key), _KEYS)}.")
    if not isinstance(row.get("finds"), str) or not isinstance(row.get("phrases"), list) or not row["phrases"]:
        raise StudyError(f"{where}: 'finds' must be a pattern and 'phrases' a list of phrases.")
    if row.get("at", "after") not in ("after", "before"):
        raise StudyError(f"{where}: 'at' must be after or before.")
    try:
        finds = re.compile(_spelled(row["finds"], words), re.MULTILINE)
    except re.error as error:
        raise StudyError(f"{where}: 'finds' is no regular expression ({error.msg} at {error.pos}).") from None
    phrases = tuple(Phrase.read(_spelled(str(phrase), words), where=where) for phrase in row["phrases"])
    return PatternSite(name, finds, phrases, before=row.get("at") == "before")


def _spelled(text: str, words: dict[str, str]) -> str:
    for word, meaning in words.items():
        text = text.replace(f"<{word}>", meaning)
    return text


def collect(text: str, kinds: Sequence[SiteKind], *, apart_from: Iterable[Span] = ()) -> dict[str, list[Place]]:
    """All places of all kinds on the original text, less those that touch a span, by the kind's name."""
    taken = bytearray(len(text) + 1)
    for span in apart_from:
        taken[span.start : span.end + 1] = b"\x01" * (span.end + 1 - span.start)
    by_pattern: dict[tuple[Any, bool], list[Place]] = {}  # many kinds of sentences share one pattern
    found: dict[str, list[Place]] = {}
    for kind in kinds:
        key = (kind.finds, kind.before) if isinstance(kind, PatternSite) else (id(kind), False)
        if key not in by_pattern:
            places = [place for place in kind.places(text) if not taken[_inside(place, text, kind.name).at]]
            by_pattern[key] = places
        found[kind.name] = by_pattern[key]
    return found


def _inside(place: Place, text: str, kind: str) -> Place:
    if not 0 <= place.start <= place.at <= place.end <= len(text):
        raise StudyError(f"kind of site '{kind}': a place lies outside its text or its own words.")
    return place
