"""One way in and out for corpora with spans: a format by its name, or the one that recognises the file.

Formats are modules, or any objects with these five members, registered as entry points of the group `workup.formats`;
this module knows none of them by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from os.path import exists
from pathlib import Path
from typing import Protocol, runtime_checkable

from workup import plugins
from workup.documents.document import Document
from workup.documents.offsets import Counting
from workup.documents.records import Tally
from workup.documents.titles import cut_titles
from workup.errors import InputError, PluginError, near

TRIMS = ("titles",)
TITLES = "title cut from a span"
_OTHER_NAMES = {
    "jsonl": "spans-jsonl",
    "native": "spans-jsonl",
    "label_studio": "label-studio",
    "labelstudio": "label-studio",
    "spacy": "docbin",
    "presidio-json": "presidio",
    "tab-json": "tab",
    "i2b2-xml": "i2b2",
}


@runtime_checkable
class SpanFormat(Protocol):
    """A form that documents with spans are kept in.

    Reading checks every span against its text; writing keeps every span's text and offsets, or refuses and names the
    document and the reason, and leaves no half-written file. What a form has no place for is counted in `left_out`.
    """

    name: str
    endings: tuple[str, ...]

    def recognises(self, path: Path) -> bool:
        """Whether the file or folder looks like this form; never raises."""

    def read(self, path: Path, *, offsets: str = "codepoint", left_out: Tally | None = None) -> Iterator[Document]:
        """Documents in the order of the file."""

    def write(self, documents: Iterable[Document], path: Path, *, left_out: Tally | None = None) -> None:
        """Put all documents in place, whole or not at all."""


def span_formats() -> dict[str, SpanFormat]:
    """Every registered format that holds documents with spans; those for tables are not among them.

    One that cannot be loaded is passed over: a broken plug-in must not keep the others from being found."""
    found: dict[str, SpanFormat] = {}
    for name in sorted(plugins.registered("formats")):
        with contextlib.suppress(PluginError):
            one = plugins.find("formats", name)
            if isinstance(one, SpanFormat):
                found[name] = one
    return found


def find_format(name: str) -> SpanFormat:
    """The format of that name, or at `package.module:Object`.

    >>> find_format("jsonl").name
    'spans-jsonl'
    """
    chosen = _OTHER_NAMES.get(name.lower(), name)
    if ":" in chosen:
        found = plugins.find("formats", chosen)
        if isinstance(found, SpanFormat):
            return found
        raise PluginError(f"'{chosen}' is no format of spans: it needs name, endings, recognises, read and write.")
    formats = span_formats()
    if chosen not in formats:
        raise PluginError(f"'{name}' is not one of the formats of spans; {near(chosen, formats)}.")
    return formats[chosen]


def recognise(path: Path) -> SpanFormat:
    """The one format that recognises a file or folder, by its content and then its ending."""
    path = Path(path)
    if not exists(path):
        raise InputError(
            "a file or folder with documents was expected",
            where=str(path),
            got="nothing at this path",
            remedy="check the path",
        )
    if not (path.is_dir() or path.is_file()):
        raise InputError(
            "a file or folder with documents was expected",
            where=path.name or str(path),
            got="something that is no plain file",
            remedy="write what it gives into a file",
        )
    formats = span_formats()
    found = [one for one in formats.values() if one.recognises(path)]
    if len(found) > 1:
        by_ending = [one for one in found if path.name.lower().endswith(one.endings)]
        found = by_ending if len(by_ending) == 1 else found
    if len(found) == 1:
        return found[0]
    raise InputError(
        "documents in a known format were expected",
        where=path.name,
        got=f"what could be {' or '.join(one.name for one in found)}" if found else "none that is recognised",
        remedy=f"name the format, one of {', '.join(formats)}",
    )


def read_documents(
    path: Path, *, format: str = "", offsets: str = "codepoint", trim: str = "", left_out: Tally | None = None
) -> Iterator[Document]:
    """Documents of a file or folder, in a named format or the one that recognises it.

    `offsets` names how the file counts (codepoint, utf16 or byte, alone or with -inclusive after it), and
    `trim="titles"` cuts leading titles from every gold.
    """
    path = Path(path)
    Counting.of(offsets)
    if trim and trim not in TRIMS:
        raise InputError("a known cut was expected", where="trim", got=f"'{trim[:40]}'", remedy=near(trim, TRIMS))
    chosen = find_format(format) if format else recognise(path)
    documents = chosen.read(path, offsets=offsets, left_out=left_out)
    return _without_titles(documents, left_out) if trim else documents


def _without_titles(documents: Iterator[Document], left_out: Tally | None) -> Iterator[Document]:
    for document in documents:
        cut, count = cut_titles(document)
        if left_out is not None and count:
            left_out[TITLES] += count
        yield cut
