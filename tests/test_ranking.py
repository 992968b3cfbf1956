"""Several systems in one table: who can be told apart, by what, and what may not be concluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import workup
from tests.support.fourth_task import TriageTask
from workup.errors import InputError
from workup.estimate import Draws
from workup.ranking import Entrant, Ranking, rank, ranks
from workup.report import Report
from workup.reports import comparison
from workup.reports import ranking as drawn
from workup.stats.multiplicity import adjust
from workup.task import Ranked

TASK = "tests.support.fourth_task:TriageTask"
PATIENTS = 60


class Wrong:
    """Gives the level of some patients wrongly."""

    version = "1"

    def __init__(self, name: str, wrong: Sequence[int]) -> None:
        self.name, self._wrong = name, set(wrong)

    def triage(self, shown: list[int]) -> list[int]:
        return [level - 1 if i in self._wrong else level for i, level in enumerate(shown)]


@cache
def _table() -> Mapping[str, Any]:
    level = np.arange(PATIENTS) % 4 + 2
    return {
        "patient": np.arange(PATIENTS),
        "site": np.array(["one"] * PATIENTS),
        "time": np.full(PATIENTS, np.datetime64("2024-01-01")),
        "sex": np.array(["F", "M"])[np.arange(PATIENTS) % 2],
        "level": level,
        "shown": level,
    }


@cache
def _entrant(name: str, wrong: tuple[int, ...], gates: tuple[str, ...] = ()) -> Entrant:
    settings = {"name": "triage", "task": TASK, "bootstrap": {"replicates": 200}, "gates": list(gates)}
    study = workup.Study.of(settings)
    system = Wrong(name, wrong)
    task = TriageTask()
    scores = task.scores(task.read(study, _table()), system.triage(list(_table()["shown"])))
    rows: Any = SimpleNamespace(
        study=study, task=task, scores=scores, draws=lambda own=None: Draws(study.seed, study.bootstrap.replicates)
    )
    return Entrant(workup.validate(study, system=system, table=_table()), rows)


GOOD = _entrant("good", ())
ALSO = _entrant("also good", (1,))
POOR = _entrant("poor", tuple(range(0, 60, 2)))
BAD = _entrant("bad", tuple(range(58)))


def _ranks(found: Ranking) -> dict[str, str]:
    return {one["system"]["name"]: drawn.rank_words(one) for one in found.systems}


def test_systems_that_are_not_told_apart_share_their_ranks() -> None:
    found = rank([BAD, GOOD, POOR, ALSO])
    assert _ranks(found) == {"good": "1-2", "also good": "1-2", "poor": "3", "bad": "4"}
    assert [one["system"]["name"] for one in found.systems] == ["good", "also good", "poor", "bad"]
    assert found.pairing == "paired"


def test_the_order_in_which_they_are_named_changes_letters_alone() -> None:
    there, back = rank([GOOD, POOR, BAD]), rank([BAD, POOR, GOOD])
    assert _ranks(there) == _ranks(back)
    gaps = {(row["metric"], row["first"], row["second"]): row for row in back.pairs}
    turned = {"A": "C", "B": "B", "C": "A"}
    for row in there.pairs:
        other = gaps[row["metric"], turned[row["second"]], turned[row["first"]]]
        assert row["value"] == pytest.approx(-other["value"])
        assert row["p_adjusted"] == pytest.approx(other["p_adjusted"])


def test_every_difference_that_decides_is_in_one_family() -> None:
    found = rank([GOOD, ALSO, POOR, BAD])
    assert {column.decides for column in found.columns} == {"effect"}
    rows = [row for row in found.pairs if row["p"] is not None]
    assert len(found.pairs) == 6 * len(found.columns)
    assert [row["p_adjusted"] for row in rows] == pytest.approx(adjust([row["p"] for row in rows]).tolist())
    assert f"{len(rows)} differences that decide" in found.notes[0]


def test_against_a_reference_nothing_is_said_of_the_others() -> None:
    found = rank([POOR, GOOD, BAD], reference=0)
    assert {one["system"]["name"]: one["against_reference"] for one in found.systems} == {
        "good": "better",
        "poor": "reference",
        "bad": "worse",
    }
    assert all(one["rank"] is None for one in found.systems)
    assert {(row["first"], row["second"]) for row in found.pairs} == {("A", "B"), ("A", "C")}
    assert len([row for row in found.pairs if row["p"] is not None]) <= 2 * len(found.columns)


def _judged(one: Entrant, *outcomes: str) -> Entrant:
    """With verdicts that stand for its gates."""
    study = {**one.report.study, "gates": [f"rule {i}" for i in range(len(outcomes))]}
    verdicts = tuple(workup.report.Verdict(f"rule {i}", outcome, None, "") for i, outcome in enumerate(outcomes))
    return replace(one, report=replace(one.report, study=study, verdicts=verdicts))


def test_a_fail_stands_below_a_pass_whatever_its_figures() -> None:
    found = rank([_judged(GOOD, "fail"), _judged(ALSO, "pass"), _judged(POOR, "pass")])
    assert _ranks(found) == {"also good": "1", "poor": "2", "good": "3"}


def test_an_undecided_verdict_puts_nobody_below_and_nobody_above_a_better_one() -> None:
    found = rank([_judged(GOOD, "unsure"), _judged(ALSO, "pass"), _judged(POOR, "pass")])
    assert _ranks(found) == {"also good": "1-2", "poor": "2-3", "good": "1-3"}
    blocked = [row["by"] for row in found.pairs if {row["first"], row["second"]} == {"A", "C"}]
    assert set(blocked) == {"the better verdict has the worse figure"}


def test_a_fail_stands_below_what_is_undecided_too() -> None:
    found = rank(
        [_judged(GOOD, "fail", "pass"), _judged(ALSO, "unsure", "pass"), _judged(POOR, "not_assessed", "pass")]
    )
    assert _ranks(found)["good"] == "3"
    assert {row["by"] for row in found.pairs if "A" in (row["first"], row["second"])} == {"verdict"}


def test_other_gates_are_no_verdict_to_order_by() -> None:
    other = _judged(GOOD, "fail")
    report = replace(other.report, study={**other.report.study, "gates": ["another rule"]})
    found = rank([replace(other, report=report), _judged(POOR, "pass"), _judged(BAD, "pass")])
    assert _ranks(found)["good"] == "1"
    assert any("different gates" in note for note in found.notes)


class Careful(TriageTask):
    """Ranks by what is missed first."""

    @staticmethod
    def ranked(report: Report) -> list[Ranked]:
        return [Ranked("under_triage", decides="safety"), Ranked("agreement", decides="effect")]


class TooHigh:
    """Errs on the safe side: wrong, and nobody urgent is missed."""

    name, version = "too high", "1"

    def triage(self, shown: list[int]) -> list[int]:
        return [level + 1 for level in shown]


def test_safety_comes_before_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workup.ranking.task_of", lambda report: Careful)
    study = workup.Study.of({"name": "triage", "task": TASK, "bootstrap": {"replicates": 200}})
    task = TriageTask()
    scores = task.scores(task.read(study, _table()), TooHigh().triage(list(_table()["shown"])))
    rows: Any = SimpleNamespace(study=study, task=task, scores=scores, draws=lambda own=None: Draws(0, 200))
    high = Entrant(workup.validate(study, system=TooHigh(), table=_table()), rows)
    found = rank([POOR, high, BAD])
    assert _ranks(found)["too high"] == "1", "less agreement than the poor one, and no urgent patient missed"
    assert {row["by"] for row in found.pairs if {row["first"], row["second"]} == {"A", "B"}} == {"under-triage"}


def test_only_the_same_cases_stand_in_one_table() -> None:
    corpus = {**GOOD.report.corpus, "sha256": "1" * 64}
    other = replace(GOOD, report=replace(GOOD.report, corpus=corpus))
    with pytest.raises(InputError, match="same cases for all"):
        rank([GOOD, POOR, other])


def test_from_records_alone_it_is_said_that_nothing_is_paired() -> None:
    found = rank([replace(one, rows=None) for one in (GOOD, POOR, BAD)])
    assert found.pairing == "unpaired_same_corpus"
    assert "unpaired, conservative" in found.notes[-1]
    assert _ranks(found)["bad"] == "3"


def test_systems_told_apart_in_a_circle_are_not() -> None:
    circle = {(0, 1): "", (1, 2): "", (2, 0): "", (0, 3): "", (1, 3): "", (2, 3): ""}
    assert ranks(4, circle) == [(1, 3), (1, 3), (1, 3), (4, 4)]


@pytest.mark.parametrize("form", ["text", "md", "html"])
def test_every_form_shows_the_table(form: Any) -> None:
    named = replace(GOOD, report=replace(GOOD.report, system={"name": "<b>=1+1", "version": "1"}), cost=6.0)
    models = rank([named, POOR, BAD]).as_dict()
    page = comparison.render({"comparisons": [], "models": models}, form=form)
    assert "3 systems in the order of their ranks" in page
    assert "<b>" not in page or form == "text"
    assert "cost per case" in page and "0.100" in page
    sheet = drawn.as_csv(models)
    assert sheet.splitlines()[1].startswith("A,<b>=1+1,") and "'=2" not in sheet
    assert len(sheet.splitlines()) == 4


def test_a_name_that_is_a_formula_is_written_as_a_name() -> None:
    named = replace(GOOD, report=replace(GOOD.report, system={"name": "=cmd()", "version": "-1"}))
    assert "A,'=cmd(),'-1," in drawn.as_csv(rank([named, POOR, BAD]).as_dict())
