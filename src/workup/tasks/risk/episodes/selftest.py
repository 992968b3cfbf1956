"""Does the scorer of episodes find what was planted? Stays with known answers, put through every step.

Every draw has a fixed seed, and a planted truth is looked for in a 99.9 % interval or at an exact value, so a failure
means a broken scorer and not bad luck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workup import plugins
from workup.estimate import Draws, Estimate, estimate
from workup.stats.random import generator
from workup.task import Table
from workup.tasks.risk.discrimination import discrimination
from workup.tasks.risk.episodes import metrics
from workup.tasks.risk.episodes.evaluation import Evaluated, evaluate
from workup.tasks.risk.episodes.settings import EpisodeColumnsPart, EpisodesPart, EventsPart
from workup.tasks.risk.episodes.tables import read_events, read_predictions
from workup.tasks.selftests import Check, run_parts

LEVEL = 0.999
THRESHOLD = 0.1
_EXACT = 1e-12
_PATIENTS = 2_500
_HOURS = (1.0, 6.0, 12.0)
_WHERE = "self-test"
_TYPES = {
    "target": ["sepsis"],
    "start": ["admit"],
    "end": ["discharge"],
    "death": ["death"],
    "lost": ["transfer"],
    "intervention": ["antibiotics"],
}
# As the generator's own plan asks.
_ASKED = {"horizon": "24h", "refractory": "8h", "act_within": "8h"}
# Widths that the planted stays may not exceed, a third above what they give: without a limit an interval from 0 to 1
# would hold every truth.
_WIDEST = {
    "event_sensitivity": 0.15,
    "event_sensitivity_scored": 0.15,
    "event_sensitivity_by_score": 0.15,
    "event_coverage": 0.03,
    "lead_time_median": 5.4,
    "lead_time_mean": 3.3,
    "flagged_before": 0.22,
    "alert_ppv": 0.07,
    "nne": 2.9,
    "alarm_rate": 16.0,
    "alert_acted_share": 0.07,
    "encounter_ppv": 0.09,
    "nne_encounter": 2.3,
    "alerts_per_flagged_event": 4.5,
}


def run(*, seed: int = 0) -> list[Check]:
    """Every check, in a fixed order. A scorer that raises fails the check and stops none of the others."""
    return run_parts(_CHECKS, seed=seed)


# ---- asking the scorer -----------------------------------------------------------------------------------------------


def _evaluated(predictions: Table, events: Table, *, thresholds: Sequence[float] = (), **asked: Any) -> Evaluated:
    part = EpisodesPart.checked({**_ASKED, **asked}, where=_WHERE)
    groups = [name for name in ("sex", "age", "ward") if name in predictions]
    columns = EpisodeColumnsPart.checked({"groups": groups}, where=_WHERE)
    roles = EventsPart.checked(_TYPES, where=_WHERE)
    return evaluate(
        read_predictions(predictions, columns, part), read_events(events, roles, part), part, thresholds or (THRESHOLD,)
    )


def _estimates(found: Evaluated, *names: str) -> dict[str, Estimate]:
    """Metrics of events, alerts and stays, all when none is named; `flagged_before` by its hours."""
    kinds = {
        metrics.EVENT: [*metrics.event_metrics(THRESHOLD, _HOURS), metrics.lead_time_median(THRESHOLD)],
        metrics.WATCH: metrics.watch_metrics(THRESHOLD),
        metrics.STAY: metrics.stay_metrics(THRESHOLD),
        metrics.ALL: [metrics.alerts_per_flagged_event(THRESHOLD)],
    }
    answers: dict[str, Estimate] = {}
    for kind, every in kinds.items():
        asked = [metric for metric in every if not names or metric.name in names]
        rows = found.scores if kind == metrics.ALL else found.scores.take(found.scores[kind] == 1)
        for one in estimate(rows, asked, draws=Draws(seed=0, replicates=1_000), levels=(LEVEL,)):
            hours = one.slice.get("hours")
            answers[one.metric if hours is None else f"{one.metric} {hours:g}h"] = one
    return answers


def _planted(seed: int, *, count: int = _PATIENTS, **plan: Any) -> Any:
    return plugins.find("generators", "episodes")(count, seed=seed, plan={"thresholds": [THRESHOLD], **plan})


def _truth(planted: Mapping[str, Any]) -> dict[str, float]:
    """The planted figures by the names of `_estimates`."""
    at = planted["thresholds"][f"{THRESHOLD:g}"]
    before = {f"flagged_before {hours:g}h": at["flagged_before"][f"{hours:g}h"] for hours in _HOURS}
    return {"event_coverage": planted["event_coverage"], **at, **before}


def _equal(name: str, expected: float, found: float) -> Check:
    return Check(name, f"{expected:.10g}", f"{found:.10g}", bool(abs(found - expected) <= _EXACT))


# ---- a table on one's fingers ----------------------------------------------------------------------------------------


def _moments(hours: Sequence[float]) -> Any:
    return np.datetime64("2024-01-01", "us") + (np.array(hours) * 60).astype("timedelta64[m]")


def _three_stays() -> tuple[Table, Table]:
    """Patient A with stay a, whose event is at hour 20; patient B with stays b, without one, and c, with one at 107."""
    predictions = {
        "patient": np.array(["A"] * 8 + ["B"] * 5, dtype=object),
        "encounter": np.array(["a"] * 8 + ["b"] * 3 + ["c"] * 2, dtype=object),
        "time": _moments([0, 4, 8, 12, 16, 19.5, 20, 24, 0, 6, 12, 100, 106]),
        "risk": np.array([0.2, 0.6, 0.7, 0.4, 0.8, 0.9, 0.9, 0.3, 0.1, 0.5, 0.3, 0.4, 0.2]),
    }
    events = {
        "patient": np.array(list("AAABBBBB"), dtype=object),
        "encounter": np.array(list("aaabbccc"), dtype=object),
        "type": np.array(
            ["admit", "sepsis", "discharge", "admit", "discharge", "admit", "sepsis", "discharge"], dtype=object
        ),
        "time": _moments([0, 20, 30, 0, 18, 100, 107, 124]),
    }
    return predictions, events


def _by_hand(seed: int) -> Iterator[Check]:
    predictions, events = _three_stays()
    found = _evaluated(predictions, events, thresholds=[0.5], horizon="12h", gap="1h", refractory="6h")
    counts = found.counts["0.5"]
    expected = {"alerts": 3, "suppressed": 3, "true_alerts": 1, "false_alerts": 2, "neutral_alerts": 0, "days": 3}
    expected |= {"events": 2, "scored_events": 2, "flagged_events": 1, "judged_encounters": 2, "true_encounters": 1}
    for name, count in expected.items():
        yield _equal(name.replace("_", " "), count, counts[name])
    for name, count in {"case": 5, "control": 5, "late": 1, "after_event": 2, "unknown": 0, "outside": 0}.items():
        yield _equal(f"predictions that are {name}", count, found.fates[name])
    yield _equal("lead of the flagged event", 4, float(np.nanmax(found.scores["lead@0.5"])))
    at_once = _evaluated(predictions, events, thresholds=[0.5], horizon="12h", gap="1h", refractory="0h")
    yield _equal("lead without suppression", 12, float(np.nanmax(at_once.scores["lead@0.5"])))
    highest = found.cases("encounter", "max")
    pairs = sorted(zip(highest["risk"].tolist(), highest["outcome"].tolist(), strict=True))
    expected_pairs = [(0.4, 1.0), (0.5, 0.0), (0.8, 1.0)]
    yield Check("highest risk and outcome of stays", f"{expected_pairs}", f"{pairs}", pairs == expected_pairs)


# ---- planted stays ---------------------------------------------------------------------------------------------------


def _recovered(seed: int) -> Iterator[Check]:
    made = _planted(seed)
    found, truth = _estimates(_evaluated(made.predictions, made.events)), _truth(made.truth["overall"])
    for name, one in found.items():
        widest, planted = _WIDEST[name.partition(" ")[0]], truth[name]
        expected = f"{planted:.4f} in an interval at most {widest:g} wide"
        if one.low is None or one.high is None:
            yield Check(name, expected, "no interval", False, one.reason or "")
            continue
        passed = one.low <= planted <= one.high and one.high - one.low <= widest
        yield Check(name, expected, f"{one.low:.4f} to {one.high:.4f}", passed, f"{one.method}, level {one.level:g}")


# What each fault must move, and where to: below (-1) or above (+1) what the faultless scores would have.
_FAULTS: Mapping[str, tuple[Mapping[str, float], Mapping[str, int]]] = {
    "late": ({"late_hours": 12}, {"event_sensitivity": -1, "alert_ppv": -1, "lead_time_median": -1}),
    "noise": ({"signal": 0}, {"event_sensitivity": -1, "alert_ppv": -1, "alarm_rate": -1}),
    "flood": ({"shift": 1.5}, {"event_sensitivity": 1, "alert_ppv": -1, "alarm_rate": 1}),
    "silent": ({"missing": 0.6}, {"event_sensitivity": -1, "event_coverage": -1, "alarm_rate": -1}),
}


def _faults(seed: int) -> Iterator[Check]:
    for name, (fault, moves) in _FAULTS.items():
        made = _planted(seed, faults=[fault])
        found = _estimates(_evaluated(made.predictions, made.events), *moves)
        bad, good = _truth(made.truth["overall"]), _truth(_planted(seed, count=1).truth["overall"])
        for metric, way in moves.items():
            one = found[metric]
            low, high = one.low, one.high
            expected = f"{'above' if way > 0 else 'below'} {good[metric]:.4f}, around {bad[metric]:.4f}"
            if low is None or high is None:
                yield Check(f"{name}, {metric}", expected, "no interval", False, one.reason or "")
                continue
            moved = low > good[metric] if way > 0 else high < good[metric]
            yield Check(f"{name}, {metric}", expected, f"{low:.4f} to {high:.4f}", moved and low <= bad[metric] <= high)


def _one_site(seed: int) -> Iterator[Check]:
    """A fault of one site is found there and nowhere else, although tables are never cut by site."""
    made = _planted(seed, faults=[{"where": {"site": "S02"}, "shift": 1.5}])
    part = EpisodesPart.checked(_ASKED, where=_WHERE)
    columns = EpisodeColumnsPart.checked({"site": "site"}, where=_WHERE)
    predictions = read_predictions(made.predictions, columns, part)
    events = read_events(made.events, EventsPart.checked(_TYPES, where=_WHERE), part)
    scores = evaluate(predictions, events, part, [THRESHOLD]).scores
    watching = scores.take(scores[metrics.WATCH] == 1)
    [rate] = [one for one in metrics.watch_metrics(THRESHOLD) if one.name == "alarm_rate"]
    assert watching.site is not None
    for code, site in enumerate(watching.site.names):
        [one] = estimate(watching.take(watching.site.codes == code), [rate], draws=Draws(seed=0), levels=(LEVEL,))
        planted = made.truth["sites"][site]["thresholds"][f"{THRESHOLD:g}"]["alarm_rate"]
        passed = one.low is not None and one.high is not None and one.low <= planted <= one.high
        yield Check(f"alarm rate of {site}", f"{planted:.2f}", f"{one.low} to {one.high}", passed)


# ---- laws ------------------------------------------------------------------------------------------------------------


def _order(seed: int) -> Iterator[Check]:
    """Rows of either table in another order change no figure by a bit."""
    made = _planted(seed, count=60)
    rng = generator(seed, "selftest", "episodes order")
    shuffled = []
    for table in (made.predictions, made.events):
        rows = rng.permutation(len(table["time"]))
        shuffled.append({name: column[rows] for name, column in table.items()})
    first, second = _evaluated(made.predictions, made.events), _evaluated(*shuffled)
    same = all(np.array_equal(first.scores[name], second.scores[name], equal_nan=True) for name in first.scores.values)
    yield Check("rows of either table", "the same scores", "the same" if same else "others", same)


def _adding_up(seed: int) -> Iterator[Check]:
    """Levels of a group that changes within stays add up to all, for everything that is counted."""
    made = _planted(seed, count=200)
    scores = _evaluated(made.predictions, made.events).scores
    ward = scores.groups["ward"]
    counted = ("predictions", "days", "event", "scored", *(f"{name}@{THRESHOLD:g}" for name in ("alerts", "flagged")))
    for name in counted:
        parts = sum(float(scores[name][ward.codes == code].sum()) for code in range(len(ward.names)))
        whole = float(scores[name].sum())
        yield Check(name, f"{whole:.6g}", f"{parts:.6g}", bool(abs(parts - whole) <= 1e-9 * whole))


def _gap(seed: int) -> Iterator[Check]:
    """Sensitivity with a gap is the share flagged at least so long before without one: never more, alerts being the
    same, and equal where no early alert hides a later one."""
    made = _planted(seed, count=400)
    once = _evaluated(made.predictions, made.events, refractory="0h")
    gapped = _evaluated(made.predictions, made.events, refractory="0h", gap="6h")
    events = once.scores.take(once.scores[metrics.EVENT] == 1)
    before = float(np.sum(np.nan_to_num(events[f"lead@{THRESHOLD:g}"], nan=-1.0) >= 6))
    yield _equal("flagged with a gap of 6 h", before, gapped.counts[f"{THRESHOLD:g}"]["flagged_events"])


def _watching(seed: int) -> Iterator[Check]:
    """Risks that are pure noise: a maximum ranks worse than chance, since an event cuts the watching short; the first
    score does not."""
    rng = generator(seed, "selftest", "episodes noise")
    stays = 4_000
    hours = rng.integers(24, 145, stays)
    onset = np.where(rng.random(stays) < 0.1, rng.uniform(0.5, hours), np.inf)
    stay = np.repeat(np.arange(stays), hours)
    hour = np.arange(stay.size) - np.repeat(np.cumsum(hours) - hours, hours)
    names = np.array([f"{number}" for number in range(stays)], dtype=object)
    event = np.flatnonzero(np.isfinite(onset))
    predictions = {
        "patient": names[stay],
        "encounter": names[stay],
        "time": _moments(hour.tolist()),
        "risk": rng.random(stay.size),
    }
    events = {
        "patient": np.concatenate([names[event], names]),
        "encounter": np.concatenate([names[event], names]),
        "type": np.repeat(np.array(["sepsis", "discharge"], dtype=object), [event.size, stays]),
        "time": np.concatenate([_moments(onset[event].tolist()), _moments(hours.tolist())]),
    }
    found = _evaluated(predictions, events, thresholds=[0.9])
    [auroc] = [metric for metric in discrimination() if metric.name == "auroc"]
    for score, low, high in (("max", 0.28, 0.38), ("first", 0.44, 0.56)):
        value = auroc.value(found.cases("encounter", score))
        yield Check(f"AUROC of the {score}", f"{low} to {high}", f"{value:.3f}", bool(low <= value <= high))


_CHECKS: Mapping[str, Callable[[int], Iterator[Check]]] = {
    "by hand": _by_hand,
    "planted stays": _recovered,
    "planted faults": _faults,
    "one site": _one_site,
    "row order": _order,
    "levels add up": _adding_up,
    "a gap": _gap,
    "who watches longer": _watching,
}
