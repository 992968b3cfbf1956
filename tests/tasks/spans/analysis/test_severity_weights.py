"""Weights of leaves: every leaf has one and a reason, direct identifiers weigh most, coarse ones as the worst."""

from __future__ import annotations

import numpy as np
import pytest

from workup.errors import InputError
from workup.tasks.spans.errors.severity import severity_table, severity_weights
from workup.documents.labels import BRANCHES, CODE, NAMES, SCHEME, leaves_of


def test_every_leaf_outside_the_clinical_branch_has_a_weight_and_a_reason() -> None:
    rows = severity_table()
    assert [row.leaf for row in rows] == [leaf.name for leaf in SCHEME.values() if leaf.branch != "CLIN"]
    assert all(1 <= row.weight <= 10 and len(row.why) > 10 and "\n" not in row.why for row in rows)


def test_direct_identifiers_weigh_most() -> None:
    by_leaf = {row.leaf: row.weight for row in severity_table()}
    heaviest = {leaf for leaf, weight in by_leaf.items() if weight == max(by_leaf.values())}
    assert {"ssn", "mrn", "name_patient"} <= heaviest
    assert by_leaf["name_patient"] > by_leaf["name_relative"] > by_leaf["name_provider"]
    assert by_leaf["date_birth"] > by_leaf["date"] > by_leaf["year_only"]


def test_weights_by_code() -> None:
    weights = severity_weights()
    assert len(weights) == len(NAMES) + 1
    for branch in BRANCHES:
        assert weights[CODE[branch]] == max(weights[CODE[leaf]] for leaf in leaves_of(branch))
    assert weights[-1] == weights.max()  # nothing is known of a label without a name
    assert all(weights[CODE[leaf]] == 0 for leaf in leaves_of("CLIN"))
    assert np.isfinite(weights).all()
    with pytest.raises(ValueError, match="read-only"):
        weights[0] = 1


def test_own_weights_replace_the_shipped_ones() -> None:
    own = severity_weights({"city": 20})
    assert own[CODE["city"]] == own[CODE["GEO"]] == own[-1] == 20
    assert own[CODE["ssn"]] == severity_weights()[CODE["ssn"]] == 10


@pytest.mark.parametrize("own", [{"citty": 1.0}, {"GEO": 1.0}, {"drug": 1.0}, {"city": 0.0}, {"city": float("nan")}])
def test_weights_that_mean_nothing_are_refused(own: dict[str, float]) -> None:
    with pytest.raises(InputError):
        severity_weights(own)
