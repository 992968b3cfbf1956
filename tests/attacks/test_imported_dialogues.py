"""Dialogues and logs that somebody else may have made: refused in words, within limits, and by place."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.test_packed_bombs import bounded, refused
from workup.errors import InputError
from workup.tasks.conversation.talk.imported import imported_lines
from workup.tasks.conversation.talk.imported.inspect_logs import MOST_ATTACHED

SECRET = "Zyxwort"
HASH = "ab" * 16


def log(path: Path, members: Mapping[str, Any], *, header: bool = True) -> Path:
    """A log of inspect_ai with these members, as it packs them."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        if header:
            archive.writestr("header.json", "{}")
        for name, content in members.items():
            archive.writestr(name, content if isinstance(content, (str, bytes)) else json.dumps(content))
    return path


def sample(**more: Any) -> dict[str, Any]:
    said = [{"role": "user", "content": "I have asthma."}, {"role": "assistant", "content": "Yes."}]
    return {"id": "c1", "epoch": 1, "messages": said, **more}


def message(path: Path, format: str = "inspect") -> str:
    with pytest.raises(InputError) as error:
        list(imported_lines(path, format))
    assert SECRET not in str(error.value)
    return str(error.value)


def test_a_zip_bomb_of_a_log_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "chat.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        with archive.open("samples/c1_epoch_1.json", "w", force_zip64=True) as file:
            for _ in range(256):
                file.write(b" " * 2**20)
    out = tmp_path / "said.jsonl"
    assert "as in a zip bomb" in refused(bounded("import", path, "--from", "inspect", "-o", out))
    assert not out.exists() and [one.name for one in tmp_path.iterdir()] == ["chat.eval"]


def test_a_member_that_lies_about_its_size_is_not_read_beyond_it(tmp_path: Path) -> None:
    path = log(tmp_path / "chat.eval", {"samples/c1_epoch_1.json": json.dumps(sample()) + " " * 10_000_000})
    content = path.read_bytes()
    size = (len(json.dumps(sample())) + 10_000_000).to_bytes(4, "little")
    assert content.count(size) == 2  # its own header, and the list at the end
    path.write_bytes(content.replace(size, (100).to_bytes(4, "little")))
    assert "sample 1: a part" in message(path)


def test_a_log_of_millions_of_brackets_is_refused_before_it_is_made(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text('{"samples": [' + "[]," * 12_000_000 + "0]}")
    assert "lists and objects were expected" in message(path)


@pytest.mark.parametrize("format", ["openai", "sharegpt", "transcripts"])
def test_deep_nesting_is_refused_by_line(tmp_path: Path, format: str) -> None:
    path = tmp_path / "said.jsonl"
    path.write_text('{"a":' + "[" * 100_000 + "]" * 100_000 + "}")
    assert message(path, format).startswith("said.jsonl, line 1: valid JSON was expected; got brackets nested")


def test_deep_nesting_in_a_sample_is_refused_by_sample(tmp_path: Path) -> None:
    text = '{"id": "c1", "messages": ' + "[" * 100_000 + "]" * 100_000 + "}"
    assert "sample 1: valid JSON" in message(log(tmp_path / "chat.eval", {"samples/c1_epoch_1.json": text}))


def test_a_line_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    path.write_bytes(b'{"messages": "' + b"a" * (33 * 2**20))
    assert "line 1: a line of at most" in message(path, "openai")


def test_names_in_the_zip_lead_nowhere(tmp_path: Path) -> None:
    names = (
        "../../escaped_epoch_1.json",
        "/samples/c1_epoch_1.json",
        "samples/../../c1_epoch_1.json",
        "samples/a/b.json",
    )
    (tmp_path / "in").mkdir()
    path = log(tmp_path / "in" / "chat.eval", dict.fromkeys(names, sample()))
    assert list(imported_lines(path, "inspect")) == []
    assert [one.name for one in tmp_path.iterdir()] == ["in"] and len(list((tmp_path / "in").iterdir())) == 1


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f'{{"id": "{SECRET}", "id": 1}}', "a key that stands twice"),
        (f'["{SECRET}"]', "a sample must be an object"),
        (sample(messages={"a": SECRET}), "'messages' must be a list"),
        (sample(messages=[SECRET]), "a message must be an object"),
        (sample(messages=[{"role": "user", "content": {"a": SECRET}}]), "the content of a message"),
        (sample(messages=[{"role": "user", "content": [{"type": "text", "text": 7}]}]), "'text' of a part"),
        (sample(epoch=0), "'epoch' must be"),
        (sample(id={"a": SECRET}), "the id of a case must be a text"),
        (sample(events={"a": SECRET}), "'events' must be a list"),
        (sample(messages=[{"role": "assistant", "content": "", "tool_calls": [SECRET]}]), "a call of a tool must be"),
        (sample(messages=[{"role": "user", "content": f"attachment://{HASH}"}]), "an attachment that is there"),
        (b"\xff\xfe", "text in UTF-8 was expected"),
        ('{"id": NaN}', "valid JSON was expected"),
    ],
)
def test_a_hostile_sample_is_refused_by_its_place(tmp_path: Path, content: Any, expected: str) -> None:
    found = message(log(tmp_path / "chat.eval", {"samples/c1_epoch_1.json": content}))
    assert found.startswith("chat.eval, sample 1") and expected in found


def test_attachments_that_unfold_are_stopped(tmp_path: Path) -> None:
    text = "a" * 2**20
    said = [{"role": "user", "content": f"attachment://{HASH}" * 100}] * (MOST_ATTACHED // 2**20)
    path = log(tmp_path / "chat.eval", {"samples/c1_epoch_1.json": sample(messages=said, attachments={HASH: text})})
    assert "attachments of at most" in message(path)


def test_an_attachment_that_refers_to_itself_is_put_in_once(tmp_path: Path) -> None:
    said = [{"role": "user", "content": f"attachment://{HASH}"}, {"role": "assistant", "content": "Yes."}]
    made = sample(messages=said, attachments={HASH: f"attachment://{HASH}"})
    path = log(tmp_path / "chat.eval", {"samples/c1_epoch_1.json": made})
    assert [line["message"] for _, line in imported_lines(path, "inspect")] == [f"attachment://{HASH}"]


def test_a_zip_that_is_no_log_and_a_log_of_two_equal_names_are_refused(tmp_path: Path) -> None:
    assert "no header.json" in message(log(tmp_path / "a.eval", {"samples/c1_epoch_1.json": sample()}, header=False))
    path = tmp_path / "b.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("header.json", "{}")
    assert "each part has a name of its own" in message(path)
    path.write_bytes(b"PK\x03\x04" + b"\0" * 100)
    assert "cannot be unpacked" in message(path)


def test_pieces_that_do_not_follow_one_another_are_refused(tmp_path: Path) -> None:
    shell = {"id": "c1", "epoch": 1, "message_refs": [[0, 1]]}
    for pieces, refs in (({"1": [{}]}, [[0, 1]]), ({"0": [{}]}, [[0, 2]]), ({"0": [{}]}, [[0, 1]] * 10), ({}, [7])):
        members = {f"samples/c1_epoch_1/messages/{start}.json": content for start, content in pieces.items()}
        members["samples/c1_epoch_1/sample.json"] = {**shell, "message_refs": refs}
        assert "sample 1" in message(log(tmp_path / "chat.eval", members))


def test_a_reply_without_an_end_is_a_failed_one(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    said = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "a" * 500_000}]
    path.write_text(json.dumps({"messages": said, "id": "c1"}))
    [(_, line)] = imported_lines(path, "openai")
    assert line["reply"] is None and line["error"] == "too_long"


@pytest.mark.parametrize("kind", ["folder", "missing", "fifo"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "said.jsonl"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    for format in ("openai", "inspect", "transcripts"):
        assert "expected" in message(path, format)
