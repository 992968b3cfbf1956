"""What is sent of the history: policies that are joined by +, each a small object. Knows no arm, no fact and no model.

`full` sends all; `last:K` the last K turns; `tokens:N` the newest whole turns that fit into N tokens; `clean` takes out
what a reply repeats before it enters the history; `compact:N` replaces older turns by a summary once all pass N tokens.
The newest message itself always goes out and counts towards none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from workup.errors import StudyError, near
from workup.tasks.conversation.talk.prompts import NO_ANSWER, compaction_request, with_summary
from workup.tasks.conversation.talk.repetition import cleaned
from workup.tasks.conversation.talk.token_counts import Tokenizer

Message = Mapping[str, str]
_EXTRACT_SENTENCES = 400  # characters of each message that a summary without a model keeps


class Exchange(NamedTuple):
    """One turn of the history: what was asked, and the reply as it entered the history."""

    turn: int
    message: str
    reply: str


class Recalled(NamedTuple):
    """What is left of the history: a summary of the turns that were folded away, and the turns as they were.

    `summary_by` says who wrote the summary: `model`, or `extract` where the model gave none.
    """

    exchanges: tuple[Exchange, ...] = ()
    summary: str = ""
    summary_by: str = ""

    def messages(self, ahead: str) -> list[dict[str, str]]:
        """The history and the newest message, as they are sent; roles take turns, and no system message is made."""
        summary, found = self.summary, []
        for exchange in self.exchanges:
            found.append({"role": "user", "content": with_summary(summary, exchange.message)})
            found.append({"role": "assistant", "content": exchange.reply.strip() or NO_ANSWER})
            summary = ""
        return [*found, {"role": "user", "content": with_summary(summary, ahead)}]


class Tools(NamedTuple):
    """What a policy may need: a count of tokens, and a model that answers a request within some tokens (or not)."""

    tokens: Tokenizer
    write: Callable[[str, int], str | None]


class Policy(Protocol):
    """One rule of memory. An object serves one conversation, since it may remember what it folded away."""

    def entering(self, reply: str) -> str:
        """The reply as it enters the history; the raw one is scored all the same."""
        ...

    def recall(self, recalled: Recalled, tools: Tools) -> Recalled:
        """What is left of what the policies before this one left."""
        ...


class Full:
    """All of it."""

    def entering(self, reply: str) -> str:
        """As it is."""
        return reply

    def recall(self, recalled: Recalled, tools: Tools) -> Recalled:
        """As it is."""
        return recalled


@dataclass
class Last(Full):
    """The last K turns."""

    turns: int

    def recall(self, recalled: Recalled, tools: Tools) -> Recalled:
        """The newest turns."""
        return recalled._replace(exchanges=recalled.exchanges[-self.turns :])


@dataclass
class WithinTokens(Full):
    """The newest turns that fit into N tokens, each whole; a single turn that is longer is not sent either."""

    most: int

    def recall(self, recalled: Recalled, tools: Tools) -> Recalled:
        """Turns from the newest back, until one does not fit."""
        return recalled._replace(exchanges=_newest(recalled.exchanges, self.most, tools.tokens))


class Clean(Full):
    """A reply of which more than 30 % is repeated enters the history without the repetition."""

    def entering(self, reply: str) -> str:
        """Without what it repeats."""
        return cleaned(reply)


@dataclass
class Compact(Full):
    """Turns beyond N tokens are folded into a summary of at most N/2, written by the model under test.

    Where the model writes none, its own words are cut short instead, and the record says `extract`.
    """

    most: int
    _summary: str = ""
    _by: str = ""
    _folded: int = 0  # the last turn that is in the summary

    def recall(self, recalled: Recalled, tools: Tools) -> Recalled:
        """The summary of older turns, and the newest ones as they are."""
        open_turns = tuple(one for one in recalled.exchanges if one.turn > self._folded)
        size = tools.tokens.count(self._summary) + sum(_size(one, tools.tokens) for one in open_turns)
        if size > self.most:
            kept = _newest(open_turns, self.most - self.most // 2, tools.tokens)
            folded = open_turns[: len(open_turns) - len(kept)]
            if folded:
                self._fold(folded, tools)
            open_turns = kept
        return Recalled(open_turns, self._summary, self._by)

    def _fold(self, turns: Sequence[Exchange], tools: Tools) -> None:
        room = max(16, self.most // 2)
        said = "\n".join(f"User: {one.message}\nAssistant: {one.reply}" for one in turns)
        written = tools.write(compaction_request(self._summary, said, room), room)
        if written and written.strip():
            self._summary, self._by = written.strip(), "model"
        else:
            self._summary, self._by = _extract(self._summary, turns, room, tools.tokens), "extract"
        self._folded = turns[-1].turn


@dataclass
class Memory:
    """Policies in the order in which they are named. `Memory.of(text)` makes one for each conversation.

    >>> memory = Memory.of("clean+last:2")
    >>> past = tuple(Exchange(turn, f"m{turn}", f"r{turn}") for turn in (1, 2, 3))
    >>> tools = Tools(Tokenizer.of(None), lambda request, tokens: None)
    >>> [message["content"] for message in memory.recall(past, tools).messages("m4")]
    ['m2', 'r2', 'm3', 'r3', 'm4']
    """

    name: str
    policies: Sequence[Policy] = field(default_factory=tuple)

    @classmethod
    def of(cls, text: str) -> Memory:
        """The policies that a setting names, ready for one conversation."""
        return cls(canonical_name(text), tuple(_policy(part.strip()) for part in text.split("+")))

    @property
    def keeps_all(self) -> bool:
        """Whether the whole history is sent, so that what a provider counts is what was heard."""
        return all(type(policy) in (Full, Clean) for policy in self.policies)

    @property
    def writes(self) -> bool:
        """Whether the model may be asked for summaries of its own."""
        return any(isinstance(policy, Compact) for policy in self.policies)

    def entering(self, reply: str) -> str:
        """The reply as it enters the history."""
        for policy in self.policies:
            reply = policy.entering(reply)
        return reply

    def recall(self, past: tuple[Exchange, ...], tools: Tools) -> Recalled:
        """What is left of the history after the last exchange of `past`."""
        recalled = Recalled(past)
        for policy in self.policies:
            recalled = policy.recall(recalled, tools)
        return recalled


def canonical_name(text: str) -> str:
    """The setting in one form, so that a space does not make another policy of it."""
    return "+".join(part.strip() for part in text.split("+"))


def _policy(name: str) -> Policy:
    kind, _, number = name.partition(":")
    if kind in ("full", "clean") and not number:
        return Full() if kind == "full" else Clean()
    if kind in ("last", "tokens", "compact") and number.isascii() and number.isdigit() and int(number) > 0:
        return {"last": Last, "tokens": WithinTokens, "compact": Compact}[kind](int(number))
    known = ("full", "clean", "last:K", "tokens:N", "compact:N")
    raise StudyError(f"conversation.memory: '{name[:40]}' is not a memory; {near(name[:40], known)}.")


def _size(exchange: Exchange, tokens: Tokenizer) -> int:
    return tokens.exchange(exchange.message, exchange.reply)


def _newest(exchanges: Sequence[Exchange], most: int, tokens: Tokenizer) -> tuple[Exchange, ...]:
    kept, total = len(exchanges), 0
    while kept:
        total += _size(exchanges[kept - 1], tokens)
        if total > most:
            break
        kept -= 1
    return tuple(exchanges[kept:])


def _extract(summary: str, turns: Sequence[Exchange], room: int, tokens: Tokenizer) -> str:
    """The beginning of every message, newest first as far as they fit, behind what the summary said before."""
    pieces: list[str] = []
    left = room
    for text in [*(one.message for one in reversed(turns)), summary]:
        piece = text[:_EXTRACT_SENTENCES].strip()
        size = tokens.count(piece)
        if piece and size <= left:
            pieces.insert(0, piece)
            left -= size
    return "\n".join(pieces)
