"""Where the shipped patterns may begin is shipped with them: never stale, and never needed."""

from __future__ import annotations

import gzip
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from workup.deid.patterns import pattern_starts

ROOT = Path(__file__).resolve().parents[2]


def shipped() -> bytes:
    return gzip.decompress((files("workup.deid") / "data" / pattern_starts.FILE).read_bytes())


def test_the_shipped_file_is_what_the_patterns_of_today_give() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "build_pattern_starts.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_packed_comes_back() -> None:
    answers = pattern_starts.unpacked(shipped())
    assert len(answers) > 150
    assert pattern_starts.packed(answers) == shipped()


def test_a_file_of_another_state_of_the_code_is_left_aside() -> None:
    other = shipped().replace(pattern_starts.code_hash().encode(), b"0" * 64)
    assert other != shipped() and pattern_starts.unpacked(other) == {}


@pytest.mark.parametrize("content", [b"", b"no gzip", gzip.compress(b"{}")], ids=["empty", "damaged", "changed"])
def test_a_damaged_file_is_left_aside(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / pattern_starts.FILE).write_bytes(content)
    (tmp_path / "provenance.json").write_bytes((files("workup.deid") / "data" / "provenance.json").read_bytes())
    monkeypatch.setattr(pattern_starts, "_DATA", tmp_path)
    assert pattern_starts.known.__wrapped__() == {}


def test_a_pattern_that_is_not_shipped_is_read_when_it_is_met() -> None:
    pattern = r"(?<![\w])ZQX-[0-9]{4}(?!\w)"
    asked = pattern_starts.starts_of(pattern)
    assert asked is not None and asked.heads == {"ZQX"} and asked.tails == {"A-0"} and asked.least == 3
    assert pattern_starts.starts_of(r"[0-9]{4}") is None, "it may begin inside a word"
