"""Does Workup answer whatever is put in? 10,000 whole files of eight kinds, each made wrong in some way.

`python -m sims.mutated_inputs replay KIND NUMBER` makes one of them again, keeps it, and shows what was said.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from sims.mutated_calls import MODULES, Ended, call, import_all
from sims.mutated_damage import damage
from sims.mutated_seeds import KINDS, Scenario
from sims.repetitions import Result, Size

__all__ = ["MADE_BY", "NAME", "QUESTION", "SEED", "SIZE", "TESTED", "run", "summarise"]

NAME = "mutated_inputs"
QUESTION = (
    "Is each of 10,000 inputs that were made wrong, 1,250 of each of eight kinds, accepted, judged or refused with one "
    "message: no traceback, no signal, no text of a patient, no more than 60 s and 2 GB?"
)
SEED = 20261115
SIZE = Size(repetitions=10_000, replicates=0)
TESTED = [
    *(
        "errors.py",
        "gates.py",
        "plugins.py",
        "preflight.py",
        "report.py",
        "report_schema.py",
        "settings.py",
        "study.py",
    ),
    "cli/__init__.py",
    "corpora/formats/",
    "documents/",
    "files/",
    "packs/",
    "runs/",
    "systems/libraries.py",
    "systems/pinned.py",
    "systems/risk/",
    "systems/settings.py",
    "tasks/conversation/cases/",
    "tasks/conversation/talk/transcripts.py",
    "tasks/conversation/read/content/plans.py",
    "tasks/conversation/read/content/ratings.py",
    "tasks/times.py",
]
MADE_BY = ["repetitions.py", "mutated_inputs.py", "mutated_seeds.py", "mutated_damage.py", "mutated_calls.py"]
CHUNK = 25  # inputs per task of the pool; the size decides nothing
ANSWERED = ("accepted", "verdict", "refused")
ESCAPES = ("traceback", "fault", "killed", "exit code", "secret", "steers", "silent", "hung", "over memory", "not made")
Progress = Callable[[str], None]


# ---- one input -------------------------------------------------------------------------------------------------------


def chosen(kind: str, number: int, held: Sequence[Scenario]) -> tuple[Scenario, Random]:
    """Which scenario an input belongs to, and the generator that makes it wrong: both by its number alone."""
    return held[number % len(held)], Random(f"{SEED}/{kind}/{number}")


def made_wrong(scenario: Scenario, rng: Random, folder: Path) -> str:
    """Damage one file, sometimes two, of a folder that holds the scenario's whole files; says which."""
    names = [rng.choice(scenario.files)] + ([rng.choice(scenario.files)] if rng.random() < 0.1 else [])
    for name in names:
        path = folder / name
        others = [other for other in sorted(folder.rglob("*")) if other.is_file() and other != path]
        if path.is_file():
            damage(path, rng, scenario.way, others=others)
    return " and ".join(names)


def put_in(scenario: Scenario, place: Path, rng: Random | None) -> Ended:
    """The files of a scenario, made wrong by the generator or left whole, put into `workup` at a place of their own."""
    folder = place / "work"
    shutil.copytree(scenario.folder, folder)

    def prepare() -> None:
        if rng is not None:
            made_wrong(scenario, rng, folder)

    return call(folder, scenario.words, prepare=prepare, judges=scenario.judges, prints_text=scenario.prints_text)


# ---- all of them -----------------------------------------------------------------------------------------------------

Task = tuple[str, tuple[Scenario, ...], int, int]
Found = tuple[str, list[tuple[int, str, str, str]]]
_ready: set[str] = set()  # kinds that this process is ready to be forked for
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "ARROW_NUM_THREADS")


def seeded(kind: str, folder: Path) -> tuple[Scenario, ...]:
    """The whole files of a kind, made in a folder, and the commands that read them."""
    return tuple(KINDS[kind](folder / kind))


def make_ready(kind: str, held: Sequence[Scenario]) -> None:
    """See that whole files are accepted, and bring into this process all that reading them needs."""
    if kind in _ready:
        return
    every = list(dict.fromkeys(held))
    for scenario in every:
        if scenario.warm:
            _run_here(scenario)
    for scenario in every:
        with tempfile.TemporaryDirectory() as place:
            ended = put_in(scenario, Path(place), None)
            if ended.outcome not in ("accepted", "verdict"):
                why = f"{ended.outcome}: {ended.said}"
                raise RuntimeError(f"{kind}, {scenario.name}: whole files were not accepted: {why}")
            import_all((Path(place) / MODULES).read_text().split())
    gc.freeze()
    _ready.add(kind)


def _run_here(scenario: Scenario) -> None:
    """Once in this process, so that tables that are read once are read before the fork."""
    from workup.cli import main

    kept = sys.argv, os.getcwd(), list(sys.path)
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(scenario.folder, Path(place) / "work")
        os.chdir(Path(place) / "work")
        sys.argv = ["workup", *scenario.words]
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                main()
        except SystemExit:
            pass
        finally:
            os.chdir(kept[1])
            sys.argv, sys.path[:] = kept[0], kept[2]
            sys.modules.pop("model", None)


def _numbers(task: Task) -> Found:
    kind, held, first, last = task
    make_ready(kind, held)
    found = []
    for number in range(first, last):
        scenario, rng = chosen(kind, number, held)
        with tempfile.TemporaryDirectory() as place:
            ended = put_in(scenario, Path(place), rng)
        found.append((number, scenario.name, ended.outcome, ended.said if ended.escaped else ""))
    return kind, found


def run(
    *,
    size: Size = SIZE,
    only: Callable[[str], bool] = lambda kind: True,
    workers: int = 1,
    progress: Progress = lambda line: None,
) -> list[Result]:
    """Every kind, as many inputs of each. The number of workers changes nothing but the time."""
    kinds = [kind for kind in KINDS if only(kind)]
    each = size.repetitions // len(KINDS)
    tallies: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    escapes: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as folder, _apart(Path(folder)):
        with _pool(workers) as makers:  # apart from those that are forked, since making files starts threads
            held = dict(zip(kinds, makers.map(seeded, kinds, [Path(folder)] * len(kinds)), strict=True))
        tasks = [
            (kind, held[kind], first, min(first + CHUNK, each)) for kind in kinds for first in range(0, each, CHUNK)
        ]
        with _pool(workers) as pool:
            for done, future in enumerate(as_completed([pool.submit(_numbers, task) for task in tasks]), start=1):
                kind, found = future.result()
                for number, scenario, outcome, said in found:
                    tallies[kind][outcome] += 1
                    if outcome not in ANSWERED:
                        escapes[kind].append({"input": number, "of": scenario, "why": outcome})
                        progress(f"{NAME} {kind} {number} ({scenario}): {outcome}: {said[:400]}")
                if done % 10 == 0 or done == len(tasks):
                    progress(f"{NAME} {sum(map(Counter.total, tallies.values())):,} of {each * len(kinds):,} inputs")
    return [_result(kind, tallies[kind], sorted(escapes[kind], key=lambda one: one["input"])) for kind in kinds]


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


@contextlib.contextmanager
def _apart(folder: Path) -> Iterator[None]:
    """Workers start with one thread each, since one at work would be missing after a fork, and touch no one's home."""
    kept = dict(os.environ)
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1") | {"XDG_STATE_HOME": str(folder / "state")})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _result(kind: str, tally: Counter[str], escapes: Sequence[dict[str, Any]]) -> Result:
    total = sum(tally.values())
    answered = sum(tally[name] for name in ANSWERED)
    rate = answered / total if total else None
    return {
        "cell": kind,
        "metric": "inputs that are answered",
        "inputs": total,
        **{name: tally[name] for name in (*ANSWERED, *ESCAPES)},
        "escapes": list(escapes),
        "rate": rate,
        "band": [1, 1],
        "ok": rate == 1,
    }


def summarise(results: Sequence[Result]) -> list[Result]:
    """All kinds together."""
    sums = {name: sum(one[name] for one in results) for name in ("inputs", *ANSWERED, *ESCAPES)}
    return [{"cell": "all kinds", "metric": "inputs that are answered", **sums, "ok": None}]


# ---- one of them again -----------------------------------------------------------------------------------------------


def replay(kind: str, number: int, place: Path) -> int:
    """Make one input again at a place, put it in, and show what was done and said."""
    with _apart(place):
        held = seeded(kind, place / "whole")
        scenario, rng = chosen(kind, number, held)
        (place / "input").mkdir()
        ended = put_in(scenario, place / "input", rng)
    print(f"{kind} {number}: {scenario.name}")
    print(f"files    {place / 'input' / 'work'} (whole ones in {scenario.folder})")
    print(f"command  workup {' '.join(scenario.words)}")
    print(f"ended    {ended.outcome} after {ended.seconds:.1f} s with {ended.memory / 1e6:,.0f} MB")
    for name in ("stdout", "stderr"):
        said = (place / "input" / name).read_bytes().decode("utf-8", "backslashreplace")
        print(f"{name}:\n{said[-6000:]}")
    return 1 if ended.escaped else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 where the input escapes."""
    parser = argparse.ArgumentParser(prog="python -m sims.mutated_inputs", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    again = commands.add_parser("replay", help="make one input again and show what is said of it")
    again.add_argument("kind", choices=list(KINDS))
    again.add_argument("number", type=int)
    again.add_argument("--keep", type=Path, help="new folder for its files; one that is made when absent")
    given = parser.parse_args(arguments)
    place = given.keep or Path(tempfile.mkdtemp(prefix="workup-"))
    place.mkdir(parents=True, exist_ok=True)
    return replay(given.kind, given.number, place.resolve())


if __name__ == "__main__":
    sys.exit(main())
