"""Label tokens, masks and keyed hashes, and how text that was redacted before is recognised. Knows no entity."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from workup.documents.labels import BRANCHES, SCHEME, branch_of
from workup.errors import InputError
from workup.redaction.keys import Secret

UNKNOWN = "PHI"  # the label of a span whose own has no canonical name; it is replaced all the same
MASK = "\u2588"
HASH_DIGITS = 16  # 64 bits: among a million values a chance of 3 in 100 million that two share one
_SPECIAL = {
    "name_patient": "NAME", "name_relative": "NAME", "name_provider": "NAME", "street_address": "ADDRESS",
    "date": "DATE", "date_birth": "DATE", "date_death": "DATE", "date_relative": "DATE", "year_only": "YEAR",
    "age_over_89": "AGE", "age_under_90": "AGE", "facility_unit": "UNIT", "org_other": "ORG",
    "license_person": "LICENSE", "license_provider": "LICENSE", "nationality_religion_politics": "BACKGROUND",
    "id_other": "ID",
}  # fmt: skip
WORDS: Mapping[str, str] = MappingProxyType(
    {leaf: _SPECIAL.get(leaf, leaf.upper()) for leaf in SCHEME}
    | {branch: branch for branch in BRANCHES}
    | {UNKNOWN: UNKNOWN}
)
# Words of other tools' tokens: Presidio's <PERSON>, scrubadub's {{NAME}}, the [REDACTED] of many. Not [DOCTOR] and
# [PATIENT], which name the speakers of a transcript.
_OTHERS = (
    "PERSON", "LOCATION", "DATE_TIME", "EMAIL_ADDRESS", "PHONE_NUMBER", "US_SSN", "IP_ADDRESS", "HOSPITAL",
    "ORGANIZATION", "REDACTED", "DEIDENTIFIED",
)  # fmt: skip
# Clinical terms are never replaced, so that [LAB] is no token of anybody's.
_OURS = {word for label, word in WORDS.items() if label == UNKNOWN or branch_of(label) != "CLIN"}
_KNOWN = "|".join(sorted({*_OURS, *_OTHERS}, key=lambda word: (-len(word), word)))
_TOKEN = re.compile(rf"\[({'|'.join(sorted(_OURS, key=lambda word: (-len(word), word)))})-(\d{{1,6}})\]")
_REDACTED = re.compile(
    rf"\[(?:{_KNOWN})(?:-\d{{1,6}}|:[0-9a-f]{{8,64}})?\]|<(?:{_KNOWN})(?:[-_]\d{{1,6}})?>|\{{\{{(?:{_KNOWN})(?:-\d{{1,6}})?\}}\}}"
    rf"|\[\*\*|{MASK}{{2}}"
)


def token(label: str, number: int) -> str:
    """What stands for the number-th thing of its kind.

    >>> token("name_patient", 1), token("mrn", 2), token("GEO", 1)
    ('[NAME-1]', '[MRN-2]', '[GEO-1]')
    """
    return f"[{WORDS[label]}-{number}]"


def mask(surface: str, *, character: str = MASK) -> str:
    """As many marks as there were characters; line ends stay, so that lines do.

    >>> mask("Ann Lee", character="#")
    '#######'
    """
    return "".join(one if one in "\r\n" else character for one in surface)


def check_mask(character: str) -> str:
    """A mask is one printable character that is no letter, digit or blank."""
    if len(character) != 1 or not character.isprintable() or character.isalnum() or character.isspace():
        raise InputError(
            "a mask is one printable character that is no letter, digit or blank",
            got=f"{len(character)} characters" if len(character) != 1 else "another kind of character",
            remedy="use * or #",
        )
    return character


def hashed(label: str, value: str, *, secret: Secret) -> str:
    """A token with the keyed hash (HMAC-SHA-256) of a normalised value: the same wherever the key is.

    Without the key nobody can test a guess, which is what sets it apart from a salted hash.

    >>> hashed("mrn", "00482913", secret=Secret(b"0123456789abcdef"))
    '[MRN:fa9d5489b75330de]'
    """
    word = WORDS[label]
    return f"[{word}:{secret.mac('hash', word, value).hex()[:HASH_DIGITS]}]"


def is_redacted(text: str) -> bool:
    """Whether a text holds tokens, masks or hashes of ours, or tokens of tools in common use.

    >>> is_redacted("Seen by [NAME-1]."), is_redacted("Seen by <PERSON>."), is_redacted("Bed [ICU-2], pain [5-10]")
    (True, True, False)
    """
    return _REDACTED.search(text) is not None


def highest(text: str) -> dict[str, int]:
    """The largest number of each kind of token that is in a text already; new ones are counted from there.

    >>> highest("[NAME-2] and [NAME-7] on [DATE-1]")
    {'NAME': 7, 'DATE': 1}
    """
    found: dict[str, int] = {}
    for match in _TOKEN.finditer(text):
        found[match[1]] = max(found.get(match[1], 0), int(match[2]))
    return found
