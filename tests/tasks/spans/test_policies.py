"""Policies: one decision on every name, by hand and as a law over all that are shipped; ignored labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError, StudyError
from workup.documents.document import IDENTIFIERS
from workup.tasks.spans.counting.ignored_labels import IgnoredLabels
from workup.documents.labels import BRANCHES, NAMES, SCHEME, branch_of, leaves_of
from workup.documents.mappings import LabelMapping, shipped
from workup.documents.policies import DECISIONS, Policy, decide

SHIPPED = shipped("policies")
CLINICAL = [name for name in NAMES if branch_of(name) == "CLIN"]


def test_what_is_shipped() -> None:
    names = "as_annotated gdpr_tab hipaa_plus_providers hipaa_safe_harbor i2b2_all i2b2_hipaa limited_data_set"
    assert shipped("policies") == names.split()


@pytest.mark.parametrize("name", SHIPPED)
def test_exactly_one_decision_on_every_name(name: str) -> None:
    policy = Policy.load(name)
    assert policy.source and policy.describe
    assert len(policy.must) + len(policy.may) + len(policy.must_not) == len(NAMES)
    assert policy.must | policy.may | policy.must_not == set(NAMES)
    for kind in (None, *IDENTIFIERS):
        assert {policy.of(one, kind) for one in CLINICAL} == {"must_not"}
    for branch in BRANCHES:
        if (name, branch) != ("i2b2_hipaa", "GEO"):
            strictest = max(DECISIONS.index(policy.of(leaf)) for leaf in leaves_of(branch))
            assert policy.of(branch) == DECISIONS[strictest]


@pytest.mark.parametrize(
    ("policy", "decisions"),
    [
        ("as_annotated", {"must": "name_provider year_only misc GEO", "must_not": "drug CLIN"}),
        ("gdpr_tab", {"must": "name_provider year_only misc GEO", "must_not": "lab"}),
        (
            "hipaa_safe_harbor",
            {
                "must": "name_patient employer city zip facility date_birth age_over_89 mac passport NAME DATE AGE",
                "may": "name_provider state year_only time age_under_90 license_provider date_relative profession",
                "must_not": "disease vital",
            },
        ),
        ("hipaa_plus_providers", {"must": "name_provider license_provider mrn", "may": "state age_under_90"}),
        (
            "limited_data_set",
            {
                "must": "name_patient street_address ssn url photo",
                "may": "city zip date date_birth age_over_89 id_other",
            },
        ),
        (
            "i2b2_all",
            {"must": "name_provider facility profession state age_under_90 year_only", "may": "time quantity"},
        ),
        (
            "i2b2_hipaa",
            {
                "must": "name_patient city zip age_under_90 date org_other",
                "may": "name_provider facility url state GEO",
            },
        ),
    ],
)
def test_decisions_by_hand(policy: str, decisions: dict[str, str]) -> None:
    found = Policy.load(policy)
    for decision, names in decisions.items():
        assert {name: found.of(name) for name in names.split()} == dict.fromkeys(names.split(), decision)


def test_safe_harbor_follows_the_letters() -> None:
    policy = Policy.load("hipaa_safe_harbor")
    listed = {leaf.name for leaf in SCHEME.values() if leaf.safe_harbor}
    assert {leaf for leaf in SCHEME if policy.of(leaf) == "must"} == listed - {"date_relative"}


def test_identifier_types() -> None:
    annotated, tab = Policy.load("as_annotated"), Policy.load("gdpr_tab")
    decisions = [(annotated.of("ORG", kind), tab.of("ORG", kind)) for kind in (None, "direct", "quasi", "no_mask")]
    assert decisions == [("must", "must")] * 3 + [("must_not", "may")]
    assert (annotated.of(None), annotated.of(None, "no_mask"), Policy.load("i2b2_all").of(None)) == (
        *("must", "must_not", "may"),
    )
    assert {Policy.load(name).of("ORG", "unknown") for name in ("as_annotated", "gdpr_tab", "i2b2_all")} == {"may"}
    assert annotated.of("drug", "unknown") == "must_not"
    canonical = LabelMapping.load("tab").of("LOC", identifier="NO_MASK")
    assert tab.of(canonical) == "may"
    with pytest.raises(InputError, match="direct, quasi, no_mask or unknown"):
        annotated.of("city", "indirect")
    with pytest.raises(InputError, match="leaf or a branch"):
        annotated.of("town")


def test_switches() -> None:
    policy = Policy.load("hipaa_safe_harbor+keep_years+without_titles")
    assert policy.name == "hipaa_safe_harbor+keep_years+without_titles"
    assert (policy.of("year_only"), policy.titles, policy.bare_years) == ("must_not", "without_name", "keep")
    assert Policy.load("limited_data_set+mask_years").of("year_only") == "must"
    plain = Policy.load("hipaa_safe_harbor")
    assert (plain.of("year_only"), plain.titles, plain.bare_years) == ("may", "with_name", "as_listed")
    changed = [name for name in NAMES if plain.of(name) != policy.of(name)]
    assert changed == ["year_only"]
    with pytest.raises(StudyError, match="did you mean 'keep_years'"):
        Policy.load("hipaa_safe_harbor+keep_year")


@given(
    st.lists(st.tuples(st.integers(-1, len(NAMES) - 1), st.integers(-1, len(IDENTIFIERS) - 1)), max_size=30),
    st.lists(st.sampled_from(SHIPPED), max_size=4),
)
def test_many_at_once_as_one_by_one(golds: list[tuple[int, int]], names: list[str]) -> None:
    policies = [Policy.load(name) for name in names]
    found = decide(policies, [code for code, _ in golds], [kind for _, kind in golds])
    assert found.shape == (len(policies), len(golds)) and found.dtype == np.int8
    for row, policy in zip(found, policies, strict=True):
        for value, (code, kind) in zip(row, golds, strict=True):
            one = policy.of(None if code < 0 else NAMES[code], None if kind < 0 else IDENTIFIERS[kind])
            assert DECISIONS[value] == one


def test_a_file_of_the_user(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text("source: our board\nextends: hipaa_safe_harbor\nmust: [state]\nmay: [url]\nbare_years: mask\n")
    ours = Policy.load(file)
    plain = Policy.load("hipaa_safe_harbor")
    assert {name for name in NAMES if ours.of(name) != plain.of(name)} == {"state", "url", "year_only"}
    second = tmp_path / "second.yaml"
    second.write_text("source: their board\nextends: ours.yaml\nmay: [year_only]\n")
    assert (Policy.load(second).of("year_only"), Policy.load(second).of("state")) == ("may", "must")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("source: s\nmust: [NAME]\nmust_not: [CLIN]\n", "no decision on street_address, city"),
        ("source: s\nextends: as_annotated\nmust: [drug]\n", "clinical terms must never be masked; got CLIN, drug"),
        ("source: s\nextends: as_annotated\nmust: [city]\nmay: [city]\n", "'city' is listed under"),
        ("source: s\nextends: as_annotated\nmay: [citty]\n", "did you mean 'city'"),
        ("source: s\nextends: as_annotated\ncoarse: {city: may}\n", "not a branch"),
        ("source: s\nextends: as_annotated\nidentifiers: {indirect: may}\n", "did you mean 'direct'"),
        ("source: s\nextends: own.yaml\n", "extends itself"),
        ("source: s\nextends: as_anotated\n", "did you mean 'as_annotated'"),
        ("source: s\nextends: as_annotated\ntitles: none\n", "titles"),
    ],
)
def test_files_that_teach(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(content)
    with pytest.raises(StudyError, match=message):
        Policy.load(file)


# Ignored labels


def test_names_that_can_be_ignored() -> None:
    i2b2 = LabelMapping.load("i2b2_2014")
    # A label of the scheme is that label alone: LICENSE and VEHICLE both map to ID.
    licence = IgnoredLabels.parse(["LICENSE"], mapping=i2b2)
    assert (licence.labels, licence.canonical) == ({"LICENSE"}, frozenset())
    every = IgnoredLabels.parse(["ID"], mapping=i2b2)
    assert every.canonical == {"ID", *leaves_of("ID")} and not every.labels
    assert IgnoredLabels.parse(["ODD"], mapping=i2b2, seen=["ODD"]).labels == {"ODD"}
    with pytest.raises(InputError, match="did you mean 'LICENSE'"):
        IgnoredLabels.parse(["LICENCE"], mapping=i2b2)


def test_titles_are_inherited_unless_the_file_has_its_own(tmp_path: Path) -> None:
    for name, more in (("cut", "extends: as_annotated\ntitles: without_name\n"), ("heir", "extends: cut.yaml\n")):
        (tmp_path / f"{name}.yaml").write_text(f"source: s\n{more}")
    (tmp_path / "back.yaml").write_text("source: s\nextends: cut.yaml\ntitles: with_name\n")
    found = {name: Policy.load(tmp_path / f"{name}.yaml").titles for name in ("cut", "heir", "back")}
    assert found == {"cut": "without_name", "heir": "without_name", "back": "with_name"}


def test_a_file_that_changes_two_branches_decides_anew_on_both(tmp_path: Path) -> None:
    """The name of a branch takes the strictest decision on its leaves, in every branch that the file touches."""
    leaves = {branch: leaves_of(branch) for branch in ("GEO", "DATE")}
    loose = ", ".join(leaf for some in leaves.values() for leaf in some)
    (tmp_path / "loose.yaml").write_text(f"source: s\nextends: hipaa_safe_harbor\nmay: [{loose}]\n")
    assert {branch: Policy.load(tmp_path / "loose.yaml").of(branch) for branch in leaves} == {
        "GEO": "may",
        "DATE": "may",
    }
    strict = ", ".join(some[0] for some in leaves.values())
    (tmp_path / "strict.yaml").write_text(f"source: s\nextends: loose.yaml\nmust: [{strict}]\n")
    found = Policy.load(tmp_path / "strict.yaml")
    assert {branch: found.of(branch) for branch in leaves} == {"GEO": "must", "DATE": "must"}
