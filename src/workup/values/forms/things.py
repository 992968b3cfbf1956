"""Vehicles, devices, biometric templates and photographs, as text refers to them.

Product numbers begin with GS1's prefix for examples (952), the IMEI with the test code 00101."""

from __future__ import annotations

import hashlib

from workup.values import check_digits
from workup.values.patients import Patient
from workup.values.surfaces import Forms, grouped, own
from workup.values.vocabulary import plain_letters

_VIN, _PLATE, _DEVICE, _BIOMETRIC, _PHOTO = 9, 10, 11, 12, 13  # places of the patient's digits
_MAKERS = ("1HG", "1FT", "2T1", "3VW", "4T1", "5YJ", "JHM", "KMH", "WBA", "YV1")
_VIN_LETTERS = "ABCDEFGHJKLMNPRSTVWXY"  # what may stand for a model year; I, O and Q never occur in the number


def _vin(patient: Patient) -> str:
    digits = patient.own(_VIN)
    letters = "".join(_VIN_LETTERS[int(digits[at : at + 2]) % len(_VIN_LETTERS)] for at in (0, 2, 4, 6))
    return check_digits.vin_number(f"{_MAKERS[int(digits[8])]}{letters[:2]}{digits[9:12]}0{letters[2:]}{digits[10:16]}")


def _udi(patient: Patient) -> str:
    digits = patient.own(_DEVICE)
    return f"(01){check_digits.gtin14('0952' + digits[:9])}(21){digits[9:16]}{patient.letters[4]}"


LEAVES: dict[str, Forms] = {
    "vin": own(
        "vin",
        {"plain": _vin, "lower": lambda p: _vin(p).lower(), "spaced": lambda p: grouped(_vin(p), 3, 6, 8),
         "dashed": lambda p: grouped(_vin(p), 3, 5, 1, 8, joint="-")},
        usual=("plain",),
    ),
    "plate": own(
        "plate",
        {
            "letters_digits": lambda p: f"{p.letters[:3]}-{p.own(_PLATE, 4)}",
            "letters_digits_spaced": lambda p: f"{p.letters[:3]} {p.own(_PLATE, 3)}",
            "digits_letters": lambda p: f"{p.own(_PLATE, 3)}-{p.letters[:3]}",
            "one_three_three": lambda p: f"{1 + int(p.own(_PLATE, 1)) % 9}{p.letters[:3]}{p.own(_PLATE)[1:4]}",
            "tight": lambda p: f"{p.letters[:3]}{p.own(_PLATE, 4)}",
            "mixed": lambda p: f"{p.letters[0]}{p.own(_PLATE, 2)} {p.letters[1:4]}",
            "with_state": lambda p: f"{p.home.state} {p.letters[:3]}-{p.own(_PLATE, 4)}",
            "vanity": lambda p: f"{plain_letters(p.person.given)[:4].upper()}{p.own(_PLATE, 2)}",
        },
        usual=("letters_digits", "one_three_three"),
        others=("one_three_three", "mixed", "vanity"),
    ),
    "device_id": own(
        "device",
        {
            "serial": lambda p: f"{p.letters[13:16]}{p.own(_DEVICE, 6)}{p.letters[16]}",
            "serial_dashed": lambda p: f"{p.letters[13:15]}-{p.own(_DEVICE, 4)}-{p.own(_DEVICE)[4:8]}",
            "digits": lambda p: p.own(_DEVICE, 10),
            "prefixed": lambda p: f"SN{p.own(_DEVICE, 8)}",
            "lot": lambda p: f"LOT {p.own(_DEVICE)[2:7]}{p.letters[17]}",
            "udi": _udi,
            "gtin": lambda p: check_digits.gtin14(f"0952{p.own(_DEVICE, 9)}"),
            # 00-1010 is the test allocation of the type allocation code.
            "imei": lambda p: (body := f"00101{p.own(_DEVICE, 9)}") + check_digits.luhn_digit(body),
            "model_serial": lambda p: f"A3DR01-{p.letters[13:16]}{p.own(_DEVICE, 6)}H",
        },
        usual=("serial", "digits", "udi"),
        others=("lot", "udi", "gtin", "imei"),
    ),
    "biometric": own(
        "biometric",
        {
            "fingerprint": lambda p: f"fingerprint ID FP-{p.own(_BIOMETRIC, 6)}",
            "voiceprint": lambda p: f"voiceprint VP{p.own(_BIOMETRIC)[4:10]}",
            "iris": lambda p: f"iris template IR-{p.own(_BIOMETRIC)[2:8]}-{p.letters[18]}",
            "retina": lambda p: f"retinal scan #{p.own(_BIOMETRIC)[6:11]}",
            "palm": lambda p: f"palm vein ID {p.own(_BIOMETRIC)[5:9]}-{p.own(_BIOMETRIC)[9:13]}",
            "code": lambda p: f"BIO-{p.own(_BIOMETRIC, 8)}{p.letters[19]}",
            "hash": lambda p: hashlib.sha256(p.own(_BIOMETRIC).encode()).hexdigest()[:16],
        },
        usual=("fingerprint", "voiceprint", "code"),
        others=("fingerprint", "voiceprint", "iris", "retina", "palm", "code", "hash"),
    ),
    "photo": own(
        "photo",
        {
            "camera": lambda p: f"IMG_{p.own(_PHOTO, 4)}.JPG",
            "camera_digits": lambda p: f"DSC{p.own(_PHOTO, 5)}.jpeg",
            "named": lambda p: f"{plain_letters(p.person.family)}_{plain_letters(p.person.given)}_face.jpg",
            "record": lambda p: f"photo_{p.mrn}_front.png",
            "path": lambda p: f"/media/photos/{p.visit.year}/face_{p.own(_PHOTO)[4:8]}.jpg",
            "number": lambda p: f"facial photograph #{p.own(_PHOTO)[8:12]}",
            "badge": lambda p: f"ID photo {p.letters[20:22]}{p.own(_PHOTO)[6:10]}",
        },
        usual=("camera", "number"),
        others=("camera", "camera_digits", "named", "record", "path", "number", "badge"),
    ),
}  # fmt: skip
