"""The measured error: on written sentences, by category; and how dense hits are in clinical and in other text."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.marked_sentences import SENTENCES
from tests.support.places import DATA
from workup.lexicon import CATEGORIES, Extractor, measured_error

EXTRACTOR = Extractor.load()


def counted() -> dict[str, list[int]]:
    """Right, wrong and missed by category; a hit is right where start, end and category are those of a mark."""
    counts = {category: [0, 0, 0] for category in (*CATEGORIES, "all")}
    for text, gold in SENTENCES:
        marks = set(gold)
        hits = {(term.start, term.end, term.category) for term in EXTRACTOR.extract(text)}
        for place, group in enumerate((hits & marks, hits - marks, marks - hits)):
            for _, _, category in group:
                counts[category][place] += 1
                counts["all"][place] += 1
    return counts


def test_the_shipped_error_is_the_measured_one() -> None:
    assert {row.category: [row.right, row.wrong, row.missed] for row in measured_error()} == counted()


def test_intervals_are_wilson_s_and_hold_the_share() -> None:
    rows = {row.category: row for row in measured_error()}
    anatomy = rows["anatomy"]
    assert anatomy.precision == pytest.approx(22 / 25)
    assert anatomy.precision_interval == pytest.approx((0.7004, 0.9583), abs=5e-5)
    assert rows["lab"].recall == 1.0
    assert rows["lab"].recall_interval == pytest.approx((0.8569, 1.0), abs=5e-5)


def test_every_category_is_measured_on_some_sentences() -> None:
    assert len(SENTENCES) == 60
    assert sum(not gold for _, gold in SENTENCES) >= 4, "sentences with no term show false hits"
    for category in CATEGORIES:
        assert sum(mark.category == category for _, gold in SENTENCES for mark in gold) >= 10


def density(texts: Iterable[str]) -> dict[str, float]:
    """Hits per 1,000 characters, by category and in all."""
    characters, counts = 0, dict.fromkeys((*CATEGORIES, "all"), 0)
    for text in texts:
        characters += len(text)
        for term in EXTRACTOR.extract(text):
            counts[term.category] += 1
            counts["all"] += 1
    return {name: 1000 * count / characters for name, count in counts.items()}


def rows(path: Path) -> list[dict[str, str]]:
    csv.field_size_limit(10**9)
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def posts(name: str) -> list[str]:
    """Social media posts of WNUT-17, the words of each joined by blanks."""
    lines = (DATA / "wnut17" / name).read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.split("\t")[0] for line in lines)
    return [block.replace("\n", " ") for block in text.split("\n\n") if block.strip()]


@pytest.mark.real_data
def test_density_in_transcriptions() -> None:
    texts = {row["transcription"] for row in rows(DATA / "mtsamples" / "mtsamples.csv.gz") if row["transcription"]}
    assert len(texts) == 2357
    expected = {
        "disease": 5.28,
        "drug": 1.41,
        "procedure": 2.16,
        "anatomy": 5.93,
        "lab": 0.67,
        "vital": 0.55,
        "all": 15.99,
    }
    assert density(texts) == pytest.approx(expected, abs=0.01)


@pytest.mark.real_data
def test_density_in_visit_notes_and_dialogues() -> None:
    visits = [row for name in ("train.csv", "valid.csv") for row in rows(DATA / "aci_bench" / name)]
    assert density(row["note"] for row in visits)["all"] == pytest.approx(18.30, abs=0.01)
    assert density(row["dialogue"] for row in visits)["all"] == pytest.approx(9.38, abs=0.01)


@pytest.mark.real_data
def test_hits_in_text_that_is_not_clinical() -> None:
    """Neither set was looked at when words were left out. Judgments speak of injuries, posts of heads and hearts."""
    found = density([*posts("emerging.dev.conll"), *posts("emerging.test.annotated")])
    assert found["all"] == pytest.approx(0.97, abs=0.01)
    judgments = [
        json.loads(line)["text"] for line in (DATA / "tab" / "tab.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert density(judgments)["all"] == pytest.approx(0.235, abs=0.01)
