"""Detectors behind a program: real processes that answer well, and that hang, die, shuffle, double and babble."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from workup.errors import SystemFailure
from workup.systems.any.command import Command
from workup.task import SpanSystem
from workup.documents.document import Span

TEXTS = ["Rose Berg, seen 3 May", "", "Zoë 😀 Rose\n\u2028again"]
READ = "import json, sys\ntexts = [json.loads(line) for line in sys.stdin]\n"
ROSE = (
    READ + "for text in texts:\n"
    "    at = text['text'].find('Rose')\n"
    "    spans = [] if at < 0 else [{'start': at, 'end': at + 4, 'label': 'NAME', 'score': 0.5}]\n"
    "    print(json.dumps({'id': text['id'], 'spans': spans}))\n"
)


def program(folder: Path, code: str, **settings: Any) -> Command:
    (folder / "detect.py").write_text(code)
    return Command(name="detector", base=folder, run=[sys.executable, "detect.py"], **settings)


def answering(*lines: str) -> str:
    return READ + f"sys.stdout.write({''.join(line + chr(10) for line in lines)!r})\n"


def good(place: int, spans: str = "[]") -> str:
    return f'{{"id": "{place}", "spans": {spans}}}'


def test_texts_arrive_as_they_are_and_spans_come_back_in_order(tmp_path: Path) -> None:
    system = program(tmp_path, READ + "json.dump(texts, open('seen.json', 'w'))\n" + ROSE.removeprefix(READ))
    found = system.detect(TEXTS)
    assert found == [[Span(0, 4, "NAME", score=0.5)], [], [Span(6, 10, "NAME", score=0.5)]]
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen == [{"id": str(place), "text": text} for place, text in enumerate(TEXTS, start=1)]
    assert isinstance(system, SpanSystem) and not system.recorded
    assert (system.mapping, system.emits, system.batch) == (None, None, 1000)
    assert pickle.loads(pickle.dumps(system)).detect(TEXTS) == found
    assert system.detect([]) == []


@pytest.mark.parametrize("offsets", ["utf16", "byte", "utf16-inclusive"])
def test_offsets_of_another_counting(tmp_path: Path, offsets: str) -> None:
    unit = "utf-8" if offsets == "byte" else "utf-16-le"
    code = READ + (
        "for text in texts:\n"
        "    before, _, _ = text['text'].partition('Rose')\n"
        f"    at = len(before.encode({unit!r})) // {1 if offsets == 'byte' else 2}\n"
        f"    end = at + 4 - {int(offsets.endswith('inclusive'))}\n"
        "    print(json.dumps({'id': text['id'], 'spans': [{'start': at, 'end': end, 'label': 'NAME'}]}))\n"
    )
    assert program(tmp_path, code, offsets=offsets).detect(TEXTS[2:]) == [[Span(6, 10, "NAME")]]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([good(1), "Loading Smith…", good(3)], "answer line 2: must be JSON such as .*messages belong on stderr"),
        ([good(1), '{"id": "2", "spans": [], "spans": []}'], "answer line 2: must be JSON such as .*each key once"),
        ([good(1), good(2)[:-1], good(3)], "answer line 2: must be JSON"),
        ([good(1), "[" * 100_000], "answer line 2: must be JSON"),
        ([good(1), '{"spans": []}'], "answer line 2: has no 'id'"),
        ([good(1), '{"id": "2", "Smith": []}'], "answer line 2: has no 'spans'"),
        ([good(1), good(1), good(3)], "answer line 2: answers text 1 a second time"),
        ([good(1), good(3), good(2)], "answer line 2: answers text 3 where text 2 was due"),
        ([good(1), '{"id": "Smith", "spans": []}'], "answer line 2: has an 'id' that was not sent"),
        ([good(1), good(2, '["Smith"]')], "answer line 2: span 0: a span must be a JSON object; got a text"),
        ([good(1), good(2, '[{"start": 1, "end": 2}]')], "answer line 2: span 0: the key 'label' was expected"),
        ([good(1), good(2), good(3), good(4)], "answer line 4: there must be one answer for each of the 3 texts"),
    ],
)
def test_an_answer_out_of_form_names_its_line(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(SystemFailure, match=message) as failed:
        program(tmp_path, answering(*lines)).detect(TEXTS)
    assert "Smith" not in str(failed.value)


def test_null_is_a_text_that_was_refused_and_not_an_empty_answer(tmp_path: Path) -> None:
    system = program(tmp_path, answering(good(1), good(2, "null"), good(3)))
    assert system.detect(TEXTS) == [[], None, []]


def test_partial_answers_are_never_taken(tmp_path: Path) -> None:
    with pytest.raises(SystemFailure, match="exit code 0 after 2 of 3 answers, so line 3 is missing"):
        program(tmp_path, answering(good(1), good(2))).detect(TEXTS)
    half = READ + f"sys.stdout.write({good(1) + chr(10) + good(2)[:9]!r})\nsys.stdout.flush()\nsys.exit(1)"
    with pytest.raises(SystemFailure, match=r"exit code 1 after 1 of 3 answers \(line 2 is cut off\)"):
        program(tmp_path, half).detect(TEXTS)
    late = answering(good(1), good(2), good(3)) + "sys.stdout.flush(); sys.exit(9)"
    with pytest.raises(SystemFailure, match="answered every text but ended with exit code 9"):
        program(tmp_path, late).detect(TEXTS)


def test_a_program_that_is_killed(tmp_path: Path) -> None:
    code = f"import os, time\nopen('pid', 'w').write(str(os.getpid()))\nprint({good(1)!r}, flush=True)\ntime.sleep(600)"
    system = program(tmp_path, code, timeout=120)

    def kill() -> None:
        file = tmp_path / "pid"
        while not file.exists() or not file.read_text():
            time.sleep(0.02)
        time.sleep(0.1)
        os.kill(int(file.read_text()), signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    with pytest.raises(SystemFailure, match="signal SIGKILL after 1 of 3 answers, so line 2 is missing"):
        system.detect(TEXTS)


def test_a_program_that_hangs(tmp_path: Path) -> None:
    code = READ + f"import time\nprint({good(1)!r}, flush=True)\ntime.sleep(600)"
    with pytest.raises(SystemFailure, match=r"not finished after 1 s, with 1 of 3 texts answered; it was stopped"):
        program(tmp_path, code, timeout=1).detect(TEXTS)


def test_a_slow_program_is_waited_for(tmp_path: Path) -> None:
    code = (
        "import json, sys, time\n"
        "for line in sys.stdin:\n"
        "    time.sleep(0.1)\n"
        "    print(json.dumps({'id': json.loads(line)['id'], 'spans': []}), flush=True)\n"
    )
    assert program(tmp_path, code, timeout=60).detect(TEXTS) == [[], [], []]


def test_long_texts_and_long_answers_pass_and_endless_ones_do_not(tmp_path: Path) -> None:
    code = READ + (
        "for text in texts:\n"
        "    places = range(len(text['text']))\n"
        "    spans = [{'start': i, 'end': i + 1, 'label': 'NAME', 'score': 0.123456789} for i in places]\n"
        "    print(json.dumps({'id': text['id'], 'spans': spans}))\n"
    )
    found = program(tmp_path, code).detect(["x" * 30_000, "yy"])
    assert [len(spans or []) for spans in found] == [30_000, 2]
    endless = "import sys\nwhile True: sys.stdout.write('{\"id\": ' + 'x' * 65536)"
    with pytest.raises(SystemFailure, match="answer line 1: must be JSON"):
        program(tmp_path, endless, timeout=300).detect(TEXTS)


def test_what_a_program_says_on_stderr_is_shown_and_not_repeated(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemFailure, match="exit code 4 after 0 of 3") as failed:
        program(tmp_path, READ + "print('no model for Smith', file=sys.stderr); sys.exit(4)").detect(TEXTS)
    assert "no model for Smith" in capfd.readouterr().err
    assert "Smith" not in str(failed.value)


def test_the_settings_of_a_detector(tmp_path: Path) -> None:
    system = program(tmp_path, ROSE, mapping="presidio", emits=["PERSON"])
    assert (system.mapping, system.emits) == ("presidio", ("PERSON",))
