"""Calls of the model under test: each is looked up by its content, made once, and on record before the next.

The key of a call is a hash of all that decides its answer, so a changed reply changes the key of everything after it.
A call that failed is recorded as failed, to be told and tried again, and never taken for an answer.
"""

from __future__ import annotations

import hashlib
import inspect
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from workup.errors import RunError, SystemFailure, WorkupError
from workup.report import canonical
from workup.task import Budget, OutputLog, misrecorded
from workup.tasks.conversation.talk.memory import Message
from workup.tasks.conversation.talk.prompts import TEMPLATE
from workup.tasks.conversation.talk.speech import Spoken, is_record
from workup.tasks.conversation.talk.token_counts import Tokenizer
from workup.tasks.guarding import guarded

JUDGE = "judge"  # the purpose of a judge's calls
_RUN = "run"  # the key under which the log keeps what tells the sessions of this run from those of others
_NEVER_ANSWERED = 5  # failed calls of a model that has answered none, after which the run is stopped


@dataclass(frozen=True)
class Place:
    """What a call is for; written beside it in the log of calls."""

    case: str
    replicate: int
    arm: str
    turn: int
    purpose: str  # reply, summary, question, compaction or judge
    fact: str | None = None
    pair: str | None = None
    run: int | None = None  # of a judge that is asked several times

    def record(self) -> dict[str, Any]:
        """As it stands in the log of calls."""
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclass
class Spent:
    """Calls made and money spent in this run, over all that are asked."""

    calls: int = 0
    cost: float = 0.0


@dataclass(frozen=True)
class Session:
    """A session of an endpoint that remembers: its id, that of the one it is copied from, and what it heard so far."""

    id: str
    heard: tuple[str, ...] = ()
    fork_of: str | None = None

    def parameters(self) -> dict[str, str]:
        """What is sent beside the messages."""
        return {"session": self.id} | ({} if self.fork_of is None else {"fork_of": self.fork_of})


class Caller:
    """Asks one system, from any number of threads, and keeps what it answers.

    With `ask` false nothing is asked: answers and failures come from the record alone, as when a run is verified.
    """

    def __init__(
        self,
        system: Any,
        *,
        memory: str,
        log: OutputLog,
        budget: Budget,
        tokens: Tokenizer,
        ask: bool = True,
        template: str = TEMPLATE,
        spent: Spent | None = None,
    ) -> None:
        self.system, self.tokens, self._template = system, tokens, template
        self._memory, self._log, self._budget, self._ask = memory, log, budget, ask
        self._who = f"system '{getattr(system, 'name', type(system).__name__)}'"
        self._identity = identity_of(system)
        self._takes = _keywords(system.reply)
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[Spoken]] = {}
        self._records: dict[str, Mapping[str, Any]] = dict(log.known())
        for call, record in self._records.items():
            if not is_record(record):
                raise misrecorded(call, "a reply with its content, or a failure")
        # A judge that answers nothing must not pass for alive because the model did, nor the other way round.
        judging = template != TEMPLATE
        mine = (record for key, record in self._records.items() if key != _RUN and of_judge(record) == judging)
        self._answered = any("content" in record for record in mine)
        self._failed = 0
        self._first_error: WorkupError | None = None
        self.spent = Spent() if spent is None else spent
        self.sessions = getattr(system, "sessions", None)  # of an endpoint that remembers
        self._run: str | None = None

    def say(
        self,
        messages: Sequence[Message],
        *,
        place: Place,
        seed: int,
        max_tokens: int | None = None,
        session: Session | None = None,
    ) -> Spoken:
        """The answer to these messages, from the record or from the system; of one that remembers, in a session."""
        parameters = self._parameters(max_tokens, seed)
        if session is not None:
            parameters |= session.parameters()
        run = place.replicate if place.run is None else place.run
        key = self._key(messages, parameters, run, () if session is None else session.heard)
        with self._lock:
            known = self._known(key)
            if known is not None:
                return known
            waiting = self._under_way.get(key)
            if waiting is None:
                self._charge(messages, max_tokens)
                self._under_way[key] = mine = Future[Spoken]()
        if waiting is not None:
            return waiting.result()
        try:
            said = self._asked(messages, parameters)
            self._keep(key, said, messages, parameters, place)
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._under_way[key]
        mine.set_result(said)
        return said

    def session_id(self, *parts: Any) -> str:
        """An id that no other run gives: an endpoint may still remember what it heard in an earlier one."""
        with self._lock:
            if self._run is None:
                record = self._records.get(_RUN)
                self._run = secrets.token_hex(16) if record is None else str(record["content"])
                if record is None and self._ask:
                    self._log.append({_RUN: {"content": self._run}})
        return hashlib.sha256(canonical([self._run, *parts]).encode()).hexdigest()[:32]

    def _known(self, key: str) -> Spoken | None:
        record = self._records.get(key)
        if record is not None and ("content" in record or not self._ask):
            return Spoken.recorded(record)
        if not self._ask:
            raise RunError(
                "a call of the model is not recorded (any more), and nothing is asked here. To fix: run the study "
                "again."
            )
        return None

    def _key(
        self,
        messages: Sequence[Message],
        parameters: Mapping[str, Any],
        replicate: int,
        heard: Sequence[str] = (),
    ) -> str:
        content: dict[str, Any] = {
            **self._identity,
            "messages": [dict(message) for message in messages],
            "parameters": dict(parameters),
            "replicate": replicate,
            "template": self._template,
            "memory": self._memory,
        }
        if heard:  # what was said in this session before, which no message repeats
            content["heard"] = list(heard)
        return hashlib.sha256(canonical(content).encode("utf-8", "surrogatepass")).hexdigest()

    def _parameters(self, max_tokens: int | None, seed: int) -> dict[str, Any]:
        """All that is sent beside the messages, as far as it is known here."""
        own = getattr(self.system, "parameters", None)
        asked = {"max_tokens": max_tokens, "seed": seed}
        return {
            **(dict(own) if isinstance(own, Mapping) else {}),
            **{key: value for key, value in asked.items() if key in self._takes and value is not None},
        }

    def _charge(self, messages: Sequence[Message], max_tokens: int | None) -> None:
        """Count a call that is about to be made, or stop at the limit."""
        cost = price_of(self.system, self.tokens.messages(messages), max_tokens or most_tokens(self.system))
        limits = self._budget
        if limits.cost is not None and cost is None:
            raise RunError(
                f"{self._who} names no price, so nothing was asked under a limit on cost. To fix: give its 'price' per "
                "million tokens, or use --max-calls in the place of --max-cost."
            )
        over_calls = limits.calls is not None and self.spent.calls + 1 > limits.calls
        over_cost = limits.cost is not None and self.spent.cost + (cost or 0.0) > limits.cost
        if over_calls or over_cost:
            raise RunError(
                f"stopped at the limit on calls or cost: {self.spent.calls:,} calls were made in this run, and what "
                "they answered is kept. To fix: run the same command again, or with a higher --max-calls or "
                "--max-cost; it goes on from there."
            )
        self.spent.calls += 1

    def _asked(self, messages: Sequence[Message], parameters: Mapping[str, Any]) -> Spoken:
        given = {key: value for key, value in parameters.items() if key in self._takes}
        given |= {key: parameters[key] for key in ("session", "fork_of") if key in parameters}
        reply: Callable[..., Any] = self.system.reply
        sent = [dict(message) for message in messages]  # a plug-in may change what it is given
        crashed = []

        def call(said: list[dict[str, str]]) -> Any:
            try:
                return reply(said, **given)
            except WorkupError:
                raise  # the adapter itself says that going on makes no sense
            except Exception:
                crashed.append(True)
                raise

        try:
            answer = guarded(self._who, call, sent, what=f"{len(sent)} messages")
        except SystemFailure as error:
            if not crashed:
                raise
            self._note_error(error)
            return Spoken(None, failure="crashed")
        return Spoken.of(answer, who=self._who)

    def _keep(
        self,
        key: str,
        said: Spoken,
        messages: Sequence[Message],
        parameters: Mapping[str, Any],
        place: Place,
    ) -> None:
        record = {
            **said.record(),
            "at": place.record(),
            "sent": [dict(message) for message in messages],
            "parameters": dict(parameters),
        }
        with self._lock:
            self._log.append({key: record})
            self._records[key] = record
            spent = price_of(
                self.system,
                said.usage.get("prompt_tokens", self.tokens.messages(messages)),
                said.usage.get("completion_tokens", self.tokens.count(said.content or "")),
            )
            self.spent.cost += spent or 0.0
            if said.failure:
                self._failed += 1
            else:
                self._answered = True
            never = self._failed >= _NEVER_ANSWERED and not self._answered
        if never:
            raise self._first_error or SystemFailure(
                f"{self._who} has answered none of {self._failed} calls (the last: {said.failure}), so the run was "
                "stopped. To fix: check that the model is up and takes these settings; the same command goes on from "
                "here."
            )

    def _note_error(self, error: WorkupError) -> None:
        with self._lock:
            self._first_error = self._first_error or error


def of_judge(record: Mapping[str, Any]) -> bool:
    """Whether a recorded call was one of a judge."""
    return isinstance(at := record.get("at"), Mapping) and at.get("purpose") == JUDGE


def identity_of(system: Any) -> dict[str, str]:
    """Provider, model and version, as the key of a call holds them."""
    name = str(getattr(system, "name", type(system).__name__))
    return {
        "provider": str(getattr(system, "provider", type(system).__name__)),
        "model": str(getattr(system, "model", name)),
        "version": str(getattr(system, "version", "")),
    }


def price_of(system: Any, prompt_tokens: int, completion_tokens: int) -> float | None:
    """What so many tokens cost, by the system's own `cost(prompt, completion)`; None where it names no price."""
    cost = getattr(system, "cost", None)
    priced = cost(prompt_tokens, completion_tokens) if callable(cost) else None
    return None if priced is None else float(priced)


def most_tokens(system: Any) -> int:
    """Tokens that a reply may have, where the system says so."""
    most = getattr(system, "max_tokens", None)
    return int(most) if isinstance(most, int) and most > 0 else 512


def tallied(records: Mapping[str, Mapping[str, Any]], *, system: Any = None) -> dict[str, float]:
    """Calls, tries, tokens and seconds over all recorded calls, also those of runs that were stopped.

    With a system that names a price the cost of the tokens comes along.

    >>> tallied({"k": {"content": "Yes.", "tries": 2, "usage": {"prompt_tokens": 7}}})["tries"]
    2.0
    """
    found = {"calls": 0.0, "failed": 0.0, "tries": 0.0, "prompt_tokens": 0.0, "completion_tokens": 0.0, "seconds": 0.0}
    for key, record in records.items():
        if key == _RUN:
            continue
        usage = record.get("usage") or {}
        found["calls"] += 1
        found["failed"] += "failure" in record
        found["tries"] += record.get("tries", 1)
        found["seconds"] += record.get("seconds") or 0.0
        for name in ("prompt_tokens", "completion_tokens"):
            found[name] += usage.get(name, 0)
    cost = price_of(system, int(found["prompt_tokens"]), int(found["completion_tokens"]))
    return found if cost is None else {**found, "cost": cost}


def _keywords(reply: Callable[..., Any]) -> frozenset[str]:
    """Which of `max_tokens` and `seed` a system takes."""
    try:
        parameters = inspect.signature(reply).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return frozenset({"max_tokens", "seed"})
    return frozenset(one.name for one in parameters) & {"max_tokens", "seed"}
