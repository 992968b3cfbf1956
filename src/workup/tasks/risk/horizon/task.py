"""The horizon task: reads a table with follow-up and a risk by each horizon, and makes Scores with one row per row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from workup import plugins
from workup.disclosure.figures import CountedFigures
from workup.errors import InputError, StudyError
from workup.metric import Metric
from workup.scores import Levels, Scores
from workup.stats.horizon_weights import HorizonWeights
from workup.study import SystemPart
from workup.task import (
    UNLIMITED,
    Budget,
    Case,
    Corpus,
    Engine,
    OutputLog,
    Part,
    StudyDesign,
    Watch,
    primary_of,
)
from workup.tasks.risk.durations import Duration
from workup.tasks.risk.horizon.cards import CARDS
from workup.tasks.risk.horizon.censoring import (
    COVARIATE,
    FOLLOWUP,
    ROW,
    STATUS,
    STRATUM,
    Followed,
    Horizon,
)
from workup.tasks.risk.horizon.curves import at_each_horizon, observed_curves
from workup.tasks.risk.horizon.diagnostics import censoring_notes, censoring_table, followup_table
from workup.tasks.risk.horizon.followup import Followup, check_followup
from workup.tasks.risk.horizon.metrics import ON_REQUEST, Resampling, horizon_metrics
from workup.tasks.risk.horizon.settings import HorizonStudy
from workup.tasks.risk.horizon.told import about_censoring, about_risks, backwards, second_route, summary
from workup.tasks.risk.task import RiskTask, missing_risk_notes, words

NOT_RUN = (
    "a model cannot be run on time to event yet: a horizon task scores recorded risks. To fix: put the risks by each "
    "horizon in the table and name their columns under columns.risk"
)


@dataclass(frozen=True)
class HorizonCorpus(Corpus):
    """A table with follow-up as a corpus."""

    followup: Followup = None  # type: ignore[assignment]


class HorizonTask:
    """Risks by one or several horizons, with patients lost before them and competing events."""

    name = "horizon"
    cards = CARDS
    Settings = HorizonStudy
    counted = CountedFigures(
        "sensitivity",
        "specificity",
        say_few=tuple(name for name in CARDS if name != "alert_rate"),
        outcomes="horizon",
    )
    in_turn = ("landmark",)  # a grouping through which the same patients pass
    batch = 1_000
    shows_text = False
    asks = "predict"

    def read(self, study: HorizonStudy, table: Any = None) -> HorizonCorpus:
        """The table that a study names, checked; `table` (a frame or columns) takes the place of the file."""
        content, name, seed = _table(study, table)
        followup = check_followup(content, study, where=name)
        cohort = followup.cohort
        return HorizonCorpus(
            name=study.corpus.name or name,
            version=study.corpus.version,
            task=self.name,
            cases=followup.cases,
            sha256=followup.sha256,
            shown_sha256=cohort.shown_sha256,
            source=study.corpus.path or "",
            seed=seed,
            n_patients=len(cohort) if cohort.patient is None else len(set(cohort.patient.tolist())),
            notes=followup.notes,
            followup=followup,
        )

    def unnamed(self, study: HorizonStudy) -> SystemPart | None:
        """The recorded risks: what is tested here."""
        assert study.columns is not None
        column = study.columns.risk[study.horizons[-1].name]
        return SystemPart.model_validate({"name": "recorded", "use": "recorded", "with": {"column": column}})

    def design(self, study: HorizonStudy, corpus: Corpus | None) -> StudyDesign:
        """What the columns of the study say, and the levels of the table where it could be read."""
        assert study.columns is not None
        nothing = Scores({ROW: np.zeros(0)}, np.zeros(0, dtype=np.int64))
        thresholds = study.all_thresholds()
        metrics = horizon_metrics(nothing, study.horizons, thresholds=thresholds, also=asked_for(study))
        held = {metric.name for metric in metrics}
        needs = "it needs a decision threshold, such as thresholds: [0.2]"
        cohort = None if corpus is None else _followup(corpus).cohort
        site = None if cohort is None or cohort.site is None else Levels.of(cohort.site)
        return StudyDesign(
            groups=None if cohort is None else {name: Levels.of(column) for name, column in cohort.groups.items()},
            patient=None if corpus is None else _all_rows(_followup(corpus)).patient,
            sites=None if site is None else site.names,
            placed=study.columns.site is not None,
            timed=study.columns.time is not None,
            named=True,
            metrics=metrics,
            absent={name: needs for name in CARDS if name not in held and not thresholds},
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
    ) -> Mapping[str, npt.NDArray[np.float64]]:
        """The recorded risks by the name of each horizon."""
        if not getattr(open_system(), "recorded", False):
            raise StudyError(f"{NOT_RUN}.")
        return _followup(corpus).risks

    def score(self, case: Case, output: Mapping[str, float] | None) -> list[dict[str, float]]:
        """One row when there is a risk by every horizon, else none; `case.expected` holds follow-up and status."""
        if output is None or not all(np.isfinite(risk) for risk in output.values()):
            return []
        time, status = case.expected["followup"], case.expected["status"]
        row = {FOLLOWUP: float(time), STATUS: float(status), ROW: float(case.id)}
        for name, risk in output.items():
            horizon = Horizon(name, Duration.of(name).days)
            seen = HorizonWeights.of([time], [status], horizon.days)
            row |= {horizon.risk: float(risk), horizon.outcome: float(seen.outcome[0])}
        return [row]

    def scores(self, corpus: Corpus, outputs: Mapping[str, npt.NDArray[np.float64]]) -> Scores:
        """All rows that have a risk by every horizon, in an order that no shuffling of the table can change."""
        rows = _followup(corpus)
        usable = _complete(outputs)
        if not usable.any():
            raise InputError(
                "no row has a risk by every horizon, so nothing can be scored",
                where=corpus.name,
                got=f"{len(rows)} rows",
                remedy="check the risk columns",
            )
        everything = _all_rows(rows, outputs).take(np.flatnonzero(usable))
        return _in_order(everything, rows.horizons, patients_known=rows.cohort.patient is not None)

    def metrics(self, scores: Scores, study: HorizonStudy) -> list[Metric]:
        """Every metric at every horizon."""
        return horizon_metrics(
            scores,
            study.horizons,
            thresholds=study.all_thresholds(),
            also=asked_for(study),
            expected=study.calibration.expected_events,
            censoring=study.censoring_on(scores),
            resampling=Resampling(study.seed, study.bootstrap.replicates, study.bootstrap.strata),
        )

    def followed(self, metrics: Sequence[Metric], study: HorizonStudy) -> Sequence[Metric]:
        """All of them."""
        return metrics

    def parts(self, scores: Scores, study: HorizonStudy) -> Iterator[Part]:
        """None: there is nothing finer than a row."""
        return iter(())

    def tables(self, scores: Scores, study: HorizonStudy, *, show_text: bool = False) -> dict[str, Any]:
        """Who was followed, whether censoring had to do with the risk, the curves over time, and at each horizon
        calibration, ROC and net benefit."""
        censoring, horizons = study.censoring_on(scores), study.horizons
        alarm = backwards(scores, study)
        second = {"pseudo_calibration": second_route(scores, study)} if "cloglog_slope" in study.also else {}
        return {
            **({"alarms": [alarm]} if alarm else {}),
            "summary": summary(scores, study),
            "followup": followup_table(scores, horizons, censoring, smallest_cell=study.smallest_cell),
            "censoring": _censoring_table(scores, study),
            "observed_curves": observed_curves(scores, horizons, smallest_cell=study.smallest_cell),
            "horizons": at_each_horizon(scores, horizons, censoring, smallest_cell=study.smallest_cell),
            **second,
        }

    def notes(
        self, corpus: Corpus, outputs: Mapping[str, npt.NDArray[np.float64]], scores: Scores, study: HorizonStudy
    ) -> list[str]:
        """What a reader must know before the first number."""
        rows = _followup(corpus)
        given = np.where(_complete(outputs), 0.0, np.nan)
        said = missing_risk_notes(rows.cohort, given, groups=scores.groups, smallest_cell=study.smallest_cell)
        said += [*corpus.notes, *about_risks(scores, study)]
        assert study.columns is not None
        said += censoring_notes(_censoring_table(scores, study), study.columns.risk)
        said += about_censoring(scores, study)
        if not study.all_thresholds():
            said.append("No decision threshold was named, so sensitivity, PPV and their kin are not shown.")
        if scores.weight is not None:
            said.append("Rows carry design weights: counts are weighted sums, intervals allow for unequal weights.")
        return said

    @staticmethod
    def primary(study: Mapping[str, Any]) -> dict[str, Any]:
        """The nearest horizon, and the first decision threshold or the one that the cost ratio implies."""
        named = (study.get("columns") or {}).get("risk") or {}
        nearest = min(named, key=Duration.of, default=None)
        return {**({} if nearest is None else {"horizon": nearest}), **RiskTask.primary(study)}

    def details(self, scores: Scores, study: HorizonStudy, *, every: bool = False) -> Iterator[dict[str, Any]]:
        """Which cell of the two-by-two table each row falls in at the primary horizon and threshold; a row lost before
        the horizon falls in none."""
        primary = primary_of(self, study.record())
        threshold = primary.get("threshold")
        if threshold is None:
            return
        for horizon in study.horizons if every else _named(study, primary["horizon"]):
            flagged, outcome = scores[horizon.risk] >= threshold, scores[horizon.outcome]
            cells = np.where(flagged, np.where(outcome == 1, "tp", "fp"), np.where(outcome == 1, "fn", "tn"))
            cells = np.where(np.isnan(outcome), np.where(flagged, "flagged, lost", "not flagged, lost"), cells)
            for i in np.argsort(scores[ROW], kind="stable"):
                row = {"row": int(scores[ROW][i]), "horizon": horizon.name, "threshold": threshold}
                yield {**row, "cell": str(cells[i])}

    def refit(self, corpus: Corpus, scores: Scores, fit: Any) -> Callable[[npt.NDArray[np.intp]], Scores]:
        """Refused: a model that is fitted anew would have to be run."""
        raise StudyError(f"lenses.internal: {NOT_RUN}, and leave refit out.")


def asked_for(study: HorizonStudy) -> set[str]:
    """Which of the metrics that are left out by default this study wants: those it lists, and those that a gate or a
    setting of a lens names."""
    ruled = {rule.partition(".")[0].partition("{")[0].strip() for rule in study.gates}
    return {name for name in ON_REQUEST if name in {*study.also, *ruled, *words(study.lenses)}}


def _named(study: HorizonStudy, name: str) -> tuple[Horizon, ...]:
    return tuple(one for one in study.horizons if one.name == name)


def _censoring_table(scores: Scores, study: HorizonStudy) -> dict[str, Any]:
    made: dict[str, Any] = scores.kept(
        "table of censoring",
        lambda: censoring_table(
            scores,
            study.horizons,
            study.censoring_on(scores),
            study.all_thresholds(),
            smallest_cell=study.smallest_cell,
        ),
    )
    return made


def _table(study: HorizonStudy, table: Any) -> tuple[Mapping[str, npt.NDArray[Any]], str, int | None]:
    part = study.corpus
    read = plugins.find("formats", "table")
    if table is not None:
        return read(table), "table", None
    if part.generate is not None:
        planted, kind, seed = plugins.generated(
            part.generate, kind="survival", seed=study.seed, where="corpus.generate", gives="table"
        )
        return planted.table, f"generated {kind}", seed
    if part.path is None:
        raise StudyError("corpus: give 'path' (a table with follow-up and risks) or 'generate'.")
    path = study.base / part.path
    names = ("format", "query", "sheet", "decimal", "largest_unpacked", "query_seconds")
    return read(path, **{name: getattr(part, name) for name in names}), path.name, None


def _followup(corpus: Corpus) -> Followup:
    assert isinstance(corpus, HorizonCorpus)
    return corpus.followup


def _complete(risks: Mapping[str, npt.NDArray[np.float64]]) -> npt.NDArray[np.bool_]:
    return np.asarray(np.all([np.isfinite(one) for one in risks.values()], axis=0))


def _all_rows(rows: Followup, risks: Mapping[str, npt.NDArray[np.float64]] | None = None) -> Followed:
    """Every row of the table, in its order."""
    cohort = rows.cohort
    values: dict[str, Any] = {
        FOLLOWUP: rows.time,
        STATUS: rows.status.astype(np.float64),
        ROW: np.arange(1.0, len(rows) + 1),
    }
    for horizon in rows.horizons:
        values[horizon.risk] = (rows.risks if risks is None else risks)[horizon.name]
        values[horizon.outcome] = HorizonWeights.of(rows.time, rows.status, horizon.days).outcome
    if rows.strata is not None:
        values[STRATUM] = rows.strata.astype(np.float64)
    if rows.covariates is not None:
        values |= {f"{COVARIATE}{i:03d}": column for i, column in enumerate(rows.covariates.T)}
    found = Followed.of(
        values,
        patient=cohort.patient,
        site=cohort.site,
        time=cohort.time,
        groups=cohort.groups,
        weight=cohort.weight,
        inputs=cohort.inputs,
    )
    assert isinstance(found, Followed)
    return found


def _in_order(scores: Scores, horizons: Sequence[Horizon], *, patients_known: bool) -> Scores:
    """Sorted by all that is known of a row, so that equal tables give equal bytes; rows without patient ids are
    patients of their own, numbered in that order."""
    keys: list[npt.NDArray[Any]] = []
    for horizon in horizons:
        keys += [scores[horizon.risk], scores[horizon.outcome]]
    keys += [levels.codes for _, levels in sorted(scores.groups.items())]
    if scores.site is not None:
        keys.append(scores.site.codes)
    if scores.time is not None:
        keys.append(scores.time.astype(np.int64))
    keys.append(scores.base_weight)
    if patients_known:
        keys.append(scores.patient)
    keys += [c.codes if isinstance(c, Levels) else c for _, c in sorted(scores.inputs.items())]
    keys += [scores[name] for name in sorted(scores.values) if name != ROW and "@" not in name]
    keys += [scores[name] for name in sorted(scores.values) if name.startswith(COVARIATE)]
    ordered = scores.take(np.lexsort(keys[::-1]))
    own = np.arange(len(ordered), dtype=np.int64)
    return ordered if patients_known else replace(ordered, patient=own)
