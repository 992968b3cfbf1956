"""Does a grouping speak of persons rather than of groups? A column with a level for nearly every patient, and names of
levels that look like record numbers, dates of birth, addresses or people. Knows levels and whose rows they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from workup.scores import MISSING, Levels
from workup.stats.arrays import Ints
from workup.text.calendar import SHORT_MONTHS

WARNING = "Warning, names of groups may identify people:"
FEWEST_LEVELS = 10  # below that a column with as many levels as patients may be honest data of very few patients
RECORD, DATE, ADDRESS, PERSON = "record numbers", "dates of birth", "e-mail addresses or telephone numbers", "people"

_RECORD = re.compile(
    r"(?:(?:mrn|nhs|ssn|hn|pid|pt|pat|case|rec)[-_:# ]*)?[a-z]{0,3}[-_/ ]?\d{6,}[-/ ]?[a-z\d]?"
    r"|(?:mrn|nhs|ssn|pid)[-_:# ]*\d{3,}"
    r"|\d{3}-\d{2}-\d{4}"
    r"|\d{3}[ -]\d{3}[ -]\d{4}"
    r"|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}",
    re.IGNORECASE,
)
_MONTH = re.compile(r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])")  # 202401: a month, not a number of anyone
_MONTHS = "|".join(SHORT_MONTHS)
_DATE = re.compile(
    r"(?:18|19|20)\d{2}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])(?:[T ]00:00(?::00)?)?"
    r"|(?:0?[1-9]|[12]\d|3[01])[-/.](?:0?[1-9]|[12]\d|3[01])[-/.](?:18|19|20)?\d{2}"
    r"|(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
    rf"|\d{{1,2}}[ -](?:{_MONTHS})[a-z]*[ -](?:18|19|20)?\d{{2}}"
    rf"|(?:{_MONTHS})[a-z]* \d{{1,2}},? (?:18|19|20)\d{{2}}",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}|(?:\+|00|\(0?)\d[\d ()/.-]{7,}\d|0\d{2,4}[ /-]\d[\d -]{5,}", re.I)
_TITLE = re.compile(r"(?:dr|mr|mrs|ms|miss|mx|prof|sr|sister|nurse)\.? [A-Z]", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# Enough of the commonest given names to know a list of people; a single one of them says little by itself.
_COMMON = """
    aaron adam ahmed alan albert alexander alice amanda amy ana andrea andrew angela ann anna anne anthony antonio
    arthur ashley barbara benjamin betty brandon brenda brian carlos carol caroline catherine charles charlotte
    christian christina christine christopher claire cynthia daniel david deborah dennis diane donald donna dorothy
    douglas edward elena elizabeth emily emma eric ethan eva fatima frances frank gary george gerald gloria grace
    gregory hannah harold harry heather helen henry hannah ian isabella jack jacob james jane janet jason jean jeffrey
    jennifer jeremy jessica joan joe john johnny jonathan jordan jose joseph joshua joyce juan judith judy julia julie
    justin karen katherine kathleen keith kelly kenneth kevin kimberly larry laura lauren lawrence linda lisa lucas
    lucy luis madison margaret maria marie marilyn mark martha martin mary matthew megan melissa michael michelle
    mohamed mohammed muhammad nancy natalie nathan nicholas nicole noah olivia oliver pamela patricia patrick paul
    peter philip rachel ralph raymond rebecca richard robert roger ronald rose roy russell ruth ryan samantha samuel
    sandra sara sarah scott sean sharon shirley simon sofia sophia sophie stephanie stephen steven susan teresa
    theresa thomas timothy tyler victoria vincent virginia walter wayne wei william zachary"""
_GIVEN = frozenset(_COMMON.split())
_PLACES = """
    academy borough building centre center clinic college county department east floor foundation general home
    hospice hospital house infirmary institute lodge medical memorial north practice region road royal saint school
    service services south street surgery team theatre trust unit university ward west wing"""
_NO_PERSON = frozenset(_PLACES.split())


def near_unique(levels: Levels, patient: Ints) -> bool:
    """Has the column nearly as many levels as patients: fewer than two patients a level on average?

    >>> ids = Levels.of([f"P{i}" for i in range(40)])
    >>> near_unique(ids, np.arange(40)), near_unique(Levels.of(["F", "M"] * 20), np.arange(40))
    (True, False)
    """
    known = np.array([name != MISSING for name in levels.names], dtype=bool)[levels.codes]
    held = int(np.unique(levels.codes[known]).size)
    # A patient with notes of several types is counted in each: types of notes are no persons, however few patients.
    members = np.unique(np.column_stack([levels.codes[known], patient[known]]), axis=0)
    return held >= FEWEST_LEVELS and 2 * held > len(members)


def refusal(name: str) -> str:
    """Why such a column is no grouping, and what would be."""
    return (
        f"groups: '{name}' has nearly as many levels as there are patients, so its groups would be single persons. "
        "To fix: name a column that many patients share, cut a number into bands, such as "
        f"{{column: {name}, cuts: [45, 65, 75]}}, or leave it out."
    )


def looks_like(names: Iterable[str]) -> dict[str, int]:
    """What the names of levels look like that no group should be called, and how many do.

    >>> looks_like(["MRN 0048213", "45 to <65", "2024", "E11.9", "12"]), looks_like(["Smith, John", "Jones, Mary"])
    ({'record numbers': 1}, {'people': 2})
    """
    found: dict[str, int] = {}
    plain = [name.strip() for name in names]
    people = sum(_names_a_person(name) for name in plain)
    for name in plain:
        kind = _kind(name)
        if kind is None and (_TITLE.match(name) or (people > 1 and _names_a_person(name))) and not _a_place(name):
            kind = PERSON
        if kind is not None:
            found[kind] = found.get(kind, 0) + 1
    return found


def name_warnings(groupings: Mapping[str, Levels]) -> list[str]:
    """A sentence for every column whose levels look like persons; never one of the names."""
    said = []
    for column, levels in groupings.items():
        held = [levels.names[code] for code in np.unique(levels.codes)] if len(levels) else []
        for kind, count in looks_like(held).items():
            many = "level looks" if count == 1 else "levels look"
            said.append(
                f"{WARNING} in the group '{column}' the name of {count} {many} like {kind}, and a report names its "
                "groups. To fix: leave the column out, or give its levels other names."
            )
    return said


def _kind(name: str) -> str | None:
    if _DATE.fullmatch(name):
        return DATE
    if _ADDRESS.fullmatch(name):
        return ADDRESS
    return RECORD if _RECORD.fullmatch(name) and not _MONTH.fullmatch(name) else None


def _names_a_person(name: str) -> bool:
    """ "Smith, John", "John Smith" or "John A. Smith": capitals, a given name among them, and nothing of a place."""
    words = _WORD.findall(name)
    if not 2 <= len(words) <= 4 or any(ch.isdigit() for ch in name) or _a_place(name):
        return False
    first = words[1] if "," in name else words[0]
    return all(word[0].isupper() for word in words) and first.casefold() in _GIVEN


def _a_place(name: str) -> bool:
    return any(word.casefold() in _NO_PERSON for word in _WORD.findall(name))
