"""What one part of the program hands to another cannot be changed on the way: every record of the core is frozen."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil

import pytest

CORE = ["workup.gates", "workup.estimate", "workup.metric", "workup.scores", "workup.report", "workup.task"]
PACKAGES = ["workup.stats", "workup.lenses", "workup.tasks.risk"]
SPANS = [f"workup.documents.{name}" for name in ("document", "labels", "mappings", "policies")]


def modules() -> list[str]:
    inside = [
        found.name
        for package in PACKAGES
        for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    ]
    return [*CORE, *SPANS, *inside]


@pytest.mark.parametrize("name", modules())
def test_every_record_is_frozen(name: str) -> None:
    module = importlib.import_module(name)
    records = [
        one
        for _, one in inspect.getmembers(module, inspect.isclass)
        if one.__module__ == name and dataclasses.is_dataclass(one)
    ]
    assert [one.__name__ for one in records if not one.__dataclass_params__.frozen] == []
