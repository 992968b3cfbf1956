"""Workup's own de-identifier as a detector under test, judged like any other. It answers canonical leaves."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from os.path import isdir, isfile
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from workup.deid.engine import LEAVES, Deidentifier
from workup.deid.known_values import KnownValues
from workup.documents.document import Span
from workup.documents.policies import Policy
from workup.errors import InputError
from workup.systems.settings import Batch, FilePath, OnError, Share, Threads, Word, Words
from workup.systems.spans.detectors import (
    Answers,
    check_detector_settings,
    check_words,
    detect_each,
    settings_text,
)
from workup.systems.spans.known_table import KnownTable, read_known
from workup.version import __version__

DEFAULT_POLICY = "hipaa_plus_providers"
ALL = "all"  # every leaf


class Native:
    """Answers the findings of `workup.deid` with their scores, as canonical leaves.

    `layers` are those of the de-identifier (rules, spacy); `config` is a YAML file of rules of your own. `policy` keeps
    only leaves that the policy says must be masked, which is what a redactor under that policy would mask: Safe Harbor
    and the names of clinicians unless another is named. `all` answers every leaf: ages, bare years, states and
    ethnicity too, which leaves few clinical texts intact that hold no identifier. `threshold` drops findings with a
    lower score. `known` is a table of what a register knows of each patient, a file or a folder with a file for each;
    it is looked for in the texts of that patient, and held in memory alone.

    `tagger` says whether the neural tagger reads along (auto: where it can be run, with a note where it cannot);
    `model` is a folder with another one. `caution` is added to the log-odds of every find that rests on no label or
    check digit: above 0 more is masked, below 0 less.
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
        policy: Annotated[
            FilePath,
            Field(
                description="Policy, by name or file, whose leaves alone are answered; all answers every leaf, "
                "ages, years and ethnicity too, and spoils most texts without identifiers"
            ),
        ] = DEFAULT_POLICY,
        threshold: Annotated[Share | None, Field(description="Least score of a finding")] = None,
        language: Annotated[Word, Field(description="Language of the texts, as a code")] = "en",
        known: Annotated[FilePath, Field(description="Table of what is known of each patient, or a folder")] = "",
        known_key: Annotated[Word, Field(description="Its column with the patient's key; found when absent")] = "",
        tagger: Annotated[
            Literal["auto", "on", "off"] | bool, Field(description="Whether the neural tagger reads along")
        ] = "auto",
        model: Annotated[FilePath, Field(description="Folder with a tagger of your own")] = "",
        caution: Annotated[
            float, Field(ge=-20, le=20, description="Added to the log-odds of finds without a label or check digit")
        ] = 0.0,
        threads: Threads = 1,
        on_error: OnError = "fail",
        batch: Batch = 64,
    ) -> None:
        where = f"system '{name}'"
        check_detector_settings(on_error=on_error, batch=batch, where=where)
        _check_threshold(threshold, where=where)
        self.name, self.on_error, self.batch = name, on_error, batch
        chosen = check_words(layers, field="layers", where=where) or ("rules",)
        rules = _file(config, base, where=where) if config else None
        table = read_known(base / known, key=known_key, where=where) if known else None
        with warnings.catch_warnings():  # the notes say the same, in the report
            warnings.simplefilter("ignore")
            self._deid = Deidentifier.load(
                rules,
                layers=chosen,
                language=language,
                known=None if table is None else table.rows(),
                tagger=_use(tagger),
                model=_folder(model, base, where=where) if model else None,
                caution=caution,
                threads=threads,
            )
        self.emits = _leaves(policy, base) if policy and policy != ALL else LEAVES
        self._kept, self._least = frozenset(self.emits), threshold or 0.0
        self.version = f"workup.deid {__version__} {self._deid.version} " + settings_text(
            policy=policy or ALL, threshold="default" if threshold is None else threshold
        )
        own = (note for layer in self._deid.layers for note in getattr(layer, "notes", ()))
        self.notes = (*own, *self._deid.notes)
        if table is not None:
            self.version += " " + settings_text(known=table.fingerprint)
            self.notes += _about(self._deid.known, table)
        self._settings: dict[str, Any] = {
            "name": name,
            "base": base,
            "layers": layers,
            "config": config,
            "policy": policy,
            "threshold": threshold,
            "language": language,
            "known": known,
            "known_key": known_key,
            "tagger": tagger,
            "model": model,
            "caution": caution,
            "threads": threads,
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

    def detect_of_patients(self, texts: Sequence[str], patients: Sequence[str | None]) -> Answers:
        """What it finds in each text, where it is told whose text it is; None where nobody knows."""
        if self._deid.known is None:
            return self.detect(texts)
        found: Answers = []
        for text, patient in zip(texts, patients, strict=True):
            find = partial(self._find, patient=patient)
            found += detect_each([text], find, system=self.name, on_error=self.on_error)
        return found

    def told_patients(self, patients: Sequence[str | None]) -> None:
        """Learn, before the first text, whose texts will come: those of patients that the table lacks are counted."""
        known = self._deid.known
        if known is None:
            return
        unnamed, missing = patients.count(None), sum(one is not None and one not in known for one in patients)
        if unnamed:
            said = f"Known values: {unnamed:,} of {len(patients):,} documents name no patient; rules alone were used"
            self.notes += (f"{said} in them.",)
        if missing:
            said = f"Known values: the patients of {missing:,} of {len(patients):,} documents are not in the table"
            self.notes += (f"{said}; rules alone were used in them.",)

    def _find(self, text: str, patient: str | None = None) -> Iterator[Span]:
        for one in self._deid.detect([text], [patient])[0]:
            if one.label in self._kept and one.score >= self._least:
                yield Span(one.start, one.end, one.label, score=one.score)


def _about(known: KnownValues | None, table: KnownTable) -> tuple[str, ...]:
    """What to say of a table: how much is known, and what of it could not be used; never a value."""
    assert known is not None
    said = [f"Known values: {known.values:,} of {len(known):,} patients, held in memory alone."]
    if table.unused:
        said.append(f"Known values: columns that are not looked for: {', '.join(table.unused)}.")
    if known.unusable:
        said.append(f"Known values: {known.unusable:,} cells hold one sign, or too many to be a value, and are left.")
    return tuple(said)


def _leaves(policy: str, base: Path) -> tuple[str, ...]:
    beside = base / policy
    decide = Policy.load(beside if isfile(beside) else policy)
    return tuple(leaf for leaf in LEAVES if decide.of(leaf) == "must")


def _file(config: str, base: Path, *, where: str) -> Path:
    path = base / config
    if not isfile(path):
        raise InputError("'config' must be a YAML file of rules", where=where, got="no such file")
    return path


def _use(tagger: str | bool) -> Any:
    """YAML reads the words on and off as true and false."""
    return ("on" if tagger else "off") if isinstance(tagger, bool) else tagger


def _folder(model: str, base: Path, *, where: str) -> Path:
    path = base / model
    if not isdir(path):
        raise InputError("'model' must be the folder of a tagger", where=where, got="no such folder")
    return path


def _check_threshold(threshold: float | None, *, where: str) -> None:
    number = isinstance(threshold, (int, float)) and not isinstance(threshold, bool)
    if threshold is not None and not (number and 0 <= threshold <= 1):
        raise InputError("'threshold' must be a number from 0 to 1", where=where, got=repr(threshold)[:20])
