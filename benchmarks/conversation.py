"""How long scoring 1,000 recorded conversations takes: 20 turns of 10 facts each, from transcripts to Scores.

The replies are those of a scripted model that forgets, so each names facts, values and advice. Both ways to read them
run in one go, each in a process of its own with one thread: the matcher of this project, and the published fuzzy rule
(substrings, word overlap, five tokens looked at for a negation) as the peer. Everything beside the reading is the same
on both sides, so that their difference is the price of context. Times are CPU seconds, start-up left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

CONVERSATIONS = 1_000
TURNS = 20
TARGET = 30.0  # CPU seconds
MATCHERS = ("context", "published")


def cases(count: int) -> list[Any]:
    """Cases of ten facts each, all of them active through twenty turns."""
    from workup.tasks.conversation.cases.case import ConversationCase, Turn
    from workup.tasks.conversation.cases.facts import Fact

    doses = {"warfarin": 5, "metformin": 500, "lisinopril": 10, "sertraline": 50}
    facts = [
        Fact("penicillin", "allergy", "penicillin", harm_tag="avoid_class:penicillins"),
        *(
            Fact(drug, "medication", drug, attributes={"dose_value": dose, "dose_unit": "mg"})
            for drug, dose in doses.items()
        ),
        Fact("asthma", "diagnosis", "asthma"),
        Fact("chest_pain", "symptom", "chest pain", status="absent"),
        Fact("stroke", "diagnosis", "stroke", status="historical"),
        Fact("breast_cancer", "diagnosis", "breast cancer", status="family"),
        Fact("knee", "symptom", "knee pain", attributes={"laterality": "left"}),
    ]
    taken = ", ".join(f"{drug} {dose} mg" for drug, dose in doses.items())
    opening = (
        f"I take {taken}. I am allergic to penicillin. I have asthma and left knee pain, no chest pain. I had a "
        "stroke. There is a family history of breast cancer. Talk {}."
    )
    found = []
    for number in range(count):
        later = (Turn(turn, f"How shall I plan week {turn} after talk {number}?") for turn in range(2, TURNS + 1))
        turns = (Turn(1, opening.format(number)), *later)
        found.append(ConversationCase(f"talk-{number:05d}", "", turns, tuple(facts)))
    return found


def scored(matcher: str, count: int) -> dict[str, Any]:
    """Transcripts written, then scored; only the scoring is timed."""
    from workup.study import Study
    from workup.tasks.conversation.scripted import Behaviour, transcripts
    from workup.tasks.conversation.task import ConversationTask, GivenTranscripts

    planted = Behaviour("forgetful", recall=0.98, slope=-0.02, reversal=0.02, wrong_value=0.1, noise=True)
    study = Study.of({"name": "benchmark", "task": "conversation", "conversation": {"matcher": matcher}})
    task = ConversationTask()
    warm = cases(2)
    corpus = task.read(study, warm)
    task.scores(corpus, GivenTranscripts(transcripts(planted, warm, ("live",))).of(corpus))
    made = cases(count)
    lines = transcripts(planted, made, ("live",))
    begun = time.process_time()
    corpus = task.read(study, made)
    scores = task.scores(corpus, GivenTranscripts(lines).of(corpus))
    seconds = time.process_time() - begun
    begun = time.process_time()
    metrics = task.metrics(scores, study)
    from workup.estimate import Draws, estimate

    estimates = estimate(scores, metrics, draws=Draws())
    recall = next(m for m in metrics if m.name == "recall" and dict(m.at) == {"set": "critical", "arm": "live"})
    return {
        "cpu": seconds,
        "estimates": len(estimates),
        "estimating": time.process_time() - begun,
        "replies": len(lines),
        "recall": recall.value(scores),
    }


def in_child(matcher: str, count: int) -> dict[str, Any]:
    """One side in a fresh process with one thread."""
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, __file__, "--matcher", matcher, "--conversations", str(count)]
    done = subprocess.run(command, env={**os.environ, **single}, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(count: int) -> bool:
    """Print both sides; True when the target is met."""
    sides = {matcher: in_child(matcher, count) for matcher in MATCHERS}
    mine, peer = sides["context"], sides["published"]
    print(f"{count:,} conversations of {TURNS} turns and 10 facts, {mine['replies']:,} replies; 1 thread each")
    for name, side in (("workup", mine), ("published rule", peer)):
        print(
            f"  {name:15s}{side['cpu']:8.2f} s CPU to score ({side['replies'] / side['cpu']:,.0f} replies a second), "
            f"{side['estimating']:.2f} s for {side['estimates']:,} estimates; recall {side['recall']:.4f}"
        )
    print(f"  published rule / workup: {peer['cpu'] / mine['cpu']:.2f} of the time")
    limit = TARGET * count / CONVERSATIONS
    met = mine["cpu"] <= limit
    print(
        f"  -> seconds to score: {mine['cpu']:.1f} (target at most {limit:g}: {'met' if met else 'NOT MET'})",
        flush=True,
    )
    return met


def main() -> int:
    """Exit code 1 when the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=CONVERSATIONS, help="conversations to score")
    parser.add_argument("--matcher", choices=MATCHERS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.matcher is not None:
        print(json.dumps(scored(given.matcher, given.conversations)))
        return 0
    return 0 if compare(given.conversations) else 1


if __name__ == "__main__":
    sys.exit(main())
