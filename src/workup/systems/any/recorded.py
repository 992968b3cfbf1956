"""Answers made elsewhere: risks in a column of the table, spans or transcripts in a file. Runs no model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from workup.errors import InputError, StudyError, SystemFailure, near
from workup.files.received import open_named
from workup.systems.settings import Emits, FilePath, LabelMap, Offsets, Word
from workup.task import Reply, Table
from workup.tasks.expressions import Expression, looks_like_expression
from workup.tasks.risk.checks import check_risk

if TYPE_CHECKING:
    from workup.systems.wire.spans import Spans


class Recorded:
    """Answers a column of the table, or names the file of predictions, by the one setting that is given.

    An empty cell is a row that the model refused. The file has a line per document, `{"id", "spans": […]}`, with
    offsets counted as `offsets` says; `predictions()` gives its path to whoever reads it by the ids of the documents.
    A file of transcripts has a line per case, replicate, arm and turn, and `transcripts()` gives its path. If another
    program wrote it, `format` says which (inspect, openai or sharegpt) and `roles` what it calls the sides.

    >>> Recorded(name="triage", column="risk").predict({"risk": np.array([0.25, np.nan])})
    [0.25, None]
    """

    recorded: ClassVar[bool] = True  # the answers are there already: nothing to log

    def __init__(
        self,
        *,
        name: str,
        base: Path | None = None,
        column: Annotated[Word, Field(description="Column of the table that holds the risks")] = "",
        path: Annotated[FilePath, Field(description="File of spans or transcripts, in the place of a column")] = "",
        format: Annotated[
            Literal["", "transcripts", "inspect", "openai", "sharegpt"],
            Field(description="Program that wrote the transcripts, where it was another one"),
        ] = "",
        roles: Annotated[
            dict[str, Literal["user", "assistant", "system", "tool"]] | None,
            Field(description="Names of the sides in ShareGPT's form, such as {patient: user}"),
        ] = None,
        offsets: Offsets = "codepoint",
        mapping: LabelMap = "",
        emits: Emits = None,
    ) -> None:
        where = f"system '{name}'"
        if bool(column) == bool(path):
            raise StudyError(
                f"{where}: 'recorded' needs the setting 'column' (risks in the table) or 'path' (a file of spans or "
                f"transcripts); got {'both' if column else 'neither'}. To fix: give one of them under 'with:'."
            )
        self.name, self.column, self.offsets = name, column, offsets
        self.format, self.roles = format, dict(roles or {})
        self.mapping: str | None = None
        self.emits: tuple[str, ...] | None = None
        self.notes: tuple[str, ...] = ()
        self.version = "recorded"
        self._file: Path | None = None
        if path:  # a column of risks has no offsets and no labels
            from workup.systems.wire.spans import SpanSettings

            spans = SpanSettings.of(offsets=offsets, mapping=mapping, emits=emits, base=base or Path(), where=where)
            self.mapping, self.emits = spans.mapping, spans.emits
            self._file = (base or Path()) / path
            self.version = f"recorded sha256:{_fingerprint(self._file, where)[:12]}"

    def predict(self, table: Table) -> list[float | None]:
        """The recorded risk of each row."""
        where = f"system '{self.name}', column '{self.column}'"
        if not self.column:
            raise StudyError(
                f"system '{self.name}': risks stand in a column of the table; got a file of spans. To fix: give "
                "'column' in the place of 'path'."
            )
        column = table.get(self.column)
        warnings: list[str] = []
        if column is None and looks_like_expression(self.column):
            expression = Expression.parse(self.column, where=where)
            column, warnings = expression.column(table), expression.warnings(table)
        if column is None:
            raise InputError(
                "the table must have this column of risks",
                where=where,
                got="no such column",
                remedy=near(self.column, table),
            )
        # One rule for risks, wherever a study names their column.
        risks, notes = check_risk(np.asarray(column), where=where)
        self.notes = (*notes, *warnings)
        return [None if np.isnan(risk) else float(risk) for risk in risks]

    def predictions(self) -> Path:
        """The file of predictions, for a reader that knows the documents by their ids."""
        if self._file is None:
            raise StudyError(
                f"system '{self.name}': spans stand in a file of predictions; got a column. To fix: give 'path' in the "
                "place of 'column'."
            )
        return self._file

    def transcripts(self) -> Path:
        """The file of transcripts, for a reader that knows the cases by their ids."""
        if self._file is None:
            raise StudyError(
                f"system '{self.name}': transcripts stand in a file; got a column. To fix: give 'path' in the place of "
                "'column'."
            )
        return self._file

    def reply(self, messages: Sequence[Mapping[str, str]]) -> Reply:
        """Never answers: transcripts belong to cases and turns, and messages alone have none."""
        raise SystemFailure(
            f"system '{self.name}': recorded transcripts are read by case and turn and cannot be asked for a reply to "
            f"{len(messages)} messages. To fix: name a model that can be run."
        )

    def detect(self, texts: Sequence[str]) -> list[Spans | None]:
        """Never answers: predictions belong to ids, and a text alone has none."""
        raise SystemFailure(
            f"system '{self.name}': recorded predictions are read by the ids of documents and cannot be asked for "
            f"{len(texts)} other texts. To fix: name a system that can be run."
        )


def _fingerprint(file: Path, where: str) -> str:
    try:
        with open_named(file) as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            "'path' must be a file that can be read, of predictions or transcripts",
            where=f"{where}, file '{file.name}'",
            got=error.strerror or type(error).__name__,
            remedy="give the path as seen from the folder of the study",
        ) from None
