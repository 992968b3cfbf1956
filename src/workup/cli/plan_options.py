"""What the commands of `workup plan` share: their options, the groups they name, and how a plan is told and kept."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workup.cli.common import emit, emit_json, say
from workup.errors import InputError
from workup.files.output_paths import check_target
from workup.files.received import content_of, json_of

if TYPE_CHECKING:
    from workup.lenses.power.plans import Group
    from workup.report import LensResult, Report

Alpha = Annotated[float, typer.Option(help="Chance of a false gap, two-sided, over all planned comparisons")]
Power = Annotated[float, typer.Option(help="Chance of finding a gap that is there")]
Groups = Annotated[
    list[str] | None,
    typer.Option(help="Number of groups, or name:share[:prevalence] for each; repeat, or separate by commas"),
]
Prevalence = Annotated[float | None, typer.Option(help="Share of patients with the outcome, where groups name none")]
Allocation = Annotated[float, typer.Option(help="Patients of every other group for each one of the first")]
Testing = Annotated[str, typer.Option(help="all-pairs, versus-reference (the first group), or gatekeeper")]
Adjust = Annotated[str, typer.Option(help="How alpha is shared among comparisons: bonferroni, holm or none")]
Confidence = Annotated[float, typer.Option(help="Chance of a false effect, two-sided")]
AtHand = Annotated[int | None, typer.Option("--n", help="Rows of the first group at hand: shows what they reach")]
Assurance = Annotated[
    float | None, typer.Option(help="Probability with which enough are enrolled; on average when absent")
]
Name = Annotated[str, typer.Option(help="Name of the plan in its report")]
AsOf = Annotated[str | None, typer.Option(help="Date the report speaks of")]
Json = Annotated[str | None, typer.Option("--json", help="Write report.json here; - for standard output")]
Out = Annotated[Path | None, typer.Option("-o", "--out", help="Folder for report.json, report.html and report.md")]


def parsed_groups(words: Sequence[str] | None) -> int | tuple[Group, ...]:
    """A number of groups, or named ones.

    >>> parsed_groups(["3"]), parsed_groups(["A:0.7:0.1,B:0.3"])[1]
    (3, Group(name='B', share=0.3, prevalence=None))
    """
    from workup.lenses.power.plans import Group

    parts = [part.strip() for word in words or ("2",) for part in word.split(",") if part.strip()]
    if len(parts) == 1 and parts[0].isascii() and parts[0].isdigit():
        return int(parts[0][:10])  # the rest of so long a number changes nothing: it is refused
    found = []
    for part in parts:
        name, *numbers = part.split(":")
        try:
            share, prevalence = (*(float(one) for one in numbers), None, None)[:2]
            if not name or len(numbers) > 2:
                raise ValueError
        except ValueError:
            raise InputError(
                "a group is written name, name:share or name:share:prevalence",
                where="--groups",
                got=f"'{part}'",
                remedy="for instance --groups women:0.55:0.08",
            ) from None
        found.append(Group(name, share, prevalence))
    return tuple(found)


def tell(
    result: LensResult, *, name: str, as_of: str | None, json: str | None, out: Path | None, seed: int = 0
) -> None:
    """The report of a plan: text on standard output, the record and its pages where they were asked for."""
    from importlib.metadata import version
    from platform import python_version

    from workup.lenses.power.plans import plan_report
    from workup.reports import text
    from workup.version import __version__

    check_target(json, out=out)
    if out is not None:
        _check_folder(out)
    report = plan_report(
        result,
        name=name,
        seed=seed,
        as_of=as_of,
        environment={"python": python_version(), **{lib: version(lib) for lib in ("numpy", "scipy")}},
        workup=__version__,
    )
    if out is not None:
        _write(report, out)
    if json is not None:
        emit_json(report.to_json(), json)
    if json != "-":
        emit(text.render(report), None)
    if json not in (None, "-"):
        say(f"The record is in {json}")


def _check_folder(folder: Path) -> None:
    """A plan takes the place of an earlier plan, never of the record of a validation."""
    record = folder / "report.json"
    if not record.is_file():
        return
    try:
        task = json_of(content_of(record))["study"]["task"]
    except (OSError, ValueError, KeyError, TypeError):
        task = None
    if task != "plan":
        raise InputError(
            "the output must be a new folder, or one that holds a plan",
            where=str(folder),
            got="the report of something else",
            remedy="name another folder",
        )


def _write(report: Report, folder: Path) -> None:
    """The record and its pages, all of them or none: made beside the folder, then moved into it."""
    from workup.cli.report import render
    from workup.files.disk import refuse_special

    made = {"report.json": report.to_json(), "report.html": render(report, "html"), "report.md": render(report, "md")}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in made:
            try:
                refuse_special(folder / file)
            except OSError as error:
                raise OSError(error.errno, f"'{file}' in it is {error.strerror}") from None
        with tempfile.TemporaryDirectory(dir=folder, prefix=".plan-") as part:
            for file, content in made.items():
                (Path(part) / file).write_bytes(content if isinstance(content, bytes) else content.encode())
            for file in made:
                os.replace(Path(part) / file, folder / file)
    except OSError as error:
        raise InputError(
            "the output must be a folder that can be written", where=str(folder), got=error.strerror or ""
        ) from None
    for file in made:
        say(str(folder / file))
