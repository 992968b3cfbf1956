"""Engines: the same ordered results from each, and a worker that fails, dies or is interrupted never hangs a run."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from workup import plugins
from workup.engines.processes import Processes
from workup.engines.serial import Serial
from workup.errors import InputError, MissingExtra, PluginError, SystemFailure, WorkupError
from workup.task import Lost


def square_slowest_first() -> Callable[[int], int]:
    def work(item: int) -> int:
        time.sleep(0.05 if item == 0 else 0.0)  # the first item ends last
        return item * item

    return work


def own_pid() -> Callable[[Any], tuple[int, float]]:
    made = time.monotonic()
    return lambda item: (os.getpid(), made)


def refusing() -> Callable[[str], str]:
    errors: dict[str, Callable[[], Exception]] = {
        "input": lambda: InputError("outcome must be 0 or 1", where="a.csv", got="-1", remedy="recode"),
        "extra": lambda: MissingExtra("pandas", extra="tables", purpose="reading"),
        "system": lambda: SystemFailure("the model said no"),
        "unicode": lambda: UnicodeDecodeError("utf-8", b"x", 0, 1, "odd"),
        "leave": lambda: sys.exit(0),
        "local": lambda: local_error()("cannot be pickled"),
    }

    def work(item: str) -> str:
        if item in errors:
            raise errors[item]()
        return item

    return work


def local_error() -> type[Exception]:
    class LocalError(Exception):
        pass

    return LocalError


def refusing_to_start() -> Callable[[Any], Any]:
    raise InputError("the model file must be there", where="study.yaml", remedy="copy it")


def dying(how: str) -> Callable[[int], int]:
    def work(item: int) -> int:
        if item == 2:
            os._exit(1) if how == "exit" else os.kill(os.getpid(), signal.SIGKILL)
        return item

    return work


def unpicklable_results() -> Callable[[Any], Any]:
    return lambda item: threading.Lock()


def noting(folder: Path) -> Callable[[int], int]:
    def work(item: int) -> int:
        (folder / str(item)).touch()
        return item

    return work


def test_both_engines_are_registered() -> None:
    assert plugins.find("engines", "serial") is Serial
    assert plugins.make("engines", "processes", {}, where="engine", context={"workers": 3}).workers == 3
    assert isinstance(plugins.make("engines", "serial", {}, where="engine", context={"workers": 3}), Serial)


@pytest.mark.parametrize("engine", [Serial(), Processes(workers=2)], ids=["serial", "processes"])
def test_results_come_in_the_order_of_the_items(engine: Any) -> None:
    assert list(engine.map(square_slowest_first, range(25))) == [n * n for n in range(25)]
    assert list(engine.map(square_slowest_first, [])) == []


@pytest.mark.parametrize("engine", [Serial(), Processes(workers=2)], ids=["serial", "processes"])
def test_no_item_means_no_setup(engine: Any) -> None:
    assert list(engine.map(refusing_to_start, [])) == []


def test_setup_runs_once_in_each_worker() -> None:
    found = list(Processes(workers=2).map(own_pid, range(12)))
    workers = {pid for pid, _ in found}
    assert len(set(found)) == len(workers) <= 2
    assert os.getpid() not in workers
    serial = set(Serial().map(own_pid, range(5)))
    assert [pid for pid, _ in serial] == [os.getpid()]


@pytest.mark.parametrize("kind", ["input", "extra", "system", "unicode"])
def test_errors_arrive_as_they_were_raised(kind: str) -> None:
    with pytest.raises(Exception) as serial:
        list(Serial().map(refusing, [kind]))
    with pytest.raises(Exception) as processes:
        list(Processes(workers=1).map(refusing, [kind]))
    assert type(processes.value) is type(serial.value)
    assert str(processes.value) == str(serial.value)
    assert "test_engines.py" in processes.value.__notes__[0]  # where in the worker it was raised
    if kind == "input":
        assert processes.value.remedy == "recode"


def test_a_system_that_leaves_does_not_end_the_run() -> None:
    with pytest.raises(SystemFailure, match="ended its own process"):
        list(Processes(workers=1).map(refusing, ["leave"]))


def test_an_error_that_cannot_travel_is_named() -> None:
    with pytest.raises(SystemFailure, match="a worker raised LocalError, which cannot be sent"):
        list(Processes(workers=1).map(refusing, ["local"]))


def test_results_before_an_error_are_given_first() -> None:
    given = []
    with pytest.raises(SystemFailure, match="the model said no"):
        given.extend(collect(Processes(workers=2).map(refusing, ["a", "b", "system", "c"]), given))
    assert given == ["a", "b"]


def collect(results: Iterator[Any], into: list[Any]) -> list[Any]:
    for result in results:
        into.append(result)
    return []


def test_a_failing_setup_arrives_as_its_own_error() -> None:
    with pytest.raises(InputError, match=r"the model file must be there.*copy it"):
        list(Processes(workers=2).map(refusing_to_start, range(4)))


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_a_worker_that_dies_costs_its_item_and_no_other(how: str) -> None:
    found = list(Processes(workers=1).map(functools.partial(dying, how), range(4)))
    assert found == [0, 1, Lost("died"), 3]


def dying_at_once() -> Callable[[int], int]:
    os._exit(3)


def test_a_worker_that_cannot_start_is_an_error_and_not_a_hang() -> None:
    with pytest.raises(SystemFailure, match=r"died before its first batch.*engine: serial.*__main__"):
        list(Processes(workers=1).map(dying_at_once, [1, 2]))


def hanging_at_two() -> Callable[[int], int]:
    def work(item: int) -> int:
        time.sleep(600 if item == 2 else 0)
        return item

    return work


def test_serial_leaves_an_item_that_takes_too_long() -> None:
    assert list(Serial(timeout=1.0).map(hanging_at_two, range(4))) == [0, 1, Lost("timeout"), 3]


def test_serial_leaves_no_clock_behind() -> None:
    before = signal.getsignal(signal.SIGALRM)
    assert list(Serial(timeout=5).map(hanging_at_two, [0])) == [0]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def growing() -> Callable[[int], int]:
    kept: list[bytes] = []

    def work(item: int) -> int:
        kept.append(b"x" * (16 * 2**20))
        return os.getpid()

    return work


def test_a_worker_that_grows_is_replaced() -> None:
    """The first item sets the measure; at 40 MB above it a worker ends, and the next opens the system anew."""
    pids = list(Processes(workers=1, growth_mb=40).map(growing, range(8)))
    assert len(set(pids)) == 2  # 16 MB each: after the fourth item it holds 48 MB more than after the first
    assert pids == sorted(pids, key=pids.index)


def test_what_cannot_be_sent_says_what_to_do() -> None:
    with pytest.raises(PluginError, match=r"engine: serial.*package\.module:Object"):
        Processes(workers=1).map(lambda: abs, [1])  # at once, before any result is asked for
    with pytest.raises(SystemFailure, match="could not be sent between processes"):
        list(Processes(workers=1).map(unpicklable_results, [1]))
    with pytest.raises(SystemFailure, match="could not be sent between processes"):
        list(Processes(workers=1).map(square_slowest_first, [threading.Lock()]))  # type: ignore[list-item]


def test_items_do_not_pile_up(tmp_path: Path) -> None:
    """With one worker, two items at most have been handed over when the first result is read."""
    results = Processes(workers=1).map(functools.partial(noting, tmp_path), range(1000))
    assert next(results) == 0
    time.sleep(0.2)
    assert len(list(tmp_path.iterdir())) <= 3
    results.close()  # type: ignore[attr-defined]


def test_workers_must_be_a_number() -> None:
    for wrong in (-1, 1.5, True, "4"):
        with pytest.raises(InputError, match="whole number"):
            Processes(workers=wrong)  # type: ignore[arg-type]
    assert Processes().workers >= 1
    assert issubclass(InputError, WorkupError)


RUN = """
import os, time
from pathlib import Path
from workup.engines.processes import Processes

def setup():
    def work(item):
        try:
            Path(f"worker-{os.getpid()}").touch()
            time.sleep(600)
        finally:
            Path(f"tidied-{os.getpid()}").touch()
    return work

if __name__ == "__main__":
    for result in Processes(workers=2).map(setup, range(100)):
        pass
"""


def started(folder: Path) -> tuple[subprocess.Popen[bytes], list[int]]:
    """A run in a process group of its own, once both its workers are at work."""
    (folder / "run.py").write_text(RUN)
    run = subprocess.Popen(
        [sys.executable, "run.py"], cwd=folder, stderr=subprocess.PIPE, start_new_session=True, bufsize=0
    )
    for _ in range(600):
        workers = [int(file.name.split("-")[1]) for file in folder.glob("worker-*")]
        if len(workers) == 2:
            return run, workers
        time.sleep(0.05)
    run.kill()
    raise AssertionError("the workers did not start")


def gone(pid: int) -> bool:
    """Whether a process ends within some seconds; one that nobody has buried yet has ended."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def test_control_c_ends_the_run_and_its_workers(tmp_path: Path) -> None:
    run, workers = started(tmp_path)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to the run and its workers at once
    _, said = run.communicate(timeout=60)
    assert run.returncode != 0
    assert said.count(b"Traceback") == said.count(b"KeyboardInterrupt") == 1  # the run's own, none from the workers
    assert all(gone(pid) for pid in workers)
    assert all((tmp_path / f"tidied-{pid}").exists() for pid in workers)


def test_workers_end_with_a_run_that_was_killed(tmp_path: Path) -> None:
    run, workers = started(tmp_path)
    run.kill()
    run.communicate(timeout=60)
    assert all(gone(pid) for pid in workers)
    assert all((tmp_path / f"tidied-{pid}").exists() for pid in workers)
