"""The scripts of examples/ as modules."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from tests.support.places import ROOT


def example(folder: str, name: str) -> ModuleType:
    """A script of a folder of examples; what it does to the path of imports ends with it."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))
        spec.loader.exec_module(module)
    return module
