"""`workup monitor` as a person or cron calls it, and the site that it writes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.support.monitored import part, small_plan, small_year
from tests.support.shell import call
from workup.monitor.simulated_year import plan_of
from workup.monitor.store.database import open_store


def written(path: Path, table: Any) -> Path:
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(table)
        columns = [column.astype(str) if column.dtype.kind == "M" else column for column in table.values()]
        lines.writerows(zip(*(column.tolist() for column in columns), strict=True))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    plan = plan_of() | {"watch": [{"metric": "auroc", "by": "sex", "limit": 0.08, "owner": "<b>Ann</b>"}]}
    plan["columns"]["inputs"] = []
    (tmp_path / "monitor.yaml").write_text(yaml.safe_dump(plan))
    year = small_year(rows_a_month=300, auroc=-0.28, drift_month=2)
    end = np.datetime64("2025-06-20")
    written(tmp_path / "predictions.csv", part(year.predictions, year.predictions["time"] < end))
    written(tmp_path / "outcomes.csv", part(year.outcomes, year.outcomes["known"] < end))
    return tmp_path


def update(folder: Path, *more: str) -> Any:
    return call(
        "monitor", "update", folder / "predictions.csv", "--outcomes", folder / "outcomes.csv",
        "--plan", folder / "monitor.yaml", "--as-of", "2025-06-20", *more,
    )  # fmt: skip


def test_an_update_from_cron_is_complete_by_itself_and_may_be_called_twice(folder: Path) -> None:
    first = update(folder)
    assert first.code == 0, first.err
    assert "0 known before" in first.err and "baselines frozen" in first.err
    assert "auroc: sex F" in first.err
    second = update(folder)
    assert second.code == 0
    assert "predictions: 0 new" in second.err and "baselines frozen" not in second.err
    pages = sorted(path.name for path in (folder / "site").iterdir())
    assert pages == ["index.html", "model-1.html"]
    page = (folder / "site" / "model-1.html").read_text()
    assert "auroc: sex F" in page and "Review twenty flagged patients" in page and "<svg" in page
    assert "<b>Ann</b>" not in page and "&lt;b&gt;Ann&lt;/b&gt;" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "<script" not in page
    assert "model-1.html" in (folder / "site" / "index.html").read_text()
    told = call("monitor", "status", "--store", folder / "monitor.db", "--json", "-")
    assert told.code == 0
    titles = [one["title"] for one in json.loads(told.out)["sections"]]
    assert titles[:3] == ["Models", "readmission", "Alerts"]
    assert {"Windows, version 1", "Figures, version 1", "The feed, version 1", "Versions of model and data"} <= set(
        titles
    )
    only = call("monitor", "status", "--store", folder / "monitor.db", "--model", "readmision")
    assert only.code == 2 and "did you mean 'readmission'" in only.err


def test_ingest_then_work_is_the_same_as_update(folder: Path) -> None:
    taken = call(
        "monitor", "ingest", folder / "predictions.csv", "--outcomes", folder / "outcomes.csv",
        "--plan", folder / "monitor.yaml",
    )  # fmt: skip
    assert taken.code == 0, taken.err
    worked = call("monitor", "work", "--once", "--store", folder / "monitor.db", "--as-of", "2025-06-20")
    assert worked.code == 0 and "4 closed" in worked.err


def test_a_plan_is_written_to_be_filled_in_checked_and_registered(tmp_path: Path) -> None:
    file = tmp_path / "monitor.yaml"
    assert "to fill in" in call("monitor", "init", file).err
    done = call("monitor", "init", file)
    assert done.code == 0 and "readmission is watched" in done.err
    shown = call("monitor", "plan", file)
    assert shown.code == 0 and "5 % of stable years" in shown.out
    file.write_text(file.read_text().replace("metric: auroc", "metric: aucroc"))
    assert "did you mean 'auroc'" in call("monitor", "init", file).err


def test_a_plan_on_paper(folder: Path) -> None:
    done = call("monitor", "plan", folder / "monitor.yaml", "-o", folder / "plan.pdf")
    assert done.code == 0
    assert (folder / "plan.pdf").read_bytes().startswith(b"%PDF")


def test_a_conflict_names_the_row_and_not_the_id(folder: Path) -> None:
    assert call("monitor", "ingest", folder / "predictions.csv", "--plan", folder / "monitor.yaml").code == 0
    lines = (folder / "predictions.csv").read_text().splitlines()
    id, time, _risk, *rest = lines[1].split(",")
    (folder / "changed.csv").write_text("\n".join([lines[0], ",".join([id, time, "0.999", *rest])]) + "\n")
    done = call("monitor", "ingest", folder / "changed.csv", "--plan", folder / "monitor.yaml")
    assert done.code == 2
    assert "rows 1" in done.err and id not in done.err


def test_hashed_ids_need_their_key(folder: Path) -> None:
    plan = small_plan(hashed_ids=True)
    (folder / "monitor.yaml").write_text(yaml.safe_dump(plan.record()))
    done = call("monitor", "ingest", folder / "predictions.csv", "--plan", folder / "monitor.yaml")
    assert done.code == 2 and "--key-file" in done.err
    (folder / "key").write_text("k" * 32)
    words = ("--plan", folder / "monitor.yaml", "--key-file", folder / "key")
    assert call("monitor", "ingest", folder / "predictions.csv", *words).code == 0
    content = (folder / "monitor.db").read_bytes()
    assert small_year(rows_a_month=300, auroc=-0.28, drift_month=2).predictions["id"][0].encode() not in content


def test_tokens_are_made_listed_and_revoked(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "monitor.db")
    made = call("monitor", "token", "create", "feed", "--scope", "ingest", "--days", "30", *store)
    assert made.code == 0 and made.out.startswith("wkm_")
    secret = made.out.strip().split("_", 2)[2]
    listed = call("monitor", "token", "list", *store)
    assert "feed" in listed.out and secret not in listed.out
    number = listed.out.split()[0]
    assert call("monitor", "token", "revoke", number, *store).code == 0
    assert "revoked" in call("monitor", "token", "list", *store).out
    assert call("monitor", "token", "create", "x", "--scope", "root", *store).code == 2
    assert secret.encode() not in (tmp_path / "monitor.db").read_bytes()


def test_a_store_of_the_environment_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKUP_MONITOR_STORE", str(tmp_path / "other.db"))
    missing = call("monitor", "status")
    assert missing.code == 2 and "workup monitor init" in missing.err
    assert not (tmp_path / "other.db").exists()
    open_store(str(tmp_path / "other.db")).close()
    assert call("monitor", "status").code == 0
    assert call("monitor", "work", "--once", "--as-of", "someday").code == 2
