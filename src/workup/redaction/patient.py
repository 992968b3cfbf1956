"""All documents of one patient: one numbering, one shift, one set of surrogates. Knows no other patient and no file."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from workup.documents.document import Document, Span
from workup.documents.labels import branch_of
from workup.redaction import safe_harbor, tokens
from workup.redaction.dates import calendar_words
from workup.redaction.dates.anchors import is_zone, kinds_in, without_zone
from workup.redaction.dates.context import Almanac
from workup.redaction.dates.shifting import shift_of
from workup.redaction.linking import Key, Mention, entities, folded_words, value_key
from workup.redaction.replacements import Done, Kept, Piece, moved, rebuilt
from workup.redaction.settings import Settings
from workup.redaction.surrogates.values import World

_NEAR = 24  # characters in front of a date in which it is called a birth
_BORN = re.compile(
    r"\b(?:born|birth|dob|d\.o\.b\.?|birth\s?date)\W{0,3}(?:(?:on|in|year|date|was)\W{0,2})?$", re.IGNORECASE
)
_AGE = re.compile(
    r"\b(?:\d{1,3}|[a-z]{3,7}(?:[- ][a-z]{3,5})?)[- ]?(?:years?|yrs?|months?|mos?|y)\b|\b\d{1,3}\s?(?:y/?o|yo)\b"
    r"|\bage|\bbirthday",
    re.IGNORECASE,
)
Held = tuple[Document, tuple[list[Span], list[Kept]]]  # what is to be replaced in a document, and what stays


@dataclass(frozen=True)
class Redacted:
    """A redacted document with its gold spans at their new places, every replacement, and what was counted on the way.

    `patient` names whose numbering and surrogates it has; `source` is the document as it was.
    """

    source: Document
    document: Document
    pieces: tuple[Piece, ...]
    kept: tuple[Kept, ...]
    patient: str
    counts: Mapping[str, int]
    day_first: bool = False  # how dates in numbers were read
    whole_weeks: bool = False  # whether dates moved by whole weeks


class Chart:
    """All documents of one patient."""

    def __init__(
        self,
        patient: str,
        held: Sequence[Held],
        settings: Settings,
        elsewhere: Container[str],
        number: int,
    ) -> None:
        self._patient, self._held, self._settings, self._number = patient, held, settings, number
        self._days = shift_of(settings.secret, patient, whole_weeks=settings.whole_weeks)
        self._almanac = Almanac(
            (
                (document.id, document.time, [surface_of(document, span) for span in spans if _is_date(span.label)])
                for document, (spans, _) in held
            ),
            day_first=settings.day_first,
        )
        self._world = self._surrogates(elsewhere) if settings.how == "surrogate" else None
        self._golds: dict[str, str] = {}

    def _surrogates(self, elsewhere: Container[str]) -> World:
        values = [
            (span.label, surface_of(document, span))
            for document, (spans, _) in self._held
            for span in spans
            if not _is_date(span.label)
        ]
        words = folded_words(document.text for document, _ in self._held)
        return World(self._settings.secret, self._patient, values, words=words, elsewhere=elsewhere)

    def redacted(self) -> list[Redacted]:
        if self._settings.number_by == "patient":
            numbering = _Numbering([document for document, _ in self._held])
            keys = self._keys(self._held)
            return [self._one(*one, own, numbering) for one, own in zip(self._held, keys, strict=True)]
        return [self._one(*one, self._keys([one])[0], _Numbering([one[0]])) for one in self._held]

    def _keys(self, held: Sequence[Held]) -> list[list[Key]]:
        mentions = [[self._mention(document, span) for span in spans] for document, (spans, _) in held]
        keys = iter(entities([one for mine in mentions for one in mine]))
        return [[next(keys) for _ in mine] for mine in mentions]

    def _mention(self, document: Document, span: Span) -> Mention:
        surface = surface_of(document, span)
        read = self._almanac.read(document.id, surface) if _is_date(span.label) else None
        day = "/".join(str(one) for one in read.days) if read is not None and read.whole else None
        return Mention(span.label, surface, span.entity, day)

    def _one(
        self, document: Document, wanted: tuple[list[Span], list[Kept]], keys: Sequence[Key], numbering: _Numbering
    ) -> Redacted:
        changes: list[tuple[Span, str, Done]] = []
        kept = list(wanted[1])
        counts: Counter[str] = Counter()
        for span, key in zip(wanted[0], keys, strict=True):
            new, done, why = self._replacement(document, span, counts)
            if done is None:
                kept.append(Kept(span.start, span.end, span.label, why))
                continue
            if new is None:
                new = numbering.token(span.label, key)
            changes.append((span, new, done))
        if self._world is not None and document is self._held[0][0]:
            counts["surrogates that another patient's notes hold too"] += self._world.forced
        text, pieces = rebuilt(document.text, changes)
        counts.update(f"replaced by {piece.done}" for piece in pieces)
        counts.update(f"kept: {one.reason}" for one in kept)
        new_document = replace(
            document,
            text=text,
            spans=self._renamed(moved(document.spans, pieces)),
            layers={name: self._renamed(moved(spans, pieces)) for name, spans in document.layers.items()},
            patient=None if document.patient is None else self._pseudonym(),
            time=self._time(document.time),
        )
        order, weeks = self._almanac.day_first, self._settings.whole_weeks
        return Redacted(document, new_document, pieces, tuple(kept), self._patient, counts, order, weeks)

    # -- one value --

    def _replacement(self, document: Document, span: Span, counts: Counter[str]) -> tuple[str | None, Done | None, str]:
        """What stands for a value (None: its token), how it was made (None: it stays), and why it stays."""
        surface, label = surface_of(document, span), span.label
        if _is_date(label) and self._settings.shifts:
            return self._date(document, span, counts)
        if self._settings.rules and label in ("year_only", "zip", "age_over_89", "age_under_90", "AGE"):
            new, why = _by_rule(label, surface, document.text[span.end : span.end + 12])
            if why:
                return None, None, why
            if new is not None and new != surface:
                return new, "rule", ""
        match self._settings.how:
            case "mask":
                return tokens.mask(surface, character=self._settings.mask_with), "mask", ""
            case "hash":
                secret = self._settings.secret
                return tokens.hashed(label, value_key(label, surface), secret=secret), "hash", ""
            case "surrogate" if self._world is not None:
                made = self._world.surrogate(label, surface)
                counts["no surrogate"] += made is None
                return made, "fallback" if made is None else "surrogate", ""
        return None, "token", ""

    def _date(self, document: Document, span: Span, counts: Counter[str]) -> tuple[str | None, Done | None, str]:
        surface, label = surface_of(document, span), span.label
        before = document.text[max(0, span.start - _NEAR) : span.start]
        if _BORN.search(before) and calendar_words.is_year(surface):
            counts["years of birth, which beside an age tell the year of a note"] += 1
            return None, "fallback", ""
        if label == "time":
            return self._stays(surface, "time of day", counts)
        if label == "year_only" and calendar_words.is_year(surface):
            return None, None, "year"
        # Read first: 2019-10 is a month and 02.01.21 a day, though they look like years and like a time.
        read = self._almanac.read(document.id, surface)
        if read is None:
            return self._unread(surface, counts)
        if any(field.role in ("season", "quarter") for one in read.written for field in one.fields):
            counts["words of the calendar that would tell the shift"] += 1  # moved by their middle, days come apart
            return None, "fallback", ""
        if label == "date_birth" or _BORN.search(before):
            if label == "date_birth" and self._almanac.is_ninety(read.days[0]):
                # The year of birth of somebody of 90 reveals the age, whatever day it is moved to: 164.514(b)(2)(i)(C).
                counts["births of people of 90 and over"] += 1
                return None, "fallback", ""
            if _AGE.search(document.text) and self._almanac.is_near_a_birthday(read.days[0]):
                counts["births close to a birthday, which an age would date"] += 1
                return None, "fallback", ""
        new = read.moved(self._days)
        if new is None or new == surface:
            counts["dates not moved"] += 1  # the calendar's end, or a month that the shift does not leave
            return None, "fallback", ""
        counts["dates without a year"] += not read.written[-1].dated
        counts["dates of which day and month may be exchanged"] += any(one.ambiguous for one in read.written)
        return without_zone(new), "shift", ""

    def _unread(self, surface: str, counts: Counter[str]) -> tuple[str | None, Done | None, str]:
        """What is not a date by itself: it stays where any shift leaves it true, and goes where it would reveal it."""
        kinds = kinds_in(surface) - ({"weekday", "weekend"} if self._settings.whole_weeks else set())
        if is_zone(surface) or kinds == {"zone"}:
            return self._stays(surface, "time of day", counts)
        if kinds:
            counts["words of the calendar that would tell the shift"] += 1
            return None, "fallback", ""
        for why, says in (
            ("year", calendar_words.is_year),
            ("time of day", calendar_words.is_time),
            ("relative date", calendar_words.is_relative),
        ):
            if says(surface):
                return self._stays(surface, why, counts)
        counts["dates not read"] += 1
        return None, "fallback", ""

    def _stays(self, surface: str, why: str, counts: Counter[str]) -> tuple[str | None, Done | None, str]:
        """A time stays without its zone: summer time reveals the part of the year."""
        clock = without_zone(surface)
        if clock == surface:
            return None, None, why
        counts["time zones that tell summer time"] += 1
        return clock, "rule", ""

    # -- what is kept beside the text --

    def _pseudonym(self) -> str:
        if not self._settings.repeatable:
            return f"patient-{self._number}"
        return f"patient-{self._settings.secret.mac('pseudonym', self._patient).hex()[:16]}"

    def _time(self, time: str | None) -> str | None:
        """The time of a document: moved as its dates are, else left out."""
        if time is None or not self._settings.shifts:
            return None
        try:
            day = datetime.date.fromisoformat(time[:10]) + datetime.timedelta(days=self._days)
        except (ValueError, OverflowError):
            return None
        return without_zone(day.isoformat() + time[10:])

    def _renamed(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """Entity ids are often made of the value itself, so that they are numbered anew."""
        return tuple(
            span
            if span.entity is None
            else replace(span, entity=self._golds.setdefault(span.entity, f"e{len(self._golds) + 1}"))
            for span in spans
        )


class _Numbering:
    """Numbers of tokens in the order in which things are met, above those that are in the texts already."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._next: Counter[str] = Counter()
        for document in documents:
            for word, number in tokens.highest(document.text).items():
                self._next[word] = max(self._next[word], number)
        self._numbers: dict[Key, int] = {}

    def token(self, label: str, key: Key) -> str:
        word = tokens.WORDS[label]
        if key not in self._numbers:
            self._next[word] += 1
            self._numbers[key] = self._next[word]
        return tokens.token(label, self._numbers[key])


def surface_of(document: Document, span: Span) -> str:
    """The words under a span."""
    return document.text[span.start : span.end]


def _is_date(label: str) -> bool:
    return label != tokens.UNKNOWN and branch_of(label) == "DATE"


def _by_rule(label: str, surface: str, after: str) -> tuple[str | None, str]:
    """What Safe Harbor allows to stay of a value, or the reason why all of it may; neither where it says nothing."""
    if label == "year_only":
        return None, "year" if calendar_words.is_year(surface) else ""
    if label == "zip":
        prefix = safe_harbor.zip3(surface)
        return (None, "three digits of a ZIP code") if prefix == surface else (prefix, "")
    age = safe_harbor.age_of(surface, after=after)
    if label == "age_over_89" or (age is not None and age > safe_harbor.OLDEST_TOLD):
        return safe_harbor.ninety(surface), ""
    return None, "age below 90" if age is not None or label == "age_under_90" else ""
