"""`use: update`: another system or a column, mended; whose update it is, how often it is applied, who may read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.planted_updates import off, planted, study
from tests.support.shell import call, write
from workup import plugins
from workup.errors import InputError, StudyError
from workup.report import Report


class Halved:
    """A model that answers half of the recorded risk."""

    def __init__(self, *, name: str, version: str = "1") -> None:
        self.name, self.version = name, version

    def predict(self, table: Any) -> list[float | None]:
        return [None if np.isnan(risk) else float(risk) / 2 for risk in np.asarray(table["p"])]


HALVED = f"{__name__}:Halved"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an update of a column, `column.json`, and one of a model, `model.json`."""
    folder = tmp_path_factory.mktemp("updates")
    file = planted(folder, slope=0.7, rows=900)
    assert call("update", file, "-o", folder / "column.json", "--method", "recalibration").code in (0, 3)
    system = {"name": "triage", "use": HALVED}
    other = study(folder, "early.csv", name="model.yaml", without=("risk",), systems=[system])
    assert call("update", other, "-o", folder / "model.json", "--method", "recalibration").code in (0, 3)
    write(folder / "later.csv", off(400, seed=5, slope=0.7, year=2024))
    return folder


def opened(folder: Path, **settings: Any) -> Any:
    where = {"where": "systems.mended", "context": {"name": "mended", "base": folder}}
    return plugins.make("systems", "update", settings, **where)


ROWS = {"p": np.array([0.1, np.nan, 0.8])}


def test_a_column_is_mended(made: Path) -> None:
    system = opened(made, update="column.json", of="p")
    record = json.loads((made / "column.json").read_text())
    intercept, slope = (record["parameters"][name] for name in ("intercept", "slope"))
    first, none, last = system.predict(ROWS)
    assert none is None and first < last
    assert first == pytest.approx(1 / (1 + np.exp(-(intercept + slope * np.log(1 / 9)))), rel=1e-9)
    assert system.version == f"recorded updated sha256:{record['sha256'][:12]}"


def test_a_model_is_mended_under_its_own_name(made: Path) -> None:
    system = opened(made, update="model.json", of={"use": HALVED})
    assert system.version.startswith("1 updated sha256:")
    assert opened(made, update="model.json", of={"use": HALVED, "name": "triage"}).predict(ROWS) == system.predict(ROWS)


def test_other_systems_are_refused(made: Path) -> None:
    with pytest.raises(InputError, match=r"of the system 'triage', version '1'; got the system 'other', version '1'"):
        opened(made, update="model.json", of={"use": HALVED, "name": "other"})
    with pytest.raises(InputError, match=r"got the system 'triage', version '2'"):
        opened(made, update="model.json", of={"use": HALVED, "with": {"version": "2"}})
    with pytest.raises(InputError, match="no word whose they are"):
        opened(made, update="model.json", of="p")
    with pytest.raises(InputError, match="no word whose they are"):
        opened(made, update="column.json", of="q")
    assert opened(made, update="model.json", of="p", as_system="triage").predict(ROWS)[1] is None
    assert opened(made, update="model.json", of="p", as_system="triage 1").predict(ROWS)[1] is None
    with pytest.raises(InputError, match="stated to be of 'another'"):
        opened(made, update="model.json", of="p", as_system="another")


def test_an_update_is_applied_once(made: Path) -> None:
    once = {"use": "update", "with": {"update": "column.json", "of": "p"}}
    with pytest.raises(InputError, match="an update is applied once"):
        opened(made, update="column.json", of=once)
    with pytest.raises(InputError, match="an update is applied once"):
        opened(made, update="column.json", of=once, as_system="recorded")


def test_an_update_of_an_updated_system_goes_on_top_of_it(made: Path, tmp_path: Path) -> None:
    once = {"name": "mended", "use": "update", "with": {"update": str(made / "column.json"), "of": "p"}}
    file = study(made, "later.csv", name="again.yaml", without=("risk",), systems=[once])
    assert call("update", file, "-o", tmp_path / "second.json", "--method", "in_the_large").code in (0, 1, 3)
    twice = opened(made, update=str(tmp_path / "second.json"), of=once)
    assert twice.version.count("updated sha256:") == 2


@pytest.mark.parametrize("of", [{}, {"use": 3}, {"use": "recorded", "column": "p"}, {"use": "recorded", "with": "p"}])
def test_what_is_no_system_is_refused(made: Path, of: Any) -> None:
    with pytest.raises(StudyError, match="must be a column of risks, or a system"):
        opened(made, update="column.json", of=of)


def test_keys_of_a_study(made: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a secret of more than sixteen\n")
    with pytest.raises(InputError, match="must be signed, since a key was given"):
        opened(made, update="column.json", of="p", key_file=str(tmp_path / "key"))


def test_worker_processes_answer_the_same(made: Path, tmp_path: Path) -> None:
    system = {"name": "mended", "use": "update", "with": {"update": "model.json", "of": {"use": HALVED}}}
    file = study(made, "later.csv", name="run.yaml", without=("risk",), systems=[system])
    assert call("run", file, "-o", tmp_path / "one").code == 0
    assert call("run", file, "-o", tmp_path / "two", "--engine", "processes", "--workers", "2").code == 0
    assert Report.read(tmp_path / "one").sha256 == Report.read(tmp_path / "two").sha256
