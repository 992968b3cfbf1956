"""The spans task: reads documents with golds, asks a detector for spans, and makes Scores with one row per document."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress
from os.path import isfile
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from workup import plugins
from workup.documents.batch import batches_of
from workup.documents.detections import Detections, Found, GivenSpans, HeldDetections, StreamedDetections
from workup.documents.document import Document, Span
from workup.documents.mappings import LabelMapping
from workup.errors import InputError, RunError, StudyError, SystemFailure
from workup.metric import Metric
from workup.scores import Scores
from workup.task import (
    UNLIMITED,
    Budget,
    Case,
    Corpus,
    Engine,
    OutputLog,
    Paired,
    Part,
    SpanSystem,
    StudyDesign,
    Watch,
    misrecorded,
)
from workup.tasks.asking import Batch, ask, record, share_of
from workup.tasks.guarding import guarded
from workup.tasks.sampling import sampled_ids
from workup.tasks.spans.budgets import within
from workup.tasks.spans.cards import CARDS
from workup.tasks.spans.comparing.pairing import paired
from workup.tasks.spans.corpus import DocumentCases, SpansCorpus
from workup.tasks.spans.counting.accumulator import Ledger
from workup.tasks.spans.counting.counting_rules import Yardstick
from workup.tasks.spans.counting.crowding import Crowding
from workup.tasks.spans.counting.matchup import PHI
from workup.tasks.spans.counting.modes import parse_mode
from workup.tasks.spans.counting.scoring import SpanScores, as_scores
from workup.tasks.spans.errors.details import details_of
from workup.tasks.spans.errors.error_log import Errors
from workup.tasks.spans.label_parts import label_parts
from workup.tasks.spans.metrics import span_metrics
from workup.tasks.spans.notes import cautions, notes_of, straddled
from workup.tasks.spans.settings import SpansStudy
from workup.tasks.spans.tables import tables_of
from workup.tasks.spans.utility import Utility, lost_terms, retention_metrics

_BATCH = 16  # texts asked for at a time, where a system does not say


@dataclass(frozen=True)
class Outputs:
    """What a system answered: predictions, given anew each time they are joined to the corpus."""

    detections: Callable[[], Detections]
    labels: str = ""  # the mapping that the system's labels belong to
    emits: tuple[str, ...] | None = None


class SpansTask:
    """De-identifiers and PII detectors."""

    name = "spans"
    cards = CARDS
    Settings = SpansStudy
    leaves_out = ("label",)
    batch = _BATCH
    in_batches = True
    shows_text = True
    asks = "detect"

    def __init__(self) -> None:
        self._study: SpansStudy | None = None
        self._straddled: tuple[str, ...] = ()

    @staticmethod
    def primary(study: Mapping[str, Any]) -> dict[str, Any]:
        """Whole masks of any type, under the first policy that the study names."""
        policies = study.get("policies")
        return {"mode": "full_mask", "level": "phi", **({"policy": policies[0]} if policies else {})}

    def read(self, study: SpansStudy, table: Any = None) -> SpansCorpus:
        """The documents a study names; `table`, a list of documents, takes the place of the file."""
        self._study = study
        yardstick(study)  # a study that cannot be counted is refused before anything is read
        source, name, seed = self._source(study, table)
        corpus = SpansCorpus(
            name=study.corpus.name or name,
            version=study.corpus.version,
            task=self.name,
            cases=(),
            sha256="",
            read=source,
            source=study.corpus.path or "",
            seed=seed,
        )
        if not _all_recorded(study):
            for _ in corpus.batches():  # every fault of the corpus is found before a system is asked
                pass
        return replace(corpus, cases=DocumentCases(corpus), sha256=corpus.facts.sha256)

    def design(self, study: SpansStudy, corpus: Corpus | None) -> StudyDesign:
        """Whether documents name sites and times, where they were read before the detector is asked."""
        stick = yardstick(study)
        keys = {
            "mode": {one.mode.name for one in stick.settings},
            "level": {one.level for one in stick.settings},
            "policy": {policy.name for policy in stick.policies},
        }
        if not isinstance(corpus, SpansCorpus) or not corpus.facts.complete:
            return StudyDesign(keys=keys)
        return StudyDesign(placed=corpus.facts.placed, timed=corpus.facts.timed, keys=keys)

    def _source(self, study: SpansStudy, table: Any) -> tuple[Callable[[], Any], str, int | None]:
        part = study.corpus
        options: dict[str, Any] = {
            "annotators": part.annotators,
            "mapping": LabelMapping.load(_beside(study, study.labels) or "workup"),
        }
        if table is not None:
            record = plugins.find("formats", "spans-jsonl").read_record
            documents = [
                one if isinstance(one, Document) else record(one, where=f"document {number}")
                for number, one in enumerate(table, start=1)
            ]
            if not documents:
                raise InputError("at least one document was expected", where="table", got="none")
            if len({one.id for one in documents}) < len(documents):
                raise InputError("each document must have an id of its own", where="table", got="one that occurs twice")
            return partial(batches_of, documents, **options), "documents", None
        if part.generate is not None:
            made, kind, seed = plugins.generated(
                part.generate, kind="notes", seed=study.seed, where="corpus.generate", gives="documents"
            )
            return lambda: batches_of(made.documents(), **options), f"generated {kind}", seed
        if part.path is None:
            raise StudyError("corpus: give 'path' (a file or folder of documents) or 'generate'.")
        path = study.base / part.path
        read = plugins.find("formats", "span-batches")
        read_as = {"format": part.format, "offsets": part.offsets, "trim": part.trim}
        if part.sample is not None:
            everything = partial(plugins.find("formats", "spans"), path, **read_as)
            chosen = sampled_ids(((d.id, d.type or "") for d in everything()), part.sample, seed=study.seed)
            return lambda: batches_of((d for d in everything() if d.id in chosen), **options), path.name, None
        return lambda: read(path, **read_as, **options), path.name, None

    def run(
        self,
        open_system: Callable[[], Any],
        corpus: Corpus,
        engine: Engine,
        log: OutputLog,
        watch: Watch,
        *,
        budget: Budget = UNLIMITED,
    ) -> Outputs:
        """The spans of every document; a recorded system's are read from its file as they are needed."""
        assert isinstance(corpus, SpansCorpus) and self._study is not None
        system = open_system()
        labels, emits = str(getattr(system, "mapping", "") or ""), getattr(system, "emits", None)
        if getattr(system, "recorded", False):
            return Outputs(_recorded(system, corpus), labels, emits)
        known = {id: _remembered(id, answer) for id, answer in log.known().items()}
        size = int(getattr(system, "batch", _BATCH))
        every = _questions(corpus, size)
        if (told := getattr(system, "told_patients", None)) is not None:
            told([patient for _, question in every for patient in question.patients])
        share = share_of(engine, every)
        total, done = sum(len(ids) for ids, _ in share), len(known)
        watch("asking the detector", min(done, total), total)
        pending = [one for one in share if any(id not in known for id in one[0])]
        affordable = within(budget, system, [question.texts for _, question in pending])
        asked = ask(
            engine,
            partial(_opened, open_system),
            [Batch(ids, question) for ids, question in pending[:affordable]],
            alone=_alone,
            answered=bool(known),
            patiently=budget.calls is None and budget.cost is None,
        )
        for found in asked:
            new = found.beside(known)
            record(log, new)
            known |= {**new.answers, **dict.fromkeys(new.failed)}
            done += len(found)
            watch("asking the detector", min(done, total), total)
        if affordable < len(pending):
            raise RunError(
                f"stopped at the limit on calls or cost: {done:,} of {total:,} documents are answered and kept. "
                "To fix: run the same command again with a higher --max-calls or --max-cost; it goes on from there."
            )
        return Outputs(partial(HeldDetections, {id: _spans(answer) for id, answer in known.items()}), labels, emits)

    def score(self, case: Case, output: Any) -> list[dict[str, float]]:
        """The counts of one document."""
        assert self._study is not None
        found = Found.of([_spans(_checked(output))])
        ledger = Ledger(yardstick(self._study), by_label=False)
        ledger.add(case.expected, found)
        return [{name: float(ledger.rows.column(name)[0]) for name in ledger.rows.names}]

    def scores(self, corpus: Corpus, outputs: Outputs) -> SpanScores:
        """All documents in one pass: counts, and nothing of the text."""
        assert isinstance(corpus, SpansCorpus) and self._study is not None
        stick = yardstick(self._study, outputs.labels)
        ledger = Ledger(stick, errors=Errors(stick), utility=Utility.of(self._study.utility, stick))
        found = outputs.detections()
        for batch in corpus.batches():
            ledger.add(batch, found.of(batch.ids))
        ledger.closed(found.unknown())
        return as_scores(ledger, corpus=corpus, detections=outputs.detections, emits=outputs.emits)

    def metrics(self, scores: Scores, study: SpansStudy) -> list[Metric]:
        """Recall, precision and F in every mode, level and policy; leaks, over-redaction and specificity."""
        assert isinstance(scores, SpanScores)
        stick = scores.ledger.stick
        self._straddled = straddled(scores)
        caution = cautions(scores.ledger)
        answered = scores.ledger.facts["documents"] > scores.ledger.facts["documents_not_answered"]
        found = span_metrics(stick, patients_named=scores.patients_named, cautions=caution, answered=answered)
        if scores.ledger.utility is not None:
            for setting in stick.full_mask:
                key = stick.policy_key(setting.policy)
                found += retention_metrics(setting.policy, at=key, caution=caution(setting))
        return found

    def followed(self, metrics: Sequence[Metric], study: SpansStudy) -> Sequence[Metric]:
        """Those of the primary policy and level: in the primary mode, and in every mode that the study names itself."""
        stick = yardstick(study)
        modes = {stick.primary_setting.mode.name, *(mode.name for mode in stick.modes if study.modes)}
        wanted = {"policy": {stick.primary_policy}, "level": {stick.primary_setting.level, PHI}, "mode": modes}
        chosen = []
        for metric in metrics:
            if metric.name == "leak_rate_patient" and self._straddled:
                continue
            at = metric.at
            if "category" in at or "equivalent" in at:
                continue
            if not all(at.get(key) in values for key, values in wanted.items() if key in at):
                continue
            # A mode that compares no types is counted at phi alone, whatever the primary level is.
            if "level" in at and at["level"] != stick.primary_setting.level and not parse_mode(at["mode"]).label_blind:
                continue
            chosen.append(metric)
        return chosen

    def parts(self, scores: Scores, study: SpansStudy) -> Iterator[Part]:
        """The same by label."""
        assert isinstance(scores, SpanScores)
        return label_parts(scores)

    def tables(self, scores: Scores, study: SpansStudy, *, show_text: bool = False) -> dict[str, Any]:
        """Counts, curves, confusions, errors and the Safe Harbor matrix."""
        assert isinstance(scores, SpanScores)
        return tables_of(scores, seed=study.seed, show_text=show_text)

    def notes(self, corpus: Corpus, outputs: Any, scores: Scores, study: SpansStudy) -> list[str]:
        """What a reader must know before the first number."""
        assert isinstance(scores, SpanScores)
        return [*corpus.notes, *notes_of(scores, study)]

    def details(self, scores: Scores, study: SpansStudy, *, every: bool = False) -> Iterator[dict[str, Any]]:
        """What became of every gold and every prediction in the primary setting, by offset and never by text."""
        assert isinstance(scores, SpanScores)
        return chain(details_of(scores, every=every), lost_terms(scores))

    @staticmethod
    def footing(report: Any) -> dict[str, Any]:
        """What decides which golds count, so that two reports can be compared at all; golds of one corpus by type."""
        study, internal = report.study, report.results.get("internal")
        found: dict[str, Any] = {
            "policies": list(study.get("policies") or ("as_annotated",)),
            "ignore": sorted(study.get("ignore") or ()),
        }
        if internal is not None and "labels" in internal.tables:
            found[f"labels (of the golds of corpus {report.corpus['sha256'][:12]})"] = internal.tables["labels"][
                "golds"
            ]
        return found

    def paired(self, first: Scores, second: Scores, study: SpansStudy) -> Paired:
        """Two detectors on the same documents: their rows in one order, and who found what."""
        assert isinstance(first, SpanScores) and isinstance(second, SpanScores)
        return paired(first, second, seed=study.seed)

    def refit(self, corpus: Corpus, scores: Scores, fit: Any) -> Any:
        """Detectors are not fitted here."""
        raise StudyError("lenses.internal: 'refit' is for risk models; a detector is validated as it is.")


def yardstick(study: SpansStudy, system_labels: str = "") -> Yardstick:
    """What a study counts."""
    return Yardstick.of(
        labels=_beside(study, study.labels),
        system_labels=system_labels,
        policies=[_beside(study, name) for name in study.policies],
        modes=study.modes,
        levels=study.levels,
        equivalent=study.equivalent,
        ignore=study.ignore,
        primary=study.primary,
        crowding=Crowding(study.corpus.most_overlaps, study.corpus.most_depth),
    )


def _beside(study: SpansStudy, name: str) -> str:
    """A file that stands beside the study, or the name of something shipped."""
    return str(study.base / name) if name and isfile(study.base / name) else name


def _all_recorded(study: SpansStudy) -> bool:
    return bool(study.systems) and all(part.use == "recorded" for part in study.systems)


def _recorded(system: Any, corpus: SpansCorpus) -> Callable[[], Detections]:
    """Predictions read alongside the documents; where they count otherwise, the texts are needed to convert them."""
    if isinstance(system, GivenSpans):
        return partial(HeldDetections, {id: _spans(_checked(spans)) for id, spans in system.spans.items()})
    read = plugins.find("formats", "predictions")
    path, offsets = system.predictions(), str(getattr(system, "offsets", "codepoint"))
    if offsets == "codepoint":
        return lambda: StreamedDetections(read(path))
    texts = {id: text for batch in corpus.batches() for id, text in zip(batch.ids, batch.texts, strict=True)}
    return lambda: StreamedDetections(read(path, offsets=offsets, texts=texts))


class _Question(NamedTuple):
    """Texts that are handed over at once, and whose each is."""

    texts: list[str]
    patients: list[str | None]


def _questions(corpus: SpansCorpus, size: int) -> list[tuple[list[str], _Question]]:
    """Every document once, in groups of a size that does not depend on workers or on what is known already."""
    ids: list[str] = []
    texts: list[str] = []
    patients: list[str | None] = []
    for batch in corpus.batches():
        first = batch.first or [True] * len(batch)
        ids += compress(batch.ids, first)
        texts += compress(batch.texts, first)
        patients += compress(batch.column("patient"), first)
    return [
        (ids[i : i + size], _Question(texts[i : i + size], patients[i : i + size])) for i in range(0, len(ids), size)
    ]


def _alone(question: _Question, place: int) -> _Question:
    return _Question(question.texts[place : place + 1], question.patients[place : place + 1])


def _opened(open_system: Callable[[], SpanSystem]) -> Callable[[_Question], list[Any]]:
    """Runs once in each worker: opens the detector there and gives the function that answers groups of texts."""
    system = open_system()

    def answer(question: _Question) -> list[Any]:
        texts = question.texts
        who, what = f"system '{system.name}'", f"{len(texts)} texts"
        answers = guarded(who, lambda given: list(asked(system, given, question.patients)), texts, what=what)
        if len(answers) != len(texts):
            raise SystemFailure(
                f"system '{system.name}' must answer every text; it was given {len(texts)} and answered {len(answers)}."
            )
        # Reading an answer runs code of others too, where it is made as it is read.
        return guarded(who, lambda given: [_checked(spans, system=system.name) for spans in given], answers, what=what)

    return answer


def asked(system: Any, texts: Sequence[str], patients: Sequence[str | None]) -> Sequence[Any]:
    """What a detector finds in texts; one that must know whose each is, is told."""
    by_patient = getattr(system, "detect_of_patients", None)
    found: Sequence[Any] = system.detect(texts) if by_patient is None else by_patient(texts, patients)
    return found


_FIELDS = ("start", "end", "label", "score")


def _checked(spans: Any, *, system: str = "") -> list[dict[str, Any]] | None:
    """Spans as plain records, None where the text was refused; what is no span is the system's fault."""
    if spans is None:
        return None
    found = []
    for place, span in enumerate(spans):
        read = span.get if isinstance(span, Mapping) else partial(_attribute, span)
        start, end, label, score = (read(name) for name in _FIELDS)
        if not (_whole(start) and _whole(end) and isinstance(label, str) and label):
            raise SystemFailure(
                f"system '{system}', span {place} of a text: a span must have whole numbers 'start' and 'end' and a "
                "text 'label'. To fix: answer spans such as {'start': 0, 'end': 4, 'label': 'date'}."
            )
        right = score is None or (isinstance(score, (int, float, np.number)) and not isinstance(score, bool))
        number = float(score) if right and score is not None else None
        if not right or (number is not None and not np.isfinite(number)):
            raise SystemFailure(
                f"system '{system}', span {place} of a text: 'score' must be a finite number or absent."
            )
        found.append({"start": int(start), "end": int(end), "label": label, "score": number})
    return found


def _remembered(id: str, answer: Any) -> list[dict[str, Any]] | None:
    """A recorded answer; one that no detector can have given is the record's fault."""
    if answer is None or (isinstance(answer, list) and all(isinstance(span, dict) for span in answer)):
        with contextlib.suppress(SystemFailure):
            return _checked(answer)
    raise misrecorded(id, "a list of spans, or null")


def _whole(place: Any) -> TypeGuard[int]:
    return isinstance(place, (int, np.integer)) and not isinstance(place, bool)


def _attribute(span: Any, name: str) -> Any:
    return getattr(span, name, None)


def _spans(records: Sequence[Mapping[str, Any]] | None) -> list[Span] | None:
    if records is None:
        return None
    return [Span(one["start"], one["end"], one["label"], score=one.get("score")) for one in records]
