"""The task of episodes: risks that were recorded again and again during stays, judged by events that came later."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.disclosure.small_groups import regrouped
from workup.disclosure.told_people import Grouped, near_groupings
from workup.errors import StudyError
from workup.estimate import Slice
from workup.metric import Metric
from workup.scores import Levels, Scores
from workup.study import SystemPart
from workup.task import (
    UNLIMITED,
    Budget,
    Case,
    Corpus,
    Engine,
    Kind,
    OutputLog,
    Part,
    StudyDesign,
    Watch,
    primary_of,
)
from workup.tasks.risk.backwards import runs_backwards
from workup.tasks.risk.episodes.cards import CARDS
from workup.tasks.risk.episodes.cases import DAY
from workup.tasks.risk.episodes.corpus import EpisodeScores, EpisodesCorpus, Tables, corpus_of
from workup.tasks.risk.episodes.metrics import (
    ALL,
    CASE,
    EVENT,
    FLAGGED,
    STAY,
    WATCH,
    alerts_per_flagged_event,
    at,
    event_metrics,
    lead_time_median,
    stay_metrics,
    watch_metrics,
    without_calibration,
)
from workup.tasks.risk.episodes.notes import notes
from workup.tasks.risk.episodes.rows import LANDMARK, SINCE_START
from workup.tasks.risk.episodes.settings import REDUCED
from workup.tasks.risk.episodes.settings import STAY as WHOLE_STAY
from workup.tasks.risk.episodes.shown import tables
from workup.tasks.risk.episodes.stays import OPEN
from workup.tasks.risk.episodes.study import EpisodesStudy
from workup.tasks.risk.metrics import Smoother, risk_metrics
from workup.tasks.risk.panels import calibration_by_group, panels
from workup.tasks.risk.sweep import sweep
from workup.tasks.risk.task import RiskTask, asked_for, words

# The kind of rows that each metric is of; those of risks and outcomes are not named here.
_ROWS = {
    **dict.fromkeys(("event_sensitivity", "event_sensitivity_scored", "event_coverage"), EVENT),
    **dict.fromkeys(("event_sensitivity_by_score", "flagged_before", "lead_time_mean"), EVENT),
    **dict.fromkeys(("alert_ppv", "nne", "alarm_rate", "alert_acted_share"), WATCH),
    **dict.fromkeys(("encounter_ppv", "nne_encounter"), STAY),
    "alerts_per_flagged_event": ALL,
    "lead_time_median": FLAGGED,
}
# Shown of everyone, and of groups, sites and windows only where a study asks for them by name: they say again what
# others do, or are of flagged events alone.
_NOT_FOLLOWED = frozenset(
    (
        *("nne", "nne_encounter", "event_sensitivity_scored", "event_sensitivity_by_score", "alert_acted_share"),
        *("lead_time_mean", "lead_time_median", "alerts_per_flagged_event"),
    )
)
_OWN_COLUMNS = {
    CASE: ("case", "outcome", "risk", "row", "hours_watched", "acted", "followup", "status"),
    WATCH: ("watch", "predictions", "days", "alerts@", "suppressed@", "true@", "false@", "neutral@", "acted_alerts@"),
    EVENT: ("event", "scored", "flagged@", "by_score@", "lead@", "acted@"),
    STAY: ("stay", "judged_stay@", "true_stay@"),
    ALL: ("watch", "event", "true@", "false@", "flagged@"),
}
_FEWEST_EVENTS = 20  # of a window, below which a share of events says nothing of a change
# What a score that is no risk leaves nothing to draw of.
_OF_RISKS = ("calibration_curve", "calibration_tests", "slope_without_ends", "decision_curve")
_RECORDED_ONLY = (
    "episodes are scored from risks that were recorded as patients were watched; a system cannot be run on them, since "
    "what it would have been shown at each moment is not in the tables. To fix: name the column of recorded risks as "
    "columns.risk, or as {use: recorded, with: {column: …}} under systems."
)


class EpisodesTask:
    """Repeated predictions and later events."""

    name = "episodes"
    cards = CARDS
    Settings = EpisodesStudy
    counted = RiskTask.counted  # of risks and outcomes; what is counted of events and alerts is a cell of each figure
    batch = 1_000
    shows_text = False
    asks = "predict"

    def read(self, study: EpisodesStudy, table: Any = None) -> EpisodesCorpus:
        """Both tables of a study, checked; `table` (a pair of them) takes the place of the files."""
        _refuse_systems(study)
        return corpus_of(study, Tables.read(study, table), self.name)

    def unnamed(self, study: EpisodesStudy) -> SystemPart:
        """The recorded risks of the column that the study names."""
        settings = {"column": study.columns.risk}
        return SystemPart.model_validate({"name": "recorded", "use": "recorded", "with": settings})

    def design(self, study: EpisodesStudy, corpus: Corpus | None) -> StudyDesign:
        """What the settings say, and the levels of the rows where they could be read."""
        scores = None if corpus is None else _of(corpus).evaluated(study.columns.risk).scores
        metrics = self._measured(study, Smoother(np.zeros(0)))
        held = {metric.name for metric in metrics}
        needs = "it needs a threshold that alerts, such as thresholds: [0.3]"
        return StudyDesign(
            groups=None if scores is None else scores.groups,
            patient=None if scores is None else scores.patient,
            sites=None if scores is None or scores.site is None else scores.site.names,
            placed=study.columns.site is not None,
            timed=True,
            named=True,
            metrics=metrics,
            absent={name: needs for name in CARDS if name not in held and not study.alarms()},
        )

    def check_recorded(self, system: Any, corpus: Corpus) -> None:
        """Refuse recorded risks that could not be scored."""
        _of(corpus).evaluated(system.column)

    def files(self, study: EpisodesStudy) -> dict[str, str | None]:
        """The tables that the study names."""
        both = {"predictions": study.corpus.predictions, "events": study.corpus.events}
        return {f"corpus.{name}[{i}]": file for name, files in both.items() for i, file in enumerate(files)}

    def run(
        self,
        open_system: Callable[[], Any],
        corpus: Corpus,
        engine: Engine,
        log: OutputLog,
        watch: Watch,
        *,
        budget: Budget = UNLIMITED,
    ) -> str:
        """The column of recorded risks; nothing is run."""
        system = open_system()
        column = getattr(system, "column", "")
        if not getattr(system, "recorded", False) or not column:
            raise StudyError(_RECORDED_ONLY)
        return str(column)

    def score(self, case: Case, output: Any) -> list[dict[str, float]]:
        """Nothing: what becomes of a prediction depends on its whole stay."""
        return []

    def scores(self, corpus: Corpus, outputs: str) -> EpisodeScores:
        """Rows of four kinds: stays or predictions with their outcome, time watched, events, and stays."""
        found = _of(corpus).evaluated(outputs)
        return EpisodeScores(**vars(found.scores), evaluated=found)

    def metrics(self, scores: Scores, study: EpisodesStudy) -> list[Metric]:
        """At every threshold events, alerts and stays; then the risks as such."""
        return self._measured(study, Smoother.of(_rows(scores, CASE)))

    def _measured(self, study: EpisodesStudy, smoother: Smoother) -> list[Metric]:
        hours = [one.hours for one in study.episodes.lead_hours]
        found: list[Metric] = []
        for threshold in study.alarms():
            found += [
                *event_metrics(threshold, hours),
                lead_time_median(threshold),
                *watch_metrics(threshold),
                *stay_metrics(threshold),
                alerts_per_flagged_event(threshold),
            ]
        of_risks = risk_metrics(
            thresholds=study.all_thresholds(),
            smoother=smoother,
            also=asked_for(study),
            expected=study.calibration.expected_events,
        )
        return found + (without_calibration(of_risks, study.episodes.score) if _reduced(study) else of_risks)

    def followed(self, metrics: Sequence[Metric], study: EpisodesStudy) -> Sequence[Metric]:
        """Those that groups, sites, windows and plans are looked at by; others where the study names them."""
        asked = {*words(study.lenses), *(rule.partition("{")[0].strip() for rule in study.gates if "{" in rule)}
        left = _NOT_FOLLOWED | (_meaningless(study) if _reduced(study) else set())
        return [metric for metric in metrics if metric.name not in left or metric.name in asked]

    def kinds(self, scores: Scores, metrics: Sequence[Metric]) -> list[Kind]:
        """Rows of each kind with their metrics; flagged events are one more at every threshold."""
        own: dict[str, list[Metric]] = {kind: [] for kind in (CASE, WATCH, EVENT, STAY, ALL)}
        flagged: list[Metric] = []
        for metric in metrics:
            kind = _ROWS.get(metric.name, CASE)
            (flagged if kind == FLAGGED else own[kind]).append(metric)
        delay = _until_closed(scores)
        few = {"minimum": {"rows": _FEWEST_EVENTS}, **delay}
        unit = getattr(getattr(scores, "evaluated", None), "part", None)
        stays = STAY if unit is not None and unit.unit == "encounter" else ""
        found = [Kind(CASE, _rows(scores, CASE), own[CASE], {"drift": delay}, rows_of=stays, yields=True)]
        found += [
            Kind(kind, _rows(scores, kind), own[kind], {"drift": delay}, rows_of=STAY if kind == STAY else "")
            for kind in (WATCH, STAY)
        ]
        events = _rows(scores, EVENT)
        found.insert(2, Kind(EVENT, events, own[EVENT], {"drift": few}, people=False))
        found.append(Kind(ALL, _rows(scores, ALL), own[ALL], {"drift": delay}))
        for metric in flagged:
            column = at("flagged", metric.at.get("threshold"))
            # The median of few would be theirs, so that flagged events are counted like people.
            found.append(Kind(column, events.take(events[column] > 0), [metric], {"drift": few}))
        return [kind for kind in found if kind.metrics]

    def parts(self, scores: Scores, study: EpisodesStudy) -> Iterator[Part]:
        """Rows that nobody acted on, where anyone acted at all, and every landmark by itself."""
        kinds = {kind.name: kind for kind in self.kinds(scores, self.metrics(scores, study))}
        for threshold in study.alarms():
            keys = {} if threshold is None else {"threshold": threshold}
            for kind, column in ((EVENT, at("acted", threshold)), (WATCH, at("acted_alerts", threshold))):
                measured = [
                    metric
                    for metric in kinds[kind].metrics
                    if metric.at.items() >= keys.items() and metric.name != "alert_acted_share"
                ]
                yield from _not_acted(kinds[kind].scores, column, measured, study.smallest_cell)
        case = kinds[CASE]
        nothing = _meaningless(study) if _reduced(study) else set()
        of_risks = [metric for metric in case.metrics if metric.name not in nothing]
        yield from _not_acted(case.scores, "acted", of_risks, study.smallest_cell)
        if LANDMARK in case.scores.groups and LANDMARK not in (study.lenses.get("subgroups") or {}).get("by", ()):
            grouped = Grouped(case.scores.groups[LANDMARK], case.scores.patient)
            if near_groupings({LANDMARK: grouped}, [], study.smallest_cell):
                return
            slices = [
                Slice({LANDMARK: level}, rows)
                for level, rows in case.scores.groups[LANDMARK].masks()
                if np.unique(case.scores.patient[rows]).size >= study.smallest_cell
            ]
            yield Part(case.scores, case.metrics, slices)

    def tables(self, scores: Scores, study: EpisodesStudy, *, show_text: bool = False) -> dict[str, Any]:
        """Settings and fates first, then alarms, hours watched and a few stays; last the panels of the risks."""
        assert isinstance(scores, EpisodeScores)
        case = _rows(scores, CASE)
        found = tables(scores, scores.evaluated, study, reduced=_reduced(study))
        if not len(case):
            return found
        smoother = Smoother.of(case)
        alarm = runs_backwards(case, study.columns.risk if not study.systems else None)
        drawn = panels(
            case,
            smoother,
            seed=study.seed,
            loess=study.calibration.loess_curve,
            smallest_cell=study.smallest_cell,
        )
        if _reduced(study):
            # The event itself shortens the stay, so a maximum may rank stays backwards and the risks still be right.
            return found | {name: table for name, table in drawn.items() if name not in _OF_RISKS}
        beside = [_rows(scores, kind) for kind in (WATCH, STAY)] if study.alarms() else []
        shown = _told_groups(case, study.smallest_cell, beside)
        return {
            **({"alarms": [alarm]} if alarm else {}),
            **found,
            **drawn,
            "threshold_sweep": sweep(shown, study.all_thresholds(), smallest_cell=study.smallest_cell),
            "calibration_by_group": calibration_by_group(shown, smoother),
        }

    def notes(self, corpus: Corpus, outputs: str, scores: Scores, study: EpisodesStudy) -> list[str]:
        """What a reader must know before the first number."""
        return list(notes(_of(corpus).evaluated(outputs), scores, study, reduced=_reduced(study)))

    @staticmethod
    def primary(study: Mapping[str, Any]) -> dict[str, Any]:
        """The first threshold; none where alerts are those that were recorded."""
        thresholds = list(study.get("thresholds") or ())
        if study.get("cost_ratio") is not None:
            thresholds.append(1 / (1 + float(study["cost_ratio"])))
        return {"threshold": thresholds[0]} if thresholds else {}

    def details(self, scores: Scores, study: EpisodesStudy, *, every: bool = False) -> Iterator[dict[str, Any]]:
        """What became of every event, in the order of the rows; of the primary threshold, or of all."""
        first = primary_of(self, study.record()).get("threshold")
        events = _rows(scores, EVENT)
        for threshold in study.alarms() if every else study.alarms()[:1] if first is None else (first,):
            flagged, lead = events[at("flagged", threshold)], events[at("lead", threshold)]
            for row in range(len(events)):
                yield {
                    "event": row + 1,
                    "threshold": threshold,
                    "scored": bool(events["scored"][row]),
                    "flagged": bool(flagged[row]),
                    "lead_hours": None if np.isnan(lead[row]) else float(lead[row]),
                }

    def refit(self, corpus: Corpus, scores: Scores, fit: Any) -> Callable[[npt.NDArray[np.intp]], Scores]:
        """Refused: recorded risks cannot be made anew."""
        raise StudyError(f"lenses.internal.refit: {_RECORDED_ONLY}")

    @staticmethod
    def footing(report: Any) -> dict[str, Any]:
        """What must be equal in two reports for them to be compared."""
        episodes = dict(report.study.get("episodes") or {})
        return {**{f"episodes.{name}": value for name, value in episodes.items() if name != "version"}}


def _of(corpus: Corpus) -> EpisodesCorpus:
    assert isinstance(corpus, EpisodesCorpus)
    return corpus


def _refuse_systems(study: EpisodesStudy) -> None:
    if any(part.use != "recorded" for part in study.systems):
        raise StudyError(f"systems: {_RECORDED_ONLY}")


def _reduced(study: EpisodesStudy) -> bool:
    """Is the risk of a row made of many, so that it is no risk at one horizon?"""
    return study.episodes.unit in ("encounter", "patient") and study.episodes.score in REDUCED


def _meaningless(study: EpisodesStudy) -> set[str]:
    plain = risk_metrics(thresholds=(), smoother=Smoother(np.zeros(0)), also=asked_for(study))
    nothing = without_calibration(plain, study.episodes.score)
    return {metric.name for metric, own in zip(plain, nothing, strict=True) if metric is not own}


def _rows(scores: Scores, kind: str) -> Scores:
    """The rows of one kind with the columns and the groups that are theirs; those that wait are case rows."""
    part = scores.take((scores[WATCH] == 1) | (scores[EVENT] == 1) if kind == ALL else scores[kind] == 1)
    later = scores.waiting if kind == CASE else None
    both = [part] if later is None else [part, later]
    groups = _own_groups(both)

    def own(one: Scores, place: int) -> Scores:
        values = {name: column for name, column in one.values.items() if _of_kind(name, kind)}
        return replace(one, values=values, groups={name: levels[place] for name, levels in groups.items()})

    return replace(own(part, 0), waiting=None if later is None else own(later, 1))


def _of_kind(column: str, kind: str) -> bool:
    plain, at_threshold, _ = column.partition("@")
    return plain + at_threshold in _OWN_COLUMNS[kind]


def _own_groups(tables: Sequence[Scores]) -> dict[str, list[Levels]]:
    """Groups of these tables under the same names, with the levels that any has; the time since the start and landmarks
    only where rows have them."""
    found = {}
    for name in tables[0].groups:
        every = [one.groups[name] for one in tables]
        used = [level for level in every[0].names if any(_holds(levels, level) for levels in every)]
        if name not in (SINCE_START, LANDMARK) or len(used) > 1:
            place = {level: code for code, level in enumerate(used)}
            found[name] = [
                Levels(np.array([place.get(level, -1) for level in one.names])[one.codes], tuple(used)) for one in every
            ]
    return found


def _holds(levels: Levels, level: str) -> bool:
    return level in levels.names and bool(np.any(levels.codes == levels.names.index(level)))


def _not_acted(scores: Scores, column: str, metrics: Sequence[Metric], k: int) -> Iterator[Part]:
    """The rows that nobody acted on, where there are others; not where either are of few patients, or where few have
    none but rows that were acted on."""
    acted = scores[column] > 0
    sides = [np.unique(scores.patient[rows]).size for rows in (acted, ~acted)]
    always = scores.n_patients - sides[1]
    if min(sides) >= max(k, 1) and not 0 < always < k and metrics:
        yield Part(scores, metrics, [Slice({"acted": "no"}, ~acted)])


def _until_closed(scores: Scores) -> dict[str, Any]:
    """With the stay as the horizon, how many days until all stays that began in a window are closed: those that close
    first are the short ones, so a window with an open stay is not judged."""
    evaluated = getattr(scores, "evaluated", None)
    if evaluated is None or evaluated.part.horizon != WHOLE_STAY or scores.time is None:
        return {}
    stays, later = evaluated.stays, scores.waiting
    times = scores.time if later is None or later.time is None else np.concatenate([scores.time, later.time])
    last = int(times.astype(np.int64).max())
    begun = stays.start[(stays.how == OPEN) & (stays.start <= last)]
    return {"label_delay": (last - int(begun.min())) / DAY + 1e-6} if begun.size else {}


def _told_groups(case: Scores, k: int, beside: Sequence[Scores] = ()) -> Scores:
    """Cases with the groupings that may be told of them level by level: a level of many predictions may be that of few
    cases, or of people of whom few have rows of another kind. Such a column is left out whole, since the lenses may put
    its levels together in another way."""
    found = regrouped(case.groups, case.patient, k=k, outcome=case["outcome"] > 0)
    groups = {name: one.levels for name, one in found.items() if one.levels is not None and not one.withheld}
    own = {name: Grouped(levels, case.patient) for name, levels in groups.items()}
    others = [{name: Grouped(levels, one.patient) for name, levels in one.groups.items()} for one in beside]
    near = near_groupings(own, others, k)
    return replace(case, groups={name: levels for name, levels in groups.items() if name not in near})
