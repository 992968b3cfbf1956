"""The run directory under real kills, torn writes, second writers and open umasks: nothing recorded is ever lost."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import RunError
from workup.runs import Outputs, RunDirectory, Unrecorded, clean, content_key, safe_name
from workup.files import disk

KEY = "0123456789abcdef" * 4


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def record(folder: Path, outputs: dict[str, object]) -> Path:
    with RunDirectory.open(folder) as run:
        log = run.outputs(KEY, "model")
        log.append(outputs)
        return log.path


def known(folder: Path) -> dict[str, object]:
    with RunDirectory.open(folder) as run:
        return dict(run.outputs(KEY, "model").known())


def test_outputs_come_back_exactly(tmp_path: Path) -> None:
    outputs = {"1": 0.1 + 0.2, "2": None, "doc ü\n\ud800": [{"start": 1, "end": 2, "label": "date"}], "4": 5e-324}
    path = record(tmp_path / "run", outputs)
    assert path.name == "model-0123456789ab.jsonl"
    assert known(tmp_path / "run") == outputs
    lines = path.read_bytes().splitlines()
    assert [list(json.loads(line)) for line in lines] == [["case", "output", "check"]] * 4


def test_a_later_record_of_a_case_wins(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        log = run.outputs(KEY, "model")
        log.append({"1": 0.25, "2": 0.5})
        log.append({"1": 0.75})
        assert dict(log.known()) == {"1": 0.75, "2": 0.5}
    assert known(tmp_path / "run") == {"1": 0.75, "2": 0.5}


def test_a_run_that_goes_on_sees_what_a_resumed_run_sees(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        log = run.outputs(KEY, "model")
        log.append({"1": np.float64(1 / 3), "2": (np.int64(1), 2), "3": {4: np.array([0.5])}})
        now = dict(log.known())
    assert now == known(tmp_path / "run") == {"1": 1 / 3, "2": [1, 2], "3": {"4": [0.5]}}


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), object()])
def test_an_output_that_is_not_json_leaves_no_trace(tmp_path: Path, wrong: object) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        log = run.outputs(KEY, "model")
        with pytest.raises(RunError, match="plain JSON"):
            log.append({"1": 0.5, "2": wrong})
        assert dict(log.known()) == {}
        assert log.path.read_bytes() == b""


def test_other_content_and_other_systems_have_other_files(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        run.outputs(KEY, "model").append({"1": 0.5})
        assert dict(run.outputs("f" * 64, "model").known()) == {}
        assert dict(run.outputs(KEY, "other").known()) == {}


def test_a_last_line_cut_at_every_byte_is_repaired(tmp_path: Path) -> None:
    path = record(tmp_path / "run", {"1": 0.25, "2": None})
    kept = path.read_bytes()
    record(tmp_path / "run", {"3": {"spans": [1, 2]}})
    whole = path.read_bytes()
    for cut in range(len(kept), len(whole)):
        path.write_bytes(whole[:cut])
        with RunDirectory.open(tmp_path / "run") as run:
            log = run.outputs(KEY, "model")
            assert dict(log.known()) == {"1": 0.25, "2": None}
            assert log.repaired == (0 if cut == len(kept) else 1)
            assert path.read_bytes() == kept
            log.append({"3": 0.5})
        assert known(tmp_path / "run") == {"1": 0.25, "2": None, "3": 0.5}


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    """In the last line it is cut off as torn; before that it is an error that names the line."""
    path = record(tmp_path / "run", {"1": 0.25, "2": 0.5})
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1
        path.write_bytes(bytes(changed))
        with RunDirectory.open(tmp_path / "run") as run:
            if place < first - 1:
                with pytest.raises(RunError, match=r"line 1: .*--fresh"):
                    run.outputs(KEY, "model")
            else:  # without its newline the first line runs into the second, and both are the last
                expected = {"1": 0.25} if place >= first else {}
                assert dict(run.outputs(KEY, "model").known()) == expected


def test_a_last_line_of_zeros_is_repaired(tmp_path: Path) -> None:
    """What some file systems leave of an append that a power cut interrupted."""
    path = record(tmp_path / "run", {"1": 0.25})
    with path.open("ab") as file:
        file.write(b"\0" * 5000)
    assert known(tmp_path / "run") == {"1": 0.25}


def test_a_damaged_line_in_the_middle_is_mended_by_fresh(tmp_path: Path) -> None:
    path = record(tmp_path / "run", {"1": 0.25, "2": 0.5, "3": 0.75})
    path.write_bytes(path.read_bytes().replace(b"0.5", b"0.9"))
    with RunDirectory.open(tmp_path / "run") as run, pytest.raises(RunError, match="line 2"):
        run.outputs(KEY, "model")
    with RunDirectory.open(tmp_path / "run", fresh=True) as run:
        assert dict(run.outputs(KEY, "model").known()) == {}


@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        ),
    )
)
def test_any_json_comes_back(tmp_path_factory: pytest.TempPathFactory, outputs: dict[str, object]) -> None:
    path = tmp_path_factory.mktemp("any") / "model.jsonl"
    with contextlib.closing(Outputs(path)) as log:
        log.append(outputs)
    with contextlib.closing(Outputs(path)) as log:
        assert dict(log.known()) == outputs


def test_a_full_disk_keeps_what_was_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        log = run.outputs(KEY, "model")
        log.append({"1": 0.25})
        real = os.write

        def full(descriptor: int, content: bytes) -> int:
            if len(content) <= 20:
                raise OSError(28, "No space left on device")
            return real(descriptor, content[:20])  # some of it fits

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(RunError, match="No space left"):
            log.append({"2": 0.5, "3": 0.5})
        monkeypatch.undo()
        log.append({"4": 0.75})
    assert known(tmp_path / "run") == {"1": 0.25, "4": 0.75}


APPEND = """
import sys
from pathlib import Path
from workup.runs import RunDirectory
with RunDirectory.open(Path(sys.argv[1])) as run:
    log = run.outputs("k" * 64, "model")
    for batch in range(10**6):
        log.append({f"{batch}-{row}": "x" * 400 for row in range(200)})
        print(batch, flush=True)
"""


def child(code: str, *words: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("pause", [0.0, 0.003, 0.007, 0.013])
def test_a_kill_loses_nothing_that_append_returned_for(tmp_path: Path, pause: float) -> None:
    process = child(APPEND, tmp_path / "run")
    assert process.stdout is not None
    assert process.stdout.readline() == "0\n"
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    confirmed = ["0", *process.stdout.read().split()]
    process.wait()
    with RunDirectory.open(tmp_path / "run") as run:  # the lock went with the process
        log = run.outputs("k" * 64, "model")
        found = log.known()
        assert all(f"{batch}-{row}" in found for batch in confirmed for row in range(200))
        log.append({"more": 1})
    with RunDirectory.open(tmp_path / "run") as run:
        again = run.outputs("k" * 64, "model")
        assert again.repaired == 0
        assert again.known()["more"] == 1


HOLD = """
import sys, time
from pathlib import Path
from workup.runs import RunDirectory
run = RunDirectory.open(Path(sys.argv[1]))
print("open", flush=True)
time.sleep(600)
"""


def test_a_second_writer_is_kept_out_and_told_who_writes(tmp_path: Path) -> None:
    process = child(HOLD, tmp_path / "run")
    assert process.stdout is not None
    process.stdout.readline()
    try:
        with pytest.raises(RunError, match=rf"another run is writing here \(process {process.pid}\)"):
            RunDirectory.open(tmp_path / "run")
        with pytest.raises(RunError, match="another run is writing here"):
            clean(tmp_path / "run")
    finally:
        process.kill()
        process.communicate()
    RunDirectory.open(tmp_path / "run").close()


def test_a_second_opening_in_the_same_process_is_refused_too(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run"), pytest.raises(RunError, match=f"process {os.getpid()}"):
        RunDirectory.open(tmp_path / "run")
    with RunDirectory.open(tmp_path / "run"):
        pass


def test_a_lock_on_a_file_that_was_just_removed_is_taken_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """clean() may remove the file between our opening it and our locking it: such a lock would keep nobody out."""
    fcntl = pytest.importorskip("fcntl")
    real = fcntl.flock

    def after_removal(descriptor: int, how: int) -> None:
        (tmp_path / "run" / ".lock").unlink()
        monkeypatch.undo()
        real(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", after_removal)
    with RunDirectory.open(tmp_path / "run"), pytest.raises(RunError, match=f"process {os.getpid()}"):
        RunDirectory.open(tmp_path / "run")


def test_outputs_are_on_disk_when_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        log = run.outputs(KEY, "model")
        synced: list[int] = []
        real = os.fsync

        def sync(descriptor: int) -> None:
            synced.append(os.fstat(descriptor).st_size)
            real(descriptor)

        monkeypatch.setattr(os, "fsync", sync)
        log.append({"1": 0.5, "2": 0.5})
        assert synced == [log.path.stat().st_size]  # once, after all of the batch was written


def test_without_flock_the_file_is_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "fcntl", None)
    with RunDirectory.open(tmp_path / "run"), pytest.raises(RunError, match=r"process \d+.*remove the file \.lock"):
        RunDirectory.open(tmp_path / "run")
    assert not (tmp_path / "run" / ".lock").exists()
    process = child("pass")
    process.communicate()
    (tmp_path / "run" / ".lock").write_text(str(process.pid))  # left by a process that is dead
    RunDirectory.open(tmp_path / "run").close()


@pytest.mark.usefixtures("open_umask")
def test_only_the_owner_can_read_anything(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        run.outputs(KEY, "model").append({"1": 0.5})
        run.write("report.json", "{}")
        run.log("started")
        run.timings({"seconds": 1.5})
        found = {path.relative_to(run.path).as_posix(): mode(path) for path in run.path.rglob("*")}
    assert mode(tmp_path / "run") == 0o700
    assert found.pop("outputs") == 0o700
    assert set(found.values()) == {0o600}
    assert {".gitignore", "report.json", "run.log", "timings.json", "outputs/model-0123456789ab.jsonl"} <= set(found)
    assert (tmp_path / "run" / ".gitignore").read_text() == "*\n"


def test_a_file_that_was_opened_to_others_is_closed_again(tmp_path: Path) -> None:
    path = record(tmp_path / "run", {"1": 0.5})
    path.chmod(0o644)
    known(tmp_path / "run")
    assert mode(path) == 0o600


def test_a_folder_of_someone_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    for fresh in (False, True):
        with pytest.raises(RunError, match="not a run directory"):
            RunDirectory.open(tmp_path, fresh=fresh)
    with pytest.raises(RunError, match="not a run directory"):
        clean(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(RunError, match="cannot be used"):
        RunDirectory.open(tmp_path / "thesis.txt")


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    RunDirectory.open(tmp_path).close()
    with RunDirectory.open(tmp_path) as again:
        again.write("report.json", "{}")
    assert (tmp_path / "report.json").read_text() == "{}"


def test_fresh_removes_what_runs_wrote_and_nothing_else(tmp_path: Path) -> None:
    record(tmp_path / "run", {"1": 0.5})
    with RunDirectory.open(tmp_path / "run") as run:
        run.write("report.html", "<p>")
        run.log("started")
        run.timings({"seconds": 1})
    (tmp_path / "run" / "details.jsonl").write_text("{}\n")
    (tmp_path / "run" / "report.notes.docx").write_text("mine")
    (tmp_path / "run" / "outputs" / "notes.txt").write_text("mine")
    with RunDirectory.open(tmp_path / "run", fresh=True) as run:
        left = {path.relative_to(run.path).as_posix() for path in run.path.rglob("*") if path.is_file()}
    assert left == {".gitignore", ".lock", ".workup", "report.notes.docx", "outputs/notes.txt"}


def test_writing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        run.write("report.json", "first")

        def fail(*_: object) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(RunError, match="Input/output error"):
            run.write("report.json", "second")
        monkeypatch.undo()
        assert (run.path / "report.json").read_text() == "first"
        assert not list(run.path.glob("*.tmp"))
        assert not list(run.path.glob(".*.tmp"))


def test_what_a_killed_write_left_is_cleared_away(tmp_path: Path) -> None:
    RunDirectory.open(tmp_path / "run").close()
    (tmp_path / "run" / ".report.json.tmp").write_text("{")
    RunDirectory.open(tmp_path / "run").close()
    assert not (tmp_path / "run" / ".report.json.tmp").exists()


@pytest.mark.parametrize("name", ["../report.json", "a/b", "", ".lock", ".workup", "a\0b"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    with RunDirectory.open(tmp_path / "run") as run, pytest.raises(RunError, match="plain name"):
        run.write(name, "text")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    RunDirectory.open(tmp_path / "run").close()
    (tmp_path / "run" / "run.log").symlink_to(target)
    with RunDirectory.open(tmp_path / "run") as run, pytest.raises(RunError, match="cannot be used"):
        run.log("hello")
    assert target.read_text() == "mine"


def test_the_log_has_one_line_with_its_time_for_each_message(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        run.log("read 12 rows")
        run.log("two\nlines")
        lines = (run.path / "run.log").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["read 12 rows", "two lines"]
    assert all(len(line.split(" ")[0]) == 20 and line[19] == "Z" for line in lines)


def test_timings_are_merged(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        run.timings({"predict": 1.5, "host": {"cores": np.int64(2)}})
        run.timings({"predict": 2.5, "workers": 4})
        text = (run.path / "timings.json").read_text()
        assert json.loads(text) == {"host": {"cores": 2}, "predict": 2.5, "workers": 4}
        (run.path / "timings.json").write_text("{ half")
        run.timings({"predict": 3})
        assert json.loads((run.path / "timings.json").read_text()) == {"predict": 3}


def test_details_are_lines_of_json_and_nothing_leaves_no_file(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run") as run:
        run.details({"row": row, "cell": "tp"} for row in (1, 2))
        path = run.path / "details.jsonl"
        assert path.read_text() == '{"cell":"tp","row":1}\n{"cell":"tp","row":2}\n'
        assert mode(path) == 0o600

        def breaking() -> Iterator[dict[str, int]]:
            yield {"row": 1}
            raise ValueError("the task failed")

        with pytest.raises(ValueError, match="the task failed"):
            run.details(breaking())
        assert len(path.read_text().splitlines()) == 2
        run.details([])
        assert not path.exists()


def test_without_a_run_nothing_is_kept() -> None:
    log = Unrecorded()
    log.append({"1": 0.5})
    assert dict(log.known()) == {}


def test_clean_removes_outputs_and_keeps_the_report(tmp_path: Path) -> None:
    for folder in (tmp_path / "run", tmp_path / "run" / "model"):
        record(folder, {"1": 0.5})
        with RunDirectory.open(folder) as run:
            run.write("report.json", "{}")
            run.write("details.jsonl", "{}\n")
            run.log("started")
            run.timings({"seconds": 1})
    log = "outputs/model-0123456789ab.jsonl"
    assert clean(tmp_path / "run") == [log, "details.jsonl", f"model/{log}", "model/details.jsonl"]
    left = {path.relative_to(tmp_path / "run").as_posix() for path in (tmp_path / "run").rglob("*")}
    kept = {".gitignore", ".workup", "report.json", "run.log", "timings.json"}
    assert left == kept | {f"model/{name}" for name in kept} | {"model"}
    assert clean(tmp_path / "run") == []
    assert known(tmp_path / "run") == {}  # and it can be run again


def test_clean_reaches_the_runs_of_several_systems(tmp_path: Path) -> None:
    for system in ("one", "two"):
        record(tmp_path / "runs" / system, {"1": 0.5})
    (tmp_path / "runs" / "comparison-documents.jsonl").write_text("{}\n")
    (tmp_path / "runs" / "comparison.json").write_text("{}\n")
    outputs = [f"{system}/outputs/model-0123456789ab.jsonl" for system in ("one", "two")]
    assert clean(tmp_path / "runs") == [*outputs, "comparison-documents.jsonl"]
    assert (tmp_path / "runs" / "comparison.json").exists()


def test_keys_follow_content_and_not_order() -> None:
    assert content_key("a", {"x": 1, "y": [2.0]}) == content_key("a", {"y": (2.0,), "x": np.int64(1)})
    different = [
        content_key("a"),
        content_key("a", "b"),
        content_key("ab"),
        content_key(["a", "b"]),
        content_key("a", None),
    ]
    assert len(set(different)) == 5
    assert len(different[0]) == 64


@given(st.text(max_size=80), st.text(max_size=80))
def test_safe_names_are_safe_and_apart(one: str, other: str) -> None:
    name = safe_name(one)
    assert name
    assert not name.startswith(".")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
    if one != other:
        assert safe_name(one) != safe_name(other)
