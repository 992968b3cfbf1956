"""Names, their initials and their titles read through a typo: "Candace ussell, MD", "O.4. Perez", "Msq. Legg".

Knows common names and what is right beside a word; a word that books, clinical terms or many people bear is never
asked about. Marks and figures are read back one for one, so that no offset moves; an initial that was struck twice, or
with the key beside it, is a change of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from workup.deid import gazetteer
from workup.deid.known_words import clinical_parts, is_clinical_part, is_known
from workup.deid.names.word_weights import weigh
from workup.deid.names.words import ABBREVIATIONS
from workup.text.typos import apart, as_letters, beside, misread
from workup.text.wordlists import function_words

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_COMMON, _VERY_COMMON, _BORNE_BY_CROWDS = 3.5, 4.0, 4.75  # log10 of bearers
_MOST_REMEMBERED = 50_000
_CREDENTIALS = r"(?:MD|DO|RN|NP|PA|PhD|PA-C|LPN|DPM|DDS|PharmD|APRN|CRNA)"
_INITIAL_BEFORE = re.compile(r"(?<![A-Za-z])[A-Z]\. ?$")
_WORD_BEFORE = re.compile(r"(?<![A-Za-z'])([A-Z][A-Za-z']{1,20})(?:[ -]| [A-Z]\.? | (?:de|du|del|van|la|de la) )$")
_TURNED_BEFORE = re.compile(r"(?<![A-Za-z])([A-Z][A-Za-z'-]{1,20}(?: I{2,3}| Jr\.?)?), $")
_TITLE_BEFORE = re.compile(r"(?<![A-Za-z])(?:Dr|Mr|Mrs|Ms)\. $")
_LABEL_BEFORE = re.compile(r"(?i:name|patient|pt|member|kin|contact|by|attending|surgeon|provider|cc)\.?: {1,20}$")
_SPOKEN_BEFORE = re.compile(
    r"(?<![a-z])(?:with|by|to|from|mother|father|son|daughter|sister|brother|wife|husband),? \(?$"
)
_SIGNED_AFTER = re.compile(rf",? {_CREDENTIALS}(?![A-Za-z])")
_INITIAL_AFTER = re.compile(r" [A-Z]\.? (?=[A-Z][a-z])| [A-Z]\.?(?=  |,|\n|$)")
_WORD_AFTER = re.compile(r"[ -]([A-Z][A-Za-z']{1,20})(?![A-Za-z])")
_CAPITALS_BESIDE = re.compile(r"[A-Z]{3,24},? [A-Z]{3}")
_INITIAL_AND_WORD = re.compile(r" [A-Z]\. ([A-Z][a-z]{1,20})")
_GIVEN_AFTER = re.compile(r", ([A-Z][A-Za-z'-]{1,20})(?: [A-Z]\.?)?(?=  | [|/]|\n|$)")
_AS_INITIALS = str.maketrans("0123456789", "DIZEASGTBg")
_CAPITALISED = r"[A-Z][a-z']{1,20}"
# Each pattern opens with the character that is wrong, and looks back from there: most texts have few of them.
# A comma between initials, or after the last of them, before a surname or a login.
_COMMA = re.compile(
    r",(?=[A-Z]\. ?[A-Z]|[A-Z]\./)(?<=[A-Z],)(?<![A-Za-z][A-Z],)|"
    rf",(?= {_CAPITALISED}|/[a-z])(?<=[A-Z]\.[A-Z],)(?<![A-Za-z][A-Z]\.[A-Z],)|"
    rf",(?= {_CAPITALISED})(?:(?<=[a-z] [A-Z],)|(?<=(?:by|to) [A-Z],))"
)
# A figure for an initial: before one, after one, or between a given name and a surname.
_FIGURE = re.compile(
    rf"\.(?<=[0-9]\.)(?:(?=[A-Z]\. ?[A-Z])(?<![\w.-][0-9]\.)|(?<=[A-Z]\.[0-9]\.)(?= ?(?:{_CAPITALISED}|\d\d?:))|"
    rf"(?<=[a-z] [0-9]\.)(?= {_CAPITALISED})|"
    rf"(?<=[:;(,\s] [0-9]\.)(?= {_CAPITALISED}, (?:MD|DO|RN|NP|PA|PhD)\b))"
)
_GIVEN = re.compile(r"(?<![A-Za-z'-])([A-Z][a-z']{2,20}) $")
# "Reese. Justice D.  M  MRN": a point for the comma between surname and given name, at the head of a record.
_TURNED = re.compile(rf"(?m)\. (?={_CAPITALISED}(?: [A-Z]\.?)?(?:  [MF]\b| ?$| \())")
_HEAD = re.compile(
    r"(?:(?:^|\n)|(?i:name|patient|pt|member):[ \t]{1,20})(?:de la |de |del |van )?"
    rf"(?P<v>{_CAPITALISED})(?:-{_CAPITALISED})?(?: I{{2,3}}| Jr)?$"
)
_SURNAME = re.compile(rf" ({_CAPITALISED})(?![A-Za-z])")
_TWO = re.compile(
    rf"\.(?<=[A-Z]{{2}}\.)(?:(?=[A-Z]\. ?{_CAPITALISED})(?<![A-Za-z]..\.)|"
    rf"(?<=[A-Z]\.[A-Z]{{2}}\.)(?= {_CAPITALISED}|\)|/)|(?<=[a-z] [A-Z]{{2}}\.)(?= {_CAPITALISED}|  [MF] ))"
)
_POINT = re.compile(r"\. (?=[A-Z0-9])")
_SHORT_WORD = re.compile(r"(?<![A-Za-z0-9.])[A-Z05][A-Za-z0-9]{1,2}$")
_NAMED = re.compile(r"[A-Z0-9][A-Za-z0-9.']")
_TITLES = (
    {
        typo: title
        for title, typos in (
            ("Dr", "Or 0r Dn DEr Drs Dr5 Df Dt De Dd DDr Drr Drt Drf Xr Cr Er SDr Dfr Dre"),
            ("Mr", "Nr Mf MMr Mrr Mre Kr"),
            ("Ms", "Ns Ma M5 Mss MMs Na"),
            ("Mrs", "Mra Nrs Mrx Mrd"),
        )
        for typo in typos.split()
    }
    | {  # the key beside was struck too
        title[:at] + letter + title[at:]: title
        for title in ("Dr", "Mr", "Ms")
        for at in range(1, 3)
        for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        if letter.isupper() == (at == 1) and beside(letter.lower(), title[at - 1].lower())
    }
)
# What a hospital that is called by a saint goes on with.
_SAINTS_HOSPITAL = re.compile(
    r"[A-Z][A-Za-z]{2,15}(?:'[sS])? "
    r"(?i:general|regional|memorial|medical|university|community|hospital|children|health|cancer|county)\b"
)


_NOBODY: set[str] = set()  # words that are no name through any typo


def as_name(plain: str, match: re.Match[str]) -> str | None:
    """The name that an unknown word stands for, as it would have been written; None where none is due.

    >>> text = "Signed by Candace ussell, MD"
    >>> as_name(text, re.compile("ussell").search(text))
    'Russell'
    """
    word, (start, end) = match[0], match.span()
    if plain[end : end + 1] == ":":
        return None  # a label
    if word.islower():
        name = _with_capital(word) if len(word) > 2 else None
        return name if name and _follows_name(plain[max(0, start - 40) : start], plain[end : end + 30]) else None
    low = word.lower()
    if not (word[0].isupper() or word[0].isdigit()) or ("I" in word[1:] and not word.isupper()):
        return None
    if len(word) > 3 and word[1].isupper() and word[2:].islower():
        name = _doubled(word)
        if name is not None:
            return name
    if len(low) < 4 or (not low.isalpha() and not _few_figures(word)):
        return None
    if low in _NOBODY:
        return None
    if len(word) < 6 and word.isupper() and not _CAPITALS_BESIDE.search(plain, max(0, start - 24), end + 24):
        return None  # the short form of a hospital as often
    if not _worth_asking(low):
        _remember(low)
        return None
    sure, due = _due(plain[max(0, start - 40) : start], plain[end : end + 30])
    if not due and not sure:
        return None
    name = nearest(low, sure=sure)
    if name is None and (sure or nearest(low, sure=True) is None):
        _remember(low)
    return None if name is None else _written(word, name)


def _remember(low: str) -> None:
    if len(_NOBODY) < _MOST_REMEMBERED:
        _NOBODY.add(low)


def _few_figures(word: str) -> bool:
    """Whether a word holds a figure or two that scanners read for letters; codes have more, or end in them."""
    figures = sum(map(str.isdigit, word))
    few = figures * 4 <= len(word) and not word[-1].isdigit() and not word.isupper()
    return few and not any(map(is_known, as_letters(word.lower())))  # those are read letter by letter


def _due(before: str, after: str) -> tuple[bool, bool]:
    """Whether a name must be between the two, and whether one may."""
    sure = (
        _TITLE_BEFORE.search(before) is not None
        or _SIGNED_AFTER.match(after) is not None
        or _LABEL_BEFORE.search(before) is not None
        or _INITIAL_BEFORE.search(before) is not None
    )
    if sure:
        return True, True
    beside_it = _WORD_BEFORE.search(before) or _TURNED_BEFORE.search(before)
    if beside_it is not None:
        weight = weigh(beside_it[1].lower())
        if (weight.given or weight.family) and beside_it[1].lower() not in function_words():
            return weight.known and weight.odds > 0.6 and weight.given and not weight.everyday, True
    following = _WORD_AFTER.match(after) or _GIVEN_AFTER.match(after)
    if following is not None:
        weight = weigh(following[1].lower())
        if weight.known and (weight.given or weight.family) and weight.odds > -1.5:
            return _SPOKEN_BEFORE.search(before) is not None, True
    heads = (not before or before[-2:] == "| ") and following is not None
    return False, heads or _INITIAL_AFTER.match(after) is not None or _SPOKEN_BEFORE.search(before) is not None


@lru_cache(maxsize=1 << 14)
def nearest(low: str, *, sure: bool) -> str | None:
    """The most common name that is one typo away; where an everyday word is as near, only if a name must be there.

    >>> nearest("juditn", sure=False), nearest("bnown", sure=False), nearest("bnown", sure=True)
    ('judith', None, 'brown')
    """
    least = _COMMON if sure or len(low) > 5 else _VERY_COMMON
    people, near = gazetteer.people(), {one for one in typo_of(low) if one.isalpha()}
    words = near & gazetteer.everyday() | near & clinical_parts()
    if words and not sure:
        return None
    best: tuple[float, str] | None = None
    for one in near & people.keys():
        known = people[one]
        borne = max(known.given, known.surname)
        if one in words:
            borne = known.surname if known.surname >= _BORNE_BY_CROWDS else 0.0
        elif weigh(one).odds <= 0:
            continue
        if borne >= least and (best is None or (borne, one) > best):
            best = (borne, one)
    return best[1] if best else None


def _worth_asking(low: str) -> bool:
    """A cheap look first: most unknown words are far from any common name."""
    if len(low) < 5 or not low.isalpha() or weigh(low).why == "typo":
        return True
    return any(one in gazetteer.people() for one in misread(low))


def typo_of(low: str) -> Iterator[str]:
    """Words that one typo makes this one of: keys left out, struck twice, beside or swapped, glyphs misread."""
    for word in as_letters(low):
        if word != low:
            yield word
        yield from misread(word)
        for i in range(len(word)):
            head, tail = word[:i], word[i + 1 :]
            yield head + tail
            yield from (head + letter + tail for letter in _LETTERS if letter != word[i])
            yield from (head + letter + word[i:] for letter in _LETTERS)
            if tail:
                yield head + tail[0] + word[i] + tail[1:]


def _follows_name(before: str, after: str) -> bool:
    """'Candace ussell', 'Dr. odriguez', 'son eggie Palmer': where the first letter went, and the capital with it."""
    if _TITLE_BEFORE.search(before) or _LABEL_BEFORE.search(before) or _SIGNED_AFTER.match(after):
        return True
    first = _WORD_BEFORE.search(before)
    if first is not None:
        weight = weigh(first[1].lower())
        if weight.given and weight.known and weight.odds > 0 and not is_clinical_part(first[1].lower()):
            return True
    following = _WORD_AFTER.match(after) or _INITIAL_AND_WORD.match(after)
    if following is None:
        return False
    weight = weigh(following[1].lower())
    return weight.known and weight.family and weight.odds > -1.5


def may_lack_capital(word: str) -> bool:
    """Whether a word in small letters is a common name without its first letter."""
    return len(word) > 2 and _with_capital(word) is not None


@lru_cache(maxsize=1 << 14)
def _with_capital(word: str) -> str | None:
    best: tuple[float, str] | None = None
    for letter in _LETTERS:
        known = gazetteer.people().get(letter + word)
        if known is None or letter + word in gazetteer.everyday():
            continue
        borne = max(known.given, known.surname)
        if borne >= _COMMON and known.balance > -0.4 and (best is None or borne > best[0]):
            best = (borne, letter.upper() + word)
    return best[1] if best else None


def _doubled(word: str) -> str | None:
    """'CDarolina', 'TTammy': the capital was struck twice, or the key beside it too."""
    if word[0] != word[1] and not beside(word[0].lower(), word[1].lower()):
        return None
    for read in (word[0] + word[2:], word[1:]):
        known = gazetteer.people().get(read.lower())
        if known is not None and max(known.given, known.surname) >= 2.5:
            return read
    return None


def _written(word: str, name: str) -> str:
    letters = [letter for letter in word if letter.isalpha()]
    return name.upper() if len(letters) > 2 and all(map(str.isupper, letters)) else name.capitalize()


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
    return _TURNED.sub(_comma, plain)


def _stop(match: re.Match[str]) -> str:
    """A point after an initial between a given name and a surname; "vitamin A, Smith" keeps its comma."""
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
    return text[at].translate(_AS_INITIALS).upper()


def _is_given(low: str) -> bool:
    weight = weigh(low)
    return weight.given and weight.known and weight.odds > 0 and not weight.everyday and not is_clinical_part(low)


def _comma(match: re.Match[str]) -> str:
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


def titles(plain: str) -> Iterator[tuple[int, int, str]]:
    """Places of titles and saints before a name, and how they are to be read.

    >>> list(titles("Seen by Msq. Legg at Sf. Mary's General Hospital."))
    [(8, 11, 'Ms'), (21, 23, 'St')]
    """
    for stop in _POINT.finditer(plain):
        match = _SHORT_WORD.search(plain, max(0, stop.start() - 4), stop.start())
        if match is None:
            continue
        word = match[0]
        saint = len(word) == 2 and (word[0] in "S5" or word[1] == "t") and word not in ("St", "ST", "Mt", "Ft", "Sr")
        if saint and apart(word.lower(), "st", 1) == 1 and _SAINTS_HOSPITAL.match(plain, stop.end()):
            yield (*match.span(), "St" if word[1].islower() else "ST")
        elif word in _TITLES and _NAMED.match(plain, stop.end()):
            yield (*match.span(), _TITLES[word])
