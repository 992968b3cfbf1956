"""Scripted chat models under the name `scripted`: planted faults for demonstrations and self-tests. Asks nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workup import plugins
from workup.errors import StudyError
from workup.task import Reply
from workup.tasks.conversation.cases import ConversationCase, case_of, read_cases
from workup.tasks.conversation.scripted import Scripted, behaviour


class ScriptedModel:
    """A chat model whose faults are known. It must be given the cases of the study: a file, or how they are generated.

    `behaviour` names what it does (perfect, forgetful, dropping, wavering, reversing, dose_confusing, stale,
    flip_flopping, harmful, verbose, failing); the other settings change its numbers.
    """

    provider = "scripted"

    def __init__(
        self,
        *,
        name: str,
        base: Path | None = None,
        behaviour: str = "perfect",
        cases: str = "",
        generate: Mapping[str, Any] | None = None,
        seed: int = 0,
        recall: float | None = None,
        slope: float | None = None,
        oracle: float | None = None,
        reversal: float | None = None,
        wrong_value: float | None = None,
        stale: float | None = None,
        conflicts: int | None = None,
        agreements: int | None = None,
        never_events: int | None = None,
        failures: float | None = None,
        padding: int | None = None,
        noise: bool | None = None,
        spread: float | None = None,
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
    settings = dict(generate or {})
    kind, seed = str(settings.pop("kind", "conversation")), int(settings.pop("seed", 0))
    made = plugins.make("generators", kind, settings, where=f"{where}, generate", context={"seed": seed})
    return [
        one if isinstance(one, ConversationCase) else case_of(one, where=f"case number {number}")
        for number, one in enumerate(made.cases(), start=1)
    ]
