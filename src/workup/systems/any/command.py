"""A model behind any program: rows, texts or messages as JSON lines in, risks, spans or a reply as JSON lines out."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from workup.errors import InputError
from workup.systems.any.programs import Exchange, Program, Unanswered
from workup.systems.chat.reply import Messages, TimedReply, asked, check_number, reply_in
from workup.systems.settings import (
    Batch,
    Concurrency,
    Emits,
    Environment,
    LabelMap,
    Offsets,
    Retries,
    Send,
    Timeout,
    Words,
)
from workup.systems.wire.rows import risk_in, rows_out
from workup.systems.wire.spans import LINE, Spans, SpanSettings, longest_answer, spans_in, texts_out
from workup.task import Reply, Table

_LONGEST_LINE = 1_000_000  # bytes; an answer is an id and a number, so a longer line is a program gone wrong
_LONGEST_REPLY = 8_000_000


class Command:
    """Runs the program once for each call, in the folder `base`, and reads one answer per row or text, in order.

    A row goes out as `{"id": "1", "age": 63.0, …}` (missing values null, times ISO) and comes back as
    `{"id": "1", "risk": 0.21}`; a text goes out as `{"id": "1", "text": "…"}` and comes back as `{"id": "1", "spans":
    [{"start": 0, "end": 4, "label": "date"}]}`. A null risk, or null spans, is a row or a text that the program
    refuses. What the program writes to stderr is shown as it comes. The version is a hash of the command and of the
    files it names; what those files load in turn is not seen.

    A conversation goes out as `{"messages": [{"role": "user", "content": "…"}]}`, with `max_tokens` and `seed` where
    they matter, and comes back as `{"content": "…"}`; null content is a call that failed. A chat program that hangs,
    and again in `retries` more tries, has failed that call alone; one that crashes or answers out of form ends the run.

    The program gets a small environment (PATH, HOME, the language, the folder for temporary files), and beside it the
    variables that `env` lists by name; their values are in no study and in no record.

    For detectors, `offsets` says how the program counts them, `mapping` names the label mapping of its labels, and
    `emits` lists those that it can give.
    """

    recorded: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        run: Annotated[Words, Field(description="Program and its arguments, as a list; no shell reads it")],
        timeout: Timeout = 600.0,
        batch: Batch = 1000,
        send: Send = None,
        offsets: Offsets = "codepoint",
        mapping: LabelMap = "",
        emits: Emits = None,
        retries: Retries = 1,
        concurrency: Concurrency = 1,
        env: Environment = None,
    ) -> None:
        where = f"system '{name}'"
        self._program = Program(name=name, base=base, run=run, timeout=timeout, env=env)
        if batch < 1:
            raise InputError("'batch' must be at least 1", where=where, got=str(batch))
        check_number(retries, field="retries", least=0, most=100, where=where, whole=True)
        check_number(concurrency, field="concurrency", least=1, most=256, where=where, whole=True)
        self.concurrency, self._retries = concurrency, retries
        self._spans = SpanSettings.of(offsets=offsets, mapping=mapping, emits=emits, base=base, where=where)
        self.name, self.batch, self.send = name, batch, send
        self.mapping, self.emits = self._spans.mapping, self._spans.emits
        self.version = f"{Path(run[0]).name} sha256:{self._program.fingerprint[:12]}"
        self.notes: tuple[str, ...] = ()

    def predict(self, table: Table) -> list[float | None]:
        """One risk per row, None where the program refuses it."""
        rows = [_line(row) for row in rows_out(table, send=self.send, system=self.name)]
        return self._program.ask(
            Exchange(
                lines=rows,
                read=lambda answer, due: risk_in(answer, due=due, rows=len(rows)),
                longest=lambda due: _LONGEST_LINE,
                noun="row",
                example='{"id": "1", "risk": 0.2}',
            )
        )

    def detect(self, texts: Sequence[str]) -> list[Spans | None]:
        """The spans of each text, in code points, None where the program refuses it."""
        counting = self._spans.counting
        return self._program.ask(
            Exchange(
                lines=[_line(text) for text in texts_out(texts, system=self.name)],
                read=lambda answer, due: spans_in(answer, due=due, texts=texts, counting=counting),
                longest=lambda due: longest_answer(texts[due - 1]),
                noun="text",
                example=LINE,
            )
        )

    def reply(self, messages: Messages, *, max_tokens: int | None = None, seed: int | None = None) -> Reply:
        """The next message of the assistant, or the code of a call that failed for good."""
        line = _line(asked(messages, max_tokens=max_tokens, seed=seed))
        begun = time.monotonic()
        for attempt in range(self._retries + 1):
            try:
                [answer] = self._program.ask(
                    Exchange(
                        lines=[line],
                        read=lambda answer, due: reply_in(answer),
                        longest=lambda due: _LONGEST_REPLY,
                        noun="conversation",
                        example='{"content": "…"}',
                    )
                )
            except Unanswered as error:
                if error.code == "bad_answer" or (error.code != "timeout" and attempt == self._retries):
                    raise  # a program that does not keep to the protocol, or cannot run, is to be fixed
                continue
            assert answer is not None
            return TimedReply(**vars(answer), seconds=time.monotonic() - begun, tries=attempt + 1)
        return TimedReply(None, failure="timeout", seconds=time.monotonic() - begun, tries=self._retries + 1)


def _line(record: Mapping[str, object]) -> bytes:
    return (json.dumps(record) + "\n").encode()
