"""A Dask cluster and a Spark Connect server that the tests of engines share: starting either takes seconds."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workup.engines.spark_connect import named_program


@pytest.fixture(autouse=True)
def _systems_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that a test starts find the systems of tests.support, wherever pytest was started from."""
    root = str(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH")))))


@pytest.fixture(scope="session")
def dask_cluster() -> Iterator[Any]:
    """Two workers of one thread each, in processes of their own."""
    distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True, silence_logs=50
    ) as cluster:
        yield cluster


class SparkServer:
    """A server of Spark Connect, which writes all that it says to a file."""

    def __init__(self, log: Path) -> None:
        pytest.importorskip("pysail", reason="pysail, which serves Spark Connect in the tests, is not installed")
        with named_program():
            pytest.importorskip("pyspark.sql.connect.session", reason="the extra 'spark' is not installed")
        self.log = log
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.address = f"sc://127.0.0.1:{self.port}"
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Start it, at the same address as before."""
        words = ["-m", "pysail", "spark", "server", "--ip", "127.0.0.1", "--port", str(self.port)]
        with self.log.open("ab") as said:
            self.process = subprocess.Popen(
                [sys.executable, *words], stdout=said, stderr=said, env={**os.environ, "RUST_LOG": "info"}
            )
        for _ in range(600):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self.process
            time.sleep(0.05)
        raise AssertionError("the Spark Connect server did not start")

    def kill(self) -> None:
        """End it as a lost machine would."""
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="session")
def spark_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkServer]:
    server = SparkServer(tmp_path_factory.mktemp("spark") / "server.log")
    yield server
    server.kill()
