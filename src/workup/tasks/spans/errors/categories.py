"""Why a span went wrong: one category for each miss and each false alarm, from its text and what lies on it.

Holds no text and no counts.

Where several fit, the first in the order of the lists below is taken. Misses: what is seen in the text comes before
what the detector did there, since partial masks and wrong types are counted elsewhere in full, while nothing else says
that names were ambiguous or dates unusual; noise comes first because it explains strange forms. Only a gold span of
which nothing stayed visible is judged by the detector's part alone. False alarms: what lies on real PHI comes first,
and what is clinical before what merely looks odd."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, cached_property
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from workup.documents.ambiguous_words import BRANCH_OF, ambiguous_names, empty_words, eponyms
from workup.documents.batch import Batch
from workup.documents.document import SpanArrays
from workup.documents.labels import NAMES
from workup.documents.policies import MUST_NOT
from workup.documents.visible import Range, telling_ranges, touches
from workup.lexicon import Extractor
from workup.tasks.spans.counting.counting_rules import Golds
from workup.tasks.spans.counting.matchup import Matchup, Setting
from workup.tasks.spans.errors.grammars import is_measurement, simple_address, usual_date
from workup.tasks.spans.errors.noise import noisy

MISSES = {
    "noise": "scanning errors, broken spacing, line breaks inside a value, homoglyphs",
    "ambiguous_name": "a name that is also a word, a month, an eponym, a medicine or a place",
    "unusual_date": "a date or time outside the usual forms",
    "complex_address": "an address without street word or number, with a unit or box, or over several lines",
    "all_caps": "written in capitals throughout",
    "partial": "a prediction of the right type lies on it, with other borders",
    "wrong_type": "only predictions of other types lie on it",
    "other": "none of these",
}
FALSE_ALARMS = {
    "partial": "lies on PHI of its type, with other borders or as one too many",
    "wrong_type": "lies on PHI of another type",
    "eponym": "a sign, disease, test or device called after someone",
    "drug": "a medicine",
    "clinical_term": "a disease, procedure, part of the body, laboratory test or vital sign",
    "measurement": "a dose, vital sign, score or duration",
    "date": "a date, a year or a time that no gold marks",
    "number": "any other number",
    "heading": "a heading of a section or the name of a field",
    "ambiguous_name": "a word that is also a name",
    "all_caps": "written in capitals throughout",
    "noise": "scanning errors, broken spacing, homoglyphs",
    "other": "none of these",
}
_WORD = re.compile(r"[^\W\d_]+")
_READ = 400  # characters of a span that are looked at; longer ones are passages
# Letters that the longest word in capitals must have: shorter ones are initials, states and acronyms.
_CAPITALS = {"NAME": 3, "GEO": 4, "ORG": 5, "QUASI": 4, "DATE": 4, "": 4}


def category_of_miss(
    text: str,
    start: int,
    end: int,
    *,
    label: str | None,
    same: Sequence[Range] = (),
    other: Sequence[Range] = (),
) -> str:
    """The category of a gold span that was not found; `label` is its canonical name, None where it has none.

    `same` are the predictions on it of a type that is equal at the level scored (at phi: all), `other` those of another
    type. A name is ambiguous when a word of it that stayed whole and visible is.

    >>> note = "Seen by Dr. Will Hartley on the ides of March"
    >>> category_of_miss(note, 12, 24, label="name_provider"), category_of_miss(note, 32, 45, label="date")
    ('ambiguous_name', 'unusual_date')
    >>> category_of_miss(note, 12, 24, label="name_provider", same=[(12, 16)])
    'partial'
    """
    masks = (*same, *other) if same or other else ()
    visible: list[Range] = [(start, end)]
    if masks:
        visible = telling_ranges(text, start, end, masks)
    if visible:
        cause = _cause(text[start : min(end, start + _READ)], start, label, visible)
        if cause:
            return cause
    if touches(start, end, same):
        return "partial"
    return "wrong_type" if touches(start, end, other) else "other"


def _cause(surface: str, start: int, label: str | None, visible: Sequence[Range]) -> str:
    """What in the text itself explains a miss, or nothing."""
    leaf = label or ""
    branch = BRANCH_OF.get(leaf, "")
    if noisy(surface, leaf=leaf, branch=branch):
        return "noise"
    if branch == "NAME" and leaf != "username" and _is_ambiguous(surface, start, visible):
        return "ambiguous_name"
    if branch == "DATE" and not usual_date(surface, leaf=leaf):
        return "unusual_date"
    if (leaf == "street_address" or (leaf == "GEO" and _has_digit(surface))) and not simple_address(surface):
        return "complex_address"
    return "all_caps" if _in_capitals(surface, branch) else ""


def _is_ambiguous(surface: str, start: int, visible: Sequence[Range]) -> bool:
    names = ambiguous_names()
    for word in _WORD.finditer(surface):
        if word[0].lower() in names:
            first, last = start + word.start(), start + word.end()
            if any(left <= first and last <= right for left, right in visible):
                return True
    return False


def _in_capitals(surface: str, branch: str) -> bool:
    least = _CAPITALS.get(branch)
    return least is not None and surface.isupper() and any(len(word) >= least for word in _WORD.findall(surface))


def _has_digit(surface: str) -> bool:
    return any(map(str.isdigit, surface))


# ---- false alarms ----------------------------------------------------------------------------------------------------

_NOUNS = (
    "disease|syndrome|signs?|tests?|catheters?|lymphoma|palsy|esophagus|oesophagus|criteria|scale|score|scores|coma|"
    "man(?:o)?euver|procedure|fracture|contracture|tumou?r|sarcoma|monitor|phenomenon|thyroiditis|chorea|ulcer|cyst|gland|"
    "nodes?|bod(?:y|ies)|reflex|stain|index|classification|position|angle|triad|pouch|ring|hernia|an(?:a)?emia|ataxia|"
    "dystrophy|dementia|aphasia|encephalopathy|drain|tube|line|clamp|retractor|forceps|fundoplication|gangrene|purpura|"
    "diverticulum|anomaly|malformation|nodules?|spots?|law|lines|block|waves?|fever|virus|cells?|effect|cath"
)
_CALLED_AFTER = re.compile(rf"(?:['’]?s?['’]?)[\s-]+(?:[\w'’]+[\s-]+){{0,2}}?(?:{_NOUNS})\b", re.IGNORECASE)
_CALLED_BEFORE = re.compile(
    r"(?:tetralogy|circle|bundle|sphincter|foramen|ampulla|pouch|angle|canal|ducts?|islets?|loop|space|line|node) of $",
    re.IGNORECASE,
)
_NOUN_REACH, _LINE_REACH = 48, 80
_HEADING = re.compile(r"[^\W\d_a-z][^\d:\n]*", re.UNICODE)


def category_of_false_alarm(
    text: str, start: int, end: int, *, same: Sequence[Range] = (), other: Sequence[Range] = ()
) -> str:
    """The category of a prediction that is a false alarm.

    `same` are the gold spans it lies on (those that must or may be masked) of a type equal at the level scored, `other`
    those of another type.

    >>> note = "PLAN: Foley catheter out, Lasix 20 mg, room 412"
    >>> [category_of_false_alarm(note, *place) for place in ((0, 4), (6, 11), (26, 31), (32, 34), (44, 47))]
    ['heading', 'eponym', 'drug', 'measurement', 'number']
    """
    if touches(start, end, same):
        return "partial"
    if touches(start, end, other):
        return "wrong_type"
    surface = text[start : min(end, start + _READ)]
    if _is_eponym(text, start, surface):
        return "eponym"
    clinical = _clinical(surface)
    if clinical:
        return clinical
    if _has_digit(surface):
        if is_measurement(text, start, end):
            return "measurement"
        if usual_date(surface, leaf="DATE"):
            return "date"
        if not any(map(str.isalpha, surface)):
            return "number"
    if _is_heading(text, start, end):
        return "heading"
    words = [] if _has_digit(surface) else [word.lower() for word in _WORD.findall(surface)]
    if any(word in ambiguous_names() for word in words) and all(
        word in ambiguous_names() or word in empty_words() for word in words
    ):
        return "ambiguous_name"
    if _in_capitals(surface, ""):
        return "all_caps"
    return "noise" if noisy(surface, leaf="", branch="") else "other"


def _is_eponym(text: str, start: int, surface: str) -> bool:
    names = eponyms()
    for word in _WORD.finditer(surface):
        if word[0].lower() in names:
            last = start + word.end()
            if _CALLED_AFTER.match(text, last, last + _NOUN_REACH):
                return True
            first = start + word.start()
            if _CALLED_BEFORE.search(text[max(0, first - 16) : first]):
                return True
    return False


def _clinical(surface: str) -> str:
    """The kind of clinical term that makes up at least half of a surface; words that are names as well do not count."""
    held = {"drug": 0, "clinical_term": 0}
    for term in _lexicon().extract(surface):
        if not term.ambiguous:
            held["drug" if term.category == "drug" else "clinical_term"] += term.end - term.start
    kind = max(held, key=lambda name: held[name])
    return kind if held[kind] and 2 * held[kind] >= len(surface.strip()) else ""


@cache
def _lexicon() -> Extractor:
    return Extractor.load()


def _is_heading(text: str, start: int, end: int) -> bool:
    """Whether a stretch lies in words that open a line and end in a colon, or in a short line of capitals."""
    opens = text.rfind("\n", max(0, start - _LINE_REACH), start) + 1
    if opens == 0 and start > _LINE_REACH:
        return False
    closes = text.find("\n", end, end + _LINE_REACH)
    if closes < 0:
        if end + _LINE_REACH < len(text):
            closes = end + _LINE_REACH
        else:
            closes = len(text)
    line = text[opens:closes].lstrip()
    title, colon, _ = line.partition(":")
    shift = closes - len(line)  # where the line begins once its indent is cut
    if colon and end <= shift + len(title) and len(title) <= _LINE_REACH and _HEADING.fullmatch(title.rstrip()):
        return len(title.split()) <= 6
    return len(line) <= _LINE_REACH and line.isupper() and not _has_digit(line)


# ---- spans of a batch ------------------------------------------------------------------------------------------------


class Categories:
    """Looks at the texts of one batch; keeps none of it beyond the batch."""

    def __init__(self, batch: Batch, golds: Golds, matchup: Matchup, setting: Setting) -> None:
        self._texts = batch.texts
        self._golds, self._found, self._canonical = golds.spans, matchup.predictions, golds.canonical
        self._counted = golds.decisions[setting.policy] != MUST_NOT
        level = matchup.level(setting.level)
        self._types = None if level.types is None else level.types
        self._alike: dict[tuple[str, tuple[str, ...]], list[bool]] = {}

    def of_gold(self, gold: int) -> str:
        """The category of a missed gold span."""
        document = int(self._golds.document[gold])
        same, other = self._around(self._predictions, document, self._golds.labels[self._golds.label[gold]])
        code = int(self._canonical[gold])
        return category_of_miss(
            self._texts[document],
            int(self._golds.start[gold]),
            int(self._golds.end[gold]),
            label=NAMES[code] if code >= 0 else None,
            same=same,
            other=other,
        )

    def of_prediction(self, prediction: int) -> str:
        """The category of a false alarm."""
        found = self._found
        document = int(found.document[prediction])
        text = self._texts[document]
        start, end = int(found.start[prediction]), int(found.end[prediction])
        if not 0 <= start < end <= len(text):
            return "outside_text"
        label = found.labels[found.label[prediction]]
        same, other = self._around(self._gold_spans, document, label)
        return category_of_false_alarm(text, start, end, same=same, other=other)

    def visible_under(self, document: int) -> list[Range]:
        """The places of all predictions of a document."""
        edges = self._predictions.edges
        return self._predictions.ranges[edges[document] : edges[document + 1]]

    def _around(self, side: _Side, document: int, label: str) -> tuple[list[Range], list[Range]]:
        """Spans of the other side in a document: of a type equal to this label's, and of others."""
        same: list[Range] = []
        other: list[Range] = []
        equal = self._equal(label, side.labels)
        for i in range(side.edges[document], side.edges[document + 1]):
            if side.counted is None or side.counted[i]:
                (same if equal[side.label[i]] else other).append(side.ranges[i])
        return same, other

    def _equal(self, label: str, others: tuple[str, ...]) -> list[bool]:
        """Which of these labels are of a type equal to this one's."""
        if (label, others) not in self._alike:
            kind = None if self._types is None else self._types.get(label)
            self._alike[label, others] = [
                self._types is None or (kind is not None and kind == self._types.get(other)) for other in others
            ]
        return self._alike[label, others]

    @cached_property
    def _predictions(self) -> _Side:
        return _Side.of(self._found, len(self._texts))

    @cached_property
    def _gold_spans(self) -> _Side:
        return _Side.of(self._golds, len(self._texts), self._counted)


class _Side(NamedTuple):
    """The spans of a batch as Python's own numbers, which are read one by one in a fraction of the time."""

    labels: tuple[str, ...]
    label: list[int]
    ranges: list[Range]
    edges: list[int]  # where the spans of each document begin
    counted: list[bool] | None

    @classmethod
    def of(cls, spans: SpanArrays, documents: int, counted: npt.NDArray[np.bool_] | None = None) -> _Side:
        ranges = list(zip(spans.start.tolist(), spans.end.tolist(), strict=True))
        flags = None if counted is None else counted.tolist()
        return cls(spans.labels, spans.label.tolist(), ranges, _edges(spans, documents), flags)


def _edges(spans: SpanArrays, documents: int) -> list[int]:
    """Where the spans of each document begin; spans of one document are together, in the order of the documents."""
    return [int(place) for place in np.searchsorted(spans.document, np.arange(documents + 1))]


# ---- position --------------------------------------------------------------------------------------------------------


@overload
def fifth(start: int, length: int) -> int: ...
@overload
def fifth(start: npt.NDArray[np.integer], length: npt.NDArray[np.integer] | int) -> npt.NDArray[np.int64]: ...
def fifth(start: int | npt.NDArray[np.integer], length: int | npt.NDArray[np.integer]) -> int | npt.NDArray[np.int64]:
    """In which fifth of its document a span begins, 1 to 5; arrays are answered entry by entry.

    >>> fifth(0, 100), fifth(20, 100), fifth(99, 100), fifth(np.array([0, 3]), np.array([4, 4])).tolist()
    (1, 2, 5, [1, 4])
    """
    if isinstance(start, np.ndarray) or isinstance(length, np.ndarray):
        place = 5 * np.asarray(start, dtype=np.int64) // np.maximum(length, 1) + 1
        return np.asarray(np.clip(place, 1, 5))
    return min(max(5 * start // max(length, 1) + 1, 1), 5)
