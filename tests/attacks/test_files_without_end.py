"""Pipes, devices, sparse files and lines without end in the place of a user's file: one message, at once, in little
memory."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support import shell
from workup.errors import InputError
from workup.redaction.files import read_redacted

MEMORY = 3 * 2**30
SECONDS = 60  # far more than a refusal takes on a busy machine
HUGE = 2**40  # bytes, none of which is on the disk


def limited(*words: str | Path, stdin: Path | None = None) -> shell.Done:
    """`workup` with little memory; one that hangs is a failure."""

    def set_limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    with (stdin or Path(os.devnull)).open("rb") as given:
        done = subprocess.run(
            [*shell.COMMAND, *map(str, words)],
            stdin=given,
            capture_output=True,
            timeout=SECONDS,
            preexec_fn=set_limits,
            check=False,
        )
    return shell.Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def refused(done: shell.Done) -> str:
    assert done.code == 2, done
    assert done.err.count("\n") == 1 and "Traceback" not in done.err, done.err
    return done.err


def sparse(path: Path, start: bytes = b"") -> Path:
    path.write_bytes(start)
    os.truncate(path, HUGE)
    return path


# ---- pipes and devices -----------------------------------------------------------------------------------------------

CORPORA = ("x.jsonl", "x.json", "x.conll", "x.xml", "x.spacy", "x.zip", "x.txt", "x")


@pytest.mark.parametrize("name", CORPORA)
def test_a_pipe_in_the_place_of_a_corpus_is_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    refused(limited("corpus", "describe", tmp_path / name))


@pytest.mark.parametrize("format", ["spans-jsonl", "label-studio", "tab", "presidio", "conll", "i2b2", "brat"])
def test_a_pipe_is_not_waited_for_in_a_named_format(format: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x")
    refused(limited("corpus", "convert", tmp_path / "x", tmp_path / "out.jsonl", "--from", format))
    assert not (tmp_path / "out.jsonl").exists()


def _named(folder: Path, *, corpus: Path, pipe: Path) -> dict[str, Sequence[str | Path]]:
    out = folder / "out"
    both = ("--gold", corpus, "--pred")
    return {
        "pool": ("pool", pipe),
        "pool --seen": ("pool", corpus, "--seen", pipe),
        "pool --key-file": ("pool", corpus, "--key-file", pipe),
        "redact": ("redact", pipe, "-o", out),
        "redact --key-file": ("redact", corpus, "--golds", "--as", "hash", "--key-file", pipe, "-o", out),
        "restore --map": ("restore", corpus, "--map", pipe, "--key-file", corpus, "-o", out),
        "restore": ("restore", pipe, "--map", corpus, "--key-file", corpus, "-o", out),
        "detect": ("detect", pipe, "-o", out),
        "inject": ("corpus", "inject", "--source", pipe, "--seed", "1", "-o", out),
        "predictions": ("score", "spans", *both, pipe),
        "cases": ("score", "conversation", pipe, "--transcripts", corpus),
        "a table": ("score", "risk", pipe, "--outcome", "a", "--risk", "b"),
    }


NAMED = tuple(_named(Path(), corpus=Path(), pipe=Path()))


@pytest.mark.parametrize("name", NAMED)
def test_a_pipe_in_the_place_of_any_file_is_not_waited_for(name: str, tmp_path: Path) -> None:
    corpus = tmp_path / "c.jsonl"
    span = {"start": 0, "end": 4, "label": "NAME"}
    corpus.write_text(json.dumps({"id": "a", "text": "Rose came.", "spans": [span]}) + "\n", encoding="utf-8")
    corpus.chmod(0o600)  # it stands for a key, too
    pipe = tmp_path / ("p.txt" if name in ("redact", "detect", "inject", "a table") else "p.json")
    os.mkfifo(pipe)
    refused(limited(*_named(tmp_path, corpus=corpus, pipe=pipe)[name]))
    assert not (tmp_path / "out").exists()


def test_a_key_of_a_site_is_not_waited_for(tmp_path: Path) -> None:
    from workup.packs import read_key

    os.mkfifo(tmp_path / "k")
    late = threading.Timer(SECONDS, lambda: (tmp_path / "k").write_bytes(b"a key that nobody wrote"))
    late.daemon = True
    late.start()
    with pytest.raises(InputError, match="not a regular file"):
        read_key(tmp_path / "k")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_is_not_read_without_end(device: str, tmp_path: Path) -> None:
    refused(limited("corpus", "describe", device))
    refused(limited("redact", device, "-o", tmp_path / "out"))
    refused(limited("redact", "-", stdin=Path(device)))


def test_words_of_a_program_that_are_pipes_or_devices_are_not_read(tmp_path: Path) -> None:
    from workup.systems.any.programs import Program

    os.mkfifo(tmp_path / "pipe")
    program = Program(name="p", base=tmp_path, run=["cat", "pipe", "/dev/zero"], timeout=1.0)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        asked = pool.apply_async(getattr, (program, "fingerprint"))
        assert len(asked.get(timeout=SECONDS)) == 64


# ---- files of a terabyte that take no room ---------------------------------------------------------------------------


@pytest.mark.parametrize("start", [b"", b"outcome,risk\n1,0.5\n"])
@pytest.mark.parametrize("name", ["sp.csv", "sp.tsv"])
def test_a_sparse_table_is_refused_at_once(name: str, start: bytes, tmp_path: Path) -> None:
    message = refused(
        limited("score", "risk", sparse(tmp_path / name, start), "--outcome", "outcome", "--risk", "risk")
    )
    assert f"line {3 if start else 1}" in message and "NUL" in message


def test_a_line_of_a_table_that_does_not_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_bytes(b"outcome,risk\n1," + b"7" * (40 * 2**20))
    message = refused(limited("score", "risk", tmp_path / "l.csv", "--outcome", "outcome", "--risk", "risk"))
    assert "line 2" in message


@pytest.mark.parametrize("name", ["sp.txt", "sp.jsonl", "sp"])
def test_a_sparse_text_is_refused_at_once(name: str, tmp_path: Path) -> None:
    refused(limited("redact", sparse(tmp_path / name), "-o", tmp_path / "out"))
    with pytest.raises(InputError, match="larger than"):
        read_redacted(tmp_path / name)


@pytest.mark.parametrize("name", ["sp.jsonl", "sp.json", "sp.conll", "sp.spacy", "sp.xml"])
def test_a_sparse_corpus_is_refused_at_once(name: str, tmp_path: Path) -> None:
    refused(limited("corpus", "describe", sparse(tmp_path / name)))


def test_sparse_texts_of_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    sparse(tmp_path / "notes" / "a.txt")
    for words in (
        ("redact", tmp_path / "notes", "-o", tmp_path / "o"),
        ("detect", tmp_path / "notes" / "a.txt", "-o", tmp_path / "o"),
    ):
        refused(limited(*words))


def test_sparse_sources_of_a_corpus_are_refused(tmp_path: Path) -> None:
    for name in ("sp.csv", "sp.txt", "sp.jsonl"):
        words = ("--source", sparse(tmp_path / name), "--seed", "1", "-o", tmp_path / "o")
        refused(limited("corpus", "inject", *words))


# ---- too many of a thing ---------------------------------------------------------------------------------------------


def _wide(folder: Path) -> Path:
    row = ",".join
    names, cells = row(f"c{place}" for place in range(1_000_000)), row("1" for _ in range(1_000_000))
    (folder / "w.csv").write_text(f"outcome,risk,{names}\n1,0.5,{cells}\n0,0.5,{cells}\n", encoding="utf-8")
    return folder / "w.csv"


def test_a_table_of_a_million_columns_is_refused_at_its_header(tmp_path: Path) -> None:
    message = refused(limited("score", "risk", _wide(tmp_path), "--outcome", "outcome", "--risk", "risk"))
    assert "at most 20,000 columns" in message and "1,000,002" in message


MANY: dict[str, Callable[[int], bytes]] = {
    "spans": lambda count: b'{"id":"a","text":"x","spans":[' + b"{}," * count + b"{}]}\n",
    "lists": lambda count: b'{"id":"a","text":"x","spans":[' + b"[]," * count + b"[]]}\n",
}


@pytest.mark.parametrize("shape", MANY)
@pytest.mark.parametrize("command", ["describe", "redact", "predictions"])
def test_millions_of_empty_spans_on_a_line_are_refused_before_they_are_made(
    command: str, shape: str, tmp_path: Path
) -> None:
    corpus = tmp_path / "c.jsonl"
    corpus.write_bytes(MANY[shape](8_000_000))
    good = tmp_path / "g.jsonl"
    good.write_text('{"id":"a","text":"x","spans":[]}\n', encoding="utf-8")
    words = {
        "describe": ("corpus", "describe", corpus),
        "redact": ("redact", corpus, "--golds", "-o", tmp_path / "o.jsonl"),
        "predictions": ("score", "spans", "--gold", good, "--pred", corpus),
    }[command]
    refused(limited(*words))
