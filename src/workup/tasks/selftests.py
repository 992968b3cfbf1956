"""Self-tests of scorers: planted systems with known answers, how they are asked, and what a report says of them.

A report runs no self-test again that this very scorer has passed on this machine before: a pass is remembered by the
hash of the scorer's own files, a failure never."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from platform import python_version

from workup.runs.state import keep_note, kept_note

_SHELF = "selftests"
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Check:
    """One question put to the scorer, what a right scorer answers and what this one did."""

    name: str
    expected: str
    observed: str
    passed: bool
    detail: str = ""


def run_parts(parts: Mapping[str, Callable[[int], Iterable[Check]]], *, seed: int) -> list[Check]:
    """Every check of every part, in order. A scorer that raises fails the part and stops none of the others."""
    checks: list[Check] = []
    for name, part in parts.items():
        try:
            checks += [replace(check, name=f"{name}: {check.name}") for check in part(seed)]
        except Exception as error:
            checks.append(Check(name, "an answer", type(error).__name__, False, str(error)))
    return checks


@dataclass(frozen=True)
class Outcome:
    """How many checks there were, how many came out right, and how many planted systems were asked."""

    passed: int
    of: int
    systems: int

    @classmethod
    def of_checks(cls, checks: Iterable[Check]) -> Outcome:
        """Counted."""
        held = list(checks)
        return cls(sum(one.passed for one in held), len(held), len({one.name.partition(":")[0] for one in held}))


def outcome(run: Callable[[], Iterable[Check]], *, scorer: Iterable[str]) -> Outcome:
    """How a self-test ends: as remembered where the scorer's files, below the package, are those that passed it."""
    try:
        key = scorer_hash(scorer)
    except OSError:  # a package that is no folder of files
        return Outcome.of_checks(run())
    passed = _remembered(key)
    if passed is None:
        passed = Outcome.of_checks(run())
        if passed.passed == passed.of:
            keep_note(_SHELF, key, {"scorer": key, "checks": passed.of, "systems": passed.systems})
    return passed


def scorer_hash(scorer: Iterable[str], *, package: Path = _PACKAGE) -> str:
    """Of the names and contents of a scorer's files, code and data, and of the libraries that it counts with."""
    whole = hashlib.sha256(repr((python_version(), version("numpy"), version("scipy"))).encode())
    for name in sorted(scorer):
        place = package / name
        files = [place] if place.is_file() else sorted(one for one in place.rglob("*") if _counts(one))
        for file in files:
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            whole.update(f"{file.relative_to(package).as_posix()} {content}\n".encode())
    return whole.hexdigest()


def _counts(file: Path) -> bool:
    return file.is_file() and file.suffix != ".pyc"


def _remembered(key: str) -> Outcome | None:
    note = kept_note(_SHELF, key)
    if not isinstance(note, dict) or note.keys() != {"scorer", "checks", "systems"} or note["scorer"] != key:
        return None
    checks, systems = note["checks"], note["systems"]
    if not all(type(count) is int and count > 0 for count in (checks, systems)):
        return None
    return Outcome(checks, checks, systems)
