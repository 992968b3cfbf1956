"""`workup corpus generate --kind notes`: as a person would call it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.support.shell import call, spawn
from workup import plugins

KIND = "notes" if "notes" in plugins.registered("generators") else "workup.corpora.generate.notes:generate"


def generate(*more: str | Path, count: int = 30) -> tuple[str | Path, ...]:
    return ("corpus", "generate", "--kind", KIND, "--count", str(count), "--seed", "42", *more)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_notes_are_written_and_described(tmp_path: Path) -> None:
    out = tmp_path / "notes.jsonl"
    done = call(*generate("--length", "short", "--density", "high", "--ambiguity", "high", "-o", out))
    assert done.code == 0, done.err
    assert out.is_file() and len(list((tmp_path / "notes.truth").iterdir())) == 30
    described = call("corpus", "describe", out)
    assert described.code == 0 and "30 documents" in described.out and "workup" in described.out


def test_bytes_do_not_depend_on_time_zone_locale_or_hash_seed(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    one = spawn(*generate("-o", first), TZ="Pacific/Kiritimati", LC_ALL="tr_TR.UTF-8", PYTHONHASHSEED="1")
    two = spawn(*generate("-o", second, "--workers", "2"), TZ="America/Adak", LC_ALL="C", PYTHONHASHSEED="2")
    assert (one.code, two.code) == (0, 0), one.err + two.err
    assert digest(first) == digest(second)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--density", "extreme"), "density"),
        (("--leaves", "name_pateint"), "name_patient"),
        (("--types", "letter"), "types"),
        (("--as-of", "soon"), "as-of"),
        (("--swap", "origin"), "ask for 35"),
        (("--plan", "nowhere.yaml"), "plan"),
    ],
)
def test_bad_input_exits_2_and_writes_nothing(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    count = 31 if "--swap" in words else 30
    done = call(*generate(*words, "-o", tmp_path / "notes.jsonl", count=count))
    assert done.code == 2 and message in done.err
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_exists_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "notes.jsonl"
    out.write_text("kept")
    done = call(*generate("-o", out))
    assert done.code == 2 and "exists" in done.err
    assert out.read_text() == "kept" and not (tmp_path / "notes.truth").exists()


def test_options_of_notes_are_refused_for_a_cohort(tmp_path: Path) -> None:
    done = call("corpus", "generate", "--kind", "cohort", "--count", "20", "--seed", "1", "--density", "low",
                "-o", tmp_path / "cohort.csv")  # fmt: skip
    assert done.code == 2 and "density" in done.err
