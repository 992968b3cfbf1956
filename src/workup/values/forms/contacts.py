"""Telephone, fax, electronic mail and network addresses, all from ranges that are reserved for examples.

Telephone numbers end in 555-01xx (Ofcom's numbers for drama where British); domains are those of RFC 2606 and RFC 6761;
addresses those of RFC 5737, RFC 3849, RFC 9637 and RFC 7042."""

from __future__ import annotations

from collections.abc import Callable

from workup.values.patients import ELECTRONIC, Patient
from workup.values.surfaces import Forms, own
from workup.values.vocabulary import plain_letters

_URL, _IP, _MAC, _EXTENSION = 16, 17, 18, 23  # places of the patient's digits
_V4 = ("192.0.2", "198.51.100", "203.0.113")


def _telephone(number_of: Callable[[Patient], str]) -> dict[str, Callable[[Patient], str]]:
    def write(form: Callable[[str, str, str], str]) -> Callable[[Patient], str]:
        def written(patient: Patient) -> str:
            number = number_of(patient)
            return form(number[1:4], number[-4:], patient.own(_EXTENSION, 4))

        return written

    ways: dict[str, Callable[[str, str, str], str]] = {
        "parentheses": lambda area, line, ext: f"({area}) 555-{line}",
        "parentheses_tight": lambda area, line, ext: f"({area})555-{line}",
        "dashes": lambda area, line, ext: f"{area}-555-{line}",
        "dots": lambda area, line, ext: f"{area}.555.{line}",
        "spaces": lambda area, line, ext: f"{area} 555 {line}",
        "bare": lambda area, line, ext: f"{area}555{line}",
        "slash": lambda area, line, ext: f"{area}/555-{line}",
        "seven": lambda area, line, ext: f"555-{line}",
        "seven_bare": lambda area, line, ext: f"555 {line}",
        "country_plus": lambda area, line, ext: f"+1 {area} 555 {line}",
        "country_plus_dashes": lambda area, line, ext: f"+1-{area}-555-{line}",
        "country_e164": lambda area, line, ext: f"+1{area}555{line}",
        "country_one": lambda area, line, ext: f"1-{area}-555-{line}",
        "country_double_zero": lambda area, line, ext: f"001 {area} 555 {line}",
        "british": lambda area, line, ext: f"020 7946 0{ext[:3]}",
        "british_mobile": lambda area, line, ext: f"+44 7700 900{ext[1:4]}",
    }
    return {name: write(form) for name, form in ways.items()}


def _extended(number_of: Callable[[Patient], str]) -> dict[str, Callable[[Patient], str]]:
    def write(joint: str) -> Callable[[Patient], str]:
        return lambda patient: f"{number_of(patient)}{joint}{1 + int(patient.own(_EXTENSION, 4)) % 9899}"

    joints = {
        "extension": " ext. ",
        "extension_x": " x",
        "extension_tight": "x",
        "extension_word": " extension ",
        "extension_caps": " EXT ",
    }
    return {name: write(joint) for name, joint in joints.items()}


def _local(patient: Patient) -> str:
    return patient.email.partition("@")[0]


def _employer_domain(patient: Patient) -> str:
    return f"{plain_letters(patient.employer.partition(' ')[0])}.example"


def _group(patient: Patient, at: int) -> str:
    return f"{1 + int(patient.own(_IP)[at : at + 5]) % 0xFFFE:x}"


def _v4(patient: Patient) -> str:
    digits = patient.own(_IP)
    return f"{_V4[int(digits[0]) % 3]}.{1 + int(digits[1:5]) % 254}"


def _v6_full(patient: Patient) -> str:
    groups = [_group(patient, at).zfill(4) for at in (1, 3, 5, 7, 9, 11)]
    return ":".join(["2001", "0db8", *groups])


def _mac(patient: Patient) -> str:
    """Six pairs from the range 00-00-5E-00-53-00 to FF, kept free for documents."""
    return f"00005E0053{int(patient.own(_MAC, 4)) % 256:02X}"


def _pairs(text: str, joint: str) -> str:
    return joint.join(text[at : at + 2] for at in range(0, len(text), 2))


def _page(patient: Patient) -> str:
    return patient.own(_URL, 7)


_EXTENSIONS = ("extension", "extension_x", "extension_tight", "extension_word", "extension_caps")
LEAVES: dict[str, Forms] = {
    "phone": own(
        "phone",
        {
            **_telephone(lambda p: p.phone),
            **_extended(lambda p: p.work_phone),
            "mobile": lambda p: p.mobile,
            "pager": lambda p: f"{1 + int(p.own(_EXTENSION, 5)) % 98999:05d}",
        },
        usual=("parentheses", "dashes", "dots", "extension", "mobile"),
        others=("british", "british_mobile", "mobile", "pager", *_EXTENSIONS),
    ),
    "fax": own(
        "fax",
        {**_telephone(lambda p: p.fax), "extension": lambda p: f"{p.fax} ext. {p.own(_EXTENSION, 3)}"},
        usual=("parentheses", "dashes", "dots"),
        others=("british", "british_mobile"),
    ),
    "email": own(
        "email",
        {
            "plain": lambda p: p.email,
            "caps": lambda p: p.email.upper(),
            "capital": lambda p: f"{p.email[0].upper()}{p.email[1:]}",
            "mailto": lambda p: f"mailto:{p.email}",
            "spaced": lambda p: p.email.replace("@", " @ "),
            "spelt": lambda p: f"{_local(p)} at {p.email.partition('@')[2].replace('.', ' dot ')}",
            "bracketed": lambda p: f"{_local(p)} [at] {p.email.partition('@')[2].replace('.', ' [dot] ')}",
            "tagged": lambda p: p.email.replace("@", "+clinic@"),
            "work": lambda p: (
                f"{plain_letters(p.person.given)[0]}.{plain_letters(p.person.family)}@{_employer_domain(p)}"
            ),
            "digits": lambda p: (
                f"{plain_letters(p.person.nickname or p.person.given)}{p.own(ELECTRONIC)[2:6]}@example.com"
            ),
        },
        usual=("plain",),
        others=("work", "digits"),
    ),
    "url": own(
        "url",
        {
            "https": lambda p: f"https://www.example.org/patients/{_page(p)}",
            "http": lambda p: f"http://portal.example.com/mychart/{_page(p)}",
            "www": lambda p: f"www.example.net/~{p.username}",
            "bare": lambda p: f"example.com/in/{plain_letters(p.person.given)}-{plain_letters(p.person.family)}",
            "domain": lambda p: f"{plain_letters(p.person.family)}family.example",
            "query": lambda p: f"https://records.example.org/view?mrn={p.mrn}&visit={_page(p)[:4]}",
            "fragment": lambda p: f"https://example.net/blog/{p.username}#post{_page(p)[:3]}",
            "port": lambda p: f"https://pacs.example.com:8443/studies/{_page(p)}",
            "caps": lambda p: f"HTTPS://WWW.EXAMPLE.ORG/P/{_page(p)}",
            "ftp": lambda p: f"ftp://files.example.org/{p.username}/scan.pdf",
            "video": lambda p: f"https://telehealth.example.com/j/{_page(p)}{p.own(_URL, 16)[9:13]}",
        },
        usual=("https", "www", "bare"),
        others=("http", "www", "bare", "domain", "query", "fragment", "port", "ftp", "video"),
    ),
    "ip": own(
        "ip",
        {
            "v4": _v4,
            "v4_padded": lambda p: f"{_V4[int(p.own(_IP)[5]) % 3]}.{100 + int(p.own(_IP)[6:10]) % 155}",
            "v6_full": _v6_full,
            "v6_caps": lambda p: _v6_full(p).upper(),
            "v6_short": lambda p: f"2001:db8::{_group(p, 2)}",
            "v6_middle": lambda p: f"2001:db8:{_group(p, 3)}::{_group(p, 6)}:{_group(p, 9)}",
            "v6_new_range": lambda p: f"3fff:{int(p.own(_IP)[2:6]) % 0xFFF:x}::{_group(p, 8)}",
            "v4_in_v6": lambda p: f"::ffff:{_v4(p)}",
        },
        usual=("v4",),
        others=("v4_padded", "v6_full", "v6_caps", "v6_short", "v6_middle", "v6_new_range"),
    ),
    "mac": own(
        "mac",
        {
            "colons": lambda p: _pairs(_mac(p), ":"),
            "colons_lower": lambda p: _pairs(_mac(p), ":").lower(),
            "dashes": lambda p: _pairs(_mac(p), "-"),
            "dots": lambda p: f"{_mac(p)[:4]}.{_mac(p)[4:8]}.{_mac(p)[8:]}".lower(),
            "bare": _mac,
            "eui64": lambda p: _pairs(f"02005E10000000{_mac(p)[10:]}", "-"),
            "multicast": lambda p: _pairs(f"01005E9010{_mac(p)[10:]}", ":"),
        },
        usual=("colons", "dashes"),
        others=("eui64", "multicast"),
    ),
}
