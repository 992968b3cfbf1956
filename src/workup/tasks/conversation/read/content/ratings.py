"""Ratings of documentation quality (PDSQI-9), by people and by judges, read from a CSV file. It draws no conclusion.

Errors name the file, the row and the column; never what stands in a cell.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import NamedTuple

from workup.errors import InputError, near
from workup.files.received import open_named
from workup.tasks.conversation.cases.json_files import refuse_misspelt
from workup.tasks.conversation.metrics import columns

# Croxford and others, the Provider Documentation Summarization Quality Instrument, 2025.
LIKERT = ("cited", "accurate", "thorough", "useful", "organised", "comprehensible", "succinct", "synthesised")
ATTRIBUTES = (*LIKERT, "stigmatising")
KINDS = ("human", "judge")
_SPELLED = {"organized": "organised", "synthesized": "synthesised", "stigmatizing": "stigmatising"}
_NEEDED = ("case", "rater", "kind", "attribute", "rating")
_KNOWN = (*_NEEDED, "turn", "replicate")
_LARGEST = 64 * 2**20  # bytes
_YES, _NO = frozenset({"yes", "y", "true", "1"}), frozenset({"no", "n", "false", "0"})
_UNRATED = frozenset({"", "na", "n/a"})


class Rating(NamedTuple):
    """One rating. `turn` is None where the whole conversation was rated; stigmatising is 1 for yes and 0 for no."""

    case: str
    turn: int | None
    replicate: int
    rater: str
    kind: str
    attribute: str
    rating: float


@dataclass(frozen=True)
class Ratings:
    """All ratings of a file, and how many cells were left empty."""

    rows: tuple[Rating, ...] = ()
    blank: int = 0


def read_ratings(path: Path | str) -> Ratings:
    """The ratings of a CSV file with columns case, rater, kind, attribute, rating, and perhaps turn and replicate.

    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "ratings.csv"
    >>> _ = file.write_text("case,rater,kind,attribute,rating\\na,r1,human,accurate,4\\na,r1,human,stigmatizing,no\\n")
    >>> [(one.attribute, one.rating) for one in read_ratings(file).rows]
    [('accurate', 4.0), ('stigmatising', 0.0)]
    """
    file = Path(path)
    header, lines = _table(file)
    found: list[Rating] = []
    seen: dict[tuple[object, ...], int] = {}
    kinds: dict[str, tuple[str, int]] = {}
    blank = 0
    for number, cells in lines:
        where = f"{file.name}, row {number}"
        record = dict(zip(header, cells, strict=True))
        one = _rating(record, where)
        if one is None:
            blank += 1
            continue
        key = one[:6]
        if key in seen:
            raise InputError(
                "one rating for each case, turn, replicate, rater and attribute was expected",
                where=where,
                got=f"a second one for those of row {seen[key]}",
                remedy="keep one of the two",
            )
        seen[key] = number
        kind, first = kinds.setdefault(one.rater, (one.kind, number))
        if kind != one.kind:
            raise InputError(
                "a rater must be a human or a judge throughout",
                where=f"{where}, column 'kind'",
                got=f"another kind than in row {first}",
                remedy="give the judge a name of its own",
            )
        found.append(one)
    return Ratings(tuple(sorted(found, key=_order)), blank)


def _order(one: Rating) -> tuple[object, ...]:
    return (one.case, one.replicate, -1 if one.turn is None else one.turn, one.kind, one.rater, one.attribute)


# ---- the file -------------------------------------------------------------------------------------------------------


def _table(file: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    text = _text(file)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        raise InputError(
            "a CSV file was expected",
            where=file.name,
            got="quotes or a cell that cannot be read",
            remedy="save it anew",
        ) from None
    if not rows:
        raise InputError("a CSV file with a header was expected", where=file.name, got="an empty file")
    header = [name.strip().casefold() for name in rows[0]]
    _check_header(header, file)
    lines = [(number, cells) for number, cells in enumerate(rows[1:], start=2) if any(map(str.strip, cells))]
    for number, cells in lines:
        if len(cells) != len(header):
            raise InputError(
                f"every row must have the {len(header)} cells of the header",
                where=f"{file.name}, row {number}",
                got=f"{len(cells)} cells",
                remedy="put cells that hold a comma into quotes",
            )
    return header, lines


def _text(file: Path) -> str:
    if not isfile(file):
        raise InputError("a file of ratings was expected", where=file.name, got="no such file", remedy="check the path")
    try:
        with open_named(file) as stream:
            content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise InputError(f"a file of at most {_LARGEST:,} bytes was expected", where=file.name)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InputError("a file that can be read was expected", where=file.name, got=error.strerror or "") from None
    except UnicodeDecodeError:
        raise InputError("text in UTF-8 was expected", where=file.name, got="bytes that are none") from None
    if "\0" in text:
        raise InputError("a text file was expected", where=file.name, got="one with null bytes")
    return text


def _check_header(header: Sequence[str], file: Path) -> None:
    for name in _NEEDED:
        if name not in header:
            remedy = {
                "kind": "add a column that says 'human' or 'judge': a judge must not pass for a person",
            }.get(name, f"add it; the columns are {', '.join(_KNOWN)}")
            raise InputError(f"a column '{name}' was expected", where=f"{file.name}, header", remedy=remedy)
    if len(set(header)) < len(header):
        raise InputError("every column must have a name of its own", where=f"{file.name}, header", got="one twice")
    refuse_misspelt(dict.fromkeys(header), _KNOWN, where=f"{file.name}, header")


# ---- one row --------------------------------------------------------------------------------------------------------


def _rating(record: Mapping[str, str], where: str) -> Rating | None:
    case, rater = (_named(record, name, where) for name in ("case", "rater"))
    kind = _one_of(record, "kind", KINDS, where)
    attribute = _one_of(record, "attribute", ATTRIBUTES, where)
    turn = _whole(record.get("turn", ""), "turn", 1, where)
    replicate = _whole(record.get("replicate", ""), "replicate", 0, where)
    written = record["rating"].strip().casefold()
    if written in _UNRATED:
        return None
    value = _yes_or_no(written, where) if attribute == "stigmatising" else _scale(written, where)
    return Rating(case, turn, replicate or 0, rater, kind, attribute, value)


def _named(record: Mapping[str, str], name: str, where: str) -> str:
    value = record[name].strip()
    if not value:
        raise InputError(f"'{name}' must not be empty", where=where, got="an empty cell", remedy="fill it in")
    return value


def _one_of(record: Mapping[str, str], name: str, allowed: Iterable[str], where: str) -> str:
    value = record[name].strip().casefold()
    value = _SPELLED.get(value, value)
    names = list(allowed)
    if value in names:
        return value
    # A slip of the pen is answered with the near word of our own; the cell itself is not shown.
    raise InputError(
        f"'{name}' must be one of {', '.join(names)}",
        where=f"{where}, column '{name}'",
        got="another text" if value else "an empty cell",
        remedy=near(value[:40], names),
    )


def _whole(written: str, name: str, least: int, where: str) -> int | None:
    text = written.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 6 or int(text) < least:
        raise InputError(f"'{name}' must be a whole number from {least}, or empty", where=where, got="something else")
    return int(text)


def _scale(written: str, where: str) -> float:
    plain = written.removesuffix(".0")
    if plain not in ("1", "2", "3", "4", "5"):
        raise InputError(
            "'rating' must be a whole number from 1 to 5",
            where=f"{where}, column 'rating'",
            got="something else",
            remedy="leave the cell empty where nothing was rated",
        )
    return float(plain)


def _yes_or_no(written: str, where: str) -> float:
    if written in _YES or written in _NO:
        return float(written in _YES)
    raise InputError(
        "'rating' of stigmatising must be yes or no", where=f"{where}, column 'rating'", got="something else"
    )


def rating_columns(ratings: Ratings) -> dict[tuple[str, int], dict[str, float]]:
    """The mean rating by people of each case and replicate, as columns of its row; judges are left out.

    >>> one = Rating("a", None, 0, "r1", "human", "useful", 4.0)
    >>> rating_columns(Ratings((one, one._replace(rater="r2", rating=5.0), one._replace(rater="j", kind="judge"))))
    {('a', 0): {'live|pdsqi_useful': 4.5, 'live|pdsqi_useful_known': 1.0}}
    """
    held: dict[tuple[str, int], dict[str, list[float]]] = {}
    for one in ratings.rows:
        if one.kind == "human":
            held.setdefault((one.case, one.replicate), {}).setdefault(one.attribute, []).append(one.rating)
    found: dict[tuple[str, int], dict[str, float]] = {}
    for key, by_attribute in held.items():
        row: dict[str, float] = {}
        for attribute in ATTRIBUTES:
            if values := by_attribute.get(attribute):
                row[columns.whole(f"pdsqi_{attribute}")] = sum(values) / len(values)
                row[columns.whole(f"pdsqi_{attribute}_known")] = 1.0
        found[key] = row
    return found
