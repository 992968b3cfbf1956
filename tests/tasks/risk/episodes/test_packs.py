"""Packs of episodes: sites pooled from packs are those of raw tables, and small counts stay at home."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.shell import call
from tests.support.wards import content
from workup.corpora.generate.episodes.generator import generate
from workup.errors import InputError
from workup.packs.pack import make_next_pack, make_pack
from workup.packs.sent_packs import SiteLedger
from workup.report import Report
from workup.study import Study
from workup.validate import validate

SMALL = {"subgroups": {"by": ["ward"]}, "internal": {}}


@pytest.fixture(scope="module", name="tables")
def _tables() -> Any:
    return generate(450, seed=3)


def _report(tables: Any, site: str | None, **changes: Any) -> Report:
    predictions, events = dict(tables.predictions), dict(tables.events)
    if site is not None:
        here = np.asarray(predictions["site"]) == site
        predictions = {name: np.asarray(column)[here] for name, column in predictions.items()}
        mine = np.isin(np.asarray(events["encounter"]).astype(str), np.asarray(predictions["encounter"]).astype(str))
        events = {name: np.asarray(column)[mine] for name, column in events.items()}
    said = content(corpus={}, thresholds=[0.1], columns={"site": "site", "groups": ["ward"]}, **changes)
    return validate(Study.of(said), table=(predictions, events))


def test_sites_pooled_from_packs_are_those_of_the_raw_tables(tables: Any, tmp_path: Path) -> None:
    whole = _report(tables, None, lenses={"sites": {}})
    files = []
    for site in ("S01", "S02", "S03"):
        pack = make_pack(_report(tables, site), site=site, k=0)
        files.append(tmp_path / f"{site}.json")
        files[-1].write_text(json.dumps(pack))
    done = call("pool", *files, "--out", tmp_path / "pooled")
    assert done.code in (0, 3), done.err
    pooled = Report.read(tmp_path / "pooled")
    ours = {(row["metric"], str(row["slice"])): row for row in whole.results["sites"].pooled}
    theirs = {(row["metric"], str(row["slice"])): row for row in pooled.results["sites"].pooled}
    names = {"event_sensitivity", "alert_ppv", "encounter_ppv", "alarm_rate"}
    compared = [key for key in ours if key[0] in names]
    assert {key[0] for key in compared} == names
    for key in compared:
        for end in ("value", "low", "high"):
            assert theirs[key][end] == pytest.approx(ours[key][end], rel=1e-9), key


def test_events_flagged_events_and_alerts_are_cells(tables: Any) -> None:
    report = _report(tables, "S01", lenses=SMALL)
    pack = make_pack(report, site="S01", k=11)
    for row in pack["estimates"]:
        if row["status"] != "withheld" and row.get("numerator") is not None:
            left = row["denominator"] - row["numerator"]
            assert not 0 < row["numerator"] < 11 and not 0 < left < 11, row
        if row["status"] != "withheld":
            assert row["n_patients"] >= 11
    told = [row for row in pack["estimates"] if row["status"] != "withheld"]
    assert {"alarm_rate", "alert_ppv"} <= {row["metric"] for row in told}
    assert not any("acted" in row["slice"] for row in pack["estimates"])
    assert any(row["metric"] == "event_sensitivity" for row in pack["withheld"])


def test_a_ledger_is_refused_in_words(tables: Any) -> None:
    with pytest.raises(InputError, match="without --ledger"):
        make_next_pack(_report(tables, "S01"), SiteLedger("S01"), k=11)
