"""Numbers that are valid by construction: their check digits are computed. Knows no patient.

Luhn: ISO/IEC 7812-1 annex B. NPI: Luhn over 80840 and the number (45 CFR 162.406). IBAN: ISO 13616, mod 97-10.
VIN: 49 CFR 565.15. GTIN: GS1 General Specifications. Wallets: Base58Check and BIP 173."""

from __future__ import annotations

import hashlib

_LETTERS_TO_DIGITS = {letter: str(place + 10) for place, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")}
_VIN_VALUES = dict(zip("0123456789ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "012345678912345678123457923456789"), strict=True))
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_STEPS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def luhn_digit(body: str) -> str:
    """The digit that closes a number under the Luhn formula.

    >>> luhn_digit("7992739871")
    '3'
    """
    total = 0
    for place, digit in enumerate(reversed(body)):
        total += int(digit) if place % 2 else _DOUBLED[int(digit)]
    return str(-total % 10)


def npi_number(digits: str) -> str:
    """A National Provider Identifier of ten digits; the first is 1 or 2.

    >>> npi_number("123456789")
    '1234567893'
    """
    body = ("1" if int(digits[0]) % 2 else "2") + digits[1:9]
    return body + luhn_digit("80840" + body)


def dea_number(registrant: str, family: str, digits: str) -> str:
    """A DEA registration: kind of registrant, first letter of the family name, six digits and their check digit.

    >>> dea_number("A", "Berg", "123456")
    'AB1234563'
    """
    letter = next((c for c in family.rpartition(" ")[2].upper() if "A" <= c <= "Z"), "X")
    odd, even = sum(map(int, digits[0:6:2])), sum(map(int, digits[1:6:2]))
    return f"{registrant}{letter}{digits[:6]}{(odd + 2 * even) % 10}"


def iban(country: str, account: str) -> str:
    """An IBAN from country and national account number.

    >>> iban("GB", "WEST12345698765432")
    'GB82WEST12345698765432'
    """
    number = int("".join(_LETTERS_TO_DIGITS.get(c, c) for c in f"{account}{country}00"))
    return f"{country}{98 - number % 97:02d}{account}"


def vin_number(body: str) -> str:
    """A vehicle identification number from seventeen characters; the ninth is replaced by the check digit.

    >>> vin_number("1M8GDM9A_KP042788".replace("_", "0"))
    '1M8GDM9AXKP042788'
    """
    total = sum(_VIN_VALUES[c] * weight for c, weight in zip(body, _VIN_WEIGHTS, strict=True))
    return f"{body[:8]}{'0123456789X'[total % 11]}{body[9:]}"


def gtin14(body: str) -> str:
    """A GTIN-14 from its first thirteen digits.

    >>> gtin14("0061414112345")
    '00614141123452'
    """
    total = sum(int(digit) * (1 if place % 2 else 3) for place, digit in enumerate(body))
    return f"{body}{-total % 10}"


def bitcoin_base58(version: int, digits: str) -> str:
    """A Bitcoin address of the old kind (version 0: 1…, version 5: 3…) of a hash made from digits."""
    body = bytes([version]) + hashlib.sha256(digits.encode()).digest()[:20]
    whole = body + hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4]
    number, text = int.from_bytes(whole, "big"), ""
    while number:
        number, rest = divmod(number, 58)
        text = _BASE58[rest] + text
    return "1" * (len(whole) - len(whole.lstrip(b"\0"))) + text


def _polymod(values: list[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for place, step in enumerate(_BECH32_STEPS):
            if top >> place & 1:
                check ^= step
    return check


def bitcoin_bech32(digits: str) -> str:
    """A Bitcoin address of witness version 0 (bc1q…) of a hash made from digits."""
    number = int.from_bytes(hashlib.sha256(digits.encode()).digest()[:20], "big")
    data = [0, *(number >> 5 * place & 31 for place in range(31, -1, -1))]
    check = _polymod([3, 3, 0, 2, 3, *data, 0, 0, 0, 0, 0, 0]) ^ 1  # 3, 3, 0, 2, 3: the prefix "bc" spread out
    return "bc1" + "".join(_BECH32[value] for value in (*data, *(check >> 5 * (5 - place) & 31 for place in range(6))))
