"""Bank accounts, payment cards and wallets, with right check digits.

Cards begin with prefixes that payment processors publish for tests."""

from __future__ import annotations

from workup.values import check_digits
from workup.values.patients import Patient
from workup.values.surfaces import Forms, fours, grouped, own

_BANK, _CARD, _IBAN, _CRYPTO = 4, 5, 6, 7  # places of the patient's digits


def _card(patient: Patient, prefix: str, length: int) -> str:
    body = prefix + patient.own(_CARD)[: length - 1 - len(prefix)]
    return body + check_digits.luhn_digit(body)


def _visa(patient: Patient) -> str:
    return _card(patient, ("400000", "411111", "424242")[int(patient.own(_CARD)[15]) % 3], 16)


def _german(patient: Patient) -> str:
    return check_digits.iban("DE", f"1000000{patient.own(_IBAN, 11)}")


LEAVES: dict[str, Forms] = {
    "bank_account": own(
        "bank",
        {
            "bare": lambda p: p.own(_BANK, 10),
            "long": lambda p: p.own(_BANK, 12),
            "dashed": lambda p: grouped(p.own(_BANK), 3, 3, 4, joint="-"),
            "spaced": lambda p: grouped(p.own(_BANK), 4, 4, 4),
            "masked": lambda p: f"xxxxxx{p.own(_BANK)[6:10]}",
            "sort_code": lambda p: f"{grouped(p.own(_BANK)[8:], 2, 2, 2, joint='-')} {p.own(_BANK, 8)}",
        },
        usual=("bare",),
        others=("sort_code",),
    ),
    "credit_card": own(
        "card",
        {
            "spaced": lambda p: fours(_visa(p)),
            "dashed": lambda p: fours(_visa(p)).replace(" ", "-"),
            "bare": _visa,
            "mastercard": lambda p: fours(_card(p, ("555555", "510510", "222300")[int(p.own(_CARD)[14]) % 3], 16)),
            "amex": lambda p: grouped(_card(p, ("378282", "371449")[int(p.own(_CARD)[13]) % 2], 15), 4, 6, 5),
            "amex_bare": lambda p: _card(p, ("378282", "371449")[int(p.own(_CARD)[13]) % 2], 15),
            "discover": lambda p: fours(_card(p, "601111", 16)),
            "masked": lambda p: f"XXXX-XXXX-XXXX-{_visa(p)[-4:]}",
            "masked_stars": lambda p: f"**** **** **** {_visa(p)[-4:]}",
        },
        usual=("spaced", "dashed", "bare"),
        others=("mastercard", "amex", "amex_bare", "discover"),
    ),
    "iban": own(
        "iban",
        {
            "german": lambda p: fours(_german(p)),
            "german_bare": _german,
            "german_lower": lambda p: _german(p).lower(),
            "british": lambda p: fours(check_digits.iban("GB", f"XXXX{p.own(_IBAN, 14)}")),
            "dutch": lambda p: fours(check_digits.iban("NL", f"XXXX{p.own(_IBAN, 10)}")),
            "swiss": lambda p: fours(check_digits.iban("CH", f"00000{p.own(_IBAN, 12)}")),
            "austrian": lambda p: check_digits.iban("AT", f"{p.own(_IBAN, 16)}"),
            "irish": lambda p: fours(check_digits.iban("IE", f"XXXX{p.own(_IBAN, 14)}")),
        },
        usual=("german",),
        others=("british", "dutch", "swiss", "austrian", "irish"),
    ),
    "crypto": own(
        "wallet",
        {
            "bitcoin": lambda p: check_digits.bitcoin_base58(0, p.own(_CRYPTO)),
            "bitcoin_script": lambda p: check_digits.bitcoin_base58(5, p.own(_CRYPTO)),
            "bitcoin_bech32": lambda p: check_digits.bitcoin_bech32(p.own(_CRYPTO)),
            # All in lower case: the mixed case of EIP-55 carries a checksum, its absence is valid.
            "ethereum": lambda p: f"0x{int(p.own(_CRYPTO) + p.own(_IBAN) + p.own(_CARD)):040x}",
        },
        others=("bitcoin", "bitcoin_script", "bitcoin_bech32", "ethereum"),
    ),
}  # fmt: skip
