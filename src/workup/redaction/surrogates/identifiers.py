"""Numbers that stand for numbers: the same shape, and a right check digit where the original has one.

Valid test ranges where they exist. Knows no patient; every draw comes from the caller's chance."""

from __future__ import annotations

import re
from collections.abc import Callable

from workup.text.wordlists import words_of
from workup.values import check_digits
from workup.values.draws import Chance
from workup.values.patients import social_security

# Words that say what a number is, not whose: they stay.
_KEPT = words_of(
    "mr mrn mrno id no num acct account acc inv clm claim sn lot grp rx cdl faa sp emp ord vin udi ref case badge "
    "img dsc photo face front media photos jpg jpeg png pdf fingerprint voiceprint iris template retinal scan palm "
    "vein facial photograph bio fp vp ir serial number ending in last four card plate policy member group"
)
_RUNS = re.compile(r"\d+|[^\W\d_]+|[\W_]")
_LETTERS = "ABCDEFGHJKLMNPRSTVWXYZ"  # no vowel but A and E, so that no word comes about; no I, O, Q, U
_HEX = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,}|(?=[0-9A-F]*\d)(?=[0-9A-F]*[A-F])[0-9A-F]{16,}")
_BLANKS = str.maketrans("", "", " -.\t")
_CARDS = {
    "4": ("400000", "411111", "424242"),
    "5": ("555555", "510510"),
    "2": ("222300",),
    "3": ("378282", "371449"),
    "6": ("601111",),
}
_MBI = re.compile(r"[1-9][A-Z][A-Z0-9]\d[A-Z][A-Z0-9]\d[A-Z]{2}\d{2}")
_MBI_LETTERS = "ACDEFGHJKMNPQRTUVWXY"
_VIN = re.compile(r"[A-HJ-NPR-Z0-9]{17}")
LONGEST = 200
Exchange = Callable[[str], str]


def identifier(surface: str, *, label: str, chance: Chance, initial: Exchange) -> str | None:
    """A number of the same kind and shape; None for a passage that is no number at all.

    `initial` exchanges the letter of a name that is part of a number (the second of a DEA registration).

    >>> from workup.values.draws import Chance
    >>> new = identifier("4111 1111 1111 1111", label="credit_card", chance=Chance.of(1, "x"), initial=str)
    >>> len(new), new[4], check_digits.luhn_digit(new.replace(" ", "")[:-1]) == new[-1]
    (19, ' ', True)
    """
    if len(surface) > LONGEST or not any(one.isalnum() for one in surface):
        return None
    body = surface.translate(_BLANKS)
    upper = body.upper()
    if body.isascii():
        for known in (_ssn, _card, _npi, _dea, _iban, _vin, _mbi, _gtin, _imei, _wallet):
            found = known(upper if known is not _wallet else body, label, chance, initial)
            if found is not None:
                return _laid_out(found.lower() if body.islower() else found, surface)
    return reshaped(surface, chance=chance)


def _laid_out(new: str, surface: str) -> str:
    """New characters in the places of the old ones, with the same marks between them."""
    characters = iter(new)
    written = "".join(one if one in " -.\t" else next(characters, "") for one in surface)
    return written + "".join(characters)


def reshaped(surface: str, *, chance: Chance) -> str:
    """Digits for digits and letters for letters; leading zeros, masks (XXX) and words such as MRN stay.

    One draw for each letter or digit: however a number is spaced, it becomes the same other number.

    >>> from workup.values.draws import Chance
    >>> one, other = (reshaped(said, chance=Chance.of(1, "x")) for said in ("MRN-00482913", "MRN 0048 2913"))
    >>> one[:6], one[6:].isdigit(), other.replace(" ", "-", 1).replace(" ", "") == one
    ('MRN-00', True, True)
    """
    hexadecimal = bool(_HEX.fullmatch(surface.replace("-", "")))
    parts: list[str] = []
    seen = False  # whether the number has begun: zeros before it stay
    for run in _RUNS.findall(surface):
        if not run[0].isalnum() or _stays(run):
            parts.append(run)
            continue
        for one in run:
            parts.append(_other(one, chance.uniform(), opening=not seen, hexadecimal=hexadecimal))
            seen = seen or one != "0"
    return "".join(parts)


def _stays(run: str) -> bool:
    return run.casefold() in _KEPT or (len(run) > 1 and set(run.casefold()) == {"x"})


def _other(one: str, draw: float, *, opening: bool, hexadecimal: bool) -> str:
    if hexadecimal:
        new = "0123456789abcdef"[int(draw * 16)]
        return new.upper() if one.isupper() else new
    if not one.isdigit():
        new = _LETTERS[int(draw * len(_LETTERS))]
        return new if one.isupper() else new.lower()
    if opening:
        return one if one == "0" else str(1 + int(draw * 9))
    return str(int(draw * 10))


# ---- numbers with a form of their own: each answers None where the original is not one ------------------------------


def _ssn(body: str, label: str, chance: Chance, initial: Exchange) -> str | None:
    if label != "ssn" or not body.isdigit() or len(body) != 9:
        return None
    return social_security(chance.digits(16)).replace("-", "")


def _card(body: str, label: str, chance: Chance, initial: Exchange) -> str | None:
    if label not in ("credit_card", "ID") or not body.isdigit() or not 13 <= len(body) <= 19:
        return None
    if check_digits.luhn_digit(body[:-1]) != body[-1]:
        return None
    prefix = chance.pick(_CARDS.get(body[0], _CARDS["4"]))
    whole = prefix + chance.digits(len(body) - 1 - len(prefix))
    return whole + check_digits.luhn_digit(whole)


def _npi(body: str, label: str, chance: Chance, initial: Exchange) -> str | None:
    if label != "license_provider" or not body.isdigit() or len(body) != 10 or body[0] not in "12":
        return None
    right = check_digits.luhn_digit("80840" + body[:-1]) == body[-1]
    return check_digits.npi_number(chance.digits(9)) if right else None


def _dea(body: str, label: str, chance: Chance, initial: Exchange) -> str | None:
    if label not in ("license_provider", "ID") or not re.fullmatch(r"[A-Z]{2}\d{7}", body):
        return None
    if check_digits.dea_number(body[0], body[1], body[2:8]) != body:
        return None
    return check_digits.dea_number(body[0], initial(body[1]), chance.digits(6))


def _iban(body: str, label: str, chance: Chance, initial: Exchange) -> str | None:
    if label not in ("iban", "ID") or not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", body):
        return None
    if check_digits.iban(body[:2], body[4:]) != body:
        return None
    account = "".join(chance.digits(1) if one.isdigit() else chance.pick(_LETTERS) for one in body[4:])
    return check_digits.iban(body[:2], account)


def _vin(body: str, label: str, chance: Chance, initial: Exchange) -> str | None:
    if label not in ("vin", "ID") or not _VIN.fullmatch(body) or check_digits.vin_number(body) != body:
        return None
    return check_digits.vin_number(
        "".join(chance.digits(1) if one.isdigit() else chance.pick(_LETTERS) for one in body)
    )


def _mbi(body: str, label: str, chance: Chance, initial: Exchange) -> str | None:
    """A Medicare number: its letters leave out S, L, O, I, B and Z, its first digit is none of 0."""
    if label not in ("health_plan_id", "ID") or not _MBI.fullmatch(body):
        return None
    rest = "".join(chance.digits(1) if one.isdigit() else chance.pick(_MBI_LETTERS) for one in body[1:])
    return f"{chance.integer(1, 9)}{rest}"


def _gtin(body: str, label: str, chance: Chance, initial: Exchange) -> str | None:
    """A product number, alone or in a device identifier: (01) and fourteen digits, then (21) and a serial."""
    found = re.fullmatch(r"(\(01\))?(\d{14})((?:\(\d{2}\)[A-Z0-9]{1,20}){0,4})", body)
    if label != "device_id" or found is None or check_digits.gtin14(found[2][:13]) != found[2]:
        return None
    parts = re.split(r"(\(\d{2}\))", found[3])
    rest = "".join(part if part.startswith("(") else reshaped(part, chance=chance) for part in parts)
    return f"{found[1] or ''}{check_digits.gtin14('0952' + chance.digits(9))}{rest}"


def _imei(body: str, label: str, chance: Chance, initial: Exchange) -> str | None:
    if label != "device_id" or not body.isdigit() or len(body) != 15 or check_digits.luhn_digit(body[:-1]) != body[-1]:
        return None
    whole = "00101" + chance.digits(9)
    return whole + check_digits.luhn_digit(whole)


def _wallet(body: str, label: str, chance: Chance, initial: Exchange) -> str | None:
    if label != "crypto":
        return None
    if re.fullmatch(r"0[xX][0-9a-fA-F]{40}", body):
        # In small letters: the mixed case of EIP-55 is a checksum, its absence is valid.
        return "0x" + "".join(chance.pick("0123456789abcdef") for _ in range(40))
    if body.lower().startswith("bc1"):
        return check_digits.bitcoin_bech32(chance.digits(20))
    if re.fullmatch(r"[13][1-9A-HJ-NP-Za-km-z]{24,34}", body):
        return check_digits.bitcoin_base58(0 if body[0] == "1" else 5, chance.digits(20))
    return None
