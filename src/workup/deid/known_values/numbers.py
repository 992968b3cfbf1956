"""Known numbers, codes and electronic addresses in a text, whatever separates their digits, and through one typo.

A number of six signs or more is taken wherever it stands as a whole; one of four or five only after a label; a shorter
one never, for it may be a dose, a room or a house."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from workup.deid.finding import Finding
from workup.deid.known_values.misspellings import Misspellings
from workup.deid.text_view import Page
from workup.text.unicode import folded
from workup.text.wordlists import words_of

_SURE, _MISSPELT = 0.99, 0.9
_LABELLED, _PLAIN = 4, 6  # signs of a number that is taken after a label, and wherever it stands
_TYPED = 7  # digits of a number that is known through a typo
_END = 3  # digits of a number that one typo cannot change at both ends
_LONGEST = 400  # signs; what is longer is no number
_PARTS = 6  # groups in which a number may be written
_DIGITS = re.compile(r"\D+")
_SQUEEZED = re.compile(r"[^a-z0-9]+")
_SEPARATORS = frozenset(" -./()_\n\t+#:")
_TIGHT = frozenset("-")  # within a short number of digits alone, which 120/80 or 3.5 would make too
_MAILTO = "mailto:"
_LABELS = words_of(
    "mrn record records chart id ids no number num nr acct account policy member plan patient pt ssn case file unit "
    "hospital medical encounter csn har fin visit identifier code ext phone tel telephone fax cell mobile pager"
)
_LAST_FOUR = words_of("ssn ss social security last ending ends four digits xxx xx xxxxx")
WORDS = {"phone": "telephone number", "fax": "fax number", "email": "e-mail address", "ssn": "social security number",
         "mrn": "record number", "zip": "postal code", "username": "user name"}  # fmt: skip


class _Code(NamedTuple):
    leaf: str
    what: str
    part: bool = False


class Numbers:
    """The numbers and codes of one patient, ready to be found."""

    def __init__(self, values: Sequence[tuple[str, str]]) -> None:
        self._codes: dict[str, _Code] = {}
        self._mails: dict[str, _Code] = {}
        self._endings: dict[str, _Code] = {}
        for leaf, value in values:
            low = folded(value).lower().strip()
            code = _Code(leaf, f"known: {WORDS.get(leaf, 'number')}")
            if "@" in low or leaf in ("email", "url"):
                if 5 < len(low) <= _LONGEST:
                    self._mails[low] = code
                continue
            self._add(leaf, low, code)
        typed = [code for code in self._codes if code.isdigit() and len(code) >= _TYPED]
        self._misspelt = Misspellings(typed)
        self._ends = {end for code in typed for end in (code[:_END], code[-_END:])}

    def _add(self, leaf: str, low: str, code: _Code) -> None:
        squeezed = _SQUEEZED.sub("", low)
        digits = _DIGITS.sub("", low)
        if leaf in ("phone", "fax"):
            digits = digits[1:] if len(digits) == 11 and digits[0] == "1" else digits
            if len(digits) == 10:
                self._codes.setdefault(digits[3:], code._replace(part=True))
                self._codes.setdefault("1" + digits, code)
            squeezed = digits
        if leaf == "ssn" and len(digits) == 9:
            self._endings[digits[5:]] = code
        if not _LABELLED <= len(squeezed) <= _LONGEST or len(digits) < 3:
            if leaf == "username" and len(squeezed) > 4:
                self._codes.setdefault(squeezed, code)
            return
        self._codes[squeezed] = code
        if squeezed.isdigit() and squeezed[0] == "0" and len(squeezed.lstrip("0")) >= _PLAIN - 1:
            self._codes.setdefault(squeezed.lstrip("0"), code)

    def find(self, page: Page) -> Iterator[Finding]:
        """All of them on a page."""
        for mail, code in self._mails.items():
            at = page.low.find(mail)
            while at >= 0:
                end = at + len(mail)
                if not _goes_on(page.low[at - 1 : at]) and not page.low[end : end + 1].isalnum():
                    start = at - len(_MAILTO) if page.low.endswith(_MAILTO, 0, at) else at
                    yield Finding(start, end, code.leaf, _SURE, "known.number", (code.what, "whole"))
                at = page.low.find(mail, end)
        if self._codes:
            yield from self._squeezed(page)
        if self._misspelt:
            yield from self._typed(page)
        if self._endings:
            for at in page.of(self._endings):
                if not _LAST_FOUR.isdisjoint(page.words[max(0, at - 4) : at]):
                    code = self._endings[page.words[at]]
                    yield Finding(
                        page.starts[at],
                        page.ends[at],
                        code.leaf,
                        _SURE,
                        "known.number",
                        (code.what, "last four digits"),
                    )

    def _squeezed(self, page: Page) -> Iterator[Finding]:
        """Looked for in the words without what is between them; then what is between them is looked at."""
        text = "".join(page.words)
        ends: list[int] | None = None
        for value, code in self._codes.items():
            at = text.find(value)
            while at >= 0:
                if ends is None:
                    ends = list(accumulate(map(len, page.words)))
                found = self._placed(page, ends, at, value, code)
                if found is not None:
                    yield found
                at = text.find(value, at + (len(value) if found is not None else 1))

    def _placed(self, page: Page, ends: list[int], at: int, value: str, code: _Code) -> Finding | None:
        first, last = bisect_right(ends, at), bisect_left(ends, at + len(value))
        before = at - (ends[first - 1] if first else 0)  # signs of the first word before the value
        after = ends[last] - at - len(value)
        opening, closing = page.words[first], page.words[last]
        if before and (opening[before - 1].isdigit() or not value[0].isdigit()):
            return None
        if after and (closing[-after].isdigit() or not value[-1].isdigit()):
            return None
        if last - first >= _PARTS and not value.isdigit():
            return None
        allowed = _TIGHT if value.isdigit() and len(value) < _TYPED else _SEPARATORS
        for place in range(first, last):
            gap = page.gaps[place]
            if len(gap) > 3 or not allowed.issuperset(gap):
                return None
        if _part_of_a_longer(page, first, last):
            return None
        if len(value) < _PLAIN and code.leaf != "zip" and not _labelled(page, first):
            return None
        last = _with_rest(page, last, code.leaf)
        start = page.starts[first]  # letters that are glued to a number go with it
        start -= page.plain[start - 1 : start] == "(" and ")" in page.plain[start : page.ends[last]]
        start -= page.plain[start - 1 : start] in ("+", "@") and start > 0
        return Finding(start, page.ends[last], code.leaf, _SURE, "known.number", (code.what, "digits"))

    def _typed(self, page: Page) -> Iterator[Finding]:
        """Numbers of figures alone that are one typo away."""
        last = -1
        for at in page.figures:
            if at <= last or not page.words[at].isdigit():
                continue
            last = at
            while last + 1 < page.size and last - at < _PARTS and _joins(page, last):
                last += 1
            digits = "".join(page.words[at : last + 1])
            if digits in self._codes or not _TYPED - 1 <= len(digits) <= 20:
                continue
            if digits[:_END] not in self._ends and digits[-_END:] not in self._ends:
                continue  # one typo leaves one end of a number as it was
            if (meant := self._misspelt.meant(digits)) is not None:
                code = self._codes[meant[0]]
                yield Finding(
                    page.starts[at],
                    page.ends[last],
                    code.leaf,
                    _MISSPELT,
                    "known.number",
                    (f"{code.what}, one figure off", "digits"),
                )


def _with_rest(page: Page, last: int, leaf: str) -> int:
    """A telephone number with its extension, a ZIP code with its other four digits."""
    if leaf == "zip":
        four = last + 1 < page.size and page.gaps[last] in (" ", "-") and len(page.words[last + 1]) == 4
        return last + 1 if four and page.words[last + 1].isdigit() else last
    if leaf not in ("phone", "fax") or last + 1 >= page.size or len(page.gaps[last]) > 2:
        return last
    following = page.words[last + 1]
    if following[:1] == "x" and following[1:].isdigit() and len(following) < 7:
        return last + 1
    named = following in ("x", "ext", "extension", "extn") and last + 2 < page.size
    return last + 2 if named and page.words[last + 2].isdigit() and len(page.words[last + 2]) < 7 else last


def _labelled(page: Page, at: int) -> bool:
    if not _LABELS.isdisjoint(page.words[max(0, at - 3) : at]):
        return True
    return at > 0 and page.gaps[at - 1].rstrip().endswith("#")


def _joins(page: Page, at: int) -> bool:
    gap = page.gaps[at]
    return len(gap) < 3 and "\n" not in gap and _SEPARATORS.issuperset(gap) and page.words[at + 1].isdigit()


def _goes_on(sign: str) -> bool:
    return sign.isalnum() or sign in ("_", "-", "+") if sign else False


def _part_of_a_longer(page: Page, first: int, last: int) -> bool:
    """Whether a point or a dash ties it to more figures: 1.234567 holds no record number."""
    before = first > 0 and page.gaps[first - 1] in (".", ",") and page.words[first - 1].isdigit()
    after = last + 1 < page.size and page.gaps[last] in (".", ",") and page.words[last + 1].isdigit()
    return before or after
