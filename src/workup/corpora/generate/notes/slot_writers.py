"""What a compiled slot does when a note is written: one small function each, called with the scribe.

Knows the scribe's vocabulary of acts and nothing of the notation that templates are written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from workup.corpora.generate.notes.note_writer import Scribe

Part: TypeAlias = "str | Callable[[Scribe], None]"
Parts: TypeAlias = "tuple[Part, ...]"
EMPTY = "\0"  # stands where an optional piece was left out, so that its blank can be taken back


def integer(low: int, high: int) -> Part:
    width = high - low + 1

    def write(scribe: Scribe) -> None:
        scribe.out.append(str(low + int(scribe.draw() * width)))

    return write


def choice(options: tuple[Parts, ...]) -> Part:
    options = tuple(option or (EMPTY,) for option in options)
    count = len(options)

    def write(scribe: Scribe) -> None:
        scribe.write(options[int(scribe.draw() * count)])

    return write


def dense(said: Parts, unsaid: Parts) -> Part:
    def write(scribe: Scribe) -> None:
        scribe.write(said if scribe.draw() < scribe.density else unsaid)

    return write


def conditional(flag: str, held: Parts, otherwise: Parts) -> Part:
    def write(scribe: Scribe) -> None:
        scribe.write(held if scribe.holds(flag) else otherwise)

    return write


def rule(name: str, options: tuple[Parts, ...]) -> Callable[[Scribe], None]:
    def write(scribe: Scribe) -> None:
        scribe.write(options[scribe.fresh(name, len(options))])

    return write


def word(name: str, *, capital: bool) -> Part:
    def write(scribe: Scribe) -> None:
        text = scribe.word(name)
        scribe.out.append(text[:1].upper() + text[1:] if capital else text)

    return write


def padded(name: str, options: tuple[Parts, ...], width: int) -> Part:
    def write(scribe: Scribe) -> None:
        scribe.out.append("".join(map(str, options[scribe.fresh(name, len(options))])).ljust(width))

    return write


def shaped(write: Callable[[Scribe], None], modifier: str) -> Part:
    """The first letter changed of what another part writes."""

    def shaped(scribe: Scribe) -> None:
        outer, scribe.out = scribe.out, []
        write(scribe)
        inner, scribe.out = scribe.out, outer
        outer.extend(scribe.cased(inner, modifier))

    return shaped


def term(rest: str) -> Part:
    name, _, modifier = rest.partition(":")
    if name == "vital":
        kind, _, modifier = modifier.partition(":")
        return lambda scribe: scribe.vital(kind, modifier)
    if name.startswith("labrows"):
        low, high = map(int, name.split()[1].split("-"))
        return lambda scribe: scribe.lab_rows(low, high)
    return lambda scribe: scribe.term(name, modifier)


def phrase(rest: str) -> Part:
    kind, _, modifier = rest.partition(":")
    if modifier:
        return shaped(lambda scribe: scribe.phrase(kind), modifier)
    return lambda scribe: scribe.phrase(kind)


def marked(label: str, parts: Parts) -> Part:
    def write(scribe: Scribe) -> None:
        scribe.mark(label, scribe.text_of(parts))

    return write


def phi_line(name: str, options: tuple[Parts, ...]) -> Part:
    return lambda scribe: scribe.phi_line(name, options)


def boilerplate(name: str, options: tuple[Parts, ...]) -> Part:
    def write(scribe: Scribe) -> None:
        scribe.boilerplate(options[scribe.fresh(name, len(options))])

    return write


def sentences(name: str, options: tuple[Parts, ...], low: int, high: int) -> Part:
    def write(scribe: Scribe) -> None:
        scribe.joined(name, options, scribe.count(low, high))

    return write


def listed(name: str, options: tuple[Parts, ...], low: int, high: int) -> Part:
    def write(scribe: Scribe) -> None:
        scribe.bulleted(name, options, scribe.count(low, high))

    return write
