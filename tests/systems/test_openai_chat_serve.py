"""The chat adapter against an endpoint that others wrote: transformers' own server, on a tiny model made here."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.tiny_chat import REASON, save_tiny_chat
from workup.systems.chat.openai_chat import OpenAiChat
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk import converse

pytest.importorskip("httpx", reason="the http extra is not installed")
pytest.importorskip("torch", reason=REASON)
pytest.importorskip("transformers", reason=REASON)
for _needed in ("fastapi", "uvicorn", "openai"):
    pytest.importorskip(_needed, reason="transformers' server is not installed (pip install 'transformers[serving]')")

SERVE = "import sys; from transformers.cli.transformers import main; sys.exit(main())"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder = save_tiny_chat(tmp_path_factory.mktemp("served") / "tiny")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [
        "serve",
        str(folder),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--device",
        "cpu",
        "--log-level",
        "error",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, *words],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        _until_up(process, port)
        yield f"http://127.0.0.1:{port}/v1", str(folder)
    finally:
        process.kill()
        process.wait()


def _until_up(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, (process.stdout.read() if process.stdout else b"")[-2000:]
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).read()
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail("the server did not come up")


def chat(served: tuple[str, str], **settings: Any) -> OpenAiChat:
    url, model = served
    return OpenAiChat(
        **{"name": "served", "base_url": url, "model": model, "max_tokens": 8, "concurrency": 2, **settings}
    )


def test_a_reply_with_its_usage_comes_back(served: tuple[str, str]) -> None:
    said = chat(served).reply([{"role": "user", "content": "I am well . what water"}], max_tokens=6)
    assert said.failure == "" and said.content is not None
    assert said.usage["prompt_tokens"] == 9 and 0 < said.usage["completion_tokens"] <= 6
    assert said.finish_reason in ("stop", "length")


def test_conversations_are_held_over_the_wire_and_again_from_the_record(served: tuple[str, str]) -> None:
    turns = (Turn(1, "I take warfarin 5 mg daily ."), Turn(2, "what and what"), Turn(3, "and walk ?"))
    cases = [ConversationCase(id, "", turns, (Fact("w", "medication", "warfarin"),)) for id in ("a", "b")]
    records: dict[str, Any] = {}

    class Log:
        def known(self) -> dict[str, Any]:
            return dict(records)

        def append(self, outputs: Any) -> None:
            records.update(outputs)

    model, settings = chat(served), ConversationPart(probe_tokens=16)
    held = converse(lambda: model, cases, settings, seed=2, log=Log())
    assert len(held.said) == 2 * 3 * 3
    assert not any(one.failure or (one.probe and one.probe.failure) for one in held.said)
    assert {one.usage["counted_by"] for one in held.said if one.arm == "live"} == {"provider"}
    calls = model.timings["calls"]
    assert calls == len(records) and model.timings["prompt_tokens"] > 0
    assert converse(lambda: model, cases, settings, seed=2, log=Log()) == held
    assert model.timings["calls"] == calls


def test_a_request_that_the_server_does_not_take_is_a_failed_call(served: tuple[str, str]) -> None:
    model = chat(served, extra={"no_such_field": True}, retries=0)
    said = model.reply([{"role": "user", "content": "what"}])
    assert said.content is None and said.failure.startswith("http_4")
