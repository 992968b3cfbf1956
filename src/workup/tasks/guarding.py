"""Calling code of others: what it raises may hold patient values, so its kind and place are told, never its message."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from workup.errors import SystemFailure, WorkupError

Given = TypeVar("Given")
Answer = TypeVar("Answer")


def guarded(who: str, call: Callable[[Given], Answer], given: Given, *, what: str) -> Answer:
    """The answer of a plug-in; `what` says what it was given, such as "12 rows"."""
    try:
        return call(given)
    except WorkupError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{type(error).__name__} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"
        raise SystemFailure(
            f"{who} failed on {what} ({place}). Its message may hold patient values and is not repeated. To fix: call "
            "it by itself on the same input, or see all with --debug."
        ) from error
