"""What detectors that run in this process share: one text at a time, spans in one order, errors without text.

Knows no library of detection."""

from __future__ import annotations

import contextlib
import hashlib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from workup.documents.document import Span
from workup.errors import InputError, SystemFailure, WorkupError, raised, visible
from workup.files.received import open_named
from workup.systems.libraries import quiet
from workup.systems.pinned import PrivateCopy, check_sha256
from workup.systems.settings import UNPINNED, OnError

Answers = list[list[Span] | None]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def check_detector_settings(*, on_error: str, batch: int, where: str) -> None:
    """The two settings that every such detector takes."""
    if on_error not in ("fail", "refuse"):
        raise InputError("'on_error' must be fail or refuse", where=where, got=repr(on_error)[:20])
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise InputError("'batch' must be a whole number of texts, at least 1", where=where, got=repr(batch)[:20])


def check_words(words: list[str] | None, *, field: str, where: str) -> tuple[str, ...] | None:
    """A setting that lists names, each once, or None where it is left out."""
    if words is None:
        return None
    if not isinstance(words, (list, tuple)) or not words or not all(isinstance(word, str) and word for word in words):
        raise InputError(
            f"'{field}' must be a list of names that is not empty",
            where=where,
            remedy=f"write it as {field}: [ONE, OTHER], or leave it out",
        )
    return tuple(dict.fromkeys(words))


def detect_each(
    texts: Sequence[str], find: Callable[[str], Iterable[Span]], *, system: str, on_error: OnError = "fail"
) -> Answers:
    """The spans that `find` gives for each text by itself, sorted, so that no answer hangs on the batch.

    A crash on one text is an error that names its place in the batch and the kind of the error; with `refuse` the
    answer is None, and all gold spans of that text count as missed.

    >>> detect_each(["ab", ""], lambda text: [Span(0, len(text), "NAME")], system="whole")[1]
    []
    >>> detect_each(["Rose", "x"], lambda text: [Span(0, 1, "NAME")] if len(text) > 1 else 1 / 0, system="divides",
    ...             on_error="refuse")[1] is None
    True
    """
    answers: Answers = []
    for number, text in enumerate(texts, start=1):
        try:
            found = list(find(encodable(text))) if text else []
        except WorkupError:
            raise
        except Exception as error:  # code of others, on text of anybody
            if on_error == "fail":
                raise SystemFailure(
                    f"system '{system}', text {number} of {len(texts)} in its batch: the detector failed "
                    f"({raised(error)}). Its message may hold text of the document and is not repeated. To fix: leave "
                    "the document out, or set on_error: refuse, so that all its golds count as missed."
                ) from None
            answers.append(None)
            continue
        _check_spans(found, where=f"system '{system}', text {number} of {len(texts)} in its batch")
        answers.append(sorted(set(found), key=_order))
    return answers


def encodable(text: str) -> str:
    """The text with each lone surrogate as U+FFFD, since UTF-8 has no bytes for one; no offset moves.

    >>> encodable("a\\ud800b") == "a\\ufffdb"
    True
    """
    return _LONE_SURROGATE.sub("\ufffd", text)


@contextlib.contextmanager
def silent(*loggers: str) -> Iterator[None]:
    """Neither these loggers nor warnings say anything for a while: what libraries put in them may be text of notes."""
    with quiet(*loggers), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def folder_sha256(folder: Path) -> str:
    """sha256 of the names and contents of all files in a folder, hidden ones apart."""
    whole = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if file.is_file() and not any(part.startswith(".") for part in inside.parts):
            name = inside.as_posix()
            whole.update(f"{len(name)}:{name}".encode("utf-8", "surrogateescape"))
            with open_named(file) as content:
                whole.update(hashlib.file_digest(content, "sha256").digest())
    return whole.hexdigest()


@contextlib.contextmanager
def pinned_folder(folder: Path, sha256: str, *, where: str) -> Iterator[tuple[Path, str]]:
    """A folder to load from, with its hash; one that is pinned is a private copy, so that what is hashed is loaded.

    Hidden files are not part of either. Without a pin no copy of what may be many gigabytes is made.
    """
    if sha256 == UNPINNED:
        yield folder, folder_sha256(folder)
        return
    copy = PrivateCopy.of(folder, leave_out=lambda name: name.startswith("."), where=where)
    try:
        found = folder_sha256(copy.folder)
        check_sha256(found, sha256, where=where)
        yield copy.folder, found
    finally:
        copy.remove()


def refuse_pin(sha256: str, *, remedy: str, where: str) -> None:
    """A pin is for a folder; on anything else it would pin nothing."""
    if sha256 != UNPINNED:
        raise InputError("'sha256' pins the folder of a model", where=where, got="no folder", remedy=remedy)


def settings_text(**settings: object) -> str:
    """Settings that change answers, as a version holds them.

    >>> settings_text(language="en", organizations=False, entities=("PERSON", "US_SSN"))
    'language=en organizations=no entities=PERSON,US_SSN'
    """
    return " ".join(f"{name}={_shown(value)}" for name, value in settings.items())


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value))
    return visible(str(value))


def _check_spans(spans: Sequence[Span], *, where: str) -> None:
    # An end past the text is kept: the scorer counts it as a false alarm. What is no span at all cannot be counted.
    for span in spans:
        if not 0 <= span.start < span.end or not span.label:
            raise SystemFailure(f"{where}: the detector gave a span without length, label or a start in its text.")


def _order(span: Span) -> tuple[int, int, str, float]:
    return span.start, span.end, span.label, 0.0 if span.score is None else -span.score
