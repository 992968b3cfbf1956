"""The risk task: reads a cohort, asks the model for risks, and makes Scores with one row per mature prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from workup import plugins
from workup.disclosure.figures import CountedFigures
from workup.disclosure.small_groups import TOGETHER
from workup.errors import InputError, StudyError, SystemFailure, visible
from workup.metric import Metric
from workup.scores import MISSING, Levels, Scores, patient_codes
from workup.stats import calibration
from workup.stats.arrays import Floats
from workup.stats.equal_shares import equal_shares
from workup.stats.multiplicity import adjust
from workup.study import CorpusPart, SystemPart
from workup.task import (
    UNLIMITED,
    Budget,
    Case,
    Corpus,
    Engine,
    OutputLog,
    Part,
    RiskSystem,
    StudyDesign,
    Table,
    Watch,
    misrecorded,
    primary_of,
)
from workup.tasks.asking import Batch, ask, record, share_of
from workup.tasks.guarding import guarded
from workup.tasks.risk.backwards import runs_backwards
from workup.tasks.risk.calibration_metrics import MOVED, slope_without_ends
from workup.tasks.risk.cards import CARDS
from workup.tasks.risk.cohort import Cohort, Columns, check_cohort
from workup.tasks.risk.metrics import ON_REQUEST, Smoother, risk_metrics
from workup.tasks.risk.panels import calibration_by_group, panels
from workup.tasks.risk.settings import RiskStudy
from workup.tasks.risk.sweep import sweep

_CHANCE = 0.05  # p below which missing risks are said not to be missing by chance
_LEVELS_TOLD = 12  # levels of a group that one note can list
_LEVELS_WORST = 5  # levels listed where there are more
_LEVELS_TESTED = 200  # levels beyond which a test would be slow and say nothing
_BATCH = 1_000  # rows asked for at a time; fixed, because a batch's size may move a model's last digit


@dataclass(frozen=True)
class RiskCorpus(Corpus):
    """A cohort as a corpus; `cohort` keeps the columns, so that a million rows need no million objects."""

    cohort: Cohort = None  # type: ignore[assignment]


class RiskTask:
    """Risk-prediction models."""

    name = "risk"
    cards = CARDS
    Settings = RiskStudy
    counted = CountedFigures(
        "sensitivity",
        "specificity",
        say_few=(
            "auroc",
            "oe_ratio",
            "calibration_slope",
            "calibration_in_the_large",
            "sensitivity",
            "specificity",
        ),
    )
    batch = _BATCH
    in_batches = True
    shows_text = False
    asks = "predict"

    def read(self, study: RiskStudy, table: Any = None) -> RiskCorpus:
        """The cohort a study names, checked; `table` (a frame or columns) takes the place of the file."""
        content, name, seed = self._table(study, table)
        assert study.columns is not None
        columns = Columns(**study.columns.model_dump(), time_format=study.time_format)
        cohort = check_cohort(content, columns, where=name)
        return RiskCorpus(
            name=study.corpus.name or name,
            version=study.corpus.version,
            task=self.name,
            cases=cohort.cases,
            sha256=cohort.sha256,
            shown_sha256=cohort.shown_sha256,
            source=study.corpus.path or "",
            seed=seed,
            n_patients=_distinct(cohort),
            notes=cohort.notes,
            cohort=cohort,
        )

    def unnamed(self, study: RiskStudy) -> SystemPart | None:
        """The recorded risks of a column, where the study names no system."""
        column = study.columns.risk if study.columns is not None else None
        if column is None:
            return None
        return SystemPart.model_validate({"name": "recorded", "use": "recorded", "with": {"column": column}})

    def design(self, study: RiskStudy, corpus: Corpus | None) -> StudyDesign:
        """What the columns of the study say, and the levels of the table where it could be read."""
        assert study.columns is not None
        thresholds = study.all_thresholds()
        smoother = Smoother(np.zeros(0))
        metrics = risk_metrics(thresholds=thresholds, smoother=smoother, also=asked_for(study))
        held = {metric.name for metric in metrics}
        needs = "it needs a decision threshold, such as thresholds: [0.2]"
        cohort = None if corpus is None else _cohort(corpus)
        site = None if cohort is None or cohort.site is None else Levels.of(cohort.site)
        return StudyDesign(
            groups=None if cohort is None else {name: Levels.of(column) for name, column in cohort.groups.items()},
            patient=None if cohort is None else _patients(cohort),
            sites=None if site is None else site.names,
            placed=study.columns.site is not None,
            timed=study.columns.time is not None,
            named=True,
            metrics=metrics,
            absent={name: needs for name in CARDS if name not in held and not thresholds},
        )

    def check_recorded(self, system: RiskSystem, corpus: Corpus) -> None:
        """Refuse recorded risks that could not be scored; nothing is run for it."""
        cohort = _cohort(corpus)
        _checked(system.predict(cohort.table), len(cohort), 0)

    def _table(self, study: RiskStudy, table: Any) -> tuple[Table, str, int | None]:
        part = study.corpus
        read = plugins.find("formats", "table")
        if table is not None:
            return read(table), "table", None
        if part.generate is not None:
            planted, kind, seed = plugins.generated(
                part.generate, kind="cohort", seed=study.seed, where="corpus.generate", gives="table"
            )
            return planted.table, f"generated {kind}", seed
        if part.path is None:
            raise StudyError("corpus: give 'path' (a table of predictions) or 'generate'.")
        path = study.base / part.path
        return read(path, **_read_as(part)), path.name, None

    def unread(self, study: RiskStudy) -> RiskCorpus | None:
        """The cohort without its rows, where reading them would run a query; None where reading runs nothing."""
        part = study.corpus
        if part.path is None:
            return None
        path = study.base / part.path
        names = plugins.find("formats", "table")(path, **_read_as(part), rows=False)
        if not names:
            return None
        note = f"the query was not run; it gives the columns {', '.join(map(visible, names))}"
        return RiskCorpus(part.name or path.name, part.version, self.name, (), "", notes=(note,))

    def run(
        self,
        open_system: Callable[[], RiskSystem],
        corpus: Corpus,
        engine: Engine,
        log: OutputLog,
        watch: Watch,
        *,
        budget: Budget = UNLIMITED,
    ) -> Floats:
        """A risk for every row, NaN where the model refused one."""
        cohort = _cohort(corpus)
        system = open_system()
        if getattr(system, "recorded", False):
            return _checked(system.predict(cohort.table), len(cohort), 0)
        size = int(getattr(system, "batch", _BATCH))
        known = dict(log.known())  # as it was before this run asks anything
        risks = np.full(len(cohort), np.nan)
        for key, value in known.items():
            if not key.isdecimal() or not 1 <= int(key) <= len(cohort):
                raise misrecorded(key, f"that of a row from 1 to {len(cohort)}")
            if value is not None and (type(value) not in (int, float) or not 0 <= value <= 1):
                raise misrecorded(key, "a risk from 0 to 1, or null")
            risks[int(key) - 1] = np.nan if value is None else value
        batches = [range(start, min(start + size, len(cohort))) for start in range(0, len(cohort), size)]
        share = share_of(engine, batches)
        pending = [rows for rows in share if any(str(row + 1) not in known for row in rows)]
        total = sum(map(len, share))
        done = total - sum(map(len, pending))
        watch("asking the model", done, total)
        table = cohort.predictors
        asked = ask(
            engine,
            partial(_opened, open_system),
            [Batch([str(row + 1) for row in rows], _rows(table, rows)) for rows in pending],
            alone=_alone,
            answered=bool(known),
            patiently=budget.calls is None and budget.cost is None,
        )
        for found in asked:
            new = found.beside(known)
            for id, risk in new.answers.items():
                risks[int(id) - 1] = risk
            record(log, replace(new, answers={id: _or_none(risk) for id, risk in new.answers.items()}))
            done += len(found)
            watch("asking the model", done, total)
        return risks

    def score(self, case: Case, output: float | None) -> list[dict[str, float]]:
        """One row when the outcome is known and the model answered, else none."""
        if output is None or not np.isfinite(output) or not np.isfinite(case.expected):
            return []
        return [{"outcome": float(case.expected), "risk": float(output), "row": float(case.id)}]

    def scores(self, corpus: Corpus, outputs: Floats) -> Scores:
        """All rows at once, in an order that no shuffling of the table can change: by risk, then by all the rest."""
        cohort = _cohort(corpus)
        usable = np.flatnonzero(np.isfinite(cohort.outcome) & np.isfinite(outputs))
        if usable.size == 0:
            raise InputError(
                "no row has both a risk and an outcome, so nothing can be scored",
                where=corpus.name,
                got=f"{len(cohort)} rows",
                remedy="check the outcome column and the model's answers",
            )
        everything = _all_rows(cohort, outputs)
        known = cohort.patient is not None
        waiting = np.flatnonzero(~np.isfinite(cohort.outcome) & np.isfinite(outputs))
        later = _in_order(everything.take(waiting), patients_known=known, first=usable.size) if waiting.size else None
        return replace(_in_order(everything.take(usable), patients_known=known), waiting=later)

    def metrics(self, scores: Scores, study: RiskStudy) -> list[Metric]:
        """Discrimination, calibration and, at every named threshold, decisions."""
        return risk_metrics(
            thresholds=study.all_thresholds(),
            smoother=Smoother.of(scores),
            also=asked_for(study),
            expected=study.calibration.expected_events,
        )

    def followed(self, metrics: Sequence[Metric], study: RiskStudy) -> Sequence[Metric]:
        """All of them."""
        return metrics

    def parts(self, scores: Scores, study: RiskStudy) -> Iterator[Part]:
        """None: a row is a prediction, and there is nothing finer."""
        return iter(())

    def tables(self, scores: Scores, study: RiskStudy, *, show_text: bool = False) -> dict[str, Any]:
        """The four panels (ROC, calibration, decision curve, risk distributions), the summary, what every threshold
        would mean, and what must be read first."""
        smoother = Smoother.of(scores)
        column = study.columns.risk if study.columns is not None and not study.systems else None
        alarm = runs_backwards(scores, column)
        return {
            **({"alarms": [alarm]} if alarm else {}),
            **panels(
                scores,
                smoother,
                seed=study.seed,
                loess=study.calibration.loess_curve,
                smallest_cell=study.smallest_cell,
            ),
            "threshold_sweep": sweep(scores, study.all_thresholds(), smallest_cell=study.smallest_cell),
            "calibration_by_group": calibration_by_group(scores, smoother),
        }

    def notes(self, corpus: Corpus, outputs: Floats, scores: Scores, study: RiskStudy) -> list[str]:
        """What a reader must know before the first number."""
        missing = missing_risk_notes(_cohort(corpus), outputs, groups=scores.groups, smallest_cell=study.smallest_cell)
        said = [*missing, *corpus.notes, *_about_ends(scores)]
        if not study.all_thresholds():
            said.append("No decision threshold was named, so sensitivity, PPV and their kin are not shown.")
        if scores.weight is not None:
            said.append("Rows carry design weights: counts are weighted sums, intervals allow for unequal weights.")
        return said

    @staticmethod
    def primary(study: Mapping[str, Any]) -> dict[str, Any]:
        """The first decision threshold, or the one that the cost ratio implies."""
        thresholds = list(study.get("thresholds") or ())
        if study.get("cost_ratio") is not None:
            thresholds.append(1 / (1 + float(study["cost_ratio"])))
        return {"threshold": thresholds[0]} if thresholds else {}

    def details(self, scores: Scores, study: RiskStudy, *, every: bool = False) -> Iterator[dict[str, Any]]:
        """Which cell of the two-by-two table each row falls in, at the primary threshold."""
        threshold = primary_of(self, study.record()).get("threshold")
        if threshold is None:
            return
        flagged, event = scores["risk"] >= threshold, scores["outcome"] > 0
        cells = np.where(flagged, np.where(event, "tp", "fp"), np.where(event, "fn", "tn"))
        for i in np.argsort(scores["row"], kind="stable"):
            yield {"row": int(scores["row"][i]), "threshold": threshold, "cell": str(cells[i])}

    def refit(
        self, corpus: Corpus, scores: Scores, fit: Callable[[Table], RiskSystem]
    ) -> Callable[[npt.NDArray[np.intp]], Scores]:
        """A function that fits anew on chosen rows of the scores and gives every row its new risk."""
        table = _cohort(corpus).table
        rows = scores["row"].astype(np.intp) - 1
        everyone = {name: column[rows] for name, column in table.items()}

        def refitted(chosen: npt.NDArray[np.intp]) -> Scores:
            chosen_rows = {name: column[rows[chosen]] for name, column in table.items()}
            model = _guarded("the refit function", fit, chosen_rows)
            predict = model.predict
            risks = _guarded("a refitted model", lambda given: _checked(predict(given), len(rows), 0), everyone)
            if not np.isfinite(risks).all():
                raise SystemFailure("a refitted model must give every row a risk; it refused some.")
            return replace(scores, values={**scores.values, "risk": risks})

        return refitted


def _about_ends(scores: Scores) -> Iterator[str]:
    """Where risks of 0 and 1 enter the figures, which have no log odds."""
    ends = calibration.n_clipped(scores["risk"])
    if not ends:
        return
    without = slope_without_ends(scores)
    slope = f"The calibration slope takes them as {calibration.CLIP:g} from the end"
    if without is None:
        slope += f", which moves it by at most {MOVED:g} of its standard errors."
    elif without.value is None:
        slope += " and rests on that choice alone."
    else:
        slope += f" and rests on that choice: without these rows it is {without.value:.2f}."
    yield (
        f"{ends:,} of {len(scores):,} risks are 0 or 1 (or within {calibration.CLIP:g}) and have no log odds. {slope} "
        "The calibration curve leaves them out; ICI and its kin take each end's own observed share."
    )


def asked_for(study: RiskStudy) -> set[str]:
    """Which of the metrics that are left out by default this study wants: those it lists, and those that a gate or a
    setting of a lens names, since a limit on a figure that is not computed would judge nothing."""
    listed = {*study.also, *(("ece",) if study.ece else ())}
    ruled = {rule.partition(".")[0].partition("{")[0].strip() for rule in study.gates}
    return {name for name in ON_REQUEST if name in listed | ruled | set(words(study.lenses))}


def words(settings: Any) -> Iterator[str]:
    """Every key and every text in the settings of lenses."""
    if isinstance(settings, str):
        yield settings
    elif isinstance(settings, Mapping):
        for key, value in settings.items():
            yield str(key)
            yield from words(value)
    elif isinstance(settings, (list, tuple)):
        for value in settings:
            yield from words(value)


def missing_risk_notes(
    cohort: Cohort, risks: Floats, *, groups: Mapping[str, Levels] | None = None, smallest_cell: int = 1
) -> list[str]:
    """How many rows have no risk, of whom, and whether that is chance: what is left may not be what will be met.

    `groups` are those that may be told: a level that is not among theirs stands with the others that are withheld.
    """
    missing = ~np.isfinite(risks)
    if not missing.any():
        return []
    lost, n = int(missing.sum()), len(risks)
    people, k = _patients(cohort), smallest_cell
    if np.unique(people[missing]).size < k:
        return [f"No risk for fewer than {k} patients of {n:,} rows: they are in no metric, and told by no group."]
    notes = [
        f"No risk for {lost:,} of {n:,} rows ({_share(missing)}): they are in no metric, and every figure is of the "
        f"other {n - lost:,}."
    ]
    outcome = Levels.of([None if np.isnan(y) else "events" if y else "non-events" for y in cohort.outcome])
    outcome = replace(outcome, names=tuple("outcome not known yet" if k == MISSING else k for k in outcome.names))
    told = {
        "outcome": outcome,
        **{f"group {k}" if k == "outcome" else k: v for k, v in _told_groups(cohort, groups, smallest_cell).items()},
    }
    patient = None if cohort.patient is None else np.unique(cohort.patient.astype(str), return_inverse=True)[1]
    tests = [
        equal_shares(missing, levels.codes, patient=patient).p if len(levels.names) <= _LEVELS_TESTED else np.nan
        for levels in told.values()
    ]
    tested = np.flatnonzero(np.isfinite(tests))
    adjusted = np.full(len(tests), np.nan)
    adjusted[tested] = adjust(np.array(tests)[tested])
    for (name, levels), p in zip(told.items(), adjusted, strict=True):
        differ = (
            f" Warning: these shares differ by more than chance (p {p:.2g}), so the figures may not hold for all "
            "patients."
        )
        if any(0 < np.unique(people[rows & missing]).size < k for _, rows in levels.masks()):
            said = f"Rows without a risk, by {name}: not told, since a level has fewer than {k} patients without one."
            notes.append(said + (differ.replace(f" (p {p:.2g})", "") if p < _CHANCE else ""))
            continue
        notes.append(f"Rows without a risk, by {name}: {_by_level(missing, levels)}.{differ if p < _CHANCE else ''}")
    return notes


def _told_groups(cohort: Cohort, told: Mapping[str, Levels] | None, smallest_cell: int) -> dict[str, Levels]:
    """The groups of all rows, those without a risk among them, as far as a report may tell them."""
    found = {name: Levels.of(column) for name, column in cohort.groups.items()}
    if told is None or smallest_cell <= 1:
        return found
    patient = _patients(cohort)
    kept: dict[str, Levels] = {}
    for name, levels in found.items():
        if name not in told:
            continue
        # Levels that the scores no longer name are withheld there; they may not come back here one by one.
        together = next((one for one in told[name].names if one not in levels.names), TOGETHER)
        place = {level: level if level in told[name].names else together for level in levels.names}
        joined = Levels.of([place[levels.names[code]] for code in levels.codes])
        sizes = [np.unique(patient[rows]).size for _, rows in joined.masks()]
        if min(sizes) >= smallest_cell:
            kept[name] = joined
    return kept


def _by_level(missing: npt.NDArray[np.bool_], levels: Levels) -> str:
    """The share of each level, or of the worst where there are too many to read, and which have nothing left."""
    parts = [(level, missing[rows]) for level, rows in levels.masks() if rows.any()]
    if len(parts) <= _LEVELS_TOLD:
        return _listed(sorted(parts, key=lambda part: not part[0].startswith("<")))  # the lowest band first
    overall = missing.mean()
    # A share far above the whole counts for more in a large level: one row of one must not hide a ward.
    worst = sorted(parts, key=lambda part: (-(part[1].mean() - overall) * np.sqrt(part[1].size), part[0]))
    others = np.concatenate([one for _, one in worst[_LEVELS_WORST:]])
    empty = sum(bool(one.all()) for _, one in parts)
    return (
        f"the worst {_LEVELS_WORST} of {len(parts)} levels are {_listed(worst[:_LEVELS_WORST])}; the other "
        f"{len(parts) - _LEVELS_WORST}: {_counted(others)}; {empty} of the {len(parts)} "
        f"{'has' if empty == 1 else 'have'} no risk at all"
    )


def _listed(parts: Sequence[tuple[str, npt.NDArray[np.bool_]]]) -> str:
    return ", ".join(f"{level}: {_counted(one)}" for level, one in parts)


def _counted(part: npt.NDArray[np.bool_]) -> str:
    return f"{int(part.sum()):,} of {part.size:,} ({_share(part)})"


def _share(part: npt.NDArray[np.bool_]) -> str:
    return f"{100 * part.mean():.1f} %"


def _rows(table: Table, rows: range) -> tuple[int, Table]:
    return rows.start, {name: column[rows.start : rows.stop] for name, column in table.items()}


def _alone(rows: tuple[int, Table], place: int) -> tuple[int, Table]:
    start, table = rows
    return start + place, {name: column[place : place + 1] for name, column in table.items()}


def _opened(open_system: Callable[[], RiskSystem]) -> Callable[[tuple[int, Table]], Floats]:
    """Runs once in each worker: opens the system there and gives the function that answers batches."""
    system = open_system()

    def answer(item: tuple[int, Table]) -> Floats:
        start, table = item
        n = len(next(iter(table.values())))
        # Reading an answer runs code of others too, where it is made as it is read.
        risks: Floats = _guarded(
            f"system '{system.name}'", lambda rows: _checked(system.predict(rows), n, start), table
        )
        return risks

    return answer


def _guarded(who: str, call: Callable[[Table], Any], table: Table) -> Any:
    """The answer of a plug-in to the rows of a table."""
    return guarded(who, call, table, what=f"{len(next(iter(table.values())))} rows", again="these rows")


def _checked(answers: Sequence[float | None] | Mapping[str, Any], n: int, start: int) -> Floats:
    """Risks as an array, NaN where refused; anything else that is not a risk is the system's fault."""
    try:
        risks = np.array([np.nan if a is None else a for a in answers], dtype=np.float64)
    except (TypeError, ValueError):
        raise SystemFailure(
            f"the system must answer one risk per row, a number or None; it was given {n} rows and answered something "
            "else. To fix: have it answer a list of numbers."
        ) from None
    if risks.size != n:
        raise SystemFailure(
            f"the system must answer one risk per row; it was given {n} rows and answered {risks.size}."
        )
    wrong = np.flatnonzero(~np.isnan(risks) & ~((risks >= 0) & (risks <= 1)))
    if wrong.size:
        raise SystemFailure(
            f"row {start + wrong[0] + 1}: a risk must lie in [0, 1]; {wrong.size} of {n} answers do not. "
            "To fix: have the system answer probabilities (predict_proba), not scores or labels."
        )
    return risks


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _read_as(part: CorpusPart) -> dict[str, Any]:
    """How the study says that its table is to be read."""
    names = ("format", "query", "sheet", "decimal", "largest_unpacked", "query_seconds")
    return {name: getattr(part, name) for name in names}


def _cohort(corpus: Corpus) -> Cohort:
    assert isinstance(corpus, RiskCorpus)
    return corpus.cohort


def _distinct(cohort: Cohort) -> int:
    return len(cohort) if cohort.patient is None else len(set(cohort.patient.tolist()))


def _patients(cohort: Cohort) -> npt.NDArray[np.int64]:
    """A number for the patient of every row; without ids every row is a patient."""
    return np.arange(len(cohort)) if cohort.patient is None else patient_codes(cohort.patient)


def _all_rows(cohort: Cohort, risks: Floats) -> Scores:
    """Every row of the cohort with what the model answered, in the order of the table."""
    values = {"outcome": cohort.outcome, "risk": risks, "row": np.arange(1.0, len(cohort) + 1)}
    optional = {"label_delay": cohort.label_delay, "acted": cohort.acted}
    return Scores.of(
        values | {name: column for name, column in optional.items() if column is not None},
        patient=cohort.patient,
        site=cohort.site,
        time=cohort.time,
        groups=cohort.groups,
        weight=cohort.weight,
        inputs=cohort.inputs,
    )


def _in_order(scores: Scores, *, patients_known: bool, first: int = 0) -> Scores:
    """Sort by risk, then by all the rest that is known of a row, so that equal tables give equal bytes.

    Without patient ids the rows are numbered from `first` on.
    """
    keys: list[npt.NDArray[Any]] = [scores["risk"], scores["outcome"]]
    keys += [levels.codes for _, levels in sorted(scores.groups.items())]
    if scores.site is not None:
        keys.append(scores.site.codes)
    if scores.time is not None:
        keys.append(scores.time.astype(np.int64))
    keys.append(scores.base_weight)
    if patients_known:
        keys.append(scores.patient)
    if scores.inputs:
        keys += [c.codes if isinstance(c, Levels) else c for _, c in sorted(scores.inputs.items())]
        keys += [scores[name] for name in ("label_delay", "acted") if name in scores.values]
    ordered = scores.take(np.lexsort(keys[::-1]))
    # Rows without patient ids are patients of their own; numbering them in this order makes resamples order-free too.
    own = np.arange(first, first + len(ordered), dtype=np.int64)
    return ordered if patients_known else replace(ordered, patient=own)
