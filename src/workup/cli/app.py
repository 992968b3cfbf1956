"""The command tree."""

from __future__ import annotations

from typing import Annotated

import typer

from workup import __version__
from workup.cli import (
    corpus,
    detecting,
    information,
    judging,
    planning,
    pooling,
    records,
    redacting,
    reviewing,
    running,
    scoring,
    selftests,
    splitting,
    starting,
)

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
    scoring,
    detecting,
    redacting,
    corpus,
    reviewing,
    splitting,
    planning,
    pooling,
    records,
    judging,
    selftests,
    information,
)
for group in GROUPS:
    group.add_to(app)
