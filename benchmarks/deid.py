"""How many notes a second the native de-identifier reads on one core, with its tagger and by its rules alone, against
Presidio on the same notes, in one run.

Notes are generated from a fixed seed and cut to 1,500 characters. Each side runs in a process of its own, so that its
peak of memory is its own too, and every repeat reads notes that it has not met before, so that what is remembered of
words is worth what it is worth in use; times are CPU seconds, the least of the repeats. A third part feeds hostile
texts of growing length, up to a million characters, and shows how the time grows: linear work doubles when the text
does.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

SEED = 20261115
LENGTH = 1_500
SIDES: dict[str, tuple[str, dict[str, str]]] = {
    "rules": ("native", {"tagger": "off"}),
    "rules + tagger": ("native", {"tagger": "on"}),
    "presidio": ("presidio", {}),
}
RATIOS = {"rules": 20.0, "rules + tagger": 2.0}  # times Presidio
MEGABYTES = {"rules": 500.0, "rules + tagger": 700.0}
GROWTH = 3.0
LENGTHS = (125_000, 250_000, 500_000, 1_000_000)
HOSTILE: dict[str, Callable[[int], str]] = {
    "one letter": lambda n: "a" * n,
    "capitals": lambda n: "A " * (n // 2),
    "digits": lambda n: "1" * n,
    "digits and dashes": lambda n: "1-" * (n // 2),
    "strokes": lambda n: "1/" * (n // 2),
    "open brackets": lambda n: "(" * n,
    "blanks": lambda n: " " * n,
    "lines": lambda n: "\n" * n,
    "dots and at signs": lambda n: "a@a." * (n // 4),
    "labels": lambda n: "MRN: " * (n // 5),
    "one name": lambda n: "John Smith, " * (n // 12),
    "many names": lambda n: "".join(
        f"Dr. Jon{chr(97 + i % 26)}a Smi{chr(97 + i // 26 % 26)}th, " for i in range(n // 17)
    ),
    "street after street": lambda n: "12 Elm St " * (n // 10),
    "nearly an e-mail": lambda n: ("a." * 30 + "@ ") * (n // 62),
    "nearly a URL": lambda n: "http://a/a" * (n // 10),
    "slips of the pen": lambda n: "Nexy ov kin: A.4. Lomg, seem by Msq. Leg at 12 Elm n. on Mqy 3 2O21. " * (n // 68),
}


def notes(count: int, *, seed: int = SEED) -> list[str]:
    """Generated notes of the length asked for, one after another until each is full."""
    from workup.corpora.generate.notes import generate

    texts, text = [], ""
    for document in generate(3 * count, seed=seed).documents():
        text = f"{text}\n\n{document.text}" if text else document.text
        if len(text) >= LENGTH:
            texts.append(text[:LENGTH])
            text = ""
        if len(texts) == count:
            break
    return texts


def side(name: str, count: int, repeats: int) -> dict[str, float]:
    """One detector in this process: notes a CPU second, and the peak of memory."""
    from workup import plugins

    batches = [notes(count, seed=SEED + batch) for batch in range(repeats + 1)]
    system, settings = SIDES[name]
    detector = plugins.find("systems", system)(name=name, base=Path(), **settings)
    detector.detect(batches.pop())  # gazetteers and pipelines are read, common words are met
    best, spans = float("inf"), 0
    for texts in batches:
        begun = time.process_time()
        spans += sum(len(found or ()) for found in detector.detect(texts))
        best = min(best, time.process_time() - begun)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"rate": count / best, "megabytes": peak, "spans": spans / count / repeats, "notes": count * repeats}


def hostile() -> dict[str, list[float]]:
    """CPU seconds for each hostile text at each length."""
    from workup.deid import Deidentifier

    deid = Deidentifier.load(tagger="off")
    deid.detect(["warm"])
    found: dict[str, list[float]] = {}
    for name, make in HOSTILE.items():
        for length in LENGTHS:
            begun = time.process_time()
            deid.detect([make(length)])
            found.setdefault(name, []).append(time.process_time() - begun)
    return found


def in_child(*arguments: str) -> dict[str, float]:
    """A part in a process of its own, on one core."""
    command = [sys.executable, __file__, *arguments]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True, text=True)
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--notes", type=int, default=300, help="notes for the rules")
    parser.add_argument(
        "--slow-notes", type=int, default=40, help="notes for the tagger and Presidio, the first of the same"
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3, help="how often both sides take their turn")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.side == "hostile":
        print(json.dumps(hostile()))
        return
    if asked.side:
        print(json.dumps(side(asked.side, asked.notes, asked.repeats)))
        return
    sides: dict[str, dict[str, float]] = {}
    names = [name for name in SIDES if name != "rules + tagger" or _has_tagger()]
    for _ in range(asked.rounds):  # in turn, so that a slow minute of the machine is not one side's alone
        for name in names:
            count = asked.notes if name == "rules" else asked.slow_notes
            one = in_child("--side", name, "--notes", str(count), "--repeats", str(asked.repeats))
            sides[name] = max(sides.get(name, one), one, key=lambda side: side["rate"])
    for name, one in sides.items():
        print(
            f"{name:14s} {one['rate']:8.1f} notes of {LENGTH:,} characters a CPU second, "
            f"{one['spans']:.1f} spans a note, peak {one['megabytes']:.0f} MB ({one['notes']:.0f} notes)"
        )
    for name in (name for name in RATIOS if name in sides):
        ratio, small = sides[name]["rate"] / sides["presidio"]["rate"], sides[name]["megabytes"]
        print(
            f"-> {name}: {ratio:.1f} times Presidio (target at least {RATIOS[name]:g}: {_met(ratio >= RATIOS[name])})"
        )
        print(f"-> {name}: {small:.0f} MB (target at most {MEGABYTES[name]:g}: {_met(small <= MEGABYTES[name])})")
    if "rules + tagger" not in sides:
        print("-> the tagger cannot be run here: its extra or its model is missing")
    lengths = ", ".join(f"{length:,}" for length in LENGTHS)
    print(f"hostile texts of {lengths} characters, CPU seconds; linear work doubles from one to the next")
    worst = 0.0
    for name, seconds in in_child("--side", "hostile").items():
        growth = seconds[-1] / max(seconds[-2], 0.02)
        worst = max(worst, growth)
        print(f"  {name:22s} {'  '.join(f'{one:7.2f}' for one in seconds)}   last step x {growth:.2f}")
    print(
        f"-> largest growth from half a million to a million x {worst:.2f} (target at most {GROWTH:g}: "
        f"{_met(worst <= GROWTH)})"
    )


def _has_tagger() -> bool:
    from workup.deid import Deidentifier

    with warnings.catch_warnings():  # where it cannot be run, that is told at the end
        warnings.simplefilter("ignore")
        return Deidentifier.load().tagged


def _met(yes: bool) -> str:
    return "met" if yes else "missed"


if __name__ == "__main__":
    main()
