"""Judges of contradiction between two texts: what one must be able to do, and one made of a local NLI model.

No judge ships with the project. Without one nothing is counted, and that is said: a missing model is not a rate of 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from workup.errors import InputError, MissingExtra, PluginError
from workup.tasks.conversation.read.sentence.folding import without_reasoning

THRESHOLD = 0.5
_PURPOSE = "a judge of contradictions"


@runtime_checkable
class Judge(Protocol):
    """Says how likely the second text contradicts the first: a number from 0 to 1, or None where it cannot say.

    A `name` is used in reports where there is one.
    """

    def contradicts(self, premise: str, hypothesis: str) -> float | None:
        """The probability that the hypothesis contradicts the premise."""
        ...


def judge_name(judge: Any) -> str:
    """The name that a report gives a judge."""
    return str(getattr(judge, "name", "") or type(judge).__name__)


def asked(judge: Judge, premise: str, hypothesis: str) -> float | None:
    """The judge's answer, checked: a judge that answers out of form would pass every model or none."""
    found = judge.contradicts(premise, hypothesis)
    if found is None:
        return None
    if isinstance(found, bool):
        return float(found)
    if not isinstance(found, (int, float)) or not math.isfinite(found) or not 0 <= found <= 1:
        raise PluginError(
            f"the judge '{judge_name(judge)}' must answer a probability from 0 to 1 or None, and did not. To fix: give "
            "the share of its contradiction class, not a logit."
        )
    return float(found)


class PublishedConflicts(NamedTuple):
    """The published rate: contradictions between neighbours over all turns; None, with the reason, where unknown."""

    conflicting: int | None
    turns: int
    rate: float | None
    reason: str = ""
    judge: str = ""


def published_conflicts_of(replies: Mapping[int, str | None], judge: Judge | None) -> PublishedConflicts:
    """The conflict rate of earlier work, to compare with: it sees neighbours alone, and no licence to change.

    >>> published_conflicts_of({1: "Stop warfarin.", 2: "Take warfarin."}, None)
    PublishedConflicts(conflicting=None, turns=2, rate=None, reason='no judge', judge='')
    """
    said = {turn: without_reasoning(reply) for turn, reply in replies.items() if reply is not None}
    held = {turn: reply for turn, reply in sorted(said.items()) if reply.strip()}
    if judge is None:
        return PublishedConflicts(None, len(held), None, "no judge")
    name = judge_name(judge)
    pairs = [(held[turn], held[turn + 1]) for turn in held if turn + 1 in held]
    if not pairs:
        return PublishedConflicts(None, len(held), None, "no neighbouring turns", name)
    answers = [asked(judge, one, other) for one, other in pairs]
    if any(answer is None for answer in answers):
        return PublishedConflicts(None, len(held), None, "replies longer than the judge reads", name)
    count = sum(answer >= THRESHOLD for answer in answers if answer is not None)
    return PublishedConflicts(count, len(held), count / len(held), "", name)


class NliJudge:
    """A cross-encoder for natural language inference from a local folder, such as one saved from nli-deberta-v3-base.

    The folder holds a model of `transformers` for sequence classification, one of whose labels is contradiction. Pairs
    longer than the model reads are not judged: cut off, they would be judged by their first half. Nothing is fetched.
    """

    def __init__(self, folder: Path | str, *, device: str = "cpu", longest: int = 512) -> None:
        path = Path(folder)
        if not (path / "config.json").is_file():
            raise InputError(
                "the judge must be a folder with a saved model",
                where=path.name,
                got="no config.json in it",
                remedy="download the model once and save it with save_pretrained",
            )
        self._torch = _library("torch")
        transformers = _library("transformers")
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(str(path), local_files_only=True)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(str(path), local_files_only=True)
        self._model = model.to(device).eval()
        self._labels = model.config.id2label
        self._contradiction = _label("contradict", self._labels, where=path.name)
        self._longest, self._device = longest, device
        self.name = f"nli:{path.name}"

    def contradicts(self, premise: str, hypothesis: str) -> float | None:
        """The probability of contradiction; None for a pair that is longer than the model reads."""
        found = self._softmax(premise, hypothesis)
        return None if found is None else float(found[self._contradiction])

    def probabilities(self, premise: str, hypothesis: str) -> dict[str, float] | None:
        """The probabilities of contradiction and entailment; None for a pair that is longer than the model reads."""
        entailment = _label("entail", self._labels, where=self.name)
        found = self._softmax(premise, hypothesis)
        if found is None:
            return None
        return {"contradiction": float(found[self._contradiction]), "entailment": float(found[entailment])}

    def _softmax(self, premise: str, hypothesis: str) -> Any:
        read = self._tokenizer(premise, hypothesis, return_tensors="pt", truncation=False)
        if read["input_ids"].shape[-1] > self._longest:
            return None
        with self._torch.inference_mode():
            logits = self._model(**{name: part.to(self._device) for name, part in read.items()}).logits[0]
        return logits.softmax(-1)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(name, extra="huggingface", purpose=_PURPOSE) from error


def _label(opens: str, labels: Mapping[Any, str], *, where: str) -> int:
    """The place of the one label that opens so: "contradict" or "entail"."""
    found = [int(place) for place, label in labels.items() if str(label).casefold().startswith(opens)]
    if len(found) != 1:
        raise InputError(
            f"one label of the model must be '{opens}{'ion' if opens.endswith('t') else 'ment'}'",
            where=where,
            got=f"{len(found)} such labels of {len(labels)}",
            remedy="take a model for natural language inference, or write id2label in its config.json",
        )
    return found[0]
