"""Figures that scanners misread as letters, read back: "12/I7/19A7", "(9O6) s55-0136", "2O23". No offset moves.

Knows shapes of numbers only; codes that begin with a letter ("S21-4410") stay."""

from __future__ import annotations

import re

from workup.text.calendar import MONTH
from workup.text.typos import FIGURES

_LIKE = "".join(FIGURES)  # letters that look like figures
_F = f"0-9{_LIKE}"
AS_DIGITS = str.maketrans(FIGURES)
_MONTH = MONTH.lower()
# A word of figures and a few letters that look like figures.
_CONFUSED = re.compile(r"(?<![A-Za-z0-9])(?:[OoIl]|(?=\d))[0-9OoIlSsBZzGbgq]{1,12}(?![A-Za-z0-9])")
_ENDS = frozenset("OoIlSsBZzGbgq")
# Groups of figures with marks between them: days, telephone numbers, numbers of records.
_GROUPED = re.compile(
    rf"(?<![A-Za-z0-9@:/-])\(?[{_F}]{{1,5}}\)?(?:[-/.~: ]|\) ?|(?<=\)))(?:[{_F}']{{1,5}}[-/.~: ]){{0,3}}"
    rf"[{_F}]{{2,5}}(?![A-WYZa-wyz0-9@/-]|[xX](?!\d)|:[0-9A-Fa-f])"
)
_YEAR = re.compile(rf"(?<![A-Za-z0-9])[12ZzIl][{_F}]{{3}}(?![A-Za-z0-9])")
_OF_MONTH = re.compile(rf"(?i:(?<![a-z0-9]){_MONTH})\.? (?P<v>[{_F}]{{1,2}})(?:st|nd|rd|th)?(?=,? |[.,;:)\n]|$)")
_BEFORE_MONTH = re.compile(
    rf"(?<![A-Za-z0-9/.-])(?=[{_F}]?\d|[OoZzIlS][- ])[{_F}]{{1,2}}(?=[- ]?(?i:{_MONTH})[- ]?[12Zz])"
)
_AFTER_MONTH = re.compile(rf"(?<=\d)(?i:{_MONTH})(?P<v>[12ZzIl][{_F}]{{3}})(?![A-Za-z0-9])")
# A comma for a point in days and telephone numbers with points.
_COMMA = re.compile(r",(?=\d{1,3}\.\d{4}(?!\d)|\d{4}(?!\d))(?<=[0-9],)")
_BEFORE_COMMA = re.compile(r"(?<![\d.,])(?:(?P<one>\d{1,3})|\d{1,2}\.\d{1,2}|(?P<phone>\d{3}\.\d{3}))$")
# "z.9.2026", "Z-18-18": a day of which one figure is a letter, all alone.
_DAY = re.compile(r"(?:[OoIlZzSs]|\d{1,2})([-.])(?:[OoIlZzSs]|\d{1,2})\1(?:\d\d|(?:19|20)\d\d)")
_POSTAL = re.compile(rf", (?:[A-Z]{{2}}|[A-Z][a-z]{{3,12}}) (?P<v>[{_F}]{{5}}|[{_F}]{{3}})(?=[-.\n ]|$)")
_INSIDE_CODE = re.compile(r"[OoIl](?=[0-9]{2})(?<=[0-9]{3}.)")
# Figures beside letters that look like figures, or beside marks that are read for others; most lines have none.
_WORTH_A_LOOK = re.compile(
    rf"[0-9~,](?:(?<=~)|(?<=[{_LIKE}~][0-9])|(?<=[0-9])(?=['{_LIKE}~]|,[0-9]{{1,3}}\.[0-9]{{4}})|"
    rf"(?<=[a-z] [{_LIKE}],)(?= [12])|(?<=[a-z]\. [{_LIKE}],)(?= [12])|(?<=\b[OoIlZzSs][-.][0-9])|"
    r"(?<=[0-9],)(?=[0-9]{4}(?![0-9])))"
)
_TILDE = re.compile(r"(?<=[A-Za-z0-9])~(?=[A-Za-z0-9])")


def as_numbers(plain: str) -> str:
    """The text with figures where letters were read for them; as many characters as before.

    >>> as_numbers("seen 12/I7/19A7, tel. (9O6) s55~0136, December I7, z0I6; S21-4410, L5-S1, T4 8.l")
    'seen 12/17/1947, tel. (906) 555-0136, December 17, 2016; S21-4410, L5-S1, T4 8.l'
    """
    pieces, at = [], 0
    while (worth := _WORTH_A_LOOK.search(plain, at)) is not None:
        start = plain.rfind("\n", at, worth.start()) + 1 or at
        end = plain.find("\n", worth.end())
        end = len(plain) if end < 0 else end
        pieces += [plain[at:start], _line(plain[start:end])]
        at = end
    return "".join([*pieces, plain[at:]]) if pieces else plain


def _line(plain: str) -> str:
    plain = _TILDE.sub("-", plain)
    plain = _GROUPED.sub(_groups, plain)
    plain = _OF_MONTH.sub(_day, plain)
    plain = _BEFORE_MONTH.sub(lambda match: match[0].translate(AS_DIGITS), plain)
    plain = _AFTER_MONTH.sub(_joined, plain)
    plain = _COMMA.sub(_point, plain)
    plain = _YEAR.sub(_year, plain)
    plain = _POSTAL.sub(_joined_figures, plain)
    plain = _INSIDE_CODE.sub(lambda match: match[0].translate(AS_DIGITS), plain)
    return _CONFUSED.sub(_word, plain)


def _counted(text: str) -> tuple[int, int]:
    return sum(map(str.isdigit, text)), sum(map(str.isalpha, text))


def _groups(match: re.Match[str]) -> str:
    text = match[0]
    figures, letters = _counted(text)
    if not letters or figures < 2 * letters or figures < 3:
        return text
    parts = [part for part in re.split(r"[^A-Za-z0-9]", text) if part]
    if any(part.isalpha() and (len(part) > 1 or "/" not in text) for part in parts) and not _DAY.fullmatch(text):
        return text
    coded = text[0] in "SBAGZ" and letters == 1
    if len(parts) < 3 and (coded or figures + letters < 7) and "/" not in text:
        return text
    if " " in text and figures + letters < 7:
        return text
    return text.translate(AS_DIGITS)


def _point(match: re.Match[str]) -> str:
    text, at = match.string, match.start()
    before = _BEFORE_COMMA.search(text, max(0, at - 9), at)
    if before is None:
        return ","
    pointed = "." in text[at : at + 5]
    fits = pointed if before["one"] else not pointed and (before["phone"] or text[at + 1 : at + 3] in ("19", "20"))
    return "." if fits else ","


def _day(match: re.Match[str]) -> str:
    whole, value = match[0], match["v"]
    if value.isdigit() or value.isalpha():
        after = match.string[match.end() : match.end() + 6]
        if value.isdigit() or not re.match(r",? [12]", after):
            return whole
    start = match.start("v") - match.start()
    return whole[:start] + value.translate(AS_DIGITS) + whole[start + len(value) :]


def _joined(match: re.Match[str]) -> str:
    start = match.start("v") - match.start()
    return match[0][:start] + match["v"].translate(AS_DIGITS)


def _joined_figures(match: re.Match[str]) -> str:
    """Figures of a postal code of which one was read as a letter."""
    figures, letters = _counted(match["v"])
    return _joined(match) if letters == 1 and figures > 1 else match[0]


def _year(match: re.Match[str]) -> str:
    figures, letters = _counted(match[0])
    read = match[0].translate(AS_DIGITS)
    return read if letters and figures >= 2 and read[:2] in ("19", "20") else match[0]


def _word(match: re.Match[str]) -> str:
    word = match[0]
    letters = sum(map(str.isalpha, word))
    if not letters or letters > len(word) / 2 or (word[-1] == "s" and word[:-1].isdigit()):
        return word
    if (word[0].isalpha() or word[-1].isalpha()) and len(word) < 4:
        beside = match.string[max(0, match.start() - 1) : match.start()] + match.string[match.end() : match.end() + 1]
        ends = {word[0], word[-1]} & _ENDS
        if not ends <= set("OoIl") or not set(beside) & set("/-:"):
            return word
    return word.translate(AS_DIGITS)
