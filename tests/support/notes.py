"""Small corpora for the scorer: notes with golds, patients and groups, and detectors that err as they are told."""

from __future__ import annotations

from typing import Any

import numpy as np

VALUES = {
    "name_patient": ("Amara Lind", "Jonas Weiss", "Mei Tanaka"),
    "date": ("12 March 2031", "04/05/2031", "2031-07-19"),
    "phone": ("555-0142", "555-0199 ext 4"),
    "mrn": ("A7734120", "MR-558-219"),
    "city": ("Northfield", "Old Harbour"),
}
_WORDS = ("the", "patient", "was", "seen", "in", "clinic", "today", "with", "pain", "and", "fever", "after", "surgery")


def notes(count: int, *, seed: int = 1, patients: int | None = None, canary: str = "") -> list[dict[str, Any]]:
    """Notes as they stand in a native corpus; with a canary, a token of its own in every gold and beside it."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(count):
        text, spans = "", []
        for _ in range(int(rng.integers(0, 5))):
            label = str(rng.choice(list(VALUES)))
            value = str(rng.choice(VALUES[label])) + (f"{canary}G{i}" if canary else "")
            text += " ".join(rng.choice(_WORDS, size=8)) + (f" {canary}C{i} " if canary else " ")
            spans.append({"start": len(text), "end": len(text) + len(value), "label": label})
            text += value + " "
        text += " ".join(rng.choice(_WORDS, size=8)) + "."
        note: dict[str, Any] = {"id": f"n{i:04d}", "text": text, "spans": spans, "type": f"kind {i % 2}"}
        if patients:
            note |= {
                "patient": f"p{i % patients:03d}",
                "site": f"s{i % 3}",
                "groups": {"origin": "ab"[i % patients % 2]},
            }
        made.append(note)
    return made


def detect(corpus: list[dict[str, Any]], *, seed: int = 2, miss: float = 0.2) -> dict[str, list[dict[str, Any]]]:
    """A detector that misses, cuts borders short, confuses labels and masks what is no identifier."""
    rng = np.random.default_rng(seed)
    found = {}
    for note in corpus:
        spans = []
        for span in note["spans"]:
            draw = rng.random()
            if draw < miss:
                continue
            start, end, label = span["start"], span["end"], span["label"]
            if draw < miss + 0.1:
                end -= 1
            elif draw < miss + 0.2:
                label = str(rng.choice(list(VALUES)))
            spans.append({"start": start, "end": end, "label": label})
        if rng.random() < 0.3:
            spans.append({"start": 0, "end": 3, "label": "date"})
        found[note["id"]] = spans
    return found
