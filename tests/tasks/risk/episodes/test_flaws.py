"""Common ways of joining predictions and events that give wrong figures: each is met by a small case here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.episode_tables import ROLES, evaluated, of_stays, predictions, settings, stay
from workup.errors import InputError
from workup.stats.arrays import Bools, Floats
from workup.stats.rank import delong
from workup.tasks.risk.episodes.cases import case_rows
from workup.tasks.risk.episodes.evaluation import Evaluated
from workup.tasks.risk.episodes.fates import JUDGED
from workup.tasks.risk.episodes.settings import EpisodeColumnsPart
from workup.tasks.risk.episodes.tables import read_predictions

HOURLY = [(float(hour), 0.6) for hour in range(40)]


def _one(
    scores: list[tuple[float, float]], happened: list[tuple[str, float | None]], given: dict[str, Any]
) -> Evaluated:
    return evaluated(*of_stays(stay("e", scores, happened)), given)


def test_a_prediction_in_the_gap_is_no_control() -> None:
    """It is late: neither right nor wrong, and no row; labelled 0 it would be a control an hour before the event."""
    found = _one([(1, 0.1), (9.5, 0.9)], [("start", 0), ("target", 10), ("end", 20)], {"horizon": 12, "gap": 1})
    assert found.fates["late"] == 1
    assert found.fates["control"] == 0
    assert found.cases("prediction")["outcome"].tolist() == [1]
    assert found.counts["0.5"]["neutral_alerts"] == 1


def test_predictions_after_the_event_are_no_false_alarms() -> None:
    """But they are alarms: nurses hear them."""
    found = _one([(1, 0.1), (11, 0.9), (12, 0.9)], [("start", 0), ("target", 10), ("end", 20)], {"horizon": 12})
    counts = found.counts["0.5"]
    assert counts["false_alerts"] == 0
    assert counts["neutral_alerts"] == counts["alerts"] == 2
    assert counts["days"] == pytest.approx(19 / 24)


def test_the_maximum_is_taken_over_all_usable_predictions() -> None:
    """Of an event stay too: not only over those within the horizon, which are chosen by the outcome."""
    found = _one([(1, 0.9), (20, 0.3)], [("start", 0), ("target", 24), ("end", 40)], {"horizon": 12})
    assert found.scores["risk"][found.scores["case"] == 1].tolist() == [0.9]


def test_who_is_watched_longer_scores_higher() -> None:
    """Risks that are noise: the maximum ranks events below others, the common rule worse still, the first score not."""
    rng = np.random.default_rng(20240501)
    stays = []
    for number in range(1_500):
        length = float(rng.integers(24, 145))
        onset = float(rng.integers(2, int(length) + 1)) if rng.random() < 0.1 else None
        scores = [(float(hour), float(risk)) for hour, risk in enumerate(rng.random(int(length)).round(6))]
        happened: list[tuple[str, float | None]] = [("start", 0), ("end", length)]
        happened += [] if onset is None else [("target", onset)]
        stays.append(stay(f"e{number:04d}", scores, happened, patient=f"p{number:04d}"))
    found = evaluated(*of_stays(*stays), {"horizon": 24})
    maximum, first = case_rows(found.judged, "encounter", "max"), case_rows(found.judged, "encounter", "first")
    in_stay = found.stays.onset < 2**61
    _near(0.33, maximum.risk, maximum.outcome == 1)
    _near(0.5, first.risk, in_stay[first.stay])
    judged = found.judged.inside
    chosen = np.isin(judged.fates.fate, JUDGED) & ((judged.fates.fate == 6) | ~in_stay[judged.moments.stay])
    worse = np.full(len(found.stays), -np.inf)
    np.maximum.at(worse, judged.moments.stay[chosen], judged.risk[chosen])
    _near(0.22, worse[np.isfinite(worse)], in_stay[np.isfinite(worse)])
    assert found.watched["event"].median_hours is not None
    assert found.watched["no event"].median_hours is not None
    assert found.watched["event"].median_hours < found.watched["no event"].median_hours


def _near(expected: float, risk: Floats, event: Bools) -> None:
    """Within four standard errors of the AUROC expected; and of none but the fair one within four of a half."""
    found = delong(event, risk)
    error = 4 * found.variance**0.5
    assert abs(found.auc - expected) < error
    assert (abs(found.auc - 0.5) < error) == (expected == 0.5)


def test_events_that_are_not_there_are_not_no_events() -> None:
    """A table of events without the target would make every prediction a control."""
    tables = of_stays(stay("e", [(1, 0.1)], [("start", 0), ("end", 20)]))
    with pytest.raises(InputError, match="every prediction a control"):
        evaluated(*tables, {"horizon": 12})


def test_an_event_without_a_time_makes_no_controls() -> None:
    """Its stay is not judged; dropped, the event would leave a stay of controls behind."""
    found = _one([(1, 0.1), (5, 0.9)], [("start", 0), ("target", None), ("end", 20)], {"horizon": 12})
    assert (found.fates["undated"], found.fates["control"]) == (2, 0)
    assert found.scores["case"].sum() == 0
    assert found.counts["0.5"]["neutral_alerts"] == 1


def test_the_first_alert_is_the_first_in_time() -> None:
    """Whatever the order of the rows."""
    happened: list[tuple[str, float | None]] = [("end", 20), ("target", 10), ("start", 0)]
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        scores = [[(2.0, 0.7), (5.0, 0.9), (8.0, 0.6)][place] for place in order]
        lead = _one(scores, happened, {"horizon": 12}).scores["lead@0.5"]
        assert lead[~np.isnan(lead)].tolist() == [8]


def test_a_risk_at_the_threshold_fires_counts_and_leads() -> None:
    """One rule for all: at or above."""
    found = _one([(2, 0.5)], [("start", 0), ("target", 10), ("end", 20)], {"horizon": 12})
    counts = found.counts["0.5"]
    assert (counts["alerts"], counts["true_alerts"], counts["flagged_events"], counts["flagged_by_score"]) == (1,) * 4
    lead = found.scores["lead@0.5"]
    assert lead[~np.isnan(lead)].tolist() == [8]


@pytest.mark.parametrize(("lead", "inside"), [(0.5, False), (1, True), (6, True), (12, True), (12.5, False)])
def test_one_window_for_all_that_is_counted(lead: float, inside: bool) -> None:
    """A warning at either end of the window is true, flags its event and leads by so much; beyond, none of these."""
    found = _one([(20 - lead, 0.9)], [("start", 0), ("target", 20), ("end", 40)], {"horizon": 12, "gap": 1})
    counts = found.counts["0.5"]
    assert counts["true_alerts"] == counts["flagged_events"] == counts["scored_events"] == float(inside)
    leads = found.scores["lead@0.5"]
    assert leads[~np.isnan(leads)].tolist() == ([lead] if inside else [])


def test_a_threshold_keeps_its_digits() -> None:
    """As a whole percentage, 0.29 becomes 28."""
    tables = of_stays(stay("e", [(2, 0.285), (3, 0.29)], [("start", 0), ("target", 10), ("end", 20)]))
    found = evaluated(*tables, {"horizon": 12}, [0.29])
    assert found.labels == ("0.29",)
    assert found.counts["0.29"]["alerts"] == 1


def test_a_small_group_keeps_its_name() -> None:
    """Neither missing nor left out: whether it may be shown is decided later."""
    scores, happened = of_stays(stay("e", HOURLY, [("start", 0), ("target", 30), ("end", 40)]))
    scores["ward"] = ["big"] * 39 + ["small"]
    found = evaluated(scores, happened, {"horizon": 12})
    levels = found.scores.groups["ward"]
    small = found.scores["predictions"][levels.codes == levels.names.index("small")]
    assert small.sum() == 1
    assert "missing" not in levels.names


def test_a_missed_event_stays_in_the_denominator_of_warnings() -> None:
    """Events that nobody was warned of have no lead, and a row."""
    found = evaluated(
        *of_stays(
            stay("e", [(2, 0.9)], [("start", 0), ("target", 10), ("end", 20)]),
            stay("f", [(2, 0.1)], [("start", 0), ("target", 10), ("end", 20)]),
            stay("g", [], [("start", 0), ("target", 10), ("end", 20)]),
        ),
        {"horizon": 12},
    )
    rows = found.scores.take(found.scores["event"] == 1)
    assert sorted(rows["lead@0.5"].tolist())[0] == 8
    assert np.isnan(rows["lead@0.5"]).sum() == 2
    assert rows["scored"].sum() == 2


def test_forty_positive_predictions_are_one_event_and_a_burst_finds_it_once() -> None:
    """Rows of a stay are no events, and alerts of a burst no events found."""
    found = _one(HOURLY, [("start", 0), ("target", 40), ("end", 50)], {"horizon": 48})
    counts = found.counts["0.5"]
    assert (counts["alerts"], counts["true_alerts"]) == (40, 40)
    assert (counts["events"], counts["flagged_events"], counts["judged_encounters"]) == (1, 1, 1)


def test_stays_that_are_still_open_wait() -> None:
    """To judge recent months by the stays that closed first is to judge them by the short ones."""
    found = evaluated(
        *of_stays(
            stay("e", [(2, 0.9)], [("start", 0), ("end", 20)]),
            stay("f", [(2, 0.9)], [("start", 0)]),
            stay("g", [(2, 0.9)], [("start", 0), ("target", 4), ("end", 20)]),
        ),
        {"horizon": 24, "as_of": 20},
    )
    assert found.scores["outcome"][found.scores["case"] == 1].tolist() == [0, 1]
    assert found.scores.waiting is not None
    assert len(found.scores.waiting) == 1


def test_alerts_of_nothing_are_none() -> None:
    """Where no alert can be judged there is nothing to divide by: no PPV of 1."""
    found = _one([(2, 0.1)], [("start", 0), ("target", 10), ("end", 20)], {"horizon": 12})
    counts = found.counts["0.5"]
    assert counts["true_alerts"] + counts["false_alerts"] == 0
    assert counts["judged_encounters"] == 0


def test_a_second_stay_is_not_another_patient() -> None:
    """Rows of all kinds carry one counter for a patient: intervals are of patients, not of rows."""
    found = evaluated(
        *of_stays(
            stay("e", HOURLY, [("start", 0), ("target", 40), ("end", 50)], "p"),
            stay("f", [(100, 0.2)], [("start", 99), ("end", 120)], "p"),
            stay("g", [(2, 0.9)], [("start", 0), ("end", 20)], "q"),
        ),
        {"horizon": 48},
        roles=ROLES,
    )
    assert found.scores.n_patients == 2
    for kind in ("case", "watch", "stay"):
        assert found.scores.take(found.scores[kind] == 1).n_patients == 2


def test_predictions_from_two_files_are_one_table() -> None:
    """A stay that is cut in two by a file's end is one stay: rows joined in either order give the same."""
    scores, happened = of_stays(stay("e", HOURLY, [("start", 0), ("target", 40), ("end", 50)]))
    halves = [{name: column[part] for name, column in scores.items()} for part in (slice(0, 17), slice(17, None))]
    for first, second in (halves, halves[::-1]):
        joined = {name: [*first[name], *second[name]] for name in scores}
        assert (
            evaluated(joined, happened, {"horizon": 12, "refractory": 5}).counts
            == evaluated(scores, happened, {"horizon": 12, "refractory": 5}).counts
        )
    table = read_predictions(predictions(scores), EpisodeColumnsPart(), settings({"horizon": 12}))
    assert len(table) == 40
