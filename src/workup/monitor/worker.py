"""The worker: closes windows that are mature, in order, and keeps what the lens says of them, exactly once.

Each window is one transaction that also holds the state of the lens after it. A worker that is killed has done a window
or not; one that is overtaken by another writes nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from workup.errors import WorkupError
from workup.lenses.drift.windows import windows as calendar
from workup.metric import Metric
from workup.monitor import integrity, watching
from workup.monitor.impact import impact
from workup.monitor.plan import LINES, Line, Plan, VersionPart, moment_of
from workup.monitor.scoring import Rows, groups_of, metrics_of, scores_of
from workup.monitor.store import windows as kept
from workup.monitor.store.alerts import end_mutes, keep_alert, resolved_by_people, retire_alerts
from workup.monitor.store.database import Store, microseconds
from workup.monitor.store.lease import give_lease, take_lease
from workup.monitor.store.models import last_plan, models, versions
from workup.monitor.store.tables import ALERTS, PREDICTIONS
from workup.monitor.watching import Watch, key_of
from workup.scores import Scores

LEASE_SECONDS = 120
_DAY = 86_400_000_000  # microseconds
_SHOWN_DAY = 10  # characters of a day


@dataclass
class Done:
    """What one round of work came to."""

    working: bool = True  # false where another worker holds the lease
    frozen: int = 0
    checked: int = 0
    closed: int = 0
    restated: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Watched:
    """One version of one model with the plan that it is watched by."""

    model: int
    name: str
    version: int
    version_name: str
    plan: Plan
    plan_number: int
    part: VersionPart
    same_as: int | None  # the version whose baseline it takes over

    @property
    def begins(self) -> int:
        """The first moment that is watched."""
        return _begins(self.plan, self.version_name)

    @property
    def label_delay(self) -> int:
        return round(self.plan.label_delay * _DAY)


class Worker:
    """Works on a store, while it holds the lease."""

    def __init__(self, store: Store, *, clock: Callable[[], int] = microseconds, holder: str = "") -> None:
        self.store, self._clock = store, clock
        self.holder = holder or f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._metrics: dict[str, list[Metric]] = {}

    def step(self, *, as_of: int | None = None) -> Done:
        """Do all that can be done as of a moment, now where none is named."""
        done = Done()
        if not self._leased():
            return Done(working=False)
        end_mutes(self.store, now=self._clock())
        with self.store.read() as connection:
            listed = models(connection)
        for model in listed:
            try:
                self._model(model, self._clock() if as_of is None else as_of, done)
            except kept.Overtaken:
                continue  # what the other worker has done need not be done
            except WorkupError as error:
                done.problems.append(f"{model['name']}: {error}")
        return done

    def close(self) -> None:
        """Let another worker begin at once."""
        give_lease(self.store, self.holder)

    def _leased(self) -> bool:
        now = self._clock()
        return take_lease(self.store, self.holder, now=now, until=now + LEASE_SECONDS * 1_000_000)

    def _model(self, model: Mapping[str, Any], as_of: int, done: Done) -> None:
        for watched in self._watched(model, as_of, done):
            try:
                self._frozen(watched, as_of, done)
                self._worked(watched, as_of, done)
            except kept.Overtaken:
                raise
            except kept.NotFrozen:
                continue  # its outcomes are not known yet
            except WorkupError as error:
                done.problems.append(f"{watched.name}, version {watched.version_name}: {error}")
        self._silence(model, as_of)

    def _watched(self, model: Mapping[str, Any], as_of: int, done: Done) -> list[_Watched]:
        """The versions that rows carry and the plan knows; their windows are brought up to date."""
        with self.store.write() as connection:
            held = last_plan(connection, model["id"])
            if held is None:
                return []
            plan = Plan.of(held["content"], where=f"plan {held['number']}")
            shown = {row["version"]: row for row in versions(connection, model["id"])}
            known = [name for name in shown if plan.part_of(name) is not None]
            for name in sorted(set(shown) - set(known)):
                done.problems.append(f"{model['name']}: rows of version '{name}', which the plan does not know")
            numbers = {name: int(shown[name]["id"]) for name in sorted(known, key=partial(_begins, plan))}
            kept.mark_stale(connection, model["id"], numbers)
            found = []
            for place, (name, number) in enumerate(numbers.items()):
                part = plan.part_of(name)
                assert part is not None
                same = part.equivalent_to
                if same is not None and shown[name]["baseline_of"] != same:
                    said = f"version '{name}' was not shown to be equivalent to '{same}', so it is not judged"
                    done.problems.append(f"{model['name']}: {said}")
                    continue
                one = _Watched(
                    model["id"], model["name"], number, name, plan, held["number"], part,
                    None if same is None else shown[same]["id"],
                )  # fmt: skip
                last = None if place == len(numbers) - 1 else kept.span(connection, model["id"], name)
                keys = [key_of(line, plan) for line in plan.watch]
                watched = [*keys, *integrity.WATCHES, integrity.SILENCE_WATCH]
                retire_alerts(connection, number, watched, now=self._clock())
                self._windows(connection, one, as_of if last is None else min(as_of, last[1] + 1), as_of)
                found.append(one)
            return found

    def _windows(self, connection: Connection, watched: _Watched, until: int, as_of: int) -> None:
        for cadence in watched.plan.cadences():
            stretches = stretches_of(watched.begins, until, cadence)
            kept.keep_windows(
                connection, watched.version, cadence, stretches, as_of=as_of, label_delay=watched.label_delay
            )

    # ---- baselines ---------------------------------------------------------------------------------------------------

    def _frozen(self, watched: _Watched, as_of: int, done: Done) -> None:
        """Freeze the baselines of lines that have none, once their outcomes are known."""
        with self.store.read() as connection:
            held = set(kept.watches(connection, watched.version))
        wanted = {key_of(line, watched.plan): line for line in watched.plan.watch}
        lacking = [key for key in (*wanted, *integrity.WATCHES) if key not in held]
        if not lacking:
            return
        source = watched if watched.same_as is None else None
        if source is None:
            made = self._taken_over(watched, lacking)
        elif watched.begins + watched.label_delay > as_of:
            return
        else:
            made = self._own_baseline(watched, wanted, lacking)
        with self.store.write() as connection:
            for key, state in made.items():
                line = wanted[key].model_dump(mode="json") if key in wanted else {"metric": key}
                kept.start_watch(connection, watched.version, key, line=line, state=state, now=self._clock())
        done.frozen += len(made)

    def _taken_over(self, watched: _Watched, lacking: Sequence[str]) -> dict[str, Any]:
        """The baselines of the equivalent version, without the windows that it has seen."""
        assert watched.same_as is not None
        with self.store.read() as connection:
            held = kept.watches(connection, watched.same_as)
        made = {}
        for key in lacking:
            if key in held:
                state = json.loads(held[key]["state"])
                watch = self._restored(watched, key, state["lens"])
                made[key] = {"lens": watch.begun_anew().stored(), "facts": state["facts"]}
        return made

    def _own_baseline(self, watched: _Watched, wanted: Mapping[str, Line], lacking: Sequence[str]) -> dict[str, Any]:
        plan, end = watched.plan, watched.begins
        assert watched.part.baseline is not None
        with self.store.read() as connection:
            spanned = kept.span(connection, watched.model, watched.version_name)
            asked = watched.part.baseline.start
            start = moment_of(asked) if asked else _day(spanned[0] if spanned else end)
            rows = kept.rows_between(connection, watched.model, watched.version_name, min(start, end), end)
        scores, metrics = scores_of(rows, plan), self._metrics_of(plan)
        chances = chances_of(plan, rows, metrics)
        made: dict[str, Any] = {}
        for key in lacking:
            facts: dict[str, Any] = {}
            if key in wanted:
                watch = watching.frozen(wanted[key], plan, scores, metrics, chance=chances[key])
            else:
                watch = integrity.frozen(key, plan, rows, start, end)
                facts["expected"] = integrity.expected_rows(len(rows), start, end, plan)
                facts["silence"] = plan.integrity.silence or integrity.silence_limit(plan, rows.time, start, end)
            made[key] = {"lens": watch.stored(), "facts": facts}
        return made

    def _metrics_of(self, plan: Plan) -> list[Metric]:
        if plan.sha256 not in self._metrics:
            self._metrics = {plan.sha256: metrics_of(plan)}
        return self._metrics[plan.sha256]

    def _restored(self, watched: _Watched, key: str, state: Mapping[str, Any]) -> Watch:
        if key in integrity.WATCHES:
            return watching.restored(key, "integrity", state, integrity.METRICS[key])
        return watching.restored(key, "", state, self._metrics_of(watched.plan))

    # ---- windows -----------------------------------------------------------------------------------------------------

    def _worked(self, watched: _Watched, as_of: int, done: Done) -> None:
        with self.store.read() as connection:
            held = kept.windows(connection, watched.version)
        for window in held:
            if window["end"] > as_of:
                continue
            own = window["cadence"] == watched.plan.cadence
            if own and window["checked"] is None and self._leased():
                window |= self._seen(watched, window, (integrity.ROWS_WATCH, integrity.FEED_WATCH), "checked")
                done.checked += 1
            lines = [
                key_of(line, watched.plan)
                for line in watched.plan.watch
                if watched.plan.cadence_of(line) == window["cadence"]
            ]
            late = [*lines, *((integrity.LABELS_WATCH,) if own else ())]
            if window["state"] == kept.MATURE and self._leased():
                self._seen(watched, window, late, "closed")
                done.closed += 1
            elif window["stale"] and self._leased():
                both = (integrity.ROWS_WATCH, integrity.FEED_WATCH) if own else ()
                self._seen(watched, window, [*both, *late], "restated")
                done.restated += 1

    def _seen(self, watched: _Watched, window: Mapping[str, Any], keys: Sequence[str], what: str) -> dict[str, Any]:
        """Show one window to some watches and keep, in one transaction, all that they say of it."""
        name, version = window["name"], watched.version
        with self.store.read() as connection:
            held = kept.watches(connection, version)
            over = {key: resolved_by_people(connection, version, key) for key in keys}
            rows = kept.rows_between(connection, watched.model, watched.version_name, window["start"], window["end"])
        missing = [key for key in keys if key not in held]
        if missing:
            raise kept.NotFrozen
        now = self._clock()
        moved: list[tuple[str, Watch, dict[str, Any]]] = []
        estimates: list[dict[str, Any]] = []
        judged = scores_of(rows, watched.plan)
        for key in keys:
            state = json.loads(held[key]["state"])
            watch = self._restored(watched, key, state["lens"])
            feed = key in integrity.WATCHES
            scores = self._of_the_feed(watched, key, rows, window, watch, state["facts"]) if feed else judged
            seen = name in watch.monitor.watching.names
            if what == "restated":
                watch = watch.restated(name, scores) if seen else watch
            elif not seen:
                watch = watch.after(name, scores, over=over[key])
            moved.append((key, watch, {"lens": watch.stored(), "facts": state["facts"]}))
            estimates += watch.estimates(name, None if feed else scores)
        values = self._figures(rows)
        if what == "checked":
            values = {"checked": now, "rows": values["rows"]}
        else:
            estimates += impact(rows, watched.plan) if window["cadence"] == watched.plan.cadence else ()
            restated = what == "restated"
            values |= {"state": kept.RESTATED if restated else kept.CLOSED, what: now, "through": rows.through}
            values |= {"stale": 0, "revision": window["revision"] + restated}
        with self.store.write() as connection:
            kept.finish_window(connection, window, **values)
            for key, watch, state in moved:
                kept.advance_watch(connection, held[key], state, windows=watch.windows)
                if what != "restated":
                    self._alerted(connection, watched, key, watch, now)
            revision = window["revision"] + (what == "restated")
            kept.keep_estimates(connection, window["id"], estimates, revision=revision, now=now)
        return values

    def _of_the_feed(
        self,
        watched: _Watched,
        key: str,
        rows: Rows,
        window: Mapping[str, Any],
        watch: Watch,
        facts: Mapping[str, Any],
    ) -> Scores:
        expected = facts["expected"]
        return integrity.scores_of(
            key, watched.plan, rows, window["start"], window["end"], expected=expected, watch=watch
        )

    def _figures(self, rows: Rows) -> dict[str, Any]:
        labelled, delay = rows.labelled, rows.label_delay
        told = np.isfinite(rows.acted)
        return {
            "rows": len(rows),
            "labelled": int(labelled.sum()),
            "events": int(np.sum(rows.outcome[labelled])),
            "acted": int(np.sum(rows.acted[told] > 0)) if told.any() else None,
            "label_delay": float(np.median(delay[np.isfinite(delay)])) if np.isfinite(delay).any() else None,
        }

    # ---- alerts ------------------------------------------------------------------------------------------------------

    def _alerted(self, connection: Connection, watched: _Watched, key: str, watch: Watch, now: int) -> None:
        line = next((one for one in watched.plan.watch if key_of(one, watched.plan) == key), watched.plan.integrity)
        plan = {**line.agreed(watched.plan), "plan": watched.plan_number}
        for own, values in watch.alerts():
            keep_alert(connection, {"version": watched.version, **own}, values, plan, now=now)

    def _silence(self, model: Mapping[str, Any], as_of: int) -> None:
        """Open an alert when no row has come for too long, and resolve it when one comes."""
        with self.store.write() as connection:
            held = last_plan(connection, model["id"])
            last = connection.execute(
                select(func.max(PREDICTIONS.c.time)).where(
                    PREDICTIONS.c.model == model["id"], PREDICTIONS.c.time <= as_of
                )
            ).scalar()
            if held is None or last is None:
                return
            # That of the version that is watched last: an older one may be silent for good.
            watched = [(row["id"], kept.watches(connection, row["id"])) for row in versions(connection, model["id"])]
            judged = [(number, own[integrity.ROWS_WATCH]) for number, own in watched if integrity.ROWS_WATCH in own]
            if not judged:
                return
            version, watch = judged[-1]
            days = json.loads(watch["state"])["facts"]["silence"]
            silent = as_of - last > days * _DAY
            plan = Plan.of(held["content"], where=f"plan {held['number']}")
            agreed = {**plan.integrity.agreed(plan), "plan": held["number"]}
            for cause in self._silences(connection, version, last if silent else None):
                key = {"version": version, "watch": integrity.SILENCE_WATCH, "cause": cause, "relapse": 0}
                over = not (silent and cause == str(last))
                keep_alert(connection, key, _silence(last, days, over=over), agreed, now=self._clock())

    def _silences(self, connection: Connection, version: int, last: int | None) -> Iterator[str]:
        """Silences that are open, by the time of the row before them, and the one that begins."""
        chosen = (ALERTS.c.version == version) & (ALERTS.c.watch == integrity.SILENCE_WATCH)
        asked = select(ALERTS.c.cause).where(chosen, ALERTS.c.state != "resolved")
        yield from dict.fromkeys([*connection.execute(asked).scalars(), *([] if last is None else [str(last)])])


def _silence(last: int, days: float, *, over: bool) -> dict[str, Any]:
    day = str(np.datetime64(last, "us"))[:_SHOWN_DAY]
    return {
        "kind": "integrity",
        "metric": "silence",
        "slice": "{}",
        "state": "resolved" if over else "open",
        "severity": "high",
        "effect": None,
        "message": f"no row for more than {days:.3g} days; the last is of {day}",
        "opened_window": day,
        "last_window": day,
        "quiet": 1 if over else 0,
        "resolved_window": day if over else "",
    }


def stretches_of(begins: int, until: int, cadence: str) -> list[kept.Stretch]:
    """The windows of a calendar from a moment until another; the first is short where it begins inside of one."""
    if until <= begins:
        return []
    ends = np.array([begins, until - 1], dtype=np.int64).astype("datetime64[us]")
    found = calendar(Scores.of({"at": [0.0, 0.0]}, time=ends), size=cadence)
    return [
        kept.Stretch(one.name, max(begins, int(one.start.astype(np.int64))), int(one.end.astype(np.int64)))
        for one in found
    ]


def chances_of(plan: Plan, rows: Rows, metrics: Sequence[Metric]) -> dict[str, float]:
    """How much of the chance of a false alarm each line may spend: as much as its share of all series."""
    groups = groups_of(rows, list(plan.group_columns()))
    counts = {}
    for line in plan.watch:
        at = sum(m.name == line.metric and all(m.at.get(k) == v for k, v in line.at.items()) for m in metrics)
        column = groups.get(line.by or line.gap or "")
        levels = 1 if column is None else sum(bool(mask.any()) for _, mask in column.masks())
        counts[key_of(line, plan)] = max(1, at) * (1 if line.gap and levels == 2 else max(1, levels))
    total = sum(counts.values())
    return {key: plan.chance * LINES * count / total for key, count in counts.items()}


def _begins(plan: Plan, version: str) -> int:
    """The first moment of a version that is watched."""
    part = plan.part_of(version)
    assert part is not None
    day = part.baseline.until if part.baseline is not None else part.start
    assert day is not None
    return moment_of(day)


def _day(moment: int) -> int:
    return moment - moment % _DAY
