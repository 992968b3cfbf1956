"""Putting cases to a system batch by batch: a case on which it fails is asked alone and reported, and ends no run.

What is a failure of one case and what of the system itself is told apart by what follows: where cases fail in a row,
or none was answered at all, the system is broken, out of reach or the wrong one, and the run stops with its error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from workup.errors import SystemFailure
from workup.task import Engine, Lost, OutputLog
from workup.tasks.guarding import SystemRaised

Input = TypeVar("Input")
Ask = Callable[[Input], Any]  # a list or an array: one answer for each case of a batch
Alone = Callable[[Input, int], Input]  # the batch that holds one case of another

_MOST_IN_A_ROW = 10  # cases that fail one after the other before the system itself is taken to have failed
_MOST_LOST = 3  # batches in a row of which workers died or never came back


@dataclass(frozen=True)
class Batch(Generic[Input]):
    """Cases that are asked together: their names, and what the system is given."""

    ids: Sequence[str]
    given: Input


@dataclass(frozen=True)
class Asked:
    """What came back: answers by case, and the cases on which the system failed, with the reason."""

    answers: Mapping[str, Any]
    failed: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.answers) + len(self.failed)

    def beside(self, known: Mapping[str, Any]) -> Asked:
        """The same without cases that are known already: of a batch that was recorded in part, what is new."""
        new, lost = ({id: one for id, one in part.items() if id not in known} for part in (self.answers, self.failed))
        return Asked(new, lost)


@dataclass(frozen=True)
class _Failed:
    """In the place of an answer: the system failed on the case, alone and again."""

    error: SystemRaised


def ask(
    engine: Engine,
    setup: Callable[[], Ask[Input]],
    batches: Sequence[Batch[Input]],
    *,
    alone: Alone[Input],
    answered: bool,
    patiently: bool = True,
) -> Iterator[Asked]:
    """Put batches to a system; what comes is complete for the cases that it names, and in the order of the batches.

    `answered` says that some cases were answered before. Without patience, for a system that costs, every failure
    ends the run and nothing is asked twice.
    """
    if not patiently:
        for batch, answers in _mapped(engine, setup, batches):
            if isinstance(answers, Lost):
                raise _broken(answers)
            yield Asked(dict(zip(batch.ids, answers, strict=True)), {})
        return
    tally = _Tally(answered)
    one_by_one = partial(_isolating, setup, alone)
    lost: list[Batch[Input]] = []
    in_a_row = 0
    counted = [Batch(batch.ids, (batch.given, len(batch.ids))) for batch in batches]
    for batch, answers in _mapped(engine, one_by_one, counted):
        if not isinstance(answers, Lost):
            in_a_row = 0
            yield tally.taken(batch.ids, answers)
        elif len(batch.ids) == 1:
            yield tally.taken(batch.ids, [_failed(answers)])
        else:
            in_a_row += 1
            if in_a_row == _MOST_LOST:
                raise _broken(answers)
            lost.append(Batch(batch.ids, batch.given[0]))
    single = [Batch([id], (alone(batch.given, i), 1)) for batch in lost for i, id in enumerate(batch.ids)]
    for batch, answers in _mapped(engine, one_by_one, single):
        yield tally.taken(batch.ids, [_failed(answers)] if isinstance(answers, Lost) else answers)
    yield tally.closed()


def share_of(engine: Any, batches: Sequence[Input]) -> list[Input]:
    """Those of all batches that are asked here, where others are asked elsewhere: by place, whatever is known yet."""
    mine = getattr(engine, "mine", None)
    return [batch for place, batch in enumerate(batches) if mine is None or mine(place)]


def record(log: OutputLog, asked: Asked) -> None:
    """Keep what came back; in a log that knows of no failures, a case that failed is one without an answer."""
    log.append(asked.answers)
    if asked.failed:
        fail = getattr(log, "fail", None)
        log.append(dict.fromkeys(asked.failed)) if fail is None else fail(asked.failed)


class _Tally:
    """Tells single failures from a system that fails: failures count once a case beside them was answered."""

    def __init__(self, answered: bool) -> None:
        self._answered = answered
        self._held: dict[str, _Failed] = {}  # in a row, up to now

    def taken(self, ids: Sequence[str], answers: Sequence[Any]) -> Asked:
        """Answers as they come, with the failures before them; an error where too many failed in a row."""
        found: dict[str, Any] = {}
        failed: dict[str, str] = {}
        for id, answer in zip(ids, answers, strict=True):
            if isinstance(answer, _Failed):
                self._held[id] = answer
                if len(self._held) == _MOST_IN_A_ROW:
                    raise next(iter(self._held.values())).error
                continue
            found[id] = answer
            failed |= self._released()
        return Asked(found, failed)

    def closed(self) -> Asked:
        """The failures at the end, or an error where nothing was ever answered."""
        if self._held and not self._answered:
            raise next(iter(self._held.values())).error
        return Asked({}, self._released())

    def _released(self) -> dict[str, str]:
        self._answered = True
        released = {id: failure.error.kind for id, failure in self._held.items()}
        self._held = {}
        return released


def _mapped(engine: Engine, setup: Any, batches: Sequence[Batch[Any]]) -> Iterator[tuple[Batch[Any], Any]]:
    return zip(batches, engine.map(setup, [batch.given for batch in batches]), strict=True)


_WORDS = {
    "died": "a worker process died of a batch, alone and again: it was killed (often for lack of memory) or crashed in "
    "native code. To fix: call the system by itself, run with engine: serial to see the crash, or with fewer workers",
    "timeout": "a batch was not finished in the time that the engine allows. To fix: see where the system hangs, or "
    "give the engine a longer timeout",
}


def _failed(lost: Lost) -> _Failed:
    return _Failed(SystemRaised(f"{_WORDS[lost.reason]}.", kind=lost.reason))


def _broken(lost: Lost) -> SystemFailure:
    return SystemFailure(f"{_WORDS[lost.reason]}. What was answered so far is kept.")


def _isolating(setup: Callable[[], Ask[Input]], alone: Alone[Input]) -> Callable[[tuple[Input, int]], Any]:
    """Runs in the worker: a batch that fails is asked case by case, there, where the system is open."""
    work = setup()

    def answer(item: tuple[Input, int]) -> Any:
        given, count = item
        try:
            return work(given)
        except SystemRaised as error:
            failure = error
        answers: list[Any] = []
        in_a_row = 0
        for place in range(count):
            if in_a_row == _MOST_IN_A_ROW:  # the run will stop here: no need to ask the others
                answers.append(_Failed(failure))
                continue
            try:
                answers.append(work(alone(given, place))[0])
                in_a_row = 0
            except SystemRaised as error:
                answers.append(_Failed(failure if not in_a_row else error))
                in_a_row += 1
        return answers

    return answer
