"""`import workup` and `workup --help` stay light: what is heavy is loaded by the command that needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("scipy.stats", "pandas", "sklearn", "torch")


def _loaded_by(code: str) -> set[str]:
    """Names of all modules in a fresh interpreter after the code ran."""
    report = f"{code}\nimport sys\nprint('MODULES', *sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    last = done.stdout.strip().splitlines()[-1].split()
    assert last[0] == "MODULES"
    return set(last[1:])


def test_importing_workup_loads_nothing_heavy() -> None:
    loaded = _loaded_by("import workup")
    assert "workup" in loaded
    assert not loaded & {*HEAVY, "numpy", "scipy", "polars", "pyarrow", "duckdb", "pydantic"}


@pytest.mark.parametrize("name", ["Scores", "Metric", "Estimate"])
def test_the_core_types_load_nothing_heavy(name: str) -> None:
    loaded = _loaded_by(f"from workup import {name}")
    assert "workup.scores" in loaded
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize(
    "module",
    [
        "workup.estimate",
        "workup.tasks.risk.metrics",
        "workup.stats.calibration",
        "workup.stats.smooth",
        "workup.stats.rank",
        "workup.stats.bootstrap",
    ],
)
def test_the_statistics_load_nothing_heavy(module: str) -> None:
    assert not _loaded_by(f"import {module}") & set(HEAVY)


HELP = """
import sys
sys.argv = ["workup", "--help"]
from workup.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
"""


def test_help_loads_nothing_heavy() -> None:
    loaded = _loaded_by(HELP)
    assert "workup.cli" in loaded
    assert not loaded & set(HEAVY)
