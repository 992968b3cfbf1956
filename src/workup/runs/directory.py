"""The folder of a run: its outputs, the reports beside them, and what may be removed from it.

The folder may have come from somebody else. Whatever its files say, no link in it is followed, and only regular files
under names that a run gives are ever read or removed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from workup.errors import RunError, visible
from workup.files.disk import LOCK, Lock, make_folder, private, replace_whole, said_in_words, write_all
from workup.files.received import content_of, is_file, is_folder, json_of
from workup.report import canonical
from workup.runs.outputs import Outputs

_MARKER = ".workup"  # says that a folder is a run directory, and lists the files that write() made in it
_IGNORE = ".gitignore"
_OUTPUTS = "outputs"
_VIEW = "view"  # what a person asked to read: never made by a run
_VIEWED = "index.html"
_COMPARED = "comparison-documents.jsonl"
_DETAILS = "details.jsonl"
_FAILURES = "failures.jsonl"  # names cases, and so is cleaned like details
_SHARD = "shard.json"
_LOGGED = (_DETAILS, _FAILURES, "timings.json", "run.log", _SHARD)
_FORM = r"report(-copy|-flat)?\.(json|html|md|txt|pdf|safety-card)"
_WRITTEN = re.compile(  # what write() writes, and --fresh may remove
    rf"{_FORM}|timings\.json|details\.jsonl|failures\.jsonl|shard\.json"
)
_ANSWERED = re.compile(r"[A-Za-z0-9_.-]+-[0-9a-f]{12}\.jsonl")  # in outputs/
# Temporary files of a process that was killed while it wrote: by their names now, and by those of earlier versions.
_LEFT_OVER = re.compile(rf"\.workup-[0-9a-f]{{16}}\.tmp|\.({_WRITTEN.pattern}|workup|gitignore)\.tmp")
_LARGEST = 16 * 2**20  # bytes of timings.json or of the marker


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
        _remove(self.path, [name for name in os.listdir(self.path) if _LEFT_OVER.fullmatch(name)])
        if fresh:
            _refuse_links(self.path)  # before anything is removed: what cannot be written anew stays
            _remove(self.path, [*_output_files(self.path), *_view_files(self.path), *_written(self.path), *_LOGGED])
        if fresh or not os.path.lexists(self.path / _MARKER):
            self._mark([])
        if not os.path.lexists(self.path / _IGNORE):
            replace_whole(self.path / _IGNORE, ["*\n"])

    def _mark(self, files: list[str]) -> None:
        replace_whole(self.path / _MARKER, [canonical({"files": sorted(files), "format": 1}) + "\n"])

    def outputs(self, key: str, system: str) -> Outputs:
        """The log of what a system answered for the content that `key` stands for."""
        with said_in_words(self.path):
            make_folder(self.path / _OUTPUTS)
            if not is_folder(self.path / _OUTPUTS):
                raise OSError(errno.ELOOP, f"'{_OUTPUTS}' in it is a link, which is not followed")
            log = Outputs(self.path / _OUTPUTS / f"{safe_name(system)}-{key[:12]}.jsonl")
        self._logs.append(log)
        return log

    def write(self, name: str, text: str | bytes) -> None:
        """Write a whole file or nothing: whoever reads it meanwhile sees the old one or the new one."""
        if not _WRITTEN.fullmatch(name):
            raise RunError(
                f"{self.path}: a file in a run directory must have a plain name that --fresh knows to remove; got "
                f"{name[:40]!r}."
            )
        with said_in_words(self.path):
            files = _written(self.path)
            if name not in files:  # listed before it exists, so that no file of ours is ever unlisted
                self._mark([*files, name])
            replace_whole(self.path / name, [text])

    def write_view(self, text: str) -> Path:
        """Write the page on which people read what was said, for its owner alone; clean() removes it."""
        folder = self.path / _VIEW
        with said_in_words(self.path):
            make_folder(folder)
            if not is_folder(folder):
                raise OSError(errno.ELOOP, f"'{_VIEW}' in it is a link, which is not followed")
            replace_whole(folder / _VIEWED, [text])
        return folder / _VIEWED

    def details(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Write details.jsonl, a line for each record; with no records there is no file."""
        lines = (canonical(record) + "\n" for record in records)
        with said_in_words(self.path):
            if not replace_whole(self.path / _DETAILS, lines):
                (self.path / _DETAILS).unlink()

    def failures(self, reasons: Mapping[str, str]) -> None:
        """Write failures.jsonl, which names the cases on which the system failed; with none there is no file."""
        lines = (canonical({"case": case, "reason": reason}) + "\n" for case, reason in reasons.items())
        with said_in_words(self.path):
            if not replace_whole(self.path / _FAILURES, lines):
                (self.path / _FAILURES).unlink()

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


def cost_of(path: Path) -> float | None:
    """What the system of a run cost in all, as its timings tell; None where it names no price."""
    spent = _timings(path).get("system")
    cost = spent.get("cost") if isinstance(spent, dict) else None
    if not isinstance(cost, (int, float)) or isinstance(cost, bool) or not math.isfinite(cost) or cost < 0:
        return None
    return float(cost)


def _timings(path: Path) -> dict[str, Any]:
    """What timings.json holds; nothing where it is absent or is not ours."""
    with contextlib.suppress(OSError, ValueError):
        known = json_of(content_of(path / "timings.json", most=_LARGEST))
        return known if isinstance(known, dict) else {}
    return {}


def clean(path: Path) -> list[str]:
    """Remove outputs, details and view of a run directory, or of those in a folder of runs; keep reports and the log.

    Answers what was removed, as paths that start from the folder.
    """
    own, inner = [path] if is_file(path / _MARKER) else [], runs_inside(path)
    if not own and not inner:
        raise RunError(f"{path}: not a run directory, so nothing was removed. To fix: give the folder of a run.")
    removed = [(run / name).relative_to(path).as_posix() for run in own + inner for name in _clean(run)]
    # Beside several runs is who found what in each document, which belongs to their details.
    return removed + (_remove(path, [_COMPARED]) if inner else [])


def runs_inside(path: Path) -> list[Path]:
    """The run directories in a folder."""
    folders = sorted(path.iterdir()) if path.is_dir() else []
    return [folder for folder in folders if is_folder(folder) and is_file(folder / _MARKER)]


def links_left(path: Path) -> list[str]:
    """What stands in a run directory, or in those in a folder of runs, under a name that clean() removes and is no file
    or folder of its own, so that it was left; as paths that start from the folder."""
    own = [path] if is_file(path / _MARKER) else []
    inner = runs_inside(path)
    places = [(run / name, is_folder) for run in own + inner for name in (_OUTPUTS, _VIEW)]
    places += [(run / name, is_file) for run in own + inner for name in (_DETAILS, _FAILURES)]
    places += [
        (run / folder / name, is_file)
        for run in own + inner
        for folder, known in ((_OUTPUTS, _ANSWERED), (_VIEW, re.compile(re.escape(_VIEWED))))
        for name in (sorted(os.listdir(run / folder)) if is_folder(run / folder) else ())
        if known.fullmatch(name)
    ]
    places += [(path / _COMPARED, is_file)] if inner else []
    return [
        place.relative_to(path).as_posix() for place, sound in places if os.path.lexists(place) and not sound(place)
    ]


def _clean(path: Path) -> list[str]:
    with said_in_words(path):
        lock = Lock(path / LOCK)
        try:
            removed = _remove(path, [*_output_files(path), *_view_files(path), _DETAILS, _FAILURES])
        finally:
            lock.release(remove=True)
    return removed


def _refuse_foreign(path: Path) -> None:
    """A folder with files of others is left alone; what a run killed at its very start left is no such file."""
    if is_file(path / _MARKER):
        return
    if any(entry.name not in (LOCK, _IGNORE) and not _LEFT_OVER.fullmatch(entry.name) for entry in path.iterdir()):
        raise RunError(
            f"{path}: the folder holds files and is not a run directory, so nothing was written. "
            "To fix: choose a new or empty folder with -o."
        )


def _written(path: Path) -> list[str]:
    """The files that write() made, as the marker lists them; a name that it does not give is not one."""
    try:
        names = json_of(content_of(path / _MARKER, most=_LARGEST))["files"]
        return [name for name in names if isinstance(name, str) and _WRITTEN.fullmatch(name)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _output_files(path: Path) -> list[str]:
    """Files of outputs by the names that outputs() gives; none where their folder is a link to another."""
    folder = path / _OUTPUTS
    names = sorted(os.listdir(folder)) if is_folder(folder) else []
    return [f"{_OUTPUTS}/{name}" for name in names if _ANSWERED.fullmatch(name)]


def _view_files(path: Path) -> list[str]:
    """The page that people read, and what a kill left of it; none where its folder is a link to another."""
    folder = path / _VIEW
    names = sorted(os.listdir(folder)) if is_folder(folder) else []
    return [f"{_VIEW}/{name}" for name in names if name == _VIEWED or _LEFT_OVER.fullmatch(name)]


def _refuse_links(path: Path) -> None:
    """Refuse a folder in which a run could not write its files, because something else stands in their place."""
    folder = path / _OUTPUTS
    if os.path.lexists(folder) and not is_folder(folder):
        raise OSError(errno.ELOOP, f"'{_OUTPUTS}' in it is a link or no folder, and is not followed")
    names = sorted(os.listdir(folder)) if is_folder(folder) else []
    own = [f"{_OUTPUTS}/{name}" for name in names if _ANSWERED.fullmatch(name)]
    for name in [*own, *(name for name in os.listdir(path) if _WRITTEN.fullmatch(name) or name in _LOGGED)]:
        if not is_file(path / name):
            raise OSError(errno.ELOOP, f"'{name}' in it is a link or no regular file, and is not followed")


def _remove(path: Path, names: Iterable[str]) -> list[str]:
    """Remove regular files by name, and the folders that it leaves empty; answers which there were."""
    removed = [name for name in dict.fromkeys(names) if is_file(path / name)]
    for name in removed:
        (path / name).unlink()
    for folder in (path / _OUTPUTS, path / _VIEW):
        if is_folder(folder):
            with contextlib.suppress(OSError):
                folder.rmdir()
    return removed


def forget(path: Path) -> None:
    """Remove a run directory that was only there so that a stopped run could go on; what is not of a run stays."""
    if not is_folder(path) or not is_file(path / _MARKER):
        return
    with contextlib.suppress(OSError):
        _remove(path, [*_output_files(path), *_view_files(path), *_written(path), *_LOGGED, _IGNORE, LOCK, _MARKER])
        path.rmdir()
