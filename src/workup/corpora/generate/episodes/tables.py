"""Drawn stays as two tables, scores and events, and the tables as the text or the bytes of a file."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.corpora.generate.episodes.plan import INTERVENTION, START, TARGET, TYPES, EpisodesPlan
from workup.corpora.generate.episodes.stays import RISK_DECIMALS, Scored, Stays, offsets, stream
from workup.errors import MissingExtra
from workup.stats.arrays import Ints

WARDS = ("emergency", "ward", "icu")
_BATCH = 10_000
Table = Mapping[str, npt.NDArray[Any]]


def predictions(stays: Stays, scores: Scored, plan: EpisodesPlan, seed: int) -> dict[str, npt.NDArray[Any]]:
    """One row per score, in the order of stays and times."""
    minutes = stays.start[scores.stay] + scores.place * plan.every_minutes
    levels = {name: np.array(list(of), dtype=object) for name, of in plan.splits().items()}
    return {
        "patient": _patients(stays)[scores.stay],
        "encounter": _encounters(stays)[scores.stay],
        "time": _times(plan, minutes),
        "risk": scores.risk,
        **{name: levels[name][codes[scores.stay]] for name, codes in stays.splits.items()},
        "ward": _wards(stays, scores, seed),
    }


def _wards(stays: Stays, scores: Scored, seed: int) -> npt.NDArray[Any]:
    """Where the patient lay at each score: first in the emergency room, then on the ward or in intensive care."""
    rng = stream(seed, "ward")
    moves, intensive = rng.integers(1, 4, len(stays)), rng.random(len(stays)) < 0.25
    later = np.where(intensive, WARDS.index("icu"), WARDS.index("ward"))[scores.stay]
    return np.array(WARDS, dtype=object)[np.where(scores.place < moves[scores.stay], 0, later)]


def events(stays: Stays, plan: EpisodesPlan, seed: int) -> dict[str, npt.NDArray[Any]]:
    """All events in the order of stays, times and types."""
    every, rows = plan.every_minutes, np.arange(len(stays))
    event = np.flatnonzero(stays.onset < plan.most_scores)
    onset = np.maximum(stays.onset, 0) * every + stays.onset_minutes
    between = np.repeat(rows, stays.length - 1)
    place = np.arange(between.size) - np.repeat(np.cumsum(stays.length - 1) - (stays.length - 1), stays.length - 1)
    rng = stream(seed, "intervention")
    chance = np.where(place >= stays.onset[between], plan.treated_after_event, plan.treated)
    given = rng.random(between.size) < chance
    treated = place * every + offsets(plan, between.size, rng)
    code = {name: number for number, name in enumerate(TYPES)}
    parts = [
        (rows, np.zeros_like(rows), np.full_like(rows, code[START])),
        (event, onset[event], np.full_like(event, code[TARGET])),
        (between[given], treated[given], np.full_like(between[given], code[INTERVENTION])),
        (rows, stays.end, stays.how),
    ]
    stay, minutes, kind = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((kind, minutes, stay))
    stay, minutes, kind = stay[order], minutes[order], kind[order]
    return {
        "patient": _patients(stays)[stay],
        "encounter": _encounters(stays)[stay],
        "type": np.array(TYPES, dtype=object)[kind],
        "time": _times(plan, stays.start[stay] + minutes),
    }


def _patients(stays: Stays) -> npt.NDArray[Any]:
    return np.array([f"P{number:06d}" for number in (stays.patient + 1).tolist()], dtype=object)


def _encounters(stays: Stays) -> npt.NDArray[Any]:
    return np.array([f"E{number:07d}" for number in range(1, len(stays) + 1)], dtype=object)


def _times(plan: EpisodesPlan, minutes: Ints) -> npt.NDArray[np.datetime64]:
    return np.asarray(np.datetime64(plan.start, "us") + minutes.astype("timedelta64[m]"))


def csv_text(table: Table) -> Iterator[str]:
    """The table as the file holds it, some rows at a time: times to the minute, risks with fixed decimals."""
    yield ",".join(table) + "\n"
    columns = zip(*(_texts(column) for column in table.values()), strict=True)
    while some := list(itertools.islice(columns, _BATCH)):
        yield "".join(",".join(row) + "\n" for row in some)


def _texts(column: npt.NDArray[Any]) -> Iterator[str]:
    if column.dtype.kind == "M":
        yield from np.datetime_as_string(column, unit="m").tolist()
    elif column.dtype.kind == "f":
        yield from (f"{value:.{RISK_DECIMALS}f}" for value in column.tolist())
    else:
        yield from column.tolist()


def parquet_bytes(table: Table) -> Iterator[bytes]:
    """The table as a Parquet file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", extra="tables", purpose="writing Parquet files") from None
    held = io.BytesIO()
    columns = {name: pyarrow.array(column) for name, column in table.items()}
    pyarrow.parquet.write_table(pyarrow.table(columns), held)
    yield held.getvalue()
