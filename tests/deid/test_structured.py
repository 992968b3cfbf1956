"""Values with a shape or a label: every leaf that text can carry, and look-alikes that are none of them."""

from __future__ import annotations

import pytest

from tests.support.detected import found
from workup.deid import Deidentifier


@pytest.mark.parametrize(
    ("text", "surface", "leaf"),
    [
        ("MRN: 00-41-77", "00-41-77", "mrn"),
        ("Med Rec # HB-70600641 was pulled", "HB-70600641", "mrn"),
        ("SSN 219-09-1234 on file", "219-09-1234", "ssn"),
        ("SSN: XXX-XX-4821", "XXX-XX-4821", "ssn"),
        ("Call (617) 555-0142 ext. 12 today", "(617) 555-0142 ext. 12", "phone"),
        ("Fax: 617.555.0143", "617.555.0143", "fax"),
        ("reach her at +44 7700 900395", "+44 7700 900395", "phone"),
        ("Pager 40123", "40123", "phone"),
        ("write to rose.ng@example.org please", "rose.ng@example.org", "email"),
        ("write to r.ng at example dot org please", "r.ng at example dot org", "email"),
        ("See https://portal.example.com/p/1234567.", "https://portal.example.com/p/1234567", "url"),
        ("from 192.0.2.44 at night", "192.0.2.44", "ip"),
        ("from 2001:db8::1f at night", "2001:db8::1f", "ip"),
        ("device 00:00:5E:00:53:1D paired", "00:00:5E:00:53:1D", "mac"),
        ("card 4111 1111 1111 1111 declined", "4111 1111 1111 1111", "credit_card"),
        ("paid from IBAN DE89370400440532013000 twice", "DE89370400440532013000", "iban"),
        (
            "wallet 0x6008d69a9cc22a2b9e3227de1337a9a4201e9218 lost",
            "0x6008d69a9cc22a2b9e3227de1337a9a4201e9218",
            "crypto",
        ),
        ("VIN 1M8GDM9AXKP042788 towed", "1M8GDM9AXKP042788", "vin"),
        ("license plate 3WFL330 seen", "3WFL330", "plate"),
        ("Medicare 1EG4-TE5-MK73 active", "1EG4-TE5-MK73", "health_plan_id"),
        ("Member ID: XJH82910411", "XJH82910411", "health_plan_id"),
        ("NPI 1234567893", "1234567893", "license_provider"),
        ("DEA AB1234563 checked", "AB1234563", "license_provider"),
        ("driver's license P157-831-03-466", "P157-831-03-466", "license_person"),
        ("Passport: A94599523", "A94599523", "passport"),
        ("pump serial LPL574526P exchanged", "LPL574526P", "device_id"),
        ("fingerprint ID FP-104412 matched", "fingerprint ID FP-104412", "biometric"),
        ("sent IMG_2615.JPG by chat", "IMG_2615.JPG", "photo"),
        ("Guarantor account ACCT-33552162", "ACCT-33552162", "account"),
        ("refund account 3693761225", "3693761225", "bank_account"),
        ("Accession: S21-76649", "S21-76649", "id_other"),
        ("Username: etrevino", "etrevino", "username"),
    ],
)
def test_leaf(text: str, surface: str, leaf: str) -> None:
    assert (surface, leaf) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "Pain 7/10 today, strength 5/5 throughout, 3/4 strength solution, 1-2 tablets daily.",
        "BP 120/80, HR 72, T 98.6, SpO2 98%, weight 106 lb.",
        "A1C 7.2, CA-125 85 U/mL, hemoglobin 10.4 g/dL, WBC 14.0 K/uL, PSA 1.2.",
        "Give 1000 mg every 8 hours for 10 days; dose range 800-1000 calories.",
        "I:E ratio of 1:2 and epinephrine 1:10,000.",
        "CPT 99213, ICD-10 J45.909, HCPCS G2270.",
        "Version 1.2.3.4 of the protocol, 24/7 care.",
        "The patient will march in place and may rest.",
        "Parkinson disease, Foley catheter, Babinski sign, Crohn's disease, Stevens-Johnson syndrome.",
        "Started on Lyrica and Allegra; history of Hodgkin lymphoma.",
    ],
)
def test_what_must_stay(text: str) -> None:
    assert found(text) == []


def test_check_digits_decide() -> None:
    assert ("4111 1111 1111 1112", "credit_card") not in found("number 4111 1111 1111 1112 here")
    assert all(leaf != "vin" for _, leaf in found("1M8GDM9A1KP042788"))


def test_findings_say_why() -> None:
    (findings,) = Deidentifier.load(tagger="off").detect(["Dr. Ada Berg, NPI 1234567893"])
    title, name = findings[:2]
    assert (title.label, title.rule) == ("misc", "title.word")
    assert (name.rule, name.evidence[0]) == ("name.title", "title") and 0.5 <= name.score <= 1
    assert all("berg" not in " ".join(one.evidence).lower() for one in findings)
