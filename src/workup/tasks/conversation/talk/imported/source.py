"""A file of another program as lines of a transcript, one after the other, each with the place that it came from.

Held against the cases where there are any: a dialogue belongs to the case that it names, or to the one case that opens
with the same words. Errors name the file and the line (or the entry, or the sample), never a word that was said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workup.errors import InputError, near
from workup.files.jsonlines import LARGEST_FILE, kind, lines, value_of
from workup.files.received import open_named
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.json_files import needed, records, whole_of
from workup.tasks.conversation.talk.imported import inspect_logs, openai_lines, sharegpt
from workup.tasks.conversation.talk.imported.dialogue import Answer, Dialogue, Turned, line_of_turn, turns_of
from workup.tasks.conversation.talk.transcripts import Transcripts, line_of, transcripts_of

FORMATS = ("inspect", "openai", "sharegpt", "transcripts")
_SUMMARY = "patient summary:"


def imported_lines(
    path: Path | str,
    format: str,
    *,
    cases: Iterable[ConversationCase] = (),
    roles: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a transcript that a file holds; without cases nothing is held against a ledger.

    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "chats.jsonl"
    >>> said = '{"id": "a", "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Yes?"}]}'
    >>> _ = file.write_text(said)
    >>> [(where, line["turn"], line["reply"]) for where, line in imported_lines(file, "openai")]
    [('chats.jsonl, line 1', 1, 'Yes?')]
    """
    path, known = Path(path), {case.id: case for case in cases}
    if format not in FORMATS:
        raise InputError(f"a format of {', '.join(FORMATS)} was expected", got="another", remedy=near(format, FORMATS))
    if format == "transcripts":
        for where, record in records_of(path):
            whole_of(needed(record, "turn", where=where, known=("turn",)), field="turn", where=where, least=0)
            if known:
                line_of(record, known, where=where)
            yield where, record
        return
    told = _Told(known)
    for where, found in _read(path, format, sharegpt.checked_roles(roles or {})):
        for line in told.lines(found, where):
            if known:
                line_of(line, known, where=where)
            yield where, line


def read_imported(
    path: Path | str, format: str, cases: Iterable[ConversationCase], *, roles: Mapping[str, str] | None = None
) -> Transcripts:
    """The same as transcripts, held against their cases."""
    known = {case.id: case for case in cases}
    read = imported_lines(path, format, cases=known.values(), roles=roles)
    return transcripts_of(
        ((where, line_of(line, known, where=where)) for where, line in read), known, where=Path(path).name
    )


def records_of(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file with their places: line by line, or from one JSON list, which is read as a whole."""
    if not path.is_file():
        raise InputError(
            "a file was expected", where=path.name or str(path), got="no such file", remedy="check the path"
        )
    if _opening(path) == b"[":
        yield from records(path)
        return
    for number, line in lines(path):
        where = f"{path.name}, line {number}"
        value = value_of(line, where=where)
        if not isinstance(value, dict):
            raise InputError("a JSON object was expected", where=where, got=kind(value))
        yield where, value


def _opening(path: Path) -> bytes:
    """The first sign of a file that is no space."""
    try:
        with open_named(path) as file:
            read = 0
            while piece := file.read(4096):
                if stripped := piece.removeprefix(b"\xef\xbb\xbf").lstrip():
                    return stripped[:1]
                read += len(piece)
                if read > LARGEST_FILE:
                    break
    except OSError as error:
        got = error.strerror or type(error).__name__
        raise InputError("a file that can be read was expected", where=path.name, got=got) from None
    return b""


def _read(path: Path, format: str, roles: Mapping[str, str]) -> Iterator[tuple[str, Dialogue | Answer]]:
    if format == "inspect":
        yield from inspect_logs.read_log(path)
        return
    for where, record in records_of(path):
        if format == "sharegpt":
            yield where, sharegpt.read_line(record, roles, where=where)
            continue
        found = openai_lines.read_line(record, where=where)
        if isinstance(found, Dialogue):
            yield where, found
        else:
            yield from ((where, one) for one in found)


class _Told:
    """Which case, replicate and turn each thing found belongs to."""

    def __init__(self, known: Mapping[str, ConversationCase]) -> None:
        self._known = known
        self._times: Counter[tuple[str, int | None]] = Counter()
        self._counted: dict[str, bool] = {}  # whether the source counts replicates of a case, by its first dialogue
        self._opening: dict[str, list[str]] = {}
        for case in known.values():
            self._opening.setdefault(_folded(case.turns[0].message), []).append(case.id)

    def lines(self, found: Dialogue | Answer, where: str) -> Iterator[dict[str, Any]]:
        """The lines of a transcript that one dialogue, or one reply of a batch, makes."""
        if isinstance(found, Answer):
            yield self._answer(found, where)
            return
        turns = list(turns_of(found.messages, where=where))
        case = self._case(found.case, turns, where)
        replicate = self._replicate(case, None, found.replicate, where)
        self._check(case, turns, where)
        for number, turn in turns:
            yield line_of_turn(case, replicate, number, turn)

    def _answer(self, found: Answer, where: str) -> dict[str, Any]:
        case, turn = found.case, found.turn
        if turn is None and case in self._known and self._known[case].last_turn == 1:
            turn = 1
        if turn is None:
            raise InputError(
                "'custom_id' must name the case and the turn, such as case/3, or case/3/0 with the replicate",
                where=where,
                got="no turn",
                remedy="rename the ids; a batch does not say which turn its replies belong to",
            )
        replicate = self._replicate(case, turn, found.replicate, where)
        said = Turned()
        if found.message is not None:
            said.add(found.message)
        line = line_of_turn(case, replicate, turn, said)
        held = self._known.get(case)
        line["message"] = held.turns[turn - 1].message if held is not None and 0 < turn <= held.last_turn else ""
        return line | {"error": found.failure} if found.failure else line

    def _replicate(self, case: str, turn: int | None, counted: int | None, where: str) -> int:
        """The replicate that the source counts, or how often the case came before."""
        if self._counted.setdefault(case, counted is not None) != (counted is not None):
            raise InputError("dialogues of one case that all name their replicate, or none, were expected", where=where)
        if counted is not None:
            return counted
        number = self._times[(case, turn)]
        self._times[(case, turn)] += 1
        return number

    def _case(self, named: str, turns: list[tuple[int, Turned]], where: str) -> str:
        if named and (not self._known or named in self._known):
            return named
        if not self._known:
            return where.rpartition(", ")[2].replace(" ", "-")
        first = next((turn for number, turn in turns if number == 1), None)
        same = [] if first is None else self._opening.get(_folded("\n\n".join(first.user)), [])
        if not named and len(same) == 1:
            return same[0]
        raise InputError(
            "the id of one of the cases was expected, under 'id' or 'metadata.case'",
            where=where,
            got="another id" if named else f"none, and {len(same)} cases that open with the same words",
            remedy="give the cases that these dialogues were held from",
        )

    def _check(self, id: str, turns: list[tuple[int, Turned]], where: str) -> None:
        """Refuse a dialogue that was not held from its case: its facts would be looked for in the wrong mouth."""
        case = self._known.get(id)
        if case is None:
            return
        for number, turn in turns:
            if number < 1:
                continue
            if number > case.last_turn:
                got = f"{turns[-1][0]}"
                raise InputError(f"at most the {case.last_turn} turns of its case were expected", where=where, got=got)
            if _folded("\n\n".join(turn.user)) != _folded(case.turns[number - 1].message):
                raise InputError(
                    "the user's messages of the case were expected",
                    where=where,
                    got=f"other words at turn {number}",
                    remedy="give the cases that these dialogues were held from",
                )


def _folded(text: str) -> str:
    """A message without what differs between programs: spaces, case, and the summary set before the first turn."""
    spaced = " ".join(text.split()).casefold()
    if spaced.startswith(_SUMMARY) and "\n\n" in text.strip():
        spaced = " ".join(text.strip().partition("\n\n")[2].split()).casefold()
    return spaced
