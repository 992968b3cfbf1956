"""The folder of a run: its outputs, the reports beside them, and what may be removed from it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from workup.errors import RunError, visible
from workup.report import canonical
from workup.runs.disk import LOCK, Lock, make_folder, private, replace_whole, said_in_words, write_all
from workup.runs.outputs import Outputs

_MARKER = ".workup"  # says that a folder is a run directory, and lists the files that write() made in it
_IGNORE = ".gitignore"
_OUTPUTS = "outputs"
_COMPARED = "comparison-documents.jsonl"
_DETAILS = "details.jsonl"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_LOGGED = (_DETAILS, "timings.json", "run.log")


def content_key(*parts: Any) -> str:
    """One key for one content: sha256 of the canonical JSON of the parts.

    >>> content_key("risk", {"a": 1, "b": 2}) == content_key("risk", {"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(canonical(list(parts)).encode()).hexdigest()


def safe_name(name: str) -> str:
    """A name that is safe as part of a file name anywhere; a hash is added where something had to be changed.

    >>> safe_name("triage-v2"), safe_name("../a b")
    ('triage-v2', 'a-b-2c2c791a')
    """
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:60]
    if safe and safe == name:
        return safe
    return f"{safe or 'system'}-{hashlib.sha256(name.encode(errors='backslashreplace')).hexdigest()[:8]}"


class RunDirectory:
    """A folder that one run writes to. RunDirectory.open() gives one; it is a context manager."""

    def __init__(self, path: Path, lock: Lock) -> None:
        self.path = path
        self._lock = lock
        self._logs: list[Outputs] = []

    @classmethod
    def open(cls, path: Path, *, fresh: bool = False) -> RunDirectory:
        """Make or reopen a run directory and keep other writers out; `fresh` first removes what earlier runs left."""
        with said_in_words(path):
            make_folder(path)
            _refuse_foreign(path)
            run = cls(path, Lock(path / LOCK))
            try:
                run._prepare(fresh=fresh)
            except BaseException:
                run.close()
                raise
        return run

    def _prepare(self, *, fresh: bool) -> None:
        for left_over in self.path.glob(".*.tmp"):  # by a process that was killed inside write()
            left_over.unlink()
        if fresh:
            _remove(self.path, [*_output_files(self.path), *_written(self.path), *_LOGGED])
        if fresh or not (self.path / _MARKER).exists():
            self._mark([])
        if not (self.path / _IGNORE).exists():
            replace_whole(self.path / _IGNORE, ["*\n"])

    def _mark(self, files: list[str]) -> None:
        replace_whole(self.path / _MARKER, [canonical({"files": sorted(files), "format": 1}) + "\n"])

    def outputs(self, key: str, system: str) -> Outputs:
        """The log of what a system answered for the content that `key` stands for."""
        with said_in_words(self.path):
            make_folder(self.path / _OUTPUTS)
            log = Outputs(self.path / _OUTPUTS / f"{safe_name(system)}-{key[:12]}.jsonl")
        self._logs.append(log)
        return log

    def write(self, name: str, text: str | bytes) -> None:
        """Write a whole file or nothing: whoever reads it meanwhile sees the old one or the new one."""
        if not _PLAIN.fullmatch(name):
            raise RunError(f"{self.path}: a file in a run directory must have a plain name; got {name[:40]!r}.")
        with said_in_words(self.path):
            files = _written(self.path)
            if name not in files:  # listed before it exists, so that no file of ours is ever unlisted
                self._mark([*files, name])
            replace_whole(self.path / name, [text])

    def details(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Write details.jsonl, a line for each record; with no records there is no file."""
        lines = (canonical(record) + "\n" for record in records)
        with said_in_words(self.path):
            if not replace_whole(self.path / _DETAILS, lines):
                (self.path / _DETAILS).unlink()

    def log(self, message: str) -> None:
        """Add a line to run.log under the present time (UTC). Never give it text of a patient."""
        line = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {visible(' '.join(message.split()))}\n"
        with said_in_words(self.path), private(self.path / "run.log", os.O_WRONLY | os.O_APPEND) as descriptor:
            write_all(descriptor, line.encode())

    def timings(self, measured: Mapping[str, Any]) -> None:
        """Add what a clock or the host decides to timings.json; a name given again is replaced."""
        merged = json.loads(canonical({**_timings(self.path), **measured}))
        self.write("timings.json", json.dumps(merged, indent=1, sort_keys=True, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Close the logs and let the next writer in; a second call does nothing."""
        for log in self._logs:
            log.close()
        self._lock.release()

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def study_of(path: Path) -> Path | None:
    """The study file that made a run, as its timings name it; None where they name none."""
    named = _timings(path).get("study_file")
    return path / named if isinstance(named, str) and named and "\0" not in named else None


def _timings(path: Path) -> dict[str, Any]:
    """What timings.json holds; nothing where it is absent or is not ours."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        known = json.loads((path / "timings.json").read_text(encoding="utf-8"))
        return known if isinstance(known, dict) else {}
    return {}


def clean(path: Path) -> list[str]:
    """Remove outputs and details of a run directory, or of those in a folder of runs; keep reports and the log.

    Answers what was removed, as paths that start from the folder.
    """
    own = [path] if (path / _MARKER).is_file() else []
    inner = [marker.parent for marker in sorted(path.glob(f"*/{_MARKER}")) if not marker.parent.is_symlink()]
    if not own and not inner:
        raise RunError(f"{path}: not a run directory, so nothing was removed. To fix: give the folder of a run.")
    removed = [(run / name).relative_to(path).as_posix() for run in own + inner for name in _clean(run)]
    # Beside several runs stands who found what in each document, which belongs to their details.
    return removed + (_remove(path, [_COMPARED]) if inner else [])


def _clean(path: Path) -> list[str]:
    with said_in_words(path):
        lock = Lock(path / LOCK)
        try:
            removed = _remove(path, [*_output_files(path), _DETAILS])
        finally:
            lock.release(remove=True)
    return removed


def _refuse_foreign(path: Path) -> None:
    """A folder with files of others is left alone; what a run killed at its very start left is no such file."""
    if (path / _MARKER).is_file():
        return
    if any(entry.name not in (LOCK, _IGNORE) and not entry.name.endswith(".tmp") for entry in path.iterdir()):
        raise RunError(
            f"{path}: the folder holds files and is not a run directory, so nothing was written. "
            "To fix: choose a new or empty folder with -o."
        )


def _written(path: Path) -> list[str]:
    """The files that write() made, as the marker lists them; a name that it could not have written is not one."""
    try:
        names = json.loads((path / _MARKER).read_text(encoding="utf-8"))["files"]
        return [name for name in names if isinstance(name, str) and _PLAIN.fullmatch(name)]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def _output_files(path: Path) -> list[str]:
    return [f"{_OUTPUTS}/{file.name}" for file in sorted((path / _OUTPUTS).glob("*.jsonl"))]


def _remove(path: Path, names: Iterable[str]) -> list[str]:
    """Remove files by name, and the folder of outputs if that leaves it empty; answers which there were."""
    removed = [name for name in dict.fromkeys(names) if (path / name).is_file()]
    for name in removed:
        (path / name).unlink()
    with contextlib.suppress(OSError):
        (path / _OUTPUTS).rmdir()
    return removed
