"""Calling code of others: what it raises may hold patient values, so its kind and place are told, not its message."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from workup.errors import SystemFailure, WorkupError, in_our_words, raised

Given = TypeVar("Given")
Answer = TypeVar("Answer")


def guarded(
    who: str, call: Callable[[Given], Answer], given: Given, *, what: str, again: str = "the same input"
) -> Answer:
    """The answer of a plug-in; `what` says what it was given ("12 rows"), and `again` on what to try it alone.

    A plug-in may raise an error of our own kind, or end the program, which is no less a failure of the system.
    """
    try:
        return call(given)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, WorkupError) and in_our_words(error, throughout=True):
            raise
        raise SystemFailure(
            f"{who} failed on {what} ({raised(error)}). Its message may hold patient values and is not repeated. "
            f"To fix: call it by itself on {again}, or see all with --debug."
        ) from error
