"""What a study of chat models may say beside what every study says: how conversations are held and read."""

from __future__ import annotations

import re
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from workup.settings import FileName, Part
from workup.study import Study, SystemPart

CLOCK = 10  # ticks since a fact was introduced to which its loss is customarily followed
LONGEST = 200  # turns of a case


def _ascending(turns: tuple[int, ...], *, least: int) -> tuple[int, ...]:
    if not turns or list(turns) != sorted(set(turns)) or turns[0] < least or turns[-1] > LONGEST:
        raise ValueError(f"turns must stand in their order, each once, from {least} to {LONGEST}")
    return turns


class ToolAct(Part):
    """A call of a tool that is firm advice: what it does to which drug, read from its arguments."""

    tool: str = Field(min_length=1, description="Name of the tool")
    act: Literal["start", "continue", "stop", "increase", "decrease", "avoid"] = Field(
        description="What the call does: start, continue, stop, increase, decrease or avoid"
    )
    drug: str = Field(pattern=r"^\$(\.\w+)+$", description="Where the drug stands in the arguments, such as $.name")
    dose: str | None = Field(None, pattern=r"^\$(\.\w+)+$", description="Where the dose stands, such as $.dose")


class JudgePart(Part):
    """Who reads replies beside the rules, and how often. A judge is settings of `openai_chat`, `nli:FOLDER` or
    package.module:Object."""

    facts: dict[str, Any] | str | None = Field(None, description="Judge of what a reply says of a fact")
    advice: dict[str, Any] | str | None = Field(None, description="Judge of pairs of advice")
    k: int = Field(3, ge=3, le=15, description="Times that each question is asked, an odd number")
    send_text: bool = Field(False, description="Whether replies may be sent to an endpoint that is not this machine")

    @field_validator("k")
    @classmethod
    def _odd(cls, k: int) -> int:
        if k % 2 == 0:
            raise ValueError("k must be odd, so that there is a majority")
        return k


class ConversationPart(Part):
    """How conversations are held and what is asked of them."""

    arms: tuple[str, ...] = Field(
        ("live", "oracle", "naive"), description="Histories compared: live, oracle, naive, filler-k, slip-k"
    )
    probe: str = Field(
        "summary",
        description="What is asked off the history each turn: summary, question or none; after: by the prober",
    )
    prober: SystemPart | None = Field(
        None, description="System that is asked on the recorded history, where the probe is put after the event"
    )
    probe_turns: str | tuple[int, ...] = Field(
        "all", description="Turns at which the probe is asked: all, every:k, or a list such as [1, 5, 10, 20]"
    )
    probe_tokens: int = Field(300, ge=16, le=8192, description="Most tokens of a summary that a probe asks for")
    memory: str = Field(
        "full", description="What is sent of the history: full, last:K turns, tokens:N, clean, compact:N; joined by +"
    )
    replicates: int = Field(1, ge=1, le=100, description="Times that every conversation is held")
    matcher: Literal["context", "published"] = Field("context", description="What reads a reply; published is flawed")
    names: Literal["lexicon", "given"] = Field(
        "lexicon", description="Names of facts looked for: brands and synonyms too, or only those that the case gives"
    )
    judge: JudgePart | None = Field(
        None, description="Second reader, {facts, advice, k, send_text}; package.module:Object alone is one of advice"
    )
    judge_bar: float = Field(0.60, ge=0, lt=1, description="Low end of kappa from which a raw judged figure is shown")
    encoder: str | None = Field(None, description="Sentence encoder for plans, package.module:Object; words without")
    target_plans: FileName | None = Field(None, description="JSON file of plans by case, {case: plan}")
    ratings: FileName | None = Field(
        None,
        description="CSV of PDSQI-9 ratings: case, rater, kind (human or judge), attribute, rating; turn, replicate",
    )
    labelled: FileName | None = Field(None, description="Labels of people on replies of the model under test")
    draw: FileName | None = Field(None, description="What was drawn for them; draw.json beside the labels if absent")
    reasoning: Literal["drop", "send"] = Field("drop", description="Whether reasoning is sent back in the history")
    horizon: int = Field(10, ge=2, le=200, description="Turn at which recall is read off as the headline")
    published: bool = Field(False, description="Also measure what published work did, to compare; no gate takes it")
    probe_in: Literal["fork", "twin", "end"] | None = Field(
        None, description="How an endpoint that remembers is probed: in a fork, a twin, or once at the end"
    )
    tool_sources: dict[str, Literal["retrieval", "tool", "memory"]] = Field(
        default_factory=dict, description="Tools that are a retrieval or a memory, by name, such as {search: retrieval}"
    )
    tool_acts: tuple[ToolAct, ...] = Field(
        (), description="Calls of tools that are advice, such as {tool: order_drug, act: start, drug: $.name}"
    )
    horizons: tuple[int, ...] = Field(
        (), description="Further turns at which recall is read off, as recall_at_20; loss is followed to the largest"
    )
    bar: float = Field(0.70, gt=0, lt=1, description="Recall that is asked for at the horizon")

    @field_validator("judge", mode="before")
    @classmethod
    def _named_alone(cls, judge: Any) -> Any:
        """The first version's form, which named a judge of advice and nothing else."""
        return {"advice": judge} if isinstance(judge, str) else judge

    @field_validator("arms")
    @classmethod
    def _known_arms(cls, arms: tuple[str, ...]) -> tuple[str, ...]:
        for arm in arms:
            if not re.fullmatch(r"live|oracle|naive|(?:filler|slip)-[1-9]\d{0,2}", arm):
                raise ValueError(
                    "an arm is live, oracle, naive, filler-k or slip-k with a number for k, such as slip-5"
                )
        if "live" not in arms or len(set(arms)) < len(arms):
            raise ValueError("arms must name live, and each arm once")
        return arms

    @model_validator(mode="after")
    def _slips_before_the_horizon(self) -> Self:
        late = [arm for arm in self.arms if arm.startswith("slip-") and int(arm.removeprefix("slip-")) >= self.horizon]
        if late:
            raise ValueError(f"arms: {late[0]} must edit a turn before the horizon, which is turn {self.horizon}")
        return self

    @field_validator("probe")
    @classmethod
    def _known_probe(cls, probe: str) -> str:
        if probe not in ("summary", "question", "none", "after"):
            raise ValueError("a probe is summary, question, none or after")
        return probe

    @field_validator("probe_turns")
    @classmethod
    def _known_turns(cls, turns: str | tuple[int, ...]) -> str | tuple[int, ...]:
        if isinstance(turns, str):
            if not re.fullmatch(r"all|every:[1-9]\d{0,2}", turns):
                raise ValueError("the turns of probes are all, every:k with a number for k, or a list of turns")
            return turns
        return _ascending(turns, least=1)

    @field_validator("horizons")
    @classmethod
    def _known_horizons(cls, turns: tuple[int, ...]) -> tuple[int, ...]:
        return _ascending(turns, least=2) if turns else turns

    @model_validator(mode="after")
    def _horizons_are_asked(self) -> ConversationPart:
        for turn in (self.horizon, *self.horizons):
            if self.probe != "none" and not self.asked_at(turn):
                raise ValueError(
                    f"recall at turn {turn} needs a probe there: add the turn to probe_turns, or name another horizon"
                )
        return self

    @model_validator(mode="after")
    def _prober_is_named(self) -> ConversationPart:
        if (self.probe == "after") != (self.prober is not None):
            raise ValueError("probe: after and a prober belong together: the system that is asked about the history")
        return self

    def asked_at(self, turn: int) -> bool:
        """Whether the probe is asked at a turn.

        >>> part = ConversationPart(probe_turns="every:5")
        >>> [turn for turn in range(1, 21) if part.asked_at(turn)]
        [5, 10, 15, 20]
        """
        if isinstance(self.probe_turns, str):
            return self.probe_turns == "all" or turn % int(self.probe_turns.partition(":")[2]) == 0
        return turn in self.probe_turns

    @property
    def clock(self) -> int:
        """Ticks since a fact was introduced to which its loss is followed: ten, or the largest of the horizons."""
        return max((CLOCK, *self.horizons))

    @field_validator("memory")
    @classmethod
    def _known_memory(cls, memory: str) -> str:
        for part in memory.split("+"):
            if not re.fullmatch(r"full|clean|(last|tokens|compact):[1-9]\d{0,6}", part.strip()):
                raise ValueError("a memory is full, last:K, tokens:N, clean or compact:N, or several joined by +")
        return memory


class ConversationStudy(Study):
    """A study of chat models."""

    conversation: ConversationPart = Field(
        default_factory=ConversationPart, description="How conversations are held and read"
    )
