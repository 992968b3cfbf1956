"""Models with one planted fault each, behind a real server, put through the study that `workup new` writes: who is good
passes, who harms fails for the right reason, and who does not answer is not judged."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.planted_models import served, study_of
from tests.support.shell import call
from workup.estimate import Draws, estimate
from workup.gates import Gate, judge
from workup.tasks.conversation.attainable import default_gates, perfect_scores
from workup.tasks.conversation.cases.case import ConversationCase, read_cases
from workup.tasks.conversation.cases.corpus import corpus_of
from workup.tasks.conversation.metrics.design import Design
from workup.tasks.conversation.metrics.metrics import conversation_metrics
from workup.tasks.conversation.read.facts import Judged
from workup.tasks.conversation.scores.rows import row_of
from workup.tasks.conversation.scores.scoring import in_rows
from workup.tasks.conversation.scripted.cases import small_cases
from workup.tasks.conversation.settings import ConversationPart

LIVE = {"set": "critical", "arm": "live"}
# Every model on both corpora takes minutes: WORKUP_PLANTED=all runs them, and three on the small corpus always run.
ALL = pytest.mark.skipif(os.environ.get("WORKUP_PLANTED") != "all", reason="takes minutes: WORKUP_PLANTED=all runs it")
SIZES = [pytest.param(12, id="12 cases of 7 patients"), pytest.param(30, id="30 cases of 15 patients", marks=ALL)]


@pytest.fixture(scope="module", params=SIZES, name="folder")
def _folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted") / "study"
    done = call("new", "conversation", folder, "--count", str(request.param))
    assert done.code == 0
    # Drawn as the one form that these tests read; the arms that gates need.
    text = (folder / "study.yaml").read_text()
    text = text.replace("formats: [html, md, text]", "formats: [safety-card]")
    (folder / "study.yaml").write_text(text.replace("  subgroups:", "#   subgroups:"))
    return folder


class Run:
    """What became of one model."""

    def __init__(self, folder: Path, which: str) -> None:
        service = served(which, folder / "cases.jsonl")
        try:
            file = study_of(folder, service.url, arms="[live, oracle]", probe_tokens=20 if which == "cut off" else 2000)
            out = folder / which.replace(" ", "-")
            self.done = call("run", file, "-o", out)
        finally:
            service.close()
        self.record: dict[str, Any] = json.loads((out / "report.json").read_text())
        self.card = call("report", out, "-f", "safety-card").out
        self.verdicts = {one["rule"]: one["outcome"] for one in self.record["verdicts"]}

    def failed(self) -> set[str]:
        return {rule.partition(".")[0] for rule, outcome in self.verdicts.items() if outcome == "fail"}

    def estimate(self, metric: str, **at: Any) -> dict[str, Any]:
        rows = self.record["results"]["internal"]["estimates"]
        return next(e for e in rows if e["metric"] == metric and e["slice"] == {**LIVE, **at} and e["level"] == 0.95)

    def rates(self) -> tuple[float, float, float]:
        found = ("refusal_rate", "truncation_rate", "other_language_rate")
        return tuple(self.estimate(name)["numerator"] for name in found)  # type: ignore[return-value]

    def table(self, name: str) -> Any:
        return self.record["results"]["internal"]["tables"][name]


def cases_of(folder: Path) -> list[ConversationCase]:
    return read_cases(folder / "cases.jsonl")


def asked(cases: list[ConversationCase]) -> int:
    """Times that a critical fact was due: all of the ledgers, at every turn."""
    return sum(fact.critical for case in cases for turn in case.turns for fact in case.active(turn.turn))


def test_who_keeps_everything_passes(folder: Path) -> None:
    run = Run(folder, "perfect")
    assert run.done.code == 0 and set(run.verdicts.values()) == {"pass"}
    assert len(run.verdicts) == 7
    assert "Pass: all 7 gates passed." in run.card and "Not judged on" not in run.card


@ALL
def test_who_warns_and_orders_to_stop_is_not_taken_for_one_who_harms(folder: Path) -> None:
    run = Run(folder, "careful")
    assert run.table("never_events") == []
    assert run.done.code == 0


@ALL
def test_care_in_the_words_of_a_clinic_is_read_as_care(folder: Path) -> None:
    run = Run(folder, "careful in clinic words")
    assert run.table("never_events") == [] and run.done.code == 0


@ALL
def test_who_forgets_allergies_fails_on_allergies(folder: Path) -> None:
    run = Run(folder, "forgets allergies")
    assert run.done.code == 1 and "recall{type=allergy}" in run.failed()
    assert not run.table("safety_errors")  # what is left out is not said wrongly
    assert "Fail" in run.card


def test_who_denies_allergies_fails_on_allergies_and_every_one_is_listed(folder: Path) -> None:
    run = Run(folder, "denies allergies")
    assert run.done.code == 1 and "recall{type=allergy}" in run.failed()
    if run.record["corpus"]["n_cases"] == 30:
        assert "reversal_rate{type=safety}" in run.failed()
    alive = [
        (case.id, fact.id)
        for case in cases_of(folder)
        for fact in case.facts
        if fact.type == "allergy" and any(fact.active(turn.turn) for turn in case.turns if turn.turn >= 5)
    ]
    listed = run.table("safety_errors")
    assert sorted((row["case"], row["fact"]) for row in listed) == sorted(alive)
    assert {row["outcome"] for row in listed} == {"reversed"} and min(row["first_turn"] for row in listed) == 5
    rows = run.card[run.card.index("By type of fact") :]
    assert "Fail" in run.card and "allergy" in rows


@ALL
def test_who_flips_doses_fails_on_doses(folder: Path) -> None:
    run = Run(folder, "flips doses")
    assert run.done.code == 1 and "wrong_value_rate{type=dose}" in run.failed()
    assert {row["outcome"] for row in run.table("safety_errors")} == {"wrong_value"}


@ALL
def test_who_contradicts_itself_fails_on_that(folder: Path) -> None:
    run = Run(folder, "contradicts itself")
    assert run.done.code == 1 and run.failed() == {"conflicted_rate"}


@ALL
@pytest.mark.parametrize("which", ["refuses", "French"])
def test_who_does_not_answer_is_not_judged(folder: Path, which: str) -> None:
    run = Run(folder, which)
    due = asked(cases_of(folder))
    assert run.done.code == 3 and set(run.verdicts.values()) == {"not_assessed"}
    assert run.rates() == ((due, 0, 0) if which == "refuses" else (0, 0, due))
    assert run.estimate("coverage")["value"] == 0
    assert run.estimate("omission_rate")["value"] is None and run.estimate("recall_at_10")["value"] is None
    assert "Not judged on" in run.card


def test_who_is_cut_off_is_not_judged_and_what_was_said_before_counts(folder: Path) -> None:
    run = Run(folder, "cut off")
    due = asked(cases_of(folder))
    cut = run.rates()[1]
    assert run.done.code == 3 and set(run.verdicts.values()) == {"not_assessed"}
    assert run.rates() == (0, cut, 0) and 0 < cut < due
    assert run.estimate("coverage")["numerator"] == due - cut
    # Everything that could be said in twenty words was said rightly.
    assert run.estimate("omission_rate")["value"] == 0 and run.estimate("recall")["status"] == "withheld"
    assert run.estimate("recall", unanswered="lost")["value"] == pytest.approx((due - cut) / due)


# ---- one more fault --------------------------------------------------------------------------------------------------


def _flipped(cases: int, seed: int) -> Iterator[list[tuple[str, str]]]:
    """Verdicts of the default gates as one fact after the other goes wrong."""
    corpus = corpus_of(small_cases(cases), name="x")
    settings = ConversationPart(arms=("live", "oracle"))
    gates = [Gate.parse(one.rule, level=0.9) for one in default_gates(corpus, settings) if one.rule]
    scores = perfect_scores(corpus, settings)
    held = [dict(one.arms) for one in scores.conversations]
    facts = scores.conversations[0].facts
    design = Design(
        arms=scores.arms, turns=10, horizon=10, clusters=cases, types=("allergy", "medication", "dose", "safety")
    )
    metrics = [one for one in conversation_metrics(design) if one.name in {gate.metric for gate in gates}]
    chance = random.Random(seed)
    places = [(case, turn, place) for case in range(cases) for turn in range(10) for place in range(len(facts))]
    chance.shuffle(places)
    for count, (case, turn, place) in enumerate(places[:400], start=1):
        live = held[case]["live"]
        told = live.turns[turn]
        if (judged := told.outcomes[place]) is None or judged.outcome != "correct":
            continue
        wrong = Judged(chance.choice(("omitted", "reversed", "wrong_value")), 0, "", "dose_value")  # type: ignore[arg-type]
        outcomes = (*told.outcomes[:place], wrong, *told.outcomes[place + 1 :])
        turns = (*live.turns[:turn], told._replace(outcomes=outcomes), *live.turns[turn + 1 :])
        held[case]["live"] = live._replace(turns=turns)
        if count % 30 == 0:
            rows = [
                {**row_of(arms, facts, horizons=(10,)), "live|conversations": 1.0, "live|probed": 1.0} for arms in held
            ]
            conversations = [replace(one, arms=arms) for one, arms in zip(scores.conversations, held, strict=True)]
            found = estimate(in_rows(rows, conversations, scores.transcripts), metrics, draws=Draws(), levels=(0.9,))
            primary = {"set": "critical", "arm": "live"}
            yield [(one.rule, one.outcome) for one in judge(gates, found, primary=primary)]


@pytest.mark.parametrize("seed", [1])
def test_one_more_fault_never_turns_a_fail_into_a_pass(seed: int) -> None:
    failed: set[str] = set()
    passed_once: set[str] = set()
    for verdicts in _flipped(7, seed):
        now = {rule for rule, outcome in verdicts if outcome == "pass"}
        assert not now & failed
        failed |= {rule for rule, outcome in verdicts if outcome == "fail"}
        passed_once |= now
    assert failed and passed_once
