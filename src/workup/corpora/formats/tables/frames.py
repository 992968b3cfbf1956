"""Tables already in memory: pandas, polars, pyarrow and DuckDB through narwhals, and plain dicts of columns."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from workup.corpora.formats.tables.columns import EXACT_LIMIT, Column, native_column
from workup.errors import InputError

_FINER = ("ns", "ps", "fs", "as")  # units of time below the microsecond


def read_frame(frame: Any) -> dict[str, Column]:
    """The columns of a data frame, or of a dict of equally long columns.

    >>> read_frame({"died": [True, False], "ward": ["a", None]})["died"].tolist()
    [1.0, 0.0]
    """
    if isinstance(frame, Mapping):
        return _equally_long({str(name): _column_of_dict(column, str(name)) for name, column in frame.items()})
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame)
        whole = wrapped.collect() if isinstance(wrapped, nw.LazyFrame) else wrapped
        names = [str(name) for name in whole.columns]
        columns = list(whole.iter_columns())
    except (TypeError, AttributeError):
        raise InputError(
            "a table in memory must be a pandas, polars or pyarrow table, a DuckDB relation or a dict of columns",
            got=f"an object of type {type(frame).__module__}.{type(frame).__qualname__}",
            remedy="turn it into one of these, or give the path of a file",
        ) from None
    except Exception as error:
        # Libraries quote cells in their messages, so only the kind of error is passed on.
        raise InputError(
            "the columns of this table could not be read",
            where="table in memory",
            got=f"{type(error).__name__} from {type(frame).__module__}",
            remedy="give every column a name of its own and check that the table can be collected",
        ) from None
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            "every column needs a name of its own",
            where="table in memory",
            got=f"'{twice}' more than once",
            remedy="rename or drop one of them",
        )
    return _equally_long({name: _column_of_series(series) for name, series in zip(names, columns, strict=True)})


def _column_of_series(series: Any) -> Column:
    import narwhals as nw

    kind = series.dtype
    if kind.is_integer():
        ends = [end for end in (series.min(), series.max()) if end is not None and end == end]
        if any(abs(int(end)) >= EXACT_LIMIT for end in ends):
            return native_column(series.to_list())
    if kind.is_numeric() or kind == nw.Boolean:
        return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if isinstance(kind, nw.Datetime) and kind.time_zone:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if isinstance(kind, nw.Datetime) or kind == nw.Date:
        return _moments(series)
    return native_column(series.to_list())


def _moments(series: Any) -> Column:
    """Times to the microsecond. What is finer is cut off, where pyarrow would refuse the whole column for it."""
    import narwhals as nw

    with contextlib.suppress(Exception):  # every library behind narwhals has errors of its own
        return np.array(series.cast(nw.Datetime("us")).to_numpy(), dtype="datetime64[us]")
    given = np.asarray(series.to_numpy())
    found = given.astype("datetime64[us]") if given.dtype.kind == "M" else None
    if found is not None and (
        np.datetime_data(given.dtype)[0] in _FINER or ((found.astype(given.dtype) == given) | np.isnat(given)).all()
    ):
        return found
    raise InputError(
        f"times that a calendar can hold were expected in column '{series.name}'",
        where="table in memory",
        got="one that is hundreds of thousands of years away, or without end",
        remedy="leave the cell empty where the time is not known",
    )


def _column_of_dict(column: Any, name: str) -> Column:
    if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
        raise InputError(
            "a dict of columns must hold one list or array per column",
            where=f"table in memory, column '{name}'",
            got=type(column).__name__,
            remedy="give a list with one value per row",
        )
    array = column if isinstance(column, np.ndarray) else None
    if array is not None and array.ndim != 1:
        raise InputError(
            "a column must have one value per row",
            where=f"table in memory, column '{name}'",
            got=f"an array with {array.ndim} dimensions",
            remedy="give each column by itself",
        )
    if array is not None and array.dtype.kind in "bf":
        return array.astype(np.float64)
    if array is not None and array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    if array is not None and array.dtype.kind in "iu" and (len(array) == 0 or _exact(array)):
        return array.astype(np.float64)
    return native_column(list(column)) if array is None else native_column(array.tolist())


def _exact(array: Column) -> bool:
    return int(array.max()) < EXACT_LIMIT and int(array.min()) > -EXACT_LIMIT


def _equally_long(table: dict[str, Column]) -> dict[str, Column]:
    lengths = {name: len(column) for name, column in table.items()}
    if not lengths or max(lengths.values()) == 0:
        raise InputError("a table needs columns and rows", where="table in memory", got="none", remedy="give some data")
    if len(set(lengths.values())) > 1:
        shortest, longest = min(lengths, key=lambda k: lengths[k]), max(lengths, key=lambda k: lengths[k])
        raise InputError(
            "all columns must have one length",
            where="table in memory",
            got=f"{lengths[shortest]} rows in '{shortest}' and {lengths[longest]} in '{longest}'",
            remedy="give one value per row in each column, None where there is none",
        )
    return table
