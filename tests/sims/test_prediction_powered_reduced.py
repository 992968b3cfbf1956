"""The simulation of prediction-powered shares at reduced size: the extremes of its cells."""

from __future__ import annotations

import numpy as np

from sims import prediction_powered
from sims.repetitions import Size, run, where
from workup.stats.prediction_powered import powered_share


def test_there_are_all_cells() -> None:
    assert len(prediction_powered.cells(Size())) == 162


def test_shares_cover_at_the_extremes() -> None:
    found = run(
        prediction_powered,
        size=Size(repetitions=120),
        only=lambda cell: (
            cell.settings["clusters"] in (15, 60)
            and cell.settings["labels"] in (60, 200)
            and cell.settings["share"] in (0.9, 0.99)
            and cell.settings["specificity"] == 0.6
            and cell.settings["icc"] == 0.3
        ),
    )
    assert len(found) == 8
    assert [one for one in found if not one["ok"]] == []
    assert all(one["ok"] for one in prediction_powered.summarise(found))


def test_the_end_that_is_not_worked_out_would_not_have_missed() -> None:
    rng = np.random.default_rng(5)
    outcomes = set()
    for _ in range(80):
        p = float(rng.choice([0.5, 0.9, 0.99]))
        settings = {"clusters": 15, "labels": 60, "share": p, "sensitivity": 0.9, "specificity": 0.8, "icc": 0.3}
        found = powered_share(*prediction_powered.study(rng, **settings))
        truth = float(np.clip(p + rng.normal(0, 0.15), 0, 1))
        outcomes.add(prediction_powered.beside(found, truth))
        assert prediction_powered.beside(found, truth) == where(*found.ends(), truth)
    assert outcomes == {"covered", "above", "below"}


def test_labels_are_spread_evenly_over_rows() -> None:
    rng = np.random.default_rng(1)
    rows = np.arange(100)
    counts = np.zeros(100)
    for _ in range(400):
        drawn = prediction_powered.spread(rng, rows, 30)
        assert len(set(drawn.tolist())) == 30
        counts[drawn] += 1
    assert abs(counts / 400 - 0.3).max() < 0.1
