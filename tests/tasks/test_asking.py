"""A case on which the system fails costs that case alone; a system that fails costs the run, never a false answer."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engine_systems import ROWS, risk_study, table_of
from workup.engines.serial import Serial
from workup.errors import SystemFailure
from workup.runs import Outputs, RunDirectory
from workup.study import Study
from workup.task import Lost
from workup.tasks.asking import Asked, Batch, ask
from workup.tasks.guarding import SystemRaised
from workup.validate import validate


def alone(items: list[int], place: int) -> list[int]:
    return items[place : place + 1]


def failing_at(wrong: set[int], asked: list[list[int]]) -> Callable[[], Callable[[list[int]], list[int]]]:
    def work(items: list[int]) -> list[int]:
        asked.append(items)
        if wrong & set(items):
            raise SystemRaised(f"failed on {len(items)}", kind="ValueError")
        return [2 * item for item in items]

    return lambda: work


def batches(count: int, size: int) -> list[Batch[list[int]]]:
    return [
        Batch([str(n) for n in range(start, min(start + size, count))], list(range(start, min(start + size, count))))
        for start in range(0, count, size)
    ]


def all_of(wrong: set[int], count: int, size: int, **how: Any) -> tuple[dict[str, int], dict[str, str]]:
    found = list(ask(Serial(), failing_at(wrong, []), batches(count, size), alone=alone, **{"answered": False, **how}))
    answers = {id: answer for one in found for id, answer in one.answers.items()}
    failed = {id: reason for one in found for id, reason in one.failed.items()}
    assert len(answers) + len(failed) == sum(len(one) for one in found)  # nothing twice
    return answers, failed


@given(st.integers(1, 40), st.integers(1, 7), st.sets(st.integers(0, 39), max_size=9))
def test_every_case_is_answered_or_reported_once_whatever_the_batches(count: int, size: int, wrong: set[int]) -> None:
    """Nine failures are one fewer than end a run, so that they may all stand in a row."""
    wrong &= set(range(count))
    if len(wrong) == count:
        with pytest.raises(SystemFailure, match="failed on"):
            all_of(wrong, count, size)
        return
    answers, failed = all_of(wrong, count, size)
    assert answers == {str(n): 2 * n for n in range(count) if n not in wrong}
    assert failed == {str(n): "ValueError" for n in wrong}


def test_a_system_that_fails_on_case_after_case_ends_the_run_with_its_first_error() -> None:
    with pytest.raises(SystemFailure, match="failed on 5"):
        all_of(set(range(20, 30)), 100, 5)
    answers, failed = all_of(set(range(20, 29)), 100, 5)
    assert len(answers) == 91 and len(failed) == 9


def test_failures_in_a_row_are_not_recorded_before_the_run_ends_for_them() -> None:
    taken: list[str] = []
    asked = ask(Serial(), failing_at(set(range(20, 40)), []), batches(60, 4), alone=alone, answered=False)

    def take(found: Asked) -> None:
        assert not found.failed
        taken.extend(found.answers)

    with pytest.raises(SystemFailure):
        deque(map(take, asked))
    assert taken == [str(n) for n in range(20)]


def test_a_system_that_costs_is_not_asked_twice() -> None:
    asked: list[list[int]] = []
    with pytest.raises(SystemFailure):
        list(ask(Serial(), failing_at({3}, asked), batches(8, 4), alone=alone, answered=True, patiently=False))
    assert asked == [[0, 1, 2, 3]]


class Losing:
    """An engine that loses every batch with one of these items in it."""

    def __init__(self, *lost: int) -> None:
        self.lost = set(lost)

    def map(self, setup: Any, items: Any) -> Any:
        work = setup()
        return (Lost("died") if self.lost & set(item[0]) else work(item) for item in items)


def test_of_a_batch_that_was_lost_every_case_is_asked_alone() -> None:
    found = list(ask(Losing(5), failing_at(set(), []), batches(12, 4), alone=alone, answered=False))
    assert {id: a for one in found for id, a in one.answers.items()} == {str(n): 2 * n for n in range(12) if n != 5}
    assert {id: why for one in found for id, why in one.failed.items()} == {"5": "died"}


def test_batches_lost_in_a_row_end_the_run() -> None:
    with pytest.raises(SystemFailure, match=r"died of a batch.*What was answered so far is kept"):
        list(ask(Losing(*range(4, 16)), failing_at(set(), []), batches(40, 4), alone=alone, answered=False))


# Through a whole study


def report_of(place: Path, engine: str, odd: str, **settings: Any) -> tuple[str, list[dict[str, str]]]:
    study = risk_study(engine=engine, workers=1, odd=odd, row=17).model_copy(update={"engine_settings": settings})
    with RunDirectory.open(place) as run:
        report = validate(study, table=table_of(), run=run)
    failures = [json.loads(line) for line in (place / "failures.jsonl").read_text().splitlines()]
    return report.to_json(), failures


@pytest.mark.parametrize(
    ("odd", "engines", "reason"),
    [
        ("raises", ["serial", "processes"], "ValueError"),
        ("hangs", ["serial", "processes"], "timeout"),
        ("dies", ["processes"], "died"),
    ],
)
def test_a_poison_case_is_reported_by_its_id_and_ends_no_run(
    odd: str, engines: list[str], reason: str, tmp_path: Path
) -> None:
    settings = {"raises": {}, "hangs": {"timeout": 2.0, "retries": 0}, "dies": {"retries": 0}}[odd]
    found = {engine: report_of(tmp_path / engine, engine, odd, **settings) for engine in engines}
    texts = {text for text, _ in found.values()}
    assert len(texts) == 1  # the same bytes, wherever it failed
    for text, failures in found.values():
        assert failures == [{"case": "18", "reason": reason}]
        assert f"The system failed on fewer than 5 of {ROWS} cases ({reason})" in text
        assert "ZZSECRET" not in text
    again, failures = report_of(tmp_path / engines[0], engines[0], odd, **settings)  # from the record alone
    assert again in texts and failures == [{"case": "18", "reason": reason}]


def test_failures_are_counted_where_there_are_enough_of_them(tmp_path: Path) -> None:
    class Choosy:
        name, version, batch = "choosy", "1", 20

        def predict(self, table: Any) -> list[float]:
            if any(number % 30 == 0 for number in table["number"]):
                raise KeyError("ZZSECRET")
            return [0.2] * len(table["x"])

    study = risk_study()
    report = validate(study, system=Choosy(), table=table_of())
    notes = " ".join(report.results["internal"].notes)
    assert f"The system failed on 8 of {ROWS} cases (KeyError 8), each asked alone and again" in notes
    assert re.search(rf"No risk for 8 of {ROWS} rows", notes)


def test_a_system_that_fails_where_it_would_be_wrong_passes_no_gate() -> None:
    class Picky:
        """Right wherever it answers, and it answers two rows of three."""

        name, version, batch = "picky", "1", 10

        def predict(self, table: Any) -> list[float]:
            if any(table["wrong"]):
                raise RuntimeError("hard")
            return [float(risk) for risk in table["risk"]]

    n = 600
    outcome, wrong = np.arange(n) // 2 % 2, np.arange(n) % 3 == 0
    table = {
        "number": np.arange(n),
        "outcome": outcome,
        "risk": np.where(outcome == 1, 0.8, 0.2),
        "wrong": wrong.astype(int),
    }
    content = {"name": "picky", "task": "risk", "columns": {"outcome": "outcome"}, "gates": ["auroc.low >= 0.9"]}
    report = validate(Study.of({**content, "lenses": {"internal": {}}}), system=Picky(), table=table)
    assert report.estimate("auroc").value == 1.0
    assert [one.outcome for one in report.verdicts] == ["not_assessed"]
    assert "FAILED ON MORE THAN ONE CASE IN A THOUSAND" in report.verdicts[0].reason
    whole = validate(
        Study.of({**content, "lenses": {"internal": {}}}), system=Picky(), table=table | {"wrong": 0 * outcome}
    )
    assert [one.outcome for one in whole.verdicts] == ["pass"]


def test_a_failure_is_kept_with_its_reason_and_a_later_answer_takes_its_place(tmp_path: Path) -> None:
    log = Outputs(tmp_path / "a.jsonl")
    log.append({"1": 0.5})
    log.fail({"2": "timeout", "3": "ValueError"})
    log.append({"3": 0.25})
    assert dict(log.failed()) == {"2": "timeout"}
    log.close()
    again = Outputs(tmp_path / "a.jsonl")
    assert dict(again.known()) == {"1": 0.5, "2": None, "3": 0.25}
    assert dict(again.failed()) == {"2": "timeout"}
    again.close()


def test_a_reason_that_no_run_writes_is_not_repeated(tmp_path: Path) -> None:
    log = Outputs(tmp_path / "a.jsonl")
    log.fail({"2": "Mrs ZZSECRET\x1b[31m"})
    log.close()
    again = Outputs(tmp_path / "a.jsonl")
    assert dict(again.failed()) == {"2": "error"}
    again.close()
