"""Estimates are the same at any number of workers, whoever asked for them before, and are made once."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special

from workup.estimate import EVERYTHING, Draws, Slice, estimate, replicate, slices_by
from workup.lenses.power.lens import power
from workup.lenses.subgroups.lens import subgroups
from workup.metric import Metric, mean
from workup.scores import Scores
from workup.study import Study
from workup.tasks.risk.calibration_metrics import Smoother
from workup.tasks.risk.metrics import risk_metrics
from workup.validate import validate


def cohort(n: int, *, per_patient: int = 1) -> Scores:
    rng = np.random.default_rng(n)
    lp = np.sort(rng.normal(-0.8, 1.2, n))
    return Scores.of(
        {"outcome": rng.random(n) < special.expit(0.8 * lp), "risk": special.expit(lp)},
        patient=rng.permutation(n) // per_patient,
        groups={"sex": rng.choice(["F", "M"], n), "band": rng.choice(["young", "middle", "old"], n)},
    )


def metrics_of(scores: Scores) -> list[Metric]:
    return risk_metrics(thresholds=(0.2, 0.4), smoother=Smoother.of(scores))


@pytest.mark.parametrize("per_patient", [1, 3])
def test_replicates_are_the_same_at_any_number_of_workers(per_patient: int) -> None:
    found = []
    for workers in (1, 2, 5):
        scores = cohort(6_000, per_patient=per_patient)
        slices = [EVERYTHING, *slices_by(scores.groups)]
        draws = Draws(seed=3, replicates=480, workers=workers)
        found.append(replicate(scores, metrics_of(scores), slices, draws=draws).tobytes())
    assert found[0] == found[1] == found[2]


def test_a_report_of_all_lenses_has_the_same_bytes_at_any_number_of_workers() -> None:
    rng = np.random.default_rng(8)
    n = 2_400
    lp = rng.normal(-0.8, 1.2, n)
    table = {
        "died": (rng.random(n) < special.expit(0.8 * lp)).astype(float),
        "risk": special.expit(lp),
        "sex": rng.choice(["F", "M"], n),
        "ward": rng.choice(["A", "B", "C"], n),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 360, n),
    }
    columns = {"outcome": "died", "risk": "risk", "site": "ward", "time": "day", "groups": ["sex"]}
    study: dict[str, Any] = {
        "name": "workers",
        "task": "risk",
        "seed": 5,
        "columns": columns,
        "thresholds": [0.3],
        "lenses": {"internal": {}, "subgroups": {"margin": 0.1}, "power": {}, "drift": {}, "sites": {}},
        "bootstrap": {"replicates": 1_000},
    }
    hashes = {
        hashlib.sha256(validate(Study.of({**study, "workers": workers}), table=table).to_json().encode()).hexdigest()
        for workers in (1, 2, 4)
    }
    assert len(hashes) == 1


def counted() -> tuple[Metric, list[int]]:
    """A metric without an analytic interval that tells how many weight vectors it was given."""
    given: list[int] = []
    plain = mean("error", lambda s: s["risk"], describe="mean risk")

    def compute(scores: Scores, weights: np.ndarray) -> np.ndarray:
        given.append(len(weights))
        return plain.compute(scores, weights)

    return Metric(name="error", compute=compute, describe="mean risk"), given


def test_lenses_that_ask_for_the_same_share_one_set_of_replicates() -> None:
    scores = cohort(400)
    metric, given = counted()
    draws = Draws(seed=1, replicates=300)
    first = subgroups(scores, [metric], settings={"by": ["sex"]}, draws=draws)
    assert given.count(300) == 3, "each sex and everyone once, for estimates and comparisons alike"
    given.clear()
    planned = power(scores, [metric], settings={"by": ["sex"]}, draws=draws)
    assert given.count(300) == 0, "all of it was known"
    alone = power(cohort(400), [metric], settings={"by": ["sex"]}, draws=draws)
    assert planned == alone
    assert first == subgroups(cohort(400), [metric], settings={"by": ["sex"]}, draws=draws)


def test_other_draws_rows_or_levels_are_not_mistaken_for_known_ones() -> None:
    scores = cohort(300)
    metric, _ = counted()
    females, males = (Slice({"sex": name}, rows) for name, rows in scores.groups["sex"].masks())
    draws = Draws(seed=1, replicates=200)
    [a] = estimate(scores, [metric], [females], draws=draws)
    [b] = estimate(scores, [metric], [males], draws=draws)
    [c] = estimate(scores, [metric], [females], draws=replace(draws, seed=2))
    [d] = estimate(scores, [metric], [females], draws=draws, levels=(0.9,))
    [e] = estimate(scores, [metric], [Slice({"also": "F"}, females.rows)], draws=draws)
    assert len({(one.value, one.low, one.level) for one in (a, b, c, d)}) == 4
    assert (e.slice, replace(e, slice=a.slice)) == ({"also": "F"}, a)
    twin, _ = counted()
    [again] = estimate(scores, [twin], [females], draws=draws)
    assert again == a


def _in_a_daemon(queue: Any) -> None:
    scores = cohort(3_000)
    found = estimate(scores, metrics_of(scores)[:4], draws=Draws(seed=1, replicates=640, workers=2))
    queue.put(json.dumps([one.as_dict() for one in found], sort_keys=True))


def test_workers_serve_a_daemon_process() -> None:
    """Daemons, as pools of other programs start them, may have no child processes."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_in_a_daemon, args=(queue,), daemon=True)
    process.start()
    found = queue.get(timeout=300)
    process.join()
    scores = cohort(3_000)
    here = estimate(scores, metrics_of(scores)[:4], draws=Draws(seed=1, replicates=640))
    assert found == json.dumps([one.as_dict() for one in here], sort_keys=True)


def test_an_error_in_a_worker_is_the_callers_error() -> None:
    def fails(scores: Scores, weights: np.ndarray) -> np.ndarray:
        raise ArithmeticError("no such thing")

    broken = Metric(name="broken", compute=fails, describe="never works")
    with pytest.raises(ArithmeticError, match="no such thing"):
        replicate(cohort(5_000), [broken], draws=Draws(replicates=1_000, workers=2))


def test_progress_is_told_block_by_block() -> None:
    told: list[tuple[int, int]] = []
    scores = cohort(5_000)
    metric, _ = counted()
    replicate(scores, [metric], draws=Draws(replicates=800, workers=2), progress=lambda *seen: told.append(seen))
    assert len(told) > 2
    assert told == sorted(told)
    assert told[-1] == (800, 800)
