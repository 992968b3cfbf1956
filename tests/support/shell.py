"""Calling `workup` as a person would, in this process or in one of its own, and small cohorts to call it on."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workup.cli import main

SECRET = "ZZSECRET"  # stands in every id and note of these cohorts, and must stand in no output
COMMAND = (sys.executable, "-m", "workup.cli")


@dataclass(frozen=True)
class Done:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def call(*words: str | Path) -> Done:
    """`workup` with these words, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["workup", *map(str, words)])
        patch.setattr(sys, "path", list(sys.path))
        patch.setattr(sys, "meta_path", list(sys.meta_path))
        code: Any = 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as ended:
                code = ended.code
    return Done(int(code or 0), out.getvalue(), err.getvalue())


def spawn(*words: str | Path, cwd: Path | None = None, **environment: str) -> Done:
    """`workup` with these words, in a process of its own."""
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def cohort(rows: int = 240, *, seed: int = 1, per_patient: int = 1) -> dict[str, list[str]]:
    """Columns of a small cohort as text: ids and notes hold the secret, risks are calibrated, x1 and x2 predict."""
    rng = np.random.default_rng(seed)
    x1, x2 = rng.normal(size=rows), rng.normal(size=rows)
    risk = 1 / (1 + np.exp(-(-1 + 1.1 * x1 + 0.6 * x2)))
    died = (rng.random(rows) < risk).astype(int)
    sexes = rng.choice(["F", "M", ""], rows, p=[0.5, 0.4, 0.1])
    days = rng.integers(0, 300, rows)
    return {
        "patient": [f"{SECRET}{row // per_patient:05d}" for row in range(rows)],
        "note": [f"{SECRET} seen on ward {row % 7}" for row in range(rows)],
        "died": [str(value) for value in died],
        "p": [f"{value:.6f}" for value in risk],
        "sex": [str(sex) for sex in sexes],
        "site": [f"S{row % 3}" for row in range(rows)],
        "visit": [str(np.datetime64("2024-01-01") + int(day)) for day in days],
        "x1": [f"{value:.6f}" for value in x1],
        "x2": [f"{value:.6f}" for value in x2],
    }


def lines(columns: dict[str, list[str]], *, mark: str = ",") -> str:
    """Columns as the text of a CSV file."""
    rows = zip(*columns.values(), strict=True)
    return "\n".join([mark.join(columns), *(mark.join(row) for row in rows)]) + "\n"


def write(path: Path, columns: dict[str, list[str]]) -> Path:
    """A CSV file of the columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(columns), encoding="utf-8")
    return path


def shuffled(columns: dict[str, list[str]], *, seed: int = 7) -> dict[str, list[str]]:
    """The same rows in another order."""
    order = np.random.default_rng(seed).permutation(len(next(iter(columns.values()))))
    return {name: [column[row] for row in order] for name, column in columns.items()}


def leaves(record: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every plain value of a record with the path that leads to it."""
    if isinstance(record, dict):
        for key, value in record.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(record, list):
        for place, value in enumerate(record):
            yield from leaves(value, f"{path}[{place}]")
    else:
        yield path, record


def differing(one: Any, other: Any) -> set[str]:
    """Paths at which two records differ."""
    first, second = dict(leaves(one)), dict(leaves(other))
    return {path for path in {*first, *second} if first.get(path, "absent") != second.get(path, "absent")}


def risk_words(table: Path, *more: str, outcome: str = "died", risk: str = "p") -> Sequence[str | Path]:
    """The words of a quick `workup score risk`."""
    return ("score", "risk", table, "--outcome", outcome, "--risk", risk, "--replicates", "200", *more)


def is_quiet(done: Done, secret: str) -> None:
    """Neither the secret nor a traceback was said."""
    assert secret not in done.out and secret not in done.err
    assert "Traceback" not in done.err
