"""Maps: what was redacted comes back byte for byte, and nothing else opens or fits."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given

from tests.support.redaction_notes import KEY, arbitrary
from workup.documents.document import Document, Span
from workup.errors import InputError, MissingExtra
from workup.redaction import Entry, opened, redact, sealed
from workup.redaction.restore_map import files_of, sha256

pytest.importorskip("cryptography", reason="cryptography is not installed")
SECRET = "ZZSECRET"


def _entry(name: str = "a.txt") -> Entry:
    return Entry.of_text(name, redacted="[NAME-1] came.", original=f"{SECRET} came.", pieces=[(0, 8, SECRET)])


@pytest.mark.parametrize("how", ["label", "mask", "surrogate", "hash"])
@given(case=arbitrary())
def test_restoring_a_redaction_is_the_identity(how: str, case: tuple[Document, list[Span]]) -> None:
    document, spans = case
    done = redact(document, spans, how=how, key=KEY)
    pieces = [(p.new_start, p.new_end, document.text[p.start : p.end]) for p in done.pieces]
    entry = Entry.of_text("n", redacted=done.document.text, original=document.text, pieces=pieces)
    (again,) = opened(sealed([entry], key=KEY), key=KEY)
    assert again.restored(done.document.text.encode()) == document.text.encode()


def test_a_map_holds_no_word_in_the_clear_and_two_are_never_alike() -> None:
    one, other = (sealed([_entry()], key=KEY) for _ in range(2))
    assert SECRET.encode() not in one and b"a.txt" not in one and KEY not in one
    first, second = json.loads(one), json.loads(other)
    assert (
        first["nonce"] != second["nonce"] and first["salt"] != second["salt"] and first["content"] != second["content"]
    )
    assert files_of(one) == [sha256(b"[NAME-1] came.")]


def test_files_of_any_kind_come_back_as_they_were() -> None:
    original = b'\xef\xbb\xbf{"id" : 1}\r\n\n\xff'
    entry = Entry.of_file("c.jsonl", redacted=b"x", original=original)
    assert opened(sealed([entry], key=KEY), key=KEY)[0].restored(b"x") == original


def test_another_key_is_refused() -> None:
    with pytest.raises(InputError, match="another key") as refused:
        opened(sealed([_entry()], key=KEY), key=b"fedcba9876543210")
    assert SECRET not in str(refused.value)


def test_a_changed_text_is_refused() -> None:
    (entry,) = opened(sealed([_entry()], key=KEY), key=KEY)
    with pytest.raises(InputError, match="unchanged") as refused:
        entry.restored(b"[NAME-1] came!")
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("field", ["content", "nonce", "salt", "files", "key", "cipher", "workup_map"])
def test_a_changed_map_is_refused(field: str) -> None:
    record = json.loads(sealed([_entry()], key=KEY))
    other = json.loads(sealed([_entry("b.txt")], key=KEY))
    changed = {"cipher": "AES-128-GCM", "workup_map": 2, "files": ["0" * 64], "key": "0" * 16}
    record[field] = changed.get(field, other[field])
    with pytest.raises(InputError) as refused:
        opened(json.dumps(record).encode(), key=KEY)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"not json", b"\xff\xfe", b'{"workup_map": 1}', b"[" * 100_000])
def test_what_is_no_map_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match="a map that redact wrote"):
        opened(content, key=KEY)


def test_a_map_needs_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingExtra, match=r"cryptography.*\[redact\]"):
        sealed([_entry()], key=KEY)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(InputError, match="at least 16 bytes"):
        sealed([_entry()], key=b"short")
