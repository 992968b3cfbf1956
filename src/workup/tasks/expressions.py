"""Columns derived from others by one short, safe expression: `1 - survival`, `outcome == "dead"`.

A small language of its own, read through Python's parser and nothing else of Python: no call, no attribute, no power.
"""

from __future__ import annotations

import ast
import operator
import re
import string
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, near, visible
from workup.scores import MISSING, level_name
from workup.stats.arrays import Bools, Floats

LONGEST = 300  # characters
_DEEPEST = 25
_MOST_PARTS = 150
_LARGEST = 1e15  # whole numbers from there on are not exact
_GRAMMAR = 'columns, numbers, "text", + - * /, == != < <= > >=, in (…), and, or, not, and parentheses'
_PIECES = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|[^`\"']+|.", re.DOTALL)
_MEANT = {"−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "÷": "/", "≥": ">=", "≤": "<=", "≠": "!=", "＝": "==",
          "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"}  # fmt: skip
_LOOKS = re.compile(rf"[-+*/<>=!()`\"'{''.join(_MEANT)}]|\b(and|or|not|in)\b")
_NUMBERS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARED: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_REFUSED: dict[type[ast.AST], str] = {
    ast.Call: "functions",
    ast.Attribute: "names with a point",
    ast.Subscript: "square brackets",
    ast.Pow: "powers",
    ast.Mod: "remainders",
    ast.FloorDiv: "whole division",
    ast.IfExp: "if and else",
    ast.Lambda: "functions",
    ast.NamedExpr: "assignments",
    ast.JoinedStr: "formatted text",
    ast.Is: "'is'",
    ast.IsNot: "'is not'",
}


@dataclass(frozen=True)
class _Value:
    """A number or a truth per row (NaN where it is missing), or a text per row; a constant is one row."""

    kind: Literal["number", "truth", "text"]
    values: npt.NDArray[Any]
    missing: Bools
    name: str = ""


@dataclass(frozen=True)
class Expression:
    """An expression that was read and found harmless, over the columns it names."""

    text: str
    tree: ast.expr
    odd_names: Mapping[str, str]  # stand-ins for names in backticks
    where: str

    @classmethod
    def parse(cls, text: str, *, where: str) -> Expression:
        """Read an expression, or raise an error that says what is allowed and where it went wrong.

        >>> Expression.parse("1 - `survival 6m`", where="columns.risk").names
        ('survival 6m',)
        """
        if len(text) > LONGEST:
            raise InputError(f"an expression has at most {LONGEST} characters", where=where, got=f"{len(text):,}")
        plain, odd = _without_odd_names(text, where)
        try:
            tree = ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            place = getattr(error, "offset", None)
            at = f" at character {place}" if place else ""
            raise InputError(
                f"an expression of {_GRAMMAR} was expected",
                where=f"{where}, '{_short(text)}'",
                got=f"something that cannot be read{at}",
                remedy="put names with spaces or signs in backticks, and text in quotes",
            ) from None
        found = cls(text, tree, odd, where)
        found._check(tree, 0, [0])
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The columns it is made of, in their order."""
        walked = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name))
        ordered = sorted(walked, key=lambda node: node.col_offset)
        return tuple(dict.fromkeys(self.odd_names.get(node.id, node.id) for node in ordered))

    @property
    def is_comparison(self) -> bool:
        """Whether it answers true or false rather than a number."""
        top = self.tree
        return isinstance(top, (ast.Compare, ast.BoolOp)) or (
            isinstance(top, ast.UnaryOp) and isinstance(top.op, ast.Not)
        )

    def column(self, table: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """The derived column: numbers, or 1 and 0 for true and false; NaN where what it rests on is missing.

        >>> table = {"status": np.array(["dead", "alive", None], dtype=object)}
        >>> Expression.parse('status == "dead"', where="columns.outcome").column(table).tolist()
        [1.0, 0.0, nan]
        """
        if not self.names:
            self._refuse(self.tree, "an expression must name a column", got="none")
        found = self._value(self.tree, table)
        n = len(next(iter(table.values())))
        if found.kind == "text":
            texts = np.array(np.broadcast_to(found.values, (n,)), dtype=object)
            texts[np.broadcast_to(found.missing, (n,))] = None
            return texts
        return np.array(np.broadcast_to(np.where(found.missing, np.nan, found.values), (n,)), dtype=np.float64)

    def warnings(self, table: Mapping[str, npt.NDArray[Any]]) -> list[str]:
        """Values listed after `in` that no row has: a rare code that is absent here, or a misspelt one whose rows are
        quietly counted on the wrong side.

        >>> table = {"status": np.array(["dead", "expired", "alive"], dtype=object)}
        >>> Expression.parse('status in ("dead", "expird")', where="columns.outcome").warnings(table)
        ["Warning: columns.outcome lists 'expird', which no row of column 'status' has: check the spelling."]
        """
        found = []
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Name):
                continue
            listed = [one for part in node.comparators if isinstance(part, (ast.Tuple, ast.List)) for one in part.elts]
            if not listed:
                continue
            column = self._column(node.left, table)
            held = set(column.values[~column.missing].tolist())
            values = {str(one.value): _constant(one.value) for one in listed if isinstance(one, ast.Constant)}
            unseen = [f"'{_short(text)}'" for text, value in values.items() if value.values[0] not in held]
            if unseen:
                found.append(
                    f"Warning: {self.where} lists {', '.join(unseen)}, which no row of column '{column.name}' has: "
                    "check the spelling."
                )
        return found

    # ---- what is allowed ---------------------------------------------------------------------------------------------

    def _check(self, node: ast.AST, depth: int, count: list[int]) -> None:
        count[0] += 1
        if depth > _DEEPEST or count[0] > _MOST_PARTS:
            self._refuse(node, "an expression must be short", got="one nested too deeply or of too many parts")
        if isinstance(node, ast.Constant):
            self._check_constant(node)
        elif isinstance(node, ast.Compare):
            self._check_comparison(node)
        elif (isinstance(node, ast.BinOp) and type(node.op) not in _NUMBERS) or (
            isinstance(node, ast.UnaryOp) and not isinstance(node.op, (ast.Not, ast.USub, ast.UAdd))
        ):
            self._not_allowed(node, node.op)
        elif not isinstance(node, (ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp)):
            self._not_allowed(node, node)
        for inner in ast.iter_child_nodes(node):
            listed = isinstance(node, ast.Compare) and isinstance(inner, (ast.Tuple, ast.List))  # looked at above
            if isinstance(inner, ast.expr) and not listed:
                self._check(inner, depth + 1, count)

    def _check_constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            return
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            self._refuse(node, "a constant must be a number or a text in quotes", got=f"{node.value!r:.20}")
        if not abs(node.value) < _LARGEST:
            self._refuse(node, f"a number must be below {_LARGEST:g}", got="a larger one")

    def _check_comparison(self, node: ast.Compare) -> None:
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, (ast.In, ast.NotIn)):
                if not isinstance(right, (ast.Tuple, ast.List)) or not right.elts:
                    self._refuse(right, '\'in\' needs a list of values, such as ("a", "b")', got="none")
                for item in right.elts:
                    if not isinstance(item, ast.Constant):
                        self._refuse(item, "a list after 'in' holds numbers or text in quotes", got="something else")
                    self._check_constant(item)
                if len(node.ops) > 1:
                    self._refuse(node, "'in' cannot be part of a chain of comparisons", got="one")
            elif type(op) not in _COMPARED:
                self._not_allowed(node, op)
            elif isinstance(right, (ast.Tuple, ast.List)):
                self._not_allowed(right, right)

    def _not_allowed(self, node: ast.AST, what: ast.AST) -> NoReturn:
        named = _REFUSED.get(type(what), "something else")
        self._refuse(node, f"an expression is made of {_GRAMMAR}", got=named)

    # ---- what it comes to --------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr, table: Mapping[str, npt.NDArray[Any]]) -> _Value:
        if isinstance(node, ast.Constant):
            return _constant(node.value)
        if isinstance(node, ast.Name):
            return self._column(node, table)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node, self._value(node.left, table), self._value(node.right, table))
        if isinstance(node, ast.UnaryOp):
            return self._unary(node, self._value(node.operand, table))
        if isinstance(node, ast.BoolOp):
            parts = [self._of_kind(part, self._value(part, table), "truth") for part in node.values]
            joined = parts[0]
            for part in parts[1:]:
                joined = (
                    _both(joined, part)
                    if isinstance(node.op, ast.And)
                    else _negated(_both(*map(_negated, (joined, part))))
                )
            return joined
        assert isinstance(node, ast.Compare)
        return self._comparison(node, table)

    def _column(self, node: ast.Name, table: Mapping[str, npt.NDArray[Any]]) -> _Value:
        name = self.odd_names.get(node.id, node.id)
        if name not in table:
            self._refuse(node, f"the table has no column '{name}'", remedy=near(name, list(table)[:60]))
        column = np.asarray(table[name])
        if column.dtype.kind in "biuf":
            numbers = column.astype(np.float64)
            return _Value("number", numbers, np.isnan(numbers), name)
        if column.dtype.kind == "M":
            self._refuse(node, f"column '{name}' must hold numbers or text", got="dates")
        texts = np.array([level_name(value) for value in column.tolist()], dtype=object)
        return _Value("text", texts, texts == MISSING, name)

    def _arithmetic(self, node: ast.BinOp, left: _Value, right: _Value) -> _Value:
        left, right = self._of_kind(node.left, left, "number"), self._of_kind(node.right, right, "number")
        missing = left.missing | right.missing
        with np.errstate(all="ignore"):
            values = _NUMBERS[type(node.op)](left.values, right.values)
        wrong = ~np.isfinite(values) & ~missing
        if wrong.any():
            by_zero = isinstance(node.op, ast.Div) and bool(np.any((right.values == 0) & wrong))
            self._refuse(
                node,
                "a finite number was expected in every row",
                got=f"{'a division by 0' if by_zero else 'a number too large'} in {int(wrong.sum()):,} of them",
                remedy="leave the cell empty where the number is unknown",
            )
        return _Value("number", values, missing)

    def _unary(self, node: ast.UnaryOp, value: _Value) -> _Value:
        if isinstance(node.op, ast.Not):
            return _negated(self._of_kind(node.operand, value, "truth"))
        found = self._of_kind(node.operand, value, "number")
        return found if isinstance(node.op, ast.UAdd) else _Value("number", -found.values, found.missing)

    def _comparison(self, node: ast.Compare, table: Mapping[str, npt.NDArray[Any]]) -> _Value:
        left = self._value(node.left, table)
        joined: _Value | None = None
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            if isinstance(comparator, (ast.Tuple, ast.List)):
                constants = [_constant(item.value) for item in comparator.elts if isinstance(item, ast.Constant)]
                each = [self._compared(node, left, one, ast.Eq(), told=False) for one in constants]
                self._refuse_unseen(node, left, constants)
                found = each[0]
                for one in each[1:]:
                    found = _negated(_both(_negated(found), _negated(one)))
                found = _negated(found) if isinstance(op, ast.NotIn) else found
                right = left
            else:
                right = self._value(comparator, table)
                found = self._compared(node, left, right, op)
            joined = found if joined is None else _both(joined, found)
            left = right
        assert joined is not None
        return joined

    def _compared(self, node: ast.Compare, left: _Value, right: _Value, op: ast.cmpop, *, told: bool = True) -> _Value:
        if left.kind != right.kind:
            held = next((one for one in (left, right) if one.name), None)
            quotes = "leave out the quotes" if held is not None and held.kind == "number" else "put the value in quotes"
            what = f"column '{held.name}' holds {held.kind}s" if held is not None else "two kinds of value"
            self._refuse(node, "two values of one kind must be compared", got=f"{left.kind} and {right.kind} ({what})",
                         remedy=quotes)  # fmt: skip
        if left.kind == "text" and not isinstance(op, (ast.Eq, ast.NotEq)):
            self._refuse(node, "text can be equal or not, and has no order", got="< or >", remedy="compare numbers")
        if told:
            self._refuse_unseen(node, left, [right])
            self._refuse_unseen(node, right, [left])
        missing = left.missing | right.missing
        values = np.asarray(_COMPARED[type(op)](left.values, right.values), dtype=np.float64)
        return _Value("truth", values, missing)

    def _refuse_unseen(self, node: ast.AST, column: _Value, constants: Collection[_Value]) -> None:
        """A text that no row holds is a slip of the pen, and would make everyone a non-event."""
        if column.kind != "text" or not column.name or any(one.name or one.kind != "text" for one in constants):
            return
        levels = sorted(set(column.values[~column.missing].tolist()))
        wanted = [str(one.values[0]) for one in constants]
        if not set(wanted) & set(levels):
            self._refuse(  # what stands in the column may be one patient's, so no message lists it
                node,
                f"no row of column '{column.name}' is '{_short(wanted[0])}'",
                got=f"{len(levels):,} other {'text' if len(levels) == 1 else 'texts'}",
                remedy="use a text that stands in the column, letter by letter",
            )

    def _of_kind(self, node: ast.AST, value: _Value, kind: Literal["number", "truth"]) -> _Value:
        if value.kind == kind:
            return value
        held = f"column '{value.name}' with {value.kind}" if value.name else value.kind
        expected = "numbers are added, subtracted, multiplied and divided"
        remedy = "compare texts with == first" if value.kind == "text" else "use 'not (…)' to turn a truth around"
        if kind == "truth":
            expected, remedy = "'and', 'or' and 'not' join comparisons", "write a comparison, such as age >= 65"
        self._refuse(node, expected, got=held, remedy=remedy)

    def _refuse(self, node: ast.AST, expected: str, *, got: str = "", remedy: str = "") -> NoReturn:
        place = getattr(node, "col_offset", None)
        at = "" if place is None else f", character {place + 1}"
        raise InputError(expected, where=f"{self.where}, '{_short(self.text)}'{at}", got=got, remedy=remedy)


def looks_like_expression(text: str) -> bool:
    """Whether a text has a sign or a word that only an expression has; a plain name has none.

    >>> looks_like_expression("1 - surv6m"), looks_like_expression("surv6m")
    (True, False)
    """
    return bool(_LOOKS.search(text))


def _without_odd_names(text: str, where: str) -> tuple[str, dict[str, str]]:
    """The text with a stand-in of the same length for each name in backticks; other letters must be plain ASCII.

    Python reads look-alikes of letters as the letters themselves, which would quietly name another column.
    """
    odd: dict[str, str] = {}
    plain = []
    free = ("_" + one + other for one, other in product(string.digits + string.ascii_lowercase, repeat=2))
    for piece in _PIECES.findall(text):
        if len(piece) > 2 and piece[0] == piece[-1] == "`":
            # More than a thousand are to choose from, and a text this short cannot hold them all.
            stand_in = next(one for one in free if one not in text).ljust(len(piece), "_")
            odd[stand_in] = piece[1:-1]
            plain.append(stand_in)
            continue
        quoted = len(piece) > 1 and piece[0] in "\"'"
        strange = next((c for c in piece if not (c.isascii() and c.isprintable())), None)
        if strange is not None and (not quoted or not strange.isprintable()):
            remedy = (
                f"write {_MEANT[strange]} for it" if strange in _MEANT else "put names with such signs in backticks"
            )
            raise InputError(
                "plain letters and signs were expected",
                where=f"{where}, '{_short(text)}'",
                got=f"'{strange}' (U+{ord(strange):04X})" if strange.isprintable() else f"U+{ord(strange):04X}",
                remedy=remedy,
            )
        plain.append(piece if not quoted else piece.replace("\\", "\\\\"))
    return "".join(plain).strip(), odd


def _constant(value: Any) -> _Value:
    if isinstance(value, str):
        return _Value("text", np.array([value.strip()], dtype=object), np.zeros(1, dtype=bool))
    return _Value("number", np.array([float(value)]), np.zeros(1, dtype=bool))


def _both(one: _Value, other: _Value) -> _Value:
    """And of three values: false wins over missing, missing over true."""
    false = (~one.missing & (one.values == 0)) | (~other.missing & (other.values == 0))
    missing = (one.missing | other.missing) & ~false
    values: Floats = np.where(false, 0.0, 1.0)
    return _Value("truth", values, missing)


def _negated(one: _Value) -> _Value:
    return _Value("truth", 1.0 - one.values, one.missing)


def _short(text: str) -> str:
    return visible(text if len(text) <= 60 else text[:59] + "…")
