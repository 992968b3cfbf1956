"""Reads the reference values of tests/fixtures/oracles: cases for parametrised tests and the tolerance of each file."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "fixtures" / "oracles"


class Case(NamedTuple):
    """One reference case: what went in, what R answered, and how close an equal answer must lie."""

    id: str
    input: dict[str, Any]
    expected: dict[str, Any]
    rel_tol: float

    def near(self, field: str) -> Any:
        """The expected field as something to compare with by `==`. The absolute part is for values that are 0."""
        return pytest.approx(self.expected[field], rel=self.rel_tol, abs=1e-12)

    def array(self, name: str) -> Any:
        """An input vector as floats."""
        return np.atleast_1d(np.asarray(self.input[name], dtype=np.float64))


@cache
def read(topic: str) -> dict[str, Any]:
    """A whole file of reference values."""
    found: dict[str, Any] = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    return found


def cases(topic: str, *, prefix: str = "") -> Any:
    """A decorator that runs a test over the cases of a topic whose id starts with `prefix`."""
    found = read(topic)
    chosen = [
        Case(one["id"], one["input"], one["expected"], found["rel_tol"])
        for one in found["cases"]
        if one["id"].startswith(prefix)
    ]
    assert chosen, f"no case of {topic} starts with {prefix!r}"
    return pytest.mark.parametrize("case", chosen, ids=[one.id for one in chosen])


def near(case: Case, value: Any) -> Any:
    """A value as something to compare with by `==`, as closely as the case asks."""
    return pytest.approx(value, rel=case.rel_tol, abs=1e-12)
