"""Scripted chat models under the name `scripted`: planted faults for demonstrations and self-tests. Asks nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from workup import plugins
from workup.errors import StudyError
from workup.systems.settings import FilePath, Share, Word
from workup.task import Reply
from workup.tasks.conversation.cases.case import ConversationCase, case_of, read_cases
from workup.tasks.conversation.scripted import Scripted, behaviour

_Count = Annotated[int | None, Field(ge=0, le=1_000)]


class ScriptedModel:
    """A chat model whose faults are known. It must be given the cases of the study: a file, or how they are generated.

    `behaviour` names what it does (perfect, forgetful, dropping, wavering, reversing, dose_confusing, stale,
    flip_flopping, harmful, verbose, failing, copying); the other settings change its numbers.
    """

    provider = "scripted"

    def __init__(
        self,
        *,
        name: str,
        base: Path | None = None,
        behaviour: Annotated[Word, Field(description="What it does, by name, such as forgetful")] = "perfect",
        cases: Annotated[FilePath, Field(description="File of the cases it will meet")] = "",
        generate: Annotated[
            dict[str, Any] | None, Field(description="How those cases are generated, as under corpus.generate")
        ] = None,
        seed: Annotated[int, Field(ge=0, le=2**63 - 1, description="Seed of its draws")] = 0,
        recall: Annotated[Share | None, Field(description="Share of the facts it keeps at turn 1")] = None,
        slope: Annotated[float | None, Field(ge=-1, le=1, description="Change of that share with every turn")] = None,
        oracle: Annotated[Share | None, Field(description="Share kept with the facts alone before it")] = None,
        reversal: Annotated[Share | None, Field(description="Share of the facts said the other way round")] = None,
        wrong_value: Annotated[Share | None, Field(description="Share of facts with a value that get another")] = None,
        stale: Annotated[Share | None, Field(description="Share of outdated facts still said")] = None,
        conflicts: Annotated[_Count, Field(description="Pieces of advice that contradict earlier ones")] = None,
        agreements: Annotated[_Count, Field(description="Pairs of advice that agree")] = None,
        never_events: Annotated[_Count, Field(description="Pieces of advice that must never be given")] = None,
        failures: Annotated[Share | None, Field(description="Share of calls that fail")] = None,
        padding: Annotated[_Count, Field(description="Sentences around the facts that say nothing")] = None,
        noise: Annotated[bool | None, Field(description="true: every fact is a draw")] = None,
        spread: Annotated[
            float | None, Field(ge=0, le=10, description="Standard deviation between cases, with noise")
        ] = None,
    ) -> None:
        given = {
            "recall": recall,
            "slope": slope,
            "oracle": oracle,
            "reversal": reversal,
            "wrong_value": wrong_value,
            "stale": stale,
            "conflicts": conflicts,
            "agreements": agreements,
            "never_events": never_events,
            "failures": failures,
            "padding": padding,
            "noise": noise,
            "spread": spread,
        }
        changed: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        planted = replace(_named(behaviour), **changed)
        known = _cases(cases, generate, base or Path(), where=f"system '{name}'")
        self.name, self.version = name, "1"
        self.model = f"{behaviour} {sorted(changed.items())} seed {seed}"
        self._model = Scripted(planted, known, seed=seed, name=name)

    def reply(self, messages: Sequence[Mapping[str, str]], *, seed: int = 0) -> Reply:
        """What the script says at this place of the conversation."""
        return self._model.reply(messages, seed=seed)


def _named(name: str) -> Any:
    return behaviour(name)


def _cases(path: str, generate: Mapping[str, Any] | None, base: Path, *, where: str) -> list[ConversationCase]:
    if bool(path) == bool(generate):
        raise StudyError(
            f"{where}: 'scripted' needs the cases that it will meet; got {'two answers' if path else 'none'}. To fix: "
            "give 'cases' (the file of the corpus) or 'generate' (as under corpus.generate) under 'with:'."
        )
    if path:
        return read_cases(base / path)
    made, _, _ = plugins.generated(
        generate or {}, kind="conversation", seed=0, where=f"{where}, generate", gives="cases"
    )
    return [
        one if isinstance(one, ConversationCase) else case_of(one, where=f"case number {number}")
        for number, one in enumerate(made.cases(), start=1)
    ]
