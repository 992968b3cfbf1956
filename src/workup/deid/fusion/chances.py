"""The fitted table that turns what a rule and the tagger say of a find into the chance that it identifies somebody.

`caution` is a shift that all curves share: how much more a leak weighs than a word masked for nothing.

One logistic curve for each kind of find, in the logarithms of both odds. Kinds with few examples in the text that the
table was fitted on lean on the wider kind they belong to: `name.single` on `name`, that on `rules`."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from workup.errors import InputError

FILE = "fusion.json"
_STEEPEST = 5.0  # log-odds beyond which nobody is believed: about one in a hundred and fifty
_TERMS = 3  # intercept, log-odds of the first speaker, log-odds of the second


def log_odds(share: float) -> float:
    """The logarithm of the odds of a share, within bounds.

    >>> round(log_odds(0.9), 3), log_odds(1.0)
    (2.197, 5.0)
    """
    if not 0 < share < 1:
        return _STEEPEST if share >= 1 else -_STEEPEST
    return max(-_STEEPEST, min(_STEEPEST, math.log(share / (1 - share))))


def wider(kind: str) -> str | None:
    """The kind that a kind leans on; None for the widest.

    >>> wider("name.single"), wider("name"), wider("tagger.NAME.clinical"), wider("tagger.NAME"), wider("tagger")
    ('name', 'rules', 'tagger.NAME', 'tagger', None)
    """
    if kind in ("rules", "tagger"):
        return None
    inner, point, _ = kind.rpartition(".")
    return inner if point else "rules"


class Chances:
    """The table as it was fitted."""

    def __init__(
        self, curves: Mapping[str, Sequence[float]], *, caution: float = 0.0, digest: str = "", fitted_for: str = ""
    ) -> None:
        self._curves, self.caution = dict(curves), caution
        self.digest, self.fitted_for = digest, fitted_for

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Chances:
        """The table out of `fusion.json`."""
        curves, caution = content.get("curves"), content.get("caution", 0.0)
        whole = isinstance(curves, dict) and {"rules", "tagger"} <= curves.keys()
        if not isinstance(curves, dict) or not whole or not all(map(_curve, [*curves.values(), [caution] * 3])):
            raise InputError(
                f"a curve of {_TERMS} numbers for 'rules', 'tagger' and each kind was expected",
                where=FILE,
                remedy="fit the table again with training/fit_fusion.py",
            )
        text = json.dumps(content, sort_keys=True)
        return cls(
            curves,
            caution=float(caution),
            digest=hashlib.sha256(text.encode()).hexdigest()[:12],
            fitted_for=str(content.get("fitted_for", "")),
        )

    def knows(self, rule: str) -> bool:
        """Whether finds of a rule were met when the table was fitted; those of a user's own were not."""
        return rule in self._curves or rule.partition(".")[0] in self._curves

    def of_find(self, kind: str, first: float, second: float) -> float:
        """The log-odds of being an identifier, of a find of a kind with two opinions in log-odds."""
        known: str | None = kind
        while known is not None and known not in self._curves:
            known = wider(known)
        curve = self._curves[known or "rules"]
        return curve[0] + curve[1] * first + curve[2] * second


def _curve(value: Any) -> bool:
    numbers = isinstance(value, list) and len(value) == _TERMS
    return numbers and all(isinstance(one, (int, float)) and math.isfinite(one) for one in value)
