"""The scribe writes one note: it holds what is known of the visit, draws, and takes down pieces in reading order.

Templates call it slot by slot. Clinical terms and values that identify are written by the modules beside it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from workup.corpora.generate.notes import clinical, people, phi_slots, pronouns
from workup.corpora.generate.notes.compiled import Terms, Wording, common_terms, terms
from workup.corpora.generate.notes.site_styles import SiteStyle
from workup.corpora.generate.notes.slot_writers import EMPTY, Parts
from workup.corpora.generate.notes.visits import Visit
from workup.corpora.generate.notes.vocabulary import Lab
from workup.documents.builder import Gold
from workup.values import HARD_NEGATIVES, Patient, Provider, Value
from workup.values.draws import Chance

BEGIN, END = object(), object()  # the edges of boilerplate among the pieces
Piece = Any  # a text, a value, a Gold, or an edge; narrower types cost a check per piece
_COVID, _VACCINE = datetime.date(2020, 4, 1), datetime.date(2021, 3, 1)
_VALUE = "0123456789. "  # what comes after the name of a test
# Around a hard negative, by its leaf; a phrase without one says more itself.
_FRAMES = {
    "disease": (("A relative is said to have had ", "."), ("Chart mentions ", "."), ("Workup for ", " was negative.")),
    "drug": (("An old list has ", "."), ("Asked about ", "."), ("Once took ", " without benefit.")),
    "procedure": (("Prior ", " is on record."), ("Asked about ", "."), ("No need for ", " now.")),
    "anatomy": (("Also seen: ", "."), ("Noted: ", ".")),
    "": (("Also noted: ", "."), ("Per chart, ", "."), ("On review: ", "."), ("Of note, ", "."), ("Added: ", ".")),
}


@dataclass(frozen=True, slots=True)
class Manner:
    """How much of what a note is to hold: chance of an optional identifier, of a line of them, of a hard negative."""

    density: float
    phi_lines: float
    hard: float
    repeat: float


class Scribe:
    """Writes one note. `out` takes the pieces; `number` is the note's place in the corpus."""

    visit: Visit
    patient: Patient
    site_style: SiteStyle
    relation: str
    credential: str

    def __init__(
        self,
        visit: Visit,
        *,
        number: int,
        chance: Chance,
        manner: Manner,
        wording: Wording,
        bystanders: tuple[Patient, ...],
        neutral: bool,
        style: str,
    ) -> None:
        self.visit, self.patient, self.site_style = visit, visit.patient, visit.site_style
        self.number, self.chance, self.manner, self.style = number, chance, manner, style
        self.density = manner.density
        self.draw: Callable[[], float] = chance.uniform
        self.out: list[Piece] = []
        self.age = self.patient.age_at(visit.day)
        self.allowed = wording.allowed
        self.own, self.common = self._terms(wording, neutral)
        self.bystander = bystanders[int(self.patient.digits[:3]) % len(bystanders)]
        self.second = bystanders[int(self.patient.digits[3:6]) % len(bystanders)]
        self.relative, self.relation = people.relative_of(self.patient, self.age)
        self.author = people.author_of(self)
        self.credential = self.author.credential
        self.waiting: dict[str, Value] = {}
        self.last_lab: Lab | None = None
        self.operation: str | None = None
        self.vitals: dict[str, float] = {}
        self.seen_labs: set[str] = set()
        self._used: dict[str, int] = {}
        self._phi_lines = 0
        self.stale = False
        self._named = self.draw() < 0.3 + 0.7 * manner.density and (
            self.allowed is None or "name_patient" in self.allowed
        )
        self.main = clinical.main_problem(self)
        themes = [theme for marks, theme in visit.type.themes if not marks or marks in self.marks]
        self.theme = themes[int(self.draw() * len(themes))] if themes else ""
        self.title: str = visit.type.titles[int(self.draw() * len(visit.type.titles))]

    def _terms(self, wording: Wording, neutral: bool) -> tuple[Terms, Terms]:
        sex = "" if neutral else self.patient.person.sex.lower()
        marks = self.marks = sex + ("a" if self.age >= 18 else "") + ("c" if self.visit.day >= _COVID else "")
        of = (wording.allowed, wording.phrasing)
        return terms(self.visit.specialty.name, marks, *of), common_terms(self.age < 18, "c" in marks, *of)

    # ---- writing -----------------------------------------------------------------------------------------------------

    def write(self, parts: Parts) -> None:
        """Take down a template."""
        for part in parts:
            if part.__class__ is str:
                self.out.append(part)
            else:
                part(self)  # type: ignore[operator]

    def apart(self, parts: Parts) -> list[Piece]:
        """The pieces of a template, not yet taken down."""
        outer, self.out = self.out, []
        self.write(parts)
        inner, self.out = self.out, outer
        return inner

    def text_of(self, parts: Parts) -> str:
        """A template as plain text; it must hold none but plain pieces."""
        return "".join(self.apart(parts)).replace(EMPTY, "")

    def mark(self, label: str, text: str) -> None:
        """A clinical term as gold that must not be masked."""
        self.out.append(Gold(text, label))

    def fresh(self, name: str, count: int) -> int:
        """One of `count` options, none again while others are left; once all were used, what is written is stale."""
        used = self._used.get(name, 0)
        at = int(self.draw() * count)
        if used == (1 << count) - 1:
            self.stale = self.stale or name[0] == "$"
            return at
        while used >> at & 1:
            at = (at + 1) % count
        self._used[name] = used | 1 << at
        return at

    def count(self, low: int, high: int) -> int:
        """How many sentences or items, by the length that was asked for."""
        drawn = low + int(self.draw() * (high - low + 1))
        return max(1, int(drawn * self.manner.repeat + 0.5))

    def joined(self, name: str, options: tuple[Parts, ...], count: int) -> None:
        """Sentences one after another."""
        first = True
        for _ in range(min(count, len(options)) if len(options) > 1 else count):
            sentence = self._new(name, options)
            if not written(sentence):
                continue
            if not first and not ends_line(self.out):
                self.out.append(" ")
            self.out.extend(sentence)
            first = False
        if first:
            self.out.append(EMPTY)

    def _new(self, name: str, options: tuple[Parts, ...]) -> list[Piece]:
        """A sentence or item, or nothing where it would say again what the note has said."""
        self.stale = False
        pieces = self.apart(options[self.fresh(name, len(options))])
        return [] if self.stale else pieces

    def bulleted(self, name: str, options: tuple[Parts, ...], count: int) -> None:
        """Items of a list, one to a line, with the bullets of the site."""
        line = 0
        listed: set[str] = set()
        for _ in range(count):
            item = self._new(name, options)
            about = next((piece.text.casefold().rstrip(_VALUE) for piece in item if isinstance(piece, Gold)), "")
            if not written(item) or about in listed:
                continue
            listed |= {about} - {""}
            line += 1
            self.out.append(("\n" if line > 1 else "") + self.site_style.bullet.format(line))
            self.out.extend(item)

    def boilerplate(self, parts: Parts) -> None:
        """Words in the style of the site."""
        self.out.append(BEGIN)
        self.write(parts)
        self.out.append(END)

    def phi_line(self, name: str, options: tuple[Parts, ...]) -> None:
        """A line of identifiers, as the density asks; the first of a note is next in turn, so that all come round."""
        if self.draw() >= self.manner.phi_lines:
            self.out.append(EMPTY)
            return
        if self._phi_lines == 0:
            turn = self.number % len(options)
            self._used[name] = 1 << turn
        else:
            turn = self.fresh(name, len(options))
        self._phi_lines += 1
        self.write(options[turn])

    def cased(self, pieces: list[Piece], modifier: str) -> list[Piece]:
        """The pieces with their first letter in upper case (Cap), or in lower case where it opens a plain word."""
        for at, piece in enumerate(pieces):
            text = piece if isinstance(piece, str) else getattr(piece, "text", "")
            if not text or text == EMPTY:
                continue
            if modifier == "Cap":
                changed = text[0].upper() + text[1:]
            elif isinstance(piece, str) and (len(text) < 2 or text[1].islower() or text[1] == " "):
                changed = text[0].lower() + text[1:]
            else:
                break
            pieces[at] = changed if isinstance(piece, str) else _with_text(piece, changed)
            break
        return pieces

    # ---- slots -------------------------------------------------------------------------------------------------------

    def holds(self, flag: str) -> bool:
        """Whether a flag of the note holds."""
        if flag == "adult":
            return self.age >= 18
        if flag == "working":
            return 18 <= self.age < 72
        if flag == "covid":
            return self.visit.day >= _COVID
        if flag == "vaccine":
            return self.visit.day >= _VACCINE and self.age >= 5
        if flag == "ambiguous":
            return self.draw() < self.manner.hard
        if flag == "named":
            return self._named
        return flag in self.visit.type.flags

    def word(self, name: str) -> str:
        """A word that follows from the patient or the note."""
        return pronouns.word(self, name)

    def phrase(self, kind: str) -> None:
        """A phrase of the specialty that this note has not used."""
        options = clinical.steps(self) if kind == "operation" else self.own.phrases[kind]
        self.write(options[self.fresh(f"${kind}", len(options))])

    def term(self, name: str, modifier: str) -> None:
        """A clinical term as gold."""
        clinical.write_term(self, name, modifier)

    def vital(self, kind: str, modifier: str) -> None:
        """A vital sign as gold."""
        clinical.write_vital(self, kind, modifier)

    def lab_rows(self, low: int, high: int) -> None:
        """Rows of a laboratory's table."""
        clinical.write_rows(self, self.count(low, high))

    def aged(self, name: str) -> None:
        """The patient's age with the words around it."""
        phi_slots.write_aged(self, name)

    def value(self, name: str, detail: str) -> None:
        """A value that identifies, or a hard negative."""
        if name == "hard":
            self.hard_negative()
        else:
            phi_slots.write_value(self, name, detail)

    def article(self, leaf: str) -> None:
        """a or an, before a value that comes next."""
        value = phi_slots.made(self, leaf, "")
        self.waiting[leaf] = value
        self.out.append("an" if value.text[0] in "aeiouAEIOU" else "a")

    def provider(self, role: str) -> tuple[Provider, Patient]:
        """Who has a role for this patient."""
        return people.provider_of(self, role)

    def hard_negative(self) -> None:
        """A phrase that looks like an identifier; what must stay is gold."""
        count = len(HARD_NEGATIVES)
        one = HARD_NEGATIVES[(self.number * 7 + self.fresh("hard", count)) % count]
        frames = _FRAMES.get(one.leaf or "", _FRAMES[""])
        if one.text != one.inner:
            frames = _FRAMES[""]
        before, after = frames[int(self.draw() * len(frames))]
        self.out.append(before + one.text[: one.start])
        # A phrase that is no clinical term has no leaf of its own: misc, marked as not to be masked.
        self.out.append(Gold(one.inner, one.leaf or "misc", None, "no_mask", f"hard_negative:{one.kind}"))
        self.out.append(one.text[one.end :] + after)


def _with_text(piece: Piece, text: str) -> Piece:
    return piece._replace(text=text) if isinstance(piece, Gold) else replace(piece, text=text)


def written(pieces: list[Piece]) -> bool:
    """Whether the pieces hold anything to read."""
    for piece in pieces:
        if piece.__class__ is str:
            if piece != EMPTY and not piece.isspace() and piece:
                return True
        elif piece is not BEGIN and piece is not END:
            return True
    return False


def ends_line(pieces: list[Piece]) -> bool:
    """Whether the last piece ends a line, or there is none."""
    for piece in reversed(pieces):
        if piece.__class__ is str:
            if piece == EMPTY or not piece:
                continue
            return bool(piece[-1] == "\n")
        return False
    return True
