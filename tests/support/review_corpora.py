"""Corpora for the review loop: known identifiers, golds that err, two systems that err, and reviewers who do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.json_lines import write_lines

Truth = set[tuple[str, int, int]]
LABELS = ("name_patient", "date", "phone")


def planted(
    folder: Path,
    *,
    documents: int = 120,
    per_patient: int = 2,
    seed: int = 5,
    wrong: float = 0.06,
    unmarked: float = 0.08,
    canary: str = "",
) -> tuple[Path, list[Path], Truth]:
    """A corpus, the predictions of two systems, and where identifiers truly are.

    Slots of a note hold words of their own; each is an identifier or not, has a gold or not, and is marked by each
    system or not. What deceived the annotators deceives a system half of the time.
    """
    rng = np.random.default_rng(seed)
    truth: Truth = set()
    notes: list[dict[str, Any]] = []
    found: list[list[dict[str, Any]]] = [[], []]
    for number in range(documents):
        id, text, spans = f"d{number:04d}", "", []
        marks: list[list[dict[str, Any]]] = [[], []]
        for slot in range(int(rng.integers(4, 14))):
            text += f"seen {canary}c{number} with "
            word = f"W{canary}{number}x{slot}"
            start, end = len(text), len(text) + len(word)
            text += word + " and "
            identifier = bool(rng.random() < 0.55)
            gold = bool(rng.random() < (1 - unmarked if identifier else wrong))
            label = str(rng.choice(LABELS))
            if identifier:
                truth.add((id, start, end))
            if gold:
                spans.append({"start": start, "end": end, "label": label})
            deceived = gold and not identifier
            for system, (yes, no) in enumerate(((0.9, 0.06), (0.8, 0.08))):
                if rng.random() < (yes if identifier else 0.5 if deceived else no):
                    marks[system].append({"start": start, "end": end, "label": label})
        notes.append({"id": id, "text": text, "spans": spans, "patient": f"p{number // per_patient:04d}"})
        for system in range(2):
            found[system].append({"id": id, "spans": marks[system]})
    paths = [
        write_lines(folder / f"{name}.jsonl", lines)
        for name, lines in zip(("gold", "alpha", "beta"), (notes, *found), strict=True)
    ]
    return paths[0], paths[1:], truth


def rates(gold: Path, predictions: list[Path], truth: Truth) -> dict[tuple[str, str], float]:
    """Recall and precision of each system by the truth, over identifiers that a gold or a system marks."""
    marked = [_places(path) for path in (gold, *predictions)]
    seen = truth & set().union(*marked)
    found = {}
    for path, mine in zip(predictions, marked[1:], strict=True):
        found[path.stem, "recall"] = len(mine & seen) / len(seen)
        found[path.stem, "precision"] = len(mine & truth) / len(mine)
    return found


def _places(path: Path) -> set[tuple[str, int, int]]:
    records = map(json.loads, path.read_text().splitlines())
    return {(record["id"], span["start"], span["end"]) for record in records for span in record["spans"]}


def answer_label_studio(
    tasks: Path,
    out: Path,
    truth: Truth,
    *,
    seed: int,
    sensitivity: float = 1.0,
    specificity: float = 1.0,
    silent: float = 0.0,
    user: int | None = None,
    new_ids: bool = False,
) -> Path:
    """What a reviewer would export: every region under a verdict, with the reviewer's errors; some left open."""
    rng = np.random.default_rng(seed)
    exported = []
    for number, task in enumerate(json.loads(tasks.read_text()), start=1):
        regions = []
        for region in task["predictions"][0]["result"]:
            value = dict(region["value"])
            right = (task["data"]["id"], value["start"], value["end"]) in truth
            yes = rng.random() < (sensitivity if right else 1 - specificity)
            if rng.random() >= silent:
                value["labels"] = ["IDENTIFIER" if yes else "NOT_IDENTIFIER"]
            regions.append({**region, "value": value, **({"id": f"x{number}{len(regions)}"} if new_ids else {})})
        annotation = {"id": number, "result": regions, "was_cancelled": False, "completed_by": user}
        exported.append({"id": number, "data": task["data"], "annotations": [annotation], "predictions": []})
    out.write_text(json.dumps(exported))
    return out


def answer_brat(folder: Path, truth: Truth, *, seed: int, sensitivity: float = 1.0, specificity: float = 1.0) -> None:
    """Edit the .ann files in place, as a reviewer does."""
    rng = np.random.default_rng(seed)
    for file in sorted(folder.glob("*.ann")):
        lines = []
        for line in file.read_text().splitlines():
            number, middle, surface = line.split("\t")
            label, start, end = middle.split(" ")
            assert label == "REVIEW"
            right = (file.stem, int(start), int(end)) in truth
            yes = rng.random() < (sensitivity if right else 1 - specificity)
            lines.append(f"{number}\t{'IDENTIFIER' if yes else 'NOT_IDENTIFIER'} {start} {end}\t{surface}\n")
        file.write_text("".join(lines))
