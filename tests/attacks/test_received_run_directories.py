"""A run directory that somebody sent: nothing in it runs code, leads out of it, or has a file of the reader removed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.shell import COMMAND, Done, cohort, spawn, write
from workup.report import digest

EVIL = """
from pathlib import Path
Path({canary!r}).write_text("ran")
class Object:
    cards = {{}}
"""


HONEST = """
import numpy as np
class Object:
    name, version = "mine", "1"
    def predict(self, table):
        return np.full(len(next(iter(table.values()))), 0.3)
"""


def made(folder: Path, **changes: Any) -> Path:
    """A study with its run, both of the reader's own making."""
    write(folder / "cohort.csv", cohort(120))
    content = {
        "name": "mine",
        "task": "risk",
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died", "risk": "p", "patient": "patient"},
        "bootstrap": {"replicates": 200},
        "lenses": {"internal": {}},
        "gates": ["auroc.low >= 0.01"],
        **changes,
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    done = spawn("run", folder / "study.yaml", "-o", folder / "run")
    assert done.code == 0, done.err
    return folder / "run"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run that the tests copy, as an archive would be unpacked."""
    return made(tmp_path_factory.mktemp("sender"))


@pytest.fixture
def received(own: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(own, tmp_path / "inbox" / "run"))


def one_message(done: Done, *, code: int = 2) -> None:
    assert done.code == code, done
    assert "Traceback" not in done.err and done.err.count("\n") <= 1, done.err


def evil_study(folder: Path) -> tuple[Path, Path]:
    """A study that runs code as soon as it is read, and the file that tells that it did."""
    canary = folder / "canary"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "evil.py").write_text(EVIL.format(canary=str(canary)))
    write(folder / "cohort.csv", cohort(120))
    study = {
        "name": "mine",
        "task": "risk",
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died", "patient": "patient"},
        "bootstrap": {"replicates": 200},
        "systems": [{"use": "evil:Object"}],
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    return folder / "study.yaml", canary


def point_to(received: Path, study: Path) -> None:
    timings = json.loads((received / "timings.json").read_text())
    (received / "timings.json").write_text(
        json.dumps({**timings, "study_file": os.path.relpath(study, received.resolve())})
    )


def rewrite(received: Path, **study: Any) -> None:
    """Change what the record says of its study, with a hash that fits."""
    file = received / "report.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    record["study"] |= study
    file.write_text(json.dumps(record | {"sha256": digest(record)}), encoding="utf-8")


EVERY = ("verify", "compare", "report", "gate", "clean", "pool", "site-pack", "view")


def words(command: str, received: Path, tmp_path: Path) -> list[str | Path]:
    more: dict[str, list[str | Path]] = {
        "compare": [received],
        "site-pack": ["-o", tmp_path / "pack.json"],
        "gate": ["--rule", "auroc.low >= 0.01"],
    }
    if command == "pool":
        return ["pool", received / "report.json", "--internal", received]
    return [command, received, *more.get(command, [])]


# ---- code ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", EVERY)
@pytest.mark.parametrize("inside", [True, False])
def test_the_study_that_a_received_folder_names_is_not_run(
    command: str, inside: bool, received: Path, tmp_path: Path
) -> None:
    study, canary = evil_study(received if inside else tmp_path / "elsewhere")
    point_to(received, study)
    done = spawn(*words(command, received, tmp_path))
    assert not canary.exists(), done
    assert "Traceback" not in done.err
    if command == "verify":
        one_message(done)
        assert "--trust-study" in done.err and "--study" in done.err
    if command == "compare":
        assert "--trust-study" in done.err, "what would pair the runs is said"


@pytest.mark.parametrize("command", EVERY)
def test_a_record_that_names_its_task_as_code_imports_none(command: str, received: Path, tmp_path: Path) -> None:
    _, canary = evil_study(tmp_path)
    rewrite(received, task="evil:Object")
    done = spawn(
        *words(command, received, tmp_path), PYTHONPATH=f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    )
    assert not canary.exists(), done
    assert "Traceback" not in done.err
    if command in ("gate", "compare", "site-pack"):
        one_message(done)


def test_a_pack_that_names_its_task_as_code_imports_none(received: Path, tmp_path: Path) -> None:
    _, canary = evil_study(tmp_path)
    pack = tmp_path / "pack.json"
    assert spawn("site-pack", received, "-o", pack).code == 0
    record = json.loads(pack.read_text()) | {"task": "evil:Object"}
    pack.write_text(json.dumps(record | {"sha256": digest(record)}))
    done = spawn("pool", pack, PYTHONPATH=f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert not canary.exists(), done
    one_message(done)


def test_a_study_that_is_trusted_or_named_is_run(received: Path, own: Path, tmp_path: Path) -> None:
    study, canary = evil_study(tmp_path / "elsewhere")
    point_to(received, own.parent / "study.yaml")
    assert spawn("verify", received).code == 2
    assert spawn("verify", received, "--study", own.parent / "study.yaml").code == 0
    assert spawn("verify", received, "--trust-study").code == 0
    both = spawn("compare", received, received, "--study", own.parent / "study.yaml")
    assert both.code == 0 and "not paired" not in both.err
    assert "not paired" in spawn("compare", received, received).err
    point_to(received, study)
    spawn("verify", received, "--trust-study")
    assert canary.exists(), "--trust-study means what it says"


def test_a_folder_made_here_stays_convenient_and_a_copy_over_it_is_not_taken_for_it(own: Path, tmp_path: Path) -> None:
    run = made(tmp_path / "mine")
    assert spawn("verify", run).code == 0
    assert "not paired" not in spawn("compare", run, run).err
    (tmp_path / "latest").symlink_to(run)
    assert spawn("verify", tmp_path / "latest").code == 0
    shutil.rmtree(run)
    shutil.copytree(own, run)  # unpacked in its place
    point_to(run, tmp_path / "mine" / "study.yaml")
    assert "--trust-study" in spawn("verify", run).err
    assert "--trust-study" in spawn("verify", own, XDG_STATE_HOME=str(tmp_path / "other user")).err


def test_notes_of_own_runs_that_others_could_write_prove_nothing(tmp_path: Path) -> None:
    state = tmp_path / "state"
    run = made(tmp_path / "mine")
    done = spawn("run", tmp_path / "mine" / "study.yaml", "-o", run, XDG_STATE_HOME=str(state))
    assert done.code == 0
    [note] = (state / "workup" / "runs").iterdir()
    assert note.stat().st_mode & 0o777 == 0o600
    assert spawn("verify", run, XDG_STATE_HOME=str(state)).code == 0
    note.chmod(0o666)
    assert spawn("verify", run, XDG_STATE_HOME=str(state)).code == 2


# ---- links and names -------------------------------------------------------------------------------------------------


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """Files of the reader, outside of the folder."""
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "model-0123456789ab.jsonl").write_text("mine\n")
    (folder / "thesis.txt").write_text("mine\n")
    return folder


def unharmed(precious: Path) -> None:
    assert {file.name: file.read_text() for file in precious.iterdir()} == {
        "model-0123456789ab.jsonl": "mine\n",
        "thesis.txt": "mine\n",
    }


@pytest.mark.parametrize("fresh", [True, False])
def test_a_folder_of_outputs_that_is_a_link_is_left_alone(
    fresh: bool, received: Path, own: Path, precious: Path
) -> None:
    shutil.rmtree(received / "outputs", ignore_errors=True)
    (received / "outputs").symlink_to(precious)
    spawn(*(("run", own.parent / "study.yaml", "-o", received, "--fresh") if fresh else ("clean", received)))
    unharmed(precious)


def test_clean_and_fresh_remove_no_link_and_no_file_of_another_name(received: Path, own: Path, precious: Path) -> None:
    (received / "outputs").mkdir(exist_ok=True)
    links = [received / "outputs" / "a-0123456789ab.jsonl", received / "details.jsonl"]
    for link in links:
        link.unlink(missing_ok=True)
        link.symlink_to(precious / "thesis.txt")
    others = [received / "outputs" / "interviews.jsonl", received / "thesis.docx", received / ".draft.tmp"]
    for other in others:
        other.write_text("mine")
    listed = ["thesis.docx", "../precious/thesis.txt", "report.json/../../x", ".draft.tmp", "outputs/interviews.jsonl"]
    (received / ".workup").write_text(json.dumps({"files": [*listed, "report.json"], "format": 1}))
    spawn("clean", received)
    assert all(link.is_symlink() for link in links) and all(other.exists() for other in others)
    spawn("run", own.parent / "study.yaml", "-o", received, "--fresh")
    assert all(link.is_symlink() for link in links) and all(other.exists() for other in others)
    unharmed(precious)


def test_runs_inside_a_folder_are_not_reached_through_links(received: Path, own: Path, tmp_path: Path) -> None:
    folder = tmp_path / "several"
    folder.mkdir()
    (folder / "one").symlink_to(own)
    before = {file.name for file in own.iterdir()}
    one_message(spawn("clean", folder))
    one_message(spawn("report", folder))
    assert {file.name for file in own.iterdir()} == before


@pytest.mark.parametrize("command", ["verify", "report", "gate", "compare", "site-pack"])
def test_a_record_that_is_a_link_is_not_followed(command: str, received: Path, own: Path, tmp_path: Path) -> None:
    (received / "report.json").unlink()
    (received / "report.json").symlink_to(own / "report.json")
    done = spawn(*words(command, received, tmp_path))
    one_message(done)
    assert "a link" in done.err


@pytest.mark.parametrize("name", [".lock", ".workup", "run.log", "timings.json", "details.jsonl", "report.html"])
@pytest.mark.parametrize("hard", [True, False])
def test_a_planted_link_is_neither_written_through_nor_opened_to_others(
    name: str, hard: bool, received: Path, own: Path, precious: Path
) -> None:
    target = precious / "thesis.txt"
    target.chmod(0o640)
    (received / name).unlink(missing_ok=True)
    (received / name).hardlink_to(target) if hard else (received / name).symlink_to(target)
    for line in (("clean", received), ("verify", received, "--study", own.parent / "study.yaml")):
        assert "Traceback" not in spawn(*line).err
    done = spawn("run", own.parent / "study.yaml", "-o", received)
    assert "Traceback" not in done.err
    unharmed(precious)
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["report.json", ".lock", "timings.json", ".workup"])
def test_a_pipe_in_the_folder_makes_nobody_wait(name: str, received: Path, own: Path) -> None:
    (received / name).unlink(missing_ok=True)
    os.mkfifo(received / name)
    for line in (("report", received), ("clean", received), ("verify", received)):
        done = spawn(*line)
        assert done.code in (0, 2) and "Traceback" not in done.err, done


# ---- records ---------------------------------------------------------------------------------------------------------

DEEP = {f"{depth} levels": '{"study":' + "[" * depth + "]" * depth + "}" for depth in (70, 200, 400, 900, 100_000)}


@pytest.mark.parametrize(
    "content", [*DEEP.values(), '{"seed": NaN}', '{"seed": 1' + "0" * 9999 + "}"], ids=[*DEEP, "NaN", "long"]
)
@pytest.mark.parametrize("command", ["report", "gate", "verify"])
def test_a_record_that_is_no_record_is_one_message(command: str, content: str, received: Path, tmp_path: Path) -> None:
    (received / "report.json").write_text(content)
    one_message(spawn(command, received))


@pytest.mark.parametrize("name", ["report.json", "timings.json", ".workup"])
def test_a_file_without_end_is_refused_before_it_is_read(name: str, received: Path, own: Path) -> None:
    os.truncate(received / name, 40 * 2**30)  # takes no room on the disk, and all memory once it is read
    began = time.monotonic()
    limit = "import resource as r, sys; r.setrlimit(r.RLIMIT_AS, (4 << 30, 4 << 30)); "
    code = f"{limit}sys.argv = {['workup', 'verify', str(received)]!r}; from workup.cli import main; main()"
    done = subprocess.run([COMMAND[0], "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert time.monotonic() - began < 50


def test_outputs_without_end_are_refused(tmp_path: Path) -> None:
    study, _ = evil_study(tmp_path)
    (tmp_path / "evil.py").write_text(HONEST)
    done = spawn("run", study, "-o", tmp_path / "run")
    assert done.code in (0, 1, 3), done.err
    [log] = (tmp_path / "run" / "outputs").glob("*.jsonl")
    os.truncate(log, 40 * 2**30)
    one_message(spawn("verify", tmp_path / "run"))


# ---- a run that begins anew ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("planted", ["the folder of outputs", "a file of outputs", "a pipe", "report.md"])
def test_a_run_that_is_refused_has_removed_nothing(planted: str, own: Path, received: Path, tmp_path: Path) -> None:
    run, elsewhere = received, tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "own.txt").write_text("mine", encoding="utf-8")
    outputs = run / "outputs"
    outputs.mkdir(exist_ok=True)
    if planted == "the folder of outputs":
        for one in outputs.iterdir():
            one.unlink()
        outputs.rmdir()
        outputs.symlink_to(elsewhere)
    elif planted == "a pipe":
        os.mkfifo(outputs / "a-0123456789ab.jsonl")
    else:
        place = run / "report.md" if planted == "report.md" else outputs / "a-0123456789ab.jsonl"
        place.unlink(missing_ok=True)
        place.symlink_to(elsewhere / "own.txt")
    before = {one.name: one.lstat().st_mtime_ns for one in run.iterdir() if one.name != ".lock"}
    done = spawn("run", own.parent / "study.yaml", "-o", run, "--fresh")
    assert done.code == 2 and "not followed" in done.err and "To fix: remove it, or choose another folder" in done.err
    assert {one.name: one.lstat().st_mtime_ns for one in run.iterdir() if one.name != ".lock"} == before
    assert (elsewhere / "own.txt").read_text(encoding="utf-8") == "mine"
