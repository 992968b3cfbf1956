"""The command tree."""

from __future__ import annotations

from typing import Annotated

import typer

from workup.cli import (
    cases,
    corpus,
    plugins,
    updating,
)
from workup.cli import (
    detect as detecting,
)
from workup.cli import (
    drift as drifting,
)
from workup.cli import (
    gate as judging,
)
from workup.cli import (
    imports as importing,
)
from workup.cli import (
    label as labelling,
)
from workup.cli import (
    merge as merging,
)
from workup.cli import (
    monitor as monitoring,
)
from workup.cli import (
    new as starting,
)
from workup.cli import (
    plan as planning,
)
from workup.cli import (
    pool as pooling,
)
from workup.cli import (
    redact as redacting,
)
from workup.cli import (
    report as records,
)
from workup.cli import (
    review as reviewing,
)
from workup.cli import (
    run as running,
)
from workup.cli import (
    score as scoring,
)
from workup.cli import (
    selftest as selftests,
)
from workup.cli import (
    split as splitting,
)
from workup.cli import (
    view as viewing,
)
from workup.version import __version__

app = typer.Typer(
    name="workup",
    help="Give a clinical AI system the full work-up before it meets a patient.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 all well; 1 a gate or self-test failed, or verify found a difference; 2 bad input or usage; "
    "3 no gate failed but some are unsure or not assessed; 70 an error that nobody foresaw.",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"workup {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version")
    ] = False,
) -> None:
    pass


GROUPS = (
    starting,
    running,
    merging,
    scoring,
    updating,
    importing,
    cases,
    detecting,
    redacting,
    corpus,
    reviewing,
    labelling,
    splitting,
    planning,
    drifting,
    pooling,
    records,
    viewing,
    monitoring,
    judging,
    selftests,
    plugins,
)
for group in GROUPS:
    group.add_to(app)
