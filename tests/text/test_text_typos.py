"""Distances, keyboards and look-alikes of scanners, once: each old copy against the floor."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workup.corpora.noise.tables import KEYS
from workup.text.typos import FIGURES, LETTERS_OF_DIGITS, PAIRS, SCANNED, apart, beside, distance

WORDS = st.text("abcde", max_size=9)


def table(one: str, other: str, *, swaps: bool) -> int:
    """The textbook's table, whole: Levenshtein's, or with swapped neighbours as one edit."""
    rows = [[i + j if not i * j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            best = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (one[i - 1] != other[j - 1]))
            if swaps and i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                best = min(best, rows[i - 2][j - 2] + 1)
            rows[i][j] = best
    return rows[-1][-1]


def test_distance_is_levenshtein() -> None:
    for one, other, wanted in (("kitten", "sitting", 3), ("", "abc", 3), ("flaw", "lawn", 2), ("same", "same", 0)):
        assert distance(one, other) == wanted == distance(other, one)


@given(WORDS, WORDS)
def test_both_distances_are_those_of_the_table(one: str, other: str) -> None:
    assert distance(one, other) == table(one, other, swaps=False)
    for most in (1, 2):
        assert apart(one, other, most) == min(table(one, other, swaps=True), most + 1)


def test_figures_are_read_back_as_the_de_identifier_read_them() -> None:
    assert dict(zip("OoQIlZzSsBbGgqA", "000112255866994", strict=True)) == FIGURES


def test_what_is_read_back_is_what_scanners_make() -> None:
    assert all(seen in SCANNED[meant] for seen, meant in PAIRS)
    made = {(figure, letter.lower()) for letter, read in SCANNED.items() for figure in read if figure.isdigit()}
    made |= {(figure, letter) for letter, figure in ((letter.lower(), figure) for letter, figure in FIGURES.items())}
    read = {(figure, letter) for figure, letters in LETTERS_OF_DIGITS.items() for letter in letters}
    assert read - made == {("3", "e"), ("7", "t")}  # seen in faxes, and not made by the noise


def test_one_keyboard() -> None:
    letters = [(one, other) for one in KEYS for other in KEYS[one] if one.isalpha() and one.islower()]
    assert all(beside(one, other) for one, other in letters)
    assert set(KEYS["q"]) == set("wa") and KEYS["5"] == "46"
