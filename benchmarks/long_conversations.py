"""How long it takes to read and score long conversations: 30 cases of 50 turns, 20 facts, probed every 5 turns.

From a file of transcripts to the whole record, in a process of its own: `python -m benchmarks.long_conversations`. The
targets are those of the definition: 60 seconds on two cores, and less than 1 GB at the peak.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

CASES, TURNS, EVERY = 30, 50, 5
SECONDS, MEGABYTES = 60.0, 1000.0
DRUGS = (
    "warfarin metformin lisinopril sertraline omeprazole atorvastatin furosemide levothyroxine gabapentin amlodipine"
)
ILLNESSES = "asthma gout psoriasis migraine glaucoma epilepsy anaemia osteoporosis hypothyroidism endometriosis"


def cases() -> list[dict[str, Any]]:
    """Cases of ten drugs with doses and ten illnesses, told over the first turns."""
    told = [(drug, "medication", f"I take {drug} {10 + place} mg.") for place, drug in enumerate(DRUGS.split())]
    told += [(name, "diagnosis", f"I have {name}.") for name in ILLNESSES.split()]
    facts = []
    for place, (name, type, _) in enumerate(told):
        dose = {"attributes": {"dose_value": 10 + place, "dose_unit": "mg"}} if type == "medication" else {}
        facts.append({"id": f"f{place}", "type": type, "concept": name, "introduced": place % 10 + 1, **dose})
    found = []
    for number in range(CASES):
        turns = []
        for turn in range(1, TURNS + 1):
            said = [words for place, (_, _, words) in enumerate(told) if place % 10 + 1 == turn]
            turns.append({"turn": turn, "message": " ".join([*said, f"How shall I plan week {turn} of {number}?"])})
        found.append({"id": f"c{number}", "patient_summary": "", "facts": facts, "turns": turns})
    return found


def main() -> None:
    """Write, score, and say how long it took."""
    from workup.score import score_conversation
    from workup.tasks.conversation.cases.case import case_of
    from workup.tasks.conversation.scripted import behaviour, transcripts

    with tempfile.TemporaryDirectory() as folder:
        made = cases()
        (Path(folder) / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in made))
        held = [case_of(case, where=case["id"]) for case in made]
        with (Path(folder) / "said.jsonl").open("w") as file:
            for line in transcripts(behaviour("forgetful"), held, ["live", "oracle"], probe="summary"):
                if line["turn"] % EVERY:
                    line.pop("probe")
                    if line["arm"] == "oracle":
                        continue
                file.write(json.dumps(line) + "\n")
        started, spent = time.perf_counter(), time.process_time()
        report = score_conversation(Path(folder) / "cases.jsonl", Path(folder) / "said.jsonl")
        taken, spent = time.perf_counter() - started, time.process_time() - spent
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    recall = report.estimate("recall_at_10", set="critical", arm="live").value
    print(f"{CASES} cases of {TURNS} turns: {taken:.1f} s ({spent:.1f} s of CPU), {peak:.0f} MB at the peak")
    print(
        f"target {SECONDS:.0f} s and {MEGABYTES:.0f} MB: {'met' if taken <= SECONDS and peak < MEGABYTES else 'MISSED'}"
    )
    print(f"recall at turn 10: {recall:.3f}; record of {len(report.to_json()) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
