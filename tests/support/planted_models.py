"""Chat models with one planted fault each, behind a real server on the loopback: what a hospital might be sold."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.loopback import Service
from workup.task import Reply
from workup.tasks.conversation.cases.case import ConversationCase, read_cases
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.scripted import Scripted, behaviour

Outcomes = Mapping[str, str]
# What becomes of one fact: the fact, the turn, what would be said of it, and whether a probe asks.
Fault = Callable[[Fact, int, str, bool], str]
FRENCH = "Le patient est suivi pour plusieurs maladies et il prend des médicaments que vous avez dans votre dossier."
REFUSAL = "I'm sorry, but I can't help with that."


def forgets_allergies(fact: Fact, turn: int, outcome: str, probing: bool) -> str:
    return "omitted" if fact.type == "allergy" and turn >= 6 and not fact.over(turn) else outcome


def denies_allergies(fact: Fact, turn: int, outcome: str, probing: bool) -> str:
    denied = fact.type == "allergy" and turn >= 5 and probing and not fact.over(turn)
    return "reversed" if denied else outcome


def flips_doses(fact: Fact, turn: int, outcome: str, probing: bool) -> str:
    dosed = fact.type == "medication" and "dose_value" in fact.attributes and fact.status == "present"
    return "wrong_value" if dosed and probing and outcome == "correct" else outcome


def keeps_all(fact: Fact, turn: int, outcome: str, probing: bool) -> str:
    return outcome


class Planted(Scripted):
    """A scripted model in which one kind of fact goes wrong, and which may say something more to the patient."""

    def __init__(
        self,
        cases: Sequence[ConversationCase],
        fault: Fault = keeps_all,
        *,
        conflicts: int = 0,
        more: Callable[[ConversationCase, int], str] | None = None,
    ) -> None:
        super().__init__(replace(behaviour("perfect"), conflicts=conflicts), cases)
        self._fault, self._more, self._now = fault, more, threading.local()
        exact = self.plan.outcomes
        facts = {case.id: {fact.id: fact for fact in case.facts} for case in cases}

        def outcomes(case: ConversationCase, arm: str, turn: int, *, draw: int = 0) -> dict[str, str]:
            self._now.at = case, arm, turn
            found = exact(case, arm, turn, draw=draw)
            if arm != "live":
                return found
            probing = self._now.probing
            return {id: self._fault(facts[case.id][id], turn, one, probing) for id, one in found.items()}

        self.plan.outcomes = outcomes  # type: ignore[method-assign, assignment]

    def reply(self, messages: Sequence[Mapping[str, str]], *, seed: int = 0) -> Reply:
        """As the script has it, with the fault."""
        self._now.probing = messages[-1]["content"].startswith("Before we go on")
        said = super().reply(messages, seed=seed)
        case, arm, turn = self._now.at
        if self._more is None or self._now.probing or arm != "live":
            return said
        return Reply(f"{said.content} {self._more(case, turn)}")


def careful_words(case: ConversationCase, turn: int) -> str:
    """A warning for every allergy, and an order to stay off every drug that was stopped."""
    allergies = [fact for fact in case.active(turn) if fact.type == "allergy" and fact.status == "present"]
    said = [f"Please do not take {name(fact)}, because you are allergic to it." for fact in allergies]
    active = {fact.concept for fact in case.active(turn)}
    said += [
        f"Please do not restart {name(fact)}."
        for fact in case.retired(turn)
        if fact.type == "medication" and fact.status == "present" and fact.concept not in active
    ]
    return " ".join(said)


def warning_words(case: ConversationCase, turn: int) -> str:
    """The same care in the words of a clinic: a drug that is unfit in a disease, an order to hold one until later."""
    said = [careful_words(case, turn)]
    allergies = [fact for fact in case.active(turn) if fact.type == "allergy" and fact.status == "present"]
    said += [f"{name(fact).capitalize()} is not a safe choice with your history." for fact in allergies]
    problems = [fact for fact in case.active(turn) if fact.type == "diagnosis" and fact.status == "present"]
    said += [f"Pseudoephedrine is not advisable in your {name(fact)}." for fact in problems[:2]]
    drugs = [fact for fact in case.active(turn) if fact.type == "medication" and fact.status == "present"]
    said += [f"Hold your {name(fact)} on the day of the operation." for fact in drugs[:1]]
    return " ".join(said)


def name(fact: Fact) -> str:
    return fact.concept.removesuffix(" allergy")


def answers(model: Scripted, words: str | None = None) -> Callable[[Any], tuple[int, dict[str, str], bytes]]:
    """What the server sends: the model's reply, or the same words to everything; cut where the limit is short."""

    def good(content: Any) -> tuple[int, dict[str, str], bytes]:
        text = words or model.reply(content["messages"], seed=content.get("seed") or 0).content or ""
        pieces = text.split(" ")
        most = int(content["max_tokens"])
        cut = len(pieces) > most
        message = {"role": "assistant", "content": " ".join(pieces[:most])}
        choice = {"message": message, "finish_reason": "length" if cut else "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": min(len(pieces), most)}
        body = {"model": "planted", "choices": [choice], "usage": usage}
        return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()

    return good


MODELS: dict[str, Callable[[Sequence[ConversationCase]], tuple[Scripted, str | None]]] = {
    "perfect": lambda cases: (Planted(cases), None),
    "careful": lambda cases: (Planted(cases, more=careful_words), None),
    "careful in clinic words": lambda cases: (Planted(cases, more=warning_words), None),
    "forgets allergies": lambda cases: (Planted(cases, forgets_allergies), None),
    "denies allergies": lambda cases: (Planted(cases, denies_allergies), None),
    "flips doses": lambda cases: (Planted(cases, flips_doses), None),
    "contradicts itself": lambda cases: (Planted(cases, conflicts=2), None),
    "refuses": lambda cases: (Planted(cases), REFUSAL),
    "cut off": lambda cases: (Planted(cases), None),
    "French": lambda cases: (Planted(cases), FRENCH),
}


def served(which: str, cases: Path) -> Service:
    """The model on a port of its own; close it after use."""
    model, words = MODELS[which](read_cases(cases))
    return Service(answers(model, words), path="/v1")


def study_of(
    folder: Path, url: str, *, arms: str = "[live, oracle, naive]", probe_tokens: int = 300, subgroups: bool = True
) -> Path:
    """The study of the folder, with the model behind this address in the place of the scripted one."""
    lines, skipping = [], False
    for line in (folder / "study.yaml").read_text().splitlines():
        if line.startswith("systems:"):
            skipping = True
            lines += ["systems:", "  - name: planted", "    use: openai_chat"]
            lines.append(
                f'    with: {{base_url: "{url}", model: planted, max_tokens: {4096 if probe_tokens > 20 else 20}}}'
            )
        elif skipping and (line.startswith(("  ", "#  ")) or not line.strip()):
            continue
        else:
            skipping = False
            line = line.replace("arms: [live, oracle, naive]", f"arms: {arms}")
            line = line.replace("probe_tokens: 300", f"probe_tokens: {probe_tokens}")
            line = line if subgroups else line.replace("  subgroups:", "#   subgroups:")
            lines.append(line)
    file = folder / f"planted-{abs(hash(url)) % 10**6}.yaml"
    file.write_text("\n".join(lines) + "\n")
    return file
