"""What a command writes goes to regular files alone, whole or not at all, whatever stands there or runs full."""

from __future__ import annotations

import json
import os
import resource
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.shell import COMMAND, Done, cohort, spawn, write
from workup.report_schema import SCHEMA_VERSION

NOTE = {"id": "a", "text": "Seen on 9 May by Ann.", "spans": [{"start": 8, "end": 13, "label": "date"}]}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with something to work on, and a file of the user's that nothing may touch."""
    write(tmp_path / "cohort.csv", cohort(80))
    (tmp_path / "notes.jsonl").write_text(json.dumps(NOTE) + "\n")
    (tmp_path / "note.txt").write_text("Seen on 9 May by Ann.\n")
    (tmp_path / "precious").write_text("mine\n")
    return tmp_path


SCORE = ("score", "risk", "cohort.csv", "--outcome", "died", "--risk", "p", "--replicates", "200", "--json")
PLAN = ("plan", "proportions", "--p1", "0.8", "--difference", "0.1", "--prevalence", "0.5", "--json")
COMMANDS = {
    "score --json": (*SCORE, "out"),
    "plan --json": (*PLAN, "out"),
    "plugins --json": ("plugins", "--json", "out"),
    "detect -o": ("detect", "notes.jsonl", "-o", "out"),
    "redact -o": ("redact", "note.txt", "-o", "out"),
    "redact --pieces": ("redact", "note.txt", "-o", "redacted.txt", "--pieces", "out"),
    "redact --new-key": ("redact", "--new-key", "out"),
    "convert": ("corpus", "convert", "notes.jsonl", "out", "--to", "spans-jsonl"),
    "noise": ("corpus", "noise", "notes.jsonl", "--kind", "typo", "--rate", "0.1", "--seed", "1", "-o", "out.jsonl"),
    "describe --mapping": ("corpus", "describe", "notes.jsonl", "--mapping", "out"),
    "generate cohort": ("corpus", "generate", "--kind", "cohort", "--count", "20", "--seed", "1", "-o", "out.csv"),
    "inject": ("corpus", "inject", "--source", "notes.jsonl", "--seed", "1", "-o", "out.jsonl"),
    "split": ("split", "cohort.csv", "--strategy", "random", "-o", "out"),
    "plan -o": (*PLAN[:-1], "-o", "out"),
    "new": ("new", "risk", "out"),
}


def target(desk: Path, words: tuple[str, ...]) -> Path:
    return desk / next(word for word in words if word.startswith("out"))


def refused(done: Done) -> None:
    assert done.code == 2, done
    # Before it stands at most how far the work got, on a machine that was slow.
    assert "Traceback" not in done.err and done.err.splitlines()[-1].startswith("workup: "), done.err


def left(desk: Path) -> set[str]:
    """What lies there, hidden files too."""
    return {path.relative_to(desk).as_posix() for path in desk.rglob("*")}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_link_is_neither_followed_nor_replaced(words: tuple[str, ...], desk: Path) -> None:
    out = target(desk, words)
    out.symlink_to(desk / "precious")
    refused(spawn(*words, cwd=desk))
    assert out.is_symlink() and (desk / "precious").read_text() == "mine\n"


@pytest.mark.parametrize("name", ["score --json", "detect -o", "redact -o", "convert", "noise", "generate cohort"])
def test_a_link_that_leads_nowhere_makes_no_file_where_it_points(name: str, desk: Path) -> None:
    out = target(desk, COMMANDS[name])
    out.symlink_to(desk / "elsewhere")
    refused(spawn(*COMMANDS[name], cwd=desk))
    assert out.is_symlink() and not (desk / "elsewhere").exists()


@pytest.mark.parametrize(
    "name", ["score --json", "redact -o", "convert", "noise", "generate cohort", "describe --mapping"]
)
def test_a_pipe_is_neither_waited_for_nor_replaced(name: str, desk: Path) -> None:
    out = target(desk, COMMANDS[name])
    os.mkfifo(out)
    refused(spawn(*COMMANDS[name], cwd=desk))
    assert stat.S_ISFIFO(out.lstat().st_mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="devices are made, and could be replaced, by root alone")
def test_a_device_is_not_replaced(desk: Path) -> None:
    device = desk / "out"
    os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))  # another /dev/null
    for name in ("score --json", "redact -o"):
        refused(spawn(*COMMANDS[name], cwd=desk))
    assert stat.S_ISCHR(device.lstat().st_mode)


@pytest.mark.parametrize("folder", ["split", "plan -o", "new"])
def test_a_folder_that_is_a_link_is_not_written_into(folder: str, desk: Path) -> None:
    (desk / "private").mkdir()
    (desk / "out").symlink_to(desk / "private")
    refused(spawn(*COMMANDS[folder], cwd=desk))
    assert not list((desk / "private").iterdir()) and (desk / "out").is_symlink()


@pytest.mark.parametrize("planted", ["file", "link"])
def test_what_lies_where_the_temporary_file_would_be_is_kept(planted: str, desk: Path) -> None:
    """Names that earlier versions, or these, could have given to files on the way."""
    places = {name: desk / name for name in ("out.part", ".out.tmp", ".out.part.jsonl", "out.jsonl.part")}
    for place in places.values():
        place.write_text("mine") if planted == "file" else place.symlink_to(desk / "precious")
    (desk / ".texts.tmp").mkdir()
    (desk / ".texts.tmp" / "thesis.txt").write_text("mine")
    shutil.copy(desk / "note.txt", desk / "other.txt")
    for words in (COMMANDS["score --json"], COMMANDS["noise"], ("redact", "note.txt", "other.txt", "-o", "texts")):
        assert spawn(*words, cwd=desk).code == 0
    if planted == "file":
        assert {place.read_text() for place in places.values()} == {"mine"}
    else:
        assert all(place.is_symlink() for place in places.values())
    assert (desk / "precious").read_text() == "mine\n"
    assert (desk / ".texts.tmp" / "thesis.txt").read_text() == "mine"
    assert (desk / "out").is_file() and (desk / "out.jsonl").is_file() and (desk / "texts" / "note.txt").is_file()


def test_the_folder_of_an_unfinished_detection_takes_no_file_of_others_with_it(desk: Path) -> None:
    place = desk / "out.unfinished"
    place.mkdir()
    (place / ".workup").write_text('{"files": ["thesis.txt"], "format": 1}')
    (place / "thesis.txt").write_text("mine")
    assert spawn(*COMMANDS["detect -o"], cwd=desk).code == 0
    assert (place / "thesis.txt").read_text() == "mine"


def test_a_split_does_not_take_a_folder_of_others_for_its_own(desk: Path) -> None:
    assert spawn(*COMMANDS["split"], cwd=desk).code == 0
    (desk / "out" / "split.txt").unlink()
    (desk / "out" / "split.txt").mkdir()
    (desk / "out" / "split.txt" / "thesis.txt").write_text("mine")
    refused(spawn(*COMMANDS["split"], cwd=desk))
    assert (desk / "out" / "split.txt" / "thesis.txt").read_text() == "mine"


# ---- no room ---------------------------------------------------------------------------------------------------------


def limited(size: int) -> Callable[[], None]:
    """Files of at most so many bytes, as on a disk that is full: Python ignores the signal and gets EFBIG."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def run_limited(words: tuple[str, ...], desk: Path, size: int) -> Done:
    done = subprocess.run(
        [*COMMAND, *words], cwd=desk, capture_output=True, text=True, timeout=120, check=False, preexec_fn=limited(size)
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_full_disk_is_one_message_and_leaves_nothing_behind(words: tuple[str, ...], desk: Path) -> None:
    before = left(desk)
    done = run_limited(words, desk, 8)
    refused(done)
    assert done.err.count("\n") <= 4, done.err
    rest = {name for name in left(desk) - before if not name.startswith("out.unfinished")}
    assert rest <= {"out"} and not (desk / "out").is_file(), "at most an empty folder that was asked for"


def test_a_run_on_a_full_disk_is_one_message(desk: Path) -> None:
    assert spawn("new", "risk", "mine", cwd=desk).code == 0
    for size in (0, 100, 4096):
        refused(run_limited(("run", "mine/study.yaml", "-o", "run"), desk, size))
        assert not (desk / "run" / "report.json").exists()
    assert run_limited(("run", "mine/study.yaml", "-o", "run", "--allow-unsure"), desk, 2**30).code in (0, 1)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_place_that_cannot_be_written_is_one_message(words: tuple[str, ...], desk: Path) -> None:
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("needs a folder that not even root can write to")
    out = next(word for word in words if word.startswith("out"))
    refused(spawn(*(f"/proc/{word}" if word == out else word for word in words), cwd=desk))


# ---- streams ---------------------------------------------------------------------------------------------------------


def through(shell: str, desk: Path) -> Done:
    line = shell.replace("WORKUP", " ".join(COMMAND))
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=desk, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def judged(desk: Path) -> Path:
    assert spawn(*SCORE[:-1], "--json", "report.json", cwd=desk).code == 0
    return desk


RULES = "--rule 'auroc.low >= 0.99'" + " --rule 'auroc.value >= 0.01'" * 3
PASSING = "--rule 'auroc.value >= 0.01' " * 4


def test_a_reader_that_stops_changes_no_verdict(judged: Path) -> None:
    failing, passing = f"WORKUP gate report.json {RULES}", f"WORKUP gate report.json {PASSING}"
    assert through(failing, judged).code == 1
    for reader in ("head -c1", "true"):
        done = through(f"{failing} --junit gates.xml | {reader}", judged)
        assert (done.code, done.err) == (1, ""), reader
        assert (judged / "gates.xml").is_file()
        assert (through(f"{passing} | {reader}", judged).code) == 0
        done = through(f"WORKUP report report.json -f html | {reader}", judged)
        assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("stream", [">&-", "> /dev/full"])
def test_an_answer_that_got_lost_is_bad_and_never_a_verdict(stream: str, judged: Path) -> None:
    for line in (
        f"WORKUP gate report.json {RULES}",
        "WORKUP report report.json",
        "WORKUP score risk cohort.csv --outcome died --risk p --json -",
    ):
        done = through(f"{line} {stream}", judged)
        assert done.code == 2, (line, done)
        assert "standard output" in done.err and "Traceback" not in done.err and done.err.count("\n") == 1
    quiet = through(f"WORKUP report report.json -o again.txt {stream}", judged)
    assert quiet.code == 0 and (judged / "again.txt").is_file(), "nothing was to be printed"


@pytest.mark.parametrize("stream", ["2>&-", "2> /dev/full", "<&-", "<&- 2>&-"])
def test_streams_that_are_closed_or_full_change_no_code(stream: str, judged: Path) -> None:
    assert through(f"WORKUP gate report.json {PASSING} {stream}", judged).code == 0
    assert through(f"WORKUP gate report.json {RULES} {stream}", judged).code == 1
    assert through(f"WORKUP gate nowhere.json {stream}", judged).code == 2


def test_no_file_takes_the_number_of_a_closed_stream(desk: Path) -> None:
    assert spawn("new", "risk", "mine", cwd=desk).code == 0
    done = through("WORKUP run mine/study.yaml -o run --allow-unsure >&- 2>&- <&-", desk)
    assert done.code == 2
    assert json.loads((desk / "run" / "report.json").read_text())["schema_version"] == SCHEMA_VERSION
    assert (desk / "run" / ".lock").read_text().isdigit()


@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_a_verdict_is_not_told_before_its_place_is_looked_at(option: str, judged: Path) -> None:
    done = through(f"WORKUP gate report.json {PASSING} {option} nowhere/v.json", judged)
    assert done.code == 2 and done.out == "" and done.err.count("\n") == 1
