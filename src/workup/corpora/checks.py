"""What every maker of a corpus asks of its settings: whole numbers in a range, and a time to be recorded."""

from __future__ import annotations

import datetime
from typing import Any

from workup.errors import InputError


def whole_number(name: str, value: Any, *, low: int, high: int, where: str) -> None:
    """Refuse what is no whole number in the range."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(
            f"{name} must be a whole number from {low:,} to {high:,}",
            where=where,
            got=repr(value)[:40],
            remedy=f"set {name} to {low} or more",
        )


def time_of(as_of: Any, *, where: str) -> str | None:
    """The time to be recorded, as it was given, where it is one: an ISO 8601 date or time.

    >>> time_of("2026-01-31T09:00:00Z", where="notes")
    '2026-01-31T09:00:00Z'
    """
    if as_of is None or as_of == "":
        return None
    text = as_of.isoformat() if isinstance(as_of, (datetime.date, datetime.datetime)) else str(as_of)
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            "as-of must be a date or a time as in 2026-01-31T09:00:00Z", where=where, got=repr(text[:40])
        ) from None
    return text
