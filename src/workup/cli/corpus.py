"""`workup corpus`: corpora with known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workup.cli.common import command, say


def add_to(app: typer.Typer) -> None:
    """Hang the commands on the tree."""
    group = typer.Typer(help="Make corpora with known truth.", no_args_is_help=True, rich_markup_mode=None)
    group.callback()(lambda: None)
    command(group, name="generate", example="workup corpus generate --kind cohort --count 2000 --seed 1 -o cohort.csv")(
        generate
    )
    app.add_typer(group, name="corpus")


def generate(
    kind: Annotated[str, typer.Option(help="What to make: cohort")],
    count: Annotated[int, typer.Option(help="How many rows")],
    seed: Annotated[int, typer.Option(help="Seed; the same seed gives the same bytes")],
    out: Annotated[Path, typer.Option("-o", "--out", help="File to write; the truth stands beside it")],
    plan: Annotated[Path | None, typer.Option(help="YAML file with the planted truth; defaults when absent")] = None,
) -> None:
    """Generate a corpus whose truth is planted."""
    import yaml

    from workup import plugins
    from workup.errors import InputError

    settings: dict[str, object] = {"count": count}
    if plan is not None:
        try:
            settings["plan"] = yaml.safe_load(plan.read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError) as error:
            raise InputError(
                "the plan must be a readable YAML file", where=str(plan), got=type(error).__name__
            ) from None
    planted = plugins.make("generators", kind, settings, where="corpus generate", context={"seed": seed})
    for path in planted.write(out):
        say(str(path))
