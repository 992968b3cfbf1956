"""Which units a judge reads, and asking it: several times, through the log of calls and within its limits."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from workup.stats.random import generator
from workup.task import Budget, OutputLog, Watch
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.judges.pairs import Pairs, pairs_of
from workup.tasks.conversation.judges.questions import LONGEST_PASSAGE, Question, in_words, original, prompt_version
from workup.tasks.conversation.judges.readers import ANSWER_TOKENS, Judge, judge_of
from workup.tasks.conversation.labels import Unit
from workup.tasks.conversation.read.facts import Judged
from workup.tasks.conversation.read.judging import Told
from workup.tasks.conversation.scores.scoring import Conversation
from workup.tasks.conversation.settings import JudgePart
from workup.tasks.conversation.talk.calls import JUDGE, Caller, Place, Spent, identity_of
from workup.tasks.conversation.talk.conversations import workers_for
from workup.tasks.conversation.talk.token_counts import Tokenizer
from workup.tasks.conversation.talk.workers import Crew

LEAST_SAMPLED = 200  # units that the rules call correct, or omitted without a mention
_ALWAYS = ("reversed", "wrong_value", "stale")
_OF_ACTIVE = ("correct", "reversed", "wrong_value", "omitted")
_LARGEST_SEED = 2**31 - 1


class FactUnit(NamedTuple):
    """One fact at one turn of a live conversation, with what the rules read."""

    unit: Unit
    fact: Fact
    rules: Judged
    text: str


class Answers(NamedTuple):
    """What a judge answered to one question, run by run; None where it gave no word of the list."""

    runs: tuple[str | None, ...]
    failed: int = 0  # runs whose call failed

    @property
    def majority(self) -> str | None:
        """The word of more than half of the runs."""
        word, times = Counter(self.runs).most_common(1)[0]
        return word if 2 * times > len(self.runs) else None

    @property
    def unanimous(self) -> bool:
        """Whether all runs gave one word."""
        return self.runs[0] is not None and len(set(self.runs)) == 1


@dataclass(frozen=True)
class Judgements:
    """All answers of the judges of a study, by unit, and who gave them."""

    facts: Mapping[Unit, Answers] = field(default_factory=dict)
    pairs: Mapping[Unit, Answers] = field(default_factory=dict)
    k: int = 1
    readers: Mapping[str, str] = field(default_factory=dict)  # facts and advice: who was asked, and by which prompt
    changed: str = ""  # why the runs are not of one judge, where they are not
    too_long: int = 0  # passages that were not handed over

    def identity(self, kind: str) -> str:
        """Who read facts or advice; the rules where nobody else did."""
        return self.readers.get(kind, "rules")


# ---- units of facts --------------------------------------------------------------------------------------------------


def fact_units(conversations: Sequence[Conversation]) -> Iterator[FactUnit]:
    """Every critical fact at every turn of the live conversations that the rules could score, in order."""
    for one in conversations:
        held = one.arms.get("live")
        for told in held.turns if held else ():
            for fact, judged in zip(one.facts, told.outcomes, strict=True):
                if judged is None or not fact.critical or judged.outcome not in (*_OF_ACTIVE, "stale", "retired_ok"):
                    continue
                text = text_read(told, fact)
                if text is not None:
                    yield FactUnit(Unit(one.case.id, one.replicate, "live", told.turn, fact.id), fact, judged, text)


def text_read(told: Told, fact: Fact) -> str | None:
    """The text in which a fact was looked for at a turn: the summary, the answer to its question, or the reply."""
    if told.text is not None:
        return told.text
    probes = (one.probe for one in told.said if one.probe is not None)
    return next((probe.reply for probe in probes if probe.fact == fact.id), None)


def chosen(units: Sequence[FactUnit], *, seed: int) -> list[FactUnit]:
    """Those that a judge is asked about: all that the rules doubt, and a seeded sample of the rest."""
    plain = [one for one in units if _plain(one)]
    kept = {one.unit for one in sorted(plain, key=lambda one: _rank(seed, one.unit))[:LEAST_SAMPLED]}
    return [one for one in units if one.unit in kept or (not _plain(one) and one.rules.outcome != "retired_ok")]


def _plain(one: FactUnit) -> bool:
    """Whether the rules saw nothing to doubt: correct by a plain name, or no mention at all."""
    rules = one.rules
    if rules.outcome in _ALWAYS or rules.outcome == "retired_ok":
        return False
    return not rules.fuzzy if rules.outcome == "correct" else rules.sentence is None


def _rank(seed: int, unit: Unit) -> bytes:
    return hashlib.sha256("\x1f".join(map(str, (seed, *unit))).encode("utf-8", "surrogatepass")).digest()


def fact_question(one: FactUnit) -> Question:
    """The fact in words and the passage: the deciding sentence with one on each side, or the whole reply."""
    passage = original(one.text).around(one.rules.sentence)
    return Question(one.unit, (in_words(one.fact, one.unit.turn), passage))


def composite(one: FactUnit, answer: str | None) -> str:
    """The outcome by both readers: the judge's where it was asked and answered, and values by the rules alone."""
    rules = one.rules.outcome
    if answer is None:
        return rules
    if one.fact.over(one.unit.turn):
        return "stale" if answer == "reversed" else "retired_ok"
    stated = answer in ("correct", "wrong_value")
    return rules if stated and rules in ("correct", "wrong_value") else answer


# ---- asking ----------------------------------------------------------------------------------------------------------


def conversation_pairs(conversations: Sequence[Conversation], *, seed: int) -> list[Pairs]:
    """The pairs of advice of every live conversation, in order."""
    found = []
    for one in conversations:
        held = one.arms.get("live")
        replies = {told.turn: told.reply for told in held.turns if told.reply} if held else {}
        found.append(pairs_of(one.case.input, one.replicate, replies, seed=seed))
    return found


def ask_judges(
    part: JudgePart,
    conversations: Sequence[Conversation],
    *,
    seed: int,
    base: Path,
    log: OutputLog,
    watch: Watch,
    budget: Budget,
    spent: Spent,
    workers: int = 0,
    ask: bool = True,
) -> Judgements:
    """Put every chosen unit to the judges. Answers on record are not asked for again, whatever the order."""
    questions: dict[str, list[Question]] = {}
    if part.facts is not None:
        questions["facts"] = [fact_question(one) for one in chosen(list(fact_units(conversations)), seed=seed)]
    if part.advice is not None:
        found = conversation_pairs(conversations, seed=seed)
        questions["advice"] = [pair.question for one in found for pair in one.pairs]
    answers: dict[str, dict[Unit, Answers]] = {}
    readers: dict[str, str] = {}
    changed, too_long = "", 0
    for kind, asked in questions.items():
        judge = judge_of(getattr(part, kind), kind=kind, seed=seed, base=base, send_text=part.send_text)
        short = [one for one in asked if sum(map(len, one.texts)) <= LONGEST_PASSAGE]
        too_long += len(asked) - len(short)
        if ask:
            budget.tell(f"The judge of {kind}: {len(short):,} questions, each asked {part.k} times")
        desk = _Desk(judge, part.k, seed, log, budget, spent, ask=ask)
        answers[kind] = desk.ask(short, watch, workers)
        readers[kind] = desk.identity
        changed = changed or desk.changed
    return Judgements(answers.get("facts", {}), answers.get("advice", {}), part.k, readers, changed, too_long)


class _Desk:
    """Where one judge is asked."""

    def __init__(
        self, judge: Judge, k: int, seed: int, log: OutputLog, budget: Budget, spent: Spent, *, ask: bool
    ) -> None:
        self._judge, self._k, self._seed = judge, k, seed
        self._caller = Caller(
            judge.system,
            memory="",
            log=log,
            budget=budget,
            tokens=Tokenizer.of(judge.system),
            ask=ask,
            template=prompt_version(),
            spent=spent,
        )
        self.identity = " ".join([*filter(None, identity_of(judge.system).values()), prompt_version()])
        self._prints: set[str] = set()

    @property
    def changed(self) -> str:
        """Why the answers are not of one judge; empty where they are."""
        if len(self._prints) < 2:
            return ""
        return f"the judge changed between its own runs: its endpoint named {len(self._prints)} fingerprints"

    def ask(self, questions: Sequence[Question], watch: Watch, workers: int) -> dict[Unit, Answers]:
        """All answers, in the order of the questions."""
        runs = self._k if self._judge.repeats else 1
        told: dict[tuple[int, int], tuple[str | None, bool]] = {}

        def job(place: int, run: int) -> None:
            told[place, run] = self._one(questions[place], run)

        crew = Crew(workers_for(self._judge.system, workers))
        total = len(questions) * runs
        for place in range(len(questions)):
            for run in range(runs):
                crew.add((place, run), lambda place=place, run=run: job(place, run))  # type: ignore[misc]
        crew.work(lambda: watch("asking the judge", len(told), total))
        found = {}
        for place, question in enumerate(questions):
            said = [told[place, run] for run in range(runs)] * (self._k // runs)
            found[question.unit] = Answers(tuple(word for word, _ in said), sum(failed for _, failed in said))
        return found

    def _one(self, question: Question, run: int) -> tuple[str | None, bool]:
        unit = question.unit
        place = Place(unit.case, unit.replicate, unit.arm, unit.turn, JUDGE, unit.fact, unit.pair, run)
        seed = int(generator(self._seed, "judge", question.digest, run).integers(0, _LARGEST_SEED))
        messages = self._judge.put(question, run)
        said = self._caller.say(messages, place=place, seed=seed, max_tokens=ANSWER_TOKENS)
        if said.fingerprint:
            self._prints.add(said.fingerprint)
        return self._judge.answer(said.content, question), bool(said.failure)


def most_calls(part: JudgePart, units: int, conversations: int) -> str:
    """What a judge may be asked at most, in a sentence: pairs are known only when replies are there."""
    said = []
    if part.facts is not None:
        said.append(f"at most {units * part.k:,} calls of the judge for {units:,} facts at a turn")
    if part.advice is not None:
        from workup.tasks.conversation.judges.pairs import MOST_UNMADE

        most = conversations * MOST_UNMADE
        said.append(
            f"{part.k} calls of the judge for each pair of advice that rules find, and at most {most * part.k:,} for "
            f"{most:,} that they do not"
        )
    return "; ".join(said)


def reading_counts(judged: Judgements | None) -> dict[str, Any]:
    """What the judges read, in numbers that say nothing of the model."""
    if judged is None:
        return {}
    found: dict[str, Any] = {"k": judged.k, "too_long": judged.too_long, "changed": judged.changed or None}
    for kind, answers in (("facts", judged.facts), ("pairs", judged.pairs)):
        found[kind] = {
            "read": len(answers),
            "not_unanimous": sum(not one.unanimous for one in answers.values()),
            "without_majority": sum(one.majority is None for one in answers.values()),
            "failed_calls": sum(one.failed for one in answers.values()),
        }
    return found
