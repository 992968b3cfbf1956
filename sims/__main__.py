"""python -m sims [NAME …]: run simulations at full size and keep what they found; --verify: is that still true?"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from types import ModuleType

from sims import evidence, repetitions

NAMES = (
    "coverage",
    "time_to_event",
    "updating",
    "corpora",
    "conversation",
    "conversation_program",
    "proportions",
    "clustered_edges",
    "prediction_powered",
    "small_samples",
    "decision_curves",
    "overall_fit",
    "case_mix",
    "fairness",
    "power",
    "meta_analysis",
    "run_lengths",
    "drift",
    "drift_planted",
    "review",
    "span_comparisons",
    "spans_coverage",
    "episodes",
    "mutated_inputs",
    "monitor",
)
FOLDER = evidence.ROOT / "evidence"


def simulations(names: Sequence[str]) -> list[ModuleType]:
    """The simulations of these names, all when none is named."""
    return [import_module(f"sims.{name}") for name in names or NAMES]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 when every judged cell lies in its band (and, with --verify, the evidence is that of this code)."""
    parser = argparse.ArgumentParser(prog="python -m sims", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; all when left out")
    parser.add_argument("--verify", action="store_true", help="check the kept evidence instead of running")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes; changes only the time")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.names) - set(NAMES))
    if unknown:
        parser.error(f"unknown simulation {', '.join(unknown)}; expected one of {', '.join(NAMES)}")
    return _verify(given.names) if given.verify else _run(given.names, given.workers)


def _verify(names: Sequence[str]) -> int:
    found = [line for simulation in simulations(names) for line in evidence.complaints(simulation, folder=FOLDER)]
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print("evidence: made by this code, every judged cell in its band")
    return 1 if found else 0


def _run(names: Sequence[str], workers: int) -> int:
    all_well = True
    for simulation in simulations(names):
        before = evidence.fingerprints(simulation)
        size = getattr(simulation, "SIZE", repetitions.FULL)  # where a repetition is a whole year, fewer of them
        # One that counts other things than intervals that cover runs itself.
        run = getattr(simulation, "run", partial(repetitions.run, simulation))
        results = run(size=size, workers=workers, progress=lambda line: print(line, flush=True))
        finding = evidence.record(simulation, size, results)
        if finding["tested"] != before:
            print(f"{simulation.NAME}: the tested code changed meanwhile; nothing kept, run it again", file=sys.stderr)
            all_well = False
            continue
        path = evidence.write(finding, folder=FOLDER)
        state = {True: "every judged cell in its band", False: "SOME CELLS OUTSIDE THEIR BAND", None: "nothing judged"}
        print(f"{simulation.NAME}: {state[finding['ok']]}; kept in {path.relative_to(evidence.ROOT)}", flush=True)
        all_well = all_well and finding["ok"] is not False
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())
