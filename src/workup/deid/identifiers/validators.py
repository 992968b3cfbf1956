"""Second looks at a candidate: check digits and rules of issuance. Each takes the surface and says whether it holds."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from workup.deid.word_lists import words

_NOT_DIGIT = re.compile(r"\D")
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_VIN_VALUES = {
    letter: int(value) for letter, value in zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True)
}
_CLINICAL_PREFIXES = words("identifiers.clinical_prefixes")


def digits(surface: str) -> str:
    """The digits of a surface.

    >>> digits("(401) 555-01")
    '40155501'
    """
    return _NOT_DIGIT.sub("", surface)


def luhn(surface: str) -> bool:
    """The check digit of payment cards (ISO/IEC 7812).

    >>> luhn("4111 1111 1111 1111"), luhn("4111 1111 1111 1112")
    (True, False)
    """
    total = 0
    for place, character in enumerate(reversed(digits(surface))):
        double = int(character) * (2 if place % 2 else 1)
        total += double - 9 if double > 9 else double
    return total % 10 == 0


def card(surface: str) -> bool:
    """A card number by length, first digits and check digit."""
    number = digits(surface)
    return 13 <= len(number) <= 19 and number[0] in "23456" and luhn(number)


def npi(surface: str) -> bool:
    """A National Provider Identifier: Luhn with 80840 before it."""
    number = digits(surface)
    return len(number) == 10 and luhn("80840" + number)


def ssn(surface: str) -> bool:
    """Never issued: area 000, 666 or from 900 on, group 00, serial 0000."""
    number = digits(surface)
    return len(number) == 9 and number[:3] not in ("000", "666") and number[0] != "9" and number[3:5] != "00"


def dea(surface: str) -> bool:
    """A DEA number: the sum of its digits, every second twice, ends in the last.

    >>> dea("AB1234563"), dea("AB1234564")
    (True, False)
    """
    number = digits(surface[2:])
    if len(number) != 7:
        return False
    total = sum(map(int, number[0:6:2])) + 2 * sum(map(int, number[1:6:2]))
    return total % 10 == int(number[6])


def vin(surface: str) -> bool:
    """A vehicle identification number by its check digit at the ninth place (49 CFR 565).

    >>> vin("1M8GDM9AXKP042788")
    True
    """
    number = surface.upper().replace(" ", "").replace("-", "")
    if len(number) != 17 or number.isalpha():
        return False
    values = [int(c) if c.isdigit() else _VIN_VALUES.get(c, -1) for c in number]
    if min(values) < 0:
        return False
    rest = sum(v * w for v, w in zip(values, _VIN_WEIGHTS, strict=True)) % 11
    return number[8] == ("X" if rest == 10 else str(rest))


def iban(surface: str) -> bool:
    """ISO 13616: the rest by 97 is one."""
    number = surface.upper().replace(" ", "")
    moved = number[4:] + number[:4]
    return moved.isalnum() and moved.isascii() and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def ipv4(surface: str) -> bool:
    """Four numbers up to 255; versions such as 1.2.3.4 are none, since a network rarely is that low."""
    parts = surface.rpartition(":")[2].split(".")
    return all(int(part) <= 255 for part in parts) and int(parts[0]) > 9


def ipv6(surface: str) -> bool:
    """An address as RFC 4291 writes it."""
    try:
        ipaddress.IPv6Address(surface)
    except ValueError:
        return False
    return surface.count(":") >= 2 and any(map(str.isalnum, surface)) and len(surface) > 4


def phone(surface: str) -> bool:
    """North American: neither area nor exchange opens with 0 or 1; ten digits, an extension apart."""
    number = digits(re.split(r"[xeE]", surface, maxsplit=1)[0])
    number = number.removeprefix("00")
    if len(number) == 11 and number[0] == "1":
        number = number[1:]
    return len(number) == 10 and number[0] not in "01" and number[3] not in "01"


def mixed(surface: str) -> bool:
    """Letters and digits both."""
    return any(map(str.isdigit, surface)) and any(map(str.isalpha, surface))


def prefixed(surface: str) -> bool:
    """A prefix that is no name of a test, marker or code system."""
    letters = re.match(r"[A-Z]{0,8}", surface)
    return letters is None or letters[0] not in _CLINICAL_PREFIXES or sum(map(str.isdigit, surface)) > 7


def lone_digits(surface: str) -> bool:
    """A long number that is neither round nor a run of one digit."""
    return not surface.endswith("000") and len(set(surface)) > 2


def lone_groups(surface: str) -> bool:
    """Groups of digits that are too long for a range of values or a day."""
    groups = surface.split("-")
    return len(digits(surface)) >= 7 and prefixed(surface) and (len(groups) > 2 or max(map(len, groups)) > 4)


def hexadecimal(surface: str) -> bool:
    """Groups of hexadecimal digits but for a typo or two; hours and minutes are too few."""
    solid = [c for c in surface if c.isalnum()]
    figures, other = sum(map(str.isdigit, solid)), sum(c not in "0123456789abcdefABCDEF" for c in solid)
    return len(solid) >= 9 and figures >= 4 and other <= 2 and not (surface.isdigit() and len(solid) < 11)


def nine_to_eleven(surface: str) -> bool:
    """As many digits as a telephone number with one too few or too many."""
    return 9 <= len(digits(re.split(r"[xeE]", surface, maxsplit=1)[0])) <= 11


def ten_to_fourteen(surface: str) -> bool:
    """As many digits as a telephone number with the code of its country, one too few or too many."""
    return 10 <= len(digits(surface)) <= 14


def eight_to_thirteen(surface: str) -> bool:
    """As many digits as telephone numbers have, wherever in the world."""
    return 7 <= len(digits(surface)) <= 13


def plate(surface: str) -> bool:
    """Long enough for a plate; "HR 63" is none."""
    return sum(map(str.isalnum, surface)) >= 5


def long_code(surface: str) -> bool:
    """A long run of letters and digits that is no word."""
    return sum(map(str.isdigit, surface)) >= 4 and sum(map(str.isalpha, surface)) >= 2


def mostly_digits(surface: str) -> bool:
    """Six digits or more with a few letters among them: a number of a record, not the code of a test or a disease."""
    figures, letters = sum(map(str.isdigit, surface)), sum(map(str.isalpha, surface))
    return figures >= 6 and 1 <= letters <= 4 and figures > letters and prefixed(surface)


def login(surface: str) -> bool:
    """Letters before digits that are neither a word nor a clinical term by themselves, or an initial and a surname."""
    from workup.deid.names.word_weights import weigh

    letters = surface.rstrip("0123456789").lower()
    if weigh(letters).why in ("word", "clinical", "ambiguous"):
        return False
    parts = [weigh(part) for part in (letters, letters[1:], letters[:-1])]
    return not parts[0].known or any(part.family for part in parts)


CHECKS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        check.__name__: check
        for check in (
            luhn, card, npi, ssn, dea, vin, iban, ipv4, ipv6, phone, mixed, prefixed, lone_digits, lone_groups, login,
            hexadecimal, nine_to_eleven, ten_to_fourteen, eight_to_thirteen, plate, long_code, mostly_digits,
        )
    }
)  # fmt: skip
