"""The queue of a review: which regions are to be looked at, with the chance each had, and the frame they stand for.

Holds offsets, labels and counts, and no text. It is plain data with a hash of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workup.documents.batch import Batch
from workup.documents.detections import Detections
from workup.errors import InputError
from workup.report import canonical
from workup.stats.arrays import Floats, Ints
from workup.tasks.spans.corpus import Facts
from workup.tasks.spans.counting.counting_rules import Yardstick
from workup.tasks.spans.review.frame import IN_WORDS, STRATA, Frame
from workup.tasks.spans.review.sampling import DEFAULT_TOTAL, drawn, planned_sizes
from workup.tasks.spans.review.triage import UNANSWERED, Regions, triage

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Item:
    """A region to review. `id` says nothing of where it came from, so reviewers may see it."""

    id: str
    case: str
    start: int
    end: int
    label: str
    stratum: str
    probability: float
    patient: int
    golds: float
    hits: tuple[float, ...]
    credits: tuple[float, ...]
    alarms: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as queue.jsonl holds it."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Queue:
    """Items to review and everything that estimates need: `frame` is folded, `about` says what was compared and how."""

    items: tuple[Item, ...]
    frame: Frame
    about: Mapping[str, Any]

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in the order of the numbers of an item."""
        return tuple(self.about["systems"])

    @cached_property
    def id(self) -> str:
        """The hash of the queue, short; reviewers' files carry it."""
        return str(self.header()["sha256"])[:16]

    @cached_property
    def sample(self) -> Frame:
        """The items as rows of a frame."""
        rows = ((i.patient, STRATA.index(i.stratum), i.golds, i.hits, i.credits, i.alarms) for i in self.items)
        return Frame.of(rows, systems=len(self.systems))

    @property
    def weights(self) -> Floats:
        """Regions of the frame that each item stands for."""
        return np.array([1 / item.probability for item in self.items])

    def header(self) -> dict[str, Any]:
        """Plain data, as queue.json holds it: all but the items, which are in its hash."""
        record = {"schema_version": SCHEMA_VERSION, **self.about, "frame": self.frame.as_rows()}
        items = [item.as_dict() for item in self.items]
        return {**record, "sha256": hashlib.sha256(canonical([record, items]).encode()).hexdigest()}

    @classmethod
    def from_records(cls, header: Any, items: Sequence[Any], *, where: str) -> Queue:
        """Read back; a queue that was changed since it was made is refused: chances and counts belong together."""
        try:
            if header["schema_version"] != SCHEMA_VERSION:
                raise InputError(
                    f"a queue of schema_version {SCHEMA_VERSION} was expected",
                    where=where,
                    got="another",
                    remedy="make the queue anew",
                )
            about = {k: v for k, v in header.items() if k not in ("schema_version", "frame", "sha256")}
            rows = Frame.from_rows(header["frame"], systems=len(about["systems"]))
            read = cls(tuple(_item(record) for record in items), rows, about)
            same = read.header()["sha256"] == header["sha256"]
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            raise InputError(
                "the files of a review queue were expected", where=where, got="something else", remedy="make it anew"
            ) from None
        if not same:
            raise InputError(
                "a queue as it was made was expected",
                where=where,
                got="one that was changed since, or whose items are not all there",
                remedy="make it anew with the same seed",
            )
        return read


def _item(record: Mapping[str, Any]) -> Item:
    several = {name: tuple(record[name]) for name in ("hits", "credits", "alarms")}
    return Item(**{**record, **several})


def make_queue(
    batches: Callable[[], Iterable[Batch]],
    systems: Mapping[str, Detections],
    *,
    stick: Yardstick,
    seed: int,
    corpus: str = "",
    total: int = DEFAULT_TOTAL,
    fixed: Mapping[str, int] | None = None,
) -> Queue:
    """Sort every region into its stratum and draw what is to be reviewed."""
    if not systems:
        raise InputError("a review needs the predictions of at least one system", got="none")
    facts = Facts()
    regions = triage(_counted(batches(), facts), systems, stick=stick)
    facts.complete = True
    there = regions.frame.sizes()
    if not any(there):
        raise InputError(
            "golds or false alarms to review were expected",
            got="none: nothing must be masked and no system raises a false alarm on no gold",
            remedy="check the corpus, the labels and the policy",
        )
    sizes = planned_sizes(there, total=total, fixed=fixed)
    chosen = drawn(regions.frame.stratum, sizes, seed=seed)
    setting = stick.primary_setting
    about = {
        "corpus": {"name": corpus, "documents": facts.documents, "patients": facts.n_patients, "sha256": facts.sha256},
        "systems": list(systems),
        "policy": setting.policy,
        "mode": setting.mode.name,
        "seed": seed,
        "strata": [
            {
                "stratum": name,
                "regions": regions.frame.sizes()[i],
                "drawn": int(np.sum(regions.frame.stratum[chosen] == i)),
            }
            for i, name in enumerate(STRATA)
        ],
        "facts": {name: times for name, times in sorted(regions.facts.items()) if times},
    }
    return Queue(tuple(_items(regions, chosen, seed)), regions.frame.folded(), about)


def _counted(batches: Iterable[Batch], facts: Facts) -> Iterator[Batch]:
    for batch in batches:
        facts.add(batch)
        yield batch


def _items(regions: Regions, chosen: Ints, seed: int) -> Iterator[Item]:
    frame, there = regions.frame, regions.frame.sizes()
    many = np.bincount(frame.stratum[chosen], minlength=len(STRATA))
    for place in chosen.tolist():
        stratum = int(frame.stratum[place])
        where = regions.cases[place], regions.starts[place], regions.ends[place]
        name = hashlib.sha256("\x1f".join(map(str, (seed, *where))).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        numbers = (tuple(column[place].tolist()) for column in (frame.hits, frame.credits, frame.alarms))
        yield Item(
            name,
            *where,
            regions.labels[place],
            STRATA[stratum],
            float(many[stratum]) / there[stratum],
            int(frame.patient[place]),
            float(frame.golds[place]),
            *numbers,
        )


def in_words(queue: Queue) -> list[str]:
    """What the queue holds, a line per stratum that has regions, and what a reader should know of the input."""
    found = [
        f"{row['drawn']:,} of {row['regions']:,} {IN_WORDS[row['stratum']]}"
        for row in queue.about["strata"]
        if row["regions"]
    ]
    undrawn = [row["stratum"] for row in queue.about["strata"] if row["regions"] and not row["drawn"]]
    found += [f"Nothing is drawn of {IN_WORDS[name]}: rates that they weigh in will not be given" for name in undrawn]
    return found + cautions(queue)


def cautions(queue: Queue) -> list[str]:
    """What of the input changes how the rates must be read."""
    facts = queue.about["facts"]
    found = []
    for place, name in enumerate(queue.systems):
        if times := facts.get(f"{UNANSWERED}{place}"):
            found.append(f"System '{name}' says nothing of {times:,} documents, whose golds it has missed")
    for fact, words in _FACTS.items():
        if times := facts.get(fact):
            found.append(f"{times:,} {words}")
    return found


_FACTS = {
    "golds_with_unmapped_labels": "golds have a label that the mapping does not know; the policy decides on them",
    "alarms_beside_golds": "false alarms touch a gold or lie outside their text; they are not reviewed and stay so",
    "alarms_in_unknown_documents": "predictions are of documents that the corpus does not hold, and false alarms",
}
