"""A corpus on its way to disk: one JSONL of all documents and one sidecar of ground truth for each.

Streams in constant memory; the output appears whole or not at all. Knows nothing of how documents are made."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workup import plugins
from workup.corpora.formats.spans.file_sets import file_name
from workup.corpora.formats.spans.native_jsonl import record_of
from workup.documents.builder import Written
from workup.errors import InputError
from workup.files.disk import write_all

CORPUS, SIDECARS = "corpus.jsonl", "truth"
_BATCH = 200  # documents per item of work: enough to hide the cost of sending, few enough to show progress
Maker = Callable[[int], Written]
Watch = Callable[[str, int, int], None]


def write_corpus(
    out: Path,
    *,
    maker: Callable[[], Maker],
    count: int,
    corpus: str,
    config: Mapping[str, Any],
    as_of: str | None = None,
    workers: int = 1,
    watch: Watch | None = None,
) -> tuple[Path, ...]:
    """Write documents 0 to count - 1, and say where. The bytes are the same at any number of workers.

    `out` is a name that ends in .jsonl, with the sidecars in a folder `<stem>.truth` beside it, or a new folder that
    takes both. `maker` is called once in each worker and must survive pickle where there are several.
    """
    jsonl, sidecars = targets(out)
    batches = [range(start, min(start + _BATCH, count)) for start in range(0, count, _BATCH)]
    with _said_in_words(out), _Workshop(jsonl, sidecars) as shop:
        work = _Work(maker, corpus, config, as_of, str(shop.sidecars))
        done = 0
        with open(shop.jsonl, "xb", opener=_private) as file:
            for lines in _engine(workers).map(work, batches):
                file.write(lines)
                done = min(done + _BATCH, count)
                if watch is not None:
                    watch("documents", done, count)
        shop.publish()
    return jsonl, sidecars


def targets(out: Path) -> tuple[Path, Path]:
    """Where the JSONL and the sidecars of an output go; an output that is there, or has no folder, is refused."""
    out = Path(out)
    if not out.parent.is_dir():
        raise InputError(
            "the output must lie in a folder that exists", where=str(out), got="no such folder", remedy="make it first"
        )
    if out.suffix.lower() == ".jsonl":
        jsonl, sidecars = out, out.with_name(f"{out.stem}.truth")
        taken = [path for path in (jsonl, sidecars) if os.path.lexists(path)]
    else:
        if out.suffix and not out.is_dir():
            raise InputError(
                "the output must be a .jsonl file or a folder",
                where=str(out),
                got=f"a name that ends in {out.suffix}",
                remedy="end it in .jsonl, or in nothing",
            )
        jsonl, sidecars = out / CORPUS, out / SIDECARS
        empty = out.is_dir() and not out.is_symlink() and not any(_names(out))
        taken = [out] if os.path.lexists(out) and not empty else []
    if taken:
        raise InputError(
            "a new output was expected, since a corpus that is there would be lost",
            where=str(taken[0]),
            got="one that exists",
            remedy="name another, or remove it",
        )
    return jsonl, sidecars


def time_of(as_of: Any, *, where: str) -> str | None:
    """The time to be recorded, as it was given, where it is one: an ISO 8601 date or time.

    >>> time_of("2026-01-31T09:00:00Z", where="notes")
    '2026-01-31T09:00:00Z'
    """
    if as_of is None or as_of == "":
        return None
    text = as_of.isoformat() if isinstance(as_of, (datetime.date, datetime.datetime)) else str(as_of)
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            "as-of must be a date or a time as in 2026-01-31T09:00:00Z", where=where, got=repr(text[:40])
        ) from None
    return text


def sidecar(written: Written, *, corpus: str, config: Mapping[str, Any], as_of: str | None = None) -> dict[str, Any]:
    """The ground truth of one document as plain data.

    >>> from workup.documents.builder import Gold, Pieces
    >>> note = Pieces().text("Dr. ").value(Gold("Rose", "name_provider")).written("a", type="letter")
    >>> truth = sidecar(note, corpus="notes", config={"seed": 1})
    >>> truth["documentId"], truth["annotations"]
    ('a', [{'start': 4, 'end': 8, 'type': 'name_provider', 'text': 'Rose', 'subtype': None}])
    """
    document = written.document
    text = document.text
    truth: dict[str, Any] = {
        "documentId": document.id,
        "sourceCorpus": corpus,
        "specialty": document.specialty,
        "documentType": document.type,
        "annotations": [
            {
                "start": span.start,
                "end": span.end,
                "type": span.label,
                "text": text[span.start : span.end],
                "subtype": span.subtype,
            }
            for span in document.spans
        ],
        "boilerplate": [list(pair) for pair in written.boilerplate],
        "injectionConfig": dict(config),
    }
    if as_of is not None:
        truth["injectionTimestamp"] = as_of
    return truth


# ---- the work of one process -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    """Set up once in each worker: makes a batch, writes its sidecars, and hands its lines back."""

    maker: Callable[[], Maker]
    corpus: str
    config: Mapping[str, Any]
    as_of: str | None
    folder: str

    def __call__(self) -> Callable[[range], bytes]:
        make = self.maker()

        def batch(numbers: range) -> bytes:
            lines = []
            for number in numbers:
                written = make(number)
                lines.append(json.dumps(record_of(written.document), ensure_ascii=False, allow_nan=False))
                truth = sidecar(written, corpus=self.corpus, config=self.config, as_of=self.as_of)
                self._put(written.document.id, json.dumps(truth, ensure_ascii=False, allow_nan=False))
            return ("\n".join(lines) + "\n").encode()

        return batch

    def _put(self, id: str, text: str) -> None:
        path = os.path.join(self.folder, f"{file_name(id)}.json")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            write_all(descriptor, f"{text}\n".encode())
        finally:
            os.close(descriptor)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _engine(workers: int) -> Any:
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
        raise InputError("workers must be a whole number, 0 for one per core", got=repr(workers)[:20])
    name, settings = ("serial", {}) if workers == 1 else ("processes", {"workers": workers})
    return plugins.make("engines", name, settings, where="corpus generate", context={})


# ---- whole or not at all ---------------------------------------------------------------------------------------------


class _Workshop:
    """A hidden folder beside the output, where all is written; it is gone when the work ends, however it ends."""

    def __init__(self, jsonl: Path, sidecars: Path) -> None:
        self._goals = (jsonl, sidecars)
        self._whole = jsonl.name == CORPUS and sidecars.name == SIDECARS  # a folder of its own, put in place at once

    def __enter__(self) -> _Workshop:
        jsonl, sidecars = self._goals
        beside = jsonl.parent.parent if self._whole else jsonl.parent
        self._room = Path(tempfile.mkdtemp(prefix=".workup-", dir=beside))
        self.jsonl, self.sidecars = self._room / jsonl.name, self._room / sidecars.name
        self.sidecars.mkdir(mode=0o700)
        return self

    def publish(self) -> None:
        """Put what was made in its place."""
        jsonl, sidecars = self._goals
        if self._whole:
            self._room.replace(jsonl.parent)
            return
        self.sidecars.rename(sidecars)
        try:
            self.jsonl.replace(jsonl)
        except BaseException:
            shutil.rmtree(sidecars, ignore_errors=True)
            raise

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._room, ignore_errors=True)


@contextlib.contextmanager
def _said_in_words(out: Path) -> Iterator[None]:
    """What the file system refuses, in words."""
    try:
        yield
    except OSError as error:
        raise InputError(
            "the output must be a place that can be written, with room",
            where=str(out),
            got=error.strerror or type(error).__name__,
            remedy="choose another place with -o",
        ) from None


def _names(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name
