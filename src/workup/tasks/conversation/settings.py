"""What a study of chat models may say beside what every study says: how conversations are held and read."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from workup.settings import FileName, Part
from workup.study import Study


class ConversationPart(Part):
    """How conversations are held and what is asked of them."""

    arms: tuple[str, ...] = Field(
        ("live", "oracle", "naive"), description="Histories compared: live, oracle, naive, filler-k, slip-k"
    )
    probe: str = Field("summary", description="What is asked off the history each turn: summary, question or none")
    probe_tokens: int = Field(300, ge=16, le=8192, description="Most tokens of a summary that a probe asks for")
    memory: str = Field(
        "full", description="What is sent of the history: full, last:K turns, tokens:N, clean, compact:N; joined by +"
    )
    replicates: int = Field(1, ge=1, le=100, description="Times that every conversation is held")
    matcher: Literal["context", "published"] = Field("context", description="What reads a reply; published is flawed")
    judge: str | None = Field(None, description="Judge of contradictions, package.module:Object; rules without one")
    encoder: str | None = Field(None, description="Sentence encoder for plans, package.module:Object; words without")
    target_plans: FileName | None = Field(None, description="JSON file of plans by case, {case: plan}")
    ratings: FileName | None = Field(
        None,
        description="CSV of PDSQI-9 ratings: case, rater, kind (human or judge), attribute, rating; turn, replicate",
    )
    labelled: FileName | None = Field(None, description="Labelled replies of the model under test, for corrected rates")
    reasoning: Literal["drop", "send"] = Field("drop", description="Whether reasoning is sent back in the history")
    horizon: int = Field(10, ge=2, le=200, description="Turn at which recall is read off as the headline")
    bar: float = Field(0.70, gt=0, lt=1, description="Recall that is asked for at the horizon")

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
        if probe not in ("summary", "question", "none"):
            raise ValueError("a probe is summary, question or none")
        return probe

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
