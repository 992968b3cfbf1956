"""The judges that a study may name: an OpenAI-compatible endpoint, a local NLI model, or code of the user's own.

Each is asked through one door, like a chat model, so that calls, failures and limits are one affair.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workup import plugins
from workup.errors import PluginError, StudyError, WorkupError, in_our_words, visible
from workup.tasks.conversation.judges.questions import Question, answer_of, plain_message, prompt_of
from workup.tasks.conversation.read.advice.judges import THRESHOLD, NliJudge, asked
from workup.tasks.conversation.settings import JudgePart
from workup.tasks.conversation.talk.memory import Message

ANSWER_TOKENS = 16  # one word; models that think first have tokens of their own for it (reasoning_tokens)
_NLI = "nli:"


class Judge(NamedTuple):
    """One judge: what is asked, and how a question is put to it."""

    system: Any
    put: Callable[[Question, int], list[Message]]
    repeats: bool = True  # may answer otherwise when asked again

    def answer(self, content: str | None, question: Question) -> str | None:
        """The word that it answered, or None."""
        return answer_of(content, question.words)


def judge_of(named: str | Mapping[str, Any], *, kind: str, seed: int, base: Path, send_text: bool) -> Judge:
    """The judge of facts or of advice (`kind`) that a study names."""
    where = f"conversation.judge.{kind}"
    if isinstance(named, Mapping):
        system = endpoint(named, where=where, base=base, send_text=send_text)
        return Judge(system, lambda question, run: prompt_of(question, seed=seed, run=run))
    if named.startswith(_NLI):
        folder = base / named.removeprefix(_NLI)
        return Judge(_Code(NliReader(folder), name=named), lambda question, run: plain_message(question), repeats=False)
    made = _Code(_made(named, kind=kind), name=named)
    return Judge(made, lambda question, run: plain_message(question))


def endpoint(settings: Mapping[str, Any], *, where: str, base: Path, send_text: bool) -> Any:
    """The chat model behind an address; one that is not this machine is sent text only where the study says so."""
    system = plugins.make("systems", "openai_chat", settings, where=where, context={"name": where, "base": base})
    if not send_text and not getattr(system, "loopback", False):
        raise StudyError(
            f"{where}: the judge is not on this machine, and replies would be sent to it. To fix: write 'send_text: "
            "true' under conversation.judge where they may be."
        )
    return system


def check_judges(part: JudgePart | None, *, base: Path) -> None:
    """Refuse endpoints whose settings are wrong, or that text may not be sent to, before anything is asked."""
    for kind in ("facts", "advice"):
        named = None if part is None else getattr(part, kind)
        if part is not None and isinstance(named, Mapping):
            endpoint(named, where=f"conversation.judge.{kind}", base=base, send_text=part.send_text)


class _Code:
    """Code that reads, behind the door of a chat model. Its answers are words, checked where they are read."""

    provider = "code"

    def __init__(self, reader: Any, *, name: str) -> None:
        self._reader, self.name = reader, name
        self.model = str(getattr(reader, "name", "") or name)
        self.version = str(getattr(reader, "version", ""))
        bears = getattr(reader, "concurrency", 1)
        if callable(getattr(reader, "cost", None)):
            self.cost = reader.cost
        self.concurrency = bears if isinstance(bears, int) and not isinstance(bears, bool) and bears > 0 else 1

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        """What the code answers to the texts of the one message; nothing where it cannot say."""
        given = json.loads(messages[-1]["content"])
        if "passage" in given:
            found = self._reader.read_fact(given["fact"], given["passage"])
        else:
            found = self._reader.read_pair(given["first"], given["second"], given["between"])
        return found if isinstance(found, str) else ""


class NliReader(NliJudge):
    """A local cross-encoder as a reader: what a passage entails is said, what it contradicts is reversed.

    It sees no reason for a change of advice, so it never answers that one is licensed.
    """

    @staticmethod
    def cost(prompt_tokens: int, completion_tokens: int) -> float:
        """Nothing: it is on this machine."""
        return 0.0

    def read_fact(self, fact: str, passage: str) -> str | None:
        """correct, reversed or omitted; None for a passage longer than it reads."""
        found = self.probabilities(passage, fact)
        if found is None:
            return None
        if found["contradiction"] >= THRESHOLD:
            return "reversed"
        return "correct" if found["entailment"] >= THRESHOLD else "omitted"

    def read_pair(self, first: str, second: str, between: str) -> str | None:
        """conflict or unrelated; None for sentences longer than it reads."""
        return contradicted(self, first, second)


def contradicted(judge: Any, first: str, second: str) -> str | None:
    """What a judge of contradictions makes of two sentences, asked in both orders."""
    answers = [asked(judge, first, second), asked(judge, second, first)]
    if any(one is None for one in answers):
        return None
    return "conflict" if max(one for one in answers if one is not None) >= THRESHOLD else "unrelated"


class _Contradictions:
    """The first version's form of a judge, `contradicts(premise, hypothesis)`, as a reader of pairs."""

    def __init__(self, judge: Any) -> None:
        self._judge = judge
        self.name = str(getattr(judge, "name", "") or type(judge).__name__)
        self.version = str(getattr(judge, "version", ""))

    def read_pair(self, first: str, second: str, between: str) -> str | None:
        """conflict or unrelated; None where it cannot say."""
        return contradicted(self._judge, first, second)


def contradiction_judge(named: Any) -> Any:
    """A judge of advice in the first version's form, with which the published rate is worked out; None for others."""
    if not isinstance(named, str) or named.startswith(_NLI):
        return None
    made = _object(named)
    return made if callable(getattr(made, "contradicts", None)) else None


def _made(named: str, *, kind: str) -> Any:
    made = _object(named)
    if kind == "advice" and not hasattr(made, "read_pair") and hasattr(made, "contradicts"):
        return _Contradictions(made)
    member = "read_fact" if kind == "facts" else "read_pair"
    if not callable(getattr(made, member, None)):
        raise PluginError(
            f"'{visible(named[:200])}' does not fit: a judge of {kind} has '{member}', and a {type(made).__name__} has "
            "not."
        )
    return made


def _object(named: str) -> Any:
    found = plugins.find("metrics", named)
    try:
        return found() if isinstance(found, type) else found
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # code of others, which raises what it pleases
        if isinstance(error, WorkupError) and in_our_words(error):
            raise
        raise PluginError(f"'{visible(named[:200])}' could not be made: it raised {type(error).__name__}.") from None
