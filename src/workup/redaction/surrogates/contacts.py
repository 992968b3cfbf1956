"""Telephone numbers and addresses of networks that stand for others: same form, ranges reserved for examples.

Knows no patient; every draw comes from the caller's chance."""

from __future__ import annotations

import re
from collections.abc import Callable

from workup.redaction.surrogates.identifiers import reshaped
from workup.text import states
from workup.text.wordlists import words_of
from workup.values.draws import Chance
from workup.values.vocabulary import DOMAINS

_EXTENSION = re.compile(r"\s*,?\s*(?:ext(?:ension)?\.?|x)\s*\d", re.IGNORECASE)
_AREAS = tuple(sorted({area for state in states.STATES for area in state.area_codes}))
_FREE_V4 = ("192.0.2", "198.51.100", "203.0.113")  # RFC 5737
_V4 = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
LONGEST = 300
_ORDINARY = words_of(
    "www http https ftp portal mychart patients patient records view in blog post files studies scan j p pdf html php "
    "jpg png index login visit id mrn user users home page telehealth pacs"
)


def phone(surface: str, *, chance: Chance, line: Chance) -> str | None:
    """A number in the same form: 555-01xx with another area code where it has ten digits, else drawn digits.

    `line` draws the number itself, so that it is the same in every form; `chance` what is around it.

    >>> from workup.values.draws import Chance
    >>> one, other = (phone(said, chance=Chance.of(1, "x"), line=Chance.of(1, "y"))
    ...               for said in ("(617) 723-4411 x12", "617.723.4411"))
    >>> one[6:13], one[1:4] == other[:3], one[14:16]
    ('555-012', True, ' x')
    """
    if len(surface) > LONGEST:
        return None
    cut = _EXTENSION.search(surface)
    head, tail = (surface[: cut.start()], surface[cut.start() :]) if cut else (surface, "")
    digits = [one for one in head if one.isdigit()]
    if not digits or any(one.isalpha() for one in head):
        return reshaped(surface, chance=chance) if digits else None
    said = "".join(digits)
    country = 1 if len(said) == 11 and said[0] == "1" else 3 if len(said) == 13 and said.startswith("001") else 0
    own = len(digits) - country
    if own in (7, 10):
        new = (line.pick(_AREAS) if own == 10 else "") + f"55501{line.integer(0, 99):02d}"
    else:
        # Abroad or within an organisation: the code after + stays, the rest is drawn.
        country = 2 if head.lstrip().startswith("+") and own > 7 else 0
        new = line.digits(len(digits) - country)
    written = _digits_in(head, "".join(digits[:country]) + new)
    return written + re.sub(r"\d+", lambda run: chance.digits(len(run[0])), tail)


def line_key(surface: str) -> str:
    """The digits of a number without extension and country code: what two forms of one number share.

    >>> line_key("+1 (617) 723-4411 x12") == line_key("617.723.4411")
    True
    """
    cut = _EXTENSION.search(surface)
    digits = "".join(one for one in (surface[: cut.start()] if cut else surface) if one.isdigit())
    if len(digits) == 13 and digits.startswith("001"):
        return digits[3:]
    return digits[1:] if len(digits) == 11 and digits[0] == "1" else digits


def _digits_in(form: str, digits: str) -> str:
    left = iter(digits)
    return "".join(next(left) if one.isdigit() else one for one in form)


def email(surface: str, *, domain: Chance, handle: Callable[[str], str]) -> str | None:
    """An address at a reserved domain; the left side is written by `handle`, which knows the patient's names.

    Reads "a.lee@clinic.org", "a.lee at clinic dot org" and "a.lee [at] clinic [dot] org".
    """
    if len(surface) > LONGEST:
        return None
    found = re.search(r"\s*@\s*|\s+(?:at|\[at\]|\(at\))\s+", surface, re.IGNORECASE)
    if found is None or found.start() == 0:
        return None
    left, right = surface[: found.start()], surface[found.end() :]
    scheme = left[:7] if left[:7].casefold() == "mailto:" else ""
    dot = next((mark for mark in (" [dot] ", " (dot) ", " dot ") if mark in right.casefold()), ".")
    new = domain.pick(DOMAINS).replace(".", dot)
    local, plus, tag = left[len(scheme) :].partition("+")
    return (
        f"{scheme}{handle(local)}{plus}{handle(tag) if tag else ''}{found[0]}{new.upper() if right.isupper() else new}"
    )


def url(surface: str, *, chance: Chance, domain: Chance, handle: Callable[[str], str]) -> str | None:
    """An address of the same build at a reserved domain; digits are drawn, and words that are not of every day."""
    if len(surface) > LONGEST or any(one.isspace() for one in surface):
        return None
    scheme, mark, rest = surface.rpartition("://")
    found = re.match(r"[^/?#:]*", rest)
    host = found[0] if found else ""
    if "." not in host:
        return None
    new = ("www." if host.casefold().startswith("www.") else "") + domain.pick(DOMAINS)
    path = [_step(part, chance, handle) for part in re.findall(r"[^\W_]+|[\W_]", rest[len(host) :])]
    return f"{scheme}{mark}{new.upper() if host.isupper() else new}{''.join(path)}"


def _step(part: str, chance: Chance, handle: Callable[[str], str]) -> str:
    if not part[0].isalnum() or part.casefold() in _ORDINARY:
        return part
    return handle(part) if part.isalpha() else reshaped(part, chance=chance)


def ip(surface: str, *, chance: Chance) -> str | None:
    """An address of the ranges for documents (RFC 5737 and 3849), in the same form."""
    head, _, last = surface.rpartition(":")
    if _V4.fullmatch(last):
        new = f"{chance.pick(_FREE_V4)}.{chance.integer(1, 254)}"
        return f"{head}:{new}" if head else new
    if len(surface) > 45 or not re.fullmatch(r"[0-9A-Fa-f:]{2,}", surface) or surface.count(":") < 2:
        return None
    groups = surface.split(":")
    drawn = [chance_hex(group, chance) for group in groups]
    if len(groups[0]) and len(groups) > 2:
        drawn[0] = "2001"
        drawn[1] = ("0db8" if len(groups[1]) == 4 else "db8") if groups[1] else ""
    new = ":".join(drawn)
    return new.upper() if surface != surface.lower() else new


def chance_hex(group: str, chance: Chance) -> str:
    """As many hexadecimal digits as there were."""
    return "".join(chance.pick("0123456789abcdef"[place == 0 :]) for place, _ in enumerate(group))


def mac(surface: str, *, chance: Chance) -> str | None:
    """A locally administered hardware address (it begins with 02), which no maker gives to a device."""
    if not is_mac(surface):
        return None
    new = f"02005e{chance_hex('0' * (sum(map(str.isalnum, surface)) - 6), chance)}"
    left = iter(new if surface == surface.lower() else new.upper())
    return "".join(next(left) if one.isalnum() else one for one in surface)


def is_mac(surface: str) -> bool:
    """Whether an address is of hardware: six or eight pairs, all given."""
    body = surface.translate(str.maketrans("", "", ":-."))
    return len(body) in (12, 16) and bool(re.fullmatch(r"[0-9A-Fa-f]+", body)) and "::" not in surface
