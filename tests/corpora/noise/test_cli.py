"""`workup corpus noise` through the command line: the measured rate told and kept, or a message and nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.json_lines import read_lines
from tests.support.shell import SECRET, call
from workup.corpora.noise import KINDS
from workup.text.typos import distance


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "c.jsonl"
    lines = []
    for number in range(40):
        text = f"{SECRET} seen by Rose Miller on 03/14/2021 in clinic number {number}."
        spans = [{"start": 17, "end": 28, "label": "name_provider"}, {"start": 32, "end": 42, "label": "date"}]
        lines.append(json.dumps({"id": f"d{number}", "text": text, "spans": spans}))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_the_measured_rate_is_told_and_kept(kind: str, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "n.jsonl"
    words = ("--kind", kind, "--rate", "0.1", "--on", "phi", "--seed", "3", "-o", str(out), "--json", "-")
    done = call("corpus", "noise", corpus, *words)
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert json.loads((tmp_path / "n.noise.json").read_text()) == record
    real = 0
    for before, after in zip(read_lines(corpus), read_lines(out), strict=True):
        for old, new in zip(before["spans"], after["spans"], strict=True):  # type: ignore[call-overload]
            surface = str(after["text"])[new["start"] : new["end"]]
            assert surface == new["text"]
            real += distance(str(before["text"])[old["start"] : old["end"]], surface)
    assert record["measured"] == real / (40 * 21)
    if record["at_ceiling"]:
        assert record["measured"] == pytest.approx(record["ceiling"], rel=0.1) and "its ceiling is" in done.err
    else:
        assert record["measured"] == pytest.approx(0.1, rel=0.1)
    assert SECRET not in done.err + done.out


def test_the_same_seed_gives_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        words = ("--kind", "typo", "--rate", "0.1", "--seed", "3", "-o", str(tmp_path / name / "n.jsonl"))
        assert call("corpus", "noise", corpus, *words).code == 0
    assert (tmp_path / "one" / "n.jsonl").read_bytes() == (tmp_path / "two" / "n.jsonl").read_bytes()


BAD = {
    "unknown kind": (("--kind", "ocrr"), "did you mean 'ocr'"),
    "rate above one": (("--rate", "5"), "from 0 to 1"),
    "no rate": (("--rate", "nan"), "from 0 to 1"),
    "unknown target": (("--on", "phy"), "did you mean 'phi'"),
    "another ending": (("-o", "n.txt"), ".jsonl"),
    "onto itself": (("-o", "c.jsonl"), "apart from the input"),
    "no such folder": (("-o", "none/n.jsonl"), "folder that exists"),
    "negative seed": (("--seed", "-1"), "whole number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_message_and_nothing_is_written(
    name: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words, said = BAD[name]
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = call("corpus", "noise", corpus, "--kind", "ocr", "--rate", "0.1", "--seed", "1", "-o", "n.jsonl", *words)
    assert done.code == 2 and said in done.err, done.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_broken_corpus_leaves_nothing(corpus: Path, tmp_path: Path) -> None:
    corpus.write_text(
        corpus.read_text() + '{"id": "x", "text": "' + SECRET + '", "spans": [{"start": 0, "end": 99}]}\n'
    )
    done = call("corpus", "noise", corpus, "--kind", "ocr", "--rate", "0.1", "--seed", "1", "-o", tmp_path / "n.jsonl")
    assert done.code == 2 and "line 41" in done.err and SECRET not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["c.jsonl"]
