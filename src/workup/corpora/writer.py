"""A corpus on its way to disk: a JSONL of all documents, a sidecar of ground truth for each, and what goes beside them.

Streams in constant memory; the output appears whole or not at all. Everything that makes a corpus (the generators,
injection, noise) writes through here. Knows nothing of how documents are made."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from workup import plugins
from workup.corpora.formats.spans.file_sets import file_name
from workup.corpora.formats.spans.native_jsonl import record_of
from workup.documents.builder import Written
from workup.errors import InputError
from workup.files.disk import refuse_special, write_all
from workup.files.output_paths import said

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
    goals = [sidecars, jsonl]
    batches = [range(start, min(start + _BATCH, count)) for start in range(0, count, _BATCH)]
    with said_in_words(out), workshop(goals, folder=folder_of(out)) as room:
        (room / sidecars.name).mkdir(mode=0o700)
        work = _Work(maker, corpus, config, as_of, str(room / sidecars.name))
        done = 0
        with private_file(room / jsonl.name) as file:
            for lines in _engine(workers).map(work, batches):
                file.write(lines)
                done = min(done + _BATCH, count)
                if watch is not None:
                    watch("documents", done, count)
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
    for path in taken:
        raise _lost(path)
    return jsonl, sidecars


def folder_of(out: Path) -> Path | None:
    """The new folder that an output is, where it is no .jsonl file."""
    return None if Path(out).suffix.lower() == ".jsonl" else Path(out)


def refuse_existing(path: Path) -> None:
    """Refuse an output that is there already."""
    if os.path.lexists(path):
        raise _lost(path)


def _lost(path: Path) -> InputError:
    return InputError(
        "a new output was expected, since a corpus that is there would be lost",
        where=str(path),
        got="one that exists",
        remedy="name another, or remove it",
    )


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
                lines.append(json_line(record_of(written.document)))
                truth = sidecar(written, corpus=self.corpus, config=self.config, as_of=self.as_of)
                put_sidecar(self.folder, written.document.id, truth)
            return "".join(lines).encode()

        return batch


def _engine(workers: int) -> Any:
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
        raise InputError("workers must be a whole number, 0 for one per core", got=repr(workers)[:20])
    name, settings = ("serial", {}) if workers == 1 else ("processes", {"workers": workers})
    return plugins.make("engines", name, settings, where="corpus generate", context={})


# ---- lines and files -------------------------------------------------------------------------------------------------


def json_line(record: Mapping[str, Any]) -> str:
    """A record as a line of a JSONL file, its end included."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def put_sidecar(folder: str | Path, id: str, truth: Mapping[str, Any]) -> None:
    """Write the ground truth of one document under its id."""
    descriptor = _new(os.path.join(folder, f"{file_name(id)}.json"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        write_all(descriptor, json_line(truth).encode())
    finally:
        os.close(descriptor)


def private_file(path: Path) -> IO[bytes]:
    """A new file that only its owner can read."""
    return open(path, "xb", opener=_new)


def _new(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


# ---- whole or not at all ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def workshop(goals: Sequence[Path], *, folder: Path | None = None) -> Iterator[Path]:
    """A hidden folder beside the output, where each goal is made under its own name, and which is gone at the end.

    Where the work ends well, the goals are put in place in their order, or none of them; with `folder`, a new folder
    that holds them all is put in place at once.
    """
    for goal in goals:
        refuse_special(goal)
    room = Path(tempfile.mkdtemp(prefix=".workup-", dir=(folder or goals[0]).absolute().parent))
    try:
        yield room
        if folder is not None:
            room.replace(folder)
        else:
            _place(room, goals)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _place(room: Path, goals: Sequence[Path]) -> None:
    done: list[Path] = []
    try:
        for goal in goals:
            refuse_special(goal)  # again: the work may have taken hours
            os.replace(room / goal.name, goal)
            done.append(goal)
    except BaseException:
        for goal in done:
            shutil.rmtree(goal, ignore_errors=True) if goal.is_dir() else goal.unlink(missing_ok=True)
        raise


def said_in_words(out: Path) -> AbstractContextManager[None]:
    """What the file system refuses, in words."""
    expected = "the output must be a place that can be written, with room"
    return said(out, expected=expected, remedy="choose another place with -o")


def _names(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name
