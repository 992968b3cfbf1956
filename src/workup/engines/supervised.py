"""One worker process under supervision: it loads what it was sent once, answers item after item, and is replaced when
it dies, hangs or grows. Knows nothing of what it works on."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import Field

from workup.errors import PluginError, SystemFailure, raised
from workup.study_modules import look_beside, looked_beside
from workup.task import Lost

USE_SERIAL = "use the serial engine (engine: serial), or name the object as package.module:Object"
_GRACE_SECONDS = 5.0  # for a worker that is told to stop, to end the programs it started
_LOADING_SECONDS = 600.0  # for a system to be loaded, where a batch is given less
_SAFE_PATH = "PYTHONSAFEPATH"
_MB = 2**20
_HEAD = 8  # bytes before an answer: the memory that the worker holds

# Settings that every engine with workers takes.
Timeout = Annotated[
    float,
    Field(ge=0, le=30 * 86_400, allow_inf_nan=False, description="Longest time for a batch in seconds; 0 is no limit"),
]
Retries = Annotated[int, Field(ge=0, le=20, description="Further tries of a batch whose worker died or hung")]
Growth = Annotated[
    float,
    Field(ge=0, le=10**9, allow_inf_nan=False, description="MB by which a worker may grow before it is replaced"),
]
TIMEOUT, RETRIES, GROWTH_MB = 1800.0, 1, 2000.0


@dataclass(frozen=True)
class Job:
    """What a worker must know before its first item."""

    packed: bytes  # the pickled setup
    folders: tuple[Path, ...]  # whose modules a study may name
    timeout: float = TIMEOUT
    retries: int = RETRIES
    growth_mb: float = GROWTH_MB
    quiet: bool = False  # nothing that the work prints is kept: the logs of a cluster are read by others
    idle_seconds: float = 0  # after so long without an item the process ends; 0 is never

    @classmethod
    def of(cls, setup: Callable[[], Callable[[Any], Any]], **settings: Any) -> Job:
        """Pack a setup, or say why it cannot travel."""
        try:
            packed = pickle.dumps(setup)
        except Exception as error:  # pickle raises TypeError, AttributeError and its own kind, by turns
            raise PluginError(
                f"the engine could not send the system to its workers ({type(error).__name__} from pickle): "
                f"it holds something that exists in this process only. To fix: {USE_SERIAL}."
            ) from error
        return cls(packed, tuple(looked_beside()), **settings)


@dataclass(frozen=True)
class Done:
    """A result and the seconds that it took."""

    result: Any
    seconds: float


@dataclass(frozen=True)
class Raised:
    """An error on its way home: whole where pickle gives it back unchanged, else as its class and its parts.

    An error class with required or keyword arguments, such as InputError, does not survive pickle by itself.
    """

    kind: type[Exception]
    whole: Exception | None
    args: tuple[Any, ...]
    attributes: dict[str, Any]
    frames: str

    @classmethod
    def of(cls, error: Exception) -> Raised:
        """Take an error apart, in the worker."""
        frames = "".join(traceback.format_tb(error.__traceback__))  # the code, without values or messages
        kind, attributes = type(error), dict(error.__dict__)
        if _survives(error):
            return cls(kind, error, (), {}, frames)
        raised = cls(kind, None, error.args, attributes, frames)
        if _survives(raised):
            return raised
        text = f"a worker raised {kind.__name__}, which cannot be sent between processes. To fix: {USE_SERIAL}."
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


Answer = Done | Raised | Lost


def packed(item: Any) -> bytes:
    """An item as it travels."""
    try:
        return pickle.dumps(item)
    except Exception as error:
        raise _unsendable(error) from error


def unpacked(answer: bytes) -> Answer:
    """An answer as it was given."""
    try:
        found: Answer = pickle.loads(answer)
    except Exception as error:
        raise _unsendable(error) from error
    return found


def _unsendable(error: Exception) -> SystemFailure:
    return SystemFailure(
        f"an item or its result could not be sent between processes ({type(error).__name__}). To fix: {USE_SERIAL}."
    )


class Supervised:
    """One worker process for a job, started when it is first needed and replaced when it is gone.

    A worker is spawned, so it inherits no lock, no open file and no thread, and behaves alike on every platform.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._process: BaseProcess | None = None
        self._line: Connection | None = None
        self._memory = 0  # of the worker after its first item, from which growth is counted
        self._stopping = False

    def ask(self, item: bytes) -> bytes:
        """The answer to an item, packed: Done, Raised, or Lost where every worker that tried it died or hung."""
        reason: Any = "died"
        for _ in range(1 + self._job.retries):
            try:
                return self._asked(item)
            except _Gone as gone:
                if self._stopping:
                    raise
                reason = gone.reason
                self._end()
        return pickle.dumps(Lost(reason))

    def stop(self) -> None:
        """End the worker now; whoever waits for its answer gets none."""
        self._stopping = True
        if self._process is not None:
            self._process.terminate()

    def close(self) -> None:
        """End the worker, by force where it does not listen."""
        self._stopping = True
        self._end()

    @property
    def alive(self) -> bool:
        """Whether a worker is there to answer at once."""
        return self._process is not None and self._process.is_alive()

    def _asked(self, item: bytes) -> bytes:
        if self._stopping:
            raise _Gone("died")
        if not self.alive:
            self._end()
            self._start()
        assert self._line is not None
        try:
            self._line.send_bytes(item)
            if not self._line.poll(self._job.timeout or None):
                raise _Gone("timeout")
            answer = self._line.recv_bytes()
        except (EOFError, OSError):
            raise _Gone("died") from None
        memory = int.from_bytes(answer[:_HEAD])
        self._memory = self._memory or memory
        if memory - self._memory > self._job.growth_mb * _MB:
            self._end()  # the next item finds a new one
        return answer[_HEAD:]

    def _start(self) -> None:
        patience = max(self._job.timeout, _LOADING_SECONDS) if self._job.timeout else None
        for last in (False, True):
            self._spawn()
            assert self._line is not None
            try:
                if not self._line.poll(patience):
                    raise SystemFailure(
                        f"the system was not loaded within {patience:g} s in a worker process. To fix: run with "
                        "engine: serial to see where it waits, or give a longer timeout."
                    )
                ready = unpacked(self._line.recv_bytes())
            except (EOFError, OSError):
                if self._stopping:
                    raise _Gone("died") from None
                self._end()
                if last:
                    raise SystemFailure(_NO_START) from None
                continue
            except SystemFailure:
                self._end()
                raise
            if isinstance(ready, Raised):
                self._end()
                raise ready.rebuilt()
            return

    def _spawn(self) -> None:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs, self._job), daemon=False)
        with _STARTING, _safe_path(), _may_have_children(), _main_left_out(self._job):
            process.start()
        theirs.close()
        self._process, self._line, self._memory = process, ours, 0
        if self._stopping:  # told to stop while it was starting
            process.terminate()

    def _end(self) -> None:
        process, line, self._process, self._line = self._process, self._line, None, None
        if process is None:
            return
        process.terminate()
        process.join(_GRACE_SECONDS)
        if process.is_alive():
            process.kill()
            process.join(_GRACE_SECONDS)
        if line is not None:
            line.close()


_NO_START = (
    "a worker process died before its first batch: it was killed (often for lack of memory), crashed in native code, "
    "or could not start. To fix: run with engine: serial to see the crash, or with fewer workers; a script that starts "
    "this run needs its calls under if __name__ == '__main__'."
)
_STARTING = threading.Lock()  # processes are started from several threads, and what they inherit is set for each


class _Gone(Exception):
    """The worker died, or did not answer in time."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Python processes that are started now do not look for modules in the working directory, which a worker would do
    before it is told its import path."""
    if os.environ.get(_SAFE_PATH):
        yield
        return
    os.environ[_SAFE_PATH] = _OURS
    try:
        yield
    finally:
        os.environ.pop(_SAFE_PATH, None)


_OURS = "workup"  # any text that is not empty asks for the safe path; this one says who did


@contextlib.contextmanager
def _main_left_out(job: Job) -> Iterator[None]:
    """A spawned process imports the program that started it, whole, in case that something in it is asked for. Where
    nothing is, it need not: the command line alone takes longer to import than most systems, and a script would have
    to guard its calls."""
    if b"__main__" in job.packed:
        yield
        return
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


@contextlib.contextmanager
def _may_have_children() -> Iterator[None]:
    """A worker of a Dask cluster is marked as a daemon, which multiprocessing refuses children; ours end by themselves
    when their parent is gone, which is all that the mark is about."""
    config: dict[str, Any] = getattr(multiprocessing.current_process(), "_config", {})
    before = config.pop("daemon", None)
    try:
        yield
    finally:
        if before is not None:
            config["daemon"] = before


def _survives(thing: object) -> bool:
    """Whether pickle gives back an object that says the same."""
    try:
        back = pickle.loads(pickle.dumps(thing))
    except Exception:  # pickle and the classes it rebuilds raise what they please
        return False
    return type(back) is type(thing) and str(back) == str(thing)


# What follows runs in the worker.


class _Stop(SystemExit):
    """The parent wants this worker to end. An exception, so that `finally` blocks end programs started here."""


def _told_to_stop(*_: object) -> None:
    raise _Stop(1)


def _serve(line: Connection, job: Job) -> None:
    """The life of a worker: open the system once, then answer until the line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent alone acts on it
    signal.signal(signal.SIGTERM, _told_to_stop)
    threading.Thread(target=_follow_parent, daemon=True).start()
    if os.environ.get(_SAFE_PATH) == _OURS:  # the study's own programs and modules find what they find in the parent
        os.environ.pop(_SAFE_PATH)
    if job.quiet:
        _silence()
    for folder in reversed(job.folders):
        look_beside(folder)
    try:
        work = _opened(job)
        line.send_bytes(pickle.dumps(work if isinstance(work, Raised) else Done(None, 0.0)))
        if isinstance(work, Raised):
            return
        while line.poll(job.idle_seconds or None):
            answer = _answered(work, line.recv_bytes())
            line.send_bytes(resident().to_bytes(_HEAD) + answer)
    except (EOFError, OSError, _Stop):
        os._exit(1)  # nobody reads any more: what an interpreter does at its end would only take time


def _opened(job: Job) -> Callable[[Any], Any] | Raised:
    try:
        setup = pickle.loads(job.packed)
    except Exception as error:
        text = (
            f"a worker process could not find what it was sent ({raised(error)}). To fix: define it in "
            f"a module that can be imported, or {USE_SERIAL}."
        )
        return Raised.of(SystemFailure(text))
    try:
        work: Callable[[Any], Any] = setup()
    except _Stop:
        raise
    except SystemExit:
        return Raised.of(_left())
    except Exception as error:
        return Raised.of(error)
    return work


def _answered(work: Callable[[Any], Any], item: bytes) -> bytes:
    try:
        given = pickle.loads(item)
        began = time.perf_counter()
        result = work(given)
        answer: Answer = Done(result, time.perf_counter() - began)
    except _Stop:
        raise
    except SystemExit:
        answer = Raised.of(_left())
    except Exception as error:
        answer = Raised.of(error)
    try:
        return pickle.dumps(answer)
    except Exception as error:
        return pickle.dumps(Raised.of(_unsendable(error)))


def _left() -> SystemFailure:
    return SystemFailure("the system under test ended its own process (sys.exit) instead of answering.")


def resident() -> int:
    """Bytes of memory that this process holds now; where that cannot be told, the most that it ever held, or 0."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _follow_parent() -> None:
    """Workers outlive a parent that was killed, waiting for ever with a model in memory: end with it."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_SECONDS)
    os._exit(1)


def in_order(
    count: int,
    window: int,
    submit: Callable[[int], None],
    next_answer: Callable[[], tuple[int, Answer]],
    seconds: list[float],
) -> Iterator[Any]:
    """Results in the order of the items, with at most `window` of them handed over and not yet read.

    `submit(place)` hands an item over; `next_answer()` waits for whichever comes next.
    """
    held: dict[int, Answer] = {}
    handed = 0
    for place in range(count):
        while handed < min(count, place + window):
            submit(handed)
            handed += 1
        while place not in held:
            found, answer = next_answer()
            held[found] = answer
        yield result_of(held.pop(place), seconds)


def result_of(answer: Answer, seconds: list[float]) -> Any:
    """What an engine gives for an answer: its result, Lost in its place, or the error that was raised."""
    if isinstance(answer, Raised):
        raise answer.rebuilt()
    if isinstance(answer, Done):
        seconds.append(answer.seconds)
        return answer.result
    return answer
