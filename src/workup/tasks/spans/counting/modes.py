"""What "found" means: the matching modes by name. Knows no spans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from workup.errors import InputError, near

ONE_TO_ONE = frozenset({"strict", "exact", "iou", "overlap", "partial", "i2b2", "gold50"})
TWO_SIDED = frozenset({"cover", "full_mask"})
BY_UNIT = frozenset({"char", "token"})  # units of the text are counted, not spans
LABEL_BLIND = frozenset({"exact", "partial", "full_mask", "char"})  # say nothing of types: counted at phi alone
NEED_TEXT = frozenset({"full_mask", "token"})
DEFAULT_MODES = ("strict", "iou:0.5", "cover:1", "full_mask", "char")
_PLAIN = ("strict", "exact", "overlap", "partial", "full_mask", "token", "char", "i2b2")
_WITH_SHARE = ("iou", "cover")
_PUBLISHED = "published:gold50"
_NAMES = (*_PLAIN, "iou:0.5", "cover:1", _PUBLISHED)
# Nine places keep products of a share and a length of 2^31 inside 64 bits.
_DECIMAL = re.compile(r"\d{0,9}\.?\d{1,9}|\d{1,9}\.", re.ASCII)


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to match. `share` is the τ of `iou:τ` and `cover:τ`, exact: 3 of 10 characters reach 0.3."""

    name: str
    kind: str
    share: Fraction | None = None

    @property
    def one_to_one(self) -> bool:
        """A prediction answers for one gold at most, and a gold for one prediction."""
        return self.kind in ONE_TO_ONE

    @property
    def two_sided(self) -> bool:
        """Recall counts golds by what covers them, precision predictions by what they lie on."""
        return self.kind in TWO_SIDED

    @property
    def by_unit(self) -> bool:
        """Characters or tokens are counted, each once."""
        return self.kind in BY_UNIT

    @property
    def label_blind(self) -> bool:
        """No type is compared, so there is one level: phi."""
        return self.kind in LABEL_BLIND

    @property
    def needs_text(self) -> bool:
        """Offsets alone do not decide."""
        return self.kind in NEED_TEXT

    @property
    def published(self) -> bool:
        """Kept to compare with published numbers; no gate may rest on it."""
        return self.kind == "gold50"


def parse_mode(text: str) -> Mode:
    """A mode by its name; a share is written the shortest way, so `iou:.50` and `iou:0.5` are one mode.

    >>> parse_mode("iou:.50").name, parse_mode("cover:1.0").name, parse_mode("strict").one_to_one
    ('iou:0.5', 'cover:1', True)
    """
    name = text.strip()
    if name in _PLAIN:
        return Mode(name, name)
    if name == _PUBLISHED:
        return Mode(name, "gold50", Fraction(1, 2))
    kind, colon, share = name.partition(":")
    if kind not in _WITH_SHARE:
        raise InputError("a matching mode must be known", got=repr(text[:60]), remedy=near(name, _NAMES))
    if not colon or not _DECIMAL.fullmatch(share) or not 0 < Fraction(_padded(share)) <= 1:
        raise InputError(
            f"the mode {kind} needs a share above 0 and at most 1, with nine decimals at most",
            got=repr(text[:60]),
            remedy=f"write {kind}:0.5" + (", or overlap where one character is enough" if kind == "iou" else ""),
        )
    value = Fraction(_padded(share))
    return Mode(f"{kind}:{_shortest(value)}", kind, value)


def parse_modes(texts: Iterable[str]) -> tuple[Mode, ...]:
    """Several modes, each once, in the order of their first mention."""
    return tuple({mode.name: mode for mode in map(parse_mode, texts)}.values())


def levels_counted(mode: Mode, levels: Sequence[str]) -> tuple[str, ...]:
    """The levels at which a mode is counted: those asked for, or phi alone where no type is compared.

    >>> levels_counted(parse_mode("full_mask"), ["leaf", "branch"]), levels_counted(parse_mode("token"), ["leaf"])
    (('phi',), ('leaf',))
    """
    return ("phi",) if mode.label_blind else tuple(dict.fromkeys(levels))


def _padded(share: str) -> str:
    return f"0{share}" if share.startswith(".") else share.removesuffix(".")


def _shortest(value: Fraction) -> str:
    return f"{float(value):.9f}".rstrip("0").rstrip(".")
