"""The small golden set gives what it gave before: no move or rename changed an output. What is right, others test."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "golden.py"


@pytest.fixture(scope="module")
def golden() -> ModuleType:
    """The script as a module."""
    if not SCRIPT.exists():
        pytest.skip("the scripts are not part of a source distribution")
    spec = importlib.util.spec_from_file_location("golden", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["golden"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_small_set_is_as_it_was_kept(golden: ModuleType) -> None:
    held = golden.kept()
    other = {name: (was, now) for name, was in held["made with"].items() if (now := golden.versions()[name]) != was}
    absent = [name for name, (_, now) in other.items() if not now]  # an extra: its steps are left out
    if changed := {name: pair for name, pair in other.items() if name not in absent}:
        pytest.skip(f"the hashes were kept with other versions of libraries (kept, here): {changed}")
    steps, _ = golden.able(small=True)
    told = golden.differences(golden.hashed(steps), steps, held["outputs"])
    assert not told, (
        f"{len(told)} outputs are not as they were kept:\n  " + "\n  ".join(told) + "\n"
        "See what differs with  python scripts/golden.py --small --keep A  here, --keep B on the tree before, and "
        "diff -r A B; where the change was meant, keep it with  python scripts/golden.py --write"
    )


def test_every_step_has_a_name_of_its_own_and_all_are_kept(golden: ModuleType) -> None:
    names = [step.name for step in golden.STEPS]
    assert len(set(names)) == len(names)
    assert {name.partition(" > ")[0] for name in golden.kept()["outputs"]} == set(names)
