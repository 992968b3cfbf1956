"""Gaps between groups over sites: a group of a few patients that all agree does not decide the pooled gap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workup.evidence import SiteEvidence
from workup.lenses.sites.pooling import PoolSettings, pool_sites
from workup.stats.intervals import newcombe, z_critical


def of_shares(site: str, group: tuple[int, int], rest: tuple[int, int], *, level: float = 0.95) -> SiteEvidence:
    """What a site says of women against the rest, as the subgroups lens writes it."""
    (a, n), (b, m) = group, rest
    low, high = newcombe(a / n, n, b / m, m, level=level)
    se = float(np.hypot(np.sqrt(a / n * (1 - a / n) / n), np.sqrt(b / m * (1 - b / m) / m)))
    row: dict[str, Any] = {"metric": "sensitivity", "slice": {"sex": "F"}, "against": "rest", "kind": "difference"}
    row |= {"level": level, "value": a / n - b / m, "low": low, "high": high, "se": se, "method": "square and add"}
    groups = {"sex": {"F": {"patients": n, "rows": n}, "M": {"patients": m, "rows": m}}}
    return SiteEvidence(site, (), gaps=(row,), holdings={"patients": n + m, "rows": n + m, "groups": groups})


def pooled(sites: list[SiteEvidence]) -> Any:
    [row] = pool_sites(sites, scales={"sensitivity": "logit"}, settings=PoolSettings()).tables["gaps"]
    return row


def test_four_of_four_do_not_outweigh_a_site_that_knows_more() -> None:
    few, many = of_shares("few", (4, 4), (160, 200)), of_shares("many", (160, 200), (160, 200))
    spread = {one["site"]: one["se"] for one in pooled([few, many])["sites"]}
    assert few.gaps[0]["se"] < many.gaps[0]["se"], "the standard error of 4 of 4 is 0, so that of the gap is too small"
    assert spread["few"] > 3 * spread["many"]
    assert spread["many"] == pytest.approx(0.04, rel=0.02)


def test_all_found_on_both_sides_still_counts() -> None:
    row = pooled(
        [of_shares("A", (9, 9), (50, 50)), of_shares("B", (8, 10), (45, 50)), of_shares("C", (9, 10), (40, 50))]
    )
    assert row["k"] == 3
    assert not row["without"]


def test_ends_of_another_level_mean_the_same_spread() -> None:
    """A site that declared a margin shows simultaneous ends; they stand for no more spread than plain ones."""
    narrow, wide = (pooled([of_shares(n, (30, 40), (90, 120), level=at) for n in "AB"]) for at in (0.95, 0.999))
    assert wide["sites"][0]["se"] == pytest.approx(narrow["sites"][0]["se"], rel=0.05)
    assert z_critical(0.999) > 1.5 * z_critical(0.95)


def test_no_gap_is_found_as_often_as_it_should_be() -> None:
    """Six sites with eight women each, no gap: weighed by their own standard errors 0 is missed in two of three."""
    rng = np.random.default_rng(4)
    held = []
    for _ in range(150):
        sites = [of_shares(n, (rng.binomial(8, 0.9), 8), (rng.binomial(100, 0.9), 100)) for n in "ABCDEF"]
        row = pooled(sites)
        held.append(row["low"] <= 0 <= row["high"])
    assert np.mean(held) >= 0.93
