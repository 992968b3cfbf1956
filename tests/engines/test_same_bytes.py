"""The same study gives the same bytes on every engine, at any number of workers and shards, whatever died meanwhile."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engines.conftest import SparkServer
from tests.support.engine_systems import ROWS, risk_study, table_of, write_study
from tests.support.shell import call as workup
from workup.errors import RunError
from workup.runs import RunDirectory
from workup.study import Study
from workup.validate import validate

SPANS = {
    "name": "notes",
    "task": "spans",
    "corpus": {"generate": {"count": 12}},
    "systems": [{"use": "native", "with": {"batch": 2}}],
    "bootstrap": {"replicates": 50},
    "modes": ["exact"],
}


def spans_study(engine: str, workers: int = 2, **settings: Any) -> Study:
    return Study.of({**SPANS, "engine": engine, "workers": workers, "engine_settings": settings})


def risk_report(engine: str, workers: int = 2, **settings: Any) -> str:
    study = risk_study(engine=engine, workers=workers).model_copy(update={"engine_settings": settings})
    return validate(study, table=table_of()).to_json()


@pytest.fixture(scope="module")
def risk_bytes() -> str:
    return risk_report("serial")


@pytest.fixture(scope="module")
def spans_bytes() -> str:
    return validate(spans_study("serial")).to_json()


@pytest.mark.parametrize("workers", [1, 3])  # two of them below
def test_processes(workers: int, risk_bytes: str) -> None:
    assert risk_report("processes", workers) == risk_bytes


def test_dask(risk_bytes: str, spans_bytes: str, dask_cluster: Any) -> None:
    assert risk_report("dask", address=dask_cluster.scheduler_address) == risk_bytes
    assert validate(spans_study("dask", address=dask_cluster.scheduler_address)).to_json() == spans_bytes


def test_spark(risk_bytes: str, spans_bytes: str, spark_server: SparkServer) -> None:
    assert risk_report("spark", 3, address=spark_server.address) == risk_bytes
    assert validate(spans_study("spark", 1, address=spark_server.address)).to_json() == spans_bytes


def test_real_spark(risk_bytes: str) -> None:
    pytest.importorskip("pyspark.core", reason="the whole of pyspark, with Spark's own jars, is not installed")
    assert risk_report("spark", address="local[2]") == risk_bytes


def test_spans_on_processes(spans_bytes: str) -> None:
    assert validate(spans_study("processes")).to_json() == spans_bytes


@pytest.mark.parametrize("of", [1, 3, 7])
def test_merged_shards(of: int, tmp_path: Path) -> None:
    file = write_study(tmp_path)
    assert workup("run", file, "-o", tmp_path / "whole", "--quiet").code == 0
    for number in range(1, of + 1):
        assert workup("run", file, "--shard", f"{number}/{of}").code == 0
    assert workup("merge", tmp_path / "runs" / "engines-shards", "-o", tmp_path / "merged").code == 0
    whole, merged = (tmp_path / name / "report.json" for name in ("whole", "merged"))
    assert merged.read_bytes() == whole.read_bytes()
    assert outputs_of(tmp_path / "merged") == outputs_of(tmp_path / "whole")


def test_merged_shards_of_several_systems(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    study = json.loads(file.read_text())
    (system,) = study["systems"]
    study["systems"] = [system, {**system, "name": "other", "with": {"batch": 30}}]
    file.write_text(json.dumps(study))
    assert workup("run", file, "-o", tmp_path / "whole").code == 0
    for number in (1, 2):
        assert workup("run", file, "--shard", f"{number}/2").code == 0
    assert workup("merge", tmp_path / "runs" / "engines-shards", "-o", tmp_path / "merged").code == 0
    for name in ("tested/report.json", "other/report.json", "comparison.json"):
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_merged_shards_of_spans(tmp_path: Path, spans_bytes: str) -> None:
    (tmp_path / "study.yaml").write_text(json.dumps({**SPANS, "report": {"formats": ["text"]}}))
    for number in (1, 2):
        assert workup("run", tmp_path / "study.yaml", "--shard", f"{number}/2").code == 0
    assert workup("merge", tmp_path / "runs" / "notes-shards", "-o", tmp_path / "merged").code == 0
    merged = json.loads((tmp_path / "merged" / "report.json").read_text())
    whole = json.loads(spans_bytes)
    assert merged["results"] == whole["results"]


def outputs_of(place: Path) -> dict[str, Any]:
    """Every record of a run, each case once."""
    (file,) = (place / "outputs").iterdir()
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert len({record["case"] for record in records}) == len(records) == ROWS
    return {record["case"]: record["output"] for record in records}


# Kills

RUN = """
import sys
from pathlib import Path
from tests.support.engine_systems import risk_study, table_of
from workup.runs import RunDirectory
from workup.validate import validate

if __name__ == "__main__":
    place, engine, pause = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    with RunDirectory.open(place) as run:
        report = validate(risk_study(engine=engine, pause=pause), table=table_of(), run=run)
        run.write("report.json", report.to_json())
"""


def test_a_run_killed_at_random_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    place, script, moments = tmp_path / "run", tmp_path / "run.py", random.Random(20)
    script.write_text(RUN)
    expected = validate(risk_study(pause=0.03), table=table_of()).to_json()
    for kill in (True, True, False):
        run = subprocess.Popen([sys.executable, script, place, "processes", "0.03"])
        if kill:
            wait_for_records(place, moments.randint(0, 6) * 10)
            time.sleep(moments.random() * 0.05)
            run.send_signal(signal.SIGKILL)
        assert run.wait(120) == (-signal.SIGKILL if kill else 0)
    assert (place / "report.json").read_text() == expected
    assert len(outputs_of(place)) == ROWS


def wait_for_records(place: Path, more: int) -> None:
    """Until so many cases more than before are recorded."""

    def count() -> int:
        return sum(file.read_bytes().count(b"\n") for file in (place / "outputs").glob("*.jsonl"))

    before = count()
    for _ in range(2_000):
        if count() >= before + more:
            return
        time.sleep(0.01)
    raise AssertionError("nothing was recorded")


def test_a_dask_worker_that_is_killed_loses_nothing(tmp_path: Path, dask_cluster: Any) -> None:
    study = risk_study(engine="dask", pause=0.02)
    study = study.model_copy(update={"engine_settings": {"address": dask_cluster.scheduler_address}})
    victims = [worker.pid for worker in dask_cluster.workers.values()]

    def watch(what: str, done: int, total: int) -> None:
        if what == "asking the model" and done >= 40 and victims:
            os.kill(victims.pop(), signal.SIGKILL)
            victims.clear()

    with RunDirectory.open(tmp_path / "run") as run:
        report = validate(study, table=table_of(), run=run, watch=watch)
    assert not victims
    assert report.to_json() == validate(risk_study(pause=0.02), table=table_of()).to_json()
    assert len(outputs_of(tmp_path / "run")) == ROWS


def test_a_spark_server_that_is_killed_ends_the_run_which_goes_on_later(tmp_path: Path) -> None:
    server = SparkServer(tmp_path / "server.log")
    study = risk_study(engine="spark", workers=1).model_copy(update={"engine_settings": {"address": server.address}})
    asked: list[int] = []

    def watch(what: str, done: int, total: int) -> None:
        asked.append(done)
        if len(asked) == 2:
            server.kill()

    with RunDirectory.open(tmp_path / "run") as run, pytest.raises(RunError, match="What was answered so far is kept"):
        validate(study, table=table_of(), run=run, watch=watch)
    kept = max(asked)
    assert 0 < kept < ROWS
    server.start()
    resumed: list[int] = []
    with RunDirectory.open(tmp_path / "run") as run:
        report = validate(study, table=table_of(), run=run, watch=lambda what, done, total: resumed.append(done))
    server.kill()
    assert resumed[0] == kept  # nothing that was answered was asked again
    assert report.to_json() == risk_report("serial")
    assert len(outputs_of(tmp_path / "run")) == ROWS


def test_a_shard_that_was_killed_is_named_and_goes_on(tmp_path: Path) -> None:
    file = write_study(tmp_path, pause=0.05)
    shards = tmp_path / "runs" / "engines-shards"
    assert workup("run", file, "--shard", "2/2").code == 0
    words = [sys.executable, "-m", "workup.cli", "run", str(file), "--shard", "1/2", "--quiet"]
    first = subprocess.Popen(words)
    wait_for_records(shards / "1-of-2", 20)
    first.kill()
    first.wait()
    refused = workup("merge", shards, "-o", tmp_path / "merged")
    assert refused.code == 2
    assert "shard 1 of 2" in refused.err and "is not finished" in refused.err
    assert workup("run", file, "--shard", "1/2").code == 0
    assert workup("merge", shards, "-o", tmp_path / "merged").code == 0
    assert workup("run", file, "-o", tmp_path / "whole").code == 0
    assert (tmp_path / "merged/report.json").read_bytes() == (tmp_path / "whole/report.json").read_bytes()
    assert outputs_of(tmp_path / "merged") == outputs_of(tmp_path / "whole")
