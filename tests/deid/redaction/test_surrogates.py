"""Surrogates: realistic, of one form with what they stand for, consistent per patient, never a value that was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.redaction_notes import KEY, REPLACED
from workup.redaction.keys import Secret
from workup.redaction.linking import normalised
from workup.redaction.surrogates.name_tables import about
from workup.redaction.surrogates.values import World
from workup.values import Patient, forms, make
from workup.values.check_digits import dea_number, gtin14, iban, luhn_digit, vin_number
from workup.values.draws import Chance

SECRET = Secret(KEY)


def _world(*values: tuple[str, str], patient: str = "P1", **more: set[str]) -> World:
    return World(SECRET, patient, values, **more)


def _values(seed: int) -> list[tuple[str, str]]:
    patient = Patient.of(seed, 1)
    return [
        (leaf, make(leaf, patient=patient, chance=Chance.of(seed, leaf, form), when=patient.visit, form=form).text)
        for leaf in REPLACED
        for form in forms(leaf)
    ]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_form_of_every_leaf_gets_a_surrogate_that_is_no_value_of_the_patient(seed: int) -> None:
    values = _values(seed)
    world = _world(*values)
    taken = {normalised(surface) for _, surface in values}
    without = [leaf for leaf, surface in values if world.surrogate(leaf, surface) is None and leaf != "misc"]
    assert len(without) < 8 and not {"mrn", "ssn", "phone", "email", "name_patient"} & set(without), without
    for leaf, surface in values:
        new = world.surrogate(leaf, surface)
        assert new is None or (normalised(new) not in taken and new == world.surrogate(leaf, surface)), leaf


def test_equal_values_get_equal_surrogates_and_different_ones_different() -> None:
    values = _values(4)
    world = _world(*values)
    by_new: dict[tuple[str, str], set[str]] = {}
    for leaf, surface in values:
        new = world.surrogate(leaf, surface)
        if new is not None and not leaf.startswith("name_"):
            by_new.setdefault((leaf, normalised(new)), set()).add(normalised(surface))
    shared = {key: olds for key, olds in by_new.items() if len(olds) > 1}
    # Forms of one thing may share a surrogate (phones with and without +1, counties with and without the word).
    assert {leaf for leaf, _ in shared} <= {"county", "state", "phone", "fax"}, shared


def test_the_same_whatever_the_order_and_other_with_another_key_or_patient() -> None:
    values = [("name_patient", "Ann Lee"), ("name_provider", "Dr. Ray"), ("mrn", "482913"), ("phone", "617-723-4411")]
    forward, backward = _world(*values), _world(*reversed(values))
    assert [forward.surrogate(*one) for one in values] == [backward.surrogate(*one) for one in values]
    other_patient = _world(*values, patient="P2")
    other_key = World(Secret(b"another key, of 16"), "P1", values)
    for one in values:
        assert len({forward.surrogate(*one), other_patient.surrogate(*one), other_key.surrogate(*one)}) > 1


def test_all_forms_of_a_name_follow_one_another() -> None:
    said = ["Maria Garcia", "GARCIA, MARIA L.", "M. Garcia", "Ms. Garcia's", "maria", "M.L.G.", "Maria Garcia-Lopez"]
    world = _world(*[("name_patient", one) for one in said])
    new = {one: world.surrogate("name_patient", one) for one in said}
    given, family = str(new["Maria Garcia"]).split()
    assert given[0] != "M" and family[0] != "G"
    assert new["M. Garcia"] == f"{given[0]}. {family}" and new["Ms. Garcia's"] == f"Ms. {family}'s"
    assert str(new["GARCIA, MARIA L."]).startswith(f"{family}, {given} ".upper())
    assert new["maria"] == given.lower() and str(new["Maria Garcia-Lopez"]).startswith(f"{given} {family}-")
    initials = str(new["M.L.G."])
    assert initials[0] == given[0] and initials[4] == family[0] and len(initials) == 6


@pytest.mark.parametrize(
    ("name", "sex", "origin"), [("maria", "F", 2), ("john", "M", 0), ("wei", "M", 3), ("keisha", "F", 1)]
)
def test_sex_and_origin_of_a_given_name_are_kept(name: str, sex: str, origin: int) -> None:
    assert about(name, kind="given")[1:] == (sex, origin)
    kept = 0
    for patient in range(25):
        new = str(
            _world(("name_patient", f"{name.title()} Zzyzx"), patient=str(patient)).surrogate(
                "name_patient", f"{name.title()} Zzyzx"
            )
        )
        found = about(new.split()[0].casefold(), kind="given")
        kept += found.origin == origin
        assert found.sex == sex, new
    assert kept >= 20, kept


@pytest.mark.parametrize(
    ("name", "origin"), [("nguyen", 3), ("garcia", 2), ("smith", 0), ("washington", 1), ("begay", 4)]
)
def test_origin_of_a_family_name_is_kept(name: str, origin: int) -> None:
    kept = 0
    for patient in range(40):
        new = str(
            _world(("name_provider", name.title()), patient=str(patient)).surrogate("name_provider", name.title())
        )
        kept += about(new.casefold(), kind="family").origin == origin
    assert kept >= 35, kept  # a letter without such a name takes the one that leans to the group most


def test_words_of_the_notes_are_never_given_as_names() -> None:
    alone = _world(("name_patient", "Ann Lee"))
    given, family = str(alone.surrogate("name_patient", "Ann Lee")).split()
    again = _world(("name_patient", "Ann Lee"), words={given.casefold(), family.casefold()})
    other = str(again.surrogate("name_patient", "Ann Lee")).split()
    assert given not in other and family not in other
    elsewhere = _world(("name_patient", "Ann Lee"), elsewhere={given.casefold(), family.casefold()})
    assert not {given, family} & set(str(elsewhere.surrogate("name_patient", "Ann Lee")).split())


def test_many_names_of_one_letter_stay_apart() -> None:
    said = [f"Q{'abcdefghij'[i // 10]}{'abcdefghij'[i % 10]}x" for i in range(100)]
    world = _world(*[("name_patient", one) for one in said])
    assert len({world.surrogate("name_patient", one) for one in said}) == 100


@given(st.integers(0, 10_000))
def test_check_digits_stay_right(seed: int) -> None:
    chance = Chance.of(seed, "numbers")
    card = "4" + chance.digits(14)
    npi = "1" + chance.digits(8)
    values = {
        "card": ("credit_card", card + luhn_digit(card)),
        "npi": ("license_provider", npi + luhn_digit("80840" + npi)),
        "dea": ("license_provider", dea_number("B", "Lee", chance.digits(6))),
        "iban": ("iban", iban("DE", chance.digits(18))),
        "vin": ("vin", vin_number("1HGCM826" + "0" + "3A" + chance.digits(6))),
        "gtin": ("device_id", gtin14("0061" + chance.digits(9))),
    }
    world = _world(*values.values())
    new = {name: str(world.surrogate(*value)) for name, value in values.items()}
    assert luhn_digit(new["card"][:-1]) == new["card"][-1] and len(new["card"]) == 16
    assert luhn_digit("80840" + new["npi"][:-1]) == new["npi"][-1] and len(new["npi"]) == 10
    assert dea_number(new["dea"][0], new["dea"][1], new["dea"][2:8]) == new["dea"] and new["dea"][1] != "L"
    assert iban("DE", new["iban"][4:]) == new["iban"]
    assert vin_number(new["vin"]) == new["vin"]
    assert gtin14(new["gtin"][:13]) == new["gtin"]


def test_numbers_keep_their_shape_however_they_are_spaced() -> None:
    values = [("mrn", "00482913"), ("mrn", "004-829-13"), ("ssn", "219-09-1234"), ("ssn", "219091234")]
    world = _world(*values)
    plain, dashed, social, bare = (str(world.surrogate(*one)) for one in values)
    assert plain.startswith("00") and dashed.replace("-", "") == plain and dashed[3] == dashed[7] == "-"
    assert social.replace("-", "") == bare and social[3] == social[6] == "-" and social[:3] not in ("000", "666")
    assert 734 <= int(social[:3]) <= 899


def test_phones_are_of_the_free_range_in_every_form() -> None:
    said = ["(617) 723-4411", "617.723.4411", "+1 617 723 4411", "617-723-4411 x12", "723-4411"]
    world = _world(*[("phone", one) for one in said])
    new = [str(world.surrogate("phone", one)) for one in said]
    digits = ["".join(c for c in one if c.isdigit()) for one in new]
    assert digits[0] == digits[1] == digits[2][1:] == digits[3][:10] and digits[0][3:8] == "55501"
    assert new[3][12:14] == " x" and new[4].startswith("555-01")


def test_addresses_follow_names_and_end_in_reserved_domains() -> None:
    world = _world(
        ("name_patient", "Maria Garcia"), ("email", "mgarcia@gmail.com"), ("email", "maria.garcia@gmail.com")
    )
    given, family = str(world.surrogate("name_patient", "Maria Garcia")).lower().split()
    one, other = (str(world.surrogate("email", said)) for said in ("mgarcia@gmail.com", "maria.garcia@gmail.com"))
    assert one.startswith(f"{given[0]}{family}@") and other.startswith(f"{given}.{family}@")
    assert one.partition("@")[2] == other.partition("@")[2] and "example" in one


def test_places_belong_together() -> None:
    world = _world(("city", "Long Beach"), ("state", "CA"), ("state", "California"), ("state", "Calif."))
    code, name = world.surrogate("state", "CA"), world.surrogate("state", "California")
    assert code != "CA" and len(str(code)) == 2 and name != "California"
    from workup.text import states

    assert states.STATE[str(code)].name == name
    assert world.surrogate("city", "LONG BEACH") == str(world.surrogate("city", "Long Beach")).upper()


def test_short_forms_of_an_organisation_follow_the_long_one() -> None:
    said = ["Mercy Valley Hospital", "Mercy Valley", "MVH", "MERCY VALLEY HOSPITAL"]
    world = _world(*[("facility", one) for one in said])
    long, short, letters, caps = (str(world.surrogate("facility", one)) for one in said)
    assert (
        caps == long.upper()
        and long.startswith(short)
        and letters == "".join(w[0] for w in long.split() if w[0].isupper())
    )


@given(st.text(max_size=40), st.sampled_from([*REPLACED, "NAME", "GEO", "ORG", "CONTACT", "NET", "ID", "QUASI", "PHI"]))
def test_no_surface_breaks_a_surrogate(surface: str, label: str) -> None:
    if not surface.strip():
        return
    new = _world((label, surface)).surrogate(label, surface)
    assert new is None or (new != surface and normalised(new) != normalised(surface))


def test_a_value_of_another_patient_is_taken_only_where_none_is_left_and_then_counted() -> None:
    class Everything:
        def __contains__(self, value: object) -> bool:
            return True

    world = World(SECRET, "P1", [("name_patient", "Ann Lee"), ("mrn", "482913")], elsewhere=Everything())
    assert world.surrogate("mrn", "482913") is not None and world.forced >= 3
    assert _world(("name_patient", "Ann Lee"), ("mrn", "482913")).forced == 0
