"""A noisy text made readable before it is searched: words that rules live by are spelt right, figures are figures.

The repaired text is what layers see; every finding is carried back to the characters of the text as it came. Words
that books, clinical terms or many people bear are never touched."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from workup.deid import gazetteer
from workup.deid.finding import Finding
from workup.deid.known_words import is_known
from workup.deid.names.words import DONE, KIN, MEETING, VERBS
from workup.deid.settings import Settings
from workup.deid.typos.in_addresses import Kinds
from workup.deid.typos.in_names import as_name, initials_struck_twice, marks_read, may_lack_capital, titles
from workup.deid.typos.ocr_digits import as_numbers
from workup.text.calendar import MONTH_WORDS, PLAIN_MONTHS, WEEKDAY_WORDS
from workup.text.numbers import NUMBER, ordinal_words
from workup.text.typos import Speller, apart, as_letters, misread
from workup.text.unicode import folded
from workup.text.wordlists import function_words, words_of

CALENDAR = (
    (MONTH_WORDS - {"may"})
    | WEEKDAY_WORDS
    | {ordinal_words(number) for number in (*range(1, 21), 30)}
    | {word for word in NUMBER if len(word) > 3}
    | words_of(
        "hundred thousand year-old years months weeks days photograph fingerprint voiceprint template identification "
        "extension"
    )
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "june", "july", "jun", "jul", "aug", "sept", "sep", "oct", "nov", "dec")
_LABELS = ("MRN", "DOB", "SSN", "DOS", "NPI", "DEA", "HAR", "CSN", "VIN")
_WORD = re.compile(r"[A-Za-z0-9]{3,24}")
# A short word before a day: a month, if it is none but for a letter.
_DAY = re.compile(r"\.? ?\d{1,2}(?:(?:st|nd|rd|th)\b)?(?![\d%/:]|\.\d| ?(?:mg|ml|mm|cm|x)\b)")
# These open with a character, and look back from there: so they are tried at few places.
_YEAR_AFTER = re.compile(r"\d(?<= \d)\d?(?:st|nd|rd|th)?,? (?:19|20)\d\d")
_LAST_WORD = re.compile(r"(?<![A-Za-z0-9./-])[A-Za-z]{2,4}$")
_JOINED_MONTH = re.compile(
    r"\d(?<![A-Za-z0-9/-]\d)\d?(?:-?(?P<v>[A-Za-z0-9][A-Za-z][A-Za-z0-9])-?(?=\d{4,5}(?!\d)|\d\d(?![\dA-Za-z]))|"
    r"[- ](?P<w>[A-Za-z]{2,4})[- ](?=(?:19|20)\d\d(?!\d)))"
)
_SHORT_LABEL = re.compile(
    r"(?P<v>[A-Z0-9](?<![A-Za-z0-9].)[A-Z0-9]{2})(?=[ \t]{0,2}[:;#]|[ \t]{1,3}#?[A-Z]{0,3}-?\d[\d -]{4})"
)
_EXTENSION = re.compile(r"\d,? ?[A-Za-z]{1,5}\.? \d")
_TITLE_COMMA = re.compile(r",(?= [A-Z])(?:(?<=\b[DMSJ]r,)|(?<=\bMs,)|(?<=\bMrs,)|(?<=\b[SM]t,))")
_SEMICOLON = re.compile(r";(?=[ \t]{1,20}\S)")
_LABEL_BEFORE = re.compile(r"(?:^|\n)[ \t>*-]{0,6}[A-Za-z#/.]{2,14}(?: [A-Za-z#/.]{1,12}){0,2}$")
_CAPITAL_BEFORE = re.compile(r"(?<![A-Za-z])[A-Z][a-z']{2,20} $")
_NEXT_WORD = re.compile(r" (?P<v>[A-Za-z0-9]{3,14})(?![A-Za-z0-9])")
_MOST_FINE = 200_000
_NEXT_OF_KIN = re.compile(r" kin(?=[:\s])(?<=[A-Za-z]{4} [a-z]{2} kin)(?<!Next of kin)(?<!next of kin)")
_YEARS_OLD = re.compile(r"year[- ](?P<v>[a-z0-9]{2,4})(?=[ ,])")


class Change(NamedTuple):
    """The characters from `start` to `end` are read as `text`."""

    start: int
    end: int
    text: str


class Repaired:
    """A text as it is read, and the way back."""

    def __init__(self, text: str, changes: list[Change]) -> None:
        pieces, at, shifts = [], 0, [0]
        self._ends: list[int] = []  # of the changes in the text as it is read
        self._starts: list[int] = []
        for one in changes:
            pieces += [text[at : one.start], one.text]
            self._starts.append(one.start + shifts[-1])
            shifts.append(shifts[-1] + len(one.text) - (one.end - one.start))
            self._ends.append(one.end + shifts[-1])
            at = one.end
        self.text = "".join([*pieces, text[at:]])
        self._changes, self._shifts = changes, shifts

    def back(self, findings: Iterable[Finding]) -> list[Finding]:
        """Findings at the characters of the text as it came."""
        if not self._changes:
            return list(findings)
        return [one._replace(start=self._place(one.start), end=self._place(one.end, end=True)) for one in findings]

    def _place(self, place: int, *, end: bool = False) -> int:
        at = bisect_right(self._starts, place - end) - 1
        if at >= 0 and (place < self._ends[at] or (end and place <= self._ends[at])):
            one = self._changes[at]
            if place == self._starts[at]:
                return one.start
            return one.end if end or place >= self._ends[at] else min(one.end - 1, one.start + place - self._starts[at])
        return place - self._shifts[at + 1]


class Repair:
    """Reads texts with the words that the rules live by in mind."""

    def __init__(self, settings: Settings) -> None:
        words = _structural(settings)
        self._own = frozenset(words)
        self._speller = Speller((word for word in words if is_known(word)), twice=CALENDAR, rank=_in_books)
        self._fine: set[str] = set()  # words as they were met, that need no repair
        self._small = frozenset(word for word in function_words() if len(word) == 3)
        self._labels = Speller(_label_words(settings), rank=_in_books)
        self._pairs, self._streets = _pairs(settings), Kinds(settings.lists["street_types"])

    def read(self, text: str) -> Repaired:
        """The text as it should be read."""
        plain = as_numbers(folded(text))
        plain = _TITLE_COMMA.sub(".", plain)
        if ";" in plain:
            plain = _SEMICOLON.sub(_label_mark, plain)
        plain = marks_read(small_words(plain.replace("`", "'")))
        kept: list[Change] = []
        placed = [*self._streets.changes(plain), *initials_struck_twice(plain), *titles(plain), *years_old(plain)]
        found = [(one[0], 0, Change(*one)) for one in placed] + [(one.start, 1, one) for one in self._words(plain)]
        for _, _, one in sorted(found):
            if not kept or kept[-1].end <= one.start:
                kept.append(one)
        read = Repaired(plain, kept)
        if any(one.text.lower() in CALENDAR for one in kept):
            read.text = as_numbers(read.text)  # figures beside a month that is one only now; no offset moves
        return read

    def _words(self, plain: str) -> Iterator[Change]:
        for match in _YEAR_AFTER.finditer(plain):
            end = match.start() - 1
            end -= plain[end - 1 : end] == "."
            short = _LAST_WORD.search(plain, max(0, end - 6), end)
            dated = short is not None and short[0].lower() not in ("day", "days", "age", "on", "in", "of", "at")
            yield from _near(short.span(), short[0], _MONTHS, dated=dated) if short else ()
        for match in _JOINED_MONTH.finditer(plain):
            group = "v" if match["v"] else "w"
            yield from _near(match.span(group), match[group], _MONTHS, dated=group == "w")
        for match in _SHORT_LABEL.finditer(plain):
            if match["v"].lower() not in self._own:
                yield from _near(match.span("v"), match["v"], _LABELS)
        fine = self._fine
        for match in _WORD.finditer(plain):
            word = match[0]
            if word in fine or word.isdigit():
                continue
            if word in self._pairs:
                yield from self._second(plain, match)
                continue
            low = word.lower()
            if is_known(low) or low in self._own:
                if len(fine) < _MOST_FINE:
                    fine.add(word)
                continue
            if len(word) < 5 and not word.islower() and not word.isupper() and _DAY.match(plain, match.end()):
                yield from _near(match.span(), word, _MONTHS)
            if (name := as_name(plain, match)) is not None:
                yield Change(*match.span(), name)
            elif (meant := self._meant(plain, match, low)) is not None:
                follows = plain[max(0, match.start() - 24) : match.start()]
                yield Change(*match.span(), _cased(word, meant, follows=follows))
            elif (
                word == low
                and low.isalpha()
                and "x" not in low
                and not may_lack_capital(low)
                and len(fine) < _MOST_FINE
            ):
                fine.add(word)  # nothing beside it would change the answer

    def _meant(self, plain: str, match: re.Match[str], low: str) -> str | None:
        word = match[0]
        if not low.isalpha():
            start, end = match.span()
            joined = plain[start - 1 : start] == "-" and plain[start - 2 : start - 1].islower() and word[0].isupper()
            coded = plain[start - 1 : start] in tuple(":-_@/\\#.") and not joined
            coded = coded or plain[end : end + 1] in tuple("-_@/\\")
            if (coded and start) or (plain[end : end + 1] in (":", ".") and plain[end + 1 : end + 2].isalnum()):
                return None
            return self._figures_inside(word, low)
        if "x" in low and _EXTENSION.match(plain, max(0, match.start() - 2)):
            return None
        if len(low) == 3:
            return self._small_word(word, low)
        if len(low) == 4 and word.isupper() and not _announces(plain, match):
            return None
        if (
            "I" in word[1:] and not word.isupper() and not word.startswith(("Mc", "Mac"))
        ):  # l and I look alike: MorrisvilIe
            read = word[0].lower() + word[1:].replace("I", "l").lower()
            return self._speller.meant(read) or read
        if word[0] == "l" and _borne("i" + low[1:]):
            return "I" + low[1:]
        if low in gazetteer.people() and not word.islower() and not _announces(plain, match):
            return None
        if low in gazetteer.places():
            return None
        if word[0].isupper() and plain[match.end() : match.end() + 1] == ":" and (label := self._labels.meant(low)):
            return label
        return self._speller.meant(low)

    def _figures_inside(self, word: str, low: str) -> str | None:
        letters = sum(map(str.isalpha, low))
        if letters == 2 and len(low) == 3 and word[1:].isalpha() | word[0].isupper():  # "8en", "N1x"
            return next((one for one in as_letters(low) if _borne(one) and one not in gazetteer.everyday()), None)
        if letters < 3 or letters < len(low) - 2 or (low[-2:].isdigit() and len(low) > 3) or word[:2].isdigit():
            return None
        if word[-1].isdigit() and (len(low) < 5 or word.isupper()):
            return None
        readings = list(as_letters(low))
        best = next((one for one in readings if one in self._speller), None)
        best = best or next((one for one in readings if is_known(one)), None) or self._speller.meant(low)
        # a word with a capital and one figure that was a letter
        named = 5 < len(low) < 16 and letters == len(low) - 1 and word[1:].islower() and not word[0].islower()
        return best or (readings[-1] if named and readings else None)

    def _second(self, plain: str, first: re.Match[str]) -> Iterator[Change]:
        """The second word of what is called by two, such as a medical center, but for a typo."""
        match = _NEXT_WORD.match(plain, first.end())
        if match is None or (low := match["v"].lower()) in self._own:
            return
        meant = next((one for one in self._pairs[first[0]] if apart(low, one, 1) <= 1), None)
        if meant is not None:
            yield Change(*match.span("v"), meant.upper() if match["v"].isupper() else meant.capitalize())

    def _small_word(self, word: str, low: str) -> str | None:
        if not word.islower() or low in gazetteer.people():
            return None
        return next(
            (one for one in sorted(self._small) if sum(a != b for a, b in zip(one, low, strict=True)) == 1), None
        )


def _structural(settings: Settings) -> set[str]:
    phrases: list[str] = [*CALENDAR, *KIN, *VERBS, *MEETING, *DONE, *function_words()]
    for rule in settings.labels.values():
        phrases += rule.words
    for words in (*settings.cues.values(), *settings.lists.values()):
        phrases += words
    phrases += [*settings.not_names, *settings.names, *settings.allow, *chain(*settings.deny.values())]
    phrases += (name for name, place in gazetteer.places().items() if "s" in place.kinds)
    return {word for phrase in phrases for word in re.findall(r"[a-z]+", phrase.lower())}


def _label_words(settings: Settings) -> set[str]:
    """Words of labels, as they are before a colon."""
    phrases = [phrase for rule in settings.labels.values() for phrase in rule.words]
    for kind in words_of("patient patient_label relative provider birth death day employer facility place address"):
        phrases += settings.cues.get(kind, ())
    return {word for phrase in phrases for word in re.findall(r"[a-z]{4,}", phrase)}


def _pairs(settings: Settings) -> dict[str, tuple[str, ...]]:
    """First words of what hospitals are called by two, as they are written, and the second words that follow them."""
    found: dict[str, set[str]] = {}
    for phrase in settings.lists["facility_words"]:
        first, *rest = phrase.split()
        if len(rest) == 1 and len(rest[0]) > 3:
            for form in (first.capitalize(), first.upper()):
                found.setdefault(form, set()).add(rest[0])
    return {first: tuple(sorted(seconds)) for first, seconds in found.items()}


def _near(span: tuple[int, int], surface: str, words: Iterable[str], *, dated: bool = False) -> Iterator[Change]:
    """The word of a short list that differs by one letter from one that is no word itself."""
    low = surface.lower()
    if low in words or surface in words or (is_known(low) and not dated and surface not in ("SSH", "MRH", "MRI")):
        return
    read = as_letters(low) if not low.isalpha() else misread(low)
    near = [one for one in words if apart(low, one.lower(), 1) <= 1] or [one for one in read if one in words]
    if near:
        yield Change(*span, _cased(surface, near[0].lower()))


def _label_mark(match: re.Match[str]) -> str:
    """A colon for a semicolon after a label at the head of a line."""
    return ":" if _LABEL_BEFORE.search(match.string, max(0, match.start() - 48), match.start()) else ";"


def _in_books(word: str) -> float:
    known = gazetteer.people().get(word)
    return known.word if known else 0.0


def _borne(low: str) -> bool:
    known = gazetteer.people().get(low)
    return known is not None and max(known.given, known.surname) >= 3.25


def _announces(plain: str, match: re.Match[str]) -> bool:
    """Whether a word is where a label or a month would be: before a colon or a figure."""
    after = plain[match.end() : match.end() + 3].lstrip(" .")
    return after[:1] in tuple(":;#0123456789")


def _cased(surface: str, meant: str, *, follows: str = "") -> str:
    letters = [c for c in surface if c.isalpha()]
    if surface.islower() and (meant in PLAIN_MONTHS or (meant[1:] == surface and _CAPITAL_BEFORE.search(follows))):
        return meant.capitalize()  # the capital was lost with the first letter
    if len(letters) > 1 and all(c.isupper() for c in letters):
        return meant.upper()
    if surface[0].isupper() or (surface[0].isdigit() and meant[0].isalpha()):
        return meant[0].upper() + meant[1:]
    return meant


def years_old(plain: str) -> Iterator[tuple[int, int, str]]:
    """Places of what follows a count of years and is 'old' but for a typo."""
    for match in _YEARS_OLD.finditer(plain):
        if match["v"] != "old" and apart(match["v"], "old", 1) <= 1:
            yield (*match.span("v"), "old")


def small_words(plain: str) -> str:
    """The text with 'to' and 'next of kin' as they should be; as many characters as before.

    >>> small_words("mailed t0 12 Elm Way\\nNext ov kin: Berg")
    'mailed to 12 Elm Way\\nNext of kin: Berg'
    """
    if "t0" in plain:
        plain = plain.replace(" t0 ", " to ")
    pieces, at = [], 0
    for match in _NEXT_OF_KIN.finditer(plain):
        start = match.start() - 7
        if apart(plain[start : match.start()].lower(), "next of", 2) <= 2:
            pieces += [plain[at : start + 1], "ext of"]
            at = match.start()
    return "".join([*pieces, plain[at:]]) if pieces else plain
