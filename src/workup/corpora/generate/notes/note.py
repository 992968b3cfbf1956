"""From a visit to a finished note: a family is chosen, its sections are written to length, headed in the site's style.

Length is measured in blanks, not characters, so that other names in the same place never change what is written."""

from __future__ import annotations

from collections.abc import Iterable

from workup.corpora.generate.notes import grammar
from workup.corpora.generate.notes.compiled import Wording
from workup.corpora.generate.notes.grammar import Family
from workup.corpora.generate.notes.note_writer import BEGIN, END, Piece, Scribe, written
from workup.corpora.generate.notes.slot_writers import EMPTY
from workup.documents.builder import Pieces

_CHARACTERS_PER_BLANK = 4.45  # of finished notes, values and line ends included


def compose(scribe: Scribe, family: Family, *, wording: Wording, characters: float) -> Pieces:
    """The note, in about so many characters where its sections allow it."""
    bodies = {name: _section(scribe, name, wording) for name in family.sections if name not in family.optional}
    blanks = characters / _CHARACTERS_PER_BLANK
    size = sum(map(_size, bodies.values()))
    for name in scribe.chance.shuffled(sorted(family.optional)):
        if size >= blanks:
            break
        body = _section(scribe, name, wording)
        longer = size + _size(body)
        # The last one goes in only where it brings the note nearer to its length.
        if longer - blanks > blanks - size:
            continue
        bodies[name] = body
        size = longer
    _add_hard_negatives(scribe, [bodies[name] for name in family.sections if name in bodies])
    pieces: list[Piece] = []
    for name in family.sections:
        kept = bodies.get(name)
        if kept and written(kept):
            if pieces:
                pieces.append(scribe.site_style.gap)
            pieces.append(_heading(scribe, name, kept))
            pieces.extend(_trimmed(kept))
    return built(pieces)


def _add_hard_negatives(scribe: Scribe, bodies: list[list[Piece]]) -> None:
    """Phrases that look like identifiers, each at the end of some section that ends in a sentence."""
    for _ in range(2):
        if scribe.draw() >= scribe.manner.hard:
            continue
        open_ended = [body for body in bodies if body and body[-1].__class__ is str and body[-1].endswith(".")]
        if open_ended:
            body = scribe.chance.pick(open_ended)
            outer, scribe.out = scribe.out, [" "]
            scribe.hard_negative()
            body.extend(scribe.out)
            scribe.out = outer


def _section(scribe: Scribe, name: str, wording: Wording) -> list[Piece]:
    options = wording.sections[name]
    return scribe.apart(options[scribe.fresh(f"/{name}", len(options))]) if options else []


def _heading(scribe: Scribe, name: str, body: list[Piece]) -> str:
    titles = grammar.source().sections[name].titles
    if not titles:
        return ""
    look = scribe.site_style
    title = titles[-1] if look.short or scribe.style == "brief" else titles[0]
    heading = look.heading.format(title.upper() if look.upper else title)
    listed = body[0].__class__ is str and body[0] == look.bullet.format(1)
    return heading.rstrip(" -:") + ":\n" if listed and heading[-1] == " " else heading  # a list begins its own line


def _size(pieces: Iterable[Piece]) -> int:
    found = 0
    for piece in pieces:
        found += piece.count(" ") + piece.count("\n") + 1 if piece.__class__ is str else 1
    return found


def _trimmed(pieces: list[Piece]) -> list[Piece]:
    """Without blanks and line ends at the end of a section."""
    while pieces and pieces[-1].__class__ is str:
        last = pieces[-1].rstrip(" \n")
        if last and last != EMPTY:
            pieces[-1] = last
            break
        pieces.pop()
    return pieces


def built(pieces: Iterable[Piece]) -> Pieces:
    """The pieces put together; where something was left out, its blank goes too."""
    made = Pieces()
    left_out = stopped = False
    last = "\n"
    for piece in pieces:
        if piece.__class__ is str:
            if piece == EMPTY:
                left_out = True
                continue
            if left_out and last == " " and piece[:1] == "\n":
                made.take_back_blank()
            elif left_out and last in " \n" and piece[:1] == " ":
                piece = piece.lstrip(" ") if last == "\n" else piece[1:]
            if stopped and piece[:1] == ".":  # "3 p.m." ends its sentence
                piece = piece[1:]
            if not piece:
                continue
            stopped = False
            left_out = False
            made.text(piece)
            last = piece[-1]
        elif piece is BEGIN:
            made.begin_boilerplate()
        elif piece is END:
            made.end_boilerplate()
        else:
            left_out = False
            made.value(piece)
            last = piece.text[-1]
            stopped = last == "."
    return made
