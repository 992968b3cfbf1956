"""What Safe Harbor allows to stay of postal codes and ages: three digits, and 90+. Knows no label and no document.

Source: 45 CFR 164.514(b)(2)(i)(B) and (C)."""

from __future__ import annotations

import re

from workup.text.numbers import number_words
from workup.text.wordlists import words_of
from workup.values import addresses

# Areas of 20,000 people or fewer by the 2000 Census: the list of the Office for Civil Rights, "Guidance Regarding
# Methods for De-identification of Protected Health Information" (26 November 2012), question on ZIP codes.
RESTRICTED_ZIP3: frozenset[str] = words_of("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893")
# The same guidance says not to rely on that list where newer counts are out, so prefixes that became sparse since are
# taken too, and none is taken off.
SPARSE_ZIP3: frozenset[str] = RESTRICTED_ZIP3 | frozenset(addresses.SPARSE_PREFIXES)
NINETY = "90+"
OLDEST_TOLD = 89
_ZIP = re.compile(r"\d{5}(?:[-\s]?\d{4})?|\d{3}")
_DIGITS = re.compile(r"\d+")
_YOUNG = re.compile(r"\s*-?\s*(?:months?|mos?|weeks?|wks?|days?|hours?|hrs?)\b", re.IGNORECASE)
_AGES = {number_words(age, joint=joint): age for age in range(131) for joint in ("-", " ")}
_LONGEST = 40


def zip3(surface: str) -> str | None:
    """The first three digits of a postal code, or 000 where they reveal too much; None where it is not a ZIP code.

    >>> zip3("02115-1234"), zip3("03601"), zip3("036"), zip3("SW1A 1AA")
    ('021', '000', '000', None)
    """
    if not _ZIP.fullmatch(surface) or not surface.isascii():
        return None
    return "000" if surface[:3] in SPARSE_ZIP3 else surface[:3]


def age_of(surface: str, *, after: str = "") -> int | None:
    """The age in years that a number or number words say; None where they say none, or several.

    `after` is the text after it, where the unit may be: in months, weeks and days the age is 0.

    >>> age_of("93"), age_of("ninety-three"), age_of("093"), age_of("93-year-old"), age_of("elderly")
    (93, 93, 93, 93, None)
    >>> age_of("93", after=" months old"), age_of("18-month-old")
    (0, 0)
    """
    if len(surface) > _LONGEST:
        return None
    said = _AGES.get(" ".join(surface.casefold().split()))
    numbers = list(_DIGITS.finditer(surface))
    if said is None and (len(numbers) != 1 or len(numbers[0][0]) > 3):
        return None
    rest = after if said is not None else surface[numbers[0].end() :] + after
    if _YOUNG.match(rest):
        return 0
    return said if said is not None else int(numbers[0][0])


def ninety(surface: str) -> str:
    """An age of 90 or over as the one group that it may be given as; what is around its digits stays.

    >>> ninety("93"), ninety("93-year-old"), ninety("ninety-three")
    ('90+', '90+-year-old', '90+')
    """
    grouped, count = _DIGITS.subn(NINETY, surface)
    return grouped if count == 1 else NINETY
