"""`workup selftest`: planted systems with known answers; a scorer that gets one wrong must not judge a model."""

from __future__ import annotations

from typing import Annotated

import typer

from workup.cli.common import command, echo, say


def add_to(app: typer.Typer) -> None:
    """Hang the command on the tree."""
    command(app, name="selftest", example="workup selftest risk")(selftest)


def selftest(
    task: Annotated[
        str, typer.Argument(help="Task to test: risk, episodes, spans or conversation; all of them when absent")
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of what is planted")] = 0,
) -> None:
    """Score planted systems whose right answers are known; exit 1 if any comes out wrong."""
    from importlib import import_module

    from workup import plugins

    home = plugins.registered("tasks")
    if task and task not in home:
        plugins.find("tasks", task)
    failed = 0
    for name in [task] if task else sorted(home):
        checks = import_module(f"{home[name].module.removesuffix('.task')}.selftest").run(seed=seed)
        for check in checks:
            told = "ok  " if check.passed else "FAIL"
            echo(f"{told}  {check.name}: expected {check.expected}, observed {check.observed}")
        wrong = sum(not check.passed for check in checks)
        say(f"{name}: {len(checks) - wrong} of {len(checks)} planted answers recovered")
        failed += wrong
    if failed:
        raise typer.Exit(1)
