"""What makes two cells the same: the text a value is reported under, and the bytes a column is hashed by."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from workup.scores import MISSING, level_name

Ids = npt.NDArray[np.object_]


def identities(column: npt.NDArray[Any]) -> Ids:
    """The text under which each value is reported, None where it is missing; the same from every file format.

    >>> identities(np.array([12.0, np.nan])).tolist(), identities(np.array(["12", " "], dtype=object)).tolist()
    (['12', None], ['12', None])
    """
    if column.dtype.kind == "f":
        distinct, places = np.unique(column, return_inverse=True)
        return identities(distinct.astype(object))[places.reshape(-1)]
    if column.dtype.kind == "M":
        days = column.astype("datetime64[D]")
        whole = np.isnat(column) | (days == column)
        column = np.datetime_as_string(days if whole.all() else column.astype("datetime64[s]")).astype(object)
        names = [None if text == "NaT" else str(text) for text in column.tolist()]
    else:
        names = [None if (text := level_name(value)) == MISSING else text for value in column.tolist()]
    return np.fromiter(names, dtype=object, count=len(names))


def content(column: npt.NDArray[Any]) -> bytes:
    """Bytes of a column that depend on its values alone: one NaN, one zero, little-endian, lengths before text."""
    if column.dtype.kind == "f":
        values = np.where(np.isnan(column), np.nan, column + 0.0).astype("<f8")
        return b"f" + len(values).to_bytes(8, "little") + values.tobytes()
    if column.dtype.kind == "M":
        moments = column.astype("datetime64[us]").astype("<i8")
        return b"t" + len(moments).to_bytes(8, "little") + moments.tobytes()
    texts = [None if text is None else text.encode("utf-8", "surrogatepass") for text in identities(column).tolist()]
    cells = [b"\xff\xff\xff\xff" if text is None else len(text).to_bytes(4, "little") + text for text in texts]
    return b"o" + len(cells).to_bytes(8, "little") + b"".join(cells)
