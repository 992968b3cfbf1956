"""The engine of a Dask cluster: one started on this machine, or one that runs already and is named by its address."""

from __future__ import annotations

import contextlib
import queue
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from workup.engines import remote
from workup.engines.processes import Workers, cores
from workup.engines.supervised import (
    GROWTH_MB,
    RETRIES,
    TIMEOUT,
    Answer,
    Growth,
    Job,
    Retries,
    Timeout,
    in_order,
)
from workup.errors import MissingExtra, RunError, raised
from workup.task import Lost

Item = TypeVar("Item")
Result = TypeVar("Result")

_PENDING_PER_WORKER = 2
_CONNECT_SECONDS = 30


class Dask:
    """An ordered map over the workers of a Dask cluster; without an address, over one that lives as long as the map.

    Workup and the system under test must be installed on every worker. A worker that is killed is replaced by the
    cluster, and what it worked on is done again.
    """

    def __init__(
        self,
        *,
        workers: Workers = 0,
        address: Annotated[
            str, Field(max_length=500, description="Address of a scheduler, such as tcp://host:8786; empty: start one")
        ] = "",
        timeout: Timeout = TIMEOUT,
        retries: Retries = RETRIES,
        growth_mb: Growth = GROWTH_MB,
    ) -> None:
        self.workers, self._address = workers or cores(), address
        self.seconds: list[float] = []
        self._settings = {"timeout": timeout, "retries": retries, "growth_mb": growth_mb}

    def map(self, setup: Callable[[], Callable[[Item], Result]], items: Sequence[Item]) -> Iterator[Result | Lost]:
        """Results in the order of the items; the system is opened once for each thread of a worker."""
        job = remote.RemoteJob(Job.of(setup, quiet=True, idle_seconds=remote.IDLE_SECONDS, **self._settings))
        return self._results(job, items) if items else iter(())

    def _results(self, job: remote.RemoteJob, items: Sequence[Any]) -> Iterator[Any]:
        with self._client() as client, _registered(client, job):
            window = _PENDING_PER_WORKER * max(1, sum(_threads(client)))
            finished: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
            futures: dict[int, Any] = {}

            def submit(place: int) -> None:
                name = f"workup-{job.token}-{place}"
                future = client.submit(_answered, job.token, remote.sealed(items[place]), key=name, pure=False)
                futures[place] = future
                future.add_done_callback(lambda done, place=place: finished.put((place, done)))

            def next_answer() -> tuple[int, Answer]:
                place, future = finished.get()
                del futures[place]
                return place, _outcome(future)

            yield from in_order(len(items), window, submit, next_answer, self.seconds)

    @contextlib.contextmanager
    def _client(self) -> Iterator[Any]:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise MissingExtra("distributed", extra="dask", purpose="the engine 'dask'") from None
        if self._address:
            try:
                client = Client(self._address, timeout=_CONNECT_SECONDS, set_as_default=False)
            except (OSError, ValueError, TimeoutError) as error:
                raise RunError(
                    f"engine 'dask': no scheduler answered at the address given ({type(error).__name__}). To fix: "
                    "check 'address', or leave it empty to start a cluster on this machine."
                ) from None
            with client:
                yield client
            return
        with (
            LocalCluster(
                n_workers=self.workers, threads_per_worker=1, dashboard_address=None, processes=True, silence_logs=50
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client


def _threads(client: Any) -> list[int]:
    return [int(worker.get("nthreads", 1)) for worker in client.scheduler_info(n_workers=-1)["workers"].values()]


def _outcome(future: Any) -> Answer:
    """The answer that a future holds; a cluster that is gone is an error after which the run can go on."""
    from distributed import KilledWorker

    try:
        answer: remote.Sealed = future.result()
    except KilledWorker:  # the scheduler has seen several workers die of it
        return Lost("died")
    except (Exception, CancelledError) as error:
        raise RunError(
            f"engine 'dask': the cluster gave no answer ({raised(error)}). What was answered so far is kept. To fix: "
            "see that the scheduler runs, with Workup installed on its workers, and run the same command again."
        ) from None
    return remote.opened(answer)


@contextlib.contextmanager
def _registered(client: Any, job: remote.RemoteJob) -> Iterator[None]:
    """Every worker of the cluster, also one that comes later, is told the job; and when it is over."""
    from distributed import WorkerPlugin

    name = f"workup-{job.token}"
    client.register_plugin(_plugin(WorkerPlugin, job), name=name)
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # a cluster that is gone has forgotten by itself
            client.unregister_worker_plugin(name)


_jobs: dict[str, remote.RemoteJob] = {}


def _plugin(kind: type, job: remote.RemoteJob) -> Any:
    """Dask wants a plug-in of its own class, which exists only where Dask is installed."""

    class Told(kind):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            _tell(job)

        def teardown(self, worker: Any) -> None:
            _forget(job.token)

    return Told()


# What follows runs in the workers.


def _tell(job: remote.RemoteJob) -> None:
    _jobs[job.token] = job


def _forget(token: str) -> None:
    _jobs.pop(token, None)
    remote.close(token)


def _answered(token: str, item: remote.Sealed) -> remote.Sealed:
    return remote.answered(_jobs[token], item)
