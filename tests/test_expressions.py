"""Expressions: a few signs over columns and nothing else; what is missing stays so; slips are told with their place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.errors import InputError
from workup.tasks.expressions import LONGEST, Expression, looks_like_expression

NAN = float("nan")
TABLE = {
    "a": np.array([1.0, 2.0, NAN, 4.0]),
    "b": np.array([0.5, NAN, 0.25, 0.0]),
    "status": np.array(["dead", "alive", None, " dead "], dtype=object),
    "odd name": np.array([1.0, 0.0, 1.0, 0.0]),
    "naïve": np.array([1.0, 1.0, 0.0, 0.0]),
    "when": np.array(["2024-01-01"] * 4, dtype="datetime64[us]"),
}


def column(text: str) -> list[Any]:
    return Expression.parse(text, where="columns.risk").column(TABLE).tolist()


def same(found: list[Any], expected: list[Any]) -> bool:
    return all(x == y or (x != x and y != y) for x, y in zip(found, expected, strict=True))


ANSWERS: list[tuple[str, list[Any]]] = [
    ("1 - b", [0.5, NAN, 0.75, 1.0]),
    ("a + b * 2", [2.0, NAN, NAN, 4.0]),
    ("(a + 1) / 2", [1.0, 1.5, NAN, 2.5]),
    ("-a", [-1.0, -2.0, NAN, -4.0]),
    ("a >= 2", [0.0, 1.0, NAN, 1.0]),
    ("1 < a <= 2", [0.0, 1.0, NAN, 0.0]),
    ("a == 1", [1.0, 0.0, NAN, 0.0]),
    ('status == "dead"', [1.0, 0.0, NAN, 1.0]),
    ("status != 'dead'", [0.0, 1.0, NAN, 0.0]),
    ('status in ("dead", "lost")', [1.0, 0.0, NAN, 1.0]),
    ('status not in ["dead"]', [0.0, 1.0, NAN, 0.0]),
    ("a in (1, 4)", [1.0, 0.0, NAN, 1.0]),
    ("`odd name` == 1", [1.0, 0.0, 1.0, 0.0]),
    ("`naïve` + 0", [1.0, 1.0, 0.0, 0.0]),
    ("not a > 1", [1.0, 0.0, NAN, 0.0]),
    ("a > 1 and b > 0", [0.0, NAN, NAN, 0.0]),
    ("a > 1 or b > 0", [1.0, 1.0, 1.0, 1.0]),
    ("a > 3 or b > 1", [0.0, NAN, NAN, 1.0]),
    ("(" * 100 + "a" + ")" * 100, [1.0, 2.0, NAN, 4.0]),
    ("(a > 1) == (b > 0)", [0.0, NAN, NAN, 0.0]),
]


@pytest.mark.parametrize(("text", "expected"), ANSWERS, ids=[text for text, _ in ANSWERS])
def test_an_expression_gives_what_it_says(text: str, expected: list[Any]) -> None:
    assert same(column(text), expected)


HOSTILE = [
    *("__import__('os').system('id')", "().__class__", "a.__class__", "a.b", "abs(a)", "a[0]", "[a for a in b]"),
    *("lambda: a", "a if b else a", "a ** 9 ** 9 ** 9", "9**9**9 + a", "a % 2", "a // 2", "a << 9999", "a @ b", "~a"),
    *("a := 3", "(a := 3)", "a; b", "a\nb", "import os", "print(a)", "{a}", "{a: b}", "*a", "a, b", "...", "None"),
    *(
        "True",
        'f"{a}"',
        "b'x' == a",
        "1j * a",
        "1e999 * a",
        "9" * 290 + " * a",
        "a is b",
        "yield a",
        "await a",
        "a and",
    ),
    *("", "   ", "(" * 150 + "a" + ")" * 150, "-" * 200 + "a", "not " * 60 + "a > 1", "a + " * 70 + "a"),
    *("a" * (LONGEST + 1), "\uff41 + 1", "\u0430 + 1", "a \u2212 1", "a \u00d7 2", "a \u2265 2", "a\u202e + 1"),
    *("status == \u201cdead\u201d", "a\x00", "a \\\n + 1", "`a", "a`", "``", "1 + 1", '"x"', "a + status"),
    *("status > 1", "status == 1", "a == 'x'", 'status < "e"', "a and b", "not a", "when + 1", "a / 0", "1 / b"),
    *("a * 1e200 * 1e200", "a in b", "a in ()", "a in (b, 1)", "1 < a in (1, 2)", "a + (b, 1)", "nan + a"),
    *('status == "deadd"', "a == (1, 2)", "(a > 1) + 1"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_not_in_the_language_is_one_error(text: str) -> None:
    with pytest.raises(InputError) as caught:
        Expression.parse(text, where="columns.risk").column(TABLE)
    message = str(caught.value)
    assert message.startswith("columns.risk") and len(message) < 700
    assert "Traceback" not in message and "\x00" not in message


SENTENCES = [
    ("1 - surv6m", ["character 5", "the table has no column 'surv6m'"]),
    ("1 - statu", ["did you mean 'status'?"]),
    ('status == "deadd"', ["no row of column 'status' is 'deadd'", "letter by letter"]),
    ("a \u2212 1", ["(U+2212)", "write - for it"]),
    ("abs(a)", ["got functions"]),
    ("a ** 2", ["got powers"]),
    ("status == 1", ["column 'status' holds texts", "put the value in quotes"]),
    ('a == "1"', ["column 'a' holds numbers", "leave out the quotes"]),
    ("1 / b", ["division by 0 in 1 of them"]),
    ("a and b", ["write a comparison, such as age >= 65"]),
]


@pytest.mark.parametrize(("text", "words"), SENTENCES, ids=[text for text, _ in SENTENCES])
def test_a_slip_is_told_with_its_place_and_remedy(text: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        Expression.parse(text, where="columns.risk").column(TABLE)
    for part in words:
        assert part in str(caught.value)


@given(st.lists(st.sampled_from(["ab", "_c0_", "_00_", "_01_", "_zz"]), min_size=1, max_size=6), st.randoms())
def test_a_name_in_backticks_is_never_taken_for_another(names: list[str], draw: Any) -> None:
    cells = {name: np.array([10.0**place]) for place, name in enumerate(("ab", "_c0_", "_00_", "_01_", "_zz"))}
    text = " + ".join(f"`{name}`" if draw.random() < 0.5 else name for name in names)
    expression = Expression.parse(text, where="columns.risk")
    assert expression.column(cells).tolist() == [sum(cells[name][0] for name in names)]
    assert expression.names == tuple(dict.fromkeys(names))


def test_a_stand_in_does_not_shadow_a_column() -> None:
    cells = {"ab": np.array([1.0]), "_c0_": np.array([10.0])}
    assert Expression.parse("`ab` + _c0_", where="columns.risk").column(cells).tolist() == [11.0]


def test_values_that_may_be_of_patients_are_not_listed() -> None:
    notes = {"note": np.array([f"patient number {i} was seen" for i in range(4)], dtype=object)}
    with pytest.raises(InputError) as caught:
        Expression.parse('note == "x"', where="columns.outcome").column(notes)
    assert "number" not in str(caught.value)


def test_a_plain_name_is_no_expression() -> None:
    assert not any(map(looks_like_expression, ["risk", "risk 6m", "risk_6m", "Risk.6m", "%risk", "android", "notes"]))
    assert all(map(looks_like_expression, ["1 - p", 'a == "x"', "a>1", "`odd`", "not a", "a or b", "1 \u2212 p"]))


NUMBERS = st.one_of(st.just(NAN), st.floats(-1e3, 1e3, allow_nan=False))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=6))
def test_arithmetic_and_logic_agree_with_python_row_by_row(rows: list[tuple[float, float]]) -> None:
    table = {"x": np.array([x for x, _ in rows]), "y": np.array([y for _, y in rows])}

    def of(text: str) -> list[float]:
        return Expression.parse(text, where="w").column(table).tolist()

    def kleene(x: float, y: float) -> float:
        one, other = (None if math.isnan(v) else v > 0 for v in (x, y))
        if one is False or other is False:
            return 0.0
        return NAN if one is None or other is None else 1.0

    assert same(of("x - 2 * y"), [x - 2 * y for x, y in rows])
    assert same(of("x > 0 and y > 0"), [kleene(x, y) for x, y in rows])
    assert same(of("not (not x > 0 or not y > 0)"), of("x > 0 and y > 0"))
    assert same(of("x < y"), [NAN if math.isnan(x + y) else float(x < y) for x, y in rows])


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab1.0+-*/()<>=!\"'` \\,[]{}:;@%^&|~\n\x00é\u00d7andortif_lm", max_size=60))
def test_no_text_does_more_than_answer_or_refuse(text: str) -> None:
    try:
        found = Expression.parse(text, where="w").column({"a": np.array([1.0, NAN]), "b": np.array([2.0, 0.5])})
    except InputError:
        return
    assert found.shape == (2,)
