"""Any spaCy pipeline that finds entities, as a detector: an installed package by its name, or a folder.

Nothing is downloaded."""

from __future__ import annotations

import contextlib
import importlib.metadata
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from workup.documents.document import Span
from workup.documents.mappings import LabelMapping
from workup.errors import InputError, SystemFailure, near, raised
from workup.systems.libraries import library
from workup.systems.settings import UNPINNED, Batch, FilePath, LabelMap, OnError, Sha256, Word, Words
from workup.systems.spans.detectors import (
    Answers,
    check_detector_settings,
    check_words,
    detect_each,
    pinned_folder,
    refuse_pin,
    settings_text,
    silent,
)
from workup.systems.wire.spans import checked_mapping

_SCHEMES = ("ontonotes", "wikiner")  # what the pipelines that spaCy's makers publish are trained on
_CODE = re.compile(r"\[(W\d+)\]")


class SpacyPipeline:
    """Answers the entities of the pipeline (`doc.ents`), or the spans under `spans_key` (`doc.spans[spans_key]`).

    `labels` keeps only some of its labels; `exclude` names components to leave out for speed, which may change entities
    (those of spaCy's own recogniser do not cross the sentences that a parser sets). Where no `mapping` is named,
    `ontonotes` or `wikiner` is taken if it knows every label. A text on which spaCy crashes (by default one of more
    than a million characters) ends the run, or is refused with `on_error: refuse`. `sha256` pins the pipeline's folder.
    """

    spreads = True  # one core, no service: several processes may have one each

    recorded: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        model: Annotated[FilePath, Field(description="spaCy pipeline: an installed package or a folder")],
        sha256: Sha256 = UNPINNED,
        labels: Annotated[Words | None, Field(description="Labels that count; all of the pipeline when absent")] = None,
        exclude: Annotated[Words | None, Field(description="Components that are not loaded")] = None,
        spans_key: Annotated[Word, Field(description="Group of doc.spans to read in the place of doc.ents")] = "",
        mapping: LabelMap = "",
        on_error: OnError = "fail",
        batch: Batch = 16,
    ) -> None:
        where = f"system '{name}'"
        check_detector_settings(on_error=on_error, batch=batch, where=where)
        self.name, self.on_error, self.batch, self.spans_key = name, on_error, batch, spans_key
        left_out = check_words(exclude, field="exclude", where=where) or ()
        self._nlp, self.version, self.notes = load_pipeline(
            model, base=base, sha256=sha256, exclude=left_out, where=where
        )
        self.emits = _labels(self._nlp, check_words(labels, field="labels", where=where), spans_key, where=where)
        self.mapping = checked_mapping(mapping, base=base) or _known_scheme(self.emits)
        self._wanted = frozenset(self.emits)
        chosen = {"labels": labels and self.emits, "exclude": left_out, "spans_key": spans_key}
        self.version = f"{self.version} {settings_text(**{k: v for k, v in chosen.items() if v})}".rstrip()
        self._settings: dict[str, Any] = {
            "name": name,
            "base": base,
            "model": model,
            "sha256": sha256,
            "labels": labels,
            "exclude": exclude,
            "spans_key": spans_key,
            "mapping": mapping,
            "on_error": on_error,
            "batch": batch,
        }

    def __getstate__(self) -> dict[str, Any]:
        return self._settings  # a pipeline is large, and what it has seen should not travel; another process loads it

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self.__init__(**settings)  # type: ignore[misc]

    def detect(self, texts: Sequence[str]) -> Answers:
        """The entities of each text, by start."""
        with silent("spacy", "thinc"), forgetful(self._nlp):
            return detect_each(texts, self._find, system=self.name, on_error=self.on_error)

    def _find(self, text: str) -> Iterator[Span]:
        # One text at a time: in a batch, sums of floats may come out otherwise, and an answer would hang on the batch.
        doc = self._nlp(text)
        if not self.spans_key:
            spans, scores = doc.ents, None
        else:
            group = doc.spans.get(self.spans_key, ())
            spans, scores = group, getattr(group, "attrs", {}).get("scores")
        for number, span in enumerate(spans):
            if span.label_ in self._wanted:
                score = None if scores is None else float(scores[number])
                yield Span(span.start_char, span.end_char, span.label_, score=score)


def load_pipeline(
    model: str, *, base: Path, sha256: str = UNPINNED, exclude: Sequence[str] = (), where: str
) -> tuple[Any, str, tuple[str, ...]]:
    """A pipeline from a folder or an installed package; its version, and a note for each warning that loading gave."""
    spacy = library("spacy", package="spacy", extra="spacy", purpose="running a spaCy pipeline")
    with (
        _source(model, base / model, sha256, installed=spacy.util.is_package, where=where) as (source, mark),
        warnings.catch_warnings(record=True) as seen,
    ):
        warnings.simplefilter("always")
        try:
            nlp = spacy.load(source)
        except Exception as error:
            raise SystemFailure(
                f"{where}: the pipeline '{model}' could not be loaded ({raised(error)}). To fix: make sure that it was "
                f"made for the installed spaCy ({spacy.__version__}), and that packages with its components are "
                "installed."
            ) from None
    for component in exclude:
        if component not in nlp.pipe_names:
            raise InputError(
                f"'exclude' names '{component[:60]}', which the pipeline does not have",
                where=where,
                remedy=near(component, nlp.pipe_names),
            )
        nlp.remove_pipe(component)
    meta = nlp.meta
    version = f"{meta['lang']}_{meta['name']} {meta['version']}{mark} spacy {spacy.__version__}"
    codes = dict.fromkeys(code for one in seen for code in _CODE.findall(str(one.message)))
    return nlp, version, tuple(f"spaCy warned while it loaded the pipeline: {code}" for code in codes)


@contextlib.contextmanager
def _source(
    model: str, folder: Path, sha256: str, *, installed: Callable[[str], bool], where: str
) -> Iterator[tuple[Any, str]]:
    """What spaCy loads, and a hash where it is a folder, whose version nobody may have raised."""
    if (folder / "meta.json").is_file():
        with pinned_folder(folder, sha256, where=where) as (source, found):
            yield source, f" sha256:{found[:12]}"
        return
    package = model.replace("-", "_")
    if package.isidentifier() and installed(package):
        refuse_pin(sha256, remedy="leave it out: an installed pipeline is pinned by its version", where=where)
        yield package, ""
        return
    raise InputError(
        "'model' must be an installed pipeline or the folder of one",
        where=where,
        got=f"'{model[:200]}'",
        remedy=f"install its package (nothing is downloaded here), or give a path as seen from the folder of the "
        f"study; {near(package, _installed())}",
    )


def _installed() -> list[str]:
    return sorted({point.name for point in importlib.metadata.entry_points(group="spacy_models")})


@contextlib.contextmanager
def forgetful(nlp: Any) -> Iterator[None]:
    """What the pipeline learns of words is dropped at the end, where spaCy can (3.8): its store of strings grows with
    every note otherwise, and keeps their words."""
    zone = getattr(nlp, "memory_zone", None)
    with contextlib.nullcontext() if zone is None else zone():
        yield


def _labels(nlp: Any, chosen: tuple[str, ...] | None, spans_key: str, *, where: str) -> tuple[str, ...]:
    """Labels that the pipeline can give; one that gives none would pass for a detector that finds nothing."""
    attribute = "doc.spans" if spans_key else "doc.ents"
    finders = [pipe for pipe in nlp.pipe_names if attribute in nlp.get_pipe_meta(pipe).assigns]
    own = sorted({label for pipe in finders for label in nlp.pipe_labels.get(pipe, ())})
    if not own:
        raise InputError(
            f"the pipeline must have a component that sets {attribute} and knows its labels",
            where=where,
            got=f"the components {', '.join(nlp.pipe_names) or '(none)'}",
            remedy="name a pipeline with an entity recogniser; a component of your own says assigns=['doc.ents'] when "
            "it is registered, and has 'labels'",
        )
    for label in chosen or ():
        if label not in own:
            raise InputError(
                f"'labels' names '{label[:60]}', which the pipeline cannot give", where=where, remedy=near(label, own)
            )
    return tuple(own if chosen is None else chosen)


def _known_scheme(labels: Sequence[str]) -> str | None:
    return next((scheme for scheme in _SCHEMES if set(labels) <= set(LabelMapping.load(scheme).labels)), None)
