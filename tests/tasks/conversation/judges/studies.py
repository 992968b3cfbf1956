"""A study whose truth is known: cases, recorded replies, a judge on the loopback or in code, and labels of people."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support.loopback import Reply as Answer
from workup.report import Report, canonical
from workup.runs import RunDirectory
from workup.study import Study
from workup.task import Budget
from workup.tasks.conversation.judges.study import draw_of
from workup.tasks.conversation.labels import Draw, Unit
from workup.validate import checked, scored, validate  # type: ignore[attr-defined]

DRUGS = ("warfarin", "metformin", "lisinopril")
SAYS = {"correct": "You take {it}.", "reversed": "You do not take {it}.", "omitted": "Of one thing I say nothing."}
CASES, TURNS = 24, 3


def chance(*names: Any) -> float:
    """A number in [0, 1) that depends on these names alone."""
    digest = hashlib.sha256("|".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def truth(case: str, turn: int, fact: str) -> str:
    """What a reply says of a fact: most are kept, some denied, some left out."""
    draw = chance("truth", case, turn, fact)
    return "reversed" if draw < 0.12 else "omitted" if draw < 0.25 else "correct"


def write_study(folder: Path, *, gates: tuple[str, ...] = (), **conversation: Any) -> Path:
    """Cases, transcripts and a study beside them."""
    facts = [{"id": drug, "type": "medication", "concept": drug} for drug in DRUGS]
    opening = f"I take {', '.join(DRUGS)}."
    cases = [
        {
            "id": f"c{number:02d}",
            "patient_summary": "",
            "facts": facts,
            "turns": [{"turn": t, "message": opening if t == 1 else "Go on."} for t in range(1, TURNS + 1)],
        }
        for number in range(CASES)
    ]
    lines = []
    for case in cases:
        for turn in range(1, TURNS + 1):
            parts = [SAYS[truth(case["id"], turn, drug)].format(it=drug) for drug in DRUGS]
            reply = f"Letter {case['id']} of day {turn}. " + " ".join(parts)
            lines.append(
                {"case": case["id"], "turn": turn, "reply": reply, "probe": {"kind": "summary", "reply": reply}}
            )
    (folder / "cases.jsonl").write_text("".join(json.dumps(one) + "\n" for one in cases))
    (folder / "said.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    study = {
        "name": "judged",
        "task": "conversation",
        "seed": 3,
        "corpus": {"path": "cases.jsonl"},
        "systems": [{"name": "model", "use": "recorded", "with": {"path": "said.jsonl"}}],
        "conversation": {"arms": ["live"], **conversation},
        "lenses": {"internal": {}},
        "gates": list(gates),
        "bootstrap": {"replicates": 200},
        "report": {"formats": ["json"]},
    }
    path = folder / "study.yaml"
    path.write_text(json.dumps(study))
    return path


def run(path: Path, place: str = "run", *, workers: int = 1, budget: Budget | None = None) -> Report:
    """The study run into a directory."""
    study = Study.load(path).model_copy(update={"workers": workers})
    with RunDirectory.open(path.parent / place) as directory:
        return validate(study, run=directory, budget=budget or Budget())


def draw(path: Path, place: str = "run", *, count: int = 120, pairs: int = 0) -> Draw:
    """A draw from the run, written beside the study."""
    study = Study.load(path)
    with RunDirectory.open(path.parent / place) as directory:
        found = draw_of(scored(study, checked(study), run=directory).scores, count=count, pairs=pairs)
    (path.parent / "draw.json").write_text(canonical(found.record()))
    return found


def label(
    path: Path,
    drawn: Draw,
    *,
    says: Callable[[Unit], str] | None = None,
    raters: tuple[str, ...] = ("a",),
    **change: Any,
) -> None:
    """Labels of every drawn unit, true unless `says` says otherwise, and the study that names them."""
    says = says or (lambda unit: truth(unit.case, unit.turn, unit.fact or ""))
    with (path.parent / "labelled.jsonl").open("w") as file:
        for unit in drawn.units:
            for rater in raters:
                line = {**unit.record(), "expected": says(unit), "rater": rater, "blind": True, "draw": drawn.id}
                file.write(json.dumps({**line, **change}) + "\n")
    study = json.loads(path.read_text())
    study["conversation"]["labelled"] = "labelled.jsonl"
    path.write_text(json.dumps(study))


def figures(report: Report, level: float = 0.90, *, reader: bool = True) -> dict[tuple[str, str], Any]:
    """Estimates of a second reader (or all others) by metric and slice."""
    return {
        (e.metric, json.dumps(dict(e.slice), sort_keys=True)): e
        for e in report.results["internal"].estimates
        if e.level == level and ("reader" in e.slice) == reader
    }


_FACT = re.compile(r"as it truly is: (.*)")
_PASSAGE = re.compile(r"==========\n(.*?)\n==========", re.DOTALL)


def reading(fact: str, passage: str) -> str:
    """What a perfect reader answers."""
    drug = next(name for name in DRUGS if name in fact)
    if f"do not take {drug}" in passage:
        return "reversed"
    return "correct" if drug in passage else "omitted"


class JudgeServer:
    """An OpenAI-like endpoint that reads as `reading` does and errs by chance, otherwise in each order of options."""

    def __init__(self, *, sensitivity: float = 0.97, specificity: float = 0.95, fingerprint: Any = "fp") -> None:
        self.sensitivity, self.specificity, self.fingerprint = sensitivity, specificity, fingerprint
        self.asked = 0
        self.dies_after: int | None = None

    def __call__(self, content: Mapping[str, Any]) -> Answer:
        self.asked += 1
        if self.dies_after is not None and self.asked > self.dies_after:
            return 500, {}, b"{}"
        prompt = content["messages"][-1]["content"]
        fact, passage = _FACT.search(prompt), _PASSAGE.search(prompt)
        assert fact is not None and passage is not None
        word = reading(fact[1], passage[1])
        keeps = self.sensitivity if word == "correct" else self.specificity
        if chance("judge", prompt, content.get("seed")) >= keeps:
            word = "omitted" if word == "correct" else "correct"
        named = self.fingerprint(self.asked) if callable(self.fingerprint) else self.fingerprint
        body = {
            "choices": [{"message": {"role": "assistant", "content": word}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 50, "completion_tokens": 1},
            "system_fingerprint": named,
        }
        return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()
