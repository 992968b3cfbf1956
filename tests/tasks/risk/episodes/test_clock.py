"""Times of every spelling on one clock: the quick way to read them gives what the careful way gives, or steps aside."""

from __future__ import annotations

import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.episode_tables import cells
from workup.errors import InputError
from workup.tasks.risk.episodes import clock
from workup.tasks.risk.episodes.clock import read_times
from workup.tasks.times import check_time

_TIMES = st.datetimes(datetime.datetime(1850, 1, 1), datetime.datetime(2900, 1, 1))
_ZONES = st.one_of(
    st.none(),
    st.just(datetime.UTC),
    st.integers(-719, 840).map(lambda m: datetime.timezone(datetime.timedelta(minutes=m))),
)
_SPELT = st.tuples(
    st.one_of(
        st.builds(lambda time, zone: time.replace(tzinfo=zone).isoformat(), _TIMES, _ZONES),
        st.builds(lambda time, zone: time.replace(tzinfo=zone).isoformat(" ", "minutes"), _TIMES, _ZONES),
        _TIMES.map(lambda time: time.date().isoformat()),
        _TIMES.map(lambda time: time.isoformat(timespec="seconds") + "Z"),
    ),
    st.booleans(),
).map(lambda one: None if one[1] and one[0].endswith("0") else one[0])


def _read(column: Any, **given_: Any) -> clock.Clocked:
    return read_times(column, **{"time_format": None, "time_zone": "UTC", "where": "the test", **given_})


@settings(max_examples=100, deadline=None)
@given(st.lists(_SPELT, min_size=1, max_size=6))
def test_the_quick_way_is_the_careful_way(spelt: list[str | None]) -> None:
    """The same moments, and the same cells with a zone."""
    column = cells(spelt)
    careful = check_time(column, time_format=None, where="the test")
    quick = clock._plainly_written(column)
    assert quick is not None
    assert np.array_equal(quick[0], careful, equal_nan=True)
    assert np.array_equal(quick[1], clock._with_zone(column, None))


@pytest.mark.parametrize(
    "cell",
    [
        *("2024-02-30", "2024-01-01T", "2024-01-01T25:00", "2024-01-01T10", "2024-01-01Z", "2024-01-01T10:00+25:00"),
        *("2024-01-01\n", " 2024-01-01", "2024-01-01T10:00:00.1234567", "2024-01-01\n2024-01-02", "٢٠٢٤-01-01", "\n"),
        *(0, False, 2024, 1.5, [], "2024-1-1", "2024-01-01T10:00:00,5"),
    ],
)
def test_what_the_quick_way_leaves_to_the_careful_one(cell: Any) -> None:
    """Whatever is not spelt as programs do."""
    assert clock._plainly_written(cells([cell])) is None


def test_a_clock_that_is_set() -> None:
    """Every quarter of an hour around both changes of a year, as Python's own zones have it."""
    quarters = [datetime.timedelta(minutes=15 * step) for step in range(4 * 24 * 7)]
    local = [
        begin + step for begin in (datetime.datetime(2024, 3, 28), datetime.datetime(2024, 10, 24)) for step in quarters
    ]
    zone = ZoneInfo("Europe/London")
    utc = [time.replace(tzinfo=zone).astimezone(datetime.UTC) for time in local]
    shown = [time.astimezone(zone).replace(tzinfo=None) == own for time, own in zip(utc, local, strict=True)]
    assert shown.count(False) == 4  # an hour of spring is never shown
    column, expected = (np.array([time.replace(tzinfo=None) for time in times], "M8[us]") for times in (local, utc))
    found = _read(column[shown], time_zone="Europe/London")
    assert np.array_equal(found.time, expected[shown].astype(np.int64))
    assert found.repeated == 4
    with pytest.raises(InputError, match="4 of 1344 rows"):
        _read(column, time_zone="Europe/London")


@pytest.mark.parametrize(
    ("time", "twice"),
    [
        ("2024-10-27T02:30", True),  # Berlin
        ("2024-10-27T01:00", True),  # London
        ("2024-10-27T04:00", False),
        ("2024-11-03T01:59:59.999999", True),  # New York
        ("2024-11-03T02:00", False),
        ("2024-04-07T02:30", True),  # Sydney
        ("2024-10-20T02:30", False),
        ("2024-07-07T01:30", False),
        ("1969-10-26T02:30", True),
    ],
)
def test_hours_that_clocks_often_show_twice(time: str, twice: bool) -> None:
    """Refused as text without a zone; with a zone, or with one named, never in doubt."""
    if twice:
        with pytest.raises(InputError, match="shows twice"):
            _read(cells([time]), time_zone=None)
    else:
        assert _read(cells([time]), time_zone=None).repeated == 0
    assert _read(np.array([time], dtype="datetime64[us]"), time_zone=None).repeated == int(twice)
    assert _read(cells([time + "Z"]), time_zone=None).repeated == 0
    assert _read(cells([time])).repeated == 0
