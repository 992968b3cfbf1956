"""What a command that scores recorded answers prints, and with which code it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from workup.cli.common import emit, emit_json, say, say_names, verdict_code

if TYPE_CHECKING:
    from workup.report import Report


def show(report: Report, *, json: str | None, allow_unsure: bool) -> None:
    """The record where it was asked for, the text report elsewhere, and the exit code of the gates."""
    from workup.reports import text

    say_names(report)
    if json is not None:
        emit_json(report.to_json(), json, private=report.contains_phi)
    if json != "-":
        emit(text.render(report), None)
    if json not in (None, "-"):
        say(f"The record is in {json}")
    raise typer.Exit(verdict_code([v.outcome for v in report.verdicts], allow_unsure=allow_unsure))
