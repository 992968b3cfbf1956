"""What is kept out of training: the same side for a text or name however it is written, and the shares asked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from training.held_out import NAMES, TEXTS, held_out, held_out_name

LETTERS = st.text(alphabet=st.characters(categories=["Ll", "Lu"], max_codepoint=0x24F), min_size=2, max_size=12)


@given(st.lists(LETTERS, min_size=1, max_size=6))
def test_blanks_lines_and_capitals_do_not_move_a_text(words: list[str]) -> None:
    plain = " ".join(words)
    assert held_out(plain) == held_out(f"\n {'   '.join(words)}\r\n") == held_out(plain.casefold())


@given(LETTERS, LETTERS)
def test_a_full_name_is_held_out_if_a_part_is(given_name: str, family: str) -> None:
    assert held_out_name(f"{given_name} {family}") == (held_out_name(given_name) or held_out_name(family))


def test_marks_and_accents_do_not_move_a_name() -> None:
    for name, other in (("José", "JOSE"), ("O'Brien", "obrien"), ("Nguyễn", "nguyen")):
        assert held_out_name(name) == held_out_name(other)


def test_the_shares_are_those_asked_for() -> None:
    texts = sum(held_out(f"note {i}") for i in range(4_000)) / 4_000
    names = sum(held_out_name(f"name{i}") for i in range(4_000)) / 4_000
    assert abs(texts - TEXTS) < 0.035 and abs(names - NAMES) < 0.035


def test_initials_and_nothing_are_not_held_out() -> None:
    assert not held_out_name("J. Q.") and not held_out_name("")
