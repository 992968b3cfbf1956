"""The monitor, window by window: charts and alerts as in the batch lens, constant memory, stored and restored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.planted_months import DRAWS, STABLE, Month, metrics_of, months, planted, with_values
from workup.errors import InputError, StudyError
from workup.lenses.drift.lens import drift
from workup.lenses.drift.monitor.stream import Monitor
from workup.lenses.drift.windows import rows_of, windows
from workup.metric import Metric, ratio
from workup.report import LensResult
from workup.scores import Scores

FOUND = ratio("found", lambda s: s["hit"], lambda s: np.ones(len(s)), describe="share found", parity=True)
FOLLOW = ["auroc", "calibration_slope", "oe_ratio", "sensitivity"]


def cut(scores: Scores, before: int) -> tuple[Scores, list[tuple[str, Scores]]]:
    """The rows of the first windows, and the others one by one under their names."""
    found = windows(scores, size="month")
    return rows_of(scores, found[:before]), [(w.name, rows_of(scores, [w])) for w in found[before:]]


def streamed(
    scores: Scores, metrics: Sequence[Metric], *, before: int, settings: dict[str, Any], through_json: bool = False
) -> Monitor:
    """The table as a stream sees it: rows in another order, and a monitor that may rest on disk between windows."""
    rng = np.random.default_rng(3)
    base, later = cut(scores, before)
    monitor = Monitor.start(base, metrics, settings=settings, seed=DRAWS.seed)
    for name, rows in later:
        if through_json:
            monitor = Monitor.restored(json.loads(json.dumps(monitor.stored(), allow_nan=False)), metrics)
        shuffled = replace(rows.take(rng.permutation(len(rows))), waiting=rows.waiting)
        monitor = monitor.after(name, shuffled)
    return monitor


def close(one: Any, other: Any) -> bool:
    """The same, floats to 1e-12."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        return (np.isnan(one) and np.isnan(other)) or abs(one - other) <= 1e-12 * max(1.0, abs(one))
    return bool(one == other)


def same(batch: LensResult, stream: LensResult) -> None:
    assert len(batch.charts_state) == len(stream.charts_state) > 0
    for one, other in zip(batch.charts_state, stream.charts_state, strict=True):
        assert close(dict(one), dict(other)), (one, other)
    first, second = ([dict(row) for row in r.alerts if row["type"] != "input"] for r in (batch, stream))
    assert [row.pop("message") for row in first] == [row.pop("message") for row in second]
    for one, other in zip(first, second, strict=True):
        assert close(one, other)


TABLE = planted(
    months((8, Month(rows=700)), (2, Month(rows=700)), (1, Month(rows=60)), (3, Month(rows=700, blur=1.6, shift=0.5))),
    inputs=True,
)


# ---- the same as the batch -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"charts": ["ewma"]},
        {"charts": ["ewma", "cusum"], "fast_start": True},
        {"charts": ["xmr", "p", "p_prime"]},
        {"charts": ["ewma", "ra_cusum"], "by": []},
    ],
)
@pytest.mark.parametrize("through_json", [False, True])
def test_charts_and_performance_alerts_are_those_of_the_batch_lens(
    settings: dict[str, Any], through_json: bool
) -> None:
    metrics = metrics_of(TABLE)
    asked = {"metrics": FOLLOW, "inputs": {"together": "none"}, **settings}
    batch = drift(TABLE, metrics, settings={"baseline": 8, **asked}, draws=DRAWS)
    stream = streamed(TABLE, metrics, before=8, through_json=through_json, settings=asked).result()
    assert any(row["type"] == "performance" for row in batch.alerts)
    same(batch, stream)


def test_the_order_of_the_baselines_rows_changes_nothing() -> None:
    metrics = metrics_of(TABLE)
    base, later = cut(TABLE, 8)
    other = base.take(np.random.default_rng(1).permutation(len(base)))
    ends = []
    for rows in (base, other):
        monitor = Monitor.start(rows, metrics, settings={"metrics": FOLLOW, "charts": ["ewma", "xmr", "ra_cusum"]})
        for name, window in later[:3]:
            monitor = monitor.after(name, window)
        ends.append(monitor.result())
    same(*ends)


def test_inputs_differ_by_no_more_than_the_bound_that_is_printed() -> None:
    metrics = metrics_of(TABLE)
    batch = drift(TABLE, metrics, settings={"baseline": 8, "metrics": ["auroc"]}, draws=DRAWS)
    monitor = streamed(TABLE, metrics, before=8, settings={"metrics": ["auroc"]})
    rows = {(row["window"], row["input"]): row for row in monitor.result().tables["inputs"]}
    compared = 0
    for row in batch.tables["inputs"]:
        if row["input"] not in ("age", "pulse") or row["flagged"] is None:
            continue
        other = rows[row["window"], row["input"]]
        lost = row["statistic"] - other["statistic"]
        assert -1e-12 <= lost <= other["statistic_error"] + 1e-12
        assert abs(row["effect"] - other["effect"]) <= other["effect_error"] + 1e-12
        assert other["psi"] == pytest.approx(row["psi"], abs=1e-12)
        compared += 1
    assert compared == 12
    assert any("are kept as counts at" in n or "is kept as counts at" in n for n in monitor.result().notes)


def test_rows_that_wait_for_their_answer_are_compared_in_their_inputs() -> None:
    metrics = metrics_of(TABLE)
    base, later = cut(TABLE, 8)
    rows = later[-1][1]
    unlabelled = replace(rows.take(np.arange(0)), waiting=rows)
    monitor = Monitor.start(base, metrics, settings={"metrics": ["auroc"]}).after("2024-02", unlabelled)
    result = monitor.result()
    assert result.tables["windows"][0]["status"] == "insufficient"
    assert result.tables["windows"][0]["waiting"] == 700
    assert {row["input"] for row in result.tables["inputs"] if row["flagged"] is not None} == {"age", "pulse"}


def test_an_immature_window_is_not_judged() -> None:
    base, later = cut(TABLE, 8)
    monitor = Monitor.start(base, metrics_of(TABLE), settings={"metrics": ["auroc"], "by": []})
    monitor = monitor.after("2024-02", later[-1][1], mature=False)
    assert monitor.result().tables["windows"][0]["status"] == "immature"
    assert [row["status"] for row in monitor.result().charts_state] == ["immature"]


# ---- constant memory -------------------------------------------------------------------------------------------------


def size_of(rows: int, *, windows_seen: int = 3, seed: int = 2) -> int:
    scores = planted(months((4, Month(rows=rows)), (windows_seen, Month(rows=rows))), seed=seed, inputs=True)
    monitor = streamed(scores, metrics_of(scores), before=4, settings={"metrics": ["auroc"]})
    return len(json.dumps(monitor.stored()))


def test_what_is_stored_does_not_grow_with_rows() -> None:
    small, large = size_of(3_000), size_of(24_000)
    assert large < 1.05 * small


def test_no_row_is_held_after_a_window_was_seen() -> None:
    base, later = cut(TABLE, 8)
    monitor = Monitor.start(base, metrics_of(TABLE), settings={"metrics": ["auroc"]}).after(*later[0])

    def arrays(value: Any, seen: dict[int, Any]) -> Any:
        if id(value) in seen:
            return
        seen[id(value)] = value  # held, so that no other object gets its number
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, Scores):
            raise AssertionError("rows are kept")
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield from arrays(item, seen)
        elif isinstance(value, dict):
            yield from arrays(list(value.values()), seen)
        elif hasattr(value, "__dict__") and not callable(value) and not isinstance(value, Metric):
            yield from arrays(vars(value), seen)

    # Tables of the grid that finds a row's bin are 16,384 cells at any number of rows.
    assert max(array.size for array in arrays(monitor, {})) <= 1 << 14


# ---- stored and restored ---------------------------------------------------------------------------------------------


def test_what_is_stored_is_plain_json_and_comes_back_the_same() -> None:
    monitor = streamed(TABLE, metrics_of(TABLE), before=8, settings={"metrics": FOLLOW, "charts": ["ewma", "xmr"]})
    text = json.dumps(monitor.stored(), allow_nan=False)
    again = Monitor.restored(json.loads(text), metrics_of(TABLE))
    assert json.dumps(again.stored(), allow_nan=False) == text
    first, second = monitor.result(), again.result()
    same(first, second)
    assert first.notes == second.notes and first.settings == second.settings
    assert json.dumps(again.stored()["input_rows"]) == json.dumps(monitor.stored()["input_rows"])


def test_a_restored_monitor_goes_on_as_if_it_had_never_stopped() -> None:
    metrics = metrics_of(TABLE)
    base, later = cut(TABLE, 8)
    monitor = Monitor.start(base, metrics, settings={"metrics": FOLLOW})
    other = monitor
    for name, rows in later:
        monitor = monitor.after(name, rows)
        other = Monitor.restored(json.loads(json.dumps(other.stored())), metrics).after(name, rows)
    assert other.stored() == monitor.stored()


def test_nothing_of_a_patient_is_stored() -> None:
    ids = np.array([f"ZZSECRET{i}" for i in range(len(TABLE))])
    scores = Scores.of(dict(TABLE.values), patient=ids, time=TABLE.time)
    stored = streamed(scores, metrics_of(scores), before=8, settings={"metrics": ["auroc"]}).stored()
    assert "ZZSECRET" not in json.dumps(stored)


def test_a_baseline_without_spread_can_be_stored_though_its_change_has_no_measure() -> None:
    scores = planted(months((4, STABLE), (2, STABLE)), groups=False)
    late = scores.time >= np.datetime64("2023-05-01")
    scores = replace(scores, inputs={"flag": np.where(late, 1.0, 0.0)})
    monitor = streamed(scores, metrics_of(scores), before=4, through_json=True, settings={"metrics": ["auroc"]})
    [alert] = monitor.result().alerts
    assert (alert["type"], alert["metric"], alert["effect"], alert["last_window"]) == (
        "input",
        "flag",
        np.inf,
        "2023-06",
    )


def test_metrics_that_are_not_given_are_missed_by_name() -> None:
    stored = Monitor.start(cut(TABLE, 8)[0], metrics_of(TABLE), settings={"metrics": ["sensitivity"]}).stored()
    with pytest.raises(StudyError, match=r"follows 'sensitivity' at threshold 0.3, which is not among the metrics"):
        Monitor.restored(stored, [metric for metric in metrics_of(TABLE) if metric.name != "sensitivity"])


@pytest.mark.parametrize("data", [{}, {"form": 99}, [], {"form": 1}, {"form": 1, "settings": {}, "metrics": []}])
def test_what_is_no_stored_monitor_is_refused(data: Any) -> None:
    with pytest.raises(InputError, match="stored monitor"):
        Monitor.restored(data, [FOUND])


def test_a_baseline_kept_whole_is_compared_but_not_stored() -> None:
    base, later = cut(TABLE, 8)
    monitor = Monitor.start(base, metrics_of(TABLE), settings={"metrics": ["auroc"]}, keep="exact").after(*later[0])
    assert "statistic_error" not in monitor.result().tables["inputs"][0]
    with pytest.raises(InputError, match="keep='binned'"):
        monitor.stored()


# ---- starting and feeding --------------------------------------------------------------------------------------------


def hits(n: int, share: float, *, sex: Sequence[str] = ("F", "M"), day: str = "2024-01-10") -> Scores:
    hit = (np.arange(n) % 1000 < 1000 * share).astype(float)
    return Scores.of(
        {"hit": hit},
        time=np.full(n, np.datetime64(day, "us")),
        groups={"sex": np.resize(np.repeat(sex, 1000), n)},
    )


def frozen() -> Scores:
    parts = [hits(2000, 0.9, day=f"2023-{month:02d}-10") for month in range(1, 11)]
    return Scores.of(
        {"hit": np.concatenate([part["hit"] for part in parts])},
        time=np.concatenate([part.time for part in parts]),
        groups={"sex": np.tile(np.repeat(["F", "M"], 1000), 10)},
    )


def test_the_baseline_is_cut_as_the_settings_say_or_into_so_many_windows() -> None:
    by_month = Monitor.start(frozen(), [FOUND], settings={})
    assert {len(row) for row in by_month.watching.family.phase_one} == {10}
    counted = Monitor.start(frozen(), [FOUND], settings={}, windows=5)
    assert {len(row) for row in counted.watching.family.phase_one} == {5}
    given = Monitor.start(frozen(), [FOUND], settings={}, windows=windows(frozen(), size="quarter"))
    assert {len(row) for row in given.watching.family.phase_one} == {4}
    with pytest.raises(InputError, match="at least one window"):
        Monitor.start(frozen(), [FOUND], settings={}, windows=0)


def test_a_level_that_the_baseline_never_saw_is_not_judged_and_said() -> None:
    monitor = Monitor.start(frozen(), [FOUND], settings={})
    monitor = monitor.after("2024-01", hits(3000, 0.9, sex=("F", "M", "U"))).after(
        "2024-02", hits(3000, 0.9, sex=("F", "M", "U"))
    )
    result = monitor.result()
    assert "Not in the baseline, so not judged: sex U (2000 rows)." in result.notes
    assert {row["slice"].get("sex") for row in result.charts_state} == {None, "F", "M"}
    assert "sex U" in " ".join(Monitor.restored(monitor.stored(), [FOUND]).result().notes)


def test_a_level_that_stays_away_is_insufficient() -> None:
    result = Monitor.start(frozen(), [FOUND], settings={}).after("2024-01", hits(2000, 0.9, sex=("F",))).result()
    reasons = {row["reason"] for row in result.charts_state if row["slice"] == {"sex": "M"}}
    assert reasons == {"0 rows; at least 100 are needed", "in the group: 0 rows; at least 100 are needed"}


def test_a_window_may_be_given_once() -> None:
    monitor = Monitor.start(frozen(), [FOUND], settings={}).after("2024-01", hits(2000, 0.9))
    with pytest.raises(InputError, match="'2024-01' was seen before"):
        monitor.after("2024-01", hits(2000, 0.9))


def test_a_window_without_the_groups_of_the_baseline_is_refused() -> None:
    bare = Scores.of({"hit": np.ones(200)}, time=np.full(200, np.datetime64("2024-01-01", "us")))
    with pytest.raises(InputError, match="group 'sex'"):
        Monitor.start(frozen(), [FOUND], settings={}).after("2024-01", bare)


def test_a_baseline_too_small_is_an_error_that_teaches() -> None:
    with pytest.raises(StudyError, match=r"baseline holds too little.*99 rows.*To fix"):
        Monitor.start(frozen().take(np.arange(99)), [FOUND], settings={})


def test_an_alert_can_be_acknowledged_and_stays_so_on_disk() -> None:
    monitor = Monitor.start(frozen(), [FOUND], settings={"by": []}).after("2024-01", hits(2000, 0.7))
    [cause] = monitor.watching.alerts.held
    seen = Monitor.restored(monitor.acknowledged(cause).stored(), [FOUND])
    assert [alert["state"] for alert in seen.result().alerts] == ["acknowledged"]
    assert [alert["state"] for alert in seen.after("2024-02", hits(2000, 0.7)).result().alerts] == ["acknowledged"]


def test_nothing_is_changed_in_place() -> None:
    start = Monitor.start(frozen(), [FOUND], settings={})
    before = json.dumps(start.stored())
    start.after("2024-01", hits(2000, 0.5))
    assert json.dumps(start.stored()) == before


def test_rows_that_were_acted_on_are_held_back_in_a_stream_too() -> None:
    base = frozen()
    base = with_values(base, acted=np.zeros(len(base)))
    now = hits(2000, 0.9)
    chosen = np.arange(2000) % 2 == 0
    now = with_values(now, acted=chosen, hit=np.where(chosen & (np.arange(2000) % 10 < 4), 0.0, now["hit"]))
    monitor = Monitor.start(base, [FOUND], settings={"by": []}).after("2024-01", now)
    result = Monitor.restored(monitor.stored(), [FOUND]).result()
    assert result.alerts == ()
    assert [row["window"] for row in result.tables["held_back"]] == ["2024-01"]
    assert any("neither is the untreated truth" in note for note in result.notes)
