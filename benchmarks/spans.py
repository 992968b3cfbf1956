"""How long scoring a span detector takes, from files to counts, against nervaluate and presidio-evaluator in one run.

Both sides read the same two JSONL files (100,000 notes of 2,000 characters with about 2.5 million spans) and count four
SemEval modes for 20 types; then the same from documents in memory, and from files that also hold the surface of every
gold and a score of every prediction, which the program checks. What it does beside that is printed with its own cost.
Each side runs in a process of its own with one thread; times are CPU seconds, the least of several repeats with their
median beside it (peers: once, since they take minutes). Last, memory at a million notes against a tenth of them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.spans_kernel import NOT_INSTALLED, SEED, Columns, corpus, peak_mb, set_peak_back

DOCUMENTS = 100_000
SUBSET = 300  # documents that presidio-evaluator is given
PATIENTS, NOTES, FEWER_NOTES = 20_000, 50, 5
# Twenty leaves, the most frequent first.
TYPES: tuple[str, ...] = ("date", "name_patient", "name_provider", "facility", "phone", "mrn", "city", "age_under_90")
TYPES += ("street_address", "zip", "state", "email", "date_birth", "name_relative", "account", "ssn", "fax", "url")
TYPES += ("health_plan_id", "id_other")
MODES = {
    "strict": ("strict", "leaf"),
    "exact": ("exact", "phi"),
    "partial": ("partial", "phi"),
    "ent_type": ("overlap", "leaf"),
}
TARGETS = {"files": 30.0, "memory": 80.0, "presidio": 500.0, "peak_mb": 1500.0, "growth_mb": 100.0}
REPEATS = 5
_WORDS = """the patient was seen in clinic today and reports that her pain of left knee has been better since last visit
with no fever or chills she is to return for follow up if it does not improve on current dose by next week"""
_LENGTH = 2_080


# ---- the corpus ------------------------------------------------------------------------------------------------------


def texts(count: int, length: int) -> list[str]:
    """Notes of plain words."""
    rng = np.random.default_rng(SEED)
    words = _WORDS.split()
    drawn = rng.integers(0, len(words), (count, length // 2))
    return [" ".join(words[word] for word in row)[:length] for row in drawn.tolist()]


def with_values(text: str, golds: list[tuple[int, int, str]], values: str, turn: int) -> str:
    """A note with something that looks like an identifier where each gold stands."""
    pieces, place = [], 0
    for start, end, _ in golds:
        at = (37 * turn + 11 * start) % (len(values) - 64)
        pieces += [text[place:start], values[at : at + end - start]]
        place = end
    return "".join([*pieces, text[place:]])


def by_document(columns: Columns, documents: int) -> Iterator[list[tuple[int, int, str]]]:
    """Spans of each document in turn."""
    document, start, end, kind = columns
    first = np.searchsorted(document, np.arange(documents + 1))
    starts, ends, kinds = start.tolist(), end.tolist(), [TYPES[one] for one in kind.tolist()]
    for low, high in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        yield list(zip(starts[low:high], ends[low:high], kinds[low:high], strict=True))


def write(folder: Path, documents: int) -> None:
    """The two files in both forms: places and labels alone, and with surfaces and scores."""
    (folder / "full").mkdir(exist_ok=True)
    notes = texts(997, _LENGTH)
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
    values = "".join(letters[i] for i in np.random.default_rng(SEED).integers(0, len(letters), 100_003).tolist())
    golds, found = corpus(documents)

    def put(name: str, records: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> None:
        with (
            open(folder / name, "w", encoding="utf-8") as plain,
            open(folder / "full" / name, "w", encoding="utf-8") as full,
        ):
            for short, long in records:
                plain.write(json.dumps(short) + "\n")
                full.write(json.dumps(long) + "\n")

    def of_golds() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        for i, spans in enumerate(by_document(golds, documents)):
            text = with_values(notes[i % len(notes)], spans, values, i)
            record: dict[str, Any] = {
                "id": f"note-{i}",
                "text": text,
                "spans": _marked(spans),
                "patient": f"patient-{i // 5}",
            }
            yield (
                record,
                {**record, "spans": [{**one, "text": text[one["start"] : one["end"]]} for one in record["spans"]]},
            )

    def of_found() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        for i, spans in enumerate(by_document(found, documents)):
            marked = _marked(spans)
            yield (
                {"id": f"note-{i}", "spans": marked},
                {"id": f"note-{i}", "spans": [{**s, "score": 0.85} for s in marked]},
            )

    put("golds.jsonl", of_golds())
    put("found.jsonl", of_found())


def _marked(spans: list[tuple[int, int, str]]) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "label": label} for start, end, label in spans]


def write_short(folder: Path, notes: int) -> None:
    """Short notes of many patients, each patient's notes spread over the whole file."""
    pool = texts(997, 300)
    rng = np.random.default_rng(SEED)
    with (
        open(folder / "golds.jsonl", "w", encoding="utf-8") as golds,
        open(folder / "found.jsonl", "w", encoding="utf-8") as found,
    ):
        for i in range(notes * PATIENTS):
            starts = (10 * rng.permutation(29)[:4]).tolist()
            labels = rng.integers(0, 8, 4).tolist()
            spans = [{"start": s, "end": s + 8, "label": TYPES[k]} for s, k in zip(starts, labels, strict=True)]
            record = {"id": f"note-{i}", "text": pool[i % 997], "spans": spans, "patient": f"patient-{i % PATIENTS}"}
            golds.write(json.dumps(record) + "\n")
            found.write(json.dumps({"id": f"note-{i}", "spans": spans[: 3 + i % 2]}) + "\n")


# ---- our side --------------------------------------------------------------------------------------------------------


def count_four(batches: Iterable[Any], detections: Any) -> dict[str, int]:
    """The four modes over all batches: golds and predictions mapped, matched and counted by type."""
    from workup.tasks.spans.counting.counting_rules import Yardstick
    from workup.tasks.spans.counting.counts import count
    from workup.tasks.spans.counting.matchup import Setting
    from workup.tasks.spans.counting.modes import parse_mode

    stick = Yardstick.of()
    policy = stick.policies[0].name
    settings = [Setting(parse_mode(mode), level, policy) for mode, level in MODES.values()]
    hits = dict.fromkeys(MODES, 0)
    for batch in batches:
        found = detections.of(batch.ids)
        golds, predictions = stick.golds(batch, stick.policies), stick.found(found)
        counts = count(stick.matchup(golds, predictions, texts=batch.texts, answered=found.answered), settings)
        for name, rows in zip(MODES, counts.rows, strict=True):
            hits[name] += sum(numbers[1] for numbers in rows.values())  # by label: golds, hits, …
    return hits


def reading(folder: Path) -> tuple[Iterator[Any], Any]:
    """Both files, as the program reads them."""
    from workup.corpora.formats.spans.batches import read_batches
    from workup.corpora.formats.spans.predictions import read_predictions
    from workup.documents.detections import StreamedDetections

    return read_batches(folder / "golds.jsonl"), StreamedDetections(read_predictions(folder / "found.jsonl"))


def from_files(folder: Path) -> dict[str, Any]:
    """From the two files to the counts; and the reading alone."""

    def read_only() -> None:
        batches, detections = reading(folder)
        for batch in batches:
            detections.of(batch.ids)

    seconds, hits = timed(lambda: count_four(*reading(folder)), REPEATS)
    peak = peak_mb()
    alone, _ = timed(read_only, REPEATS)
    full, same = timed(lambda: count_four(*reading(folder / "full")), REPEATS)
    assert same == hits
    return {**_times(seconds), "reading": min(alone), "full": min(full), "hits": hits, "peak_mb": peak}


def from_memory(folder: Path) -> dict[str, Any]:
    """From documents and predictions that are objects in memory already."""
    from workup.corpora.formats.spans import native_jsonl
    from workup.corpora.formats.spans.predictions import read_predictions
    from workup.documents.batch import batches_of
    from workup.documents.detections import HeldDetections

    documents = list(native_jsonl.read(folder / "golds.jsonl"))
    found = dict(read_predictions(folder / "found.jsonl"))
    before = set_peak_back()
    seconds, hits = timed(lambda: count_four(batches_of(documents), HeldDetections(found)), REPEATS)
    return {**_times(seconds), "hits": hits, "extra_mb": peak_mb() - before}


def everything(folder: Path) -> dict[str, Any]:
    """The whole program: all modes at all levels, leaks, entities, counts by label; then estimates and the report."""
    from workup import score_spans

    ledger, _ = timed(lambda: gathered(folder), 1)
    after_ledger = peak_mb()
    total, report = timed(lambda: score_spans(folder / "golds.jsonl", folder / "found.jsonl"), 1)
    recall = report.estimate("recall", mode="full_mask", level="phi").value
    return {"ledger": ledger[0], "ledger_mb": after_ledger, "cpu": total[0], "peak_mb": peak_mb(), "recall": recall}


def gathered(folder: Path) -> Any:
    """Everything that is counted, document by document, as scores."""
    from workup.tasks.spans.counting.accumulator import Ledger
    from workup.tasks.spans.counting.counting_rules import Yardstick
    from workup.tasks.spans.errors.error_log import Errors

    stick = Yardstick.of()
    ledger = Ledger(stick, errors=Errors(stick))
    batches, detections = reading(folder)
    for batch in batches:
        ledger.add(batch, detections.of(batch.ids))
    ledger.closed(detections.unknown())
    return ledger


def memory(folder: Path) -> dict[str, Any]:
    """How much memory gathering everything takes."""
    begun = time.process_time()
    ledger = gathered(folder)
    return {"cpu": time.process_time() - begun, "peak_mb": peak_mb(), "rows": len(ledger.rows)}


# ---- the peers -------------------------------------------------------------------------------------------------------


def nervaluate(folder: Path) -> dict[str, Any]:
    """nervaluate's evaluator; its ends are inclusive, so its lists are made while the files are read."""
    try:
        from nervaluate import Evaluator  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as problem:
        print(f"nervaluate cannot be imported: {problem}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)

    def lists(name: str) -> list[list[dict[str, Any]]]:
        with open(folder / name, encoding="utf-8") as file:
            return [
                [{"label": s["label"], "start": s["start"], "end": s["end"] - 1} for s in json.loads(line)["spans"]]
                for line in file
            ]

    begun = time.process_time()
    golds, found = lists("full/golds.jsonl"), lists("full/found.jsonl")
    full = time.process_time() - begun
    begun = time.process_time()
    golds, found = lists("golds.jsonl"), lists("found.jsonl")
    read = time.process_time() - begun
    begun = time.process_time()
    overall = Evaluator(golds, found, tags=list(TYPES), loader="dict").evaluate()["overall"]
    seconds = time.process_time() - begun
    hits = {name: overall[name].correct + overall[name].partial for name in MODES}
    times = {"cpu": read + seconds, "in_memory": seconds, "reading": read, "full": full + seconds}
    return {**times, "hits": hits, "peak_mb": peak_mb()}


def presidio(folder: Path) -> dict[str, Any]:
    """presidio-evaluator's span evaluator on a table of tokens that is ready, so its tokeniser costs nothing."""
    try:
        import pandas as pd
        from presidio_evaluator.evaluation import SpanEvaluator  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as problem:
        print(f"presidio-evaluator cannot be imported: {problem}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    rows: list[tuple[int, str, int, str, str]] = []
    with (
        open(folder / "golds.jsonl", encoding="utf-8") as golds,
        open(folder / "found.jsonl", encoding="utf-8") as found,
    ):
        for place, (line, other) in enumerate(zip(golds, found, strict=True)):
            if place == SUBSET:
                break
            record = json.loads(line)
            sides = [record["spans"], json.loads(other)["spans"]]
            start = 0
            for word in record["text"].split(" "):
                ends = start + len(word)
                tags = [
                    next((s["label"] for s in side if s["start"] < ends and s["end"] > start), "O") for side in sides
                ]
                rows.append((place, word, start, tags[0], tags[1]))
                start = ends + 1
    table = pd.DataFrame(rows, columns=["sentence_id", "token", "start_indices", "annotation", "prediction"])
    evaluator = SpanEvaluator(iou_threshold=0.5)
    begun = time.process_time()
    evaluator.calculate_score_on_df(table)
    return {"cpu_per_document": (time.process_time() - begun) / (place if place == SUBSET else place + 1)}


def timed(work: Callable[[], Any], repeats: int) -> tuple[list[float], Any]:
    """CPU seconds of every repeat, and what the last one found."""
    seconds, found = [], None
    for _ in range(repeats):
        begun = time.process_time()
        found = work()
        seconds.append(time.process_time() - begun)
    return seconds, found


def _times(seconds: list[float]) -> dict[str, float]:
    return {"cpu": min(seconds), "median": float(np.median(seconds))}


SIDES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "from_files": from_files,
    "from_memory": from_memory,
    "everything": everything,
    "memory": memory,
    "nervaluate": nervaluate,
    "presidio": presidio,
}


# ---- one run, all sides ----------------------------------------------------------------------------------------------


def in_child(side: str, folder: Path, python: str = sys.executable) -> dict[str, Any] | None:
    """A side in a fresh process with one thread; None when its library is not installed there."""
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [python, "-m", "benchmarks.spans", "--side", side, "--folder", str(folder)]
    done = subprocess.run(command, env={**os.environ, **single}, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode == NOT_INSTALLED:
        return None
    done.check_returncode()
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def ours(side: str, folder: Path) -> dict[str, Any]:
    """One of our own sides."""
    found = in_child(side, folder)
    assert found is not None
    return found


def met(what: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> bool:
    """Print a ratio beside its target."""
    good = value >= at_least if at_least is not None else at_most is None or value <= at_most
    target = f"at least {at_least:g}" if at_least is not None else f"at most {at_most:g}"
    print(f"  -> {what}: {value:,.1f} (target {target}: {'met' if good else 'NOT MET'})", flush=True)
    return good


def compare(folder: Path, documents: int, peer: str, presidio_python: str) -> Iterator[bool]:
    """Print the comparison; whether each target is met."""
    write(folder, documents)
    megabytes = [round((folder / name).stat().st_size / 2**20) for name in ("golds.jsonl", "found.jsonl")]
    print(f"{documents:,} documents ({megabytes[0]} and {megabytes[1]} MB), {len(MODES)} modes x {len(TYPES)} types")
    sides = [(ours("from_files", folder), ours("from_memory", folder))]
    theirs = in_child("nervaluate", folder, peer)
    sides.append((ours("from_files", folder), ours("from_memory", folder)))  # the machine's pace may have changed
    files, held = (min(pair, key=lambda side: float(side["cpu"])) for pair in zip(*sides, strict=True))
    assert files["hits"] == held["hits"]
    print(f"  workup, from files       {files['cpu']:8.3f} s CPU (median {files['median']:.3f})")
    print(f"          reading alone    {files['reading']:8.3f} s CPU")
    print(f"  workup, from memory      {held['cpu']:8.3f} s CPU (median {held['median']:.3f})")
    print(f"  workup, fuller files     {files['full']:8.3f} s CPU", flush=True)
    if theirs is None:
        print("  nervaluate               SKIPPED: not installed there, or pass --peer-python PATH")
    else:
        print(f"  nervaluate, from files   {theirs['cpu']:8.2f} s CPU, of which reading {theirs['reading']:.2f}")
        for name in MODES:
            assert files["hits"][name] >= theirs["hits"][name], "an optimal assignment finds at least as many"
        yield met("from files, nervaluate / workup", theirs["cpu"] / files["cpu"], at_least=TARGETS["files"])
        yield met("from memory, nervaluate / workup", theirs["in_memory"] / held["cpu"], at_least=TARGETS["memory"])
        print(
            f"     by the medians {theirs['cpu'] / files['median']:.1f} and {theirs['in_memory'] / held['median']:.1f}"
        )
        print(f"     from the fuller files {theirs['full'] / files['full']:.1f} (least of the repeats)")
        print(f"     peak {theirs['peak_mb']:,.0f} MB against {files['peak_mb']:,.0f} MB from files")
    tokens = in_child("presidio", folder, presidio_python)
    if tokens is None:
        print("  presidio-evaluator       SKIPPED: not installed there, or pass --presidio-python PATH")
    else:
        slow = tokens["cpu_per_document"]
        print(f"  presidio-evaluator       {1 / slow:8.1f} documents/s of CPU, on {min(SUBSET, documents)} of them")
        ratio = slow / (files["cpu"] / documents)
        yield met("per document from files, presidio-evaluator / workup", ratio, at_least=TARGETS["presidio"])
    whole = ours("everything", folder)
    print(
        f"  all that is counted      {whole['ledger']:8.2f} s CPU ({whole['ledger_mb']:,.0f} MB): every mode and level,"
    )
    print("      texts for whole masks and leaks, entities, severity, cells by label, analysis of errors, language")
    print(f"  score_spans, complete    {whole['cpu']:8.2f} s CPU: that, the corpus's hash, all estimates, the report")
    yield met("peak memory from files, MB", files["peak_mb"], at_most=TARGETS["peak_mb"])
    yield met("peak memory of score_spans, MB", whole["peak_mb"], at_most=TARGETS["peak_mb"])


def growth(folder: Path) -> Iterator[bool]:
    """Memory at a million notes against a tenth of them, of as many patients."""
    found = []
    for notes in (FEWER_NOTES, NOTES):
        write_short(folder, notes)
        found.append(ours("memory", folder))
        print(
            f"  {notes * PATIENTS:9,} notes of {PATIENTS:,} patients: {found[-1]['peak_mb']:,.0f} MB peak, "
            f"{found[-1]['rows']:,} rows, {found[-1]['cpu']:.1f} s CPU",
            flush=True,
        )
    yield met(
        "more memory for ten times the notes, MB",
        found[1]["peak_mb"] - found[0]["peak_mb"],
        at_most=TARGETS["growth_mb"],
    )


def main() -> int:
    """Exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="documents to generate")
    parser.add_argument("--peer-python", default=sys.executable, help="a Python that has nervaluate, if this has not")
    parser.add_argument("--presidio-python", default=sys.executable, help="a Python that has presidio-evaluator")
    parser.add_argument("--only", choices=("speed", "memory"), help="one half of it")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side is not None:
        print(json.dumps(SIDES[given.side](given.folder)))
        return 0
    good: list[bool] = []
    with tempfile.TemporaryDirectory() as name:
        if given.only != "memory":
            good += compare(Path(name), given.documents, given.peer_python, given.presidio_python)
        if given.only != "speed":
            good += growth(Path(name))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
