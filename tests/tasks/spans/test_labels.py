"""The canonical scheme: its leaves, letters and levels, and the equivalence sets laid over it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError
from workup.tasks.spans.counting.equivalence import Equivalence
from workup.documents.labels import (
    BRANCHES,
    CODE,
    LETTERS,
    NAMES,
    SCHEME,
    UNMAPPED,
    at_level,
    branch_of,
    leaves_of,
    level_codes,
)
from workup.documents.mappings import LabelMapping

OWN = LabelMapping.load("workup")

# 45 CFR 164.514(b)(2)(i), written out a second time: letter to leaves.
BY_LETTER = {
    "A": {"name_patient", "name_relative", "employer"},
    "B": {"street_address", "city", "county", "zip", "facility"},
    "C": {"date", "date_birth", "date_death", "date_relative", "age_over_89"},
    "D": {"phone"},
    "E": {"fax"},
    "F": {"email"},
    "G": {"ssn"},
    "H": {"mrn"},
    "I": {"health_plan_id"},
    "J": {"account", "bank_account", "credit_card", "iban"},
    "K": {"license_person"},
    "L": {"vin", "plate"},
    "M": {"device_id", "mac"},
    "N": {"url"},
    "O": {"ip"},
    "P": {"biometric"},
    "Q": {"photo"},
    "R": {"username", "crypto", "passport", "id_other"},
}
WITHOUT_LETTER = {
    *("name_provider", "state", "country", "facility_unit", "org_other", "year_only", "time", "age_under_90"),
    *("license_provider", "profession", "nationality_religion_politics", "ethnicity", "quantity", "misc"),
    *("disease", "drug", "procedure", "anatomy", "lab", "vital"),
}


def test_letters_of_safe_harbor() -> None:
    for letter in LETTERS:
        assert {leaf.name for leaf in SCHEME.values() if leaf.safe_harbor == letter} == BY_LETTER[letter]
    assert {leaf.name for leaf in SCHEME.values() if leaf.safe_harbor is None} == WITHOUT_LETTER
    assert {leaf.name for leaf in SCHEME.values() if leaf.condition} == {"zip", "facility", "date_relative"}


def test_branches() -> None:
    sizes = {branch: len(leaves_of(branch)) for branch in BRANCHES}
    assert list(sizes) == ["NAME", "GEO", "ORG", "DATE", "AGE", "CONTACT", "NET", "ID", "QUASI", "CLIN"]
    assert list(sizes.values()) == [4, 6, 4, 6, 2, 3, 3, 17, 5, 6]
    assert (branch_of("mac"), branch_of("license_provider"), branch_of("CLIN")) == ("NET", "ID", "CLIN")


def test_unknown_name_answers_with_the_near_ones() -> None:
    with pytest.raises(InputError, match="did you mean 'date_birth'"):
        branch_of("date_of_birth")
    with pytest.raises(InputError, match="leaf, branch or phi"):
        at_level("city", "root")  # type: ignore[arg-type]


@given(st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_equal_below_is_equal_above(one: str, other: str) -> None:
    codes = [CODE[one], CODE[other]]
    at_leaf, at_branch, at_phi = (level_codes(codes, level) for level in ("leaf", "branch", "phi"))
    if at_leaf[0] == at_leaf[1] != -1:
        assert at_branch[0] == at_branch[1]
    assert (at_branch[0] == at_branch[1]) == (branch_of(one) == branch_of(other))
    assert at_phi.tolist() == [0, 0]


def test_coarse_and_unmapped_have_no_leaf() -> None:
    codes = [CODE["GEO"], UNMAPPED, CODE["city"]]
    assert level_codes(codes, "leaf").tolist() == [-1, -1, CODE["city"]]
    assert level_codes(codes, "branch").tolist() == [1, -1, 1]
    assert level_codes([], "leaf").tolist() == []


def test_branches_made_equal_stay_apart_at_leaf() -> None:
    equal = Equivalence.parse(["ORG=LOC"], mapping=LabelMapping.load("tab"))
    assert equal.name == "ORG=LOC"
    codes = [CODE["facility"], CODE["city"], CODE["date"], CODE["ORG"]]
    assert equal.level_codes(codes, "branch").tolist() == [1, 1, 3, 1]
    assert equal.level_codes(codes, "leaf").tolist() == level_codes(codes, "leaf").tolist()


def test_names_of_one_branch_made_equal_at_leaf() -> None:
    equal = Equivalence.parse(["date=date_birth", "date_birth=DATE"], mapping=OWN)
    assert equal.sets == (frozenset({"date", "date_birth", "DATE"}),)
    leaf = equal.level_codes([CODE["date"], CODE["date_birth"], CODE["DATE"], CODE["time"]], "leaf").tolist()
    assert leaf == [CODE["date"]] * 3 + [CODE["time"]]


def test_sets_of_branches_and_of_leaves_stand_beside_each_other() -> None:
    equal = Equivalence.parse(["ORG=GEO", "city=GEO", "GEO=QUASI"], mapping=OWN)
    assert set(equal.sets) == {frozenset({"ORG", "GEO", "QUASI"}), frozenset({"city", "GEO"})}
    codes = [CODE["city"], CODE["GEO"], CODE["ORG"], CODE["misc"]]
    assert equal.level_codes(codes, "leaf").tolist() == [CODE["city"], CODE["city"], -1, CODE["misc"]]
    assert equal.level_codes(codes, "branch").tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("city=facility", "name the branches: GEO = ORG"),
        ("city", "at least two"),
        ("city=city", "at least two"),
        ("city=towm", "Known"),
        ("city=GEO=ORG", "branches, or names of one branch"),
    ],
)
def test_equivalence_that_cannot_be(rule: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Equivalence.parse([rule], mapping=OWN)


@given(st.lists(st.sampled_from(["ORG=GEO", "QUASI=GEO", "date=time", "DATE=AGE", "city=GEO"]), min_size=1))
def test_equivalence_only_adds_equalities(rules: list[str]) -> None:
    equal = Equivalence.parse(rules, mapping=OWN)
    places = list(range(len(NAMES)))
    for level in ("leaf", "branch", "phi"):
        strict, loose = level_codes(places, level), equal.level_codes(places, level)
        for code in set(strict.tolist()) - {-1}:
            assert len(set(loose[strict == code].tolist())) == 1
        assert (loose[strict >= 0] >= 0).all()
