"""Thousands of equal or nested spans in one document, through `workup score spans`: refused in one message, or scored
within bounded time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import shell

MEMORY = 2 * 2**30
ID = f"{shell.SECRET} Lee"
TEXT = "Ann Lee was here. " * 2000


def equal(count: int) -> list[tuple[int, int]]:
    return [(0, 7)] * count


def nested(count: int) -> list[tuple[int, int]]:
    return [(place, len(TEXT) - place) for place in range(count)]


def one(count: int) -> list[tuple[int, int]]:
    return [(0, 7)]


def apart(count: int) -> list[tuple[int, int]]:
    return [(18 * place, 18 * place + 7) for place in range(min(count, 2000))]


def limited(*words: str | Path) -> shell.Done:
    """`workup` with little memory and a minute of its own time."""

    def set_limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (60, 61))

    command = [*shell.COMMAND, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, preexec_fn=set_limits, check=False)
    return shell.Done(done.returncode, done.stdout, done.stderr)


def scored(folder: Path, golds: list[tuple[int, int]], found: list[tuple[int, int]], *words: str) -> shell.Done:
    def spans(places: list[tuple[int, int]]) -> list[dict[str, object]]:
        return [{"start": start, "end": end, "label": "name_patient"} for start, end in places]

    gold, pred = folder / "gold.jsonl", folder / "pred.jsonl"
    gold.write_text(json.dumps({"id": ID, "text": TEXT, "spans": spans(golds)}) + "\n", encoding="utf-8")
    pred.write_text(json.dumps({"id": ID, "spans": spans(found)}) + "\n", encoding="utf-8")
    return limited("score", "spans", "--gold", gold, "--pred", pred, "--replicates", "200", *words)


Shape = Callable[[int], list[tuple[int, int]]]


@pytest.mark.parametrize(
    ("golds", "found", "count", "setting"),
    [
        (equal, equal, 20_000, "corpus.most_overlaps"),
        (equal, equal, 1_000, "corpus.most_overlaps"),
        (nested, nested, 5_000, "corpus.most_depth"),
        (nested, one, 5_000, "corpus.most_depth"),
        (one, nested, 5_000, "corpus.most_depth"),
        (apart, nested, 5_000, "corpus.most_depth"),
    ],
)
def test_a_crowded_document_is_refused(tmp_path: Path, golds: Shape, found: Shape, count: int, setting: str) -> None:
    done = scored(tmp_path, golds(count), found(count))
    assert done.code == 2, (done.code, done.err[-1000:])
    assert f"a document of {len(TEXT):,} characters" in done.err and setting in done.err
    assert "Traceback" not in done.err and "Ann" not in done.err


@pytest.mark.parametrize(("shape", "count"), [(equal, 1_000), (nested, 5_000)])
def test_a_crowded_document_is_named_only_where_ids_are_shown(tmp_path: Path, shape: Shape, count: int) -> None:
    done = scored(tmp_path, shape(count), shape(count))
    assert done.code == 2 and "--show-ids names the document" in done.err and shell.SECRET not in done.out + done.err
    shown = scored(tmp_path, shape(count), shape(count), "--show-ids")
    assert shown.code == 2 and f"document '{shell.SECRET} Lee'" in shown.err


@pytest.mark.parametrize(
    ("golds", "found", "count"), [(equal, one, 20_000), (one, equal, 20_000), (apart, apart, 2_000), (equal, equal, 40)]
)
def test_what_only_looks_crowded_is_scored(tmp_path: Path, golds: Shape, found: Shape, count: int) -> None:
    done = scored(tmp_path, golds(count), found(count))
    assert done.code == 0, (done.code, done.err[-1000:])


def test_the_limits_can_be_moved(tmp_path: Path) -> None:
    assert "corpus.most_overlaps" in scored(tmp_path, equal(10), equal(10), "--most-overlaps", "99").err
    assert scored(tmp_path, equal(10), equal(10), "--most-overlaps", "100").code == 0
    assert "corpus.most_depth" in scored(tmp_path, nested(10), one(1), "--most-depth", "9").err
    assert scored(tmp_path, nested(10), one(1), "--most-depth", "10").code == 0


@pytest.mark.parametrize(("shape", "count"), [(equal, 20_000), (nested, 5_000)])
def test_no_other_command_is_overwhelmed(tmp_path: Path, shape: Shape, count: int) -> None:
    """Choosing a threshold, and drawing regions for review."""
    assert scored(tmp_path, shape(count), shape(count)).code == 2
    record = json.loads((tmp_path / "pred.jsonl").read_text(encoding="utf-8"))
    for place, span in enumerate(record["spans"]):
        span["score"] = place % 100 / 100
    pred = tmp_path / "with_scores.jsonl"
    pred.write_text(json.dumps(record) + "\n", encoding="utf-8")
    both = ("--gold", tmp_path / "gold.jsonl", "--pred", pred)
    queue = (
        "review",
        "queue",
        "--seed",
        "1",
        "--gold",
        tmp_path / "gold.jsonl",
        "--pred",
        f"one={pred}",
        "-o",
        tmp_path / "queue",
    )
    for words in (("threshold", *both, "--target", "0.9"), queue):
        done = limited(*words)
        assert done.code == 2, (words, done.code, done.err[-1000:])
        assert "a document of" in done.err and "corpus.most_" in done.err and shell.SECRET not in done.err
