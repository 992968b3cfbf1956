"""The families, pools and sentences that conversations are made from, read once from data/*.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

_DATA = files("workup.corpora.generate.conversation") / "data"


@cache
def table(name: str) -> Mapping[str, Any]:
    """A shipped table, by its name without the ending.

    >>> sorted(table("families"))[:2]
    ['asthma', 'atrial_fibrillation']
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    read: Mapping[str, Any] = yaml.load((_DATA / f"{name}.yaml").read_text(encoding="utf-8"), Loader=loader)
    return read


@cache
def families() -> tuple[str, ...]:
    """The names of the families, in the order of the alphabet."""
    return tuple(sorted(table("families")))


@cache
def specialties() -> tuple[str, ...]:
    """The specialties that the families belong to."""
    return tuple(sorted({family["specialty"] for family in table("families").values()}))
