"""Reviewers' answers read back: from a Label Studio export or edited BRAT documents, joined to the items of a queue.

An item is known by its id, and where a tool gave regions new ids, by its document and offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workup.documents.document import Document
from workup.errors import InputError, named, within
from workup.stats.arrays import Floats
from workup.tasks.spans.review.queue import Item, Queue
from workup.tasks.spans.review.shared_alarms import LEAST_IOU, iou
from workup.tasks.spans.review.showing import OPEN, VERDICTS

YES = ("IDENTIFIER", "OTHER_BORDERS")
_MEANING = {"IDENTIFIER": 1.0, "OTHER_BORDERS": 1.0, "NOT_IDENTIFIER": 0.0}


@dataclass(eq=False)
class Answers:
    """Verdicts by item and reviewer. `counted` says what was found beside them, such as regions added or moved."""

    queue: Queue
    verdicts: dict[tuple[str, str], str] = field(default_factory=dict)
    counted: Counter[str] = field(default_factory=Counter)
    _places: dict[str, dict[tuple[int, int], Item]] = field(init=False, repr=False)
    _items: dict[str, Item] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._items = {item.id: item for item in self.queue.items}
        self._places = {}
        for item in self.queue.items:
            self._places.setdefault(item.case, {})[item.start, item.end] = item

    @property
    def reviewers(self) -> list[str]:
        """Names of those who answered anything."""
        return sorted({reviewer for (_, reviewer), verdict in self.verdicts.items() if verdict != OPEN})

    def matrix(self) -> Floats:
        """Answers [item, reviewer] in the order of the queue: 1 an identifier, 0 none, NaN unsure or not answered."""
        place = {name: i for i, name in enumerate(self.reviewers)}
        row = {item.id: i for i, item in enumerate(self.queue.items)}
        found = np.full((len(row), len(place)), np.nan)
        for (item, reviewer), verdict in self.verdicts.items():
            if reviewer in place:
                found[row[item], place[reviewer]] = _MEANING.get(verdict, np.nan)
        return found

    def of_item(self, id: str) -> list[str]:
        """Verdicts on one item."""
        return [self.verdicts[id, name] for name in self.reviewers if (id, name) in self.verdicts]

    # ---- adding ------------------------------------------------------------------------------------------------------

    def add_label_studio(self, records: Iterable[tuple[str, Any]], *, reviewer: str = "", file: str = "") -> None:
        """A Label Studio export as (place, task) pairs. Reviewers are known by their number there, or all of the file's
        by the name given; an address is never taken."""
        matched = 0
        for where, record in records:
            data = _mapping(_mapping(record, where).get("data"), f"{where}, 'data'")
            case = str(data.get("id"))
            if data.get("queue") not in (None, self.queue.id):
                raise InputError(
                    f"answers to the queue {self.queue.id} were expected",
                    where=where,
                    got="those to another",
                    remedy="give the queue that these tasks were made with",
                )
            if case not in self._places:
                self.counted["documents that are not in the queue"] += 1
                continue
            matched += 1
            for number, annotation in enumerate(_listing(record.get("annotations", []), f"{where}, 'annotations'")):
                self._add_annotation(annotation, case, f"{where}, annotation {number}", reviewer, file)
        self._must_match(matched, file)

    def _add_annotation(self, value: Any, case: str, where: str, reviewer: str, file: str) -> None:
        annotation = _mapping(value, where)
        if annotation.get("was_cancelled"):
            self.counted["cancelled annotations"] += 1
            return
        who = annotation.get("completed_by")
        number = who.get("id") if isinstance(who, dict) else who
        numbered = f"reviewer {number}" if isinstance(number, int) else file or "reviewer"
        regions = []
        for at, result in enumerate(_listing(annotation.get("result", []), f"{where}, 'result'")):
            place = f"{where}, region {at}"
            region = _mapping(result, place)
            if region.get("type") != "labels":
                self.counted["results that are no labelled region"] += 1
                continue
            content = _mapping(region.get("value"), f"{place}, 'value'")
            start, end = (_offset(content.get(key), f"{place}, '{key}'") for key in ("start", "end"))
            if not start < end:
                raise InputError("a region must end after its start", where=place, got=f"{start} to {end}")
            verdict = _verdict(_listing(content.get("labels"), f"{place}, 'labels'"), place)
            regions.append((region.get("id"), start, end, verdict))
        self._add_regions(case, regions, reviewer or numbered, where)

    def add_documents(self, documents: Iterable[Document], *, reviewer: str) -> None:
        """Documents of one reviewer, as BRAT and other formats give them."""
        matched = 0
        for number, document in enumerate(documents, start=1):
            if document.id not in self._places:
                self.counted["documents that are not in the queue"] += 1
                continue
            matched += 1
            where = within(reviewer, named("document", document.id, number=number))
            regions = [
                (None, span.start, span.end, _verdict([span.label], f"{where}, span {at}"))
                for at, span in enumerate(document.spans)
            ]
            self._add_regions(document.id, regions, reviewer, where)
        self._must_match(matched, reviewer)

    def _must_match(self, matched: int, where: str) -> None:
        if not matched:
            raise InputError(
                "documents of the queue were expected",
                where=where,
                got="none of them",
                remedy="give the queue that the reviewers' files were made with, and the files as they came back",
            )

    def _add_regions(self, case: str, regions: Sequence[tuple[Any, int, int, str]], reviewer: str, where: str) -> None:
        """The regions of one reviewer in one document: by id, then by place, then by what is left and overlaps."""
        loose = []
        taken: set[str] = set()
        for id, start, end, verdict in regions:
            item = self._items.get(id) if isinstance(id, str) else None
            if item is not None and item.case != case:
                raise InputError(
                    "a region in its own document was expected",
                    where=where,
                    got=f"item {item.id} in another",
                    remedy="give the files as they came back",
                )
            item = item or self._places[case].get((start, end))
            if item is None:
                loose.append((start, end, verdict))
                continue
            taken.add(item.id)
            self._set(item, reviewer, verdict, where)
            self.counted["regions moved"] += (start, end) != (item.start, item.end)
        for start, end, verdict in loose:
            near = [
                item
                for place, item in self._places[case].items()
                if item.id not in taken and iou(place, (start, end)) >= LEAST_IOU
            ]
            if len(near) == 1 and verdict != OPEN:
                taken.add(near[0].id)
                self._set(near[0], reviewer, verdict, where)
                self.counted["regions moved"] += 1
            elif verdict in YES:
                self.counted["identifiers added by reviewers"] += 1
            else:
                self.counted["regions that are not in the queue"] += 1

    def _set(self, item: Item, reviewer: str, verdict: str, where: str) -> None:
        key = item.id, reviewer
        before = self.verdicts.get(key, OPEN)
        if OPEN in (before, verdict):
            verdict = before if verdict == OPEN else verdict
        elif before == verdict:
            self.counted["answers given twice"] += 1
        else:
            raise InputError(
                "one answer of each reviewer to an item was expected",
                where=where,
                got=f"two different ones to item {item.id}",
                remedy="settle it, or name the reviewers apart: NAME=FILE",
            )
        self.verdicts[key] = verdict


# ---- what files say --------------------------------------------------------------------------------------------------


def _verdict(labels: Sequence[Any], where: str) -> str:
    """The one answer among the labels of a region."""
    known = [label for label in labels if isinstance(label, str) and (label in VERDICTS or label == OPEN)]
    given = {label for label in known if label != OPEN}
    if len(known) < len(labels) or len(given) > 1 or not known:
        raise InputError(
            f"one of the answers {', '.join(VERDICTS)} was expected, or {OPEN} where there is none",
            where=where,
            got="several" if len(given) > 1 else "another label" if labels else "no label",
            remedy="give the region one of these labels",
        )
    return given.pop() if given else OPEN


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError("a JSON object was expected", where=where, got=_kind(value), remedy="export as JSON")
    return value


def _listing(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError("a JSON list was expected", where=where, got=_kind(value), remedy="export as JSON")
    return value


def _offset(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise InputError("a whole number was expected", where=where, got=_kind(value), remedy="export as JSON")
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")
