"""Small conversations for the page of transcripts: a plain one with one of everything, and one that attacks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from workup.reports.conversation.transcripts import page
from workup.tasks.conversation.cases.case import case_of
from workup.tasks.conversation.judges.asking import Answers, Judgements
from workup.tasks.conversation.labels import Draw, Drawn, Unit
from workup.tasks.conversation.scripted.scored import Scored
from workup.tasks.conversation.viewed import ConversationSeen, viewed

CASE: dict[str, Any] = {
    "id": "c1",
    "patient_summary": "A gardener.",
    "facts": [
        {
            "id": "pcn",
            "type": "allergy",
            "concept": "penicillin",
            "introduced": 1,
            "harm_tag": "avoid_class:penicillins",
        },
        {
            "id": "war",
            "type": "medication",
            "concept": "warfarin",
            "introduced": 1,
            "retired": 3,
            "attributes": {"dose_value": 5, "dose_unit": "mg"},
        },
        {"id": "gout", "type": "diagnosis", "concept": "gout", "introduced": 2},
    ],
    "turns": [
        {"turn": 1, "message": "The roses bloom. I am allergic to penicillin. I take warfarin 5 mg."},
        {"turn": 2, "message": "I have gout."},
        {"turn": 3, "message": "Warfarin was stopped."},
    ],
}
SAID: list[dict[str, Any]] = [
    {
        "case": "c1",
        "turn": 1,
        "reply": "Good day. Please keep taking ibuprofen for the pain.",
        "probe": {"kind": "summary", "reply": "Allergic to penicillin. Takes warfarin 5 mg."},
    },
    {
        "case": "c1",
        "turn": 2,
        "reply": "I see. Start amoxicillin today.",
        "probe": {"kind": "summary", "reply": "Takes warfarin 50 mg. Has gout."},
    },
    {
        "case": "c1",
        "turn": 3,
        "reply": "As you like. Stop ibuprofen.",
        "probe": {"kind": "summary", "reply": "No allergy to penicillin. Still takes warfarin 5 mg. Has gout."},
    },
]
PAIR = Unit("c1", 0, "live", 3, None, "1.1-3.1")
JUDGED = Judgements(
    facts={
        Unit("c1", 0, "live", 2, "gout"): Answers(("correct", "correct", "omitted")),
        Unit("c1", 0, "live", 2, "pcn"): Answers(("correct", "correct", "correct")),
        Unit("c1", 0, "live", 3, "pcn"): Answers(("correct", "omitted", None)),  # no majority
    },
    pairs={PAIR: Answers(("unrelated",) * 3)},
    k=3,
)
DRAWN = Draw({Unit("c1", 0, "live", 2, "gout"): Drawn("correct", 0.5, "0" * 16)}, "rules", 1)


def talks(
    ledger: Sequence[Mapping[str, Any]] = (CASE,), said: Sequence[Mapping[str, Any]] = SAID, **asked: Any
) -> list[ConversationSeen]:
    scores = Scored([case_of(one, where="case") for one in ledger], said).scores
    judged = asked.pop("judged", None)
    if judged is not None:
        scores = replace(scores, transcripts=replace(scores.transcripts, judged=judged))
    return list(viewed(scores, **asked))


def made(**asked: Any) -> str:
    """The page of the plain conversation."""
    given = {"study": "garden", "system": "model", **asked}
    draw, judged = given.pop("drawn", None), given.pop("judged", None)
    return page(talks(draw=draw, judged=judged), draw="" if draw is None else draw.id, **given)


# What a message, a reply, a name or an id could hold to act in a page: markup, handlers, addresses, styles, ways out of
# the element that holds it, templates, other encodings, and characters that steer.
PAYLOADS = (
    "<script>window.hit=1</script>",
    "</script><script>window.hit=1</script>",
    "</noscript><script>window.hit=1</script>",
    "</noscript><img src=x onerror=window.hit=1>",
    '<noscript><p title="</noscript><img src=x onerror=window.hit=1>">',
    "<img src=x onerror=window.hit=1>",
    "<svg onload=window.hit=1>",
    "<svg><script>window.hit=1</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.hit=1>",
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
    "<iframe src=javascript:parent.hit=1></iframe>",
    "<a href=javascript:window.hit=1 id=j>link</a>",
    "<form action=https://evil.example/><button id=a>Agree</button></form>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<base href=https://evil.example/>",
    "<link rel=stylesheet href=https://evil.example/a.css>",
    "<style>@import url(https://evil.example/a.css); body{display:none}</style>",
    "</style><script>window.hit=1</script>",
    "<details open ontoggle=window.hit=1><summary>x</summary></details>",
    "<input autofocus onfocus=window.hit=1>",
    '" onmouseover=window.hit=1 x="',
    "' onfocus='window.hit=1' tabindex='0",
    "<!--><script>window.hit=1</script>-->",
    "<![CDATA[<script>window.hit=1</script>]]>",
    "{{ 7*7 }}{% raw %}${window.hit=1}",
    "&lt;script&gt;window.hit=1&lt;/script&gt;&#60;img src=x onerror=window.hit=1&#62;",
    "\u202eevil\u2066\u200f\x1b[31m\x00\x85\u2028<b>x</b>",
    "javascript:window.hit=1//%0a../../#c1/0/live/1/pcn|0.0.0.sd",
)


def hostile_case(payload: str, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A case and a line with one payload wherever a file decides the words."""
    id = f"{number}{payload}"
    case = {
        "id": id,
        "patient_summary": payload,
        "facts": [
            {"id": payload, "type": "diagnosis", "concept": f"gout {payload}", "aliases": ["gout"], "introduced": 1},
            {
                "id": "m",
                "type": "medication",
                "concept": "warfarin",
                "introduced": 1,
                "attributes": {"frequency": payload},
            },
        ],
        "turns": [{"turn": 1, "message": f"I have gout {payload} and gout, and take warfarin."}],
    }
    said = {
        "case": id,
        "turn": 1,
        "reply": f"{payload}. You have gout {payload}. Take {payload}.",
        "probe": {"kind": "summary", "reply": f"{payload} Has gout {payload}."},
    }
    return case, said


def hostile_talks() -> list[ConversationSeen]:
    both = [hostile_case(payload, number) for number, payload in enumerate(PAYLOADS)]
    return talks([case for case, _ in both], [said for _, said in both])


def study(folder: Path, cases: Sequence[Mapping[str, Any]] = (CASE,), **conversation: Any) -> Path:
    """A study of recorded transcripts, ready to run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (folder / "said.jsonl").write_text("".join(json.dumps(line) + "\n" for line in SAID))
    content = {
        "name": "garden",
        "task": "conversation",
        "corpus": {"path": "cases.jsonl"},
        "systems": [{"name": "model", "use": "recorded", "with": {"path": "said.jsonl"}}],
        "conversation": conversation,
        "bootstrap": {"replicates": 200},
        "lenses": {"internal": {}},
        "report": {"formats": ["html"]},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return folder / "study.yaml"
