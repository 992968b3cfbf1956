"""What every command shares: exit codes of verdicts, writing whole or not at all, and progress that keeps quiet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer

from workup.cli import common
from workup.cli.app import app
from workup.cli.common import Progress, emit, say, verdict_code
from workup.errors import InputError


@pytest.fixture(autouse=True)
def own_voice() -> Iterator[None]:
    before = (common.VOICE.quiet, common.VOICE.verbose)
    yield
    common.VOICE.quiet, common.VOICE.verbose = before


@pytest.mark.parametrize(
    ("outcomes", "code", "allowed"),
    [
        ([], 0, 0),
        (["pass", "pass"], 0, 0),
        (["pass", "unsure"], 3, 0),
        (["not_assessed"], 3, 0),
        (["unsure", "fail", "pass"], 1, 1),
        (["fail"], 1, 1),
    ],
)
def test_the_exit_code_of_verdicts(outcomes: list[str], code: int, allowed: int) -> None:
    assert verdict_code(outcomes) == code
    assert verdict_code(outcomes, allow_unsure=True) == allowed


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.json"
    emit("first\n", str(target))
    assert target.read_text() == "first\n"

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)  # all was written, and the disk says no only now
    with pytest.raises(InputError, match=r"out.json.*No space left on device"):
        emit("second\n", str(target))
    assert target.read_text() == "first\n"
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize("target", [None, "-"])
def test_a_dash_is_standard_output(target: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    emit("text\n", target)
    assert capsys.readouterr() == ("text\n", "")


def test_words_for_the_person_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    common.VOICE.quiet = False
    say("hello")
    assert capsys.readouterr() == ("", "hello\n")
    common.VOICE.quiet = True
    say("hello")
    assert capsys.readouterr() == ("", "")


def test_short_work_shows_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        for done in range(5):
            progress("asking", done, 5)
    assert capsys.readouterr() == ("", "")


def test_long_work_shows_a_plain_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 5.0, 12.0, 13.0, 40.0])
    monkeypatch.setattr(common.time, "monotonic", lambda: next(clock))
    common.VOICE.quiet = False
    with Progress() as progress:
        for done in range(1, 6):
            progress("asking", done, 1000 * done)
    assert capsys.readouterr().err == ("asking: 3 of 3,000, about 4.6 h left\nasking: 5 of 5,000, about 13.5 h left\n")


def test_the_time_left_of_a_resumed_run_is_at_the_rate_of_this_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 10.0, 30.0, 45.0])
    monkeypatch.setattr(common.time, "monotonic", lambda: next(clock))
    common.VOICE.quiet = False
    with Progress() as progress:
        progress("asking", 900, 1000)
        progress("asking", 920, 1000)  # twenty in twenty seconds, whatever was done before
        progress("asking", 1000, 1000)
    assert capsys.readouterr().err == "asking: 920 of 1,000, about 80 s left\nasking: 1,000 of 1,000, about 0 s left\n"


def test_quiet_work_shows_no_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 100.0])
    monkeypatch.setattr(common.time, "monotonic", lambda: next(clock))
    common.VOICE.quiet = True
    with Progress() as progress:
        progress("asking", 1, 2)
    assert capsys.readouterr() == ("", "")


# Every command, whatever commands there are


def _commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    children = getattr(group, "commands", None)
    if children is None:
        yield " ".join(path), group
        return
    for name, child in children.items():
        yield from _commands(child, (*path, name))


COMMANDS = dict(_commands(typer.main.get_command(app)))


def test_the_commands_of_this_version_are_there() -> None:
    expected = {"demo", "new", "run", "score risk", "corpus generate", "report", "verify", "clean", "selftest"}
    assert expected | {"plugins", "schema", "doctor"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_the_three_options_of_voice(name: str) -> None:
    command = COMMANDS[name]
    options = {text for parameter in command.params for text in getattr(parameter, "opts", ())}
    assert {"--quiet", "--verbose", "--debug"} <= options
    assert (command.epilog or "").startswith(f"Example: workup {name}")
    assert command.help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name: str) -> None:
    for parameter in COMMANDS[name].params:
        assert getattr(parameter, "help", None), f"{name} {parameter.name}"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_of_an_example_exist(name: str) -> None:
    command = COMMANDS[name]
    options = {text for parameter in command.params for text in getattr(parameter, "opts", ())}
    used = re.findall(r"(?<= )--?[a-z][a-z0-9-]*", (command.epilog or "").split(name, 1)[1])
    assert set(used) <= options
