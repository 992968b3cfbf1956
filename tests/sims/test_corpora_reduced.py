"""Corpora with known truth at reduced size: every gold true, every format faithful, and a check that can fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sims import corpora, corpora_documents
from sims.corpora_documents import MAKERS, Batch, Found
from sims.corpora_truth import date_format, misplaced, round_trip, valid
from sims.repetitions import Size
from workup.corpora.formats.spans.any_format import find_format
from workup.corpora.noise import KINDS
from workup.documents.document import Document, Span
from workup.errors import show_ids


@pytest.fixture(scope="module")
def results() -> list[dict[str, Any]]:
    """Hundred documents that are generated, 110 injected, two for each kind of noise at one rate, and 44 odd ones."""

    def chosen(batch: Batch) -> bool:
        return batch.number == 0 if batch.stage == "generated" else batch.noise is None or batch.noise[2] == 0.1

    show_ids()  # a refusal is counted by the document that it names
    try:
        return corpora.run(size=Size(repetitions=440, replicates=0), only=chosen)
    finally:
        show_ids(False)


def of(results: list[dict[str, Any]], start: str) -> list[dict[str, Any]]:
    return [one for one in results if one["metric"].startswith(start)]


def test_every_gold_is_true_and_every_number_valid(results: list[dict[str, Any]]) -> None:
    golds = of(results, "golds")
    assert [one["cell"] for one in golds] == ["generated", "injected", "noised"]
    assert [one["faults"] for one in golds] == [{}, {}, {}]
    assert min(one["spans"] for one in golds) > 1000
    assert all(one["ok"] for one in of(results, "numbers"))
    assert len(of(results, "numbers")[0]["checked"]) >= 8


def test_every_format_keeps_what_it_takes_and_names_what_it_does_not(results: list[dict[str, Any]]) -> None:
    trips = of(results, "round trips")
    assert len(trips) == 8 * 4 and all(one["ok"] and not one["lost"] for one in trips)
    assert not any(one["refused"] for one in trips if one["cell"] == "generated")
    odd = {one["metric"].rpartition(" ")[2]: one["refused"] for one in trips if one["cell"] == "odd"}
    assert any("overlap" in reason for reason in odd["conll"]) and any("XML" in reason for reason in odd["i2b2"])
    assert odd["spans-jsonl"] == {}


def test_every_kind_target_and_rate_of_noise_is_measured(results: list[dict[str, Any]]) -> None:
    rates = of(results, "character")
    assert len(rates) == len(KINDS) * 3
    # Two documents each, so that rounding is felt; at full size all are judged.
    assert sum(one["ok"] for one in rates) > 0.8 * len(rates)
    assert all(one["rate"] <= one["asked"] + 2 / one["characters"] for one in rates)
    assert "lower" in {one["cell"].split()[0] for one in rates if one["at_ceiling"]}


def test_a_summary_says_how_much_was_looked_at(results: list[dict[str, Any]]) -> None:
    golds, formats, noise = corpora.summarise(results)
    assert golds["documents"] == 100 + 110 + 60 and golds["spans"] > 5_000
    assert formats["lost"] == 0 < formats["refused"]
    assert noise["settings"] == 30


# ---- the check itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["generated", "injected", "noised"])
@pytest.mark.parametrize("off", [-1, 1])
def test_offsets_that_are_one_off_are_noticed(stage: str, off: int, monkeypatch: pytest.MonkeyPatch) -> None:
    look = Found.look_at

    def shifted(self: Found, document: Document, *, unchanged: bool) -> None:
        spans = tuple(replace(span, start=max(0, span.start + off), end=span.end + off) for span in document.spans)
        look(self, replace(document, spans=spans), unchanged=unchanged)

    monkeypatch.setattr(Found, "look_at", shifted)
    found = Found()
    MAKERS[stage](Batch(stage, 1, 5, ("ocr", "context", 0.02) if stage == "noised" else None), found)
    assert sum(found.faults.values()) > 0.9 * found.spans


def test_noise_that_loses_or_swaps_a_gold_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    add = corpora_documents.add_noise

    def losing(documents: Iterable[Document], **settings: Any) -> list[Document]:
        return [replace(one, spans=one.spans[:-1]) for one in add(documents, **settings)]

    monkeypatch.setattr(corpora_documents, "add_noise", losing)
    found = Found()
    with pytest.raises(ValueError, match="zip"):  # borders no longer pair up
        MAKERS["noised"](Batch("noised", 1, 5, ("ocr", "phi", 0.02)), found)
    assert found.faults["a gold that is gone or out of order"] >= 4


def test_golds_beside_their_words_are_named() -> None:
    text = "Seen by Rose Miller, 54yo, on 3/4/2021."
    right = (Span(8, 19, "name_provider"), Span(21, 23, "age_under_90"), Span(30, 38, "date"))
    assert list(misplaced(Document("1", text, right))) == []
    wrong = (Span(7, 19, "name_provider"), Span(21, 24, "age_under_90"), Span(30, 37, "date"), Span(30, 60, "date"))
    assert list(misplaced(Document("1", text, wrong))) == [
        "a blank at an end",
        "a cut word",
        "a cut word",
        "outside its text",
    ]


@pytest.mark.parametrize(
    ("label", "good", "bad"),
    [
        ("ssn", "776-12-3456", "123-45-6789"),
        ("credit_card", "4242-4242-4242-4242", "4242-4242-4242-4241"),
        ("license_provider", "1234567893", "1234567890"),
        ("vin", "1M8GDM9AXKP042788", "1M8GDM9A1KP042788"),
        ("phone", "(216) 555-0134", "(216) 555-9134"),
        ("email", "a.b@mail.example.org", "a.b@gmail.com"),
        ("url", "https://portal.example.com/x", "https://portal.org/x"),
        ("ip", "192.0.2.7", "8.8.8.8"),
        ("mac", "00-00-5e-00-53-af", "00-1B-44-11-3A-B7"),
        ("iban", "GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 33"),
    ],
)
def test_numbers_that_are_not_valid_are_noticed(label: str, good: str, bad: str) -> None:
    assert (valid(label, good), valid(label, bad)) == (True, False)


def test_formats_of_dates_are_told_apart_and_zeros_are_not() -> None:
    dates = [
        "03/04/2021",
        "3/4/2021",
        "3/4/21",
        "March 4th, 2021",
        "Mar 4",
        "04MAR2021",
        "Tuesday, March 4",
        "2021-3-4",
    ]
    assert len({date_format(one) for one in dates}) == len(dates) - 1
    assert date_format("May 4, 2021") is None


class Forgetful:
    """A format that loses the last gold."""

    name = "spans-jsonl"

    def write(self, documents: list[Document], path: Path) -> None:
        find_format("jsonl").write([replace(one, spans=one.spans[:-1]) for one in documents], path)

    def read(self, path: Path) -> Any:
        return find_format("jsonl").read(path)


def test_a_format_that_loses_a_gold_is_noticed(tmp_path: Path) -> None:
    note = Document("1", "by Rose", (Span(3, 7, "name_provider"),))
    assert round_trip(Forgetful(), [note], tmp_path) == Counter(["lost: other text or offsets"])  # type: ignore[arg-type]
    assert round_trip(find_format("jsonl"), [note], tmp_path) == Counter(["kept"])
    assert list(tmp_path.iterdir()) == []
