"""Plans, their items, and which of them the replies carry or oppose."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.errors import InputError
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.content import Plan, items_of, plan_of, plan_score
from workup.text.sentences import sentences_of

FACTS = (
    Fact("f1", "medication", "lithium", attributes={"dose_value": 300, "dose_unit": "mg"}),
    Fact("f2", "allergy", "penicillin"),
    Fact("f3", "medication", "warfarin", retired=2),
    Fact("f4", "symptom", "chest pain", status="absent"),
    Fact("f5", "diagnosis", "gout", critical=False),
)
TURNS = (Turn(1, "I take lithium and warfarin, am allergic to penicillin, have gout, no chest pain."), Turn(2, "Hi."))


def case(plan: str | None = None, summary: str = "") -> ConversationCase:
    return ConversationCase("c1", summary, TURNS, FACTS, plan)


def test_the_plan_of_the_case_goes_first_then_the_file_then_the_rule() -> None:
    assert plan_of(case("Rest."), {"c1": "Check TSH."}) == Plan("Rest.", "case")
    assert plan_of(case(), {"c1": "Check TSH."}) == Plan("Check TSH.", "target_plans")
    assert plan_of(case(), {"c2": "Check TSH."}).source == "synthesised"


def test_a_plan_by_rule_asks_for_critical_facts_that_still_hold() -> None:
    # Warfarin was retired, gout is not critical, and a symptom that is absent asks for nothing.
    assert plan_of(case(), {}).text == "Continue lithium 300 mg.\nAvoid penicillin."
    told = plan_of(case(summary="Bipolar disorder. Plan to recheck TSH in May. Any plan?"), {})
    assert told.text.splitlines()[0] == "Plan to recheck TSH in May."


def test_no_plan_at_all_says_so() -> None:
    bare = ConversationCase("c1", "", TURNS, (FACTS[4],))
    assert plan_of(bare, {}) == Plan("", "none")
    score = plan_score("", ["Continue lithium."])
    assert score.items == 0 and score.coverage is None and score.contradiction is None


@pytest.mark.parametrize("plan", ["", "  ", None, 3])
def test_an_empty_plan_in_the_file_is_refused(plan: object) -> None:
    if plan is None:
        assert plan_of(case(), {"c1": plan}).source == "synthesised"  # type: ignore[dict-item]
        return
    with pytest.raises(InputError, match="text that is not empty"):
        plan_of(case(), {"c1": plan})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("plan", "items"),
    [
        ("Continue lithium. Check TSH.", ("Continue lithium.", "Check TSH.")),
        ("1. Continue lithium\n2) Check TSH\n- Rest", ("Continue lithium", "Check TSH", "Rest")),
        ("Continue lithium and check TSH", ("Continue lithium", "check TSH")),
        ("Continue lithium, then refer to cardiology", ("Continue lithium", "refer to cardiology")),
        ("Monitor and record weight", ("Monitor and record weight",)),
        ("Avoid NSAIDs and ACE inhibitors", ("Avoid NSAIDs and ACE inhibitors",)),
        ("Take 2.5 mg b.i.d. with food", ("Take 2.5 mg b.i.d. with food",)),
        ("Plan:\nRest", ("Rest",)),
        ("Rest. Rest.", ("Rest.",)),
        ("...", ()),
    ],
)
def test_items(plan: str, items: tuple[str, ...]) -> None:
    assert items_of(plan) == items
    assert items_of(Plan(plan, "case")) == items


def score(plan: str, *replies: str) -> tuple[int, int, int]:
    found = plan_score(plan, replies)
    assert found.method == "rule-based" and found.refused == 0
    return found[:3]


@pytest.mark.parametrize(
    ("plan", "reply", "expected"),
    [
        # items, covered, contradicted
        ("Continue lithium.", "Please keep taking your lithium.", (1, 1, 0)),
        ("Continue lithium.", "Continue Lithobid.", (1, 1, 0)),
        ("Continue lithium.", "You asked about lithium.", (1, 0, 0)),  # named, but nothing is asked for
        ("Continue lithium.", "Should we continue lithium?", (1, 0, 0)),
        ("Continue lithium.", "If you feel well, continue lithium.", (1, 0, 0)),
        ("Continue lithium.", "STOP ALL LITHIUM NOW", (1, 0, 1)),
        ("Continue lithium.", "Do not take lithium.", (1, 0, 1)),
        ("Continue lithium.", "Continue lisinopril.", (1, 0, 0)),
        ("Continue lithium.", "Do not stop your lithium; keep taking it.", (1, 1, 0)),
        ("Continue lithium 300 mg.", "Continue lithium 300 mg.", (1, 1, 0)),
        ("Continue lithium 300 mg.", "Continue lithium 900 mg.", (1, 0, 1)),
        ("Stop warfarin.", "Please stop warfarin today.", (1, 1, 0)),
        ("Stop warfarin.", "Continue warfarin.", (1, 0, 1)),
        ("Avoid ibuprofen.", "Avoid Advil.", (1, 1, 0)),
        ("Avoid ibuprofen.", "Take ibuprofen for the pain.", (1, 0, 1)),
        ("Increase sertraline.", "Let's increase your sertraline.", (1, 1, 0)),
        ("Increase sertraline.", "Let's decrease your sertraline.", (1, 0, 1)),
        ("Check lithium level and TSH.", "We will check your lithium level and TSH.", (1, 1, 0)),
        ("Check lithium level and TSH.", "We will check your TSH.", (1, 0, 0)),  # all that is asked for, not any
        ("Check TSH.", "There is no need to check the TSH.", (1, 0, 1)),
        ("Monitor for tremor.", "We will monitor for tremor.", (1, 1, 0)),
        ("Monitor for tremor.", "You have no tremor today.", (1, 0, 0)),  # a symptom denied opposes no watching
        ("Follow up in two weeks.", "Please follow up in two weeks.", (1, 1, 0)),
        ("Follow up in two weeks.", "You do not need to follow up in two weeks.", (1, 0, 1)),
        ("Practise sleep hygiene.", "Good sleep hygiene helps.", (1, 1, 0)),
        ("Continue lithium.", "Continue:\n- lithium 300 mg\n- sertraline", (1, 1, 0)),
        ("Continue lithium.", "Stopped:\n- lithium\n", (1, 0, 1)),
        ("Continue lithium.", "<think>Continue lithium.</think>Rest.", (1, 0, 0)),
        ("Continue lithium.", "", (1, 0, 0)),
    ],
)
def test_by_rule(plan: str, reply: str, expected: tuple[int, int, int]) -> None:
    assert score(plan, reply) == expected


def test_a_contradiction_appended_to_a_perfect_text_is_seen() -> None:
    plan = "Continue lithium. Check TSH. Avoid ibuprofen."
    good = "Continue lithium. We will check the TSH. Avoid ibuprofen."
    assert score(plan, good) == (3, 3, 0)
    assert score(plan, good + " STOP ALL LITHIUM NOW") == (3, 2, 1)
    assert score(plan, good, "Stop the lithium.") == (3, 2, 1)


class Bag:
    """A counter of words: vectors that know nothing of order or meaning."""

    name, version, max_tokens = "bag", "1", 12
    _WORDS = ("continue", "keep", "lithium", "lisinopril", "stop", "mood", "rest", "cardiology", "heart", "see")

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def encode(self, sentences: Sequence[str]) -> list[list[float]]:
        same = {"keep": "continue", "heart": "cardiology", "see": "refer"}
        read = [[same.get(word.strip(".,?!"), word.strip(".,?!")) for word in s.casefold().split()] for s in sentences]
        return [[float(words.count(word)) for word in (*self._WORDS, "refer")] for words in read]


def test_an_encoder_adds_paraphrases_and_never_hides_an_opposite() -> None:
    plan = "Refer to cardiology. Continue lithium."
    assert score(plan, "See the heart people.") == (2, 0, 0)
    found = plan_score(plan, ["See the heart people."], encoder=Bag())
    assert found[:3] == (2, 1, 0) and "bag" in found.method
    # "Stop lithium" has the same bag but for one word, and is opposed all the same.
    assert plan_score("Continue lithium.", ["Continue lithium lithium. Stop lithium."], encoder=Bag())[:3] == (1, 0, 1)
    # Another drug, a question and a condition lie close, and carry nothing.
    for reply in ("Continue lisinopril lithium?", "If well, continue lithium.", "Continue lisinopril."):
        assert plan_score("Continue lithium.", [reply], encoder=Bag()).covered == 0


def test_what_an_encoder_would_cut_is_refused_and_told() -> None:
    long = "rest " * 20
    found = plan_score(f"Continue lithium. {long}.", [f"Continue lithium. {long}"], encoder=Bag())
    assert (found.items, found.covered, found.refused) == (1, 1, 2)


def test_sentences_as_written() -> None:
    assert sentences_of("Dr. Ito saw her. BP 2.5! Ok? e.g. this") == ["Dr. Ito saw her.", "BP 2.5!", "Ok?", "e.g. this"]


texts = st.lists(
    st.sampled_from(
        ["continue", "stop", "lithium", "300 mg", "0 mg", "TSH", "and", ".", "\n-", "no", "?", "🙂", "if", ";"]
    ),
    max_size=20,
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=120), texts), st.lists(st.one_of(st.text(max_size=120), texts), max_size=3))
def test_counts_are_counts_whatever_is_written(plan: str, replies: list[str]) -> None:
    found = plan_score(plan, replies)
    assert 0 <= found.covered + found.contradicted <= found.items == len(items_of(plan))
    assert plan_score(plan, replies[::-1])[:3] == found[:3]
