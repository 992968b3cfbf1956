"""The simulation of clustered shares at reduced size: the extremes of its cells, and no fall anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sims import clustered_edges
from sims.repetitions import Cell, Size, run
from workup.stats.intervals import clustered_share, effective_ends


def _chosen(cell: Cell, **wanted: Any) -> bool:
    return all(cell.settings.get(name) in values for name, values in wanted.items())


def test_there_are_all_cells() -> None:
    kinds = [cell.settings["kind"] for cell in clustered_edges.cells(Size())]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "share": 1260,
        "same rows": 180,
        "different patients": 120,
        "events": 48,
        "falls": 30,
    }


@pytest.mark.parametrize(("clusters", "sizes"), [(5, "30"), (10, "10"), (30, "1-40 uniform")])
def test_shares_cover_where_clusters_differ_most_and_not_at_all(clusters: int, sizes: str) -> None:
    wanted = {
        "kind": ["share"],
        "clusters": [clusters],
        "sizes": [sizes],
        "icc": [0.0, 0.5],
        "share": [0.7, 0.95, 0.999],
    }
    found = run(clustered_edges, size=Size(repetitions=300), only=lambda cell: _chosen(cell, **wanted))
    assert len(found) == 6
    assert [one for one in found if not one["ok"]] == []


def test_differences_and_counts_cover() -> None:
    wanted = {"clusters": [15], "sizes": ["10", "4", None], "icc": [0.3, None], "mean": [0.3, None]}
    kinds = ["same rows", "different patients", "events"]
    found = run(clustered_edges, size=Size(repetitions=200), only=lambda cell: _chosen(cell, kind=kinds, **wanted))
    assert {one["kind"] for one in found} == set(kinds)
    assert [one for one in found if not one["ok"]] == []
    assert all(one["ok"] for one in clustered_edges.summarise(found))


def test_no_end_falls() -> None:
    found = run(clustered_edges, size=Size(repetitions=20), only=lambda cell: _chosen(cell, kind=["falls"]))
    assert [one for one in found if one["rate"] != 1.0] == []


def test_the_side_that_is_not_worked_out_would_not_have_missed() -> None:
    rng = np.random.default_rng(4)
    for _ in range(60):
        n = rng.integers(1, 20, 8).astype(float)
        x = rng.binomial(n.astype(int), 0.8).astype(float)
        truth = float(rng.uniform(0.5, 1))
        whole = effective_ends(clustered_share(x, n, np.arange(8), np.ones(8)))
        quick = clustered_edges._ends(x, n, truth=truth)
        assert (whole.low <= truth <= whole.high) == (quick.low <= truth <= quick.high)
