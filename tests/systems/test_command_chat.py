"""Chat models behind a program: real processes that answer, refuse, hang, die and babble."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from workup.errors import InputError, SystemFailure
from workup.systems.any.command import Command
from workup.systems.any.recorded import Recorded
from workup.task import ChatSystem

ASK = [{"role": "user", "content": "Zoë 😀 takes warfarin\n\u2028daily"}]
READ = "import json, os, sys, time\nasked = json.loads(sys.stdin.readline())\n"
ECHO = READ + "print(json.dumps({'content': asked['messages'][-1]['content'], 'usage': {'prompt_tokens': 4}}))\n"


def program(folder: Path, code: str, **settings: Any) -> Command:
    (folder / "chat.py").write_text(code)
    return Command(name="talker", base=folder, run=[sys.executable, "-S", "chat.py"], **settings)


def test_messages_arrive_as_they_are_and_the_content_comes_back(tmp_path: Path) -> None:
    chat = program(tmp_path, ECHO.replace("print", "json.dump(asked, open('seen.json', 'w'))\nprint"))
    assert isinstance(chat, ChatSystem) and chat.concurrency == 1
    said = chat.reply(ASK, max_tokens=30, seed=4)
    assert (said.content, said.usage, said.failure) == (ASK[0]["content"], {"prompt_tokens": 4}, "")
    assert json.loads((tmp_path / "seen.json").read_text()) == {"messages": ASK, "max_tokens": 30, "seed": 4}
    chat.reply(ASK)
    assert json.loads((tmp_path / "seen.json").read_text()) == {"messages": ASK}


def test_null_content_is_a_failed_call(tmp_path: Path) -> None:
    said = program(tmp_path, READ + "print('{\"content\": null}')").reply(ASK)
    assert (said.content, said.failure) == (None, "no_content")


def test_a_program_that_hangs_has_failed_that_call_alone(tmp_path: Path) -> None:
    chat = program(tmp_path, READ + "time.sleep(30)", timeout=0.4)
    said = chat.reply(ASK)
    assert (said.content, said.failure) == (None, "timeout")
    assert said.tries == 2  # type: ignore[attr-defined]


def test_a_program_that_dies_once_is_asked_again(tmp_path: Path) -> None:
    once = "if not os.path.exists('died'):\n    open('died', 'w').close()\n    os._exit(3)\n"
    assert program(tmp_path, ECHO.replace("print", once + "print")).reply(ASK).content == ASK[0]["content"]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (READ + "os._exit(3)", "exit code 3 after 0 of 1 answers"),
        (READ + "print('ZZCANARY')", "answer line 1: must be JSON"),
        (READ + 'print(\'{"text": "ZZCANARY"}\')', "has no 'content'"),
        (READ + 'print(\'{"content": ["ZZCANARY"]}\')', "'content' must be a text"),
        (READ + "print('[1]')", "must be a JSON object; got a list"),
        (READ + 'print(\'{"content": "a"}\\n{"content": "b"}\')', "one answer for each of the 1 conversations"),
    ],
    ids=["exit", "babble", "no content", "a list", "no object", "twice"],
)
def test_a_program_that_breaks_the_protocol_is_an_error_that_names_the_line(
    tmp_path: Path, code: str, says: str
) -> None:
    with pytest.raises(SystemFailure, match=says) as error:
        program(tmp_path, code).reply(ASK)
    assert "CANARY" not in str(error.value)


@pytest.mark.parametrize("settings", [{"retries": -1}, {"concurrency": 0}, {"concurrency": True}])
def test_settings_that_cannot_be_are_refused(tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"'{next(iter(settings))}'"):
        program(tmp_path, ECHO, **settings)


def test_recorded_transcripts_are_a_file_and_never_answer(tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text("{}\n")
    recorded = Recorded(name="kept", base=tmp_path, path="said.jsonl")
    assert recorded.transcripts() == tmp_path / "said.jsonl"
    with pytest.raises(SystemFailure, match="by case and turn"):
        recorded.reply(ASK)
