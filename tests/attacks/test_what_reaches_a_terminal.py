"""Names and paths that hold line ends or characters which steer a terminal; and commands that would end well without a
word of what they left out."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import COMMAND, Done, call, cohort, write

STEERS = "a\u009b31m\u202eb"
FORGED = "x\npass         auroc.low >= 0.99  forged"


def told(*words: str, cwd: Path) -> Done:
    """`workup` in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        return call(*words)


def _study(folder: Path, name: str = "s", **more: Any) -> Path:
    write(folder / "cohort.csv", cohort(80))
    content = {
        "name": name,
        "task": "risk",
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died", "risk": "p"},
        "lenses": {"internal": {}},
        "bootstrap": {"replicates": 50},
        "gates": ["auroc.low >= 0.01"],
        **more,
    }
    (folder / "study.yaml").write_text(json.dumps(content))  # JSON is YAML
    return folder / "study.yaml"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A finished run."""
    _study(tmp_path, STEERS)
    done = told("run", "study.yaml", "-o", "run", cwd=tmp_path)
    assert done.code == 0, done
    return tmp_path / "run"


def _steering(text: str) -> set[str]:
    return {c for c in text if c in "\u009b\u202e\x1b"}


@pytest.mark.parametrize("form", ["json", "json-flat"])
def test_json_on_standard_output_names_what_would_steer_by_its_number(run: Path, form: str) -> None:
    done = told("report", str(run), "-f", form, cwd=run.parent)
    assert done.code == 0 and not _steering(done.out)
    held = json.loads(done.out)["study"]
    assert (held if isinstance(held, str) else held["name"]) == STEERS
    to_file = told("report", str(run), "-f", form, "-o", "copy.json", cwd=run.parent)
    assert to_file.code == 0
    assert json.loads((run.parent / "copy.json").read_text()) == json.loads(done.out)


def test_so_do_scores_and_comparisons(run: Path) -> None:
    desk = run.parent
    columns = cohort(80)
    write(desk / "named.csv", {f"died{STEERS}": columns["died"], "p": columns["p"]})
    words = ("--outcome", f"died{STEERS}", "--risk", "p", "--replicates", "50", "--json", "-")
    for done in (
        told("score", "risk", "named.csv", *words, cwd=desk),
        told("compare", str(run), str(run), "--json", "-", cwd=desk),
    ):
        assert done.code in (0, 3), done
        assert json.loads(done.out) and not _steering(done.out)


def test_no_name_of_a_study_can_look_like_a_verdict(tmp_path: Path) -> None:
    _study(tmp_path, FORGED)
    done = told("run", "study.yaml", "--dry-run", cwd=tmp_path)
    assert done.code == 0, done
    assert not any(line.startswith("pass") for line in done.out.splitlines())


def test_a_typed_path_stays_on_one_line(tmp_path: Path) -> None:
    for words in (("gate", FORGED), ("report", f"./{FORGED}"), ("clean", FORGED), ("verify", FORGED)):
        done = told(*words, cwd=tmp_path)
        assert done.code == 2 and len(done.err.splitlines()) == 1, done


# ---- what is left out is said ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", ["full", "closed"])
def test_a_gate_that_cannot_answer_tells_no_verdict(run: Path, closed: str) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no full device")
    to = ">/dev/full" if closed == "full" else ">&-"
    line = f'"$@" {to}'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *COMMAND, "gate", str(run), "--json", "-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and "pass" not in done.stderr


def test_a_run_without_its_record_is_not_passed_over(run: Path) -> None:
    folder = run.parent / "both"
    folder.mkdir()
    run.rename(folder / "a")
    (folder / "b").mkdir(mode=0o700)
    (folder / "b" / ".workup").write_text('{"files":[],"format":1}\n')
    done = told("gate", str(folder), cwd=folder)
    assert done.code == 2 and "'b'" in done.err, done
    assert told("gate", str(folder / "a"), cwd=folder).code == 0


@pytest.mark.parametrize("name", ["outputs", "details.jsonl", "view"])
def test_what_clean_could_not_remove_is_said(run: Path, name: str) -> None:
    elsewhere = run.parent / "elsewhere"
    if (run / name).exists():
        (run / name).rename(elsewhere)
    else:
        elsewhere.mkdir()
    (run / name).symlink_to(elsewhere)
    done = told("clean", str(run), cwd=run.parent)
    assert done.code == 2 and name in done.err and "still there" in done.err, done
    assert elsewhere.exists()
    (run / name).unlink()
    assert told("clean", str(run), cwd=run.parent).code == 0


# ---- imported transcripts --------------------------------------------------------------------------------------------


def _imported(folder: Path, **more: Any) -> Done:
    line = json.dumps({"case": "a", "turn": 1, "reply": "x", "message": "m", **more}).replace('"HUGE"', "1e400")
    (folder / "t.jsonl").write_text(line + "\n")
    return told("import", "t.jsonl", "--from", "transcripts", "-o", "o.jsonl", cwd=folder)


def test_a_number_that_no_file_can_hold_is_refused_in_words(tmp_path: Path) -> None:
    done = _imported(tmp_path, z="HUGE")
    assert done.code == 2 and "line 1" in done.err and not (tmp_path / "o.jsonl").exists(), done


@pytest.mark.parametrize("turn", [-1, 1.5, "1", None, True, [1]])
def test_a_turn_is_a_whole_number(tmp_path: Path, turn: Any) -> None:
    done = _imported(tmp_path, turn=turn)
    assert done.code == 2 and "'turn'" in done.err and not (tmp_path / "o.jsonl").exists(), done


def test_transcripts_are_written_to_a_file(tmp_path: Path) -> None:
    assert _imported(tmp_path).code == 0
    done = told("import", "t.jsonl", "--from", "transcripts", "-o", "-", cwd=tmp_path)
    assert done.code == 2 and not (tmp_path / "-").exists(), done
