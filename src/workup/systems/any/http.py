"""A model behind a web address: rows, texts or messages as JSON in a POST, risks, spans or a reply as JSON back.

Knows no vendor's protocol. How requests travel, and where secrets come from, is the affair of wire.transport."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import Field

from workup.errors import InputError, SystemFailure
from workup.files.jsonlines import kind, parse
from workup.systems.chat.connection import Unread
from workup.systems.chat.line import ChatLine
from workup.systems.chat.reply import Messages, TimedReply, asked, reply_in
from workup.systems.chat.sessions import Session, Sessions
from workup.systems.settings import (
    Batch,
    CaFile,
    Concurrency,
    Emits,
    Headers,
    LabelMap,
    Offsets,
    Rate,
    Retries,
    Send,
    Timeout,
    Url,
)
from workup.systems.wire.rows import risk_in, rows_out
from workup.systems.wire.spans import Spans, SpanSettings, longest_answer, spans_in, texts_out
from workup.systems.wire.transport import Channel
from workup.task import Reply, Table

_BODY, _BODY_PER_ROW = 65_536, 1_024  # bytes; an answer is an id and a number for each row

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class _Form:
    """How one task writes its answers: the name of their list, what each is about, and an example."""

    key: str
    noun: str
    one: str
    example: str


_RISKS = _Form("risks", "row", "risk", '{"risks": [{"id": "1", "risk": 0.2}, …]}')
_SPANS = _Form(
    "documents",
    "text",
    "answer",
    '{"documents": [{"id": "1", "spans": [{"start": 0, "end": 4, "label": "date"}]}, …]}',
)


class Http:
    """POSTs `{"rows": [{"id": "1", …}, …]}` and expects `{"risks": [{"id": "1", "risk": 0.1}, …]}` in the same order.

    A detector gets `{"documents": [{"id": "1", "text": "…"}, …]}` and answers `{"documents": [{"id": "1", "spans":
    [{"start": 0, "end": 4, "label": "date"}]}, …]}`. Ids count the rows or texts of one request from 1; a null risk, or
    null spans, is one that the service refuses. `batch` is how many go into a request and `concurrency` how many
    requests are under way at a time; `wire.transport.Channel` says how they travel. Anything out of form ends the run.

    A chat model gets `{"messages": [{"role": "user", "content": "…"}]}`, with `max_tokens` and `seed` where needed, and
    answers `{"content": "…"}`; a call of it that fails for good has a code, and the run goes on (`chat.line`). One that
    remembers is told its `session`, and then gets only what is new.

    For detectors, `offsets` says how the service counts them, `mapping` names the label mapping of its labels, and
    `emits` lists those that it can give.
    """

    recorded: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        url: Annotated[Url, Field(description="Address that rows, texts or messages are sent to")],
        base: Path = Path(),
        headers: Headers = None,
        timeout: Timeout = 30.0,
        retries: Retries = 4,
        rate: Rate = None,
        concurrency: Concurrency = 1,
        batch: Batch = 100,
        ca_file: CaFile = "",
        send: Send = None,
        offsets: Offsets = "codepoint",
        mapping: LabelMap = "",
        emits: Emits = None,
        session: Session = None,
    ) -> None:
        where = f"system '{name}'"
        if batch < 1:
            raise InputError("'batch' must be at least 1", where=where, got=str(batch))
        self._channel = Channel(
            name=name,
            url=url,
            base=base,
            headers=headers,
            timeout=timeout,
            retries=retries,
            rate=rate,
            concurrency=concurrency,
            ca_file=ca_file,
        )
        self._spans = SpanSettings.of(offsets=offsets, mapping=mapping, emits=emits, base=base, where=where)
        self.name, self.send, self.mapping, self.emits = name, send, self._spans.mapping, self._spans.emits
        self._request, self.concurrency = batch, concurrency
        self.sessions = Sessions.of(session, where=where)
        self._line = ChatLine(self._channel)
        self.batch = batch * concurrency  # what a task hands over at once, so that all requests have something to do
        decides = [url, send] if session is None else [url, send, session]
        self.version = f"http sha256:{hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:12]}"
        open_line = "rows or texts went to the system unencrypted (http)"
        self.notes: tuple[str, ...] = (open_line,) if self._channel.is_open_line else ()

    @property
    def timings(self) -> dict[str, float]:
        """Calls, retries and waits, of both ways to ask."""
        line = self._line.timings
        if not line["calls"]:
            return self._channel.timings
        return line | {key: value + line.get(key, 0.0) for key, value in self._channel.timings.items()}

    def predict(self, table: Table) -> list[float | None]:
        """One risk per row, None where the system refuses it."""
        count = len(next(iter(table.values()))) if table else 0

        def ask(post: Callable[..., bytes], start: int) -> list[float | None]:
            part = {name: column[start : start + self._request] for name, column in table.items()}
            rows = list(rows_out(part, send=self.send, system=self.name))
            body = json.dumps({"rows": rows}).encode()
            answer = post(body, longest=_BODY + _BODY_PER_ROW * len(rows), label=start)
            return self._read(answer, len(rows), _RISKS, lambda entry, due: risk_in(entry, due=due, rows=len(rows)))

        return self._ask_all(count, ask)

    def detect(self, texts: Sequence[str]) -> list[Spans | None]:
        """The spans of each text, in code points, None where the system refuses it."""
        counting = self._spans.counting

        def ask(post: Callable[..., bytes], start: int) -> list[Spans | None]:
            some = texts[start : start + self._request]
            body = json.dumps({"documents": texts_out(some, system=self.name)}).encode()
            answer = post(body, longest=sum(map(longest_answer, some)), label=start)
            return self._read(
                answer, len(some), _SPANS, lambda entry, due: spans_in(entry, due=due, texts=some, counting=counting)
            )

        return self._ask_all(len(texts), ask)

    def reply(
        self,
        messages: Messages,
        *,
        max_tokens: int | None = None,
        seed: int | None = None,
        session: str | None = None,
        fork_of: str | None = None,
    ) -> Reply:
        """The next message of the assistant, or the code of a call that failed for good."""
        content = asked(messages, max_tokens=max_tokens, seed=seed)
        headers: dict[str, str] = {}
        if self.sessions is not None:
            content, headers = self.sessions.put(content, session, fork_of)
        body = json.dumps(content).encode()
        called = self._line.ask(body, label=hashlib.sha256(body).hexdigest()[:16], read=_reply, more=headers)
        answer = called.answer or Reply(None, failure=called.failure)
        return TimedReply(**vars(answer), seconds=called.seconds, tries=called.tries)

    def _ask_all(self, count: int, ask: Callable[[Callable[..., bytes], int], list[Answer]]) -> list[Answer]:
        with self._channel.open() as session:
            parts = session.map(lambda start: ask(session.post, start), range(0, count, self._request))
        return [answer for part in parts for answer in part]

    def _read(
        self, body: bytes, sent: int, form: _Form, read: Callable[[Any, int], tuple[Answer, str]]
    ) -> list[Answer]:
        """The answers in a body, or an error that says what is wrong with it and never what it holds."""
        where = f"system '{self.name}': the answer"
        try:
            whole = parse(body)
        except (ValueError, RecursionError):
            raise SystemFailure(f"{where} must be JSON such as {form.example}; got something else.") from None
        listed = whole.get(form.key) if isinstance(whole, dict) else None
        if not isinstance(listed, list):
            got = f"no list '{form.key}'" if isinstance(whole, dict) else kind(whole)
            raise SystemFailure(f"{where} must be JSON such as {form.example}; got {got}.")
        answers: list[Answer] = []
        for due, entry in enumerate(listed[:sent], start=1):
            answer, problem = read(entry, due)
            if problem:
                raise SystemFailure(f"{where}, entry {due} of '{form.key}': {problem}.")
            answers.append(answer)
        if len(listed) != sent:
            raise SystemFailure(
                f"{where} must hold one {form.one} for each of the {sent} {form.noun}s sent; got {len(listed)}."
            )
        return answers


def _reply(body: bytes) -> Reply:
    try:
        answer, problem = reply_in(parse(body))
    except (ValueError, RecursionError):
        raise Unread("bad_json") from None
    if answer is None or problem:
        raise Unread("bad_answer")
    return answer
