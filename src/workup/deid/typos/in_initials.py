"""Initials and the marks beside names through a slip: "L,M. Reyes", "O.4. Perez", "A.CC. Long", "Reese. Justice D.".

Knows shapes of names only. Marks and figures are read back one for one, so that no offset moves; an initial that was
struck twice, or with the key beside it, is a change of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workup.deid.known_words import is_clinical_part
from workup.deid.names.word_weights import weigh
from workup.deid.names.words import ABBREVIATIONS
from workup.text.typos import beside

_LETTERS = str.maketrans("0123456789", "DIZEASGTBg")
_NAME = r"[A-Z][a-z']{1,20}"
# Each pattern opens with the character that is wrong, and looks back from there: most texts have few of them.
# A comma between initials, or behind the last of them, before a surname or a login.
_COMMA = re.compile(
    r",(?=[A-Z]\. ?[A-Z]|[A-Z]\./)(?<=[A-Z],)(?<![A-Za-z][A-Z],)|"
    rf",(?= {_NAME}|/[a-z])(?<=[A-Z]\.[A-Z],)(?<![A-Za-z][A-Z]\.[A-Z],)|"
    rf",(?= {_NAME})(?:(?<=[a-z] [A-Z],)|(?<=(?:by|to) [A-Z],))"
)
# A figure where an initial stands: before one, behind one, or between a given name and a surname.
_FIGURE = re.compile(
    rf"\.(?<=[0-9]\.)(?:(?=[A-Z]\. ?[A-Z])(?<![\w.-][0-9]\.)|(?<=[A-Z]\.[0-9]\.)(?= ?(?:{_NAME}|\d\d?:))|"
    rf"(?<=[a-z] [0-9]\.)(?= {_NAME})|"
    rf"(?<=[:;(,\s] [0-9]\.)(?= {_NAME}, (?:MD|DO|RN|NP|PA|PhD)\b))"
)
_GIVEN = re.compile(r"(?<![A-Za-z'-])([A-Z][a-z']{2,20}) $")
# "Reese. Justice D.  M  MRN": a point for the comma between surname and given name, at the head of a record.
_TURNED = re.compile(rf"(?m)\. (?={_NAME}(?: [A-Z]\.?)?(?:  [MF]\b| ?$| \())")
_HEAD = re.compile(
    r"(?:(?:^|\n)|(?i:name|patient|pt|member):[ \t]{1,20})(?:de la |de |del |van )?"
    rf"(?P<v>{_NAME})(?:-{_NAME})?(?: I{{2,3}}| Jr)?$"
)
_SURNAME = re.compile(rf" ({_NAME})(?![A-Za-z])")
_TWO = re.compile(
    rf"\.(?<=[A-Z]{{2}}\.)(?:(?=[A-Z]\. ?{_NAME})(?<![A-Za-z]..\.)|"
    rf"(?<=[A-Z]\.[A-Z]{{2}}\.)(?= {_NAME}|\)|/)|(?<=[a-z] [A-Z]{{2}}\.)(?= {_NAME}|  [MF] ))"
)


def marks_read(plain: str) -> str:
    """The text with the marks and initials of names as they should be; as many characters as before.

    >>> marks_read("cc: L,M. Reyes, MD; O.4. Perez, MD. Stage 4. Tumor seen.")
    'cc: L.M. Reyes, MD; O.A. Perez, MD. Stage 4. Tumor seen.'
    """
    plain = _COMMA.sub(_stop, plain)
    figures = list(_FIGURE.finditer(plain))
    if figures:
        signs = list(plain)
        for match in figures:
            signs[match.start() - 1] = _initial(match)
        plain = "".join(signs)
    return _TURNED.sub(_turned, plain)


def _stop(match: re.Match[str]) -> str:
    """A point behind an initial between a given name and a surname; "vitamin A, Smith" keeps its comma."""
    text, at = match.string, match.start()
    if text[at - 2 : at - 1] != " " or text[at + 1 : at + 2] != " ":
        return "."
    given = _GIVEN.search(text, max(0, at - 25), at - 1)
    following = _SURNAME.match(text, at + 1)
    by = text[at - 4 : at - 1] in ("by ", "to ") and text[at - 5 : at - 4] == " "
    if following is None or not (by or (given is not None and weigh(given[1].lower()).given)):
        return ","
    weight = weigh(following[1].lower())
    return "." if weight.known and weight.family and weight.odds > 0 else ","


def _initial(match: re.Match[str]) -> str:
    """The letter that a figure before a point stands for; the figure where it is one."""
    text, at = match.string, match.start() - 1
    given = _GIVEN.search(text, max(0, at - 24), at)
    if given is not None:
        following = _SURNAME.match(text, at + 2)
        called = following is not None and weigh(following[1].lower()).surname and weigh(given[1].lower()).given
        if not _is_given(given[1].lower()) and not called:
            return text[at]
    elif text[at - 1 : at] == " " == text[at + 2 : at + 3] and text[at - 2].isalpha():
        return text[at]
    return text[at].translate(_LETTERS).upper()


def _is_given(low: str) -> bool:
    weight = weigh(low)
    return weight.given and weight.known and weight.odds > 0 and not weight.everyday and not is_clinical_part(low)


def _turned(match: re.Match[str]) -> str:
    head = _HEAD.search(match.string, max(0, match.start() - 60), match.start())
    if head is None:
        return match[0]
    weight = weigh(head["v"].lower())
    return ", " if weight.family and weight.why not in ("word", "clinical") else match[0]


def initials_struck_twice(plain: str) -> Iterator[tuple[int, int, str]]:
    """Places of initials that were struck twice or with the key beside them, and the initial.

    >>> list(initials_struck_twice("Taken by SD.T. Long, RN, in the ED. Blood was drawn."))
    [(9, 11, 'S')]
    """
    for match in _TWO.finditer(plain):
        start = match.start() - 2
        one, other = plain[start].lower(), plain[start + 1].lower()
        if one + other in ABBREVIATIONS or not (one == other or beside(one, other)):
            continue
        given = _GIVEN.search(plain, max(0, start - 24), start)
        weight = weigh(given[1].lower()) if given is not None else None
        if weight is None or (weight.known and weight.odds > -1):
            yield start, start + 2, plain[start]
