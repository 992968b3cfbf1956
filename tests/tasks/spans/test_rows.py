"""Rows and cells as they are gathered: any count is kept as it is, however small the room, and folding adds up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.tasks.spans.counting.document_rows import Cells, Rows

COUNTS = st.integers(0, 300) | st.integers(0, 2**40)


@given(st.lists(st.lists(st.tuples(st.sampled_from("abc"), COUNTS), min_size=1, max_size=5), min_size=1, max_size=5))
def test_columns_are_kept_and_folding_adds_them_up(batches: list[list[tuple[str, int]]]) -> None:
    plain, folding = Rows(), Rows(many=2)
    expected: dict[str, int] = {}
    for batch in batches:
        keys, column = [key for key, _ in batch], np.array([count for _, count in batch])
        for rows in (plain, folding):
            rows.add(keys, {"golds": column})
            rows.fold()
        for key, count in batch:
            expected[key] = expected.get(key, 0) + count
    assert plain.column("golds").tolist() == [count for batch in batches for _, count in batch]
    found: dict[str, int] = {}
    for key, count in zip(folding.keys, folding.column("golds").tolist(), strict=True):
        found[str(key)] = found.get(str(key), 0) + count
    assert found == expected


def test_counts_take_the_room_they_need() -> None:
    rows = Rows()
    rows.add(["a", "b"], {"few": np.array([0, 255]), "many": np.array([0, 70_000]), "weights": np.array([1.0, 250.0])})
    rows.add(["c"], {"few": np.array([256]), "many": np.array([1]), "weights": np.array([3.0])})
    assert rows.column("few").tolist() == [0, 255, 256]
    assert rows.column("many").tolist() == [0, 70_000, 1]
    assert rows.column("weights").tolist() == [1, 250, 3]
    assert rows.column("few").dtype == np.int64
    parts = rows._parts["few"]
    assert max(part.dtype.itemsize for part in parts) == 2


def test_cells_follow_rows_that_were_added_up() -> None:
    cells = Cells()
    cells.add(np.array([0, 0, 1]), np.array([0, 1, 1]), ["date", "zip"], {"golds": np.array([1, 2, 200])})
    cells.add(np.array([2]), np.array([0]), ["zip"], {"golds": np.array([100])})
    assert cells.labels == ["date", "zip"] and cells.label.tolist() == [0, 1, 1, 1]
    cells.fold(np.array([0, 1, 1]))  # the third row was the second's
    assert list(zip(cells.row.tolist(), cells.label.tolist(), cells.column("golds").tolist(), strict=True)) == [
        (0, 0, 1),
        (0, 1, 2),
        (1, 1, 300),
    ]


def test_no_cell_at_all() -> None:
    cells = Cells()
    cells.fold(np.array([], dtype=np.int64))
    assert cells.row.tolist() == [] and cells.column("golds").tolist() == []


@pytest.mark.parametrize("many", [1, 3])
def test_rows_that_do_not_repeat_stay_as_they_are(many: int) -> None:
    rows = Rows(many=many)
    rows.add(["a", "b", "c", "d"], {"golds": np.arange(4)})
    assert rows.fold() is None and not rows.folded and rows.column("golds").tolist() == [0, 1, 2, 3]
