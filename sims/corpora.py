"""Is the truth true? 20,000 generated, injected and noised documents, and each of them through every format."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sims.corpora_documents import BATCH, MAKERS, SEED, Batch, Found
from sims.corpora_truth import round_trip
from sims.repetitions import Result, Size
from workup.corpora.formats.spans.any_format import span_formats
from workup.corpora.noise import KINDS, NEAR
from workup.documents.labels import SCHEME
from workup.engines.processes import Processes
from workup.engines.serial import Serial
from workup.values import LEAVES

__all__ = ["MADE_BY", "NAME", "QUESTION", "SEED", "SIZE", "TESTED", "run", "summarise"]

NAME = "corpora"
QUESTION = (
    "Does every gold of 20,000 generated, injected and noised documents lie on its text, and come back from every "
    "format unless the writer refuses with document and reason? Are numbers valid, is every leaf there, and is noise "
    "as strong as was asked?"
)
SIZE = Size(repetitions=20_000, replicates=0)  # documents: half generated, a quarter injected, a quarter noised
TESTED = [
    "corpora/generate/notes/",
    "corpora/inject/",
    "corpora/noise/",
    "documents/builder.py",
    "text/",
    "values/",
]
MADE_BY = ["repetitions.py", "corpora.py", "corpora_documents.py", "corpora_truth.py"]

RATES = (0.02, 0.1, 0.3)
TARGETS = ("phi", "context", "both")
STAGES = ("generated", "injected", "noised")
ODD = 400  # documents made so that some format cannot hold them
DATE_FORMATS = 25
Progress = Callable[[str], None]


# ---- running ---------------------------------------------------------------------------------------------------------


def batches(size: Size) -> list[Batch]:
    """Half of the documents are generated, a quarter injected; of noise every kind, target and rate has its share."""
    found = [Batch("odd", 0, min(ODD, size.repetitions // 10))]
    for stage, share in (("generated", 2), ("injected", 4)):
        count = size.repetitions // share
        found += [
            Batch(stage, number, min(BATCH, count - first)) for number, first in enumerate(range(0, count, BATCH))
        ]
    asked = [(kind, on, rate) for kind in KINDS for on in TARGETS for rate in RATES]
    each = -(-size.repetitions // (4 * len(asked)))
    numbers = iter(range(10**6))
    for one in asked:
        found += [Batch("noised", next(numbers), min(BATCH, each - first), one) for first in range(0, each, BATCH)]
    return found


def look(batch: Batch) -> tuple[Batch, Found]:
    """One batch: made, looked at, and sent through every format."""
    found = Found()
    documents = MAKERS[batch.stage](batch, found)
    for name, format in span_formats().items():
        with tempfile.TemporaryDirectory() as folder:
            found.trips[name].update(round_trip(format, documents, Path(folder)))
    found.faults = +found.faults
    return batch, found


def run(
    *,
    size: Size = SIZE,
    only: Callable[[Batch], bool] = lambda batch: True,
    workers: int = 1,
    progress: Progress = lambda line: None,
) -> list[Result]:
    """Every stage, every format, every kind of noise. The number of workers changes nothing but the time."""
    todo = [batch for batch in batches(size) if only(batch)]
    stages: dict[str, Found] = {stage: Found() for stage in (*STAGES, "odd")}
    noises: dict[tuple[str, str, float], Found] = {}
    engine = Serial() if workers == 1 else Processes(workers=workers)
    for done, (batch, found) in enumerate(engine.map(_looker, todo), start=1):
        stages[batch.stage].add(found)
        if batch.noise is not None:
            noises.setdefault(batch.noise, Found()).add(found)
        if done % 20 == 0 or done == len(todo):
            progress(f"{NAME} {done}/{len(todo)}  {sum(one.documents for one in stages.values()):,} documents")
    trips = [_trip(stage, name, counts) for stage, of in stages.items() for name, counts in sorted(of.trips.items())]
    whole = [_golds(stage, stages[stage]) for stage in STAGES]
    return [*whole, *trips, *(_error_rate(asked, one) for asked, one in noises.items()), *_content(stages)]


def _looker() -> Callable[[Batch], tuple[Batch, Found]]:
    return look


# ---- judging ---------------------------------------------------------------------------------------------------------


def _result(cell: str, metric: str, rate: float | None, band: Sequence[float], **more: Any) -> Result:
    ok = rate is not None and band[0] <= rate <= band[1]
    return {"cell": cell, "metric": metric, **more, "rate": rate, "band": list(band), "ok": ok}


def _golds(stage: str, found: Found) -> Result:
    return _result(
        stage,
        "golds that are true",
        1 - sum(found.faults.values()) / found.spans,
        (1, 1),
        documents=found.documents,
        spans=found.spans,
        faults=dict(sorted(found.faults.items())),
    )


def _trip(stage: str, format: str, counts: Counter[str]) -> Result:
    """Documents that come back, of those that the writer took; a refusal is no loss, and is told with its reason."""
    total = sum(counts.values())
    refused = {why.removeprefix("refused: "): n for why, n in sorted(counts.items()) if why.startswith("refused")}
    taken = total - sum(refused.values())
    return _result(
        stage,
        f"round trips through {format}",
        counts["kept"] / taken if taken else None,
        (1, 1),
        documents=total,
        refused=refused,
        lost={why.removeprefix("lost: "): n for why, n in sorted(counts.items()) if why.startswith("lost")},
    )


def _error_rate(asked: tuple[str, str, float], found: Found) -> Result:
    """Within a tenth of the rate that was asked, or of the ceiling where the kind cannot reach it."""
    kind, on, rate = asked
    measured, ceiling = (found.noise[name] / found.noise["characters"] for name in ("distance", "reachable"))
    goal = min(rate, ceiling)
    return _result(
        f"{kind} on {on} at {rate}",
        "character error rate",
        measured,
        ((1 - NEAR) * goal, (1 + NEAR) * goal),
        asked=rate,
        ceiling=ceiling,
        at_ceiling=ceiling < rate,
        characters=found.noise["characters"],
        documents=found.documents,
    )


def _content(stages: dict[str, Found]) -> list[Result]:
    """Leaves, numbers that have a rule, and formats of dates."""
    found = []
    for stage, expected in (("generated", set(SCHEME)), ("injected", set(LEAVES))):
        of = stages[stage]
        missing = sorted(expected - set(of.labels))
        share = 1 - len(missing) / len(expected)
        found.append(_result(stage, "leaves", share, (1, 1), missing=missing, counts=dict(sorted(of.labels.items()))))
        bad = sum(count for fault, count in of.faults.items() if fault.startswith("an invalid"))
        checked = sum(of.checked.values())
        counts = dict(sorted(of.checked.items()))
        found.append(_result(stage, "numbers that are valid", 1 - bad / checked, (1, 1), checked=counts))
        formats = len(of.dates)
        found.append(_result(stage, "formats of dates", formats, (DATE_FORMATS, 10_000), most=_most(of.dates)))
    return found


def _most(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:40])


def summarise(results: Sequence[Result]) -> list[Result]:
    """How many documents and golds there were, and of how many settings of noise the rate is right."""
    golds = [one for one in results if one["metric"] == "golds that are true"]
    noises = [one for one in results if one["metric"] == "character error rate"]
    trips = [one for one in results if one["metric"].startswith("round trips")]
    return [
        {
            "cell": "all stages",
            "metric": "golds that are true",
            "documents": sum(one["documents"] for one in golds),
            "spans": sum(one["spans"] for one in golds),
            "ok": None,
        },
        {
            "cell": "all formats",
            "metric": "documents sent through",
            "documents": sum(one["documents"] for one in trips),
            "refused": sum(sum(one["refused"].values()) for one in trips),
            "lost": sum(sum(one["lost"].values()) for one in trips),
            "ok": None,
        },
        {
            "cell": "all kinds of noise",
            "metric": "character error rate",
            "settings": len(noises),
            "right": sum(one["ok"] for one in noises),
            "at_ceiling": sum(one["at_ceiling"] for one in noises),
            "worst": max(abs(one["rate"] / goal - 1) for one in noises if (goal := min(one["asked"], one["ceiling"]))),
            "ok": None,
        },
    ]
