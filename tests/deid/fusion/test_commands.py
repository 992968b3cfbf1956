"""What the commands say about the tagger: that it ran, or why it did not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.shell import call
from tests.support.tiny_tagger import write

KINDS = {"zyx": "B-NAME", "qorvin": "I-NAME"}


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_text("seen with zyx qorvin\n", encoding="utf-8")
    return path


def test_redaction_records_what_found_the_spans(tmp_path: Path, note: Path) -> None:
    folder, out = write(tmp_path / "model", KINDS), tmp_path / "out.txt"
    done = call("redact", note, "-o", out, "--with", f"model={folder}", "--json", tmp_path / "record.json")
    assert done.code == 0 and "tagger " in done.err + done.out
    assert "qorvin" not in out.read_text(encoding="utf-8")
    by = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))["found_by"]
    assert by["system"] == "native" and "tagger " in by["version"] and by["notes"] == []


def test_a_tagger_that_cannot_run_is_told(tmp_path: Path, note: Path) -> None:
    folder = write(tmp_path / "model", KINDS)
    (folder / "vocab.txt").write_text("changed", encoding="utf-8")
    setting = ("--with", f"model={folder}")
    done = call("redact", note, "-o", tmp_path / "out.txt", *setting, "--json", tmp_path / "record.json")
    assert done.code == 0 and "rules worked alone" in " ".join((done.err + done.out).split())
    record = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert "rules worked alone" in record["found_by"]["notes"][0]
    done = call("detect", note, "-o", tmp_path / "found.jsonl", *setting)
    assert done.code == 0 and "rules worked alone" in " ".join((done.err + done.out).split())
    assert call("detect", note, "-o", tmp_path / "again.jsonl", *setting, "--with", "tagger=on").code != 0
    done = call("detect", note, "-o", tmp_path / "off.jsonl", *setting, "--with", "tagger=off")
    assert done.code == 0 and "rules worked alone" not in " ".join((done.err + done.out).split())
