"""Calling code of others: what it raises may hold patient values, so its kind and place are told, not its message."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from workup.errors import SystemFailure, WorkupError, in_our_words, raised

Given = TypeVar("Given")
Answer = TypeVar("Answer")


class SystemRaised(SystemFailure):
    """Code of others raised an error, or its worker was lost: `kind` is what an account of failures calls it."""

    def __init__(self, message: str, *, kind: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return _raised_again, (str(self), self.kind)


def _raised_again(message: str, kind: str) -> SystemRaised:
    return SystemRaised(message, kind=kind)


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
        raise SystemRaised(
            f"{who} failed on {what} ({raised(error)}). Its message may hold patient values and is not repeated. "
            f"To fix: call it by itself on {again}, or see all with --debug.",
            kind=_kind(error),
        ) from error


def _kind(error: BaseException) -> str:
    """The name of an error's class where it is a plain one: a class can be made with any text for its name."""
    name = type(error).__name__
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,39}", name) else "error"
