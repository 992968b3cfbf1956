"""Quotas: met, and undone by their weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.split_tables import level_row, objects
from workup.errors import InputError
from workup.splits import split


def _skewed(n: int = 600) -> dict[str, Any]:
    rng = np.random.default_rng(8)
    race = rng.choice(["A", "B", "C"], n, p=[0.75, 0.17, 0.08])
    return {
        "race": objects(race.tolist()),
        "sex": objects(rng.choice(["F", "M"], n).tolist()),
        "x": (race == "C") * 3.0 + rng.normal(size=n),
    }


def test_a_quota_is_met_and_weighted_margins_equal_the_population() -> None:
    table = _skewed()
    found = split(table, strategy="demographics", by=["race", "sex"], quota={"race": {"C": 20}}, seed=3)
    assert level_row(found, "race", "C")["patients"]["validation"] == 20
    assert found.weight is not None
    for rows in (found.validation, found.development):
        assert found.weight[rows].sum() == pytest.approx(600)
        for name in ("race", "sex"):
            for level in set(table[name]):
                weighted = found.weight[rows][table[name][rows] == level].sum()
                assert weighted == pytest.approx((table[name] == level).sum(), rel=1e-9)
    few, many = (found.weight[found.validation][table["race"][found.validation] == level].mean() for level in "CA")
    assert few == pytest.approx((table["race"] == "C").sum() / 20)
    assert many == pytest.approx(5, rel=0.03)
    assert found.record()["about"]["weights"]["validation"]["largest_gap_of_a_margin"] < 1e-6


def test_weighted_means_are_unbiased_where_plain_ones_are_not() -> None:
    table = _skewed()
    weighted, plain = [], []
    for seed in range(300):
        found = split(table, strategy="demographics", by=["sex"], quota={"race": {"C": 25}}, seed=seed)
        assert found.weight is not None
        x, w = table["x"][found.validation], found.weight[found.validation]
        weighted.append(np.average(x, weights=w))
        plain.append(x.mean())
    truth = table["x"].mean()
    error = np.std(weighted, ddof=1) / np.sqrt(300)
    assert abs(np.mean(weighted) - truth) < 4 * error
    assert np.mean(plain) - truth > 20 * error


def test_several_quotas_are_met_together() -> None:
    table = _skewed()
    quota = {"race": {"B": 40, "C": 20}, "sex": {"F": 100}}
    found = split(table, strategy="random", quota=quota, seed=1)
    for column, levels in quota.items():
        for level, wanted in levels.items():
            assert level_row(found, column, level)["patients"]["validation"] >= wanted
    assert not [row for row in found.record()["warnings"] if row["kind"] == "quota"]


def test_quotas_that_cannot_be_or_change_nothing_are_said() -> None:
    table = _skewed()
    for bad, words in (({"race": {"C": 9999}}, "patients it has"), ({"race": {"D": 5}}, "Known: A, B, C")):
        with pytest.raises(InputError, match=words):
            split(table, strategy="random", quota=bad)
    found = split(table, strategy="random", quota={"race": {"A": 5}})
    assert [row["kind"] for row in found.record()["warnings"] if row["level"] == "A"] == ["quota"]
