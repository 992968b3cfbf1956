"""A model built at one hospital, updated at three others: the figures of docs/updating.md, as they came out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.places import DATA, ROOT
from tests.support.shell import call

pytestmark = pytest.mark.real_data

HEART = DATA / "heart_disease"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sklearn")
    out = tmp_path_factory.mktemp("heart")
    script = [sys.executable, str(ROOT / "examples" / "heart_sites" / "heart.py"), str(HEART), "-o", str(out)]
    done = subprocess.run(script, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    for site in ("hungary", "long_beach", "switzerland"):
        content = {
            "name": site,
            "task": "risk",
            "seed": 1,
            "corpus": {"path": f"{site}.csv"},
            "columns": {"outcome": "disease", "risk": "risk", "patient": "patient", "groups": ["sex"]},
        }
        (out / f"{site}.yaml").write_text(yaml.safe_dump(content))
    return out


def updated(folder: Path, site: str, *more: str | Path) -> tuple[int, dict[str, Any]]:
    words = ("update", folder / f"{site}.yaml", "-o", folder / "update.json", "--json", folder / "told.json")
    code = call(*words, *more).code
    found: dict[str, Any] = json.loads((folder / "told.json").read_text())
    return code, found


def figure(found: dict[str, Any], column: str, metric: str) -> tuple[float, float, float]:
    [one] = [e for e in found["figures"][column] if e["metric"] == metric]
    return round(one["value"], 3), round(one["low"], 3), round(one["high"], 3)


def test_hungary_is_mended_in_the_large(folder: Path) -> None:
    code, found = updated(folder, "hungary", "--threshold", "sensitivity >= 0.90 @0.95")
    assert (code, found["verdict"], found["updates"][0]["method"]) == (0, "better", "in_the_large")
    assert figure(found, "original", "oe_ratio")[0] == 0.861
    assert figure(found, "honest", "oe_ratio") == (0.985, 0.879, 1.103)
    assert [figure(found, column, "brier")[0] for column in ("original", "honest")] == [0.133, 0.129]
    [women] = [one for one in found["groups"] if one["level"] == "F"]
    moved = women["differences"]["oe_distance"]
    assert [round(moved[end], 2) for end in ("value", "low", "high")] == [0.08, -0.24, 0.27]
    [threshold] = found["thresholds"]
    assert round(threshold["naive"]["chance"], 2) == 0.5 and threshold["chance"] >= 0.95
    rates = [
        {e["metric"]: e["value"] for e in one["expected"]}["alert_rate"] for one in (threshold, threshold["naive"])
    ]
    assert rates == [pytest.approx(0.77, abs=0.01), pytest.approx(0.54, abs=0.01)]


def test_long_beach_shows_no_gain_though_the_test_chose(folder: Path) -> None:
    code, found = updated(folder, "long_beach")
    assert (code, found["verdict"], found["updates"][0]["method"]) == (3, "no gain shown", "recalibration")
    briers = [figure(found, column, "brier")[0] for column in ("original", "honest", "apparent")]
    assert briers == [0.171, 0.164, 0.161]
    assert figure(found, "honest", "oe_ratio") == (0.999, 0.927, 1.077)


def test_switzerland_has_too_few_without_disease(folder: Path) -> None:
    code, found = updated(folder, "switzerland")
    assert (code, found["verdict"], found["updates"][0]["method"]) == (3, "no gain shown", "none")
    assert "there are 115 and 8" in found["updates"][0]["reason"]


@pytest.mark.parametrize(("site", "ratio"), [("long_beach", 1.156), ("switzerland", 1.455)])
def test_what_is_mended_in_one_place_is_not_mended_in_another(folder: Path, site: str, ratio: float) -> None:
    code, found = updated(folder, "hungary", "--validate", folder / f"{site}.csv")
    assert (code, found["verdict"]) == (1, "worse")
    assert figure(found, "honest", "oe_ratio")[0] == ratio
