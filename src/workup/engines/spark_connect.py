"""The engine of a Spark cluster: batches travel as rows of bytes through `mapInArrow`, and answers come back the same
way. Statistics stay with the driver; Spark sees neither columns nor text."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from workup.engines import remote
from workup.engines.processes import Workers
from workup.engines.supervised import GROWTH_MB, RETRIES, TIMEOUT, Growth, Job, Retries, Timeout, result_of
from workup.errors import InputError, MissingExtra, RunError, raised
from workup.task import Lost

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORKERS = 4  # where the study does not say: a client does not see how many cores the cluster has
_ROUND = 8  # batches for each worker in one job of Spark; a round that is lost is asked again
_ROUND_BYTES = 32 * 2**20  # a message to a Spark Connect server holds at most 128 MiB
_TRIES, _LONGEST_PAUSE_MS = 6, 2_000  # of a call that a Spark Connect server does not answer


class Spark:
    """An ordered map over a Spark cluster, in rounds of a few batches for each worker.

    `address` is that of a Spark Connect server (sc://host:15002), for which pyspark-client is enough, or a master that
    the whole of pyspark reaches (local[4], spark://host:7077, yarn). Workup and the system under test must be installed
    where Spark runs Python.
    """

    def __init__(
        self,
        *,
        workers: Workers = 0,
        address: Annotated[
            str, Field(max_length=500, description="Spark Connect server (sc://host:15002), or a master such as yarn")
        ] = "",
        timeout: Timeout = TIMEOUT,
        retries: Retries = RETRIES,
        growth_mb: Growth = GROWTH_MB,
    ) -> None:
        if not address:
            raise InputError(
                "the address of a Spark Connect server, or a master, must be given",
                where="engine 'spark'",
                got="none",
                remedy="add  --engine-with address=sc://host:15002",
            )
        self.workers, self._address = workers or _WORKERS, address
        self.seconds: list[float] = []
        self._settings = {"timeout": timeout, "retries": retries, "growth_mb": growth_mb}

    def map(self, setup: Callable[[], Callable[[Item], Result]], items: Sequence[Item]) -> Iterator[Result | Lost]:
        """Results in the order of the items; the system is opened once for each Python process of Spark's."""
        job = remote.RemoteJob(Job.of(setup, quiet=True, idle_seconds=remote.IDLE_SECONDS, **self._settings))
        return self._results(job, items) if items else iter(())

    def _results(self, job: remote.RemoteJob, items: Sequence[Any]) -> Iterator[Any]:
        work = _mapped(job)
        with _session(self._address) as session:
            for batches in _rounds(items, self.workers * _ROUND):
                for answer in _asked(session, batches, work, self.workers):
                    yield result_of(remote.opened(answer), self.seconds)


def _rounds(items: Sequence[Any], most: int) -> Iterator[list[bytes]]:
    """The items as they travel, in rounds that are small enough to be asked again."""
    batches: list[bytes] = []
    size = 0
    for item in items:
        content = remote.sealed(item).content
        if batches and (len(batches) == most or size + len(content) > _ROUND_BYTES):
            yield batches
            batches, size = [], 0
        batches.append(content)
        size += len(content)
    yield batches


def _asked(session: Any, batches: list[bytes], work: Any, workers: int) -> list[remote.Sealed]:
    import pyarrow as pa

    places = pa.array(range(len(batches)), pa.int64())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about tries of a call, of which the error says enough
            rows = session.createDataFrame(pa.table({"place": places, "batch": batches}))
            parts = rows.repartition(min(workers, len(batches)))
            answers = parts.mapInArrow(work, "place bigint, answer binary").toArrow()
        found = dict(zip(answers.column("place").to_pylist(), answers.column("answer").to_pylist(), strict=True))
    except Exception as error:  # of gRPC, of Arrow and of Spark, which quotes what ran on its side
        raise RunError(
            f"engine 'spark': the server gave no answer ({raised(error)}). What was answered so far is kept. To fix: "
            "see that it runs, with Workup installed where it runs Python, and run the same command again."
        ) from None
    if len(found) < len(batches) or answers.num_rows != len(batches):
        raise RunError(
            f"engine 'spark': one answer to each of {len(batches)} batches was expected; got {answers.num_rows}. "
            "What was answered so far is kept. To fix: run the same command again."
        )
    return [remote.Sealed(found[place]) for place in range(len(batches))]


@contextlib.contextmanager
def _session(address: str) -> Iterator[Any]:
    """A session of our own; a server that is gone is not asked to end it."""
    session, server = _opened(address)
    end = session.stop if server else lambda: None
    try:
        yield session
    except RunError:
        end = session.client.close if server else end
        raise
    finally:
        with contextlib.suppress(Exception):
            end()


@contextlib.contextmanager
def named_program() -> Iterator[None]:
    """While Spark Connect is imported, the program that runs has a file: of one that has none (`python -c`, a worker
    that was sent its code) the library believes that it is a test of its own, and ends it."""
    program: Any = sys.modules["__main__"]
    if hasattr(program, "__file__") or program.__spec__ is not None:
        yield
        return
    program.__file__ = "<workup>"
    try:
        yield
    finally:
        del program.__file__


def _opened(address: str) -> tuple[Any, bool]:
    """A session, and whether it is one of a server of Spark Connect."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pandas, which is not used here
            if not address.startswith("sc://"):
                return _classic(address), False
            with named_program():
                from pyspark.sql.connect.client.retries import DefaultPolicy
                from pyspark.sql.connect.session import SparkSession

            session = SparkSession.builder.remote(address).create()
            session.client.set_retry_policies([DefaultPolicy(max_retries=_TRIES, max_backoff=_LONGEST_PAUSE_MS)])
            return session, True
    except ImportError:
        raise MissingExtra("pyspark-client", extra="spark", purpose="the engine 'spark'") from None
    except RunError:
        raise
    except Exception as error:
        raise RunError(
            f"engine 'spark': no session at the address given ({raised(error)}). To fix: check 'address', such as "
            "sc://host:15002, and that a server of Spark Connect runs there."
        ) from None


def _classic(master: str) -> Any:
    """A session of the whole of pyspark, which brings Spark itself and needs Java."""
    try:
        import pyspark.core  # noqa: F401  (pyspark-client has no such part)
        from pyspark.sql import SparkSession
    except ImportError:
        raise RunError(
            f"engine 'spark': the master '{master[:60]}' needs the whole of pyspark, with Java; pyspark-client reaches "
            "addresses that start with sc:// alone. To fix: pip install pyspark, or give the address of a server."
        ) from None
    return SparkSession.builder.master(master).config("spark.sql.execution.arrow.pyspark.enabled", "true").getOrCreate()


def _mapped(job: remote.RemoteJob) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What runs in Spark's Python. It sends back whatever becomes of a batch, so that no error reaches Spark's logs."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from workup.engines import remote

        for rows in batches:
            for place, batch in zip(rows.column(0).to_pylist(), rows.column(1).to_pylist(), strict=True):
                answer = remote.answered(job, remote.Sealed(batch)).content
                yield pa.RecordBatch.from_pydict({"place": pa.array([place], pa.int64()), "answer": [answer]})

    return work
