"""Shards of a run: what each says of itself, whether they make one whole, and their outputs in one log.

A folder may have come from another machine: what it says is checked against its outputs and against the other shards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workup.errors import RunError, visible
from workup.files.received import content_of, is_file, json_of
from workup.runs.directory import RunDirectory
from workup.runs.outputs import Outputs

_NAME = "shard.json"
_LARGEST = 2**16  # bytes
_LISTED = 20  # numbers of missing shards that a message lists
_DEPTH = 2  # a folder of shards, and in each of them a folder for each system


@dataclass(frozen=True)
class ShardNote:
    """What a shard says of itself: whose study it is a share of, and whether all its cases were asked."""

    workup: str
    study: str  # hash of the study as the record holds it
    outputs: str  # key of the outputs: system, corpus and task
    system: str  # its name in the study
    number: int
    of: int
    cases: int = 0
    complete: bool = False

    @property
    def share(self) -> str:
        """In words."""
        return f"shard {self.number} of {self.of}"

    def keep(self, run: RunDirectory) -> None:
        """Write it into the folder of the shard."""
        run.write(_NAME, json.dumps(asdict(self), indent=1, sort_keys=True) + "\n")


def note_of(place: Path) -> ShardNote | None:
    """What a folder says of the shard in it; None where it holds none."""
    if not is_file(place / _NAME):
        return None
    try:
        held: Any = json_of(content_of(place / _NAME, most=_LARGEST))
        note = ShardNote(**held)
        texts, numbers = (note.workup, note.study, note.outputs, note.system), (note.number, note.of, note.cases)
        sound = all(isinstance(text, str) for text in texts) and all(type(number) is int for number in numbers)
        if not sound or type(note.complete) is not bool or not re.fullmatch(r"[0-9a-f]{64}", note.outputs):
            raise ValueError
    except (OSError, ValueError, TypeError):
        raise RunError(
            f"{visible(str(place))}: its shard.json is not in the form that Workup writes. To fix: run this shard "
            "again with --fresh."
        ) from None
    return note


def check_place(place: Path, note: ShardNote, *, fresh: bool) -> None:
    """Refuse to write a shard where another one, or a whole run, has its outputs."""
    if fresh or not (place / "outputs").is_dir():
        return
    held = note_of(place)
    same = held is not None and (held.number, held.of) == (note.number, note.of)
    if not same:
        what = "a run that is not a shard" if held is None else held.share
        raise RunError(
            f"{visible(str(place))}: the folder holds {what}, and {note.share} was to be written. To fix: give each "
            "shard a folder of its own with -o, or begin anew with --fresh."
        )


def find_shards(places: Sequence[Path]) -> dict[Path, ShardNote]:
    """The shards in these folders, or in the folders inside them."""
    found: dict[Path, ShardNote] = {}
    for place in places:
        inside = list(_shards_below(place, _DEPTH))
        if not inside:
            raise RunError(
                f"{visible(str(place))}: no shard was found here. To fix: give folders that "
                "workup run --shard NUMBER/OF has written."
            )
        found.update(inside)
    return found


def _shards_below(place: Path, depth: int) -> Iterable[tuple[Path, ShardNote]]:
    note = note_of(place) if place.is_dir() else None
    if note is not None:
        yield place, note
    elif depth:
        folders = (
            [one for one in sorted(place.iterdir()) if one.is_dir() and not one.is_symlink()] if place.is_dir() else []
        )
        for folder in folders:
            yield from _shards_below(folder, depth - 1)


def check_whole(shards: dict[Path, ShardNote], *, study: str, outputs: str, version: str) -> None:
    """Refuse shards that are not all those of one run; every fault is named by its shard."""
    faults: list[str] = []
    of = max(note.of for note in shards.values())
    held: dict[int, Path] = {}
    for place, note in sorted(shards.items(), key=lambda one: (one[1].number, str(one[0]))):
        named = f"{note.share} ({visible(str(place))})"
        if note.workup != version:
            faults.append(f"{named} was made by Workup {visible(note.workup[:20])}, and this is {version}")
        elif note.study != study:
            faults.append(f"{named} is of another study, or of this one before it was changed")
        elif note.outputs != outputs:
            faults.append(f"{named} asked another system, or other cases")
        elif note.of != of:
            faults.append(f"{named} is one of {note.of} and others are of {of}")
        elif not note.complete:
            faults.append(f"{named} is not finished")
        elif note.number in held:
            faults.append(f"{named} is there twice, also as {visible(str(held[note.number]))}")
        held.setdefault(note.number, place)
    missing = [number for number in range(1, of + 1) if number not in held]
    if missing:
        listed = ", ".join(map(str, missing[:_LISTED]))
        more = f" and {len(missing) - _LISTED:,} more" if len(missing) > _LISTED else ""
        faults.append(f"of {of} shards {len(missing):,} {'is' if len(missing) == 1 else 'are'} missing: {listed}{more}")
    if faults:
        raise RunError(f"the shards do not make one run: {'; '.join(faults)}. To fix: run those shards (again).")


def join_outputs(shards: dict[Path, ShardNote], log: Outputs, *, system: str) -> int:
    """Bring the outputs of all shards into one log, each case once; answers how many cases there are.

    `system` is what the system calls itself, by which its outputs are filed.
    """
    before, seen = dict(log.known()), 0
    cases: set[str] = set()
    for place, note in sorted(shards.items(), key=lambda one: one[1].number):
        with RunDirectory.open(place) as run:
            own = run.outputs(note.outputs, system)
            known, failed = dict(own.known()), dict(own.failed())
        if len(known) != note.cases:
            raise RunError(
                f"{visible(str(place))}: {note.share} has finished {note.cases:,} cases, and its outputs hold "
                f"{len(known):,}. To fix: run this shard again; what it still holds is not asked for."
            )
        twice = len(cases & set(known))
        if twice:
            raise RunError(
                f"{visible(str(place))}: {twice:,} cases of {note.share} are in another shard too, though it should be "
                "a share of its own. To fix: run this shard again with --fresh."
            )
        cases |= set(known)
        log.append({case: output for case, output in known.items() if case not in before and case not in failed})
        log.fail({case: reason for case, reason in failed.items() if case not in before})
        seen += len(known)
    if strangers := len(set(before) - cases):
        raise RunError(
            f"{visible(str(log.path))}: the folder holds outputs of {strangers:,} cases that no shard has. To fix: "
            "choose another with -o, or begin anew with --fresh."
        )
    return seen
