"""Logs of inspect_ai: `.eval`, a zip with one JSON for each sample (or a folder of pieces), and `.json`, all in one.

Members are read one after the other, within limits, and never unpacked to disk; their names decide nothing but which
of them are samples. Members that are packed by zstandard, which inspect_ai does by default, need the extra `inspect`.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from workup.errors import InputError
from workup.files.jsonlines import LARGEST_FILE, MOST_IN_FILE, KeyTwiceError, check_number, decoded, kind, parse
from workup.files.received import open_named
from workup.files.unpacking import check_unpacked
from workup.tasks.conversation.talk.imported.dialogue import (
    Dialogue,
    Message,
    code_of,
    counts_of,
    list_in,
    object_of,
)
from workup.tasks.conversation.talk.imported.openai_lines import message_of, named

MOST_MEMBERS = 200_000
MOST_ATTACHED = 64 * 2**20  # characters that the attachments of one sample may add to its messages
LARGEST_SAMPLE = 256 * 2**20  # bytes, unpacked
_WHOLE = re.compile(r"samples/[^/]+_epoch_\d+\.json")
_SHELL = re.compile(r"(samples/[^/]+_epoch_\d+)/sample\.json")
_PIECE = re.compile(r"(\d{1,12})\.json")
_ATTACHED = re.compile(r"attachment://([0-9a-f]{32}|\d{1,12})")  # a hash, or in pieces a number
_TOKENS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
_ZSTANDARD = 93
_STEP = 1 << 16
_WAY_OUT = "cut the log into several"
_REMEDY = "check that the file is whole and was written by inspect_ai"


def read_log(path: Path) -> Iterator[tuple[str, Dialogue]]:
    """The dialogues of a log with their places, one sample at a time."""
    for where, sample in _samples(path):
        yield where, _dialogue(sample, where)


def _samples(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        with open_named(path) as file:
            packed = file.read(4) == b"PK\x03\x04"
            file.seek(0)
            if packed:
                yield from _zipped(file, path)
                return
            content = file.read(LARGEST_FILE + 1)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError) as error:
        got = getattr(error, "strerror", None) or "a file that cannot be unpacked"
        raise InputError("a log of inspect_ai was expected", where=path.name, got=got, remedy=_REMEDY) from None
    if len(content) > LARGEST_FILE:
        raise InputError(
            f"a log of at most {LARGEST_FILE:,} bytes was expected",
            where=path.name,
            got="a larger one",
            remedy="use the .eval form, which is read sample by sample",
        )
    log = object_of(_json(content, where=path.name, whole=True), what="a log", where=path.name)
    for number, sample in enumerate(list_in(log, "samples", where=path.name), start=1):
        where = f"{path.name}, sample {number}"
        yield where, object_of(sample, what="a sample", where=where)


def _json(content: bytes, *, where: str, whole: bool = False) -> Any:
    check_number(content, most=MOST_IN_FILE, where=where)
    text = decoded(content, where=where, whole_file=whole)
    try:
        return parse(text)
    except json.JSONDecodeError as error:
        place, got = f"{where}, line {error.lineno}", f"something else at column {error.colno}"
    except RecursionError:
        place, got = where, "brackets nested too deeply"
    except KeyTwiceError:
        place, got = where, "a key that stands twice in one object"
    except ValueError:
        place, got = where, "a number that JSON has no form for"
    raise InputError("valid JSON was expected", where=place, got=got, remedy=_REMEDY)


# ---- the zip ---------------------------------------------------------------------------------------------------------


def _zipped(file: IO[bytes], path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with zipfile.ZipFile(file) as archive:
        members: dict[str, zipfile.ZipInfo] = {}
        for member in archive.infolist():
            if member.filename in members:
                raise InputError("a log in which each part has a name of its own was expected", where=path.name)
            members[member.filename] = member
        if len(members) > MOST_MEMBERS:
            raise InputError(f"a log of at most {MOST_MEMBERS:,} parts was expected", where=path.name, got="more")
        stated = sum(member.file_size for member in members.values())
        check_unpacked(stated, packed=path.stat().st_size, where=path.name, way_out=_WAY_OUT)
        if "header.json" not in members:
            raise InputError("a log of inspect_ai was expected", where=path.name, got="no header.json", remedy=_REMEDY)
        reader = _Members(archive, file)
        pieces = _pieces(members)
        shapes = ((name, _WHOLE.fullmatch(name), _SHELL.fullmatch(name)) for name in members)
        for number, (name, whole, shell) in enumerate((one for one in shapes if one[1] or one[2]), start=1):
            where = f"{path.name}, sample {number}"
            sample = object_of(_json(reader.read(members[name], where), where=where), what="a sample", where=where)
            yield where, sample if whole or not shell else _joined(sample, pieces.get(shell[1], {}), reader, where)


def _pieces(members: Mapping[str, zipfile.ZipInfo]) -> dict[str, dict[str, list[tuple[int, zipfile.ZipInfo]]]]:
    """The pieces of samples by folder and kind, in their order; metadata is a kind of one piece."""
    found: dict[str, dict[str, list[tuple[int, zipfile.ZipInfo]]]] = {}
    for name, member in members.items():
        parts = name.split("/")
        if len(parts) == 4 and parts[0] == "samples" and (numbered := _PIECE.fullmatch(parts[3])):
            place = (int(numbered[1]), member)
        elif len(parts) == 3 and parts[0] == "samples" and parts[2] == "metadata.json":
            place, parts = (0, member), [*parts[:2], "metadata"]
        else:
            continue
        found.setdefault("/".join(parts[:2]), {}).setdefault(parts[2], []).append(place)
    for kinds in found.values():
        for listed in kinds.values():
            listed.sort(key=lambda one: one[0])
    return found


def _joined(
    shell: Mapping[str, Any],
    kinds: Mapping[str, Sequence[tuple[int, zipfile.ZipInfo]]],
    reader: _Members,
    where: str,
) -> dict[str, Any]:
    """A sample in pieces as it would stand in one: its messages looked up in their pool, and what they refer to."""

    def all_of(what: str) -> list[Any]:
        found: list[Any] = []
        for start, member in kinds.get(what, ()):
            listed = _json(reader.read(member, where), where=where)
            if start != len(found) or not isinstance(listed, list):
                raise InputError(f"pieces of {what} that follow one another were expected", where=where, remedy=_REMEDY)
            found += listed
        return found

    pool = all_of("messages")
    said: list[Any] = []
    for pair in list_in(shell, "message_refs", where=where):
        first, end = pair if isinstance(pair, list) and len(pair) == 2 else (-1, -1)
        if type(first) is not int or type(end) is not int or not 0 <= first <= end <= len(pool):
            raise InputError("'message_refs' must name messages that are there", where=where, remedy=_REMEDY)
        said += pool[first:end]
        if len(said) > len(pool) + MOST_MEMBERS:
            raise InputError("a sample that refers to its messages over and over", where=where, remedy=_REMEDY)
    attached = {str(number): text for number, text in enumerate(all_of("attachments"))}  # referred to by number
    metadata = [_json(reader.read(member, where), where=where) for _, member in kinds.get("metadata", ())]
    return {
        **shell,
        "messages": said,
        "events": all_of("events"),
        "attachments": attached,
        "metadata": metadata[0] if metadata else shell.get("metadata"),
    }


class _Members:
    """Reads members of an open zip, none of them further than the size that it states."""

    def __init__(self, archive: zipfile.ZipFile, file: IO[bytes]) -> None:
        self._archive, self._file = archive, file

    def read(self, member: zipfile.ZipInfo, where: str) -> bytes:
        """The bytes of a member."""
        if member.flag_bits & 0x1:
            raise InputError("a log that is not encrypted was expected", where=where, remedy=_REMEDY)
        if member.file_size > LARGEST_SAMPLE:
            raise InputError(f"a sample of at most {LARGEST_SAMPLE:,} bytes was expected", where=where, got="more")
        check_unpacked(member.file_size, packed=member.compress_size, where=where, way_out=_WAY_OUT)
        if member.compress_type == _ZSTANDARD:
            content = self._zstandard(member, where)
        else:
            try:
                with self._archive.open(member) as part:
                    content = part.read(member.file_size + 1)
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
                raise InputError("a part that can be unpacked was expected", where=where, remedy=_REMEDY) from None
        if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise InputError("a part of the size and sum that it states was expected", where=where, remedy=_REMEDY)
        return content

    def _zstandard(self, member: zipfile.ZipInfo, where: str) -> bytes:
        try:
            zstandard = import_module("zstandard")
        except ImportError:
            raise InputError(
                "a log packed by deflate was expected",
                where=where,
                got="one packed by zstandard, as inspect_ai does by default",
                remedy="pip install 'workup[inspect]', or write the log as .json",
            ) from None
        raw = io.BytesIO(self._raw(member, where))
        found = bytearray()
        try:
            with zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(
                raw, read_across_frames=True
            ) as stream:
                while len(found) <= member.file_size and (piece := stream.read(_STEP)):
                    found += piece
        except zstandard.ZstdError:
            raise InputError("a part that can be unpacked was expected", where=where, remedy=_REMEDY) from None
        return bytes(found)

    def _raw(self, member: zipfile.ZipInfo, where: str) -> bytes:
        """The packed bytes, behind the member's own header."""
        self._file.seek(member.header_offset)
        header = self._file.read(30)
        if len(header) < 30 or header[:4] != b"PK\x03\x04":
            raise InputError("a part that can be unpacked was expected", where=where, remedy=_REMEDY)
        self._file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
        return self._file.read(member.compress_size)


# ---- one sample ------------------------------------------------------------------------------------------------------


def _dialogue(sample: Mapping[str, Any], where: str) -> Dialogue:
    case, _ = named(sample, where)
    epoch = sample.get("epoch", 1)
    if type(epoch) is not int or epoch < 1:
        raise InputError("'epoch' must be a whole number from 1", where=where, got=kind(epoch))
    attached = _Attached(sample.get("attachments"), where)
    finishes, tokens = _outputs(sample, where)
    found = []
    for value in list_in(sample, "messages", where=where):
        record = object_of(value, what="a message", where=where)
        id = record.get("id") if isinstance(record.get("id"), str) else None
        content = attached.resolved(record.get("content"))
        calls = [attached.call(one) for one in record.get("tool_calls") or ()]
        message = message_of({**record, "content": content, "tool_calls": calls or None}, where)
        if message.role == "assistant" and id is not None:
            message = message._replace(finish=finishes.get(id), tokens=tokens.get(id, {}))
        found.append(message)
    return Dialogue(case, epoch - 1, tuple(_ended(found, sample, where)))


def _ended(messages: list[Message], sample: Mapping[str, Any], where: str) -> list[Message]:
    """The last reply has the reason to stop of the sample's own output, where no event told of it."""
    last = next((place for place in reversed(range(len(messages))) if messages[place].role == "assistant"), None)
    if last is not None and messages[last].finish is None:
        choice = _choice(sample.get("output"))
        messages[last] = messages[last]._replace(finish=code_of(choice.get("stop_reason")))
    return messages


def _outputs(sample: Mapping[str, Any], where: str) -> tuple[dict[str, str | None], dict[str, dict[str, int]]]:
    """Why each reply stopped and how many tokens it took, by the id of its message, from the calls of the model."""
    finishes: dict[str, str | None] = {}
    tokens: dict[str, dict[str, int]] = {}
    events = sample.get("events")
    if events is not None and not isinstance(events, list):
        raise InputError("'events' must be a list", where=where, got=kind(events))
    for event in [*(events or ()), {"event": "model", "output": sample.get("output")}]:
        if not isinstance(event, Mapping) or event.get("event") != "model":
            continue
        choice = _choice(event.get("output"))
        message = choice.get("message")
        id = message.get("id") if isinstance(message, Mapping) else None
        if isinstance(id, str):
            finishes.setdefault(id, code_of(choice.get("stop_reason")))
            tokens.setdefault(id, counts_of(event["output"].get("usage"), _TOKENS))
    return finishes, tokens


def _choice(output: Any) -> Mapping[str, Any]:
    choices = output.get("choices") if isinstance(output, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


class _Attached:
    """Texts that a sample keeps apart and refers to; what they add in all is limited."""

    def __init__(self, texts: Any, where: str) -> None:
        self._texts = texts if isinstance(texts, Mapping) else {}
        self._where, self._left = where, MOST_ATTACHED

    def resolved(self, value: Any) -> Any:
        """A content with every reference replaced by what it stands for, one level deep."""
        if isinstance(value, str):
            return _ATTACHED.sub(self._text, value) if "attachment://" in value else value
        if isinstance(value, list):
            return [self.resolved(one) for one in value]
        if isinstance(value, Mapping) and isinstance(value.get("text"), str):
            return {**value, "text": self.resolved(value["text"])}
        return value

    def call(self, value: Any) -> Any:
        """A call of a tool, whose arguments may refer to texts too."""
        if not isinstance(value, Mapping):
            return value
        made = value.get("arguments")
        if isinstance(made, Mapping):
            made = {key: self.resolved(one) for key, one in made.items()}
        return {"id": value.get("id"), "function": {"name": value.get("function"), "arguments": made}}

    def _text(self, found: re.Match[str]) -> str:
        text = self._texts.get(found[1])
        if not isinstance(text, str):
            raise InputError("an attachment that is there was expected", where=self._where, remedy=_REMEDY)
        self._left -= len(text)
        if self._left < 0:
            raise InputError(
                f"attachments of at most {MOST_ATTACHED:,} characters in a sample were expected", where=self._where
            )
        return text
