"""Bands of the risk itself as a group: decision thresholds sort the same people a second time, and a few between a cut
and a threshold would be told by the difference of the two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workup
from workup.errors import StudyError
from workup.lenses.withholding import TOLD_RISKS
from workup.packs import make_pack
from workup.report import Report
from workup.tasks.risk.sweep import GRID


def _table(between: tuple[float, float] = (0.5, 0.51), n: int = 800) -> dict[str, Any]:
    """Three patients, all of whom die, between two risks; nobody else is there."""
    rng = np.random.default_rng(4)
    risk = np.round(np.clip(rng.beta(1.2, 3, n), 0.02, 0.95), 5)
    risk[(risk >= between[0]) & (risk < between[1])] = 0.49
    died = (rng.random(n) < risk).astype(int)
    risk[[3, 50, 90]], died[[3, 50, 90]] = (between[0] + between[1]) / 2, 1
    return {"died": died, "p": risk}


def _study(table: dict[str, Any], group: Any, thresholds: list[float], **more: Any) -> Report:
    content = {
        "name": "bands",
        "task": "risk",
        "columns": {"outcome": "died", "risk": "p", "groups": [group]},
        "lenses": {"internal": {}, "subgroups": {}},
        "thresholds": thresholds,
        "bootstrap": {"replicates": 200},
        **more,
    }
    return workup.validate(workup.Study.of(content), table=table)


def _told(report: Report) -> set[str]:
    return {e.slice["band"] for e in report.estimates("auroc", lens="subgroups") if e.n_patients}


def test_a_small_band_between_two_thresholds_is_refused() -> None:
    group = {"column": "p", "cuts": [0.5, 0.51], "name": "band"}
    with pytest.raises(StudyError, match="made of the risk") as refused:
        _study(_table(), group, [0.5, 0.51])
    assert "To fix" in str(refused.value)
    report = _study(_table(), group, [0.5, 0.51], smallest_cell=1)
    assert len(_told(report)) == 3


def test_nor_is_a_band_told_of_which_a_threshold_cuts_off_a_few() -> None:
    """Those of the band from 0.503 on, less those flagged at 0.51, are three."""
    between = (0.503, 0.51)
    group = {"column": "p", "cuts": [0.503], "name": "band"}
    assert _told(_study(_table(between), group, [])) == set()
    column = _table(between)
    column["band"] = np.where(column["p"] >= 0.503, "high", "low")  # the same, made outside the study
    assert _told(_study(column, "band", [0.3])) == set()


def test_bands_with_enough_patients_between_are_told() -> None:
    table = _table((0.2, 0.2001))
    group = {"column": "p", "cuts": [0.2, 0.4], "name": "band"}
    assert len(_told(_study(table, group, [0.2]))) == 3


def test_every_threshold_that_a_report_tells_is_known() -> None:
    assert {*GRID, *(i / 20 for i in range(1, 20)), *(i / 100 for i in range(1, 100))} <= set(TOLD_RISKS)


@pytest.mark.parametrize("threshold", [0.51, 0.3])
def test_no_pack_holds_bands_of_the_risk(threshold: float) -> None:
    report = _study(_table(), {"column": "p", "cuts": [0.5], "name": "band"}, [threshold])
    pack = make_pack(report, site="N")
    assert "band" not in pack["columns"] and "band" not in pack["holdings"]["groups"]
    assert not any("band" in row["slice"] for row in pack["estimates"])
    assert any(row["slice"] == {"column": "band"} for row in pack["withheld"])
