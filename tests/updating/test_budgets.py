"""Alert budgets of watched stays: alerts are fired under the policy, every whole day counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workup import plugins
from workup.errors import InputError
from workup.study import Study
from workup.tasks.risk.updating.rules import parse_rules
from workup.updating import choose_budgets

HOUR = 3_600_000_000


@pytest.fixture(scope="module")
def made() -> Any:
    return plugins.find("generators", "episodes")(250, seed=3)


def study(**part: Any) -> Any:
    return Study.of(
        {
            "name": "budgets",
            "task": "episodes",
            "corpus": {"generate": {"kind": "episodes", "count": 250, "seed": 3}},
            "columns": {"patient": "patient", "encounter": "encounter", "time": "time", "risk": "risk"},
            "events": {
                "target": ["sepsis"],
                "start": ["admit"],
                "end": ["discharge"],
                "death": ["death"],
                "lost": ["transfer"],
                "alert": ["admit"],
            },
            "episodes": {"horizon": "24h", "refractory": "8h", "time_zone": "UTC", **part},
            "bootstrap": {"replicates": 200},
        }
    )


def per_day(made: Any, threshold: float, *, refractory: int) -> float:
    """Alerts per whole day, by one loop over the stays."""
    events, scores = made.events, made.predictions
    span: dict[Any, list[int]] = {}
    for kind, encounter, time in zip(events["type"], events["encounter"], events["time"], strict=True):
        moment = int(np.datetime64(time, "us").astype(np.int64))
        if kind == "admit":
            span.setdefault(encounter, [moment, 2**62])[0] = moment
        if kind in ("discharge", "death", "transfer"):
            span.setdefault(encounter, [0, moment])
            span[encounter][1] = min(span[encounter][1], moment)
    rows = sorted(
        (encounter, int(np.datetime64(time, "us").astype(np.int64)), float(risk))
        for encounter, time, risk in zip(scores["encounter"], scores["time"], scores["risk"], strict=True)
    )
    inside = [(stay, time, risk) for stay, time, risk in rows if span[stay][0] <= time < span[stay][1]]
    days = {time // (24 * HOUR) for _, time, _ in inside}
    first, last = min(days) + 1, max(days) - 1
    fired, silent_until = 0, {}
    for stay, time, risk in inside:
        if risk >= threshold and time >= silent_until.get(stay, 0):
            silent_until[stay] = time + refractory * HOUR
            fired += first <= time // (24 * HOUR) <= last
    return fired / (last - first + 1)


def test_alerts_are_fired_under_the_policy(made: Any) -> None:
    for refractory in (0, 8):
        found = choose_budgets(study(refractory=f"{refractory}h"), parse_rules(["alerts_per_day <= 1"]))
        [one] = found.told["thresholds"]
        [figure] = one["expected"]
        assert figure["value"] == pytest.approx(per_day(made, one["value"], refractory=refractory), abs=1e-12)
        assert figure["value"] <= 1 < figure["high"] and one["beside"]["unit"] == "patient-days"


def test_an_assured_budget_asks_for_a_higher_threshold() -> None:
    mean, sure = choose_budgets(study(), parse_rules(["alerts_per_day <= 1", "sure: alerts_per_day <= 1 @0.95"])).told[
        "thresholds"
    ]
    assert sure["value"] > mean["value"] and sure["chance"] >= 0.95 > mean["chance"]
    assert sure["naive"]["value"] == mean["value"] and mean["beside"]["assured"]["value"] == sure["value"]


def test_what_has_no_budget_is_refused() -> None:
    with pytest.raises(InputError, match="by a budget of alerts per day; got sensitivity"):
        choose_budgets(study(), parse_rules(["sensitivity >= 0.9"]))
    with pytest.raises(InputError, match="alerts that were recorded have no threshold"):
        choose_budgets(study(policy="recorded", refractory="0h"), parse_rules(["alerts_per_day <= 1"]))
