"""What each column of a table is treated as before it is redacted: whose row it is, an identifier, text, or left alone.

What a user says comes first, then the column's name, then its cells. A column that looks like identifiers of a kind
that nobody named is refused, never passed on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from workup.documents.column_names import is_key, kind_of, leaf_of
from workup.documents.labels import canonical_name
from workup.errors import InputError, near

Treated = Literal["key", "identifier", "text", "kept"]
_LOOKED_AT = 2_000  # cells that tell what a column holds
_MOST = 0.5  # share of cells of one shape that makes it the column's
_FEW = 30  # different values of a category
_WORDS = 3  # words of a cell, on average, that make it text
_LONG_NUMBER = 5  # digits from which on a number may be somebody's
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}")),
    ("ssn", re.compile(r"\d{3}-\d{2}-\d{4}")),
    ("phone", re.compile(r"(?:\+?\d{1,2}[ .-]?)?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?: ?x\.? ?\d{1,5})?")),
    ("date", re.compile(r"\d{4}-\d\d-\d\d(?:[T ][0-9:.+Z-]{4,20})?")),
    ("date", re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-](?:\d{2}|\d{4})(?: [\d:]{4,8})?")),
    ("ip", re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")),
    ("url", re.compile(r"https?://\S{3,500}")),
)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")
_CODE = re.compile(r"(?=[^\s]*\d)[A-Za-z0-9][A-Za-z0-9_./-]{3,60}")
_SHOWN = re.compile(r"[A-Za-z][A-Za-z0-9_ .-]{0,39}")


@dataclass(frozen=True)
class Chosen:
    """What a user says of columns: text, identifiers (with a leaf or without), what stays, and whose rows they are."""

    text: tuple[str, ...] = ()
    identifiers: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    key: str = ""

    @classmethod
    def of(cls, text: Sequence[str], identifiers: Sequence[str], kept: Sequence[str], key: str) -> Chosen:
        """From what is typed: an identifier may name its leaf, as in --id-column chart=mrn."""
        leaves = {}
        for one in identifiers:
            name, _, leaf = one.partition("=")
            leaves[name] = canonical_name(leaf, where="--id-column") if leaf else ""
        return cls(tuple(text), leaves, tuple(kept), key)

    def check(self, names: Sequence[str], *, where: str) -> None:
        """Every column that is named must be there, and said one thing of."""
        said = [*self.text, *self.identifiers, *self.kept, *([self.key] if self.key else [])]
        for name in said:
            if name not in names:
                raise InputError(
                    "a column that is named must be in the table",
                    where=where,
                    got="no such column",
                    remedy=near(name, [one for one in names if _SHOWN.fullmatch(one)]),
                )
            if said.count(name) > 1:
                raise InputError("one thing can be said of a column", where=where, got="two of one of them")


@dataclass(frozen=True)
class Plan:
    """What one column is treated as, of which leaf, and why."""

    column: str
    treated: Treated
    leaf: str
    why: str

    def record(self, number: int) -> dict[str, str]:
        """As records and terminals show it; a name that may be somebody's is not shown."""
        name = self.column if _SHOWN.fullmatch(self.column) else f"column {number}"
        return {"column": name, "treated": self.treated, "leaf": self.leaf, "why": self.why}


def planned(columns: Mapping[str, Sequence[str]], chosen: Chosen, *, where: str) -> list[Plan]:
    """What each column is treated as; `columns` hold their cells as text, empty where there is none.

    >>> cells = {"mrn": ["00417"], "note": ["Seen today in clinic."], "sex": ["F"], "hb": ["12.3"]}
    >>> [(one.treated, one.leaf) for one in planned(cells, Chosen(), where="")]
    [('identifier', 'mrn'), ('text', ''), ('kept', ''), ('kept', '')]
    """
    chosen.check(list(columns), where=where)
    found = [_plan(name, cells, chosen) for name, cells in columns.items()]
    unknown = [number for number, one in enumerate(found, start=1) if one is None]
    if unknown:
        first = list(columns)[unknown[0] - 1]
        named = f"'{first}'" if _SHOWN.fullmatch(first) else f"number {unknown[0]}"
        raise InputError(
            "every column must be told apart from identifiers before a table is passed on",
            where=where,
            got=f"{len(unknown)} that may be identifiers of a kind that is not known, the first of them {named}",
            remedy="say what it is with --id-column NAME or NAME=LEAF, --text-column NAME, or --keep-column NAME",
        )
    keys = [one for one in found if one is not None and one.treated == "key"]
    if len(keys) > 1:
        raise InputError(
            "one column can tell whose a row is",
            where=where,
            got=f"{len(keys)} that look so",
            remedy="name it with --patient-column, and the others with --id-column",
        )
    return [one for one in found if one is not None]


def _plan(name: str, cells: Sequence[str], chosen: Chosen) -> Plan | None:
    if name == chosen.key:
        return Plan(name, "key", "", "named")
    if name in chosen.text:
        return Plan(name, "text", "", "named")
    if name in chosen.kept:
        return Plan(name, "kept", "", "named")
    if name in chosen.identifiers:
        told = kind_of(name)
        leaf = chosen.identifiers[name] or (leaf_of(told) if told else "id_other")
        return Plan(name, "identifier", leaf, "named")
    if is_key(name) and not chosen.key:
        return Plan(name, "key", "", "by its name")
    told = kind_of(name) or ("id_other" if is_key(name) else None)
    held = [cell.strip() for cell in cells if cell.strip()][:_LOOKED_AT]
    words = sum(cell.count(" ") + 1 for cell in held) / max(1, len(held))
    if told is not None:
        leaf = leaf_of(told)
        # A column called "name" or "company" may hold long text; then it is read as text.
        return Plan(name, "text", "", "by its cells") if words > 8 else Plan(name, "identifier", leaf, "by its name")
    if not held:
        return Plan(name, "kept", "", "empty")
    for leaf, shape in _SHAPES:
        if _share(held, shape) > _MOST:
            return Plan(name, "identifier", leaf, "by its cells")
    return _by_shape(name, held, words)


def _share(cells: Sequence[str], shape: re.Pattern[str]) -> float:
    return sum(shape.fullmatch(cell) is not None for cell in cells) / len(cells)


def _by_shape(name: str, cells: Sequence[str], words: float) -> Plan | None:
    different = len(set(cells))
    if _share(cells, _NUMBER) > _MOST and all(_NUMBER.fullmatch(cell) or len(cell) < _LONG_NUMBER for cell in cells):
        long = sum(_is_long(cell) for cell in cells) / len(cells)
        if long <= 0.05 or different <= min(_FEW, len(cells) // 3):
            return Plan(name, "kept", "", "numbers")
        return None
    if words >= _WORDS:
        return Plan(name, "text", "", "by its cells")
    if different <= min(_FEW, max(2, len(cells) // 3)) or all(len(cell) < 3 for cell in cells):
        return Plan(name, "kept", "", "few different values") if _share(cells, _CODE) <= _MOST else None
    return None


def _is_long(cell: str) -> bool:
    """Whether a number is a whole one of many digits, as those of people are; measured ones have few, or a point."""
    return "." not in cell and sum(map(str.isdigit, cell)) >= _LONG_NUMBER
