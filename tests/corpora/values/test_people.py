"""People, pools and adversarial names: tags are true, groups differ, pairs match."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from importlib.resources import files
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.values import (
    AMBIGUOUS,
    HARD_NEGATIVES,
    ORIGINS,
    PERSON_FORMS,
    Patient,
    Person,
    name_pool,
    provenance,
    versions,
)
from workup.values.ambiguous import FAMILY, GIVEN, WORDS
from workup.values.tables import band, given_names, places, pool_rows, surnames
from workup.documents.labels import leaves_of
from workup.documents.titles import title_length

DATA = files("workup.corpora") / "data"


def test_shipped_tables_are_those_recorded_with_source_and_licence() -> None:
    record = json.loads((DATA / "provenance.json").read_text(encoding="utf-8"))
    for name, entry in record["files"].items():
        text = (DATA / name).read_bytes()
        assert hashlib.sha256(text).hexdigest() == entry["sha256"], name
        assert text.count(b"\n") == entry["rows"]
        assert entry["licence"] and entry["source"] and entry["version"]
    assert set(versions()) == {*provenance(), "values"}
    assert not any("names-dataset" in json.dumps(entry) for entry in record["files"].values())


def share(origin: str, name: str) -> float:
    table = surnames(origin)
    weights = [a - b for a, b in zip(table.cumulative, (0, *table.cumulative), strict=False)]
    return sum(w for n, w in zip(table.names, weights, strict=True) if n.text == name) / table.cumulative[-1]


def test_names_are_as_frequent_as_in_their_group() -> None:
    assert share("asian", "Nguyen") > 50 * share("black", "Nguyen")
    assert share("hispanic", "Garcia") > 20 * share("white", "Garcia")
    assert share("black", "Washington") > 20 * share("white", "Washington")
    assert share("native", "Begay") > 500 * share("white", "Begay")


def test_half_of_the_names_tell_of_their_group() -> None:
    begay = [Patient.of(8, index, origin="native", ambiguity="none").person.family for index in range(600)]
    table = {name.text: name for name in surnames("native").names}
    place = ORIGINS.index("native")
    telling = sum(family in table and table[family].shares[place] >= 300 for family in begay) / 600
    natural = surnames("native")
    steps = [a - b for a, b in zip(natural.cumulative, (0, *natural.cumulative), strict=False)]
    by_nature = sum(w for n, w in zip(natural.names, steps, strict=True) if n.shares[place] >= 300)
    by_nature /= natural.cumulative[-1]
    assert by_nature < 0.2
    assert telling == pytest.approx(0.5 + by_nature / 2, abs=0.09)


def test_given_names_follow_the_decade_of_birth() -> None:
    def rate(name: str, decade: int) -> float:
        table = given_names("white", "F", decade)
        at = [n.text for n in table.names].index(name)
        return (table.cumulative[at] - (table.cumulative[at - 1] if at else 0)) / table.cumulative[-1]

    assert rate("Mildred", 1910) > 20 * rate("Mildred", 1990)
    assert rate("Jennifer", 1970) > 20 * rate("Jennifer", 1920)
    assert given_names("white", "F", 1850) == given_names("white", "F", 1910)
    assert given_names("white", "F", 2024) == given_names("white", "F", 2010)


def test_every_group_sex_and_decade_has_names() -> None:
    for origin in ORIGINS:
        assert len(surnames(origin).names) > 1000
        for sex in "FM":
            for decade in range(1910, 2020, 10):
                assert len(given_names(origin, sex, decade).names) > 300


def test_pools_are_aligned_and_matched_on_popularity() -> None:
    keys = [(origin, sex) for origin in ORIGINS for sex in "FM"]
    pools = {key: name_pool(origin=key[0], sex=key[1]) for key in keys}
    assert {len(pool) for pool in pools.values()} == {40}
    for key, pool in pools.items():
        assert {(person.origin, person.sex) for person in pool} == {key}
        assert len({person.given for person in pool}) == 40 == len({person.family for person in pool})
    ratios = []
    for place in range(40):
        rows = [pool_rows(*key)[place] for key in keys]
        family = [row.family_bearers for row in rows]
        given_ = [row.given_bearers for row in rows]
        assert max(family) / min(family) < 1.1
        assert max(given_) / min(given_) < 2
        ratios.append(max(given_) / min(given_))
        assert len({pool[place].popularity for pool in pools.values()}) == 1
    assert median(ratios) < 1.1
    names = [person.family for origin in ORIGINS for person in name_pool(origin=origin, sex="F")]
    assert len(set(names)) == len(names)  # a name that tells of a group stands in no other pool


def test_a_swapped_name_changes_the_name_and_what_is_made_from_it_only() -> None:
    patient = Patient.of(21, 4, origin="white", sex="F", ambiguity="none")
    other = name_pool(origin="asian", sex="F")[7]
    swapped = patient.renamed(other)
    assert swapped.person == other
    assert other.family.lower() in (swapped.email + swapped.username)
    for field in ("id", "birth", "visit", "home", "mrn", "ssn", "employer", "facility", "providers", "digits", "phone"):
        assert getattr(swapped, field) == getattr(patient, field), field
    for before, after in zip(patient.relatives, swapped.relatives, strict=True):
        shared = before.person.family == patient.person.family
        assert after.person.family == (other.family if shared else before.person.family)
        assert after.person.given == before.person.given


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 1000))
def test_origin_and_sex_change_names_and_background_only(seed: int, index: int) -> None:
    one, two = (Patient.of(seed, index, origin=origin, sex="F") for origin in ("black", "hispanic"))
    assert one.person.origin == "black" and two.person.origin == "hispanic"
    same = ("birth", "visit", "home", "digits", "letters", "providers", "phone", "mrn", "ssn", "employer", "profession")
    assert all(getattr(one, field) == getattr(two, field) for field in same)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_without_ambiguity_no_name_is_a_word(seed: int) -> None:
    patient = Patient.of(seed, 0, ambiguity="none")
    people = [patient.person, *(r.person for r in patient.relatives), *(p.person for p in patient.providers)]
    for person in people:
        assert person.ambiguous == ()
        plain = unicodedata.normalize("NFKD", f"{person.given} {person.family}".replace("-", " "))
        assert WORDS.isdisjoint("".join(c for c in plain if not unicodedata.combining(c)).split())


@pytest.mark.parametrize(("ambiguity", "expected"), [("standard", 0.1), ("high", 0.6)])
def test_ambiguous_names_come_as_often_as_asked(ambiguity: str, expected: float) -> None:
    people = [Patient.of(5, index, ambiguity=ambiguity).person for index in range(1200)]
    assert sum(bool(person.ambiguous) for person in people) / 1200 == pytest.approx(expected, abs=0.045)
    for person in people:
        if person.ambiguous:
            lists = [GIVEN[person.origin, person.sex], FAMILY[person.origin]]
            assert any(kind in kinds and {person.given, person.family} & set(kinds[kind])
                       for kind in person.ambiguous for kinds in lists)  # fmt: skip


def test_the_adversarial_names_asked_for_are_there() -> None:
    assert {"Rose", "Will", "Mark"} <= set(AMBIGUOUS["word"])
    assert {"April", "May", "June"} <= set(AMBIGUOUS["month"])
    assert {"Florence", "Charlotte"} <= set(AMBIGUOUS["place"])
    assert {"Parkinson", "Huntington", "Wilson"} <= set(AMBIGUOUS["eponym"])
    assert "Christian" in AMBIGUOUS["religion"] and "Allegra" in AMBIGUOUS["drug"]
    assert all(title_length(f"{name} Berg") == 0 for name in WORDS)


def test_patients_are_of_all_groups_sexes_ages_and_kinds_of_names() -> None:
    patients = [Patient.of(6, index) for index in range(1500)]
    assert {p.person.origin for p in patients} == set(ORIGINS)
    women = sum(p.person.sex == "F" for p in patients) / 1500
    assert women == pytest.approx(0.5, abs=0.05)
    old = sum(p.age_at(p.visit) > 89 for p in patients) / 1500
    assert old == pytest.approx(0.1, abs=0.03)
    assert any(p.age_at(p.visit) < 2 for p in patients)
    families = [p.person.family for p in patients]
    assert any(" " in f for f in families) and any("-" in f for f in families) and any("'" in f for f in families)
    assert any(f.startswith(("de ", "van ", "von ", "del ")) for f in families)
    assert any(not f.isascii() for f in families) and any(f.startswith("Mc") for f in families)
    assert any(p.person.suffix for p in patients) and any(p.person.nickname for p in patients)
    assert {p.person.popularity for p in patients} == {"common", "medium", "rare"}
    assert all(p.birth <= p.visit for p in patients)
    assert len({p.mrn for p in patients}) > 1495


def test_name_forms_by_hand() -> None:
    person = Person("Ana", "Luz", "de la Cruz", "Jr.", "M", "hispanic", "common", 1950, "Nita")
    written = {form: person.surface(form) for form in PERSON_FORMS}
    expected = {
        "full": "Ana de la Cruz Jr.",
        "full_middle": "Ana Luz de la Cruz Jr.",
        "full_initial": "Ana L. de la Cruz Jr.",
        "initial_family": "A. de la Cruz Jr.",
        "initials_family": "A.L. de la Cruz Jr.",
        "family_first": "de la Cruz Jr., Ana",
        "family_first_initial": "de la Cruz Jr., Ana L.",
        "family_first_tight": "de la Cruz Jr.,Ana",
        "family_first_caps": "DE LA CRUZ JR., ANA",
        "given": "Ana",
        "given_initial": "Ana C.",
        "caps": "ANA DE LA CRUZ JR.",
        "lower": "ana de la cruz jr.",
        "nickname_family": "Nita de la Cruz Jr.",
        "nickname_quoted": 'Ana "Nita" de la Cruz Jr.',
        "initials": "A.L.C.",
        "hl7": "DE LA CRUZ^ANA^LUZ^JR.",
    }
    assert {form: written[form] for form in expected} == expected


def test_bands() -> None:
    assert [band(n) for n in (1000, 999, 100, 99, 0)] == ["common", "medium", "medium", "rare", "rare"]


def test_places_belong_to_states() -> None:
    assert len(places()) == 51
    assert "Chicago" in places()["IL"].cities and "Cook County" in places()["IL"].counties
    assert all(len(place.cities) >= 5 for place in places().values())
    assert [state for state, place in places().items() if not place.counties] == ["DC"]


def test_hard_negatives_hold_their_inner_span_and_are_clinical_or_plain() -> None:
    assert len(HARD_NEGATIVES) > 400
    assert len({one.text for one in HARD_NEGATIVES}) == len(HARD_NEGATIVES)
    clinical = {*leaves_of("CLIN"), None}
    for one in HARD_NEGATIVES:
        assert 0 <= one.start < one.end <= len(one.text)
        assert one.inner == one.inner.strip() and one.leaf in clinical
        assert "[" not in one.text and "]" not in one.text
    told = {one.text: one.inner for one in HARD_NEGATIVES}
    assert told["3/4 strength"] == "3/4" and told["pain 5/10"] == "5/10" and told["A1C 7.2"] == "A1C 7.2"
    assert told["1-2 tablets as needed"] == "1-2" and told["Parkinson's disease"] == "Parkinson's disease"
    kinds = {one.kind for one in HARD_NEGATIVES}
    assert kinds == {"date", "identifier", "age", "time", "contact", "word", "place", "eponym", "drug"}
