"""Real public corpora through the scorer under their mappings: MEDDOCAN, the Presidio research set and TAB."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.places import DATA, ROOT
from workup import Report, Study, score_spans, validate
from workup.corpora.formats.spans.any_format import read_documents
from workup.corpora.formats.spans.predictions import write_predictions
from workup.documents.document import Document, Span

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not DATA.is_dir(), reason="the public data sets are not beside this checkout (../shared/data)"),
]

_CORPORA = {
    "meddocan": ("meddocan/meddocan_brat.zip", "meddocan", 1_000, 22_795),
    "presidio_synth": ("presidio_synth/synth_dataset_v2.json", "presidio_synth", None, None),
    "tab": ("tab/tab.jsonl", "tab", 72, 2_258),
}


def _row(report: Report, **key: Any) -> dict[str, Any]:
    rows = report.results["internal"].tables["counts"]
    return next(row for row in rows if row["label"] is None and all(row[k] == v for k, v in key.items()))


def _spans(document: Document) -> list[Span]:
    """Golds to be masked: those that annotators marked as no identifier must stay."""
    return [span for span in document.spans if span.identifier != "no_mask"]


@pytest.mark.parametrize("name", _CORPORA)
def test_the_gold_itself_scores_one_and_a_cut_border_does_not(name: str, tmp_path: Path) -> None:
    file, labels, documents, spans = _CORPORA[name]
    corpus = list(read_documents(DATA / file))
    golds = sum(len(_spans(document)) for document in corpus)
    assert documents in (None, len(corpus)) and spans in (None, golds)
    echo, cut = tmp_path / "echo.jsonl", tmp_path / "cut.jsonl"
    write_predictions([(document.id, tuple(_spans(document))) for document in corpus], echo)
    shorter = [
        (document.id, tuple(replace(s, end=s.end - 1) for s in _spans(document) if s.end - s.start > 1))
        for document in corpus
    ]
    write_predictions(shorter, cut)
    first = score_spans(DATA / file, echo, labels=labels, replicates=200)
    assert first.corpus["n_cases"] == len(corpus)
    assert not first.results["internal"].tables["labels"]["unmapped_golds"]
    row = _row(first, mode="strict", level="branch")
    assert row["golds"] == row["hits"] == golds and row["false_alarms"] == 0
    assert first.estimate("leak_rate_char").value == 0
    second = score_spans(DATA / file, cut, labels=labels, replicates=200)
    assert _row(second, mode="strict", level="phi")["hits"] < 0.2 * row["golds"]
    assert _row(second, mode="strict", level="phi")["golds"] == row["golds"]
    missed = second.estimate("leak_rate_char")
    assert missed.value is not None and 0 < missed.value < 0.3


def test_presidio_on_judgments_agrees_with_an_independent_scorer(tmp_path: Path) -> None:
    """Characters, whole masks and F1 as a brute-force scorer measured them; every rule on the same golds."""
    pytest.importorskip("presidio_analyzer", reason="Presidio is not installed (the extra 'presidio')")
    (tmp_path / "tab.jsonl").symlink_to(DATA / "tab" / "tab.jsonl")
    plan = yaml.safe_load((ROOT / "examples" / "echr" / "study.yaml").read_text())
    plan |= {"systems": plan["systems"][:1], "report": {"formats": []}}
    report = validate(Study.of(plan, base=tmp_path))
    assert report.estimate("leak_rate_char").value == pytest.approx(0.360, abs=0.001)
    assert report.estimate("over_redaction").value == pytest.approx(0.011, abs=0.001)
    assert report.estimate("recall", mode="full_mask", level="phi").value == pytest.approx(0.648, abs=0.001)
    assert report.estimate("f1", mode="iou:0.5", level="phi").value == pytest.approx(0.76, abs=0.005)
    spans = [
        row for row in report.results["internal"].tables["counts"] if row["label"] is None and row["mode"] != "char"
    ]
    assert {row["golds"] for row in spans} == {2258}
    assert len({row["predictions"] for row in spans}) == 1
    assert {row.get("equivalent") for row in spans} == {None, "ORG=LOC"}
    direct, quasi = (report.estimate("entity_recall", identifier=kind) for kind in ("direct", "quasi"))
    assert direct.value is not None and quasi.value is not None and direct.value < 0.2 < 0.6 < quasi.value
    assert report.estimate("leak_rate_document").value == 1.0
    assert [verdict.outcome for verdict in report.verdicts] == ["fail", "pass"]


def test_presidio_on_its_own_research_set_agrees_with_an_independent_scorer() -> None:
    pytest.importorskip("presidio_analyzer", reason="Presidio is not installed (the extra 'presidio')")
    content = {
        "name": "presidio research set",
        "task": "spans",
        "corpus": {"path": "synth_dataset_v2.json", "format": "presidio"},
        "labels": "presidio_synth",
        "systems": [{"use": "presidio"}],
    }
    report = validate(Study.of(content, base=DATA / "presidio_synth"))
    assert report.estimate("leak_rate_char").value == pytest.approx(0.478, abs=0.001)
    assert report.estimate("over_redaction").value == pytest.approx(0.037, abs=0.001)
    assert report.estimate("recall", mode="full_mask", level="phi").value == pytest.approx(0.515, abs=0.001)
