"""Numbers are valid by construction and lie in the ranges kept free for examples: judged by others' rules."""

from __future__ import annotations

import datetime
import ipaddress
import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.text import states
from workup.values import Patient, forms, make
from workup.values.check_digits import vin_number
from workup.values.draws import Chance

stdnum = pytest.importorskip("stdnum", reason="python-stdnum, which judges the check digits, is not installed")
from stdnum import bitcoin, ean, iban, imei, luhn, mac  # noqa: E402
from stdnum.us import ssn  # noqa: E402

SMALL = settings(max_examples=40, deadline=None)
patients = st.builds(Patient.of, st.integers(0, 2**32), st.integers(0, 10**6))
WHEN = datetime.date(2024, 5, 6)


def written(leaf: str, form: str, patient: Patient) -> str:
    return make(leaf, patient=patient, chance=Chance.of(1, leaf, form), when=WHEN, form=form).text


@SMALL
@given(patients)
def test_social_security(patient: Patient) -> None:
    number = written("ssn", "dashed", patient)
    assert ssn.is_valid(number)
    area, group, serial = number.split("-")
    assert area not in ("000", "666") and area[0] != "9" and group != "00" and serial != "0000"
    # Not issued before June 2011: no adult of the years before bears one.
    assert 734 <= int(area) <= 749 or 773 <= int(area) <= 899
    for form in forms("ssn"):
        assert written("ssn", form, patient)[-4:] == serial


@SMALL
@given(patients)
def test_provider_numbers(patient: Patient) -> None:
    for provider in patient.providers:
        assert re.fullmatch(r"[12]\d{9}", provider.npi)
        assert luhn.is_valid("80840" + provider.npi)
        digits = [int(c) for c in provider.dea[2:]]
        assert re.fullmatch(r"[ABFM][A-Z]\d{7}", provider.dea)
        assert (sum(digits[0:6:2]) + 2 * sum(digits[1:6:2])) % 10 == digits[6]


@SMALL
@given(patients)
def test_cards(patient: Patient) -> None:
    tests = ("400000", "411111", "424242", "555555", "510510", "222300", "378282", "371449", "601111")
    for form in ("spaced", "dashed", "bare", "mastercard", "amex", "amex_bare", "discover"):
        number = re.sub(r"\D", "", written("credit_card", form, patient))
        assert luhn.is_valid(number) and number.startswith(tests), form
        assert len(number) == (15 if "amex" in form else 16)


@SMALL
@given(patients)
def test_ibans(patient: Patient) -> None:
    for form in forms("iban"):
        assert iban.is_valid(written("iban", form, patient)), form


@SMALL
@given(patients)
def test_wallets(patient: Patient) -> None:
    for form in ("bitcoin", "bitcoin_script", "bitcoin_bech32"):
        assert bitcoin.is_valid(written("crypto", form, patient)), form
    assert re.fullmatch(r"0x[0-9a-f]{40}", written("crypto", "ethereum", patient))


def vin_is_valid(number: str) -> bool:
    """49 CFR 565.15(c), tables III to V, written out apart from the code under test."""
    values = {letter: value for letters, value in (("AJ", 1), ("BKS", 2), ("CLT", 3), ("DMU", 4), ("ENV", 5), ("FW", 6),
                                                   ("GPX", 7), ("HY", 8), ("RZ", 9)) for letter in letters}  # fmt: skip
    weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2]
    total = sum(weight * (int(c) if c.isdigit() else values[c]) for c, weight in zip(number, weights, strict=True))
    return number[8] == ("X" if total % 11 == 10 else str(total % 11))


@pytest.mark.parametrize("known", ["1M8GDM9AXKP042788", "11111111111111111", "1HGCM82633A004352", "5GZCZ43D13S812715"])
def test_known_vehicles(known: str) -> None:
    assert vin_is_valid(known)
    assert vin_number(known[:8] + "0" + known[9:]) == known


@SMALL
@given(patients)
def test_vehicles(patient: Patient) -> None:
    number = written("vin", "plain", patient)
    assert re.fullmatch(r"[A-HJ-NPR-Z0-9]{17}", number)
    assert vin_is_valid(number)
    assert number[9] not in "UZ0"  # the model year
    assert {re.sub(r"\W", "", written("vin", form, patient)).upper() for form in forms("vin")} == {number}


@SMALL
@given(patients)
def test_devices(patient: Patient) -> None:
    assert imei.is_valid(written("device_id", "imei", patient))
    product = written("device_id", "gtin", patient)
    assert ean.is_valid(product) and product[1:4] == "952"
    assert product in written("device_id", "udi", patient)


@SMALL
@given(patients)
def test_medicare_numbers(patient: Patient) -> None:
    number = written("health_plan_id", "medicare", patient)
    letter = "[AC-HJKMNP-RT-Y]"
    either = "[0-9AC-HJKMNP-RT-Y]"
    assert re.fullmatch(rf"[1-9]{letter}{either}\d{letter}{either}\d{letter}{letter}\d\d", number)
    assert written("health_plan_id", "medicare_dashed", patient).replace("-", "") == number


@SMALL
@given(patients)
def test_telephone_numbers_are_those_of_fiction(patient: Patient) -> None:
    areas = states.STATE[patient.home.state].area_codes
    for leaf in ("phone", "fax"):
        for form in forms(leaf):
            text = written(leaf, form, patient)
            if form == "british":
                assert re.fullmatch(r"020 7946 0\d{3}", text)
            elif form == "british_mobile":
                assert re.fullmatch(r"\+44 7700 900\d{3}", text)
            elif form == "pager":
                assert re.fullmatch(r"\d{5}", text)
            else:
                number = re.sub(r"\D", "", re.split(r" ?(?:ext\.|EXT|x|extension) ?", text)[0])
                assert number[-7:-2] == "55501", form
                assert len(number) == 7 or number[-10:-7] in areas, form
    assert len({patient.phone, patient.mobile, patient.work_phone, patient.fax}) == 4


RESERVED = re.compile(r"(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid)$")


@SMALL
@given(patients)
def test_domains_are_reserved(patient: Patient) -> None:
    for form in forms("email"):
        text = written("email", form, patient).lower().removeprefix("mailto:")
        text = text.replace(" [at] ", "@").replace(" [dot] ", ".").replace(" at ", "@").replace(" dot ", ".")
        local, _, domain = text.replace(" ", "").partition("@")
        assert re.fullmatch(r"[a-z0-9._+-]+", local), form
        assert RESERVED.search(domain), form
    for form in forms("url"):
        text = written("url", form, patient).lower()
        host = urlsplit(text if "://" in text else f"http://{text}").hostname or ""
        assert RESERVED.search(host), form


DOCUMENTS = [
    ipaddress.ip_network(block)
    for block in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20")
]


@SMALL
@given(patients)
def test_network_addresses_are_those_of_documents(patient: Patient) -> None:
    for form in forms("ip"):
        address = ipaddress.ip_address(written("ip", form, patient))
        inner = getattr(address, "ipv4_mapped", None) or address
        assert any(inner in block for block in DOCUMENTS if block.version == inner.version), form
    for form in ("colons", "colons_lower", "dashes"):
        assert mac.is_valid(written("mac", form, patient)), form
    free = ("00005E0053", "02005E1000", "01005E9010")  # RFC 7042: EUI-48, EUI-64 and multicast, for documents
    for form in forms("mac"):
        assert re.sub(r"[^0-9A-F]", "", written("mac", form, patient).upper()).startswith(free), form


@SMALL
@given(patients)
def test_an_address_is_of_one_state(patient: Patient) -> None:
    state = states.STATE[patient.home.state]
    assert patient.home.state_name == state.name
    assert state.zip_low <= int(patient.home.zip[:3]) <= state.zip_high
    assert re.fullmatch(r"\d{5}", patient.home.zip) and patient.home.zip[3:] != "00"
    assert patient.area_code in state.area_codes
    assert written("zip", "plus_four", patient) == f"{patient.home.zip}-{patient.home.plus_four}"


def test_a_prefix_of_three_digits_is_of_a_small_area() -> None:
    small = {"036", "059", "102", "203", "205", "369", "556", "692", "821", "823", "878", "879", "884", "893"}
    assert {written("zip", "sparse_prefix", Patient.of(1, index)) for index in range(400)} == small


def test_states_are_all_there_and_no_area_code_is_of_two() -> None:
    assert len(states.STATES) == 51
    codes = [code for state in states.STATES for code in state.area_codes]
    assert len(codes) == len(set(codes))
    prefixes = [p for state in states.STATES for p in range(state.zip_low, state.zip_high + 1)]
    assert len(prefixes) == len(set(prefixes))
