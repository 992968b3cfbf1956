"""The engine of many cores: an ordered map over worker processes on this machine. Knows nothing of what it maps."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field

from workup.errors import InputError, PluginError, SystemFailure, raised
from workup.study_modules import look_beside, looked_beside

Item = TypeVar("Item")
Result = TypeVar("Result")

_PENDING_PER_WORKER = 2  # one at work and one waiting: no worker idles, and items never pile up
_GRACE_SECONDS = 5.0  # for a worker that is told to stop, to end the programs it started
_SAFE_PATH = "PYTHONSAFEPATH"
_USE_SERIAL = "use the serial engine (engine: serial), or name the object as package.module:Object"


class Processes:
    """An ordered map over worker processes; `workers: 0` means one for each core this process may use.

    Workers are spawned, so they inherit no lock, no open file and no thread, and behave alike on every platform.
    """

    def __init__(
        self,
        *,
        workers: Annotated[int, Field(ge=0, le=1_000, description="Worker processes; 0 is one per core")] = 0,
    ) -> None:
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
            raise InputError(
                "workers must be a whole number, 0 for one per core",
                where="engine 'processes'",
                got=repr(workers)[:20],
                remedy="set workers to 0 or more",
            )
        self.workers = workers or _cores()
        self.seconds: list[float] = []  # that the work on each item took, in its worker

    def map(self, setup: Callable[[], Callable[[Item], Result]], items: Sequence[Item]) -> Iterator[Result]:
        """Results in the order of the items; `setup` runs once in each worker, and not at all when there is no item."""
        try:
            packed = pickle.dumps(setup)
        except Exception as error:  # pickle raises TypeError, AttributeError and its own kind, by turns
            raise PluginError(
                f"the processes engine could not send the system to its workers ({type(error).__name__} from pickle): "
                f"it holds something that exists in this process only. To fix: {_USE_SERIAL}."
            ) from error
        return self._results(packed, items) if items else iter(())

    def _outcome(self, future: Future[_Done | _Raised]) -> Any:
        answer = _answer(future)
        self.seconds.append(answer.seconds)
        return answer.result

    def _results(self, packed: bytes, items: Sequence[Any]) -> Iterator[Any]:
        workers = min(self.workers, len(items))
        with _safe_path() as asked_before:
            pool = ProcessPoolExecutor(
                workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_start,
                initargs=(packed, looked_beside(), asked_before),
            )
        pending: deque[Future[_Done | _Raised]] = deque()
        finished = 0
        complete = False
        try:
            for item in items:
                with _safe_path():  # workers are started as they are needed
                    pending.append(pool.submit(_work_on, item))
                if len(pending) == workers * _PENDING_PER_WORKER:
                    yield self._outcome(pending.popleft())
                    finished += 1
            while pending:
                yield self._outcome(pending.popleft())
                finished += 1
            complete = True
        except BrokenProcessPool:
            raise SystemFailure(
                f"a worker process died after {finished} of {len(items)} batches: it was killed (often for lack of "
                "memory), crashed in native code, or could not start. To fix: run with engine: serial to see the "
                "crash, or with fewer workers; a script that starts this run needs its calls under "
                "if __name__ == '__main__'."
            ) from None
        finally:
            if complete:
                pool.shutdown()
            else:
                _stop(pool)


@contextlib.contextmanager
def _safe_path() -> Iterator[bool]:
    """Python processes that are started now do not look for modules in the working directory, which a worker would do
    before it is told its import path; answers whether the environment says so already."""
    asked = bool(os.environ.get(_SAFE_PATH))
    if asked:
        yield True
        return
    os.environ[_SAFE_PATH] = "1"
    try:
        yield False
    finally:
        os.environ.pop(_SAFE_PATH, None)


def _answer(future: Future[_Done | _Raised]) -> _Done:
    """The answer to one item, or the error that was raised for it in the worker."""
    try:
        answer = future.result()
    except BrokenProcessPool:
        raise
    except Exception as error:  # errors of the work come back as _Raised, so this one is about the transport
        raise SystemFailure(
            f"an item or its result could not be sent between processes ({type(error).__name__}). "
            f"To fix: {_USE_SERIAL}."
        ) from error
    if isinstance(answer, _Raised):
        raise answer.rebuilt()
    return answer


def _stop(pool: ProcessPoolExecutor) -> None:
    """End the workers now: after an error or Ctrl-C nobody waits for batches that no one will read."""
    # The table of workers is private until Python 3.14 offers terminate_workers().
    workers = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
    deadline = time.monotonic() + _GRACE_SECONDS
    for worker in workers:
        worker.join(max(0.0, deadline - time.monotonic()))
        if worker.is_alive():
            worker.kill()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


# What follows runs in the workers.


@dataclass(frozen=True)
class _Done:
    result: Any
    seconds: float


@dataclass(frozen=True)
class _Raised:
    """An error on its way home: whole where pickle gives it back unchanged, else as its class and its parts.

    An error class with required or keyword arguments, such as InputError, does not survive pickle by itself.
    """

    kind: type[Exception]
    whole: Exception | None
    args: tuple[Any, ...]
    attributes: dict[str, Any]
    frames: str

    @classmethod
    def of(cls, error: Exception) -> _Raised:
        """Take an error apart, in the worker."""
        frames = "".join(traceback.format_tb(error.__traceback__))  # the code, without values or messages
        kind, attributes = type(error), dict(error.__dict__)
        if _survives(error):
            return cls(kind, error, (), {}, frames)
        raised = cls(kind, None, error.args, attributes, frames)
        if _survives(raised):
            return raised
        text = f"a worker raised {kind.__name__}, which cannot be sent between processes. To fix: {_USE_SERIAL}."
        return cls(SystemFailure, SystemFailure(text), (), {}, frames)

    def rebuilt(self) -> Exception:
        """The error as it was raised, in the parent; where it was raised is in its notes."""
        error = self.whole
        if error is None:
            error = self.kind.__new__(self.kind)
            error.args = self.args
            error.__dict__.update(self.attributes)
        error.add_note(f"Raised in a worker process at:\n{self.frames}")
        return error


def _survives(thing: object) -> bool:
    """Whether pickle gives back an object that says the same."""
    try:
        back = pickle.loads(pickle.dumps(thing))
    except Exception:  # pickle and the classes it rebuilds raise what they please
        return False
    return type(back) is type(thing) and str(back) == str(thing)


class _Stop(SystemExit):
    """The parent wants this worker to end. An exception, so that `finally` blocks end programs started here."""


def _told_to_stop(*_: object) -> None:
    raise _Stop(1)


_work: Callable[[Any], Any] | None = None
_failure: _Raised | None = None


def _start(packed: bytes, folders: Sequence[Path], safe_path: bool) -> None:
    """Once in each worker. A failure is kept for the first item, since an initialiser cannot report one."""
    global _work, _failure
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent alone acts on it
    signal.signal(signal.SIGTERM, _told_to_stop)
    threading.Thread(target=_follow_parent, daemon=True).start()
    if not safe_path:  # the study's own programs and modules are to find what they find in the parent
        os.environ.pop(_SAFE_PATH, None)
    for folder in reversed(folders):
        look_beside(folder)
    try:
        setup = pickle.loads(packed)
    except Exception as error:
        text = (
            f"a worker process could not find what it was sent ({raised(error)}). To fix: define it in "
            f"a module that can be imported, or {_USE_SERIAL}."
        )
        _failure = _Raised.of(SystemFailure(text))
        return
    try:
        _work = setup()
    except Exception as error:
        _failure = _Raised.of(error)


def _work_on(item: Any) -> _Done | _Raised:
    if _failure is not None:
        return _failure
    assert _work is not None
    began = time.perf_counter()
    try:
        result = _work(item)
        return _Done(result, time.perf_counter() - began)
    except _Stop:
        os._exit(1)  # the pool would take it for the answer of one item and go on to the next
    except SystemExit:
        return _Raised.of(SystemFailure("the system under test ended its own process (sys.exit) instead of answering."))
    except Exception as error:
        return _Raised.of(error)


def _follow_parent() -> None:
    """A pool's workers outlive a parent that was killed, waiting for ever with a model in memory: end with it."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_SECONDS)
    os._exit(1)
