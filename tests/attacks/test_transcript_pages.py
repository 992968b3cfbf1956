"""What was said is hostile: on its page it stays text, nothing leaves, and the server hears that page alone."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.browser_pages import UNFOLD, browser, open_page
from tests.support.shell import COMMAND, call, spawn
from tests.support.transcript_pages import CASE, PAYLOADS, hostile_case, hostile_talks, made, study, talks
from workup.cli.label_server import LARGEST, LabelServer
from workup.reports.conversation.transcripts import page
from workup.tasks.conversation.labels import read_labels

__all__ = ["browser"]

# ---- the page --------------------------------------------------------------------------------------------------------


class Elements(HTMLParser):
    """Every element and attribute that a page holds, inside noscript too."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: set[str] = set()
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.addresses |= {value or "" for name, value in attrs if name in ("href", "src", "action")}


@pytest.mark.parametrize("blind", [False, True])
def test_28_payloads_add_no_element_and_no_attribute(blind: bool) -> None:
    assert len(set(PAYLOADS)) == 28
    plain, bad = Elements(made(blind=blind)), Elements(page(hostile_talks(), study="x", system="y", blind=blind))
    assert bad.tags <= plain.tags and bad.attributes <= plain.attributes
    assert all(one.startswith("#") for one in bad.addresses)
    assert len(set(bad.ids)) == len(bad.ids) > 4 * len(PAYLOADS), "no id can stand in for another"


@pytest.mark.parametrize("scripted", [True, False])
def test_28_payloads_are_inert_in_a_browser(browser: Any, tmp_path: Path, scripted: bool) -> None:
    (tmp_path / "bad.html").write_text(page(hostile_talks(), study=PAYLOADS[1], system=PAYLOADS[3]), encoding="utf-8")
    address = (tmp_path / "bad.html").as_uri()
    context = browser.new_context(java_script_enabled=scripted, proxy={"server": "http://127.0.0.1:9"})
    watched = context.new_page()
    asked: list[str] = []
    watched.on("request", lambda request: asked.append(request.url))
    said: list[str] = []
    watched.on("console", lambda message: said.append(message.text))
    watched.on("pageerror", lambda error: said.append(str(error)))
    watched.goto(address)
    assert watched.locator(".talk").count() == len(PAYLOADS)
    if scripted:
        watched.evaluate(UNFOLD)
        watched.fill("#rater", "KB")
        watched.keyboard.press("Tab")
        for _ in range(6):
            watched.keyboard.press("j")
            watched.keyboard.press("a")
        assert watched.locator(".yours").count() == 6
        assert watched.evaluate("window.hit") is None
        assert (
            watched.locator("script, style, img, svg, iframe, form, base, link, meta[http-equiv=refresh]").count() == 2
        )
        assert (
            watched.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\u0000\\u001b]/.test(document.body.textContent)")
            is False
        )
    assert "window.hit=1" in watched.inner_text("main"), "shown, not obeyed"
    assert asked == [address] and said == []
    context.close()


def test_a_label_of_a_hostile_id_names_that_id(browser: Any, tmp_path: Path) -> None:
    both = [hostile_case(payload, number) for number, payload in enumerate(PAYLOADS)]
    (tmp_path / "bad.html").write_text(page(hostile_talks(), study="x", system="y"), encoding="utf-8")
    watched = open_page(browser, (tmp_path / "bad.html").as_uri())
    watched.page.fill("#rater", "KB")
    watched.page.keyboard.press("Tab")
    for _ in range(2 * len(PAYLOADS)):
        watched.page.keyboard.press("j")
        watched.page.keyboard.press("u")
    with watched.page.expect_download() as waiting:
        watched.page.click("#save")
    waiting.value.save_as(tmp_path / "labelled.jsonl")
    found = {(one.unit.case, one.unit.fact) for one in read_labels(tmp_path / "labelled.jsonl").labels}
    assert found == {(case["id"], fact["id"]) for case, _ in both for fact in case["facts"]}
    watched.page.close()


def test_the_page_may_fetch_nothing_and_a_served_one_only_from_its_server() -> None:
    rule = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
    plain, served = (rule.findall(text)[0].replace("&#39;", "'") for text in (made(), made(session="abc")))
    parts = plain.split("; ")
    assert parts[0] == "default-src 'none'" and "unsafe" not in plain
    assert [part.split()[0] for part in parts] == ["default-src", "style-src", "script-src", "base-uri", "form-action"]
    assert served == plain + "; connect-src 'self'"


# ---- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    done = call("run", study(folder), "-o", folder / "run")
    assert "Traceback" not in done.err and (folder / "run" / "report.json").exists(), done.err
    return folder / "run"


def test_a_run_makes_no_page_and_its_report_holds_no_word_of_it(own: Path) -> None:
    assert not (own / "view").exists()
    assert "ibuprofen for the pain" not in (own / "report.html").read_text()


def test_the_page_is_for_its_owner_alone_and_clean_removes_it(own: Path, tmp_path: Path) -> None:
    done = call("view", own)
    assert done.code == 0, done.err
    made = own / "view" / "index.html"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600 and stat.S_IMODE(made.parent.stat().st_mode) == 0o700
    assert (own / ".gitignore").read_text() == "*\n"
    assert "ibuprofen for the pain" in made.read_text() and "ibuprofen" not in done.out + done.err
    copy = Path(shutil.copytree(own, tmp_path / "copy"))
    (copy / "view" / "mine.txt").write_text("mine")
    cleaned = call("clean", copy)
    assert "view/index.html" in cleaned.err
    assert [one.name for one in (copy / "view").iterdir()] == ["mine.txt"], "only what it wrote"
    assert call("clean", own).code == 0 and not (own / "view").exists()


def test_a_case_that_is_not_there_is_refused(own: Path) -> None:
    assert call("view", own, "--case", "c1").code == 0
    done = call("view", own, "--case", "c9")
    assert done.code == 2 and "no such case" in done.err and "'c1'" not in done.err


def test_a_received_folder_is_not_scored_again_unless_its_study_is_trusted(own: Path, tmp_path: Path) -> None:
    received = Path(shutil.copytree(own, tmp_path / "inbox" / "run", ignore=shutil.ignore_patterns("view")))
    done = spawn("view", received)
    assert done.code == 2 and "--trust-study" in done.err and not (received / "view").exists()
    assert spawn("view", received, "--study", own.parent / "study.yaml").code == 0


def test_no_link_in_the_folder_is_followed(own: Path, tmp_path: Path) -> None:
    received = Path(shutil.copytree(own, tmp_path / "run"))
    shutil.rmtree(received / "view", ignore_errors=True)
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "index.html").write_text("mine")
    (received / "view").symlink_to(target)
    words = ("view", received, "--study", own.parent / "study.yaml")
    done = call(*words)
    assert done.code == 2 and "link" in done.err
    assert call("clean", received).code == 2
    assert (target / "index.html").read_text() == "mine", "neither written through nor removed"
    (received / "view").unlink()
    (received / "view").mkdir()
    (received / "view" / "index.html").symlink_to(target / "index.html")
    assert call(*words).code == 2 and (target / "index.html").read_text() == "mine"


def test_another_task_has_nothing_to_view(tmp_path: Path) -> None:
    assert call("view", tmp_path).code == 2


# ---- the server ------------------------------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LabelServer]:
    units = {one.anchor: one.name == "gout" for talk in talks() for turn in talk.turns for one in turn.facts}
    running = LabelServer(
        lambda session: made(blind=True, session=session),
        units=units,
        file=tmp_path / "labelled.jsonl",
        draw="0" * 16,
        blind=True,
    )
    threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


ANSWER = {"case": "c1", "replicate": 0, "arm": "live", "turn": 2, "fact": "gout", "expected": "correct", "rater": "KB"}


def ask(
    server: LabelServer, method: str, path: str, *, body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    line = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    try:
        line.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        line.close()


def session_of(server: LabelServer) -> str:
    """Open the page as its user does, once."""
    asked = urlsplit(server.address)
    status, headers, body = ask(server, "GET", f"/?{asked.query}")
    assert status == 200 and headers["Cache-Control"] == "no-store"
    return re.findall(r'data-session="([^"]+)"', body.decode())[0]


def send(server: LabelServer, session: str, answer: Any = ANSWER, **headers: str) -> int:
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    given = {"Content_Type": "application/json", "X_Workup_Session": session, **headers}
    return ask(server, "POST", "/labels", body=body, **given)[0]


def test_the_token_opens_the_page_once(server: LabelServer) -> None:
    query = urlsplit(server.address).query
    assert ask(server, "GET", "/")[0] == 403 and ask(server, "GET", "/?token=guess")[0] == 403
    assert ask(server, "GET", f"/?{query}")[0] == 200
    status, _, body = ask(server, "GET", f"/?{query}")
    assert status == 403 and b"penicillin" not in body


def test_only_the_loopback_is_listened_on(server: LabelServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_an_answer_is_appended_with_what_the_page_may_not_decide(server: LabelServer, tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text(
        '{"case":"old","turn":1,"fact":"f","expected":"correct","rater":"x"}'
    )  # without the end of its line
    session = session_of(server)
    forged = {**ANSWER, "blind": False, "draw": "f" * 16}
    assert send(server, session, forged) == 204
    assert send(server, session, {**ANSWER, "expected": "omitted", "blind": True}) == 204
    assert send(server, session, {**ANSWER, "turn": 1, "fact": "pcn"}) == 204
    found = [(one.unit.fact, one.expected, one.blind, one.draw) for one in read_labels(file).labels]
    assert found == [
        ("f", "correct", False, None),
        ("gout", "correct", True, "0" * 16),
        ("gout", "omitted", False, "0" * 16),
        ("pcn", "correct", True, None),
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and server.kept == 3


REFUSED: dict[str, dict[str, Any]] = {
    "no session": {"X_Workup_Session": ""},
    "a guess": {"X_Workup_Session": "guess"},
    "another origin": {"Origin": "https://evil.example"},
    "another host": {"Host": "evil.example"},
    "the right port of another name": {"Host": "localhost.evil.example:80"},
    "a form": {"Content_Type": "application/x-www-form-urlencoded"},
    "plain text": {"Content_Type": "text/plain"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_another_page_or_program_sends_is_refused(server: LabelServer, tmp_path: Path, name: str) -> None:
    session = session_of(server)
    given = {"X_Workup_Session": session, "Content_Type": "application/json", **REFUSED[name]}
    status, headers, _ = ask(server, "POST", "/labels", body=json.dumps(ANSWER).encode(), **given)
    assert status in (403, 415, 421)
    assert not [one for one in headers if one.lower().startswith("access-control")]
    assert not (tmp_path / "labelled.jsonl").exists()


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_no_page_of_another_origin_opens_it_or_uses_up_its_address(server: LabelServer, origin: str) -> None:
    asked = urlsplit(server.address)
    status, _, body = ask(server, "GET", f"/?{asked.query}", Origin=origin)
    assert status == 403 and not body
    assert session_of(server)  # still opens for its user


def test_nothing_is_answered_before_the_page_was_opened(server: LabelServer) -> None:
    assert send(server, "") == 403


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "HEAD", "TRACE", "PATCH"])
def test_no_other_method_is_known_and_no_other_origin_is_let_in(server: LabelServer, method: str) -> None:
    status, headers, _ = ask(server, method, "/labels", Origin="https://evil.example")
    assert status in (405, 501) and not [one for one in headers if one.lower().startswith("access-control")]


WRONG: dict[str, Any] = {
    "no JSON": b"{",
    "a list": [ANSWER],
    "text of a reply": {**ANSWER, "reply": "She said so."},
    "an unknown key": {**ANSWER, "factt": "x"},
    "another word": {**ANSWER, "expected": "fine"},
    "a unit that is not there": {**ANSWER, "fact": "nobody"},
    "a turn that is not there": {**ANSWER, "turn": 99},
    "nested without end": b"[" * 2000,
    "not a number": {**ANSWER, "turn": "2"},
    "a long name": {**ANSWER, "rater": "x" * 1000},
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_label_is_not_kept(server: LabelServer, tmp_path: Path, name: str) -> None:
    session = session_of(server)
    assert send(server, session, WRONG[name]) == 400
    assert not (tmp_path / "labelled.jsonl").exists() and server.kept == 0


def test_a_body_has_a_limit_and_a_length(server: LabelServer) -> None:
    session = session_of(server)
    assert send(server, session, b" " * (LARGEST + 1)) == 413
    assert send(server, session, b"", Content_Length="9" * 30) == 413
    assert send(server, session, b"", Content_Length="-1") == 411
    assert send(server, session, b"x", Transfer_Encoding="chunked") == 411


def test_a_file_that_is_a_link_is_not_written_through(server: LabelServer, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "labelled.jsonl").symlink_to(tmp_path / "precious")
    assert send(server, session_of(server)) == 507
    assert (tmp_path / "precious").read_text() == "mine"


def test_the_command_serves_and_appends_until_it_is_stopped(own: Path, browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    words = [*COMMAND, "view", str(own), "--blind", "--serve", "--labels", str(file)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ), text=True
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        address = running.stdout.readline().strip()
        watched = open_page(browser, address)
        assert "token" not in watched.page.url
        watched.page.fill("#rater", "KB")
        watched.page.click(".fact >> nth=0")
        with watched.page.expect_response("**/labels") as waiting:
            watched.page.keyboard.press("a")
        assert waiting.value.status == 204
        assert not watched.page.locator("#save").is_visible()
        assert watched.complaints == []
        watched.page.close()
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)
    assert running.returncode == 0 and "1 labels added" in err
    [label] = read_labels(file).labels
    assert label.blind and (label.unit.case, label.unit.fact, label.expected) == (
        "c1",
        CASE["facts"][0]["id"],
        "correct",
    )
