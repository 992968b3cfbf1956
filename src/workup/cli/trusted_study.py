"""Which study may be run again for a run directory: one that the user names, or that the user made the folder with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workup.errors import RunError, visible

TrustStudy = Annotated[
    bool,
    typer.Option("--trust-study", help="Run the study that the folder names, whoever made it: it may run any code"),
]


def study_for(place: Path, *, given: Path | None, trusted: bool) -> Path:
    """The study of a run directory. One that a folder of unknown origin names is not so much as opened."""
    from workup.runs import study_of
    from workup.runs.made_here import made_here

    if given is not None:
        return given
    named = study_of(place)
    if named is None:
        raise RunError(f"{visible(str(place))}: it is not said which study made this run. To fix: give --study.")
    if trusted or made_here(place, named):
        return named
    raise RunError(
        f"{visible(str(place))}: this folder was not made here, or not by you, and a study can run any code: "
        f"'{visible(str(named))[:200]}', which it names, was not read. To fix: name your own copy with --study FILE; "
        "or, where you trust whoever made the folder as you would trust a program of theirs, add --trust-study."
    )
