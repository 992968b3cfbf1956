"""Detectors outside this process, in a whole study: scored alike by every way, and no answer is never a good one."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Reply, Service
from workup import Study, validate
from workup.errors import SystemFailure
from workup.report import Report
from workup.systems.wire import transport

pytest.importorskip("httpx", reason="the http extra is not installed")

DETECT = (
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    text = json.loads(line)\n"
    "    at = text['text'].find('Rose')\n"
    "    spans = [{'start': at, 'end': at + 4, 'label': 'PERSON_NAME'}] if at >= 0 else []\n"
    "    print(json.dumps({'id': text['id'], 'spans': spans}))\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight notes with two names each, of which Rose can be found in six."""
    monkeypatch.setenv("GOOGLE_DLP_TOKEN", "token")
    monkeypatch.setattr(transport, "_pause", lambda stopped, seconds: None)
    lines = []
    for number in range(8):
        text = f"😀 {'Rose' if number < 6 else 'Ruby'} saw Dr. Berg"
        spans = [{"start": 2, "end": 6, "label": "name_patient"}, {"start": 15, "end": 19, "label": "name_provider"}]
        lines.append(json.dumps({"id": f"n{number}", "text": text, "spans": spans, "patient": f"p{number}"}))
    (tmp_path / "notes.jsonl").write_text("\n".join(lines))
    (tmp_path / "detect.py").write_text(DETECT)
    return tmp_path


def report(folder: Path, use: str, **settings: Any) -> Report:
    study = {
        "name": "detectors",
        "task": "spans",
        "corpus": {"path": "notes.jsonl"},
        "systems": [{"name": "detector", "use": use, "with": settings}],
        "modes": ["exact"],
        "levels": ["phi"],
        "lenses": {"internal": {}},
        "bootstrap": {"replicates": 200},
    }
    return validate(Study.of(study, base=folder))


def recall(found: Report) -> tuple[float | None, float | None]:
    estimate = found.estimate("recall", mode="exact", level="phi")
    return estimate.numerator, estimate.denominator


def documents(content: Any) -> Reply:
    found = []
    for document in content["documents"]:
        at = document["text"].find("Rose")
        spans = [{"start": at, "end": at + 4, "label": "PERSON_NAME"}] if at >= 0 else []
        found.append({"id": document["id"], "spans": spans})
    return 200, {}, json.dumps({"documents": found}).encode()


def inspected(content: Any) -> Reply:
    places = [match.span() for match in re.finditer("Rose", content["item"]["value"])]
    found = [
        {"infoType": {"name": "PERSON_NAME"}, "location": {"codepointRange": {"start": str(start), "end": str(end)}}}
        for start, end in places
    ]
    return 200, {}, json.dumps({"result": {"findings": found}}).encode()


def test_a_program_a_service_and_google_s_form_are_scored_alike(folder: Path) -> None:
    assert recall(report(folder, "command", run=[sys.executable, "detect.py"], mapping="google_dlp", batch=3)) == (
        6,
        16,
    )
    http, google = Service(documents), Service(inspected)
    try:
        http.replies = [(503, {}, b"")] * 2
        assert recall(report(folder, "http", url=http.url, mapping="google_dlp", batch=3, concurrency=2)) == (6, 16)
        use = "workup.systems.spans.google_dlp:GoogleDlp"
        assert recall(report(folder, use, project="ward-7", endpoint=google.origin, rate=None)) == (6, 16)
    finally:
        http.close()
        google.close()


def test_a_refused_text_counts_as_missed(folder: Path) -> None:
    (folder / "detect.py").write_text(
        DETECT.replace("print(json", "spans = None if text['id'] == '1' else spans\n    print(json")
    )
    found = report(folder, "command", run=[sys.executable, "detect.py"], mapping="google_dlp", batch=4)
    assert recall(found) == (4, 16)  # the first of each batch of four is refused


def test_a_detector_that_breaks_off_gives_no_report(folder: Path) -> None:
    (folder / "detect.py").write_text(DETECT.replace("for line in sys.stdin:", "for line in list(sys.stdin)[:-1]:"))
    with pytest.raises(SystemFailure, match="after 7 of 8 answers, so line 8 is missing"):
        report(folder, "command", run=[sys.executable, "detect.py"])
    closed = Service(documents)
    closed.close()
    for use, settings in (
        ("http", {"url": closed.url}),
        ("workup.systems.spans.google_dlp:GoogleDlp", {"project": "ward-7", "endpoint": closed.origin}),
    ):
        with pytest.raises(SystemFailure, match="connection failed"):
            report(folder, use, retries=1, **settings)
