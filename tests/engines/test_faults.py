"""What a hospital's machines do: full and read-only disks, systems that hang or leak, damaged files, odd clocks, shards
that do not belong together. Each has a clear outcome, and nothing that was finished is lost."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.engine_systems import ROWS, risk_study, table_of, write_study
from tests.support.shell import Done
from tests.support.shell import call as workup
from workup import version
from workup.engines.spark_connect import named_program
from workup.errors import RunError
from workup.runs import RunDirectory, directory
from workup.validate import validate


def outputs_file(place: Path) -> Path:
    (file,) = (place / "outputs").iterdir()
    return file


def test_a_full_disk_ends_the_run_in_words_and_the_next_goes_on(tmp_path: Path) -> None:
    """A limit on the size of files fails like a full disk: in the middle of a write."""
    file = write_study(tmp_path)
    words = [sys.executable, "-m", "workup.cli", "run", str(file), "-o", str(tmp_path / "run")]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, 6_000))

    stopped = subprocess.run(words, preexec_fn=limited, capture_output=True, text=True, timeout=120)
    assert stopped.returncode == 2
    assert "outputs could not be written" in stopped.stderr and "what was recorded before is kept" in stopped.stderr
    kept = outputs_file(tmp_path / "run").read_text()
    assert 0 < kept.count("\n") < ROWS and kept.endswith("\n")
    assert workup("run", file, "-o", tmp_path / "run").code == 0
    assert outputs_file(tmp_path / "run").read_text().startswith(kept)  # nothing of it was asked again
    assert workup("run", file, "-o", tmp_path / "whole").code == 0
    assert (tmp_path / "run/report.json").read_bytes() == (tmp_path / "whole/report.json").read_bytes()


def test_a_read_only_place_is_refused_before_anything_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_study(tmp_path)
    (tmp_path / "fixed").mkdir()
    real = os.open

    def read_only(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if "fixed" in str(path) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(30, "Read-only file system", str(path))
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", read_only)
    for words in (["-o", tmp_path / "fixed"], ["-o", tmp_path / "fixed", "--shard", "1/2"]):
        refused = workup("run", file, *words)
        assert refused.code == 2
        assert "Read-only file system" in refused.err
    assert list((tmp_path / "fixed").iterdir()) == []


def test_a_system_that_leaks_is_opened_anew_and_finishes(tmp_path: Path) -> None:
    study = risk_study(use="Leaking", engine="processes", workers=1, folder=str(tmp_path))
    study = study.model_copy(update={"engine_settings": {"growth_mb": 60.0}})
    report = validate(study, table=table_of(ROWS))
    assert report.corpus["n_cases"] == ROWS
    assert len(list(tmp_path.iterdir())) == 3  # 24 batches of 8 MB: a worker ends after nine


def test_damaged_outputs_are_refused_by_line_and_the_rest_is_not_touched(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    assert workup("run", file, "--shard", "1/2", "-o", tmp_path / "one").code == 0
    assert workup("run", file, "--shard", "2/2", "-o", tmp_path / "two").code == 0
    log = outputs_file(tmp_path / "one")
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([*lines[:3], lines[3].replace('"output":0.', '"output":0.9'), *lines[4:]]))
    damaged = log.read_bytes()
    for words in (merge(tmp_path), ["run", file, "--shard", "1/2", "-o", tmp_path / "one"]):
        refused = workup(*words)
        assert refused.code == 2
        assert "line 4: the record does not match its checksum" in refused.err and "--fresh" in refused.err
    assert log.read_bytes() == damaged
    log = outputs_file(tmp_path / "two")
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-2]))  # two records are gone without a trace
    log = outputs_file(tmp_path / "one")
    log.write_text("".join(lines))
    for number, name in ((1, "one"), (2, "two")):
        refused = workup(*merge(tmp_path))
        assert refused.code == 2 and f"shard {number} of 2" in refused.err
        assert workup("run", file, "--shard", f"{number}/2", "-o", tmp_path / name).code == 0
    assert workup(*merge(tmp_path)).code == 0


def merge(folder: Path, *more: str | Path) -> list[str | Path]:
    return ["merge", folder / "one", folder / "two", "-o", folder / "merged", *more]


def test_a_clock_that_goes_backwards_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = validate(risk_study(), table=table_of()).to_json()
    now = [datetime(2026, 1, 1, tzinfo=UTC)]

    class Backwards(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            now[0] -= timedelta(hours=7)
            return now[0]

    monkeypatch.setattr(directory, "datetime", Backwards)
    monkeypatch.setattr(time, "time", lambda: now[0].timestamp() - 1e6)
    for _ in range(2):
        with RunDirectory.open(tmp_path / "run") as run:
            run.log("began")
            assert validate(risk_study(), table=table_of(), run=run).to_json() == expected
    stamps = [line.split()[0] for line in (tmp_path / "run" / "run.log").read_text().splitlines()]
    assert stamps == sorted(stamps, reverse=True)


# Shards that do not make one run


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with its two shards."""
    folder = tmp_path_factory.mktemp("shards")
    file = write_study(folder)
    for number, name in ((1, "one"), (2, "two")):
        assert workup("run", file, "--shard", f"{number}/2", "-o", folder / name).code == 0
    return folder


def refused(folder: Path, *places: Path) -> Done:
    done = workup("merge", *places, "-o", folder / "refused", "--study", folder / "study.yaml")
    assert done.code == 2
    assert not (folder / "refused").exists()
    return done


def test_a_missing_shard_is_named(shards: Path) -> None:
    assert "of 2 shards 1 is missing: 1" in refused(shards, shards / "two").err


def test_a_shard_that_is_there_twice_is_named(shards: Path, tmp_path: Path) -> None:
    said = refused(shards, shards / "one", shards / "two", copied(shards / "two", tmp_path / "again")).err
    assert "shard 2 of 2" in said and "is there twice" in said


def copied(place: Path, to: Path, **changes: Any) -> Path:
    import shutil

    shutil.copytree(place, to)
    note = json.loads((to / "shard.json").read_text())
    (to / "shard.json").write_text(json.dumps({**note, **changes}))
    return to


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"workup": "0.0.9"}, f"was made by Workup 0.0.9, and this is {version.__version__}"),
        ({"study": "0" * 64}, "is of another study, or of this one before it was changed"),
        ({"outputs": "0" * 64}, "asked another system, or other cases"),
        ({"of": 3}, "is one of 2 and others are of 3"),
        ({"complete": False}, "is not finished"),
        ({"number": "2"}, "its shard.json is not in the form that Workup writes"),
        ({"more": 1}, "its shard.json is not in the form that Workup writes"),
    ],
)
def test_a_shard_that_does_not_belong_is_refused_by_name(
    shards: Path, tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    odd = copied(shards / "two", tmp_path / "odd", **changes)
    said = refused(shards, shards / "one", odd).err
    assert says in said
    assert str(odd) in said or "shard 1 of 2" in said


def test_cases_that_two_shards_hold_are_refused(shards: Path, tmp_path: Path) -> None:
    both = copied(shards / "two", tmp_path / "both")
    first = outputs_file(shards / "one").read_text().splitlines(keepends=True)
    with outputs_file(both).open("a") as file:
        file.writelines(first[:5])
    both = copied(both, tmp_path / "told", cases=125)
    done = workup("merge", shards / "one", both, "-o", tmp_path / "out", "--study", shards / "study.yaml")
    assert done.code == 2 and "5 cases of shard 2 of 2 are in another shard too" in done.err


def test_a_shard_has_a_folder_of_its_own(shards: Path) -> None:
    said = workup("run", shards / "study.yaml", "--shard", "2/2", "-o", shards / "one")
    assert said.code == 2 and "the folder holds shard 1 of 2, and shard 2 of 2 was to be written" in said.err


def test_a_share_must_be_one(shards: Path) -> None:
    for wrong in ("0/2", "3/2", "1", "1/0", "-1/2", "a/b", "1/1000000"):
        said = workup("run", shards / "study.yaml", "--shard", wrong)
        assert said.code == 2 and "a share must be written as NUMBER/OF" in said.err


def test_what_is_recorded_or_held_in_conversation_has_no_shards(tmp_path: Path) -> None:
    corpus = {"generate": {"kind": "cohort", "count": 60}}
    study = {"name": "r", "task": "risk", "corpus": corpus, "columns": {"outcome": "outcome", "risk": "risk"}}
    (tmp_path / "study.yaml").write_text(json.dumps(study))
    said = workup("run", tmp_path / "study.yaml", "--shard", "1/2", "-o", tmp_path / "run")
    assert said.code == 2 and "are recorded, so there is nothing to ask" in said.err


def test_a_folder_without_shards_is_said_to_be_one(tmp_path: Path) -> None:
    said = workup("merge", tmp_path)
    assert said.code == 2 and "no shard was found here" in said.err


def test_a_shard_of_an_unknown_origin_names_no_study_to_run(shards: Path, tmp_path: Path) -> None:
    places = [copied(shards / name, tmp_path / name) for name in ("one", "two")]
    said = workup("merge", *places, "-o", tmp_path / "out")
    assert said.code == 2 and "was not made here" in said.err


def test_an_engine_that_is_gone_says_so_before_anything_is_asked(tmp_path: Path) -> None:
    study = risk_study(engine="spark").model_copy(update={"engine_settings": {"address": "local[2]"}})
    with named_program():
        pytest.importorskip("pyspark.sql.connect.session", reason="the extra 'spark' is not installed")
    with pytest.raises(RunError, match="needs the whole of pyspark"):
        validate(study, table=table_of())


def test_detect_says_how_many_documents_failed(tmp_path: Path) -> None:
    texts = ["ward 1", "ward 2", "ward 3 ZZSECRET", "ward 4"]
    lines = [json.dumps({"id": f"note-{n}", "text": text}) for n, text in enumerate(texts)]
    (tmp_path / "notes.jsonl").write_text("\n".join(lines) + "\n")
    words = ("detect", tmp_path / "notes.jsonl", "--system", "tests.support.engine_systems:Talkative")
    done = workup(*words, "-o", tmp_path / "found.jsonl")
    assert done.code == 0
    assert "3 spans in 3 documents; 1 failed" in done.err
    assert len((tmp_path / "found.jsonl").read_text().splitlines()) == 3
