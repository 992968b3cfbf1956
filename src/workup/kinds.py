"""A table with rows of several kinds, such as stays, alarms and events: every lens looks at the rows of one kind at a
time, with the metrics that speak of them, and what it finds is joined. Knows which settings of a lens name metrics,
groups or the error that a whole family shares; knows no task."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from workup import plugins
from workup.disclosure.identifying import near_unique
from workup.disclosure.small_groups import Regrouped
from workup.errors import StudyError, WorkupError
from workup.estimate import Draws, Estimate
from workup.evidence import holdings
from workup.lenses.drift.lens import Settings as DriftSettings
from workup.lenses.drift.windows import windows
from workup.lenses.few_between_kinds import HeldKind, apart
from workup.lenses.withholding import Withholding, withhold
from workup.metric import Metric
from workup.preflight import lens_member
from workup.report import LensResult
from workup.scores import Scores
from workup.study import Study
from workup.task import Kind, Task

ROWS_OF = "rows_of"  # key of a joined table's rows that names their kind
KINDS = "kinds"  # in the settings of a joined result: the metrics of each kind
# The chance of a false finding that all of a lens's comparisons share: among kinds it is divided.
_SHARED_ERROR = {"subgroups": "alpha", "drift": "chance"}
_JOINED = ("comparisons", "pooled", "alerts", "charts_state")


@dataclass(frozen=True)
class Looked:
    """Rows as the lenses are given them: all of a study, or those of one kind with its name."""

    name: str
    kept: Withholding
    metrics: Sequence[Metric]
    followed: Sequence[Metric]
    draws: Draws
    settings: Mapping[str, Mapping[str, Any]]

    def measured(self, lens: str) -> Sequence[Metric]:
        """What a lens measures on these rows."""
        found = self.metrics if lens_member(plugins.find("lenses", lens), "EVERY_METRIC") else self.followed
        if lens != "drift" or not self.name:
            return found
        # Where every row is an event there is nothing that happened to some of them and not to others.
        return [replace(m, events=None) if m.events and _all_events(self.kept.scores, m.events) else m for m in found]


def _all_events(scores: Scores, events: str) -> bool:
    return bool(np.all(scores[events] > 0))


def looked_at(
    task: Task,
    study: Study,
    kept: Withholding,
    metrics: Sequence[Metric],
    draws: Callable[[Scores | None], Draws],
) -> list[Looked]:
    """The rows of a study as its lenses are given them, kind by kind where the task tells kinds apart.

    What may be shown is decided on all rows and then on those of each kind that stand for people: a ward that many
    stays pass through may be the first of few.
    """
    followed = task.followed(metrics, study)
    own = getattr(task, "kinds", None)
    if own is None:
        return [Looked("", kept, metrics, followed, draws(None), study.lenses)]
    lenses = _same_periods(kept.scores, study.lenses)
    chosen = {id(metric) for metric in followed}
    found = []
    told: dict[int, HeldKind] = {}
    kinds = list(own(kept.scores, metrics))
    for place, kind in enumerate(kinds):
        settings = {lens: {**kind.settings.get(lens, {}), **said} for lens, said in lenses.items()}
        held = [metric for metric in kind.metrics if id(metric) in chosen]
        of_kind = study.model_copy(update={"lenses": settings})
        shown = _kept_of(kind, kept, of_kind, grouped=bool(held))
        found.append(Looked(kind.name, shown, kind.metrics, held, draws(kind.scores), settings))
        if held and len(shown.scores) and kind.people:  # what happened to some of a group is told of it in any case
            again = partial(withhold, without_persons(kind.scores), of_kind) if shown.columns else None
            told[place] = HeldKind(shown, settings, kind.rows_of, again)
    order = sorted(told, key=lambda place: (kinds[place].yields, place))
    for place, one in zip(order, apart([told[place] for place in order]), strict=True):
        found[place] = replace(found[place], kept=one.kept, settings=_without_windows(found[place], one.not_in_windows))
    return found


def _without_windows(one: Looked, columns: Collection[str]) -> Mapping[str, Mapping[str, Any]]:
    """The settings of a kind with columns left out by which its windows may not be told."""
    if not columns:
        return one.settings
    by = one.settings["drift"].get("by")
    left = [name for name in (one.kept.scores.groups if by is None else by) if name not in columns]
    return {**one.settings, "drift": {**one.settings["drift"], "by": left}}


def _kept_of(kind: Kind, kept: Withholding, study: Study, *, grouped: bool) -> Withholding:
    """What may be shown of the rows of one kind, where groups of them are shown at all."""
    rows = without_persons(kind.scores)
    crossed = bool(study.lenses.get("sites", {}).get("by"))  # groups within sites may be of few where neither is
    if (kind.people or crossed) and grouped and len(rows):
        return withhold(rows, study)
    if kept.site is None or not kept.site.withheld or rows.site is None:
        return Withholding(kept.k, rows)
    told = [name for name, here in rows.site.masks() if here.any() and name not in kept.site.withheld]
    return Withholding(kept.k, rows, site=Regrouped(rows.site if told else None, kept.site.withheld))


def without_persons(scores: Scores) -> Scores:
    """Rows without groupings that would tell persons apart, of which the whole table has enough and these have not."""
    groups = {name: one for name, one in scores.groups.items() if not near_unique(one, scores.patient)}
    return scores if len(groups) == len(scores.groups) else replace(scores, groups=groups)


def _same_periods(scores: Scores, lenses: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The settings of all lenses, with the baseline of the drift lens and its last day as those of all rows together:
    kinds whose rows begin or end at other days are watched over the same time."""
    found = dict(lenses)
    if "drift" not in lenses or scores.time is None:
        return found
    chosen = DriftSettings.checked(lenses["drift"], where="lenses.drift")
    if isinstance(chosen.window, int):
        raise StudyError(
            f"lenses.drift.window: rows of several kinds are watched over the same stretches of time; got windows of "
            f"{chosen.window} rows. To fix: name day, week, month, quarter or year."
        )
    waiting = None if scores.waiting is None else scores.waiting.time
    times = scores.time if waiting is None else np.concatenate([scores.time, waiting])
    if np.isnat(times).all():
        return found
    own: dict[str, Any] = {"as_of": chosen.as_of or str(np.nanmax(times))}
    if not isinstance(chosen.baseline, str):
        every = windows(scores, size=chosen.window)
        count = len(every) // 2 if chosen.baseline is None else chosen.baseline
        if 0 < count < len(every):
            own["baseline"] = str(every[count].start)[:10]
    return {**found, "drift": {**lenses["drift"], **own}}


# ---- settings of one kind --------------------------------------------------------------------------------------------


def of_each(lens: str, looked: Sequence[Looked]) -> Iterator[tuple[Looked, dict[str, Any]]]:
    """The kinds that a lens looks at with their settings: names of metrics and groups that are theirs, and a share of
    the error that all kinds together may make. All rows of a study keep theirs as they are."""
    if len(looked) == 1 and not looked[0].name:
        yield looked[0], dict(looked[0].settings[lens])
        return
    known = {metric.name for one in looked for metric in one.metrics}
    asked = []
    for one in looked:
        settings = _own_settings(lens, one, known)
        if settings is not None:
            asked.append((one, settings))
    field = _SHARED_ERROR.get(lens)
    judged = [i for i, (one, settings) in enumerate(asked) if _judges(lens, one, settings)]
    for i, (one, settings) in enumerate(asked):
        if field is not None and i in judged:
            whole = settings.get(field, _default(lens, field))
            settings = {**settings, field: whole / len(judged)}
        yield one, settings


def _default(lens: str, field: str) -> Any:
    return lens_member(plugins.find("lenses", lens), "Settings").model_fields[field].default


def _own_settings(lens: str, one: Looked, known: Collection[str]) -> dict[str, Any] | None:
    """The settings of a lens for one kind; None where what they ask for is not among its rows."""
    mine = {metric.name for metric in one.measured(lens)}
    if not mine or (lens != "internal" and not len(one.kept.scores)):
        return None
    found: dict[str, Any] = {}
    for key, value in one.settings[lens].items():
        chosen = _chosen(value, mine, known)
        if key == "metrics" and value and not chosen:
            return None
        found[key] = chosen
    if found.get("family"):
        family = dict(found["family"])
        if family.get("metrics") == []:  # the study judges metrics of other rows alone; these are shown
            found["margin"], family = None, {}
        if not any("threshold" in metric.at for metric in one.measured(lens)):
            family.pop("thresholds", None)
        found["family"] = family
    groups = one.kept.groups or one.kept.scores.groups
    if found.get("by"):
        found["by"] = [name for name in found["by"] if name in groups]
        if not found["by"]:
            return None
    if found.get("intersections"):
        found["intersections"] = [pair for pair in found["intersections"] if set(pair) <= set(groups)]
    if lens == "subgroups" and not groups:
        return None
    return found


def _chosen(value: Any, mine: Collection[str], known: Collection[str]) -> Any:
    """A setting without the metrics of other kinds."""
    if isinstance(value, Mapping):
        if value and set(value) <= set(known):
            return {name: one for name, one in value.items() if name in mine}
        return {name: _chosen(one, mine, known) for name, one in value.items()}
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, str) and one in known for one in value):
        return [name for name in value if name in mine]
    return value


def _judges(lens: str, one: Looked, settings: Mapping[str, Any]) -> bool:
    """Does the lens judge anything on these rows, so that they need a share of the error?"""
    if lens != "subgroups":
        return True
    margin = settings.get("margin")
    if isinstance(margin, Mapping):
        return bool(margin)
    return margin is not None and any(metric.parity for metric in one.followed)


# ---- what is withheld, over all kinds --------------------------------------------------------------------------------


def withheld_notes(kept: Withholding, looked: Sequence[Looked]) -> list[str]:
    """What a reader must know of groups that are not shown, of all rows and of each kind."""
    return _said({"": list(kept.notes()), **{one.name: list(one.kept.notes()) for one in looked if one.name}})


def withheld_table(kept: Withholding, looked: Sequence[Looked]) -> list[dict[str, Any]]:
    """Every column with its withheld levels; a row of a kind says so."""
    rows = kept.table()
    for one in looked:
        rows += [{ROWS_OF: one.name, **row} for row in one.kept.table() if one.name and row not in rows]
    return rows


def kind_holdings(looked: Sequence[Looked]) -> dict[str, Any]:
    """What the rows of each kind hold, for packs that withhold small counts kind by kind; nothing without kinds."""
    told = [one for one in looked if one.name and one.followed]
    return {"kind_holdings": {one.name: one.kept.holdings(holdings(one.kept.scores)) for one in told}} if told else {}


# ---- results ---------------------------------------------------------------------------------------------------------


def tried(look: Callable[[], LensResult], name: str, refused: dict[str, WorkupError]) -> LensResult | None:
    """What a lens finds on the rows of one kind; None where it cannot look at them, which `refused` then holds."""
    if not name:
        return look()
    try:
        return look()
    except StudyError as error:
        refused[name] = error
        return None


def joined(
    lens: str,
    found: Mapping[str, LensResult],
    metrics: Mapping[str, Sequence[Metric]],
    refused: Mapping[str, WorkupError],
) -> LensResult:
    """One result of what a lens found on each kind. Rows of its tables say of which kind they are."""
    if list(found) == [""]:
        return found[""]
    if not found and refused:
        raise next(iter(refused.values()))
    results = dict(found)
    first = next(iter(results.values()), LensResult(lens=lens))
    field = _SHARED_ERROR.get(lens)
    shared = {field: {kind: one.settings.get(field) for kind, one in results.items()}} if field else {}
    names = {kind: list(dict.fromkeys(metric.name for metric in metrics[kind])) for kind in results}
    notes = _said({kind: [note for note in one.notes if not _of_nothing(note)] for kind, one in results.items()})
    notes += [f"The {lens} lens cannot look at {kind} rows: {error}" for kind, error in refused.items()]
    return LensResult(
        lens=lens,
        settings={**first.settings, **_groups_of(results), **shared, KINDS: names},
        estimates=tuple(e for kind, one in results.items() for e in _with_reasons(one.estimates, metrics[kind])),
        tables=_by_kind({kind: one.tables for kind, one in results.items()}),
        charts=_by_kind({kind: one.charts for kind, one in results.items()}),
        notes=(*notes, *_family_notes(lens, shared)),
        **{part: tuple(_marked(results, part)) for part in _JOINED},
    )


def _with_reasons(estimates: Sequence[Estimate], metrics: Sequence[Metric]) -> Iterator[Estimate]:
    """Estimates of a kind without any row, with what that means for the metric."""
    why = {metric.name: metric.undefined for metric in metrics}
    for e in estimates:
        empty = e.status == "undefined" and not e.n_rows and e.metric in why
        yield replace(e, reason=why[e.metric]) if empty else e


def _groups_of(results: Mapping[str, LensResult]) -> dict[str, Any]:
    """The groupings that any kind was looked at by."""
    held = [one.settings["by"] for one in results.values() if isinstance(one.settings.get("by"), (list, tuple))]
    return {"by": list(dict.fromkeys(name for by in held for name in by))} if held else {}


def _said(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """Notes of all kinds, each once: what is said of every kind, or of all rows, stands alone, and the rest says of
    which rows it is."""
    every = [set(said) for said in notes.values()]
    found = dict.fromkeys(notes.get("", ()))
    for kind, said in notes.items():
        for note in said:
            if note not in notes.get("", ()):
                found.setdefault(note if all(note in one for one in every) else f"{kind} rows: {note}")
    return list(found)


def _of_nothing(note: str) -> bool:
    """A note on comparisons of a kind that has none."""
    return note.startswith("0 comparisons")


def _marked(results: Mapping[str, LensResult], part: str) -> Iterator[Mapping[str, Any]]:
    for kind, one in results.items():
        yield from ({ROWS_OF: kind, **row} for row in getattr(one, part))


def _by_kind(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Tables of one name together: lists of rows end to end, anything else under the name of the kind."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for one in tables.values() for name in one):
        held = {kind: one[name] for kind, one in tables.items() if name in one}
        if all(
            isinstance(table, (list, tuple)) and all(isinstance(r, Mapping) for r in table) for table in held.values()
        ):
            found[name] = [{ROWS_OF: kind, **row} for kind, table in held.items() for row in table]
        else:
            found[name] = held
    return found


def _of_rows(table: Any) -> bool:
    return isinstance(table, (list, tuple)) and all(isinstance(row, Mapping) for row in table)


def _family_notes(lens: str, shared: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for field, held in shared.items():
        if len(held) > 1:
            each = sorted({f"{value:.3g}" for value in held.values() if value is not None})
            yield (
                f"Rows of several kinds ({', '.join(held)}) are looked at one kind at a time, each with its share of "
                f"the error that all may make together (lenses.{lens}.{field}: {' or '.join(each)} each)."
            )
