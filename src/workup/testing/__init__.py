"""Conformance tests that authors of plug-ins call in their own tests. Knows what a system must do, not how it does it.

>>> class EveryoneAtTen:
...     name, version = "everyone-at-ten", "1"
...     def predict(self, table):
...         return [0.1] * len(next(iter(table.values())))
>>> import warnings
>>> with warnings.catch_warnings(record=True):
...     check_system(EveryoneAtTen())
"""

from __future__ import annotations

import math
import numbers
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import PluginError, WorkupError, near
from workup.stats.random import generator
from workup.task import Table
from workup.testing import engines as _engine_conformance
from workup.testing import spans as _span_conformance

_TOLERANCE = 1e-9
_ROWS = 12  # of the table that is made when none is given

Answers = list[float | None]


def check_system(
    system: Any, *, task: str = "risk", table: Table | None = None, texts: Sequence[str] | None = None
) -> None:
    """Raise PluginError with every fault of a system under test; warn where it cannot be sent to a worker process.

    A risk system must have a `name` and a `version`, and answer one risk per row, from 0 to 1 or None for a row it
    refuses; the same again when asked again, whatever the order of the rows and however they are cut into batches. It
    must leave the table as it was, and refuse, answer or raise a WorkupError where predictors are missing. `table`
    should hold a few rows that the system can answer; without it, one is made from its `features` where it has them.

    A detector (`task="spans"`) must answer for each text a list of spans inside it, or None for a text it refuses; the
    same again, whatever the order, the batch and what was asked before. It must answer, refuse or raise a WorkupError
    where a text is hostile (control characters, lone surrogates, very long lines), and nothing of a text may stand in
    an error, a log or what it prints. `texts` should be a few in which it finds something; without them, some are made.

    >>> from workup.documents.document import Span
    >>> class Digits:
    ...     name, version = "digits", "1"
    ...     def detect(self, texts):
    ...         return [[Span(i, i + 1, "ID") for i, c in enumerate(text) if c.isdigit()] for text in texts]
    >>> with warnings.catch_warnings(record=True):
    ...     check_system(Digits(), task="spans")
    """
    if task == "spans":
        faults = [*_identity(system), *_span_conformance.span_faults(system, _checked(texts))]
    elif task == "risk":
        faults = _risk_faults(system, table)
    else:
        raise PluginError(f"check_system knows no task '{task}'; {near(task, ['risk', 'spans'])}.")
    if faults:
        listed = " ".join(f"({number}) {fault}." for number, fault in enumerate(faults, start=1))
        kind = {"risk": "a risk system", "spans": "a span detector"}[task]
        raise PluginError(f"{type(system).__name__} does not fit its place as {kind}: {listed}")
    _warn_where_it_stays(system)


def check_engine(engine: Any, *, losses: bool | None = None) -> None:
    """Raise PluginError with every fault of an engine.

    An engine must give one result for each item, in order; open the system once in each worker, and not at all where
    there is no item; raise what the work or the opening raises, after the results before it; and hand items over as
    results are read. With `losses`, a worker that dies of an item or hangs must leave `Lost` in its place after a
    second try, and every other result: give such an engine two workers and a timeout of a second or two. That is asked
    of every engine but one that says of itself that it works in this process (`in_process`), which dies with it.

    >>> from workup.engines.serial import Serial
    >>> check_engine(Serial())
    """
    can_lose = not getattr(engine, "in_process", False) if losses is None else losses
    faults = list(_engine_conformance.engine_faults(engine, can_lose=can_lose))
    if faults:
        listed = " ".join(f"({number}) {fault}." for number, fault in enumerate(faults, start=1))
        raise PluginError(f"{type(engine).__name__} does not fit its place as an engine: {listed}")


def _checked(texts: Sequence[str] | None) -> Sequence[str]:
    if texts is None:
        return _span_conformance.TEXTS
    if isinstance(texts, str) or len(texts) < 2 or not all(isinstance(text, str) and text for text in texts):
        raise PluginError("check_system needs a list of two texts or more, none of them empty.")
    return texts


def _risk_faults(system: Any, table: Table | None) -> list[str]:
    rows = _made(system) if table is None else _copy(table)
    if not rows or min(map(len, rows.values())) < 2 or len(set(map(len, rows.values()))) > 1:
        raise PluginError("check_system needs a table of two rows or more, with columns of one length.")
    return [*_identity(system), *_behaviour(system, rows)]


def _warn_where_it_stays(system: Any) -> None:
    try:
        pickle.dumps(system)
    except Exception as error:  # pickle raises TypeError, AttributeError and its own kind, by turns
        warnings.warn(
            f"{type(system).__name__} cannot be pickled ({type(error).__name__}), so an object of it cannot be sent to "
            "worker processes; named in a study, it is opened anew in each of them",
            stacklevel=3,
        )


def _identity(system: Any) -> Iterator[str]:
    for attribute in ("name", "version"):
        value = getattr(system, attribute, None)
        if not isinstance(value, str) or not value:
            got = (
                "nothing"
                if value is None
                else "an empty text"
                if value == ""
                else f"one of type {type(value).__name__}"
            )
            yield f"'{attribute}' must be a text that is not empty; got {got}"


def _behaviour(system: Any, table: dict[str, npt.NDArray[Any]]) -> Iterator[str]:
    """Faults of predict(); where it cannot answer the whole table, nothing else can be judged but single rows."""
    predict = getattr(system, "predict", None)
    if not callable(predict):
        yield "it must have a method predict(table)"
        return
    given = _copy(table)
    whole, fault = _ask(predict, given, "the whole table")
    if not _same_table(given, table):
        yield "predict() must not change the table it is given"
    if whole is None:
        yield fault
    else:
        yield from _repeatable(predict, table, whole)
    yield from _single_rows(predict, table, whole)
    yield from _gaps(predict, table)


def _repeatable(predict: Callable[[Table], Any], table: Table, whole: Answers) -> Iterator[str]:
    """The same rows again, in another order and in two parts, must give the same answers."""
    count = len(whole)
    again, fault = _ask(predict, _copy(table), "the same table a second time")
    if again is None:
        yield fault
    elif not _same(again, whole):
        yield "a second call with the same table must give the same answers"
        return  # then order and batches would be blamed for the same fault
    order = np.arange(count)[::-1]
    turned, fault = _ask(predict, _taken(table, order), "the rows in another order")
    if turned is None:
        yield fault
    elif not _same(turned[::-1], whole):
        yield "the answer to a row must not depend on the order of the rows"
    half = (count + 1) // 2
    first, fault = _ask(predict, _taken(table, np.arange(half)), "the first half of the rows")
    second, other = _ask(predict, _taken(table, np.arange(half, count)), "the second half of the rows")
    if first is None or second is None:
        yield fault or other
    elif not _same([*first, *second], whole):
        yield "the answer to a row must not depend on the batch it comes in"


def _single_rows(predict: Callable[[Table], Any], table: Table, whole: Answers | None) -> Iterator[str]:
    alone, fault = _ask(predict, _taken(table, np.arange(1)), "a table of one row")
    if alone is None:
        yield fault
    elif whole is not None and not _same(alone, whole[:1]):
        yield "a table of one row must get the answer that the row gets among others"


def _gaps(predict: Callable[[Table], Any], table: Table) -> Iterator[str]:
    """A column without values may be refused with an error of ours, refused row by row, or answered."""
    for name in table:
        gaps = _copy(table)
        gaps[name] = _emptied(gaps[name])
        answers, fault = _ask(predict, gaps, f"a missing value in the column '{name}'", may_refuse=True)
        if answers is None and fault:
            yield fault


def _ask(
    predict: Callable[[Table], Any], table: Table, what: str, *, may_refuse: bool = False
) -> tuple[Answers | None, str]:
    """The answers, or the fault in them; an error of our own is no fault where the system may refuse."""
    count = len(next(iter(table.values())))
    try:
        answers = predict(table)
    except WorkupError as error:
        return None, "" if may_refuse else f"{what}: predict() refused it, saying: {str(error).rstrip('.')}"
    except Exception as error:  # whatever the system raises is what is asked about
        return None, f"{what}: predict() raised {type(error).__name__}, which is not an error of workup.errors"
    if isinstance(answers, (str, bytes, dict)) or not isinstance(answers, (Sequence, np.ndarray)):
        return None, f"{what}: predict() must answer a list; got {type(answers).__name__}"
    if len(answers) != count:
        return None, f"{what}: predict() must answer one risk per row; got {len(answers)} for {count} rows"
    for answer in answers:
        problem = _problem(answer)
        if problem:
            return None, f"{what}: a risk must be a number from 0 to 1, or None for a refused row; got {problem}"
    return [None if answer is None else float(answer) for answer in answers], ""


def _problem(answer: Any) -> str:
    if answer is None:
        return ""
    if isinstance(answer, (bool, np.bool_)) or not isinstance(answer, numbers.Real):
        return f"one of type {type(answer).__name__}"
    risk = float(answer)
    if math.isnan(risk):
        return "NaN"
    return "" if 0 <= risk <= 1 else "a number outside"


def _same(some: Answers, others: Answers) -> bool:
    return len(some) == len(others) and all(
        a is b if a is None or b is None else abs(a - b) <= _TOLERANCE for a, b in zip(some, others, strict=True)
    )


def _made(system: Any) -> dict[str, npt.NDArray[Any]]:
    """A small table of numbers for a system that is not particular about them."""
    names = list(getattr(system, "features", None) or ("age", "heart_rate", "creatinine"))
    return {str(name): generator(0, "check_system", str(name)).normal(50.0, 10.0, _ROWS) for name in names}


def _copy(table: Table) -> dict[str, npt.NDArray[Any]]:
    return {name: np.array(column, copy=True) for name, column in table.items()}


def _taken(table: Table, places: npt.NDArray[np.intp]) -> dict[str, npt.NDArray[Any]]:
    return {name: np.asarray(column)[places] for name, column in table.items()}


def _emptied(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The column with its first value missing, in the manner of its type."""
    if column.dtype.kind in "iub":
        column = column.astype(np.float64)
    empty: Any = {"f": np.nan, "M": np.datetime64("NaT")}.get(column.dtype.kind)
    column = column if column.dtype.kind in "fM" else column.astype(object)
    column[0] = empty
    return column


def _same_table(one: Table, other: Table) -> bool:
    if list(one) != list(other):
        return False
    for name, column in one.items():
        before = np.asarray(other[name])
        if column.dtype != before.dtype or column.shape != before.shape:
            return False
        if not all(
            a is b or a == b or (a != a and b != b) for a, b in zip(column.tolist(), before.tolist(), strict=True)
        ):
            return False
    return True
