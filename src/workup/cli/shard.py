"""One share of a study: `workup run --shard 3/40` asks it and scores nothing; `workup merge` joins the shares."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workup.cli.common import Progress, say
from workup.errors import StudyError

if TYPE_CHECKING:
    from workup.preflight import Ready
    from workup.study import Study
    from workup.task import Budget


def ask_shard(
    study: Study, file: Path, ready: Ready, typed: str, out: Path | None, *, fresh: bool, budget: Budget
) -> None:
    """Put one share of the cases to every system of a study, each into a run directory of its own."""
    from workup.engines.shards import Shard, Share
    from workup.runs import safe_name

    share = Share.parse(typed)
    if not getattr(ready.task, "in_batches", False):
        raise StudyError(
            f"--shard: a study of the task '{study.task}' does not ask its system in batches that could be shared out. "
            "To fix: run it in one piece."
        )
    ready = replace(ready, engine=Shard(ready.engine, share))
    width = len(str(share.of))
    directory = (
        out or study.base / "runs" / f"{safe_name(study.name)}-shards" / f"{share.number:0{width}}-of-{share.of}"
    )
    names: list[str | None] = [part.name or part.use for part in study.systems] or [None]
    for name in names:
        place = directory / safe_name(str(name)) if len(names) > 1 else directory
        _ask(study, file, ready, share, name, place, fresh=fresh, budget=budget)


def _ask(
    study: Study,
    file: Path,
    ready: Ready,
    share: tuple[int, int],
    name: str | None,
    place: Path,
    *,
    fresh: bool,
    budget: Budget,
) -> None:
    import os

    from workup.files.output_paths import check_folder
    from workup.runs import RunDirectory, content_key
    from workup.runs.made_here import remember
    from workup.runs.shards import ShardNote, check_place
    from workup.validate import Opener, asked, output_key
    from workup.version import __version__

    opener = Opener(study, name)
    if getattr(opener(), "recorded", False):
        raise StudyError(
            f"--shard: the answers of '{name or 'the study'}' are recorded, so there is nothing to ask. To fix: run "
            "the study in one piece."
        )
    key = output_key(opener, ready.corpus)
    number, of = share
    note = ShardNote(__version__, content_key(study.record()), key, str(name), number, of)
    check_folder(place)
    check_place(place, note, fresh=fresh)
    with RunDirectory.open(place, fresh=fresh) as run, Progress() as progress:
        run.log(f"study {study.name}, system {name}, {note.share}, engine {study.engine}")
        note.keep(run)
        run.timings({"study_file": os.path.relpath(file.resolve(), place.resolve())})
        remember(place, file)
        log = asked(study, ready, run=run, system=name, budget=budget, watch=progress)
        cases = len(log.known())
        replace(note, cases=cases, complete=True).keep(run)
        run.log(f"{cases} cases of {note.share} are answered")
    say(f"{place}: {note.share} is answered, {cases:,} cases. Next: workup merge, with the folders of all {of}")
