"""Files beside a study, or where the command is called, that have the names of libraries: none of them is run."""

from __future__ import annotations

import os
import pickle
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.shell import Done, cohort, write

PLANTED = "import pathlib\npathlib.Path({mark!r}).write_text(__name__)\nraise ImportError('planted')\n"
OWN = """import helper_of_mine

class Constant:
    name, version = "constant", "1"

    def predict(self, table):
        return [helper_of_mine.RISK] * len(next(iter(table.values())))
"""
# Names of the standard library, of what Workup rests on, of what it asks for if it is there, and of what those ask for.
NAMES = (
    "json",
    "csv",
    "statistics",
    "numpy",
    "scipy",
    "yaml",
    "pandas",
    "msgspec",
    "torch",
    "cupy",
    "lz4",
    "resource",
    "jinja2",
)


def study(folder: Path, *, engine: str = "serial") -> Path:
    write(folder / "cohort.csv", cohort(60))
    (folder / "my_model.py").write_text(OWN)
    (folder / "helper_of_mine.py").write_text("RISK = 0.3\n")
    (folder / "study.yaml").write_text(
        "name: s\ntask: risk\ncorpus: {path: cohort.csv}\ncolumns: {outcome: died, patient: patient}\n"
        f"engine: {engine}\nworkers: 2\nlenses: {{internal: {{}}}}\nbootstrap: {{replicates: 200}}\n"
        "systems:\n  - use: my_model:Constant\n"
    )
    return folder / "study.yaml"


def plant(folder: Path, names: tuple[str, ...], mark: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.py").write_text(PLANTED.format(mark=str(mark)))


def run(*words: str | Path, cwd: Path, by: str = "script") -> Done:
    """`workup` as its installed command calls it, or as a module."""
    start: tuple[str, ...] = ("-m", "workup.cli")
    if by == "script":
        command = cwd.parent / "bin" / "workup"
        command.parent.mkdir(exist_ok=True)
        command.write_text("from workup.cli import main\n\nif __name__ == '__main__':\n    main()\n")
        start = (str(command),)
    done = subprocess.run(
        [sys.executable, *start, *map(str, words)], cwd=cwd, capture_output=True, timeout=120, check=False
    )
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_files_beside_the_study_are_no_libraries(tmp_path: Path, engine: str) -> None:
    """The study's folder stood first on the import path."""
    mark = tmp_path / "mark"
    file = study(tmp_path / "received", engine=engine)
    plant(tmp_path / "received", NAMES, mark)
    (tmp_path / "called").mkdir()
    done = run("run", file, cwd=tmp_path / "called")
    assert not mark.exists(), f"'{mark.read_text()}' was run"
    assert done.code == 0, done.err


@pytest.mark.parametrize(("by", "engine"), [("module", "serial"), ("script", "processes"), ("module", "processes")])
def test_files_where_the_command_is_called_are_no_libraries(tmp_path: Path, by: str, engine: str) -> None:
    """`python -m` put that folder first on the import path, and so did every worker while it started."""
    mark = tmp_path / "mark"
    file = study(tmp_path / "study", engine=engine)
    started = ("multiprocessing", "struct", "tempfile", "socket") if by == "script" else ()
    plant(tmp_path / "called", (*NAMES, *started, "my_model", "helper_of_mine"), mark)
    done = run("run", file, cwd=tmp_path / "called", by=by)
    assert not mark.exists(), f"'{mark.read_text()}' was run"
    assert done.code == 0, done.err


def test_bytecode_beside_the_study_is_not_run_in_the_place_of_its_source(tmp_path: Path) -> None:
    import importlib.util

    file = study(tmp_path / "received")
    source = tmp_path / "received" / "helper_of_mine.py"
    evil = tmp_path / "evil.py"
    evil.write_text("RISK = 0.9\n")
    os.utime(evil, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    cached = Path(importlib.util.cache_from_source(str(source)))
    cached.parent.mkdir()
    py_compile.compile(str(evil), cfile=str(cached), doraise=True)
    (tmp_path / "called").mkdir()
    out = tmp_path / "out"
    done = run("run", file, "-o", out, cwd=tmp_path / "called")
    assert done.code == 0, done.err
    kept = "".join(one.read_text() for one in out.rglob("*.jsonl"))
    assert "0.3" in kept and "0.9" not in kept


def test_modules_in_a_package_beside_the_study_are_found(tmp_path: Path) -> None:
    file = study(tmp_path / "study", engine="processes")
    package = tmp_path / "study" / "models"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "constant.py").write_text("from models.risks import RISK\n" + OWN.replace("helper_of_mine.RISK", "RISK"))
    (package / "risks.py").write_text("RISK = 0.2\n")
    file.write_text(file.read_text().replace("my_model:Constant", "models.constant:Constant"))
    (tmp_path / "called").mkdir()
    done = run("run", file, cwd=tmp_path / "called")
    assert done.code == 0, done.err


def test_a_pickled_model_finds_its_classes_beside_the_study(tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib", reason="the sklearn extra is not installed")
    pytest.importorskip("sklearn", reason="the sklearn extra is not installed")
    file = study(tmp_path / "study")
    (tmp_path / "study" / "fitted_here.py").write_text(
        "class Model:\n    classes_ = (0, 1)\n    n_features_in_ = 1\n"
        "    def predict_proba(self, rows):\n        return [[0.7, 0.3]] * len(rows)\n"
    )
    dumped = subprocess.run(
        [sys.executable, "-c", "import fitted_here, joblib; joblib.dump(fitted_here.Model(), 'model.pkl')"],
        cwd=tmp_path / "study",
        check=False,
    )
    assert dumped.returncode == 0 and joblib
    file.write_text(
        file.read_text().replace(
            "use: my_model:Constant", "use: sklearn\n    with: {path: model.pkl, trust: true, features: [x1]}"
        )
    )
    (tmp_path / "called").mkdir()
    done = run("run", file, cwd=tmp_path / "called")
    assert done.code == 0, done.err


def test_a_folder_is_looked_into_for_those_who_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workup.plugins import find
    from workup.study_modules import look_beside, looked_beside

    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    (tmp_path / "asked_for.py").write_text("class Object: pass\n")
    look_beside(tmp_path)
    look_beside(tmp_path)
    assert looked_beside() == [tmp_path.resolve()]
    with pytest.raises(ImportError):
        import asked_for  # noqa: F401
    assert find("systems", "asked_for:Object").__name__ == "Object"
    assert pickle.loads(pickle.dumps(find("systems", "asked_for:Object"))).__module__ == "asked_for"
    sys.modules.pop("asked_for")
