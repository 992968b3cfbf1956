"""The text that a reader of HTML sees, and the same HTML with stretches of that text replaced: no tag is touched.

What attributes and comments say is read as text too, since both may name somebody. Knows no value and no label."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from workup.text.wordlists import words_of

_BLOCKS = words_of("p div br tr li ul ol table h1 h2 h3 h4 h5 h6 hr dt dd section article blockquote pre")
_CELLS = frozenset(("td", "th"))
_NAME = re.compile(r"</?\s{0,8}([A-Za-z][A-Za-z0-9]{0,20})")
_SAYS = re.compile(r"\b(?:title|alt|href|src|value|content|name|cite)\s{0,8}=\s{0,8}(?:\"([^\"]*)\"|'([^']*)')", re.I)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


class Html:
    """HTML with its visible text.

    >>> page = Html("<p>Seen: <b>Ann</b> L&eacute;e</p>")
    >>> page.text
    '\\nSeen: Ann Lée\\n'
    >>> page.rewritten([(7, 14, "[NAME-1]")])
    '<p>Seen: <b>[NAME-1]</b></p>'
    """

    def __init__(self, source: str) -> None:
        self._source = source
        signs: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        for text, start, end, literal in _pieces(source):
            signs.append(text)
            if literal:  # each character stands for itself
                self._starts += range(start, end)
                self._ends += range(start + 1, end + 1)
            else:
                self._starts += [start] * len(text)
                self._ends += [end] * len(text)
        self.text = "".join(signs)

    def rewritten(self, changes: Sequence[tuple[int, int, str]]) -> str:
        """The HTML with stretches of its text replaced, in their order; tags inside a stretch stay."""
        parts, at = [], 0
        for start, end, new in changes:
            words = html.escape(new)
            for one in range(start, end):
                first, last = self._starts[one], self._ends[one]
                if first < at or first == last:  # of an entity that is done, or a mark that no source has
                    continue
                parts += [self._source[at:first], words]
                words, at = "", last
        return "".join([*parts, self._source[at:]])


def _pieces(source: str) -> Iterator[tuple[str, int, int, bool]]:
    """Text with its place in the source; where it stands for itself, character by character, it is literal."""
    at = 0
    while at < len(source):
        opening = source.find("<", at)
        yield from _characters(source, at, len(source) if opening < 0 else opening)
        if opening < 0:
            return
        comment = source.startswith("<!--", opening)
        closing = source.find("-->" if comment else ">", opening)
        if closing < 0:
            yield from _characters(source, opening, len(source))
            return
        at = closing + (3 if comment else 1)
        if comment:
            yield "\n", opening, opening, False
            yield from _characters(source, opening + 4, closing)
            yield "\n", closing, closing, False
            continue
        yield from _tag(source, opening, at)


def _tag(source: str, opening: int, end: int) -> Iterator[tuple[str, int, int, bool]]:
    named = _NAME.match(source, opening, end)
    name = named[1].lower() if named else ""
    if name in _BLOCKS or name in _CELLS:
        yield "\n" if name in _BLOCKS else "\t", opening, opening, False
    for said in _SAYS.finditer(source, opening, end):
        group = 1 if said[1] is not None else 2
        if said[group]:
            yield "\n", said.start(group), said.start(group), False
            yield from _characters(source, said.start(group), said.end(group))
            yield "\n", said.end(group), said.end(group), False


def _characters(source: str, start: int, end: int) -> Iterator[tuple[str, int, int, bool]]:
    at = start
    while at < end:
        mark = source.find("&", at, end)
        if mark < 0:
            yield source[at:end], at, end, True
            return
        if mark > at:
            yield source[at:mark], at, mark, True
        entity = _ENTITY.match(source, mark, end)
        read = html.unescape(entity[0]) if entity else "&"
        at = entity.end() if entity else mark + 1
        yield read, mark, at, False
