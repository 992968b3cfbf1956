"""Laws of episodes, on random tables: equal to plain loops, and what no shuffling, splitting or slicing changes."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import slow_episodes as slow
from tests.support.episode_tables import ROLES, by_rows, evaluated, hours_of
from workup.errors import InputError
from workup.scores import Scores
from workup.tasks.risk.episodes.cases import case_rows
from workup.tasks.risk.episodes.evaluation import Evaluated
from workup.tasks.risk.episodes.fates import FATES
from workup.tasks.risk.episodes.rows import rows_of_events, rows_of_stays, rows_of_watching

STEP = 30  # minutes: coarse, so that moments often coincide
THRESHOLDS = (0.3, 0.6)
_REDUCED = [(unit, score) for unit in ("encounter", "patient") for score in ("max", "first", "last", "mean")]
_UNITS = [("prediction", "max"), ("landmark", "max"), *_REDUCED]
_RISKS = st.sampled_from((0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.9))


def _minutes(low: int, high: int) -> Any:
    return st.integers(low, high).map(lambda steps: steps * STEP)


@st.composite
def _stay(draw: Any, name: str, patient: str, begin: int) -> slow.Stay:
    stay = slow.Stay(name, patient)
    length = draw(_minutes(1, 30))
    times = draw(st.lists(_minutes(-2, 32), max_size=10, unique=True))
    stay.predictions = [(begin + time, draw(_RISKS), draw(st.sampled_from(("icu", "ward")))) for time in sorted(times)]
    if draw(st.integers(0, 4)) or not stay.predictions:
        stay.events.append(("start", begin))
    if draw(st.integers(0, 5)):
        stay.events.append((draw(st.sampled_from(("end", "death", "lost"))), begin + length))
    for kind, most in (("target", 3), ("intervention", 2), ("end", 1), ("death", 1)):
        if kind in ("target", "intervention") or not draw(st.integers(0, 6)):
            for time in draw(st.lists(_minutes(-2, 34), max_size=most)):
                stay.events.append((kind, begin + time))
    if not draw(st.integers(0, 12)):
        stay.events.append(("target", None))
    return stay


@st.composite
def _world(draw: Any) -> tuple[list[slow.Stay], list[tuple[str, str, int]], slow.Settings]:
    stays = []
    for patient in range(draw(st.integers(1, 3))):
        begin = draw(_minutes(0, 5)) + 100 * STEP
        for number in range(draw(st.integers(1, 2))):
            stays.append(draw(_stay(f"s{patient}{number}", f"p{patient}", begin)))
            begin += draw(_minutes(20, 60))
    loose = draw(
        st.lists(
            st.tuples(
                st.sampled_from(("p0", "p1", "p9")), st.sampled_from(("target", "intervention")), _minutes(95, 200)
            ),
            max_size=2,
        )
    )
    horizon = draw(st.sampled_from((None, 60, 120, 360, 600)))
    chosen = slow.Settings(
        horizon=horizon,
        gap=draw(st.sampled_from([gap for gap in (0, 30, 60, 90) if horizon is None or gap < horizon])),
        present=draw(st.sampled_from((0, 0, 60))),
        recurrent=draw(st.booleans()),
        rest=draw(st.sampled_from((0, 30, 120))),
        discharge="free" if horizon is None else draw(st.sampled_from(("free", "censored"))),
        stop_at=draw(st.sampled_from(((), (), ("intervention",)))),
        as_of=draw(_minutes(105, 190)),
        policy=draw(st.sampled_from(("level", "crossing"))),
        refractory=draw(st.sampled_from((0, 30, 60, 240, None))),
        act_within=draw(st.sampled_from((30, 120, 360))),
        landmarks=draw(st.sampled_from(((), (0, 60), (30, 120, 240)))),
        stale=draw(st.sampled_from((30, 60, 1440))),
    )
    return stays, loose, chosen


def _tables(stays: list[slow.Stay], loose: list[tuple[str, str, int]]) -> tuple[dict[str, Any], dict[str, Any]]:
    predictions = [
        (one.patient, one.name, time / 60, risk, ward) for one in stays for time, risk, ward in one.predictions
    ]
    happened = [
        (one.patient, one.name, kind, None if time is None else time / 60) for one in stays for kind, time in one.events
    ] + [(patient, None, kind, time / 60) for patient, kind, time in loose]
    return (
        by_rows(("patient", "encounter", "time", "risk", "ward"), predictions),
        by_rows(("patient", "encounter", "type", "time"), happened),
    )


def _given(s: slow.Settings) -> dict[str, Any]:
    return {
        "horizon": "stay" if s.horizon is None else f"{s.horizon}min",
        **{name: f"{getattr(s, name)}min" for name in ("gap", "present", "rest", "act_within", "stale")},
        "recurrent": s.recurrent,
        "discharge": s.discharge,
        "stop_at": list(s.stop_at),
        "policy": s.policy,
        "refractory": "encounter" if s.refractory is None else f"{s.refractory}min",
        "landmarks": [minutes / 60 for minutes in s.landmarks],
        **({} if s.as_of is None else {"as_of": s.as_of / 60}),
    }


def _known(stays: list[slow.Stay]) -> bool:
    """Whether there is a target, and a stay in both tables: without these they are refused, which is tested apart."""
    return any(kind == "target" for one in stays for kind, _ in one.events) and any(
        one.predictions and one.events for one in stays
    )


def _run(stays: list[slow.Stay], loose: list[tuple[str, str, int]], s: slow.Settings) -> Evaluated | None:
    """What our code makes of a world; None where nothing lies inside a stay."""
    try:
        return evaluated(*_tables(stays, loose), _given(s), THRESHOLDS)
    except InputError as error:
        if "inside a stay" not in str(error) and "lies in one encounter" not in str(error):
            raise
        return None


@settings(max_examples=120, deadline=None)
@given(_world())
def test_equal_to_plain_loops(world: Any) -> None:
    """Fates, counts, leads and every unit's rows are those of the definition."""
    stays, loose, s = world
    if not _known(stays):
        return
    found = _run(stays, loose, s)
    nowhere = slow.placed(stays, loose, s)
    if nowhere is None or not any(one.inside(s) for one in stays):
        assert found is None
        return
    assert found is not None
    names = dict.fromkeys(FATES, 0)
    for one in stays:
        for time, _, _ in one.predictions:
            names[one.fate(time, s)] += 1
    assert found.fates == names
    assert found.aside["events_without_encounter"] == nowhere
    assert found.aside["merged_onsets"] == sum(one.merged for one in stays)
    assert found.aside["later_onsets"] == sum(one.later for one in stays)
    assert found.aside["events_after_end"] == sum(one.after_end for one in stays)
    for threshold in THRESHOLDS:
        label = format(threshold, ".12g")
        _same_counts(found.counts[label], slow.counted(stays, threshold, s))
        lead = found.scores[f"lead@{label}"]
        assert np.allclose(np.sort(lead[~np.isnan(lead)]) * 60, slow.counted(stays, threshold, s)["leads"])
        for level, mask in found.scores.groups["ward"].masks():
            _same_sums(found.scores.take(mask), label, slow.counted(stays, threshold, s, ward=level))
    for unit, score in _UNITS:
        rows = case_rows(found.judged, unit, score)
        ours = [
            (found.stays.patient_names[found.stays.patient[stay]], risk, None if math.isnan(outcome) else outcome)
            for stay, risk, outcome in zip(rows.stay, rows.risk.round(12).tolist(), rows.outcome.tolist(), strict=True)
        ]
        theirs = [
            (patient, round(risk, 12), outcome) for patient, _, risk, outcome in slow.cases(stays, unit, score, s)
        ]
        assert sorted(ours, key=str) == sorted(theirs, key=str), (unit, score)


def _same_counts(ours: Any, theirs: dict[str, Any]) -> None:
    assert round(ours["days"] * 1440) == theirs["minutes"]
    for name, value in ours.items():
        if name != "days":
            assert value == theirs[name], name


def _same_sums(scores: Scores, label: str, theirs: dict[str, Any]) -> None:
    assert round(float(scores["days"].sum()) * 1440) == theirs["minutes"]
    for ours, name in (
        ("predictions", "predictions"),
        (f"alerts@{label}", "alerts"),
        (f"suppressed@{label}", "suppressed"),
        (f"true@{label}", "true_alerts"),
        (f"false@{label}", "false_alerts"),
        (f"neutral@{label}", "neutral_alerts"),
        (f"acted_alerts@{label}", "acted_alerts"),
        ("event", "events"),
        ("scored", "scored_events"),
        (f"flagged@{label}", "flagged_events"),
        (f"by_score@{label}", "flagged_by_score"),
    ):
        assert scores[ours].sum() == theirs[name], name


def _bytes(scores: Scores | None) -> Any:
    if scores is None:
        return None
    return (
        {name: column.tobytes() for name, column in scores.values.items()},
        scores.patient.tobytes(),
        None if scores.time is None else scores.time.tobytes(),
        {name: (levels.codes.tobytes(), levels.names) for name, levels in scores.groups.items()},
        None if scores.weight is None else scores.weight.tobytes(),
        _bytes(scores.waiting),
    )


@settings(max_examples=40, deadline=None)
@given(_world(), st.sampled_from(["prediction", "encounter", "patient"]), st.randoms(use_true_random=False))
def test_shuffling_either_table_changes_no_byte(world: Any, unit: str, random: Any) -> None:
    """Rows of both tables in another order, cut into two files and put together again: the same bytes."""
    stays, loose, s = world
    if not _known(stays):
        return
    given_ = {**_given(s), "unit": unit}
    tables = _tables(stays, loose)
    try:
        first = evaluated(*tables, given_, THRESHOLDS)
    except InputError:
        return
    shuffled: list[Any] = []
    for table in tables:
        order = list(range(len(next(iter(table.values())))))
        random.shuffle(order)
        shuffled.append({name: [column[place] for place in order] for name, column in table.items()})
    second = evaluated(shuffled[0], shuffled[1], given_, THRESHOLDS)
    assert _bytes(first.scores) == _bytes(second.scores)
    assert (first.fates, first.aside, first.counts) == (second.fates, second.aside, second.counts)


def _of_stay(found: Evaluated, name: str) -> dict[str, list[float]]:
    """Every column of the rows of one stay, of whatever kind."""
    number = found.stays.names.index(name)
    kinds = (rows_of_watching(found.judged, found.design), rows_of_events(found.judged), rows_of_stays(found.judged))
    return {
        f"{rows.kind} {column}": values[rows.stay == number].tolist()
        for rows in kinds
        for column, values in rows.values.items()
    }


@settings(max_examples=40, deadline=None)
@given(_world())
def test_another_stay_changes_nothing_of_the_first(world: Any) -> None:
    """Neither a second stay of the patient nor those of others touch its rows."""
    stays, _, s = world
    # With a stay of somebody else, so that there is a target and a prediction whatever the first stay has.
    other = slow.Stay("z", "pz", [(30, 0.9, "icu")], [("start", 0), ("target", 60), ("end", 90)])
    alone, among = _run([stays[0], other], [], s), _run([*stays, other], [], s)
    assert alone is not None
    assert among is not None
    assert str(_of_stay(alone, "s00")) == str(_of_stay(among, "s00"))


@settings(max_examples=40, deadline=None)
@given(_world())
def test_levels_and_months_add_up(world: Any) -> None:
    """Of every grouping and of every month, the parts of an additive column add up to all."""
    stays, loose, s = world
    found = _run(stays, loose, s) if _known(stays) else None
    if found is None:
        return
    scores = found.scores
    assert scores.time is not None
    months = scores.time.astype("datetime64[M]")
    additive = [
        name for name in scores.values if not name.startswith(("outcome", "risk", "lead", "followup", "status"))
    ]
    for name in additive:
        whole = float(scores[name].sum())
        for levels in scores.groups.values():
            assert math.isclose(sum(float(scores[name][mask].sum()) for _, mask in levels.masks()), whole)
        assert math.isclose(sum(float(scores[name][months == month].sum()) for month in np.unique(months)), whole)
    assert np.array_equal(sum(scores[kind] for kind in ("case", "watch", "event", "stay")), np.ones(len(scores)))


@settings(max_examples=50, deadline=None)
@given(_world(), st.sampled_from((30, 60, 90)))
def test_a_gap_is_a_lead_that_was_asked_for(world: Any, gap: int) -> None:
    """event_sensitivity with gap h equals flagged_before{h} with gap 0, under any policy."""
    stays, loose, s = world
    if not _known(stays) or (s.horizon is not None and s.horizon <= gap):
        return
    with_gap, without = copy.copy(s), copy.copy(s)
    with_gap.gap, without.gap = gap, 0
    one, two = _run(stays, loose, with_gap), _run(stays, loose, without)
    if one is None or two is None:
        return
    for label in one.labels:
        assert one.counts[label]["flagged_events"] == (two.scores[f"lead@{label}"] * 60 >= gap).sum()
        assert one.counts[label]["alerts"] == two.counts[label]["alerts"]


@settings(max_examples=50, deadline=None)
@given(_world())
def test_a_higher_threshold_never_fires_more_alerts_under_level(world: Any) -> None:
    """Whatever the refractory period."""
    stays, loose, s = world
    s.policy = "level"
    found = _run(stays, loose, s) if _known(stays) else None
    if found is not None:
        assert found.counts["0.6"]["alerts"] <= found.counts["0.3"]["alerts"]


def test_a_higher_threshold_may_raise_sensitivity_and_under_crossing_alerts() -> None:
    """An early alert no longer hides the one in time; and a level that is crossed more often fires more often."""
    predictions: dict[str, Any] = {"patient": ["p"] * 3, "encounter": ["e"] * 3, "time": [0, 4, 8]}
    predictions["risk"] = [0.4, 0.7, 0.4]
    happened = {
        "patient": ["p"] * 3,
        "encounter": ["e"] * 3,
        "type": ["start", "target", "end"],
        "time": [0, 8.5, 20],
    }
    one = evaluated(predictions, happened, {"horizon": 6, "refractory": "encounter"}, THRESHOLDS)
    assert one.counts["0.3"]["flagged_events"] == 0
    assert one.counts["0.6"]["flagged_events"] == 1
    predictions["risk"] = [0.7, 0.4, 0.7]
    two = evaluated(predictions, happened, {"horizon": 6, "policy": "crossing"}, THRESHOLDS)
    assert (two.counts["0.3"]["alerts"], two.counts["0.6"]["alerts"]) == (1, 2)


def test_days_are_counted_in_whole_microseconds() -> None:
    """Exposure of each prediction ends where the next begins; the last at the end of the stay."""
    found = evaluated(
        {"patient": ["p"] * 3, "encounter": ["e"] * 3, "time": [1, 2, 25.5], "risk": [0.1, 0.2, 0.3]},
        {"patient": ["p"] * 3, "encounter": ["e"] * 3, "type": ["start", "target", "end"], "time": [0, 30, 31]},
        {"horizon": 6},
        roles=ROLES,
    )
    watch = found.scores.take(found.scores["watch"] == 1)
    assert watch["days"].tolist() == [23.5 / 24, 1 / 24, 5.5 / 24] or math.isclose(watch["days"].sum(), 30 / 24)
    assert hours_of(found.stays.end).tolist() == [31]
