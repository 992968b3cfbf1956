"""Overlapping groupings in one ledger: levels as sums of atoms, and what that lets a reader infer."""

from __future__ import annotations

import numpy as np
import pytest

from workup.disclosure.atoms import Block, DoesNotFit, loose, tied, without_empty
from workup.disclosure.inference import Audit, Ledger, Span
from workup.disclosure.exposure import Search, Watched

SEX = {(): 100, ("sex", "F"): 60, ("sex", "M"): 33, ("sex", "X"): 7, ("male", "no"): 67, ("male", "yes"): 33}
SUMS = (((), (("sex", "F"), ("sex", "M"), ("sex", "X"))), ((), (("male", "no"), ("male", "yes"))))
ANYTHING = {"columns": ["male", "sex"], "levels": [["no", "yes"], ["F", "M", "X"]], "occurs": "101011"}


def ledger(*, of_x: str = "known") -> Ledger:
    block = Block.of(ANYTHING)
    counts = {who: (n,) for who, n in SEX.items()}
    if of_x == "known":
        block = without_empty(block, SEX, {})
    return tied(counts, SUMS, [block], crossed={}, named=True)


def test_the_two_columns_give_away_what_neither_does() -> None:
    x = Span((("sex", "X"),), 0, 1)
    by_sex = [((), 0), (("sex", "F"), 0)]
    assert Audit(ledger(), by_sex).range(x) == (1, 39)
    both = [*by_sex, (("male", "no"), 0)]
    assert Audit(ledger(), both).range(x) == (7, 7)
    assert Audit(ledger(), both).proof(x) == {(("sex", "F"), 0), (("male", "no"), 0)}


def test_a_combination_that_could_hold_nobody_is_taken_away() -> None:
    """Nothing was said of X, but M fills male by itself."""
    found = without_empty(Block.of(ANYTHING), SEX, {})
    assert found.occurs.tolist() == [[True, False, True], [False, True, False]]


def test_atoms_add_up_to_every_level() -> None:
    one = ledger(of_x="unknown")
    assert np.abs(one.adding_up @ one.table).max() == 0
    assert one.inner and not one.inner & set(SEX)


def test_counts_that_cannot_be_are_refused() -> None:
    wrong = {**SEX, ("male", "no"): 50, ("male", "yes"): 50}
    with pytest.raises(DoesNotFit):
        without_empty(Block.of({**ANYTHING, "occurs": "101010"}), wrong, {})


def test_levels_that_a_block_does_not_know_may_occur_with_anything() -> None:
    block = Block.of(ANYTHING).fitted({"sex": ["F", "M", "few together"], "male": ["no", "yes"], "unit": ["ICU"]})
    assert block is not None
    assert block.occurs.tolist() == [[True, False, True], [False, True, True]]
    assert Block.of(ANYTHING).fitted({"sex": ["F", "M", "X"]}) is None


@pytest.mark.parametrize(
    ("occurs", "expected"),
    [("1111", True), ("1011", False), ("1001", False), ("111111", True), ("110111", False), ("110110", False)],
)
def test_a_block_is_loose_where_no_combination_hangs_on_another(occurs: str, expected: bool) -> None:
    names = ["a", "b", "c"][: len(occurs) // 2]
    block = Block.of({"columns": ["p", "q"], "levels": [["1", "2"], names], "occurs": occurs})
    assert loose(block) is expected


def test_the_search_names_the_first_count_that_is_given_away() -> None:
    search = Search(ledger(), [Watched(Span((("sex", "X"),), 0, 1), 10, 11)])
    told = [((), 0), (("sex", "F"), 0), (("male", "no"), 0)]
    found = search.exposed(told)
    assert found is not None and search.watched[found.number].span.slices == (("sex", "X"),)
    assert search.exposed(told[:2]) is None
    assert search.reach(0, told) == 0 and search.reach(0, told[:2]) == 10
