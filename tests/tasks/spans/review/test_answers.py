"""Reviewers' answers read back: by id, by place, moved, added, given twice; and everything that is refused."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from workup.documents.batch import Batch
from workup.documents.detections import HeldDetections
from workup.documents.document import Document, Span
from workup.errors import InputError
from workup.tasks.spans.counting.counting_rules import Yardstick
from workup.tasks.spans.review.answers import Answers
from workup.tasks.spans.review.queue import Queue, make_queue
from workup.tasks.spans.review.scoring import score_review
from workup.tasks.spans.review.showing import label_studio_tasks, reviewer_documents
from workup.tasks.spans.review.wording import as_text

CANARY = "QZXCANARY"
TEXT = f"{CANARY} " * 12
DOCUMENTS = [
    Document(f"d{i:02d}", TEXT, (Span(0, 9, "name_patient"), Span(10, 19, "date")), patient=f"p{i}") for i in range(15)
]
FOUND = {document.id: [Span(0, 9, "date"), Span(40, 49, "zip")] for document in DOCUMENTS}


def _queue(**of: Any) -> Queue:
    stick = Yardstick.of(modes=["full_mask"], levels=["phi"])
    systems = {"one": HeldDetections(FOUND), "two": HeldDetections(FOUND)}
    return make_queue(lambda: [Batch.of(DOCUMENTS)], systems, stick=stick, **{"seed": 1, "total": 1000, **of})


def _tasks(queue: Queue) -> list[dict[str, Any]]:
    shown = reviewer_documents([Batch.of(DOCUMENTS)], queue)
    return [task for _, task in label_studio_tasks(shown, queue)]


def _answered(queue: Queue, verdict: str = "IDENTIFIER", *, user: Any = 1) -> list[dict[str, Any]]:
    """Every region under one verdict."""
    found = []
    for task in _tasks(queue):
        regions = copy.deepcopy(task["predictions"][0]["result"])
        for region in regions:
            region["value"]["labels"] = [verdict]
        found.append({"data": task["data"], "annotations": [{"result": regions, "completed_by": user}]})
    return found


def _read(queue: Queue, tasks: list[dict[str, Any]], **of: Any) -> Answers:
    answers = Answers(queue)
    answers.add_label_studio([(f"item {i}", task) for i, task in enumerate(tasks)], **of)
    return answers


def test_a_queue_is_plain_data_without_text_and_comes_back() -> None:
    queue = _queue()
    assert [row["drawn"] for row in queue.about["strata"]] == [15, 0, 15, 15, 0]
    header, items = queue.header(), [item.as_dict() for item in queue.items]
    assert CANARY not in repr((header, items))
    assert {"id", "case", "start", "end", "label", "stratum", "probability"} <= set(items[0])
    back = Queue.from_records(header, items, where="q")
    assert back.id == queue.id and back.items == queue.items
    for changed in ([*items[1:]], [{**items[0], "probability": 0.5}, *items[1:]]):
        with pytest.raises(InputError, match="changed"):
            Queue.from_records(header, changed, where="q")
    for nonsense in (None, {}, {**header, "frame": 3}, {**header, "systems": 1}):
        with pytest.raises(InputError, match="queue"):
            Queue.from_records(nonsense, items, where="q")


def test_the_same_seed_gives_the_same_queue_whatever_the_order() -> None:
    sizes = {"missed_by_all": 4, "found_by_all": 4, "alarm_of_all": 4}
    one = _queue(fixed=sizes)
    stick = Yardstick.of(modes=["full_mask"], levels=["phi"])
    systems = {"one": HeldDetections(FOUND), "two": HeldDetections(FOUND)}
    other = make_queue(lambda: [Batch.of(DOCUMENTS[::-1])], systems, stick=stick, seed=1, total=1000, fixed=sizes)
    assert one.id == other.id
    assert one.id != _queue(fixed=sizes, seed=2).id
    assert {item.probability for item in one.items} == {4 / 15}
    assert one.weights.sum() == pytest.approx(45)


def test_reviewers_see_neither_who_marked_a_region_nor_its_type() -> None:
    queue = _queue()
    regions = [region for task in _tasks(queue) for region in task["predictions"][0]["result"]]
    assert {tuple(region["value"]["labels"]) for region in regions} == {("REVIEW",)}
    assert {key for region in regions for key in region} == {"id", "from_name", "to_name", "type", "value"}
    assert {key for task in _tasks(queue) for key in task["data"]} == {"text", "id", "queue"}
    shown = repr(_tasks(queue))
    for word in ("name_patient", "missed_by", "alarm_of", "found_by", "p3", "one", "gold"):
        assert word not in shown.replace(queue.id, ""), word
    places = [(region["value"]["start"], region["id"]) for region in regions]
    assert len({id for _, id in places}) == 45


def test_answers_are_joined_by_id_and_by_place_where_ids_are_new() -> None:
    queue = _queue()
    tasks = _answered(queue)
    by_id = _read(queue, tasks)
    assert by_id.reviewers == ["reviewer 1"] and by_id.matrix().tolist() == [[1.0]] * 45
    for task in tasks:
        for place, region in enumerate(task["annotations"][0]["result"]):
            region["id"] = f"new{place}"
    assert _read(queue, tasks).verdicts == by_id.verdicts
    documents = [
        Document(task["data"]["id"], TEXT, tuple(Span(r["value"]["start"], r["value"]["end"], "IDENTIFIER") for r in
                                                 task["annotations"][0]["result"]))
        for task in tasks
    ]  # fmt: skip
    brat = Answers(queue)
    brat.add_documents(documents, reviewer="reviewer 1")
    assert brat.verdicts == by_id.verdicts


def test_verdicts_mean_what_they_say() -> None:
    queue = _queue()
    for verdict, meaning in (("OTHER_BORDERS", 1.0), ("NOT_IDENTIFIER", 0.0), ("UNSURE", np.nan)):
        found = _read(queue, _answered(queue, verdict)).matrix()
        assert np.array_equal(found, np.full((45, 1), meaning), equal_nan=True)
    silent = _read(queue, _answered(queue, "REVIEW"))
    assert silent.reviewers == [] and silent.matrix().shape == (45, 0)
    with pytest.raises(InputError, match="at least one answer"):
        score_review(silent)
    both = _answered(queue, "REVIEW")
    both[0]["annotations"][0]["result"][0]["value"]["labels"] = ["REVIEW", "NOT_IDENTIFIER"]
    assert list(_read(queue, both).verdicts.values()).count("NOT_IDENTIFIER") == 1


def test_moved_added_and_cancelled_are_counted() -> None:
    queue = _queue()
    tasks = _answered(queue)
    first = tasks[0]["annotations"][0]["result"]
    first[0]["value"]["end"] += 1  # moved, its id kept
    first[1] |= {"id": "other"}
    first[1]["value"]["end"] += 1  # moved, and its id new
    first.append({"id": "added", "type": "labels", "value": {"start": 90, "end": 95, "labels": ["IDENTIFIER"]}})
    first.append({"id": "added", "type": "labels", "value": {"start": 100, "end": 105, "labels": ["NOT_IDENTIFIER"]}})
    first.append({"id": "x", "type": "choices", "value": {"choices": ["a"]}})
    tasks[1]["annotations"][0]["was_cancelled"] = True
    tasks.append({"data": {"id": "another", "text": "x"}, "annotations": []})
    found = _read(queue, tasks)
    assert found.counted == {
        "regions moved": 2,
        "identifiers added by reviewers": 1,
        "regions that are not in the queue": 1,
        "results that are no labelled region": 1,
        "cancelled annotations": 1,
        "documents that are not in the queue": 1,
    }
    record = score_review(found).record
    assert record["answers"]["not_answered"] == 3 and record["answers"]["answered"] == 42
    assert any("3 of 45 regions have no answer" in note for note in record["notes"])
    assert any("added 1 identifiers" in note for note in record["notes"])
    assert record["if_unanswered"]


def test_reviewers_are_numbers_or_names_and_never_addresses() -> None:
    queue = _queue()
    tasks = _answered(queue, user={"id": 7, "email": "ann@clinic.example"})
    assert _read(queue, tasks).reviewers == ["reviewer 7"]
    assert _read(queue, tasks, reviewer="ann").reviewers == ["ann"]
    assert _read(queue, _answered(queue, user=None), file="export").reviewers == ["export"]


def test_one_reviewer_cannot_say_two_things_of_one_region() -> None:
    queue = _queue()
    answers = _read(queue, _answered(queue))
    answers.add_label_studio([("item 1", _answered(queue)[0])])
    assert answers.counted["answers given twice"] == 3
    with pytest.raises(InputError, match="one answer of each reviewer"):
        answers.add_label_studio([("item 1", _answered(queue, "NOT_IDENTIFIER")[0])])
    answers.add_label_studio([("item 1", _answered(queue, "NOT_IDENTIFIER")[0])], reviewer="ben")
    assert answers.reviewers == ["ben", "reviewer 1"]


def _broken(change: Any) -> list[dict[str, Any]]:
    tasks = _answered(_queue())
    change(tasks[0])
    return tasks


_FAULTS: dict[str, Any] = {
    "another queue": lambda task: task["data"].update(queue="f00"),
    "no data": lambda task: task.pop("data"),
    "annotations no list": lambda task: task.update(annotations={"a": CANARY}),
    "annotation no object": lambda task: task.update(annotations=[CANARY]),
    "result no list": lambda task: task["annotations"][0].update(result=CANARY),
    "region no object": lambda task: task["annotations"][0].update(result=[CANARY]),
    "value missing": lambda task: task["annotations"][0]["result"][0].pop("value"),
    "unknown label": lambda task: task["annotations"][0]["result"][0]["value"].update(labels=[CANARY]),
    "no label": lambda task: task["annotations"][0]["result"][0]["value"].update(labels=[]),
    "two verdicts": lambda task: task["annotations"][0]["result"][0]["value"].update(
        labels=["IDENTIFIER", "NOT_IDENTIFIER"]
    ),
    "start no number": lambda task: task["annotations"][0]["result"][0]["value"].update(start=CANARY),
    "turned round": lambda task: task["annotations"][0]["result"][0]["value"].update(start=9, end=3),
    "another document": lambda task: task["data"].update(id="d07"),
}


@pytest.mark.parametrize("fault", _FAULTS)
def test_files_that_are_not_as_they_came_back_are_refused_without_their_words(fault: str) -> None:
    with pytest.raises(InputError) as caught:
        _read(_queue(), _broken(_FAULTS[fault]))
    assert CANARY not in str(caught.value) and "item 0" in str(caught.value)


def test_answers_to_nothing_of_the_queue_are_refused() -> None:
    with pytest.raises(InputError, match="documents of the queue"):
        _read(_queue(), [{"data": {"id": "zz"}, "annotations": []}], file="export")


def test_a_score_holds_everything_and_no_text() -> None:
    queue = _queue()
    answers = _read(queue, _answered(queue))
    answers.add_label_studio([(f"item {i}", t) for i, t in enumerate(_answered(queue, "NOT_IDENTIFIER", user=2))])
    found = score_review(answers)
    record = found.record
    assert CANARY not in repr(record)
    assert record["answers"]["reviewers"] == ["reviewer 1", "reviewer 2"]
    assert record["strata"][0]["undecided"] == 15 and record["strata"][0]["wrong_share"] == 0.5
    assert record["reviewer_error"]["kind"] == "right" and "45 regions" in record["reviewer_error"]["reason"]
    pair = record["agreement"][0]
    assert (pair["first"], pair["second"], pair["share"]) == ("reviewer 1", "reviewer 2", 0.0)
    keys = {(e.metric, e.slice.get("system"), e.slice["golds"]) for e in found.estimates}
    assert ("recall", "one", "as_annotated") in keys and ("gold_precision", None, "reviewed") in keys
    text = as_text(record)
    assert CANARY not in text and "golds that every system missed" in text and "taken at their word" in text
    # Every region counts half: golds found 7.5, golds missed 7.5, and 7.5 without a gold that the system found.
    [recall] = [
        e for e in found.estimates if (e.metric, dict(e.slice)) == ("recall", {"system": "one", "golds": "reviewed"})
    ]
    assert recall.value == pytest.approx(15 / 22.5)
    strict = score_review(answers, rule="all")
    [none] = [
        e for e in strict.estimates if (e.metric, dict(e.slice)) == ("recall", {"system": "one", "golds": "reviewed"})
    ]
    assert none.value is None and none.reason == "nothing must be masked"
