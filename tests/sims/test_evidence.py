"""Kept evidence: stale when the code that decided it changed, not when only its words did."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from sims import evidence
from sims.__main__ import NAMES, main, simulations
from sims.repetitions import Cell, Size, judged, run, where

SOURCE = '''"""What it is for."""

# why
LIMIT = 3


def double(x):
    """Twice."""
    return f"{2 * x!r:>{LIMIT}}"
'''


def test_comments_layout_and_docstrings_do_not_change_a_fingerprint() -> None:
    other = SOURCE.replace("# why", "# because").replace('"""Twice."""', '"""Two times x."""').replace(" * ", "*")
    assert other != SOURCE
    assert evidence.fingerprint(other) == evidence.fingerprint(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"), [("LIMIT = 3", "LIMIT = 4"), ("2 * x", "x * 2"), ("double", "twice"), ("!r", "!s")]
)
def test_code_changes_a_fingerprint(old: str, new: str) -> None:
    assert evidence.fingerprint(SOURCE.replace(old, new)) != evidence.fingerprint(SOURCE)


def test_the_fingerprint_is_the_same_in_every_python() -> None:
    """Newer versions add empty fields to their trees; this value must not depend on the one that runs."""
    assert evidence.fingerprint("def f(a, *, b: int = 1) -> float:\n    return a[b:]\n") == (
        "c79379b8657a2bb8fc87a41853f7af7e7c5e273abe0946132ccfebf7eded6273"
    )


@pytest.fixture
def tree(tmp_path: Path) -> tuple[ModuleType, Path]:
    """A small repository with one tested file, a simulation of it, and its evidence."""
    (tmp_path / "src/workup").mkdir(parents=True)
    (tmp_path / "sims").mkdir()
    (tmp_path / "src/workup/thing.py").write_text(SOURCE)
    (tmp_path / "sims/toy.py").write_text("SEED = 1\n")
    toy = cast(ModuleType, SimpleNamespace(NAME="toy", SEED=1, TESTED=["thing.py"], MADE_BY=["toy.py"]))
    _keep(toy, tmp_path, ok=True)
    return toy, tmp_path


def _keep(toy: ModuleType, root: Path, *, ok: bool | None) -> None:
    cell = {"cell": "one", "metric": "auroc", "rate": 0.9, "band": [0.93, 0.97], "ok": ok}
    kept: dict[str, Any] = {"name": "toy", "seed": 1, "summary": [], "cells": [cell]}
    evidence.write({**kept, "tested": evidence.fingerprints(toy, root=root)}, folder=root / "evidence")


def _complaints(tree: tuple[ModuleType, Path]) -> list[str]:
    toy, root = tree
    return list(evidence.complaints(toy, folder=root / "evidence", root=root))


def test_fresh_evidence_has_no_complaint(tree: tuple[ModuleType, Path]) -> None:
    assert _complaints(tree) == []
    thing = tree[1] / "src/workup/thing.py"
    thing.write_text(thing.read_text().replace("# why", "# a better reason"))
    assert _complaints(tree) == []


def test_a_changed_module_is_named(tree: tuple[ModuleType, Path]) -> None:
    (tree[1] / "src/workup/thing.py").write_text(SOURCE.replace("3", "4"))
    [line] = _complaints(tree)
    assert "evidence/toy.json" in line
    assert "src/workup/thing.py" in line
    assert "python -m sims toy" in line


def test_missing_evidence_another_seed_and_a_cell_outside_its_band_are_named(tree: tuple[ModuleType, Path]) -> None:
    toy, root = tree
    _keep(toy, root, ok=False)
    assert _complaints(tree) == ["evidence/toy.json: one, auroc: 0.9 is outside [0.93, 0.97]"]
    _keep(toy, root, ok=None)
    toy.SEED = 2  # type: ignore[attr-defined]
    [line] = _complaints(tree)
    assert "seed 1, not 2" in line
    (root / "evidence/toy.json").unlink()
    assert _complaints(tree) == ["evidence/toy.json is missing; run: python -m sims toy"]


def test_every_simulation_says_what_it_tests() -> None:
    for simulation in simulations(NAMES):
        assert simulation.SEED == 20261115
        assert f"{simulation.NAME}.py" in simulation.MADE_BY
        found = evidence.fingerprints(simulation).keys()
        assert "sims/repetitions.py" in found
        assert any(name.startswith("src/workup/") for name in found)


def test_an_unknown_simulation_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nonsense"])
    assert "expected one of coverage" in capsys.readouterr().err


CELL = Cell("one", {}, Size(), (0.93, 0.97))


def test_an_interval_is_placed_beside_the_truth() -> None:
    assert where(0.1, 0.2, 0.15) == "covered"
    assert where(0.1, 0.2, 0.25) == "below"
    assert where(0.1, 0.2, 0.05) == "above"
    assert where(None, None, 0.5) == "insufficient"
    assert where(0.1, float("inf"), 0.5) == "insufficient"


def test_refusals_are_not_coverage() -> None:
    found = judged(CELL, "auroc", {"covered": 95, "below": 2, "above": 3})
    assert (found["rate"], found["ok"]) == (0.95, True)
    assert judged(CELL, "auroc", {"covered": 95, "below": 5, "insufficient": 2})["ok"] is False
    assert judged(CELL, "auroc", {"insufficient": 100})["ok"] is False
    assert judged(CELL, "auroc", {"insufficient": 100})["rate"] is None
    few = Cell("few", {}, Size(), (0.92, 1.0), refusal="answer")
    assert judged(few, "share", {"insufficient": 100})["ok"] is True
    assert judged(few, "share", {"covered": 50, "below": 50, "insufficient": 900})["ok"] is False


class _Coin:
    """A simulation whose intervals cover with chance 0.95."""

    __name__ = "tests_coin"
    NAME, SEED = "coin", 5

    @staticmethod
    def cells(size: Size) -> list[Cell]:
        return [Cell(name, {}, size, (0.93, 0.97)) for name in ("a", "b")]

    @staticmethod
    def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, str]:
        return {"coin": "covered" if rng.random() < 0.95 else "above"}


def test_a_run_is_repeatable_and_tallies_every_repetition(monkeypatch: pytest.MonkeyPatch) -> None:
    coin = cast(ModuleType, _Coin())
    monkeypatch.setitem(sys.modules, "tests_coin", coin)
    lines: list[str] = []
    first = run(coin, size=Size(repetitions=120), progress=lines.append)
    assert first == run(coin, size=Size(repetitions=120))
    assert [one["repetitions"] for one in first] == [120, 120]
    assert first[0]["covered"] != first[1]["covered"] or first[0]["cell"] != first[1]["cell"]
    assert len(lines) == 2
    assert run(coin, size=Size(repetitions=120), only=lambda cell: cell.name == "b") == first[1:]


def test_evidence_is_plain_json_without_clock(tmp_path: Path) -> None:
    path = evidence.write({"name": "x", "rate": 0.1 + 0.2, "cells": [{"se": 1 / 3}]}, folder=tmp_path)
    assert json.loads(path.read_text()) == {"name": "x", "rate": 0.3, "cells": [{"se": 0.333333333333}]}
