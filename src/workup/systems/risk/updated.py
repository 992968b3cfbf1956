"""A risk model as an update mends it: another system, or a column of recorded risks, with update.json applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator, Field

from workup import plugins
from workup.errors import InputError, visible
from workup.scores import Scores
from workup.signing import read_key
from workup.stats.arrays import Floats
from workup.systems.settings import FilePath, Word
from workup.task import Table
from workup.tasks.risk.updating.file import UpdateFile, read_update
from workup.tasks.risk.updating.used import APPARENT, UNTOLD, days_of, risks_sha256

if TYPE_CHECKING:
    from workup.task import Corpus

RECORDED = "recorded"
UPDATED = "risk_updated"


def _column_or_system(value: Any) -> Any:
    # One sentence for both forms, where a union would complain once for each of them.
    column = isinstance(value, str) and bool(value.strip()) and value.isprintable() and len(value) <= 500
    system = isinstance(value, dict) and set(value) <= {"use", "with", "name"} and isinstance(value.get("use"), str)
    if system and isinstance(value.get("with", {}), dict) and isinstance(value.get("name", ""), str):
        return value
    if not column:
        raise ValueError("must be a column of risks, or a system with 'use' and, where it needs settings, 'with'")
    return value


Of = Annotated[
    str | dict[str, Any],
    BeforeValidator(_column_or_system),
    Field(description="Column of recorded risks, or the system as {use: …, with: {…}}"),
]


class UpdatedSystem:
    """Answers the updated risk of each row; None where the model refused it or a predictor is missing.

    `of` is the column of recorded risks, or the system, as a study would name it ({use, with, name}). Its name and
    version must be those that the update was made for; `as_system` states that they are, where a table cannot tell.
    """

    name: str
    version: str
    notes: tuple[str, ...]

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        update: Annotated[FilePath, Field(description="update.json of `workup update`")],
        of: Of,
        key_file: Annotated[FilePath, Field(description="Key that the update must be signed with")] = "",
        as_system: Annotated[
            Word, Field(description="Name of the system that these risks are of, where they cannot tell themselves")
        ] = "",
        elsewhere: Annotated[
            bool,
            Field(description="true: you state that none of these patients made the update, though dates overlap"),
        ] = False,
    ) -> None:
        self.name = name
        self._where = f"system '{visible(name)}', file '{visible(update)}'"
        key = read_key(base / key_file) if key_file else None
        self.file = read_update(base / update, key=key)
        self._elsewhere = elsewhere
        self._inner = _opened(of, self.file, base=base, where=self._where)
        column = of if isinstance(of, str) else None
        check_system(
            self.file,
            name=self._inner.name,
            version=self._inner.version,
            column=column,
            as_system=as_system,
            where=self._where,
        )
        self._mending = self.file.mending
        self.recorded = bool(getattr(self._inner, "recorded", False))
        self.batch = int(getattr(self._inner, "batch", 0) or 1000)
        self.version = f"{self._inner.version} {self.file.mark}"
        self.notes = (*getattr(self._inner, "notes", ()), f"{self.file.where}: {UNTOLD}")

    def predict(self, table: Table) -> list[float | None]:
        """The updated risk of each row."""
        given = self._inner.predict(table)
        risk = np.array([np.nan if one is None else one for one in given], dtype=np.float64)
        updated = self._mending.apply(risk, table, where=self._where)
        if self.recorded:  # all rows at once, so what is counted is of the whole
            own = tuple(getattr(self._inner, "notes", ()))
            self.notes = (*own, f"{self.file.where}: {UNTOLD}", *told(self.file, risk, table, where=self._where))
        return [None if np.isnan(one) else float(one) for one in updated]

    def apparent(self, corpus: Corpus, scores: Scores) -> str:
        """Why no figure on these rows is honest: they made the update. Empty where nothing says so."""
        used = self.file.record["used"]
        known = "risk" in scores.values and "outcome" in scores.values
        if corpus.sha256 == used["corpus_sha256"] or (known and risks_sha256(scores) == used["risks_sha256"]):
            return APPARENT
        days = days_of(scores)
        if days is None or used["from"] is None or self._elsewhere:
            return ""
        return APPARENT if days[0] <= used["to"] and used["from"] <= days[1] else ""


def _opened(of: str | dict[str, Any], file: UpdateFile, *, base: Path, where: str) -> Any:
    """The system that is mended, under the name that the update knows it by unless it has one of its own."""
    if isinstance(of, str):
        return plugins.find("systems", RECORDED)(name=RECORDED, base=base, column=of)
    own = str(of.get("name") or file.system["name"])
    context = {"name": own, "base": base}
    made = plugins.make("systems", of["use"], of.get("with", {}), where=f"{where}, of", context=context)
    plugins.fitting("systems", of["use"], made, "predict")
    return plugins.looked_at(of["use"], made)


def check_system(file: UpdateFile, *, name: str, version: str, column: str | None, as_system: str, where: str) -> None:
    """Refuse risks that are not those of the system that the update was made for.

    A table cannot tell whose risks a column holds. One of the name that the update was made from is taken at its word;
    any other is, where `as_system` names the system.
    """
    own = file.system
    if file.mark in version:
        raise InputError(
            "an update is applied once", where=where, got="a system that carries this update already", remedy="leave it"
        )
    if as_system:
        if as_system not in (own["name"], f"{own['name']} {own['version']}".strip()):
            raise InputError(
                f"this update is of the system '{visible(own['name'])}', version '{visible(own['version'])}'",
                where=where,
                got=f"risks that are stated to be of '{visible(as_system)}'",
                remedy="apply the update that was made for that system, or make one",
            )
        return
    if column is not None:
        if column != own["column"]:
            made = f"risks in the column '{visible(own['column'])}'" if own["column"] else "a model that was run"
            raise InputError(
                f"this update is of the system '{visible(own['name'])}', from {made}",
                where=where,
                got=f"risks in the column '{visible(column)}', and no word whose they are",
                remedy=f"if they are of that system, state it: as-system '{visible(own['name'])}'",
            )
        return
    if (name, version) != (own["name"], own["version"]):
        raise InputError(
            f"this update is of the system '{visible(own['name'])}', version '{visible(own['version'])}'",
            where=where,
            got=f"the system '{visible(name)}', version '{visible(version)}'",
            remedy="apply it to the system that it was made for, or make an update of this one",
        )


def told(file: UpdateFile, risk: Floats, table: Table, *, where: str) -> tuple[str, ...]:
    """Warnings about the update itself, and about rows that it was not made for."""
    mending, said = file.mending, []
    verdict = file.record["honest"]["verdict"]
    if verdict in ("worse", "no gain shown"):
        said.append(f"Warning: on patients who did not make it, this update was judged '{verdict}'.")
    rows = int(np.count_nonzero(np.isfinite(risk)))
    if beyond := mending.beyond(risk, table, where=where):
        low, high = (100 / (1 + np.exp(-file.record["fitted_on"][end])) for end in ("low", "high"))
        said.append(
            f"Warning: {beyond:,} of {rows:,} risks lie beyond those that the update was made from ({low:.3g} % to "
            f"{high:.3g} %); it was never seen there."
        )
    if mending.group is not None and (unknown := mending.unknown(table, len(risk), where=where)):
        said.append(
            f"Warning: {unknown:,} of {len(risk):,} rows have a '{visible(mending.group)}' that the update does not "
            "know; their risk is left as it was."
        )
    return tuple(said)


@dataclass(frozen=True)
class Applied:
    """What an update adds to a table, and what should be said of it."""

    columns: Mapping[str, npt.NDArray[Any]]
    notes: tuple[str, ...]


def applied(file: UpdateFile, table: Table, *, risk: str | None, as_system: str, where: str) -> Applied:
    """The updated risk of every row of a table, and a flag for each threshold of the update."""
    names = (UPDATED, *(f"flag_{name}" for name in file.flags))
    taken = [name for name in names if name in table]
    if taken:
        raise InputError(
            "an update is applied once",
            where=visible(where),
            got=f"a table that has the column '{taken[0]}' already",
            remedy="give the table as it was before, or rename that column if it is something else",
        )
    column = risk or file.system["column"]
    if column is None:
        raise InputError(
            "the column of the risks must be named, since this update was made from a model that was run",
            where=visible(where),
            remedy="name it with --risk, and the system that they are of with --as-system",
        )
    inner = plugins.find("systems", RECORDED)(name=RECORDED, column=column)
    check_system(file, name=RECORDED, version=RECORDED, column=column, as_system=as_system, where=visible(where))
    given = np.array([np.nan if one is None else one for one in inner.predict(table)], dtype=np.float64)
    updated = file.mending.apply(given, table, where=visible(where))
    found: dict[str, npt.NDArray[Any]] = {UPDATED: updated}
    for name, threshold in file.flags.items():
        found[f"flag_{name}"] = np.where(np.isnan(updated), np.nan, updated >= threshold)
    missing = int(np.count_nonzero(np.isnan(updated)))
    notes = [*inner.notes, *told(file, given, table, where=visible(where))]
    if missing:
        notes.append(f"{missing:,} of {len(updated):,} rows have no risk, or lack a predictor, and stay without.")
    none = [one["name"] for one in file.record["thresholds"] if one["value"] is None]
    if none:
        notes.append(f"No flag for {', '.join(none)}: the data of the update carried no threshold for it.")
    return Applied(found, tuple(notes))
