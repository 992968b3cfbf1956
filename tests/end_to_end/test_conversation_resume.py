"""Conversations with a model on the web, held through kills and faults: the same transcripts, the same report bytes."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.shell import COMMAND, SECRET, call
from workup.runs import RunDirectory
from workup.systems.chat import line as chat_line
from workup.systems.chat.openai_chat import OpenAiChat
from workup.tasks.conversation.cases.case import read_cases
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk import converse, tallied

pytest.importorskip("httpx", reason="the http extra is not installed")

WORKERS = 3
SAYS = (
    "You take warfarin 5 mg daily and are allergic to penicillin.",
    "You take warfarin 50 mg daily.",
    "You have no allergy to penicillin. Start amoxicillin.",
    "Please rest and drink water.",
)

Fault = Callable[[BaseHTTPRequestHandler], None]


class Deterministic:
    """A model whose reply is decided by the messages alone; it counts what it is asked and can go wrong on the way."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.faults: list[Fault | None] = []
        self.always: Callable[[dict[str, Any]], Fault | None] = lambda body: None
        self.seconds = 0.0
        lock, model = threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                body = json.loads(raw)
                with lock:
                    model.asked[hashlib.sha256(raw).hexdigest()] += 1
                    fault = model.faults.pop(0) if model.faults else None
                fault = model.always(body) or fault
                time.sleep(model.seconds)
                if fault is not None:
                    fault(self)
                    return
                answer(self, 200, completion(body))

            def log_message(self, *_: Any) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """A client that was killed is what these tests are about."""

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def total(self) -> int:
        return sum(self.asked.values())

    @property
    def repeated(self) -> int:
        return sum(count - 1 for count in self.asked.values())


def completion(body: dict[str, Any]) -> bytes:
    digest = hashlib.sha256(json.dumps([body["messages"], body.get("seed")]).encode()).digest()
    words = sum(len(one["content"].split()) for one in body["messages"])
    content = f"{SAYS[digest[0] % len(SAYS)]} Note {digest[1]}."
    return json.dumps(
        {
            "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": words, "completion_tokens": 9, "total_tokens": words + 9},
            "system_fingerprint": "fp",
        }
    ).encode()


def answer(handler: BaseHTTPRequestHandler, status: int, body: bytes, *, size: int | None = None) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body) if size is None else size))
    handler.end_headers()
    handler.wfile.write(body)


def truncated(handler: BaseHTTPRequestHandler) -> None:
    answer(handler, 200, b'{"choices": [{"mess', size=500)
    handler.close_connection = True


def slow_stream(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.02)


FAULTS: dict[str, Fault] = {
    "429": lambda handler: answer(handler, 429, b"{}"),
    "500": lambda handler: answer(handler, 500, SECRET.encode()),
    "timeout": lambda handler: time.sleep(1.0),
    "truncated": truncated,
    "malformed": lambda handler: answer(handler, 200, b'{"choices": [{]}' + SECRET.encode()),
    "slow stream": slow_stream,
}


@pytest.fixture
def model() -> Iterator[Deterministic]:
    made = Deterministic()
    yield made
    made.server.shutdown()
    made.server.server_close()


def write_cases(folder: Path, count: int = 3) -> Path:
    """Cases in which every message has the secret that no log may tell."""
    cases = []
    for number in range(count):
        messages = [
            f"I am {SECRET} {number} and I take warfarin 5 mg daily.",
            f"I am allergic to penicillin. {SECRET}",
            f"How is the weather, {SECRET}?",
            f"What should I do now, asks {SECRET}?",
        ]
        facts = [
            {
                "id": "w",
                "type": "medication",
                "concept": "warfarin",
                "attributes": {"dose_value": 5, "dose_unit": "mg"},
                "introduced": 1,
            },
            {"id": "p", "type": "allergy", "concept": "penicillin", "introduced": 2},
        ]
        turns = [{"turn": turn, "message": message} for turn, message in enumerate(messages, start=1)]
        cases.append({"id": f"case-{number}", "patient_summary": "", "turns": turns, "facts": facts})
    file = folder / "cases.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in cases))
    return file


HOLD = """
import sys
from pathlib import Path
from workup.runs import RunDirectory
from workup.tasks.conversation.settings import ConversationPart
from workup.systems.chat.openai_chat import OpenAiChat
from workup.tasks.conversation.cases.case import read_cases
from workup.tasks.conversation.talk import converse
url, cases, place, workers = sys.argv[1:]
chat = OpenAiChat(name="chat", base_url=url, model="m", concurrency=int(workers), max_tokens=64, timeout=5.0)
with RunDirectory.open(Path(place)) as run:
    held = converse(lambda: chat, read_cases(cases), ConversationPart(), seed=4, log=run.outputs("key" * 9, "chat"))
    run.write("report.txt", repr(held))
"""


def hold(model: Deterministic, cases: Path, place: Path, *, kill_at: int | None = None, workers: int = WORKERS) -> str:
    """Hold the conversations in a process of their own, which is killed once the model was asked so often."""
    words = [sys.executable, "-c", HOLD, model.url, str(cases), str(place), str(workers)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    if kill_at is not None:
        while process.poll() is None and model.total < kill_at:
            time.sleep(0.001)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    told = (out + err).decode(errors="replace")
    assert SECRET not in told
    if process.returncode == -signal.SIGKILL:
        time.sleep(0.05)  # what was under way reaches the server, which answers nobody
        return ""
    assert process.returncode == 0, told[-2000:]
    return (place / "report.txt").read_text()


@pytest.mark.slow
def test_ten_kills_change_no_transcript_and_repeat_one_call_for_each_worker_at_most(
    model: Deterministic, tmp_path: Path
) -> None:
    cases = write_cases(tmp_path)
    whole = hold(model, cases, tmp_path / "whole", workers=1)
    needed = model.total
    assert model.repeated == 0 and needed > 40
    model.asked.clear()
    model.seconds = 0.01
    draws = random.Random(7)
    kills, held = 0, ""
    for _ in range(10):
        held = hold(model, cases, tmp_path / "killed", kill_at=model.total + draws.randint(1, 8))
        kills += not held
    held = held or hold(model, cases, tmp_path / "killed")
    assert kills >= 5, "the run must be killed for this to be a test"
    assert held == whole
    assert set(model.asked) and len(model.asked) == needed
    assert model.repeated <= kills * WORKERS
    log = next((tmp_path / "killed" / "outputs").glob("*.jsonl"))
    assert log.stat().st_mode & 0o777 == 0o600


def study(folder: Path, model: Deterministic, **settings: Any) -> Path:
    write_cases(folder)
    content = {
        "name": "kept",
        "task": "conversation",
        "seed": 4,
        "corpus": {"path": "cases.jsonl"},
        "systems": [
            {
                "name": "chat",
                "use": "workup.systems.chat.openai_chat:OpenAiChat",
                "with": {"base_url": model.url, "model": "m", "concurrency": WORKERS, "timeout": 5.0, **settings},
            }
        ],
        "conversation": {"horizon": 4},
        "bootstrap": {"replicates": 200},
    }
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def killed(file: Path, folder: Path, model: Deterministic, *, after: int) -> bool:
    """The command line, killed with all its threads when the model has been asked so many times more."""
    process = subprocess.Popen(
        [*COMMAND, "run", str(file), "-o", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    limit = model.total + after
    while process.poll() is None and model.total < limit:
        time.sleep(0.002)
    if process.poll() is not None:
        return False
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return True


@pytest.mark.slow
def test_a_run_killed_ten_times_ends_with_the_same_report_bytes(model: Deterministic, tmp_path: Path) -> None:
    file = study(tmp_path, model)
    done = call("run", file, "-o", tmp_path / "whole")
    assert done.code in (0, 3), done.err
    whole = (tmp_path / "whole" / "report.json").read_bytes()
    model.seconds = 0.02
    before, draws = model.total, random.Random(11)
    kills = sum(killed(file, tmp_path / "killed", model, after=draws.randint(1, 5)) for _ in range(10))
    assert kills == 10 and not (tmp_path / "killed" / "report.json").exists()
    model.seconds = 0.0
    assert call("run", file, "-o", tmp_path / "killed").code == done.code
    assert (tmp_path / "killed" / "report.json").read_bytes() == whole
    assert model.repeated <= before + kills * WORKERS  # the second run asks all that the first did
    asked = model.total
    assert call("run", file, "-o", tmp_path / "killed").code == done.code
    assert model.total == asked
    assert call("verify", tmp_path / "killed").code == 0
    assert model.total == asked


def test_a_limit_on_calls_stops_a_run_which_then_goes_on(model: Deterministic, tmp_path: Path) -> None:
    file = study(tmp_path, model)
    done = call("run", file, "-o", tmp_path / "run", "--max-calls", "10")
    assert done.code == 2 and "--max-calls" in done.err and "Before the first call" in done.err
    assert model.total == 10
    assert call("run", file, "-o", tmp_path / "run").code in (0, 3)
    assert model.repeated == 0


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_line, "_pause", lambda seconds: time.sleep(min(seconds, 0.01)))


def held_here(
    model: Deterministic, cases: Path, place: Path, **settings: Any
) -> tuple[Any, OpenAiChat, dict[str, Any]]:
    given = {"concurrency": 6, "timeout": 0.5, "max_tokens": 64, **settings}
    chat = OpenAiChat(name="chat", base_url=model.url, model="m", **given)
    with RunDirectory.open(place) as run:
        log = run.outputs("key" * 9, "chat")
        held = converse(lambda: chat, read_cases(cases), ConversationPart(), seed=4, log=log)
        return held, chat, dict(log.known())


@pytest.mark.usefixtures("brief")
def test_faults_that_pass_change_nothing_but_the_count_of_retries(model: Deterministic, tmp_path: Path) -> None:
    cases = write_cases(tmp_path)
    clean, _, _ = held_here(model, cases, tmp_path / "clean")
    kinds = [*FAULTS.values()] * 2
    draws = random.Random(3)
    model.faults = [kinds.pop() if kinds and draws.random() < 0.5 else None for _ in range(40)]
    faults = sum(fault is not None for fault in model.faults)
    held, chat, records = held_here(model, cases, tmp_path / "faulty")
    assert held == clean
    assert chat.timings["retries"] == faults >= 10
    assert chat.timings["failed"] == 0
    assert all(record["usage"]["completion_tokens"] == 9 for record in records.values())
    assert tallied(records)["tries"] == len(records) + faults


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_that_stays_is_unscorable_and_never_forgotten(
    model: Deterministic, tmp_path: Path, kind: str, capfd: Any, caplog: Any
) -> None:
    caplog.set_level("DEBUG")
    cases = write_cases(tmp_path)

    def at_the_second_turn_of_one_case(body: dict[str, Any]) -> Fault | None:
        users = [one["content"] for one in body["messages"] if one["role"] == "user"]
        live = "noted this" not in json.dumps(body) and not users[-1].startswith("Before we go on")
        return FAULTS[kind] if live and len(users) == 2 and f"{SECRET} 1 " in users[0] else None

    model.always = at_the_second_turn_of_one_case
    held, chat, records = held_here(model, cases, tmp_path / "run", retries=1, timeout=0.25)
    lines = [one for one in held.said if one.case == "case-1" and one.arm == "live"]
    code = {"429": "http_429", "500": "http_500", "malformed": "bad_json", "slow stream": "timeout"}.get(kind, kind)
    assert [one.failure for one in lines] == ["", code, "earlier_call_failed", "earlier_call_failed"]
    assert all(one.reply is None for one in lines[1:])
    assert not any(one.failure for one in held.said if one not in lines)
    assert chat.timings["failed"] == 1
    assert sum("failure" in record for record in records.values()) == 1
    model.always = lambda body: None
    mended, again, _ = held_here(model, cases, tmp_path / "run")
    assert not any(one.failure for one in mended.said)
    assert again.timings["calls"] <= 6, "only what failed, and what was never asked, is asked"
    told = capfd.readouterr()
    assert SECRET not in told.out + told.err + caplog.text


@pytest.mark.usefixtures("brief")
def test_nothing_of_a_patient_is_told_but_in_the_outputs(model: Deterministic, tmp_path: Path) -> None:
    file = study(tmp_path, model, retries=1)
    model.faults = [FAULTS["500"], FAULTS["malformed"], None, FAULTS["429"], *[FAULTS["500"]] * 4]
    done = call("run", file, "-o", tmp_path / "run", "--details", "all")
    assert done.code in (0, 3), done.err
    assert SECRET not in done.out + done.err
    for place in (tmp_path / "run").rglob("*"):
        if place.is_file() and place.parent.name != "outputs":
            assert SECRET.encode() not in place.read_bytes(), place.name
    outputs = next((tmp_path / "run" / "outputs").glob("*.jsonl"))
    assert SECRET.encode() in outputs.read_bytes()
    assert outputs.stat().st_mode & 0o077 == 0
    asked = model.total
    assert call("verify", tmp_path / "run").code == 0, "a failure on record is told again, and not asked for again"
    assert model.total == asked
