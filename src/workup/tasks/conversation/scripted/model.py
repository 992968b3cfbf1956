"""A scripted model that is talked to like any other: it finds its place in the messages, and plays its part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from workup.errors import SystemFailure
from workup.task import Reply
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.scripted.behaviours import Behaviour
from workup.tasks.conversation.scripted.plan import Plan
from workup.tasks.conversation.scripted.recording import FAILURE
from workup.tasks.conversation.scripted.scripted_advice import counsel
from workup.tasks.conversation.scripted.writing import UNKNOWN, account, answer
from workup.tasks.conversation.talk.arms import context_of, reply_context_of
from workup.tasks.conversation.talk.passages import Passages, cut
from workup.tasks.conversation.talk.prompts import (
    NEUTRAL,
    NOTED,
    compaction_request,
    name_of,
    question_probe,
    summary_probe,
    with_summary,
)

_SUMMARY = summary_probe(300).partition(",")[0]
_QUESTION = question_probe(Fact("f", "symptom", "pain")).partition(".")[0]
_COMPACTION = compaction_request("", "", 16).partition("\n")[0]
_FOLDED = with_summary("\0", "").partition("\0")[0]


class _Place(NamedTuple):
    case: ConversationCase
    arm: str
    turn: int


class Scripted:
    """A chat model with planted faults. It knows the cases beforehand, and nothing of any other conversation."""

    version = "1"

    def __init__(
        self, behaviour: Behaviour, cases: Sequence[ConversationCase], *, seed: int = 0, name: str = "scripted"
    ) -> None:
        self.name, self.behaviour = name, behaviour
        self.plan = Plan(behaviour, cases, seed=seed)
        self._passages = [Passages(case) for case in self.plan.cases]

    def reply(self, messages: Sequence[Mapping[str, str]], *, seed: int = 0) -> Reply:
        """The next message; where a conversation is held several times, noise differs by the seed of the call."""
        asked = messages[-1]["content"]
        if _COMPACTION in asked.partition("User:")[0]:
            return Reply("")  # it writes no summaries of the conversation; its words are then cut short instead
        probing = asked.startswith((_SUMMARY, _QUESTION)) or (
            asked.startswith(_FOLDED) and asked.rpartition("\n\n")[2].startswith((_SUMMARY, _QUESTION))
        )
        place = self._place(messages[:-1] if probing else messages, probing=probing)
        if self.plan.fails(place.case, place.arm, place.turn, draw=seed):
            return Reply(None, failure=FAILURE)
        outcomes = self.plan.outcomes(place.case, place.arm, place.turn, draw=seed)
        if probing and _QUESTION in asked:
            return Reply(self._answered(asked, place, outcomes))
        told = account(place.case, outcomes, padding=self.behaviour.padding)
        if self.behaviour.copies:
            told = self._copied(told, place, messages)
        advice = () if probing or place.arm != "live" else counsel(self.behaviour, place.case, place.turn)
        return Reply(" ".join([told, *advice]))

    def _copied(self, told: str, place: _Place, messages: Sequence[Mapping[str, str]]) -> str:
        """What its last reply said of each fact, in the place of what it would say now."""
        last = next((one["content"] for one in reversed(messages) if one["role"] == "assistant"), "")
        before = cut(last)
        for fact in place.case.active(place.turn):
            if self.behaviour.copies == "doses" and "dose_value" not in fact.attributes:
                continue
            again = [part for part in before if name_of(fact).casefold() in part.casefold()]
            if again:
                said = [part for part in cut(told) if name_of(fact).casefold() in part.casefold()]
                for number, part in enumerate(said):
                    told = told.replace(part, " ".join(again) if number == 0 else "")
        return told

    @staticmethod
    def _answered(asked: str, place: _Place, outcomes: Mapping[str, str]) -> str:
        """The answer to a closed question; of two doses of one drug it is asked for the one that holds."""
        facts = [*place.case.active(place.turn), *place.case.facts]
        fact = next((one for one in facts if asked.endswith(question_probe(one))), None)
        return UNKNOWN if fact is None else answer(fact, outcomes.get(fact.id, "omitted"))

    def _place(self, messages: Sequence[Mapping[str, str]], *, probing: bool) -> _Place:
        """Which case, arm and turn these messages belong to."""
        heard = [one["content"] for one in messages if one["role"] == "user"]
        noted = any(one["role"] == "assistant" and one["content"] == NOTED for one in messages)
        # Arms that are not live may open with words of their own, before anything was noted.
        found = (None if noted else self._live(heard)) or self._other_arm(heard)
        if found is None:
            raise SystemFailure(
                f"system '{self.name}': a scripted model can hold the conversations of its own cases alone; got "
                f"another of {len(messages)} messages. To fix: give it the cases of the study."
            )
        return found

    def _live(self, heard: Sequence[str]) -> _Place | None:
        """The case whose messages end with these; of what was folded into a summary nothing is left to compare."""
        for passages in self._passages:
            said = [passages.message(turn.turn) for turn in passages.case.turns]
            for turn in range(len(said), 0, -1):
                if len(heard) <= turn and all(
                    _is(a, b) for a, b in zip(heard, said[turn - len(heard) : turn], strict=True)
                ):
                    return _Place(passages.case, "live", turn)
        return None

    def _other_arm(self, heard: Sequence[str]) -> _Place | None:
        neutral = [one for one in heard if one in NEUTRAL]
        found = self._contexts.get(tuple(one for one in heard if one not in neutral))
        if found is None or not neutral:
            return found
        return found._replace(arm=f"filler-{len(neutral)}")

    @cached_property
    def _contexts(self) -> dict[tuple[str, ...], _Place]:
        found: dict[tuple[str, ...], _Place] = {}
        for heard, place in self._all_contexts():
            # Turns at which the same facts hold are one to a model that hears the same words.
            found.setdefault(heard, place)
        return found

    def _all_contexts(self) -> Iterator[tuple[tuple[str, ...], _Place]]:
        for passages in self._passages:
            for arm in ("oracle", "naive"):
                for turn in range(1, passages.case.last_turn + 1):
                    for context in (context_of(arm, passages, turn), reply_context_of(arm, passages, turn)):
                        heard = tuple(one["content"] for one in context if one["role"] == "user")
                        yield heard, _Place(passages.case, arm, turn)


def _is(heard: str, said: str) -> bool:
    return heard == said or (heard.startswith(_FOLDED) and heard.endswith(said))
