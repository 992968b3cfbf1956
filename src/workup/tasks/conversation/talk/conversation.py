"""One conversation after the other: turns, forks for probes, and the lines of transcripts that come of them.

A failed reply ends its live conversation, since a history without it would be another one; the turns that are left are
told as failed and score nothing. A failed probe costs that probe alone, for it never enters the history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk.arms import LIVE, context_of, reply_context_of
from workup.tasks.conversation.talk.calls import Caller, Place, Session
from workup.tasks.conversation.talk.memory import Exchange, Memory, Message, Recalled, Tools
from workup.tasks.conversation.talk.passages import Passages
from workup.tasks.conversation.talk.prompts import question_probe, summary_probe
from workup.tasks.conversation.talk.repetition import LIMIT, repeated_share
from workup.tasks.conversation.talk.speech import Spoken
from workup.tasks.conversation.talk.transcripts import FINISH, Probe, Said, ToolCall

AFTER_FAILURE = "earlier_call_failed"
NOTHING_TO_ASK = "nothing_to_ask"
HISTORY = "history"
NOT_ASKED = "not_asked"  # a turn that the study does not probe
QUESTION_TOKENS = 96  # for the answer to a closed question

Ask = tuple[str, Fact | None, str]  # kind, the fact of a question, the words of the probe


def probes_at(passages: Passages, turn: int, settings: ConversationPart) -> list[Ask]:
    """What is asked off the history at a turn: one summary, a question for each active fact, or nothing."""
    if not settings.asked_at(turn) or (settings.probe_in == "end" and turn != passages.case.last_turn):
        return []
    if settings.probe == "summary":
        return [("summary", None, summary_probe(settings.probe_tokens))]
    if settings.probe == "question":
        return [("question", fact, question_probe(fact)) for fact in passages.case.active(turn)]
    return []


def probe_tokens(kind: str, settings: ConversationPart) -> int:
    """Most tokens of the answer to a probe."""
    return settings.probe_tokens if kind == "summary" else min(settings.probe_tokens, QUESTION_TOKENS)


@dataclass
class Conversation:
    """A case held once, in one arm. `put` takes each line; `later` takes probes, which may be asked at any time."""

    passages: Passages
    replicate: int
    arm: str
    seed: int
    settings: ConversationPart
    caller: Caller
    put: Callable[[Said], None]
    _turn: int = 0

    def live(self, later: Callable[[int, Callable[[], None]], None]) -> None:
        """Turn by turn, each reply in the history of the next; probes are forked off and handed to `later`."""
        memory, recalled = Memory.of(self.settings.memory), Recalled()
        past: tuple[Exchange, ...] = ()
        tools = Tools(self.caller.tokens, self._compacting)
        heard = 0
        for turn in self.passages.case.turns:
            self._turn = turn.turn
            message = self.passages.message(turn.turn)
            heard += self.caller.tokens.count(message)
            sent = self._newest(message) if self._remembers else recalled.messages(message)
            said = self._say(sent, turn.turn, "reply", session=self._session(past))
            if said.content is None:
                self._broken(turn.turn, said)
                return
            usage = self._usage(said, heard, recalled)
            reply = said.content
            entering = memory.entering(self._as_sent(said))
            past = (*past, Exchange(turn.turn, message, entering))
            heard += self.caller.tokens.count(entering)
            recalled = memory.recall(past, tools)
            self._fork(turn.turn, said, reply, usage, sent, recalled, later)

    def _fork(
        self,
        turn: int,
        said: Spoken,
        reply: str,
        usage: Mapping[str, Any],
        sent: Sequence[Message],
        recalled: Recalled,
        later: Callable[[int, Callable[[], None]], None],
    ) -> None:
        asks = probes_at(self.passages, turn, self.settings)
        if not asks:
            self.put(self._line(turn, reply, None, said, usage, sent))
        if self._remembers:
            self._ask_one_that_remembers(turn, said, reply, usage, recalled, asks, later)
            return

        def forked(ask: Ask) -> None:
            messages = recalled.messages(ask[2])
            probe = self._probed(messages, turn, ask)
            self.put(self._line(turn, reply, probe, said, usage, _before(messages, ask)))

        for ask in asks:
            later(turn, partial(forked, ask))

    # ---- endpoints that remember ---------------------------------------------------------------------------------

    @property
    def _remembers(self) -> bool:
        return self.caller.sessions is not None and not self.caller.sessions.history

    @staticmethod
    def _newest(message: str) -> list[Message]:
        return [{"role": "user", "content": message}]

    def _session(self, past: Sequence[Exchange] = (), *more: Any, fork_of: str | None = None) -> Session | None:
        """The session of this conversation, or (`more`) another of its own; `past` is what was said in it before."""
        if self.caller.sessions is None:
            return None
        id = self.caller.session_id(self.passages.case.id, self.replicate, self.arm, *more)
        heard = tuple(text for one in past for text in (one.message, one.reply))
        return Session(id, heard if self._remembers else (), fork_of)

    def _ask_one_that_remembers(
        self,
        turn: int,
        said: Spoken,
        reply: str,
        usage: Mapping[str, Any],
        recalled: Recalled,
        asks: Sequence[Ask],
        later: Callable[[int, Callable[[], None]], None],
    ) -> None:
        """Probes of an endpoint that remembers, none of which enters the memory of the conversation itself."""
        past = recalled.exchanges

        def forked(ask: Ask) -> None:
            live = self._session(past)
            assert live is not None
            fork_of = None if self.settings.probe_in == "end" else live.id
            own = live if fork_of is None else self._session(past, "fork", turn, ask[1] and ask[1].id, fork_of=live.id)
            answer = self._say_probe(self._newest(ask[2]), turn, ask, own)
            self._put_probe(turn, ask, answer, reply, said, usage)

        def twinned(ask: Ask) -> None:
            messages = [self.passages.message(number) for number in range(1, turn + 1)]
            answer, replies = self._replayed(messages, turn, ask, "twin")
            live = [one.reply for one in past]
            differed = sum(one != other for one, other in zip(replies, live, strict=False))
            told = {**usage, "twin_heard": len(replies), "twin_differed": differed}
            self._put_probe(turn, ask, answer, reply, said, told)

        for ask in asks:
            if self.settings.probe_in == "twin":
                later(turn, partial(twinned, ask))
            else:
                forked(ask)  # at once: the next message would be in what is copied

    def _unprobed(self, sent: Sequence[Message], turn: int) -> Spoken:
        """The reply itself, of an arm that is not live and asks no probe."""
        if not self._remembers:
            return self._say(sent, turn, "reply", session=self._session((), "reply", turn))
        *before, last = [one["content"] for one in sent if one["role"] == "user"]
        return self._replayed(before, turn, ("reply", None, last), self.arm)[0]

    def _replayed(self, messages: Sequence[str], turn: int, ask: Ask, what: str) -> tuple[Spoken, list[str]]:
        """The answer to a probe in a session of its own that has heard some messages, and the replies to these."""
        past: tuple[Exchange, ...] = ()
        own = (what, turn, ask[1] and ask[1].id)
        for message in messages:
            heard = self._say(self._newest(message), turn, what, session=self._session(past, *own))
            if heard.content is None:
                return Spoken(None, failure=AFTER_FAILURE), [one.reply for one in past]
            past = (*past, Exchange(turn, message, heard.content))
        return self._say_probe(self._newest(ask[2]), turn, ask, self._session(past, *own)), [one.reply for one in past]

    def _say_probe(self, sent: Sequence[Message], turn: int, ask: Ask, session: Session | None) -> Spoken:
        kind, fact, _ = ask
        most = probe_tokens(kind, self.settings)
        return self._say(sent, turn, kind, fact.id if fact else None, max_tokens=most, session=session)

    def _put_probe(
        self, turn: int, ask: Ask, answer: Spoken, reply: str | None, said: Spoken, usage: Mapping[str, Any]
    ) -> None:
        """The line of a probe; what its answer says of memory and tools is what was there for it."""
        probe = Probe(ask[0], answer.content, ask[1].id if ask[1] else None, answer.failure)
        told = replace(said, tools=(*said.tools, *answer.tools), sources=answer.sources or said.sources)
        self.put(self._line(turn, reply, probe, told, usage, ()))

    # ---- other arms ----------------------------------------------------------------------------------------------

    def at(self, turn: int) -> None:
        """One turn of an arm that is not live: its probes, or its reply where there is none."""
        asks = probes_at(self.passages, turn, self.settings)
        if self.settings.probe == "none":
            sent = reply_context_of(self.arm, self.passages, turn)
            said = self._unprobed(sent, turn)
            self.put(self._line(turn, said.content, None, said, dict(said.usage), sent))
        elif not asks:
            why = NOTHING_TO_ASK if self.settings.asked_at(turn) else NOT_ASKED
            self.put(self._line(turn, None, None, Spoken(None, failure=why), {}, None if why == NOT_ASKED else ()))
            return
        context = context_of(self.arm, self.passages, turn)
        if self._remembers:
            for ask in asks:
                heard = [one["content"] for one in context if one["role"] == "user"]
                answer, _ = self._replayed(heard, turn, ask, self.arm)
                self._put_probe(turn, ask, answer, None, Spoken(None), {})
            return
        for ask in asks:
            probe = self._probed([*context, {"role": "user", "content": ask[2]}], turn, ask)
            self.put(self._line(turn, None, probe, Spoken(None), {}, context))

    def _probed(self, sent: Sequence[Message], turn: int, ask: Ask) -> Probe:
        kind, fact, _ = ask
        fact_id = fact.id if fact else None
        session = self._session((), "probe", turn, fact_id)
        said = self._say(sent, turn, kind, fact_id, max_tokens=probe_tokens(kind, self.settings), session=session)
        return Probe(kind, said.content, fact_id, said.failure)

    def _say(
        self,
        sent: Sequence[Message],
        turn: int,
        purpose: str,
        fact: str | None = None,
        max_tokens: int | None = None,
        session: Session | None = None,
    ) -> Spoken:
        place = Place(self.passages.case.id, self.replicate, self.arm, turn, purpose, fact)
        return self.caller.say(sent, place=place, seed=self.seed, max_tokens=max_tokens, session=session)

    def _compacting(self, request: str, tokens: int) -> str | None:
        said = self._say([{"role": "user", "content": request}], self._turn, "compaction", max_tokens=tokens)
        return said.content

    def _as_sent(self, said: Spoken) -> str:
        """The reply as the history holds it; what was thought aloud only where the study wants it sent back."""
        if self.settings.reasoning == "send" and said.reasoning:
            return f"<think>{said.reasoning}</think>\n{said.content}"
        return said.content or ""

    def _usage(self, said: Spoken, heard: int, recalled: Recalled) -> dict[str, Any]:
        found: dict[str, Any] = {**said.usage, "heard_tokens": heard, "counted_by": self.caller.tokens.name}
        share = repeated_share(said.content or "")
        if share > LIMIT:
            found["repeated_share"] = round(share, 4)
        if recalled.summary_by:
            found["compacted_by"] = recalled.summary_by
        return found

    def _broken(self, turn: int, said: Spoken) -> None:
        """The lines of a reply that failed and of all turns behind it, which were never asked."""
        for number in range(turn, self.passages.case.last_turn + 1):
            code = said.failure if number == turn else AFTER_FAILURE
            unasked: list[Probe | None] = [
                Probe(kind, None, fact.id if fact else None, code)
                for kind, fact, _ in probes_at(self.passages, number, self.settings)
            ]
            for probe in unasked or [None]:
                self.put(self._line(number, None, probe, Spoken(None, failure=code), {}, None))

    def _line(
        self,
        turn: int,
        reply: str | None,
        probe: Probe | None,
        said: Spoken,
        usage: Mapping[str, Any],
        sent: Sequence[Message] | None,
    ) -> Said:
        """One line; `sent` is what the scored answer was asked with, the words of the probe left out."""
        available = None
        if sent is not None:
            available = self.passages.available((message["content"] for message in sent), turn)
        return Said(
            self.passages.case.id,
            self.replicate,
            self.arm,
            turn,
            reply,
            probe,
            said.failure,
            said.reasoning,
            dict(usage),
            available,
            _code_of(said.finish_reason),
            tuple(ToolCall(call["name"], call["arguments"], call.get("result")) for call in said.tools),
            {} if available is None else {HISTORY: available},
            {source: tuple(texts) for source, texts in said.sources.items()},
        )


def _code_of(reason: str | None) -> str:
    return reason if reason and FINISH.fullmatch(reason) else "unknown" if reason else ""


def _before(messages: Sequence[Message], ask: Ask) -> list[Message]:
    """What was sent without the words of the probe, which name what they ask for."""
    *history, last = messages
    left = last["content"].removesuffix(ask[2])  # a summary of earlier turns may stand before them
    return [*history, {"role": "user", "content": left}]


def tokens_as_heard(lines: Sequence[Said], *, whole_history: bool) -> Iterator[Said]:
    """The lines of one live conversation with their tokens by one measure: the provider's, if it gave all of them.

    Where parts of the history are left out, what a provider counts is not what was heard since a fact came up.
    """
    counted = [one.usage.get("prompt_tokens") for one in lines if one.reply is not None]
    by_provider = whole_history and bool(counted) and all(counted)
    for one in lines:
        if by_provider and one.reply is not None:
            usage = {**one.usage, "heard_tokens": one.usage["prompt_tokens"], "counted_by": "provider"}
            one = one._replace(usage=usage)
        yield one


__all__ = [
    "AFTER_FAILURE",
    "LIVE",
    "NOTHING_TO_ASK",
    "NOT_ASKED",
    "Conversation",
    "probe_tokens",
    "probes_at",
    "tokens_as_heard",
]
