"""The audit against brute force, and suppression against an independent linear programme, on random tables."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from workup.disclosure.inference import Audit, Ledger, Span
from workup.packs.counts import Cells
from workup.packs.suppression import withhold

LEVELS = ("1", "2", "3")


def parts(column: str, n: int) -> tuple[tuple[str, str], ...]:
    return tuple((column, level) for level in LEVELS[:n])


# ---- the audit against brute force -----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(
    counts=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=2, max_size=3),
    told=st.sets(st.tuples(st.integers(-1, 2), st.integers(0, 1))),
)
def test_ranges_are_those_of_every_table_that_fits(counts: list[list[int]], told: set[tuple[int, int]]) -> None:
    """All tables of small counts are tried: those that agree with what is told give the range of each count."""
    slices = parts("a", len(counts))
    total = tuple(sum(column) for column in zip(*counts, strict=True))
    ledger = Ledger({(): total} | dict(zip(slices, map(tuple, counts), strict=True)), (((), slices),))
    pieces = {(() if place < 0 else slices[place], cut) for place, cut in told if place < len(slices)}
    pieces |= {((), 0)}  # otherwise no range ends
    grand = sum(total)

    def fits(table: Any) -> bool:
        rows = {(): [sum(one) for one in zip(*table, strict=True)]} | dict(zip(slices, table, strict=True))
        return all(sum(rows[who][cut:]) == ledger.value(Span((who,), cut, 2)) for who, cut in pieces)

    flat = product(range(grand + 1), repeat=2 * len(slices)) if grand <= 4 else ()
    tables = [t for t in ([list(f[i : i + 2]) for i in range(0, len(f), 2)] for f in flat) if fits(t)]
    audit = Audit(ledger, pieces)
    for i, who in enumerate(slices):
        for start, stop in ((0, 1), (0, 2), (1, 2)):
            low, high = audit.range(Span((who,), start, stop))
            assert low <= sum(counts[i][start:stop]) <= high
            if tables:
                seen = [sum(table[i][start:stop]) for table in tables]
                assert (low, high) == (min(seen), max(seen))


def test_what_everyone_knows_narrows_the_range() -> None:
    ledger = Ledger({(): (12,), ("a",): (3,), ("b",): (9,)}, (((), (("a",), ("b",))),), named=True)
    assert Audit(ledger, [((), 0)]).range(Span((("a",),), 0, 1)) == (1, 11)
    assert Audit(ledger, [((), 0)]).width(Span((("a",),), 0, 1), enough=5) == 8


def test_counts_that_do_not_add_up_are_refused() -> None:
    ledger = Ledger({(): (5,), ("a",): (3,), ("b",): (9,), ("c",): (1,)}, (((), (("a",), ("b",), ("c",))),))
    with pytest.raises(ValueError, match="do not add up"):
        Audit(ledger, [((), 0), (("b",), 0)]).range(Span((("a",),), 0, 1))


# ---- suppression on random tables ------------------------------------------------------------------------------------


def crossed(table: np.ndarray, thresholds: int) -> Cells:
    """Cells of a table [a, b, outcome, bin]."""
    a, b = table.shape[:2]
    counts: dict[tuple[str, ...], np.ndarray] = {(): table.sum((0, 1))}
    counts |= {("a", LEVELS[i]): table[i].sum(0) for i in range(a)}
    counts |= {("b", LEVELS[j]): table[:, j].sum(0) for j in range(b)}
    counts |= {("a × b", f"{LEVELS[i]} × {LEVELS[j]}"): table[i, j] for i in range(a) for j in range(b)}
    pairs = tuple(who for who in counts if who and who[0] == "a × b")
    sums = [((), parts("a", a)), ((), parts("b", b)), ((), pairs)]
    sums += [(("a", LEVELS[i]), tuple(p for p in pairs if p[1].startswith(LEVELS[i]))) for i in range(a)]
    sums += [(("b", LEVELS[j]), tuple(p for p in pairs if p[1].endswith(LEVELS[j]))) for j in range(b)]
    people = {who: int(n.sum()) for who, n in counts.items()}
    sides = {"non-events": 0, "events": 1}
    named = tuple(i / 10 for i in range(1, thresholds + 1))
    return Cells(
        columns={"a": LEVELS[:a], "b": LEVELS[:b], "a × b": tuple(p[1] for p in pairs)},
        sums=tuple(sums),
        sizes={"patients": people, "rows": people}
        | {side: {who: int(n[y].sum()) for who, n in counts.items()} for side, y in sides.items()},
        cuts={side: {who: tuple(int(x) for x in n[y]) for who, n in counts.items()} for side, y in sides.items()},
        thresholds=named,
        named=named,
    )


def bounds(cells: Cells, side: str, told: set[Any], span: tuple[Any, int, int]) -> tuple[float, float]:
    """The same question asked of a linear programme written here."""
    slices = sorted(cells.cuts[side])
    bins = len(cells.cuts[side][()])

    def vector(who: Any, start: int, stop: int) -> np.ndarray:
        row = np.zeros((len(slices), bins))
        row[slices.index(who), start:stop] = 1
        return row.ravel()

    rows = [
        vector(whole, b, b + 1) - sum(vector(p, b, b + 1) for p in ps) for whole, ps in cells.sums for b in range(bins)
    ]
    right = [0.0] * len(rows)
    for who, cut in sorted(told):
        rows.append(vector(who, cut, bins))
        right.append(float(sum(cells.cuts[side][who][cut:])))
    ends = []
    for sign in (1, -1):
        found = linprog(sign * vector(*span), A_eq=np.array(rows), b_eq=right, bounds=(0, None), method="highs")
        ends.append(sign * found.fun if found.status == 0 else np.inf)
    return ends[0], ends[1]


@settings(deadline=None, max_examples=25)
@given(data=st.data(), a=st.integers(2, 3), b=st.integers(2, 3), thresholds=st.integers(0, 2), k=st.integers(2, 6))
def test_no_small_cell_of_a_random_table_can_be_worked_out(data: Any, a: int, b: int, thresholds: int, k: int) -> None:
    size = a * b * 2 * (thresholds + 1)
    numbers = data.draw(st.lists(st.integers(0, 14), min_size=size, max_size=size))
    cells = crossed(np.array(numbers).reshape(a, b, 2, thresholds + 1), thresholds)
    kept = withhold(cells, k=k)
    for side in ("events", "non-events"):
        counts = cells.cuts[side]
        told = {
            (who, cut)
            for who in counts
            for cut in range(thresholds + 1)
            if kept.tells(who, (side,) if cut else (), cut)
        }
        for who, cut in told:
            assert sum(counts[who][cut:]) >= k, "what is told is not small"
            assert cut == 0 or sum(counts[who][:cut]) >= k, "nor is what it leaves"
        for who, n in counts.items():
            for start in range(thresholds + 1):
                for stop in range(start + 1, thresholds + 2):
                    if sum(n[start:stop]) < k:
                        low, high = bounds(cells, side, told, (who, start, stop))
                        assert np.floor(high + 1e-6) - np.ceil(low - 1e-6) >= k - 1


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=6), st.integers(2, 15))
def test_levels_of_one_column_hide_together_or_not_at_all(levels: list[tuple[int, int]], k: int) -> None:
    names = tuple(("g", str(i)) for i in range(len(levels)))
    both = dict(zip(names, levels, strict=True)) | {(): tuple(map(sum, zip(*levels, strict=True)))}
    people = {who: sum(n) for who, n in both.items()}
    sizes = {
        "patients": people,
        "rows": people,
        "events": {w: n[0] for w, n in both.items()},
        "non-events": {w: n[1] for w, n in both.items()},
    }
    cells = Cells(
        columns={"g": tuple(w[1] for w in names)},
        sums=(((), names),),
        sizes=sizes,
        cuts={"events": {}, "non-events": {}},
    )
    kept = withhold(cells, k=k).slices
    small = {who for who in both if min(both[who]) < k}
    assert small <= kept or () in small
    if () in small:
        assert kept == set(both)
        return
    hidden = [who for who in names if who in kept]
    assert len(hidden) != 1
    if hidden:
        for place in (0, 1):
            assert sum(both[who][place] for who in hidden) >= k, "together they are no small cell either"
    reversed_sizes = {m: dict(reversed(list(one.items()))) for m, one in sizes.items()}
    assert withhold(Cells(cells.columns, cells.sums, reversed_sizes, cells.cuts), k=k).slices == kept
