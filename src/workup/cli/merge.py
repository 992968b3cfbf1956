"""`workup merge`: the shards of a study become one run, as if it had been made in one piece."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workup.cli.common import command, say, verdict_code
from workup.cli.run import compare_runs, load, run_system, tell, warn
from workup.cli.trusted_study import TrustStudy, study_for
from workup.errors import RunError

if TYPE_CHECKING:
    from workup.preflight import Ready
    from workup.study import Study


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    command(app, name="merge", example="workup merge runs/triage-shards -o runs/triage")(merge)


def merge(
    shards: Annotated[list[Path], typer.Argument(metavar="DIR", help="Folders of shards, or a folder that holds them")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Run directory; runs/NAME beside the study if absent")
    ] = None,
    study: Annotated[Path | None, typer.Option(help="Study file, where the shards were not made here")] = None,
    trust_study: TrustStudy = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what the run directory held before")] = False,
    allow_unsure: Annotated[bool, typer.Option("--allow-unsure", help="Undecided gates do not fail")] = False,
) -> None:
    """Join all shards of a study into one run and write its report; says which are missing, doubled or of another."""
    from workup.preflight import checked
    from workup.replay import Unasked
    from workup.runs import safe_name
    from workup.runs.shards import find_shards

    found = find_shards(shards)
    file = study_for(next(iter(found)), given=study, trusted=trust_study)
    plan = load(file).model_copy(update={"engine": f"{Unasked.__module__}:{Unasked.__name__}", "engine_settings": {}})
    directory = out or plan.base / "runs" / safe_name(plan.name)
    names: list[str | None] = [part.name or part.use for part in plan.systems] or [None]
    ready: Ready | None = checked(plan)
    assert ready is not None
    warned = warn(plan, ready)
    places = [directory / safe_name(str(name)) if len(names) > 1 else directory for name in names]
    for name, place in zip(names, places, strict=True):
        parts = {one: note for one, note in found.items() if len(names) == 1 or note.system == name}
        if not parts:
            raise RunError(f"of the system '{name}' no shard was given. To fix: run and give its shards too.")
        _join(plan, ready, name, parts, place, fresh=fresh)
    outcomes = []
    for name, place in zip(names, places, strict=True):
        report = run_system(plan, file, name, place, fresh=False, ready=ready)
        ready = None  # a task keeps what one system answered: the next begins anew
        outcomes += tell(report, place, said=warned)
    if len(names) > 1:
        compare_runs(plan, file, directory, places)
    raise typer.Exit(verdict_code(outcomes, allow_unsure=allow_unsure))


def _join(plan: Study, ready: Ready, name: str | None, parts: dict[Path, Any], place: Path, *, fresh: bool) -> None:
    from workup.files.output_paths import check_folder
    from workup.runs import RunDirectory, content_key
    from workup.runs.shards import check_whole, join_outputs
    from workup.validate import Opener, output_key
    from workup.version import __version__

    opener = Opener(plan, name)
    key = output_key(opener, ready.corpus)
    check_whole(parts, study=content_key(plan.record()), outputs=key, version=__version__)
    check_folder(place)
    with RunDirectory.open(place, fresh=fresh) as run:
        called = opener.identity()["name"]
        cases = join_outputs(parts, run.outputs(key, called), system=called)
        run.log(f"{len(parts)} shards joined")
    say(f"{len(parts)} shards, {cases:,} cases, each of them once")
