"""Endpoints that remember: what they are sent, and probes that leave no trace in their memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.loopback import Service
from workup.errors import InputError, StudyError
from workup.runs import Unrecorded
from workup.systems.any.http import Http
from workup.systems.chat.sessions import Sessions
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.notes import notes_of
from workup.tasks.conversation.settings import ConversationPart, ConversationStudy
from workup.tasks.conversation.talk import converse, estimate_of
from workup.tasks.conversation.task import ConversationTask

DRUGS = ("warfarin", "metformin", "lisinopril", "sertraline", "omeprazole", "furosemide")
CASE = ConversationCase(
    "c1",
    "",
    tuple(Turn(number, f"I take {drug}.") for number, drug in enumerate(DRUGS, 1)),
    tuple(Fact(drug, "medication", drug, introduced=number) for number, drug in enumerate(DRUGS, 1)),
)
SPAN = 3  # turns that the endpoint remembers


class Remembering:
    """A service that remembers three messages of each session, and says which they are."""

    def __init__(self) -> None:
        self.memory: dict[str, list[str]] = {}
        self.sent: list[dict[str, Any]] = []
        self.service = Service(self.answer)

    def answer(self, content: Any) -> tuple[int, dict[str, str], bytes]:
        self.sent.append(content)
        id = content["session"]
        if "copy_of" in content:
            self.memory[id] = list(self.memory[content["copy_of"]])
        kept = self.memory.setdefault(id, [])
        [message] = content["messages"]
        kept.append(message["content"])
        asked = "summarise" in message["content"]
        known = [one for one in kept if "summarise" not in one][-SPAN:] if asked else kept[-SPAN:]
        said = " ".join(one.replace("I take", "You take") for one in known) if asked else "Noted."
        body = {"content": said, "sources": {"memory": known}}
        return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


@pytest.fixture
def endpoint() -> Iterator[Remembering]:
    made = Remembering()
    yield made
    made.service.close()


def held(endpoint: Remembering, how: str | None, **more: Any) -> tuple[Any, ConversationPart]:
    session = {"send": "body:session", **({"fork": "body:copy_of"} if how == "fork" else {})}
    system = Http(name="agent", url=endpoint.service.url, session=session, retries=0)
    settings = ConversationPart(**{"arms": ("live",), "probe_in": how, **more})
    return converse(lambda: system, [CASE], settings, seed=1, log=Unrecorded()), settings


def expected(turn: int) -> tuple[str, ...]:
    return tuple(sorted(DRUGS[max(0, turn - SPAN) : turn]))


@pytest.mark.parametrize("how", ["twin", "fork"])
def test_probes_leave_the_memory_as_it_was_and_availability_and_use_tell_how_far_it_reaches(
    endpoint: Remembering, how: str
) -> None:
    found, settings = held(endpoint, how)
    live = [kept for kept in endpoint.memory.values() if not any("summarise" in one for one in kept)]
    assert live == [[turn.message for turn in CASE.turns]]  # of one session: nothing but the conversation
    study = ConversationStudy.of({"name": "s", "task": "conversation", "conversation": settings.model_dump()})
    task = ConversationTask()
    scores = task.scores(task.read(study, [CASE]), found)
    metrics = {(one.name, frozenset(one.at.items())): one for one in task.metrics(scores, study)}
    memory = frozenset({"source": "memory"}.items())
    due = sum(range(1, 7))
    assert metrics["availability", memory].value(scores) == pytest.approx((1 + 2 + 3 * 4) / due)
    assert metrics["use", memory].value(scores) == 1.0
    told = scores.conversations[0].arms["live"].turns
    assert [one.said[0].sources["memory"] for one in told] == [expected(turn) for turn in range(1, 7)]
    assert [sum(fact is not None and fact.outcome == "correct" for fact in one.outcomes) for one in told] == [
        1,
        2,
        3,
        3,
        3,
        3,
    ]
    said = " ".join(notes_of(scores, settings))
    assert ("0 of 21 did" in said) == (how == "twin") and ("made by the endpoint" in said) == (how == "fork")


def test_only_what_is_new_is_sent_and_no_two_runs_share_a_session(endpoint: Remembering) -> None:
    held(endpoint, None, probe="none")
    first = {one["session"] for one in endpoint.sent}
    assert [len(one["messages"]) for one in endpoint.sent] == [1] * 6 and len(first) == 1
    held(endpoint, None, probe="none")
    assert len({one["session"] for one in endpoint.sent}) == 2


def test_a_probe_at_the_end_is_one(endpoint: Remembering) -> None:
    found, _ = held(endpoint, "end")
    assert [one.probe is not None for one in found.said] == [False] * 5 + [True]
    assert [sum("summarise" in text for text in kept) for kept in endpoint.memory.values()] == [1]
    assert found.said[-1].probe.reply == "You take sertraline. You take omeprazole. You take furosemide."


def test_other_arms_have_sessions_of_their_own(endpoint: Remembering) -> None:
    found, _ = held(endpoint, "twin", arms=("live", "oracle"), probe_turns=(6, 10))
    [line] = [one for one in found.said if one.arm == "oracle" and one.probe is not None]
    assert line.probe.reply.count("You take") == 6  # told in one message, which the endpoint remembers whole


def test_the_cost_of_twins_is_told_before(endpoint: Remembering) -> None:
    part = ConversationPart(arms=("live",), probe_in="twin")
    assert estimate_of([CASE], part, None).calls == 6 + 6 + 21
    held(endpoint, "twin")
    assert len(endpoint.sent) == 6 + 6 + 21


@pytest.mark.parametrize(
    ("how", "more", "expected"),
    [
        (None, {}, "must not remember probes"),
        ("twin", {"arms": ("live", "slip-2")}, "a reply that an endpoint remembers cannot be edited"),
        ("twin", {"memory": "last:3"}, "the endpoint's affair"),
        ("end", {"probe": "question"}, "one probe can be asked at the end"),
    ],
)
def test_a_way_to_probe_that_does_not_fit_is_refused(
    endpoint: Remembering, how: str | None, more: dict[str, Any], expected: str
) -> None:
    with pytest.raises(StudyError, match=expected):
        held(endpoint, how, **more)
    assert not endpoint.sent


def test_one_that_remembers_nothing_has_no_forks(endpoint: Remembering) -> None:
    system = Http(name="agent", url=endpoint.service.url)
    with pytest.raises(StudyError, match="is for an endpoint that remembers"):
        converse(lambda: system, [CASE], ConversationPart(probe_in="twin"), seed=1, log=Unrecorded())


@pytest.mark.parametrize(
    "given",
    [
        *({}, "body:a", {"send": "cookie:a"}, {"send": "body:messages"}, {"send": "header:Authorization"}),
        *({"send": "body:a", "x": 1}, {"send": "body:a", "history": "no"}, {"send": "header:X\r\nY"}),
    ],
)
def test_a_session_of_another_form_is_refused(given: Any) -> None:
    with pytest.raises(InputError):
        Sessions.of(given, where="system 'a'")


def test_a_session_may_go_into_a_header() -> None:
    made = Sessions.of({"send": "header:X-Session", "fork": "body:of"})
    assert made is not None and made.put({"a": 1}, "s", "t") == ({"a": 1, "of": "t"}, {"X-Session": "s"})


class Log:
    """Keeps what was answered, as a run directory does."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def known(self) -> dict[str, Any]:
        return dict(self.kept)

    def append(self, outputs: Any) -> None:
        self.kept.update(outputs)


def test_a_run_that_goes_on_keeps_its_sessions_and_asks_nothing_twice(endpoint: Remembering) -> None:
    system = Http(name="agent", url=endpoint.service.url, session={"send": "body:session"}, retries=0)
    settings, log = ConversationPart(arms=("live",), probe_in="twin", probe_turns=(3, 10)), Log()
    first = converse(lambda: system, [CASE], settings, seed=1, log=log)
    asked = len(endpoint.sent)
    assert first == converse(lambda: system, [CASE], settings, seed=1, log=log)
    assert first == converse(lambda: system, [CASE], settings, seed=1, log=log, ask=False)
    assert len(endpoint.sent) == asked == 6 + 1 + 3
