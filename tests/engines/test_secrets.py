"""A system that prints, logs and raises the very text of a note: none of it reaches a cluster's logs, or an error."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.engines.conftest import SparkServer
from tests.support.engine_systems import Talkative
from workup.documents.document import Document, Span
from workup.runs import RunDirectory
from workup.study import Study
from workup.validate import validate

SECRET = "ZZSECRET"
NOTES = [
    Document(
        f"note-{n}", f"Seen on ward {n} by {SECRET if n == 5 else 'nobody'}.", (Span(13, 14, "ID"),), patient=str(n)
    )
    for n in range(8)
]


def study(engine: str, **settings: Any) -> Study:
    use = f"{Talkative.__module__}:{Talkative.__name__}"
    plan = {"name": "secret", "task": "spans", "systems": [{"use": use}], "bootstrap": {"replicates": 50}}
    return Study.of({**plan, "engine": engine, "workers": 1, "engine_settings": settings, "modes": ["exact"]})


def everything_written(folder: Path) -> str:
    return "".join(file.read_text(errors="replace") for file in folder.rglob("*") if file.is_file())


def test_dask_keeps_no_text(tmp_path: Path, dask_cluster: Any, capfd: pytest.CaptureFixture[str]) -> None:
    from distributed import Client

    with RunDirectory.open(tmp_path / "run") as run:
        report = validate(study("dask", address=dask_cluster.scheduler_address), table=NOTES, run=run)
    with Client(dask_cluster.scheduler_address, set_as_default=False) as client:
        logs = f"{client.get_worker_logs()}{client.get_scheduler_logs()}"
    said = capfd.readouterr()
    for text in (report.to_json(), logs, said.out, said.err, everything_written(tmp_path)):
        assert SECRET not in text
    assert "The system failed on fewer than 5 of 8 cases (ValueError)" in report.to_json()


def test_spark_keeps_no_text(tmp_path: Path, spark_server: SparkServer, capfd: pytest.CaptureFixture[str]) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        report = validate(study("spark", address=spark_server.address), table=NOTES, run=run)
    said = capfd.readouterr()
    for text in (report.to_json(), spark_server.log.read_text(), said.out, said.err, everything_written(tmp_path)):
        assert SECRET not in text
    assert spark_server.log.stat().st_size > 0
    assert os.path.exists(tmp_path / "run" / "failures.jsonl")


def test_items_on_their_way_show_nothing() -> None:
    from workup.engines.remote import sealed

    item = sealed([SECRET * 3])
    assert SECRET not in f"{item!r}{item}" and SECRET.encode() not in item.content
