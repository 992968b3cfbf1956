"""Libraries that are installed only where a system needs them: found or asked for by their extra, and kept quiet."""

from __future__ import annotations

import contextlib
import importlib
import logging
from collections.abc import Iterator
from typing import Any

from workup.errors import MissingExtra


def library(module: str, *, package: str, extra: str, purpose: str) -> Any:
    """A module of an optional library, or an error that names its extra."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtra(package, extra=extra, purpose=purpose) from None


@contextlib.contextmanager
def quiet(*loggers: str) -> Iterator[None]:
    """Loggers of libraries say nothing for a while: what they write may hold rows or headers."""
    found = [logging.getLogger(name) for name in loggers]
    levels = [logger.level for logger in found]
    for logger in found:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(found, levels, strict=True):
            logger.setLevel(level)
