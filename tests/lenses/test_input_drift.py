"""Input drift: flagged only when significant among all inputs and large enough; nothing dropped, nothing misnamed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from workup.errors import InputError
from workup.lenses.drift.inputs import MOST_LEVELS, TOGETHER, InputLimits, InputReference, all_rows
from workup.lenses.drift.windows import windows
from workup.scores import Scores

CHANCE = 0.05 / 12


def rows(n: int = 800, *, seed: int = 0, **columns: Any) -> Scores:
    rng = np.random.default_rng(seed)
    given = {"age": rng.normal(60, 10, n), "ward": rng.choice(["A", "B", "C"], n), **columns}
    return Scores.of({"hit": np.ones(n)}, inputs={name: np.asarray(column) for name, column in given.items()})


BASE = rows(4000, seed=1)


def compared(now: Scores, base: Scores = BASE, *, latest: bool = False, chance: float = CHANCE, **limits: Any) -> Any:
    reference = InputReference.of(base, limits=InputLimits(**limits), seed=3)
    return reference.compared("2024-05", now, chance=chance, latest=latest)


def by_input(found: Any) -> dict[str, dict[str, Any]]:
    return {row["input"]: row for row, _ in found}


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_a_number_is_tested_by_kolmogorov_and_smirnov_and_measured_by_wasserstein() -> None:
    now = rows(seed=2, age=np.random.default_rng(9).normal(63, 10, 800))
    row = by_input(compared(now))["age"]
    before, after = np.asarray(BASE.inputs["age"]), np.asarray(now.inputs["age"])
    assert row["test"] == "Kolmogorov–Smirnov"
    assert row["statistic"] == pytest.approx(scipy_stats.ks_2samp(before, after).statistic, abs=1e-12)
    assert row["effect"] == pytest.approx(
        scipy_stats.wasserstein_distance(before, after) / before.std(ddof=1), rel=1e-9
    )
    assert row["flagged"] is True
    assert row["psi"] > row["psi_null"]


def test_the_test_sees_what_a_shift_of_the_mean_would_miss() -> None:
    rng = np.random.default_rng(4)
    wider = rows(seed=2, age=np.where(rng.random(800) < 0.5, 45.0, 75.0) + rng.normal(0, 2, 800))
    row = by_input(compared(wider))["age"]
    assert abs(np.mean(wider.inputs["age"]) - np.mean(BASE.inputs["age"])) < 1.2  # the mean has hardly moved
    assert row["flagged"] is True and row["statistic"] > 0.2


def test_and_a_shifted_mean_alone_is_not_its_statistic() -> None:
    now = rows(seed=2, age=np.asarray(BASE.inputs["age"])[:800] + 5)
    row = by_input(compared(now))["age"]
    shift = abs(np.mean(now.inputs["age"]) - np.mean(BASE.inputs["age"]))
    assert row["statistic"] < 0.3 < shift


def test_a_large_sample_does_not_flag_a_change_too_small_to_matter() -> None:
    rng = np.random.default_rng(5)
    base = rows(60_000, seed=6, age=rng.normal(60, 10, 60_000))
    row = by_input(compared(rows(20_000, seed=7, age=rng.normal(60.8, 10, 20_000)), base))["age"]
    assert row["p_adjusted"] < 1e-4 and row["effect"] < 0.10
    assert row["flagged"] is False


def test_a_small_sample_does_not_flag_a_large_change_that_chance_explains() -> None:
    row = by_input(compared(rows(25, seed=8)))["age"]
    assert row["effect"] > 0.10 and row["flagged"] is False


def test_many_inputs_are_adjusted_together() -> None:
    rng = np.random.default_rng(10)
    many = {f"x{i}": rng.normal(size=4800) for i in range(30)}
    base, now = (rows(n, **{k: v[a : a + n] for k, v in many.items()}) for a, n in ((0, 4000), (4000, 800)))
    found = by_input(compared(now, base, chance=0.05))
    raw = [row["p"] for row in found.values()]
    assert min(raw) < 0.05  # thirty looks at nothing find something
    assert not any(row["flagged"] for row in found.values())
    assert all(row["p_adjusted"] >= row["p"] for row in found.values())


def test_a_baseline_without_spread_flags_any_other_value() -> None:
    base, now = rows(400, flag=np.zeros(400)), rows(200, flag=np.ones(200))
    row = by_input(compared(now, base))["flag"]
    assert row["flagged"] is True and row["effect"] == np.inf
    assert by_input(compared(rows(200, flag=np.zeros(200)), base))["flag"]["flagged"] is False


def test_infinite_values_are_refused_by_name_and_not_by_a_traceback() -> None:
    bad = rows(age=np.append(np.full(799, 60.0), np.inf))
    with pytest.raises(InputError, match=r"input 'age'.*1 infinite values"):
        compared(bad)
    with pytest.raises(InputError, match=r"input 'age'.*finite numbers"):
        InputReference.of(bad, limits=InputLimits(), seed=0)


# ---- categories and missing values -----------------------------------------------------------------------------------


def test_a_category_is_tested_by_chi_square_and_a_new_level_counts() -> None:
    now = rows(seed=2, ward=np.random.default_rng(1).choice(["A", "B", "C", "D"], 800, p=[0.3, 0.3, 0.2, 0.2]))
    row = by_input(compared(now))["ward"]
    assert row["test"].startswith("chi-square")
    assert row["unseen_levels"] == 1 and row["flagged"] is True


def test_missing_values_have_their_own_test_and_do_not_count_as_a_level() -> None:
    rng = np.random.default_rng(3)
    ward = np.where(rng.random(800) < 0.3, None, rng.choice(["A", "B", "C"], 800))
    age = np.where(rng.random(800) < 0.2, np.nan, rng.normal(60, 10, 800))
    found = by_input(compared(rows(seed=2, ward=ward, age=age)))
    assert found["ward (missing)"]["flagged"] is True and found["age (missing)"]["flagged"] is True
    assert found["ward"]["flagged"] is False and found["age"]["flagged"] is False
    assert found["age (missing)"]["now"] == pytest.approx(np.isnan(age).mean())


def test_nothing_missing_on_either_side_makes_no_row() -> None:
    assert set(by_input(compared(rows(seed=2)))) == {"age", "ward"}


# ---- too little ------------------------------------------------------------------------------------------------------


def test_a_window_of_few_patients_is_insufficient_for_every_input_and_neither_fires_nor_quietens() -> None:
    found = compared(rows(19, seed=2))
    assert [row["flagged"] for row, _ in found] == [None, None]
    assert all(row["reason"] == "insufficient: 19 patients; at least 20 are needed" for row, _ in found)
    assert all(finding.fires is None for _, finding in found)


def test_an_input_that_was_not_measured_is_said_to_be_so() -> None:
    found = by_input(compared(rows(seed=2, age=np.full(800, np.nan))))
    assert found["age"]["flagged"] is None and "fewer than 20 values" in found["age"]["reason"]
    assert found["age (missing)"]["flagged"] is True
    never = rows(400, seed=2, age=np.full(400, np.nan))
    assert "too few numbers" in by_input(compared(rows(seed=3), never))["age"]["reason"]


def test_a_window_without_an_input_of_the_baseline_is_refused() -> None:
    now = Scores.of({"hit": np.ones(50)}, inputs={"age": np.arange(50.0)})
    with pytest.raises(InputError, match="input 'ward'"):
        compared(now)


def test_no_inputs_no_rows() -> None:
    bare = Scores.of({"hit": np.ones(50)})
    assert compared(bare, bare) == []


# ---- patients and waiting rows ---------------------------------------------------------------------------------------


def test_one_row_of_each_patient_counts() -> None:
    now = rows(100, seed=4)
    many = Scores.of(
        {"hit": np.ones(500)},
        patient=np.tile(np.arange(100), 5),
        time=np.repeat(np.datetime64("2024-05-01", "us") + np.arange(5) * np.timedelta64(1, "D"), 100),
        inputs={
            name: np.tile(np.asarray(column.names)[column.codes] if hasattr(column, "codes") else column, 5)
            for name, column in now.inputs.items()
        },
    )
    once, repeated = by_input(compared(now)), by_input(compared(many))
    for name in once:
        assert repeated[name]["p"] == pytest.approx(once[name]["p"])


def waiting_too(known: Scores, later: Scores, *, day: str = "2024-05-10") -> Scores:
    first, second = (replace(part, time=np.full(len(part), np.datetime64(day, "us"))) for part in (known, later))
    return replace(first, waiting=second)


def test_rows_that_wait_for_their_answer_count_without_patient_ids_too() -> None:
    # Both sides number their patients from 0; a shared number must not make a shared patient.
    known, later = rows(60, seed=5), rows(40, seed=6)
    scores = waiting_too(known, later)
    both = all_rows(scores, windows(scores, size="month"))
    assert len(both) == both.n_patients == 100
    ages = np.concatenate([known.inputs["age"], later.inputs["age"]])
    assert sorted(both.inputs["age"]) == sorted(ages)


def test_a_patient_who_is_known_by_an_id_on_both_sides_stays_one() -> None:
    known = replace(rows(60, seed=5), patient=np.repeat(np.arange(30), 2))
    later = replace(rows(40, seed=6), patient=np.repeat(np.arange(20), 2))
    scores = waiting_too(known, later)
    assert all_rows(scores, windows(scores, size="month")).n_patients == 30


def test_weights_are_kept_when_rows_wait() -> None:
    known = replace(rows(60, seed=5), weight=np.full(60, 2.0))
    later = replace(rows(40, seed=6), weight=np.full(40, 3.0))
    scores = waiting_too(known, later)
    assert all_rows(scores, windows(scores, size="month")).base_weight.sum() == 60 * 2 + 40 * 3


def test_the_order_of_rows_changes_nothing() -> None:
    now = rows(300, seed=4, risk=np.round(np.random.default_rng(2).random(300), 1))
    base = rows(900, seed=5, risk=np.round(np.random.default_rng(3).random(900), 1))
    shuffled = [part.take(np.random.default_rng(6).permutation(len(part))) for part in (now, base)]
    first = [row for row, _ in compared(now, base, latest=True)]
    second = [row for row, _ in compared(*shuffled, latest=True)]
    assert [row["input"] for row in first] == [row["input"] for row in second]
    for one, other in zip(first, second, strict=True):
        assert {k: pytest.approx(v) if isinstance(v, float) else v for k, v in one.items()} == other


# ---- together --------------------------------------------------------------------------------------------------------


def correlated(n: int, rho: float, seed: int) -> Scores:
    pairs = np.random.default_rng(seed).multivariate_normal([0, 0], [[1, rho], [rho, 1]], n)
    return Scores.of({"hit": np.ones(n)}, inputs={"a": pairs[:, 0], "b": pairs[:, 1]})


@pytest.mark.parametrize("chance", [0.05 / 12, 0.05 / 365])
def test_a_change_in_how_inputs_go_together_is_seen_where_each_is_as_it_was(chance: float) -> None:
    found = by_input(compared(correlated(1000, 0.8, 1), correlated(2000, 0.0, 2), latest=True, chance=chance))
    assert not found["a"]["flagged"] and not found["b"]["flagged"]
    assert found[TOGETHER]["flagged"] is True
    assert found[TOGETHER]["effect"] > 0.6 and found[TOGETHER]["mmd_p"] < 0.01


@pytest.mark.parametrize(
    ("together", "latest", "asked"),
    [("latest", True, True), ("latest", False, False), ("every", False, True), ("none", True, False)],
)
def test_they_are_tested_together_when_the_study_asks(together: str, latest: bool, asked: bool) -> None:
    found = by_input(compared(correlated(60, 0, 1), correlated(100, 0, 2), latest=latest, together=together))
    assert (TOGETHER in found) is asked


# ---- binned ----------------------------------------------------------------------------------------------------------


def test_a_binned_reference_differs_by_no_more_than_it_says() -> None:
    rng = np.random.default_rng(12)
    base = rows(30_000, seed=1, cost=np.exp(2 * rng.normal(size=30_000)))
    now = rows(3_000, seed=2, age=rng.normal(62, 11, 3_000), cost=np.exp(2 * rng.normal(0.2, 1, 3_000)))
    kept = {
        keep: InputReference.of(base, limits=InputLimits(), seed=3, keep=keep)  # type: ignore[arg-type]
        for keep in ("exact", "binned")
    }
    exact, binned = (by_input(kept[k].compared("w", now, chance=CHANCE, latest=True)) for k in ("exact", "binned"))
    for name in ("age", "cost"):
        lost = exact[name]["statistic"] - binned[name]["statistic"]
        assert -1e-12 <= lost <= binned[name]["statistic_error"] + 1e-12 <= 0.0005 + 1e-12
        assert abs(exact[name]["effect"] - binned[name]["effect"]) <= binned[name]["effect_error"] + 1e-12
        assert binned[name]["psi"] == pytest.approx(exact[name]["psi"], abs=1e-12)
    assert binned["ward"] == exact["ward"]
    assert TOGETHER in exact and TOGETHER not in binned
    assert kept["binned"].table is None
    notes = kept["binned"].notes()
    assert "at most 0.0005" in notes[0].replace("0.000500", "0.0005") or "at most 0.0004" in notes[0]
    assert "not tested together" in notes[1]
    assert kept["exact"].notes() == []


def test_a_category_of_endless_levels_is_not_stored_and_says_so() -> None:
    base = rows(MOST_LEVELS + 500, seed=1, code=[f"c{i}" for i in range(MOST_LEVELS + 500)])
    kept = InputReference.of(base, limits=InputLimits(), seed=3, keep="binned")
    assert "code" not in kept.levels
    found = by_input(kept.compared("w", rows(100, code=["c1"] * 100), chance=CHANCE, latest=False))
    assert found["code"]["flagged"] is None and "2,000" in found["code"]["reason"]


def test_tied_deciles_have_a_bin_of_their_own_unless_the_study_wants_rs_convention() -> None:
    """A count that is 0 in a third of the baseline and below 0 in the window, from a broken export."""
    zeros = np.where(np.arange(600) % 3 == 0, 0.0, np.arange(600) / 100)
    base = Scores.of({"risk": np.full(600, 0.5)}, inputs={"count": zeros})
    now = Scores.of({"risk": np.full(600, 0.5)}, inputs={"count": np.where(zeros == 0, -1.0, zeros)})
    found = []
    for tied in ("own_bin", "merge"):
        reference = InputReference.of(base, limits=InputLimits(tied_deciles=tied), seed=3)  # type: ignore[arg-type]
        found += [row["psi"] for row, _ in reference.compared("w", now, chance=0.05, latest=False)]
    assert found[0] > 2
    assert found[1] == 0


def test_limits_of_change_are_positive_and_any_positive_one_is_taken() -> None:
    assert InputLimits(missing=0.2, wasserstein=0.5, jensen_shannon=0.3).missing == 0.2
    for name in ("missing", "wasserstein", "jensen_shannon"):
        with pytest.raises(ValueError, match=name):
            InputLimits(**{name: 0.0})
