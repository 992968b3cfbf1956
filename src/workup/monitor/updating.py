"""What the commands do to a store: register a model by its plan, take in tables, and tell what a plan promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workup import plugins
from workup.errors import InputError
from workup.monitor import watching
from workup.monitor.columns import Columns, Hidden, checked_outcomes, checked_predictions
from workup.monitor.equivalence import equivalence
from workup.monitor.plan import Plan, check_known, moment_of
from workup.monitor.promise import Promise, promises
from workup.monitor.scoring import Rows, metrics_of, scores_of
from workup.monitor.store import ingest
from workup.monitor.store.database import Store
from workup.monitor.store.models import keep_plan, register_model, register_version, set_equivalence, versions
from workup.monitor.worker import chances_of
from workup.report import canonical

BATCH = 20_000  # rows of a table that are stored at a time
Table = Mapping[str, Any]


def read_table(path: Path) -> Table:
    """A table of predictions or outcomes, by its ending."""
    table: Table = plugins.find("formats", "table")(path)
    return table


def register(store: Store, plan: Plan, *, base: Path, now: int, who: str) -> int:
    """The model's number, with its plan in force and its versions that are equivalent shown to be so."""
    metrics_of(plan)  # a plan whose metrics are not known is refused before it is stored
    for line in plan.watch:
        check_known(line, sorted({metric.name for metric in metrics_of(plan)}))
    found = {name: equivalence(plan, part, base) for name, part in plan.versions.items() if part.equivalent_to}
    model = register_model(store, plan.model, task=plan.task, now=now, who=who)
    keep_plan(store, model, content=plan.record(), sha256=plan.sha256, now=now, who=who)
    with store.write() as connection:
        register_version(connection, model, plan.version, now=now, who=who)
        for name, result in found.items():
            number = register_version(connection, model, name, now=now, who=who)
            held = next(row for row in versions(connection, model) if row["id"] == number)
            if result["equivalent"] and canonical(held["equivalence"]) != canonical(result):
                of = str(plan.versions[name].equivalent_to)
                set_equivalence(connection, number, of=of, found=result, now=now, who=who)
    return model


def ingest_tables(
    store: Store,
    model: int,
    plan: Plan,
    *,
    predictions: Table | None,
    outcomes: Table | None,
    now: int,
    who: str,
    corrections: bool = False,
    key: bytes | None = None,
    watch: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> dict[str, ingest.Ingested]:
    """Store two tables, a piece at a time; each piece is kept whole or not at all, and may be sent again."""
    if plan.hashed_ids and key is None:
        raise InputError("the plan keeps ids as a keyed hash, which needs the key", remedy="name it with --key-file")
    hidden = Hidden(key if plan.hashed_ids else None)
    found: dict[str, ingest.Ingested] = {}
    if predictions is not None:
        found["predictions"] = _added(
            ingest.ingest_predictions(
                store,
                model,
                checked_predictions(part, plan.columns, version=plan.version, hidden=hidden),
                now=now,
                who=who,
            )
            for part in _pieces(predictions, plan.columns, "predictions", watch)
        )
    if outcomes is not None:
        found["outcomes"] = _added(
            ingest.ingest_outcomes(
                store,
                model,
                checked_outcomes(part, plan.columns, hidden=hidden),
                now=now,
                who=who,
                corrections=corrections,
            )
            for part in _pieces(outcomes, plan.columns, "outcomes", watch)
        )
    return found


def _pieces(
    table: Table, columns: Columns, what: str, watch: Callable[[str, int, int], None]
) -> Iterator[dict[str, Any]]:
    if columns.id not in table:
        checked_outcomes(table, columns)  # says which column is missing, and which are near
    count = len(table[columns.id])
    for first in range(0, count, BATCH):
        yield {name: column[first : first + BATCH] for name, column in table.items()}
        watch(f"storing {what}", min(count, first + BATCH), count)


def _added(parts: Iterator[ingest.Ingested]) -> ingest.Ingested:
    found = list(parts)
    return ingest.Ingested(
        max((one.batch for one in found), default=0), sum(one.new for one in found), sum(one.known for one in found)
    )


def promised_by(plan: Plan, predictions: Table, outcomes: Table | None) -> dict[int, Sequence[Promise]]:
    """What each line promises, from the rows of its baseline; outcomes may stand in the same table."""
    rows = baseline_rows(plan, predictions, outcomes)
    scores, metrics = scores_of(rows, plan), metrics_of(plan)
    chances = chances_of(plan, rows, metrics)
    found: dict[int, Sequence[Promise]] = {}
    for place, line in enumerate(plan.watch):
        watch = watching.frozen(line, plan, scores, metrics, chance=chances[watching.key_of(line, plan)])
        found[place] = list(promises(line, watch))
    return found


def baseline_rows(plan: Plan, predictions: Table, outcomes: Table | None) -> Rows:
    """The baseline's rows of two tables, as a store would give them."""
    given = checked_predictions(predictions, plan.columns, version=plan.version)
    told = checked_outcomes(predictions if outcomes is None else outcomes, plan.columns)
    answers = dict(zip(told.id, zip(told.outcome, told.acted, told.known, strict=True), strict=True))
    start = None if plan.baseline.start is None else moment_of(plan.baseline.start)
    end = moment_of(plan.baseline.until)
    kept = [
        row
        for row, time in enumerate(given.time)
        if time < end and (start is None or time >= start) and given.version[row] == plan.version
    ]
    kept.sort(key=lambda row: (given.time[row], given.id[row]))
    nothing = (None, None, None)
    own = [answers.get(given.id[row], nothing) for row in kept]

    def numbers(values: list[Any]) -> Any:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    return Rows(
        np.array([given.time[row] for row in kept], dtype=np.int64),
        [given.patient[row] for row in kept],
        [given.site[row] for row in kept],
        numbers([given.risk[row] for row in kept]),
        numbers([one[0] for one in own]),
        numbers([given.acted[row] if one[1] is None else one[1] for row, one in zip(kept, own, strict=True)]),
        numbers([one[2] for one in own]),
        [given.groups[row] for row in kept],
        [given.inputs[row] for row in kept],
        [given.scores[row] for row in kept],
    )
