"""The conversation task: reads cases, holds or reads the conversations, and makes Scores with one row for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workup import plugins
from workup.errors import InputError, PluginError, StudyError, WorkupError, in_our_words, visible
from workup.estimate import Draws
from workup.files.received import content_of
from workup.metric import Metric
from workup.scores import Levels, Scores, patient_codes
from workup.task import UNLIMITED, Budget, Case, Corpus, Engine, OutputLog, Paired, Part, StudyDesign, Watch
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.cases.case import ConversationCase, case_of, read_cases
from workup.tasks.conversation.cases.corpus import ConversationCorpus, corpus_of
from workup.tasks.conversation.judges.asking import ask_judges, most_calls
from workup.tasks.conversation.judges.readers import check_judges, contradiction_judge
from workup.tasks.conversation.judges.study import judged_metrics, note_of, readers_table
from workup.tasks.conversation.metrics.metrics import Design, conversation_metrics
from workup.tasks.conversation.notes import notes_of, why_withheld
from workup.tasks.conversation.pairing import paired
from workup.tasks.conversation.read.content import Ratings, extended_facts, rating_columns, read_ratings
from workup.tasks.conversation.read.content.encoders import Encoder
from workup.tasks.conversation.scores.held import Readers, Shown
from workup.tasks.conversation.scores.scoring import ConversationScores, as_scores, score_case
from workup.tasks.conversation.settings import ConversationStudy
from workup.tasks.conversation.tables import outcome_rows, tables_of
from workup.tasks.conversation.talk.calls import Spent, of_judge, tallied
from workup.tasks.conversation.talk.transcripts import Transcripts, line_of, read_transcripts, transcripts_of
from workup.tasks.sampling import sampled_ids


class ConversationTask:
    """Chat models over many turns."""

    name = "conversation"
    cards = CARDS
    Settings = ConversationStudy
    gate_level = 0.90  # two-sided, which is 95 % to the one side that a rule asks about
    leaves_out = ("turn", "attribute", "loss", "judge_run")
    shows_only = ("set", "arm")
    batch = 1
    shows_text = False
    asks = "reply"

    def __init__(self) -> None:
        self._study: ConversationStudy | None = None
        self._recorded = True  # whether conversations were held elsewhere, where their summaries may have been sent
        self._read: tuple[Transcripts, ConversationScores] | None = None  # scores that a judge was chosen units from
        self.timings: dict[str, float] = {}  # calls, tries, tokens and seconds of the model, over all sittings

    @staticmethod
    def primary(study: Mapping[str, Any]) -> dict[str, Any]:
        """The critical facts, in the conversation as it was held."""
        return {"set": "critical", "arm": "live"}

    def read(self, study: ConversationStudy, table: Any = None) -> ConversationCorpus:
        """The cases a study names; `table`, a list of cases, takes the place of the file."""
        self._study = study
        check_judges(study.conversation.judge, base=study.base)
        part = study.corpus
        recorded: Transcripts | None = None
        seed: int | None = None
        if table is not None:
            cases, name = _given(table), "cases"
        elif part.generate is not None:
            made, kind, seed = plugins.generated(
                part.generate, kind="conversation", seed=study.seed, where="corpus.generate", gives="cases"
            )
            cases, name = _given(made.cases()), f"generated {kind}"
        elif part.path is None:
            raise StudyError("corpus: give 'path' (a file of cases) or 'generate'.")
        elif part.format in DIALOGUES:
            from workup.tasks.conversation.cases.dialogues import read_dialogues

            cases, recorded = read_dialogues(study.base / part.path, format=part.format)
            name = (study.base / part.path).name
        else:
            cases, name = read_cases(study.base / part.path), (study.base / part.path).name
        if part.sample is not None:
            kinds = ((case.id, str(case.metadata.get("specialty", ""))) for case in cases)
            chosen = sampled_ids(kinds, part.sample, seed=study.seed)
            cases = [case for case in cases if case.id in chosen]
        return corpus_of(
            cases,
            name=part.name or name,
            version=part.version,
            source=part.path or "",
            seed=seed,
            recorded=recorded,
        )

    def files(self, study: ConversationStudy) -> dict[str, str | None]:
        """Files beside the study that it names."""
        names = ("target_plans", "ratings", "labelled", "draw")
        return {f"conversation.{name}": getattr(study.conversation, name) for name in names}

    def design(self, study: ConversationStudy, corpus: Corpus | None) -> StudyDesign:
        """How the cases are grouped, placed and timed."""
        arms = {"arm": study.conversation.arms}
        if corpus is None:
            return StudyDesign(keys=arms)
        names = sorted({name for case in corpus.cases for name in case.groups})
        sites = {case.site for case in corpus.cases if case.site is not None}
        return StudyDesign(
            groups={name: Levels.of([case.groups.get(name) for case in corpus.cases]) for name in names},
            patient=patient_codes([case.patient for case in corpus.cases]),
            sites=sorted(sites) if sites else None,
            placed=bool(sites),
            timed=any(case.time is not None for case in corpus.cases),
            keys=arms,
        )

    def run(
        self,
        open_system: Callable[[], Any],
        corpus: Corpus,
        engine: Engine,
        log: OutputLog,
        watch: Watch,
        *,
        budget: Budget = UNLIMITED,
    ) -> Transcripts:
        """Every conversation held, or read from where it was recorded; with what a judge says of it, if any."""
        assert isinstance(corpus, ConversationCorpus) and self._study is not None
        system, spent = open_system(), Spent()
        self._recorded = bool(getattr(system, "recorded", False))
        ask = bool(getattr(engine, "asks", True))
        if self._recorded:
            held = _recorded(system, corpus)
        else:
            from workup.tasks.conversation.talk import converse

            held = converse(
                open_system,
                corpus.conversations,
                self._study.conversation,
                seed=self._study.seed,
                log=log,
                watch=watch,
                budget=budget,
                workers=self._study.workers,
                ask=ask,
                spent=spent,
            )
        judges = self._study.conversation.judge
        if judges is not None:
            scores = self.scores(corpus, held)
            judged = ask_judges(
                judges,
                scores.conversations,
                seed=self._study.seed,
                base=self._study.base,
                log=log,
                watch=watch,
                budget=budget,
                spent=spent,
                workers=self._study.workers,
                ask=ask,
            )
            held = replace(held, judged=judged)
            self._read = held, replace(scores, transcripts=held)
        if not self._recorded or judges is not None:
            known = log.known()
            own = {key: record for key, record in known.items() if not of_judge(record)}
            self.timings = {} if self._recorded else tallied(own, system=system)
            theirs = tallied({key: record for key, record in known.items() if of_judge(record)})
            self.timings |= {f"judge_{name}": value for name, value in theirs.items() if judges is not None}
        return held

    def estimate(self, study: ConversationStudy, corpus: ConversationCorpus, system: Any) -> str:
        """What holding the conversations would take, in a sentence; and what a judge would be asked."""
        from workup.tasks.conversation.talk import estimate_of

        told = estimate_of(corpus.conversations, study.conversation, system).telling()
        return "; ".join(filter(None, (told, self.asks_beside(study, corpus))))

    def asks_beside(self, study: ConversationStudy, corpus: ConversationCorpus) -> str:
        """What others than the system would be asked at most, in a sentence; empty where there are none."""
        judges, times = study.conversation.judge, study.conversation.replicates
        if judges is None:
            return ""
        cases = corpus.conversations
        told = ((fact, turn.turn) for one in cases for fact in one.facts for turn in one.turns)
        units = sum(fact.critical and turn >= fact.introduced for fact, turn in told)
        return most_calls(judges, units * times, len(cases) * times)

    def score(self, case: Case, output: Any) -> list[dict[str, float]]:
        """The counts of one case, a row for each time that it was held; `output` are its lines."""
        assert self._study is not None
        more = extended_facts(case.input)
        found = score_case(case, output, self._study.conversation, _readers(self._study), Shown(), more=more)
        return [row for _, row in found]

    def scores(self, corpus: Corpus, outputs: Transcripts) -> ConversationScores:
        """All conversations, judged and counted."""
        assert isinstance(corpus, ConversationCorpus) and self._study is not None
        if self._read is not None and self._read[0] is outputs:
            return self._read[1]
        rated = _ratings(self._study)
        more = None if rated is None else rating_columns(rated)
        found = as_scores(
            corpus,
            outputs,
            self._study.conversation,
            _readers(self._study),
            more=more,
            summaries_sent=self._recorded,
        )
        return replace(found, seed=self._study.seed)

    def metrics(self, scores: Scores, study: ConversationStudy) -> list[Metric]:
        """Recall and its failures by turn, set and arm; decay, loss, conflict, harm, plans."""
        assert isinstance(scores, ConversationScores)
        weights = {fact.weight for one in scores.conversations for fact in one.facts}
        return conversation_metrics(
            Design(
                arms=scores.arms,
                turns=scores.turns,
                horizon=study.conversation.horizon,
                clusters=scores.n_patients,
                draws=Draws(study.seed, study.bootstrap.replicates),
                withheld=why_withheld(scores),
                weighted=len(weights) > 1,
                more=tuple(judged_metrics(scores, study.conversation, study.base)),
            )
        )

    def followed(self, metrics: Sequence[Metric], study: ConversationStudy) -> Sequence[Metric]:
        """Those of the primary set and arm over whole conversations; turns are the internal lens's own."""
        wanted = {"set": study.primary.get("set", "critical"), "arm": study.primary.get("arm", "live")}
        return [
            metric
            for metric in metrics
            if not {"turn", "attribute", "loss", "judge", "reader"} & set(metric.at)
            and not metric.name.endswith("_published")
            and all(metric.at.get(key, value) == value for key, value in wanted.items())
        ]

    def parts(self, scores: Scores, study: ConversationStudy) -> Iterator[Part]:
        """None: turns, sets and arms are columns."""
        return iter(())

    def tables(self, scores: Scores, study: ConversationStudy, *, show_text: bool = False) -> dict[str, Any]:
        """Outcomes, never-events, conflicts, curves of loss, and the error of what reads the replies."""
        assert isinstance(scores, ConversationScores)
        labelled = study.conversation.labelled
        found = tables_of(scores, labelled=None if labelled is None else study.base / labelled, ratings=_ratings(study))
        return {**found, "readers": readers_table(scores, study.conversation, study.base)}

    def notes(self, corpus: Corpus, outputs: Any, scores: Scores, study: ConversationStudy) -> list[str]:
        """What a reader must know before the first number."""
        assert isinstance(scores, ConversationScores)
        read = note_of(scores, study.conversation)
        return [*corpus.notes, *notes_of(scores, study.conversation), *([read] if read else [])]

    def details(self, scores: Scores, study: ConversationStudy, *, every: bool = False) -> Iterator[dict[str, Any]]:
        """What became of every fact at every turn, by the place of the sentence and never by its text."""
        assert isinstance(scores, ConversationScores)
        arm = study.primary.get("arm", "live")
        return (row for row in outcome_rows(scores, sentences=True) if every or row["arm"] == arm)

    @staticmethod
    def footing(report: Any) -> dict[str, Any]:
        """What decides how replies are asked for and read, so that two reports can be compared at all."""
        part = report.study.get("conversation") or {}
        return {name: part.get(name) for name in ("matcher", "probe", "probe_tokens", "judge", "encoder")}

    def compared(self, metrics: Sequence[Metric], study: ConversationStudy) -> Sequence[Metric]:
        """What two models are compared by: the whole conversations, and the decay gap at the horizon."""
        at_horizon = [one for one in metrics if one.name == "decay_gap" and one.at["set"] == "critical"]
        wanted = [one for one in at_horizon if one.at.get("turn") == study.conversation.horizon]
        return [*self.followed(metrics, study), *wanted]

    def paired(self, first: Scores, second: Scores, study: ConversationStudy) -> Paired:
        """Two models on the same cases."""
        assert isinstance(first, ConversationScores) and isinstance(second, ConversationScores)
        return paired(first, second)

    def refit(self, corpus: Corpus, scores: Scores, fit: Any) -> Any:
        """Chat models are not fitted here."""
        raise StudyError("lenses.internal: 'refit' is for risk models; a chat model is validated as it is.")


DIALOGUES = ("aci_bench", "mts_dialog")


class GivenTranscripts:
    """Transcripts handed over as records, in place of a model."""

    recorded = True
    name, version = "recorded", ""

    def __init__(self, lines: Sequence[Mapping[str, Any]]) -> None:
        self._lines = lines

    def of(self, corpus: ConversationCorpus) -> Transcripts:
        """The lines, held against their cases."""
        known = {case.id: case for case in corpus.conversations}
        where = (f"transcript number {number}" for number in range(1, len(self._lines) + 1))
        said = [(place, line_of(line, known, where=place)) for place, line in zip(where, self._lines, strict=True)]
        return transcripts_of(said, known, where="transcripts")


class RecordedDialogues:
    """The notes that came with recorded dialogues, in place of a model."""

    recorded = True
    name, version = "recorded notes", ""

    def of(self, corpus: ConversationCorpus) -> Transcripts:
        """What was read along with the cases."""
        assert corpus.recorded is not None
        return corpus.recorded


def _recorded(system: Any, corpus: ConversationCorpus) -> Transcripts:
    if isinstance(system, (GivenTranscripts, RecordedDialogues)):
        return system.of(corpus)
    return read_transcripts(system.transcripts(), corpus.conversations)


def _given(table: Any) -> list[ConversationCase]:
    cases = [
        one if isinstance(one, ConversationCase) else case_of(one, where=f"case number {number}")
        for number, one in enumerate(table, start=1)
    ]
    if not cases:
        raise InputError("at least one case was expected", where="cases", got="none")
    if len({case.id for case in cases}) < len(cases):
        raise InputError("each case must have an id of its own", where="cases", got="one that occurs twice")
    return cases


def _readers(study: ConversationStudy) -> Readers:
    """The judge and the encoder a study names, and its plans."""
    part = study.conversation
    return Readers(
        judge=None if part.judge is None else contradiction_judge(part.judge.advice),
        encoder=None if part.encoder is None else _plug_in(part.encoder, Encoder),
        plans={} if part.target_plans is None else _plans(study, part.target_plans),
    )


def _plug_in(named: str, place: type) -> Any:
    found = plugins.find("metrics", named)
    try:
        made = found() if isinstance(found, type) else found
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # code of others, which raises what it pleases
        if isinstance(error, WorkupError) and in_our_words(error):
            raise
        raise PluginError(f"'{visible(named[:200])}' could not be made: it raised {type(error).__name__}.") from None
    for member in (name for name in vars(place) if not name.startswith("_")):
        if not hasattr(made, member):
            raise PluginError(
                f"'{visible(named[:200])}' does not fit: the {place.__name__.lower()} has '{member}', and a "
                f"{type(made).__name__} has not."
            )
    return made


def _plans(study: ConversationStudy, file: str) -> dict[str, str]:
    try:
        plans = json.loads(content_of(study.base / file, linked=True).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        plans = None
    if not isinstance(plans, dict) or not all(isinstance(plan, str) for plan in plans.values()):
        raise StudyError(f"conversation.target_plans: '{file}' must be a JSON object of plans by case, {{case: plan}}.")
    return plans


def _ratings(study: ConversationStudy) -> Ratings | None:
    """Ratings of documentation quality, where the study names a file of them."""
    file = study.conversation.ratings
    return None if file is None else read_ratings(study.base / file)
