"""Generators by name: the same purpose draws the same numbers, another purpose others."""

from __future__ import annotations

import numpy as np
import pytest

from workup.stats.random import generator


def _first(seed: int, *names: str | int) -> list[float]:
    return generator(seed, *names).random(4).tolist()


def test_a_draw_depends_on_seed_and_names_alone() -> None:
    once = _first(5, "bootstrap", 3)
    _first(5, "bootstrap", 4)
    np.random.default_rng(0).random(10)
    assert _first(5, "bootstrap", 3) == once


def test_any_other_name_or_seed_is_another_stream() -> None:
    streams = [
        _first(1, "a"),
        _first(2, "a"),
        _first(1, "b"),
        _first(1, "a", 0),
        _first(1, 0, "a"),
        _first(1),
        _first(1, "a0"),
    ]
    assert len({tuple(values) for values in streams}) == len(streams)


def test_names_do_not_run_together() -> None:
    assert _first(1, "ab", "c") != _first(1, "a", "bc")
    assert _first(1, "1", "2") != _first(1, "12")


def test_streams_of_neighbouring_names_are_uncorrelated() -> None:
    draws = np.array([generator(0, "bootstrap", i).normal(size=4_000) for i in range(6)])
    correlation = np.corrcoef(draws)[~np.eye(6, dtype=bool)]
    assert np.abs(correlation).max() < 4.5 / np.sqrt(4_000)


def test_the_stream_is_pinned() -> None:
    """Every interval in every report rests on these numbers: a change of generator must be seen."""
    assert generator(7, "bootstrap", 0).integers(0, 1_000, 6).tolist() == [220, 257, 223, 617, 403, 600]
    assert generator(7, "bootstrap", 0).random() == pytest.approx(0.25736306217034766, rel=1e-15)
