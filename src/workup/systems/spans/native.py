"""Workup's own de-identifier as a detector under test, judged like any other. It answers canonical leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os.path import isfile
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from workup.deid.engine import LEAVES, Deidentifier
from workup.documents.document import Span
from workup.documents.policies import Policy
from workup.errors import InputError
from workup.systems.settings import Batch, FilePath, OnError, Share, Word, Words
from workup.systems.spans.detectors import (
    Answers,
    check_detector_settings,
    check_words,
    detect_each,
    settings_text,
)
from workup.version import __version__


class Native:
    """Answers the findings of `workup.deid` with their scores, as canonical leaves.

    `layers` are those of the de-identifier (rules, spacy); `config` is a YAML file of rules of your own. `policy` keeps
    only leaves that the policy says must be masked, which is what a redactor under that policy would mask; without it,
    all leaves are answered. `threshold` drops findings with a lower score.
    """

    spreads = True  # one core, no service: several processes may have one each

    recorded: ClassVar[bool] = False
    mapping: ClassVar[str] = "workup"

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        layers: Annotated[Words | None, Field(description="Layers of the de-identifier; rules when absent")] = None,
        config: Annotated[FilePath, Field(description="YAML file of rules of your own")] = "",
        policy: Annotated[FilePath, Field(description="Policy, by name or file, whose leaves alone are answered")] = "",
        threshold: Annotated[Share | None, Field(description="Least score of a finding")] = None,
        language: Annotated[Word, Field(description="Language of the texts, as a code")] = "en",
        on_error: OnError = "fail",
        batch: Batch = 64,
    ) -> None:
        where = f"system '{name}'"
        check_detector_settings(on_error=on_error, batch=batch, where=where)
        _check_threshold(threshold, where=where)
        self.name, self.on_error, self.batch = name, on_error, batch
        chosen = check_words(layers, field="layers", where=where) or ("rules",)
        rules = _file(config, base, where=where) if config else None
        self._deid = Deidentifier.load(rules, layers=chosen, language=language)
        self.emits = _leaves(policy, base) if policy else LEAVES
        self._kept, self._least = frozenset(self.emits), threshold or 0.0
        self.version = f"workup.deid {__version__} {self._deid.version} " + settings_text(
            policy=policy or "all", threshold="default" if threshold is None else threshold
        )
        self.notes = tuple(note for layer in self._deid.layers for note in getattr(layer, "notes", ()))
        self._settings: dict[str, Any] = {
            "name": name,
            "base": base,
            "layers": layers,
            "config": config,
            "policy": policy,
            "threshold": threshold,
            "language": language,
            "on_error": on_error,
            "batch": batch,
        }

    def __getstate__(self) -> dict[str, Any]:
        return self._settings  # another process reads the gazetteers anew

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self.__init__(**settings)  # type: ignore[misc]

    def detect(self, texts: Sequence[str]) -> Answers:
        """What the de-identifier finds in each text, by start."""
        return detect_each(texts, self._find, system=self.name, on_error=self.on_error)

    def _find(self, text: str) -> Iterator[Span]:
        for one in self._deid.detect([text])[0]:
            if one.label in self._kept and one.score >= self._least:
                yield Span(one.start, one.end, one.label, score=one.score)


def _leaves(policy: str, base: Path) -> tuple[str, ...]:
    beside = base / policy
    decide = Policy.load(beside if isfile(beside) else policy)
    return tuple(leaf for leaf in LEAVES if decide.of(leaf) == "must")


def _file(config: str, base: Path, *, where: str) -> Path:
    path = base / config
    if not isfile(path):
        raise InputError("'config' must be a YAML file of rules", where=where, got="no such file")
    return path


def _check_threshold(threshold: float | None, *, where: str) -> None:
    number = isinstance(threshold, (int, float)) and not isinstance(threshold, bool)
    if threshold is not None and not (number and 0 <= threshold <= 1):
        raise InputError("'threshold' must be a number from 0 to 1", where=where, got=repr(threshold)[:20])
