"""What a worker of a cluster does with an item: hand it to a supervised process of its own, and tell nobody else.

Nothing is raised here and nothing printed. What the work prints goes nowhere, what it raises travels to the driver as
data, and items travel compressed in an object that does not show them: the logs of a cluster are read by many.
"""

from __future__ import annotations

import pickle
import threading
import uuid
import zlib
from dataclasses import dataclass, field
from typing import Any

from workup.engines.supervised import Answer, Job, Raised, Supervised, packed, unpacked
from workup.errors import SystemFailure, WorkupError
from workup.errors import raised as told

_idle: dict[str, list[Supervised]] = {}
_lock = threading.Lock()
IDLE_SECONDS = 60.0  # after which a process that no batch came for ends by itself


@dataclass(frozen=True, repr=False)
class Sealed:
    """Bytes that no log shows."""

    content: bytes

    def __repr__(self) -> str:
        return "<batch>"


@dataclass(frozen=True, repr=False)
class RemoteJob:
    """A job under a name of its own, so that processes which were started for it are found again."""

    job: Job
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __repr__(self) -> str:
        return f"<job {self.token}>"


def sealed(item: Any) -> Sealed:
    """An item on its way to a worker."""
    return Sealed(zlib.compress(packed(item), 1))


def opened(answer: Sealed) -> Answer:
    """An answer that came back."""
    return unpacked(zlib.decompress(answer.content))


def answered(job: RemoteJob, item: Sealed) -> Sealed:
    """The answer to an item, from a process that has the system open already, or from a new one."""
    with _lock:
        waiting = _idle.setdefault(job.token, [])
        worker = waiting.pop() if waiting else Supervised(job.job)
    try:
        answer = worker.ask(zlib.decompress(item.content))
    except BaseException as error:
        worker.close()
        ours = (
            error
            if isinstance(error, WorkupError)
            else SystemFailure(f"a worker of the cluster failed: {told(error)}.")
        )
        return Sealed(zlib.compress(pickle.dumps(Raised.of(ours)), 1))
    with _lock:
        _idle.setdefault(job.token, []).append(worker)
    return Sealed(zlib.compress(answer, 1))


def close(token: str) -> None:
    """End the processes of a job that is over."""
    with _lock:
        workers = _idle.pop(token, [])
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.close()
