"""A report shows the self-test of its scorer, which runs once for each version of the scorer and is then remembered."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workup.tasks import selftests
from workup.tasks.selftests import Check, Outcome, outcome, run_parts, scorer_hash
from workup.tasks.spans import selftest

PACKAGE = Path(selftests.__file__).parents[1]


class Asked:
    """A self-test that counts how often it is run."""

    def __init__(self, *answers: bool) -> None:
        self.times, self.answers = 0, answers or (True, True)

    def __call__(self) -> list[Check]:
        self.times += 1
        return [Check(f"planted {i}: x", "1", "1" if right else "0", right) for i, right in enumerate(self.answers)]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "workup" / "selftests"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scorer of two files in a package of its own."""
    place = tmp_path / "package"
    (place / "room" / "data").mkdir(parents=True)
    (place / "room" / "scorer.py").write_text("right = 1\n")
    (place / "room" / "data" / "policy.yaml").write_text("mask: all\n")
    (place / "other.py").write_text("unasked = 1\n")
    monkeypatch.setattr(selftests, "scorer_hash", lambda scorer: scorer_hash(scorer, package=place))
    return place


def test_a_second_report_does_not_run_it(state: Path, package: Path) -> None:
    asked = Asked()
    assert [outcome(asked, scorer=["room"]) for _ in range(3)] == [Outcome(2, 2, 2)] * 3
    assert asked.times == 1
    (note,) = state.iterdir()
    assert stat.S_IMODE(note.stat().st_mode) == 0o600


@pytest.mark.parametrize("file", ["scorer.py", "data/policy.yaml", "data/added.yaml"])
def test_a_changed_file_of_the_scorer_runs_it_again(state: Path, package: Path, file: str) -> None:
    asked = Asked()
    outcome(asked, scorer=["room"])
    with (package / "room" / file).open("a") as changed:
        changed.write("# another\n")
    outcome(asked, scorer=["room"])
    assert asked.times == 2
    outcome(asked, scorer=["room"])
    assert asked.times == 2


def test_a_change_elsewhere_does_not(state: Path, package: Path) -> None:
    asked = Asked()
    outcome(asked, scorer=["room"])
    (package / "other.py").write_text("unasked = 2\n")
    outcome(asked, scorer=["room"])
    assert asked.times == 1


def test_a_failure_is_never_remembered(state: Path, package: Path) -> None:
    asked = Asked(True, False)
    assert [outcome(asked, scorer=["room"]) for _ in range(2)] == [Outcome(1, 2, 2)] * 2
    assert asked.times == 2 and not state.exists()


def _torn(note: Path) -> None:
    note.write_bytes(note.read_bytes()[:-9])


def _other_counts(note: Path) -> None:
    note.write_text(json.dumps({**json.loads(note.read_text()), "checks": "2"}))


def _other_scorer(note: Path) -> None:
    note.write_text(json.dumps({**json.loads(note.read_text()), "scorer": "0" * 64}))


def _writable_by_others(note: Path) -> None:
    note.chmod(0o666)


def _link(note: Path) -> None:
    note.rename(note.with_suffix(".real"))
    note.symlink_to(note.with_suffix(".real"))


@pytest.mark.parametrize(
    "damage", [Path.unlink, _torn, _other_counts, _other_scorer, _writable_by_others, _link], ids=lambda f: f.__name__
)
def test_a_damaged_or_missing_memory_means_run_again(
    state: Path, package: Path, damage: Callable[[Path], None]
) -> None:
    asked = Asked()
    outcome(asked, scorer=["room"])
    (note,) = state.iterdir()
    damage(note)
    assert outcome(asked, scorer=["room"]) == Outcome(2, 2, 2)
    assert asked.times == 2


def test_without_a_place_to_remember_it_runs_each_time(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    asked = Asked()
    assert [outcome(asked, scorer=["room"]) for _ in range(2)] == [Outcome(2, 2, 2)] * 2
    assert asked.times == 2


def test_the_line_of_a_spans_report_is_the_same_from_memory(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    selftest.line.cache_clear()
    first = selftest.line()
    monkeypatch.setattr(selftest, "run", lambda: pytest.fail("it ran again"))
    selftest.line.cache_clear()
    assert selftest.line() == first and first["passed"] == first["of"]


def test_every_module_that_the_spans_self_test_loads_is_hashed() -> None:
    """Apart from those that read and keep files, which no count depends on."""
    code = (
        "import sys; from workup.tasks.spans import selftest; selftest.run();"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('workup') and m.__file__))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {Path(file).relative_to(PACKAGE).as_posix() for file in done.stdout.split()}
    beside = ("files/", "runs/", "report.py", "report_schema.py", "settings.py", "version.py")
    beside += ("__init__.py", "tasks/__init__.py")
    left = {name for name in loaded if not name.startswith(beside) and not name.startswith(selftest.SCORER)}
    assert left == set()
    assert all((PACKAGE / name).exists() for name in selftest.SCORER)


def test_the_hash_does_not_depend_on_where_the_package_lies(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE / "text", tmp_path / "text", ignore=shutil.ignore_patterns("__pycache__"))
    assert scorer_hash(["text"], package=tmp_path) == scorer_hash(["text"])


def test_a_scorer_that_raises_fails_its_part_and_stops_no_other() -> None:
    def broken(seed: int) -> list[Check]:
        raise ArithmeticError("of planted numbers")

    checks = run_parts({"a": broken, "b": lambda seed: [Check("x", "1", str(seed), True)]}, seed=1)
    assert checks == [
        Check("a", "an answer", "ArithmeticError", False, "of planted numbers"),
        Check("b: x", "1", "1", True),
    ]
