"""Intervals of conversation metrics at reduced size, and that the studies drawn are what the scorer would count."""

from __future__ import annotations

import numpy as np
import pytest

from sims import conversation, conversation_program
from sims.conversation_studies import TURNS, Studies
from sims.repetitions import Cell, Size, run, within
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.read.facts import Judged
from workup.tasks.conversation.read.judging import Held, Told
from workup.tasks.conversation.scores.rows import row_of

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning:workup")

BAND = (0.92, 0.98)  # wider than at full size, since each cell is looked at with a few hundred studies
# Over clusters: conservative by choice, so judged below alone.
SHARES = ("recall", "recall_at_10", "decay_gap", *conversation.GAPS)


@pytest.mark.parametrize("start", ["recall from 0.5, slope 0", "recall from 0.95, slope -0.06"])
def test_headlines_cover(start: str) -> None:
    found = run(conversation, size=Size(repetitions=250), only=lambda cell: start in cell.name)
    assert {one["metric"] for one in found} == {*conversation.HEADLINE, *conversation.MEASURED}
    assert all(one["insufficient"] == 0 and one["truth"] is not None for one in found)
    bands = {one["metric"]: (BAND[0], 1.0) if one["metric"] in SHARES else BAND for one in found}
    assert [one for one in found if not within(one["rate"], one["se"], bands[one["metric"]])] == []


def test_resampled_intervals_of_many_cases_cover() -> None:
    def many(cell: Cell) -> bool:
        return cell.settings["cases"] == conversation.MANY

    found = run(conversation, size=Size(repetitions=120, replicates=400), only=many)
    assert len(found) == len(conversation.HEADLINE) + len(conversation.MEASURED)
    assert np.mean([one["rate"] for one in found if one["metric"] not in SHARES]) == pytest.approx(0.95, abs=0.03)
    assert all(one["rate"] > 0.9 for one in found if one["metric"] in SHARES)


def test_rates_of_outcomes_cover_and_rare_ones_are_told() -> None:
    found = run(conversation, size=Size(repetitions=200), only=lambda cell: cell.settings["reversal"] in (0.02, 0.3))
    assert [one["metric"] for one in found] == ["reversal_rate", "stale_rate"] * 2
    assert all(one["rate"] > 0.88 for one in found)
    summary = {(one["metric"], one["cell"]): one for one in conversation.summarise(found) if one["metric"] in RATES}
    rare = summary["reversal_rate", "rarer outcomes"]
    assert rare["ok"] is None and rare["exact_bound_over_cases"] == pytest.approx(0.1157, abs=1e-4)
    assert summary["reversal_rate", "outcomes from 0.05 to 0.5"]["cells"] == 1


RATES = conversation.RATES


def test_a_cell_outside_its_band_is_named() -> None:
    cells = conversation.cells(Size(repetitions=2))
    results = [
        {"cell": cell.name, **cell.settings, "metric": name, "rate": 0.9, "se": 0.001, "insufficient": 0}
        for cell in cells
        for name in (*conversation.HEADLINE, *RATES, *conversation.MEASURED)
    ]
    summary = conversation.summarise(results)
    judged = [one for one in summary if one["ok"] is not None]
    assert len(judged) == len(conversation.HEADLINE) + len(RATES)
    assert all(one["ok"] is False and len(one["outside"]) for one in judged)
    assert len(cells) == 14


# ---- the studies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("studies", [Studies(4000, 0.95, -0.06), Studies(4000, 0.4, reversal=0.3, stale=0.3)])
def test_the_truth_is_that_of_the_studies_drawn(studies: Studies) -> None:
    """One large sample agrees with the formulas."""
    scores = studies.draw(np.random.default_rng(1))
    for outcomes in (True, False):
        for name, metric in conversation.metrics(outcomes=outcomes, replicates=200):
            within_error = 0.1 if name == "time_to_loss" else 0.012
            assert metric.value(scores) == pytest.approx(studies.truth[name], abs=within_error), name


def test_cases_differ_more_than_chance() -> None:
    studies = Studies(3000, 0.7)
    scores = studies.draw(np.random.default_rng(2))
    kept = sum(scores[columns.at_turn("live", "critical", turn, "correct")] for turn in range(1, TURNS + 1))
    facts = sum(scores[columns.at_turn("live", "critical", turn, "scorable")] for turn in range(1, TURNS + 1))
    by_chance = np.mean(0.7 * 0.3 / facts)
    assert np.var(kept / facts) > 3 * by_chance


def test_columns_are_those_of_the_scorer() -> None:
    """The same outcomes as facts of a case, through the rows of the task."""
    studies = Studies(1, 0.6, reversal=0.2)
    scores = studies.draw(np.random.default_rng(3))
    count = int(scores[columns.at_turn("live", "critical", 1, "facts")][0])
    names = ["warfarin", "metformin", "lisinopril", "sertraline", "atorvastatin", "omeprazole", "codeine", "digoxin"]
    facts = tuple(Fact(name, "medication", name) for name in names[:count])
    case = ConversationCase("c", "", tuple(Turn(t, f"I take {', '.join(names)}.") for t in range(1, TURNS + 1)), facts)
    # How many facts have each outcome at a turn is known; which of them is free, but for the losses.
    turns = []
    for turn in range(1, TURNS + 1):
        of = {f: int(scores[columns.at_turn("live", "critical", turn, f)][0]) for f in ("correct", "reversed")}
        outcomes = ["correct"] * of["correct"] + ["reversed"] * of["reversed"]
        outcomes += ["omitted"] * (count - len(outcomes))
        turns.append(Told(turn, (), tuple(Judged(one, None, "") for one in outcomes), None))  # type: ignore[arg-type]
    row = row_of({"live": Held(case, 0, "live", tuple(turns))}, facts)
    for name, column in scores.values.items():
        if name.startswith("live|critical|") and "first_" not in name and "stale" not in name and "retired" not in name:
            assert row.get(name, 0.0) == pytest.approx(column[0]), name
    at_risk = [name for name in scores.values if name.startswith("live|critical|first_")]
    assert len(at_risk) == 20 and row[columns.of_loss("live", "critical", "first", "risk", 1)] == count


# ---- the whole program -----------------------------------------------------------------------------------------------


def test_a_study_of_the_whole_program_is_counted_as_planted() -> None:
    found = run(conversation_program, size=Size(repetitions=1, replicates=200))
    by_name = {one["metric"]: one for one in found}
    assert by_name["counted as planted"]["covered"] == 1
    assert set(by_name) == {*conversation_program.COVERED, "counted as planted"}
    assert sum(one["covered"] for one in found) >= 4


def test_the_planted_truth_is_what_many_plans_have_on_average() -> None:
    from workup.tasks.conversation.scripted import Plan
    from workup.tasks.conversation.scripted.cases import small_cases

    cases = small_cases(300)
    tally = Plan(conversation_program.MODEL, cases, seed=4).counts()["live"]
    active = sum(tally[one] for one in ("correct", "omitted", "reversed", "wrong_value"))
    assert tally["correct"] / active == pytest.approx(conversation_program.truth()["recall"], abs=0.012)
