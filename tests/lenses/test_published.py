"""Evidence from published validations: which standard error is taken, and that no row is dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from workup.errors import InputError
from workup.estimate import Estimate
from workup.evidence import SiteEvidence
from workup.lenses.sites.pooling import PoolSettings, pool_sites
from workup.stats.rank import hanley_mcneil
from workup.tasks.risk.published_evidence import from_summaries


def read(columns: dict[str, str] | None = None, **table: list[Any]) -> list[SiteEvidence]:
    arrays = {name: np.array(column, dtype=object) for name, column in table.items()}
    return from_summaries(arrays, columns=columns, where="validations.csv")


def one(metric: str, **cells: Any) -> Estimate:
    found = read(site=["S"], **{name: [value] for name, value in cells.items()})
    return next(e for e in found[0].estimates if e.metric == metric)


def test_a_standard_error_as_published_goes_first() -> None:
    e = one("auroc", n=1000, events=100, auroc=0.8, auroc_se=0.02, auroc_low=0.7, auroc_high=0.9)
    assert (e.value, e.se, e.method) == (0.8, 0.02, "SE as published")
    half = 1.959964 * 0.02 / 0.16
    assert (e.low, e.high) == pytest.approx(
        tuple(special.expit(special.logit(0.8) + np.array([-half, half]))), rel=1e-6
    )
    assert (e.n_patients, e.n_events, e.status) == (1000, 100, "ok")


def test_then_the_interval_on_the_logit_scale() -> None:
    e = one("auroc", n=1000, events=100, auroc=0.8, auroc_low=0.7, auroc_high=0.88)
    logit_se = (special.logit(0.88) - special.logit(0.7)) / (2 * 1.959964)
    assert e.se == pytest.approx(logit_se * 0.16, rel=1e-6)
    assert "interval" in e.method


def test_then_hanley_and_mcneil_from_the_counts() -> None:
    e = one("auroc", n=1000, events=100, auroc=0.8)
    assert e.se == pytest.approx(np.sqrt(hanley_mcneil(0.8, 100, 900)))
    assert e.method.startswith("Hanley")


@pytest.mark.parametrize(
    ("cells", "status", "reason"),
    [
        ({"n": 1000, "auroc": 0.8}, "insufficient", "to weigh it by"),
        ({"n": 1000, "events": 0, "auroc": 0.8}, "insufficient", "to weigh it by"),
        ({"n": 1000, "events": 100, "auroc": None}, "undefined", "no AUROC was published"),
        ({"auroc": 0.8, "auroc_se": 0.02}, "ok", "the number of patients was not published"),
    ],
)
def test_what_cannot_be_weighed_says_why(cells: dict[str, Any], status: str, reason: str) -> None:
    e = one("auroc", **cells)
    assert e.status == status
    assert reason in str(e.reason)


def test_observed_over_expected_by_hand() -> None:
    e = one("oe_ratio", n=1000, events=100, expected=80.0)
    assert e.value == 1.25
    log_se = np.sqrt((1 - 0.1) / 100)
    assert e.se == pytest.approx(1.25 * log_se)
    assert e.low == pytest.approx(1.25 * np.exp(-1.959964 * log_se), rel=1e-6)


def test_observed_over_expected_from_shares_and_without_n() -> None:
    e = one("oe_ratio", n=2000, observed_share=0.1, expected_share=0.08)
    assert e.value == pytest.approx(1.25)
    assert e.se == pytest.approx(1.25 * np.sqrt(0.9 / 200))
    poisson = one("oe_ratio", observed=50, expected=40.0)
    assert poisson.se == pytest.approx(1.25 * np.sqrt(1 / 50))
    assert "Poisson" in poisson.method


def test_a_count_goes_before_a_share_and_that_before_the_events_of_another_horizon() -> None:
    assert one("oe_ratio", n=1000, events=90, observed=80, observed_share=0.1, expected=100).value == 0.8
    assert one("oe_ratio", n=1000, events=90, observed_share=0.1, expected=100).value == 1.0
    assert one("oe_ratio", n=1000, events=90, expected=100).value == 0.9


@pytest.mark.parametrize("cells", [{"events": 0, "expected": 5}, {"events": 5, "expected": 0}, {"expected": 5}])
def test_a_ratio_without_a_logarithm_is_undefined(cells: dict[str, Any]) -> None:
    e = one("oe_ratio", n=100, **cells)
    assert (e.value, e.status) == (None, "undefined")
    assert e.reason


def test_no_row_is_dropped_and_cohorts_of_one_study_are_counted() -> None:
    found = read(
        site=["Wang", "Wang", "Empty", None],
        n=[100, 200, None, 50],
        events=[10, 20, None, 5],
        auroc=[0.7, 0.8, None, 0.6],
    )
    assert [one.site for one in found] == ["Wang", "Wang (2)", "Empty", "missing"]
    pooled = pool_sites(found, scales={"auroc": "logit", "oe_ratio": "log"}, settings=PoolSettings())
    auroc = next(row for row in pooled.pooled if row["metric"] == "auroc")
    assert (auroc["k"], auroc["left_out"]) == (3, ["Empty"])
    assert {row["site"] for row in pooled.tables["not_pooled"] if row["metric"] == "oe_ratio"} == {
        one.site for one in found
    }
    empty = next(row for row in pooled.tables["sites"] if row["site"] == "Empty")
    assert (empty["patients"], empty["small"], empty["source"]) == (None, False, "published")


def test_other_columns_are_facts_and_numbers_stay_numbers() -> None:
    found = read(
        {"site": "Study", "auroc": "c.index"},
        **{"Study": ["A", "B"], "c.index": ["0.7", "0.8"], "n": ["10", "20"]},
        age=["64.5", ""],
        multicentre=["TRUE", "FALSE"],
        adult=[True, False],
    )
    assert found[0].facts == {"age": 64.5, "multicentre": "TRUE", "adult": "True"}
    assert found[1].facts == {"multicentre": "FALSE", "adult": "False"}
    assert found[1].estimates[0].value == 0.8


@pytest.mark.parametrize(
    ("columns", "table", "message"),
    [
        (None, {"study": ["A"], "auroc": [0.7]}, "must name the site"),
        (None, {"site": ["A"], "c": [0.7]}, "something to pool"),
        ({"auroc": "cc"}, {"site": ["A"], "c": [0.7]}, "did you mean 'c'|Known: c, site"),
        ({"aucroc": "c"}, {"site": ["A"], "c": [0.7]}, "our names"),
        (None, {"site": ["A", "B"], "auroc": [0.7, 70]}, "row 2: auroc must lie between 0 and 1"),
        (None, {"site": ["A"], "auroc": ["high"]}, "row 1, column 'auroc': a number"),
        (None, {"site": ["A"], "auroc": [0.7], "n": [10], "events": [20]}, "events must not exceed n"),
        (None, {"site": ["A"], "auroc": [0.7], "auroc_low": [0.71], "auroc_high": [0.8]}, "inside its interval"),
        (None, {"site": ["A"], "auroc": [0.7], "auroc_se": [-0.1]}, "must not be negative"),
    ],
)
def test_tables_that_cannot_be_meant(columns: dict[str, str] | None, table: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        read(columns, **table)
    assert "validations.csv" in str(refused.value)
    assert "'high'" not in str(refused.value), "a cell is never repeated"


def test_an_interval_without_width_is_no_standard_error_of_nothing() -> None:
    e = one("auroc", n=1000, events=100, auroc=0.8, auroc_low=0.8, auroc_high=0.8)
    assert e.method.startswith("Hanley") and e.se > 0
    alone = one("auroc", n=1000, auroc=0.8, auroc_low=0.8, auroc_high=0.8)
    assert (alone.se, alone.status) == (None, "insufficient")
