"""The gates that `workup new survival` writes: a sound model passes, one that is wrong by a single horizon does not."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.shell import call

Rows = list[dict[str, str]]
RISKS = ("risk_365d", "risk_730d", "risk_1095d")


def _scaled(*columns: str) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        for row in rows:
            row.update({name: str(round(float(row[name]) / 2, 4)) for name in columns if row[name]})

    return change


@pytest.mark.parametrize(
    ("change", "code", "failing"),
    [
        (_scaled(), 0, ""),
        (_scaled(RISKS[0]), 1, "[horizon=365d]"),
        (_scaled(*RISKS), 1, "[horizon=1095d]"),
    ],
)
def test_a_model_wrong_by_one_horizon_fails(
    change: Callable[[Rows], None], code: int, failing: str, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    assert call("new", "survival", folder).code == 0
    study, table = folder / "study.yaml", folder / "cohort.csv"
    study.write_text(study.read_text().replace("replicates: 2000", "replicates: 100"))
    with table.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    change(rows)
    with table.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    done = call("run", study)
    assert done.code == code, done.err
    failed = [line for line in (done.out + done.err).splitlines() if line.startswith("fail")]
    assert bool(failed) == bool(failing) and any(failing in line for line in failed) == bool(failing)
