"""What an outcome, a risk and a weight must be, and the sentence that says so when they are not.

Knows columns, not files. Values of an outcome are shown only where they are few and short enough to be codes.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError
from workup.scores import MISSING, level_name
from workup.stats.arrays import Bools, Floats
from workup.tasks.times import rows_named

_SHOWN = 5
_LOOKS_NUMERIC = re.compile(r"[+-]?[0-9.,]*[0-9][0-9.,]*\s*%?")
_EITHER_WAY = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")
_BARE_CODES = 1000  # numbers up to here are codes of an outcome; larger ones might be ids and are not shown


def missing_cells(column: npt.NDArray[Any]) -> Bools:
    """Which cells hold nothing."""
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind == "M":
        return np.asarray(np.isnat(column))
    return np.fromiter((level_name(value) == MISSING for value in column), dtype=bool, count=len(column))


def check_outcome(column: npt.NDArray[Any], *, where: str) -> Floats:
    """The outcome as 0 and 1, NaN where it is not mature yet; anything else is refused with what to do."""
    if missing_cells(column).all():
        raise InputError(
            "outcomes of 0 or 1 were expected",
            where=where,
            got="no outcome in any row",
            remedy="name the column that holds the outcome, or wait until some outcomes are known",
        )
    if column.dtype.kind == "O":
        _refuse_text_outcome(column, where)
    values = numbers(column, role="outcome", where=where)
    found = np.unique(values[~np.isnan(values)])
    if np.isin(found, (0.0, 1.0)).all():
        return values
    raise InputError(
        "an outcome must be 0 (no event) or 1 (event)",
        where=where,
        got=_numbers_found(found),
        remedy=_outcome_remedy(found),
    )


def _outcome_remedy(found: Floats) -> str:
    if set(found.tolist()) <= {-1.0, 1.0}:
        return "recode -1 to 0"
    if set(found.tolist()) <= {1.0, 2.0}:
        return "recode the value that means no event to 0 and the one that means event to 1"
    whole = bool(np.isfinite(found).all() and (found == np.round(found)).all())
    if whole and len(found) <= 2 and _bare_codes(found):
        return "recode the value that means event to 1 and the other to 0; leave the cell empty where it is unknown"
    if whole and len(found) <= 20 and _bare_codes(found):
        return (
            "with several classes validate one against the rest: 1 for that class, 0 for every other; if one of the "
            "values means unknown, leave those cells empty"
        )
    return (
        "this looks like a survival time or another continuous outcome: choose a fixed horizon, give 1 for an event "
        "within it and 0 for none, and leave the cell empty (not mature) for those censored earlier; see the "
        "documentation of the risk task"
    )


def _bare_codes(found: Floats) -> bool:
    return bool((np.abs(found) <= _BARE_CODES).all())


def _numbers_found(found: Floats) -> str:
    if len(found) > 20 or not _bare_codes(found):
        return f"{len(found)} different numbers"
    shown = ", ".join(f"{value:.6g}" for value in found[:_SHOWN])
    return f"the values {shown}" + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")


def _refuse_text_outcome(column: npt.NDArray[Any], where: str) -> None:
    """Refuse words; a column of numbers with a few stray words is left to the check of numbers."""
    texts = [level_name(value) for value in column.tolist()]
    present = [text for text in texts if text != MISSING]
    if 2 * sum(_is_number(text) for text in present) >= len(present):
        return
    found = sorted(set(present))
    # Few, short and recurring: codes such as ALIVE. Anything else may be a name, an id or a note and stays unseen.
    codes = all(len(text) <= 20 for text in found) and (len(found) <= 2 or 2 * len(found) <= len(present))
    if codes and len(found) <= 20:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        got = "the text values " + ", ".join(f"'{text}'" for text in found[:_SHOWN]) + more
    else:
        got = f"text with {len(found)} different values"
    raise InputError(
        "an outcome must be 0 (no event) or 1 (event)",
        where=where,
        got=got,
        remedy="recode the text that means event to 1 and the other to 0"
        if len(found) <= 2
        else "name the column that holds the outcome, or validate one class against the rest: 1 for it, 0 for others",
    )


def check_risk(column: npt.NDArray[Any], *, where: str) -> tuple[Floats, tuple[str, ...]]:
    """Recorded risks in [0, 1], NaN where none was recorded, and what should be said about them."""
    risk = numbers(column, role="risk", where=where)
    missing = np.isnan(risk)
    if missing.all():
        raise InputError(
            "risks from 0 to 1 were expected",
            where=where,
            got="no risk in any row",
            remedy="name the column that holds the risks",
        )
    outside = ~missing & ~((risk >= 0.0) & (risk <= 1.0))
    if outside.any():
        known = risk[~missing]
        finite = bool(np.isfinite(known).all())
        if finite and known.min() >= 0.0 and known.max() <= 100.0:
            remedy = "if these are percentages, divide by 100"
        elif finite and known.min() < 0.0 and known.max() > 1.0:
            remedy = (
                "if these are log-odds, record 1 / (1 + exp(-x)) instead; a code such as -1 or 99 for 'none' must go"
            )
        else:
            remedy = "record the predicted probability; a code such as -1 or 99 for 'none' must go"
        raise InputError(
            "a risk must be a finite number from 0 to 1",
            where=where,
            got=f"values outside in {rows_named(outside)}",
            remedy=remedy,
        )
    if np.isin(risk[~missing], (0.0, 1.0)).all():
        return risk, ("Every recorded risk is exactly 0 or 1: these look like labels rather than risks.",)
    return risk, ()


def check_weight(column: npt.NDArray[Any], *, where: str) -> Floats:
    """Design weights: finite, not negative, not all zero."""
    weight = _complete(column, role="weight", where=where, remedy="give every row a weight, 0 to leave it out")
    bad = ~(np.isfinite(weight) & (weight >= 0.0))
    if bad.any():
        raise InputError(
            "a weight must be finite and not negative",
            where=where,
            got=f"other values in {rows_named(bad)}",
            remedy="mend these rows, or give 0 to leave a row out",
        )
    if not weight.any():
        raise InputError("some weight must be above 0", where=where, got="0 in every row", remedy="name another column")
    return weight


def _complete(column: npt.NDArray[Any], *, role: str, where: str, remedy: str) -> Floats:
    values = numbers(column, role=role, where=where)
    missing = np.isnan(values)
    if missing.any():
        raise InputError(
            f"a {role} was expected in every row", where=where, got=f"none in {rows_named(missing)}", remedy=remedy
        )
    return values


def numbers(column: npt.NDArray[Any], *, role: str, where: str) -> Floats:
    """A column as numbers, NaN where empty; text, dates and doubtful spellings of numbers are refused."""
    if column.dtype.kind in "biuf":
        return np.asarray(column, dtype=np.float64)
    if column.dtype.kind == "M":
        raise InputError(f"the {role} must be a number", where=where, got="dates", remedy="name another column")
    refuse_doubtful_numbers(column, where=where)
    empty = missing_cells(column)
    texts = [level_name(value) for value in column.tolist()]
    strays = ~empty & ~np.fromiter((_is_number(text) for text in texts), dtype=bool, count=len(texts))
    if strays.any():
        raise InputError(
            f"the {role} must be a number in every row",
            where=where,
            got=f"text in {rows_named(strays)}",
            remedy="replace the text by a number, or empty the cell where the value is unknown",
        )
    if empty.all():
        return np.full(len(column), np.nan)
    raise InputError(
        f"the {role} must be a number",
        where=where,
        got="numbers stored as text",
        remedy="convert the column to numbers before it is given to Workup, with one decimal sign throughout",
    )


def refuse_doubtful_numbers(column: npt.NDArray[Any], *, where: str) -> None:
    """Refuse a text column that is all numbers, but with percent signs or separators that can be read two ways."""
    percent, either_way = np.zeros(len(column), dtype=bool), np.zeros(len(column), dtype=bool)
    for row, value in enumerate(column.tolist()):
        text = level_name(value)
        if text == MISSING:
            continue
        if not _LOOKS_NUMERIC.fullmatch(text):
            return
        percent[row] = text.endswith("%")
        either_way[row] = bool(_EITHER_WAY.fullmatch(text))
    if percent.any():
        raise InputError(
            "plain numbers were expected",
            where=where,
            got=f"percent signs in {rows_named(percent)}",
            remedy="remove the signs and divide by 100, so that 12% is 0.12",
        )
    if either_way.any():
        raise InputError(
            "numbers that can be read one way only were expected",
            where=where,
            got=f"a point or comma that may part thousands or decimals in {rows_named(either_way)}",
            remedy="write the numbers without a thousands separator, or say which sign comes before decimals with the "
            "setting decimal ('.' or ',') of the reader",
        )


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text.replace(",", ".")))) and "_" not in text
    except ValueError:
        return False
