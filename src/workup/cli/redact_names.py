"""Names of files that tell of a patient, and new names for what `workup redact` writes. Reads no text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from workup.redaction.files import Source

_NUMBER = re.compile(r"\d{5,}|\d{1,4}[-_.]\d{1,2}[-_.]\d{1,4}")  # of a record, of a telephone, a date of birth
_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]{3,}")
_FEWEST_LETTERS = 3


def tells_of_somebody(name: str) -> bool:
    """Whether the name of a file holds a long number, a date, or the given or family name of a person.

    >>> [tells_of_somebody(name) for name in ("Lee_Maria.txt", "00482913.txt", "ward/note-12.txt", "discharge.txt")]
    [True, True, False, False]
    """
    from workup.redaction.surrogates.name_tables import about

    stem = str(PurePosixPath(name).with_suffix(""))
    if _NUMBER.search(stem):
        return True
    words = [word.casefold() for word in _WORD.findall(stem)]
    kinds = [about(word).kind for word in words if len(word) >= _FEWEST_LETTERS]
    # One word alone may be anything (Page, Young); a given name, or two words that are names, are a person.
    return "given" in kinds or kinds.count("family") > 1


def warning(sources: Sequence[Source]) -> str:
    """What to say of names that the output would keep; empty where there is nothing to say."""
    told = sum(tells_of_somebody(source.name) for source in sources if source.name != "stdin")
    if not told:
        return ""
    return (
        f"WARNING: {told:,} of {len(sources):,} file names look as if they held a patient's name, number or date, and "
        "the output keeps them; --rename writes note-0001.txt and so on"
    )


def renamed(sources: Sequence[Source]) -> list[Source]:
    """The files under new names, and the documents of a corpus under new ids, in order; the map keeps the old names."""
    found, count = [], 0
    width = max(4, len(str(sum(len(source.documents) for source in sources))))
    for number, source in enumerate(sources, start=1):
        endings = "".join(PurePosixPath(source.name).suffixes[-2:]).lower()
        ending = next((one for one in (".jsonl.gz", ".jsonl", ".ndjson") if endings.endswith(one)), ".txt")
        if source.container is not None:
            ending = PurePosixPath(source.name).suffix.lower()
        new_ids = []
        for _ in source.documents:
            count += 1
            new_ids.append(f"note-{count:0{width}d}")
        name = f"notes-{number:04d}{ending}" if source.is_corpus else f"{new_ids[0]}{ending}"
        found.append(replace(source, name=name, original_name=source.name, new_ids=tuple(new_ids)))
    return found
