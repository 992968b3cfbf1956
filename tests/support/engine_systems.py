"""Systems that workers of every engine can open by name, with one oddity each, and studies that ask them."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from workup.study import Study
from workup.task import Table

ROWS = 240


class Logistic:
    """A model that is a formula. Told a folder, it notes who asked what; told a row, it does something odd there."""

    version = "1"

    def __init__(
        self,
        *,
        name: str = "logistic",
        batch: Annotated[int, Field(ge=1)] = 10,
        pause: float = 0.0,
        odd: str = "",
        row: int = -1,
    ) -> None:
        self.name, self.batch, self._pause, self._odd, self._row = name, batch, pause, odd, row

    def predict(self, table: Table) -> list[float | None]:
        """One risk for each row."""
        time.sleep(self._pause)
        if self._row in table["number"].tolist():
            self._be_odd()
        return [float(risk) for risk in 1 / (1 + np.exp(2 - np.asarray(table["x"], dtype=float)))]

    def _be_odd(self) -> None:
        if self._odd == "raises":
            raise ValueError("the value of a patient: ZZSECRET")
        if self._odd == "dies":
            os._exit(1)
        if self._odd == "hangs":
            time.sleep(3600)


class Talkative:
    """A detector that prints, logs and raises the very text that it was given."""

    version, batch = "1", 2

    def __init__(self, *, name: str = "talkative") -> None:
        self.name = name

    def detect(self, texts: list[str]) -> list[list[dict[str, Any]]]:
        """Digits."""
        for text in texts:
            print(text, flush=True)
            print(text, file=sys.stderr, flush=True)
            logging.getLogger("talkative").error("could not read %s", text)
            if "ZZSECRET" in text:
                raise ValueError(text)
        return [[{"start": m.start(), "end": m.end(), "label": "ID"} for m in re.finditer(r"\d+", t)] for t in texts]


class Leaking:
    """A model that keeps some megabytes of every batch."""

    version, batch = "1", 10

    def __init__(self, *, name: str = "leaking", folder: str = "") -> None:
        self.name, self._folder, self._kept = name, Path(folder), list[bytes]()

    def predict(self, table: Table) -> list[float | None]:
        """The same for everybody."""
        self._kept.append(os.urandom(8 * 2**20))
        (self._folder / str(os.getpid())).touch()
        return [0.2] * len(table["x"])


def table_of(rows: int = ROWS) -> dict[str, Any]:
    """Rows with an outcome, a predictor and a number."""
    made = np.random.default_rng(7)
    x = made.normal(1.0, 1.0, rows)
    died = (made.random(rows) < 1 / (1 + np.exp(2 - x))).astype(float)
    return {"number": np.arange(rows, dtype=float), "x": x, "died": died, "who": [f"p{n // 2}" for n in range(rows)]}


def risk_study(*, use: str = "Logistic", engine: str = "serial", workers: int = 2, **settings: Any) -> Study:
    """A study of the table above."""
    return Study.of(
        {
            "name": "engines",
            "task": "risk",
            "seed": 5,
            "columns": {"outcome": "died", "patient": "who"},
            "systems": [{"use": f"{__name__}:{use}", "name": "tested", "with": settings}],
            "bootstrap": {"replicates": 50},
            "engine": engine,
            "workers": workers,
        }
    )


def write_study(folder: Path, **settings: Any) -> Path:
    """The same as a file with its table beside it."""
    import json

    table = table_of()
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    study = risk_study(**settings).model_dump(mode="json", by_alias=True)
    study["corpus"] = {"path": "table.csv"}
    study["report"] = {"formats": []}
    file = folder / "study.yaml"
    file.write_text(json.dumps({key: study[key] for key in study if study[key] not in (None, {}, [], "")}))
    return file
