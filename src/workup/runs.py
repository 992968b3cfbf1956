"""The run directory: a cache of outputs keyed by content, which survives a kill, and the reports beside it.

Knows nothing of tasks or lenses. One process writes at a time, and only the owner can read what it wrote.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

from workup.errors import RunError
from workup.report import canonical

try:
    import fcntl
except ImportError:  # a platform without it
    fcntl = None  # type: ignore[assignment]

_MARKER = ".workup"  # says that a folder is a run directory, and lists the files that write() made in it
_LOCK = ".lock"
_IGNORE = ".gitignore"
_OUTPUTS = "outputs"
_DETAILS = "details.jsonl"
_LOGGED = (_DETAILS, "timings.json", "run.log")
_CHECK = re.compile(rb',"check":"([0-9a-f]{8})"}\n')
_CHECK_LENGTH = len(',"check":"01234567"}\n')


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

    def __init__(self, path: Path, lock: _Lock) -> None:
        self.path = path
        self._lock = lock
        self._logs: list[Outputs] = []

    @classmethod
    def open(cls, path: Path, *, fresh: bool = False) -> RunDirectory:
        """Make or reopen a run directory and keep other writers out; `fresh` first removes what earlier runs left."""
        with _disk(path):
            _make_folder(path)
            _refuse_foreign(path)
            run = cls(path, _Lock(path / _LOCK))
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
            _replace(self.path / _IGNORE, ["*\n"])

    def _mark(self, files: list[str]) -> None:
        _replace(self.path / _MARKER, [canonical({"files": sorted(files), "format": 1}) + "\n"])

    def outputs(self, key: str, system: str) -> Outputs:
        """The log of what a system answered for the content that `key` stands for."""
        with _disk(self.path):
            _make_folder(self.path / _OUTPUTS)
            log = Outputs(self.path / _OUTPUTS / f"{safe_name(system)}-{key[:12]}.jsonl")
        self._logs.append(log)
        return log

    def write(self, name: str, text: str) -> None:
        """Write a whole file or nothing: whoever reads it meanwhile sees the old one or the new one."""
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
            raise RunError(f"{self.path}: a file in a run directory must have a plain name; got {name[:40]!r}.")
        with _disk(self.path):
            files = _written(self.path)
            if name not in files:  # listed before it exists, so that no file of ours is ever unlisted
                self._mark([*files, name])
            _replace(self.path / name, [text])

    def details(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Write details.jsonl, a line for each record; with no records there is no file."""
        lines = (canonical(record) + "\n" for record in records)
        with _disk(self.path):
            if not _replace(self.path / _DETAILS, lines):
                (self.path / _DETAILS).unlink()

    def log(self, message: str) -> None:
        """Add a line to run.log under the present time (UTC). Never give it text of a patient."""
        line = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {' '.join(message.split())}\n"
        with _disk(self.path), _private(self.path / "run.log", os.O_WRONLY | os.O_APPEND) as descriptor:
            _write_all(descriptor, line.encode())

    def timings(self, measured: Mapping[str, Any]) -> None:
        """Add what a clock or the host decides to timings.json; a name given again is replaced."""
        known: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):
            known = dict(json.loads((self.path / "timings.json").read_text(encoding="utf-8")))
        merged = json.loads(canonical({**known, **measured}))
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


class Outputs:
    """A log of outputs by case, one checked JSON object a line: a workup.task.OutputLog.

    A last line that a kill cut short is removed and counted in `repaired`; append() had not returned for it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repaired = 0
        self._known: dict[str, Any] = {}
        self._descriptor = _open_private(path, os.O_RDWR | os.O_APPEND)
        try:
            _sync_folder(path.parent)
            self._size = self._read()
        except BaseException:
            self.close()
            raise

    def known(self) -> Mapping[str, Any]:
        """Outputs recorded so far, by case; of a case recorded twice, the later one."""
        return MappingProxyType(self._known)

    def append(self, outputs: Mapping[str, Any]) -> None:
        """Record outputs; they are on disk when this returns."""
        texts = {str(case): _json(output) for case, output in outputs.items()}
        batch = b"".join(_line(case, text) for case, text in texts.items())
        try:
            _write_all(self._descriptor, batch)
            os.fsync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise RunError(
                f"{self.path}: outputs could not be written ({error.strerror}). To fix: make room on the disk and run "
                "again; what was recorded before is kept."
            ) from None
        self._size += len(batch)
        # As JSON gives them back, so that a run that goes on and a run that resumes see the same values.
        self._known.update((case, json.loads(text)) for case, text in texts.items())

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> int:
        """Take in every record, cut off a torn last line, and answer the size of the file."""
        with self.path.open("rb") as file:
            lines = file.readlines()
        size = 0
        for number, line in enumerate(lines, start=1):
            record = _record(line)
            if record is not None:
                self._known[record["case"]] = record["output"]
                size += len(line)
            elif number < len(lines):
                raise RunError(
                    f"{self.path}, line {number}: the record does not match its checksum: the file was changed, or the "
                    "disk is failing. To fix: run with --fresh, which asks the system again."
                )
            else:
                os.ftruncate(self._descriptor, size)
                os.fsync(self._descriptor)
                self.repaired = 1
        return size


class Unrecorded:
    """The log of a run that keeps nothing, as in a notebook: a workup.task.OutputLog."""

    def known(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}

    def append(self, outputs: Mapping[str, Any]) -> None:
        """Forget them."""


def clean(path: Path) -> list[str]:
    """Remove outputs and details of a run directory, or of those in a folder of runs; keep reports and the log.

    Answers what was removed, as paths that start from the folder.
    """
    own = [path] if (path / _MARKER).is_file() else []
    inner = [marker.parent for marker in sorted(path.glob(f"*/{_MARKER}")) if not marker.parent.is_symlink()]
    if not own and not inner:
        raise RunError(f"{path}: not a run directory, so nothing was removed. To fix: give the folder of a run.")
    return [(run / name).relative_to(path).as_posix() for run in own + inner for name in _clean(run)]


def _clean(path: Path) -> list[str]:
    with _disk(path):
        lock = _Lock(path / _LOCK)
        try:
            removed = _remove(path, [*_output_files(path), _DETAILS])
        finally:
            lock.release(remove=True)
    return removed


class _Lock:
    """One writer at a time. The system frees the lock when its process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = self._take_by_name() if fcntl is None else self._take()
        os.ftruncate(self._descriptor, 0)
        _write_all(self._descriptor, str(os.getpid()).encode())

    def _take(self) -> int:
        while True:
            descriptor = _open_private(self._path, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # clean() removes the file, and a lock on a file that lost its name keeps nobody out: take the new one.
                if self._path.exists() and os.path.samestat(os.fstat(descriptor), self._path.stat()):
                    return descriptor
            except BlockingIOError:
                os.close(descriptor)
                raise self._held() from None
            os.close(descriptor)

    def _take_by_name(self) -> int:
        """Where there is no flock, the file itself is the lock, and that of a dead holder is taken over."""
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if _alive(self._holder()):
                raise self._held() from None
        self._path.unlink(missing_ok=True)
        return self._take_by_name()

    def _holder(self) -> int:
        with contextlib.suppress(OSError, ValueError):
            return int(self._path.read_text())
        return 0

    def _held(self) -> RunError:
        stale = "" if fcntl else f"; if no such process runs, remove the file {_LOCK} in it"
        return RunError(
            f"{self._path.parent}: another run is writing here (process {self._holder() or 'unknown'}). "
            f"To fix: wait for it to end, or choose another folder with -o{stale}."
        )

    def release(self, *, remove: bool = False) -> None:
        """Let the next one in; a second call does nothing."""
        if self._descriptor < 0:
            return
        if remove or fcntl is None:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1


def _alive(pid: int) -> bool:
    """Whether a process runs. 0, a holder that cannot be read, counts: it may be about to write its number."""
    if pid == 0 or os.name == "nt":  # os.kill(pid, 0) would send Ctrl-C there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _json(output: Any) -> str:
    """JSON with every digit, since outputs must come back as they were."""
    try:
        return json.dumps(output, separators=(",", ":"), allow_nan=False, default=_unwrapped)
    except (TypeError, ValueError):
        raise RunError(
            "an output must be plain JSON: finite numbers, texts, lists, objects or null. "
            "To fix: let the system answer None where it has no answer."
        ) from None


def _unwrapped(value: Any) -> Any:
    """numpy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError


def _line(case: str, output: str) -> bytes:
    body = f'{{"case":{_json(case)},"output":{output}'.encode()
    return body + b',"check":"%08x"}\n' % zlib.crc32(body)


def _record(line: bytes) -> dict[str, Any] | None:
    """The record of a line, or None when the line is not whole."""
    body, check = line[:-_CHECK_LENGTH], _CHECK.fullmatch(line[-_CHECK_LENGTH:])
    if check is None or int(check[1], 16) != zlib.crc32(body):
        return None
    record: dict[str, Any] = json.loads(body + b"}")
    return record


@contextlib.contextmanager
def _disk(path: Path) -> Iterator[None]:
    """What the file system refuses, in words."""
    try:
        yield
    except OSError as error:
        raise RunError(
            f"{path}: the run directory cannot be used ({error.strerror or type(error).__name__}). "
            "To fix: choose, with -o, a folder that you may write to and that has room."
        ) from None


def _make_folder(path: Path) -> None:
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
        _sync_folder(path.parent)


def _refuse_foreign(path: Path) -> None:
    """A folder with files of others is left alone; what a run killed at its very start left is no such file."""
    if (path / _MARKER).is_file():
        return
    if any(entry.name not in (_LOCK, _IGNORE) and not entry.name.endswith(".tmp") for entry in path.iterdir()):
        raise RunError(
            f"{path}: the folder holds files and is not a run directory, so nothing was written. "
            "To fix: choose a new or empty folder with -o."
        )


def _written(path: Path) -> list[str]:
    """The files that write() made, as the marker lists them."""
    try:
        return [str(name) for name in json.loads((path / _MARKER).read_text(encoding="utf-8"))["files"]]
    except (OSError, ValueError, KeyError, TypeError):
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


def _open_private(path: Path, flags: int) -> int:
    """Open or make a file that only its owner can read, whatever the umask, and follow no link to another."""
    descriptor = os.open(path, flags | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    path.chmod(0o600)
    return descriptor


@contextlib.contextmanager
def _private(path: Path, flags: int) -> Iterator[int]:
    descriptor = _open_private(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _replace(path: Path, texts: Iterable[str]) -> int:
    """Put a file in place whole, by way of a temporary one in the same folder; answers its size in bytes."""
    temporary = path.with_name(f".{path.name.lstrip('.')}.tmp")
    try:
        with _private(temporary, os.O_WRONLY | os.O_TRUNC) as descriptor:
            with open(descriptor, "wb", closefd=False) as file:
                file.writelines(text.encode() for text in texts)
            os.fsync(descriptor)
            size = os.fstat(descriptor).st_size
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)
    return size


def _sync_folder(path: Path) -> None:
    """Bring the names in a folder to disk, where the platform lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
