"""The monitor in a real browser: someone signs in, finds the alert of a planted drift, acts on it, reads the log."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser_pages import Watched
from tests.support.monitor_service import Service
from tests.support.monitored import small_year
from workup.monitor.store.database import open_store

_HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[Service, str]]:
    """A service with the alert of a simulated year, at an address of this machine."""
    import uvicorn

    store = open_store(str(tmp_path / "monitor.db"))
    service = Service(store)
    service.monitored.take_in(small_year())
    service.monitored.step()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(service.app, port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    until = time.monotonic() + 30
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    yield service, f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(30)
    store.close()


def test_a_person_finds_the_alert_acts_on_it_and_the_log_shows_it(browser: Any, place: tuple[Service, str]) -> None:
    service, address = place
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.set_default_timeout(10_000)
    watched = Watched(page)
    page.goto(address)
    page.get_by_label("Token").fill(service.token("admin"))
    page.get_by_role("button", name="Sign in").press("Enter")
    page.get_by_role("link", name="auroc: sex F").first.click()
    for said in ("Ward lead for readmissions", "Review twenty flagged patients", "Model oversight board"):
        assert page.get_by_text(said).count() >= 1, said
    page.get_by_role("link", name="Control charts of the model").click()
    assert page.locator("#charts").is_visible()
    assert page.locator("figure svg").count() >= 2
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    page.go_back()
    page.get_by_role("button", name="Acknowledge").click()
    assert page.get_by_role("button", name="Acknowledge").count() == 0
    page.get_by_label("It is over, because").fill(f"recalibrated {_HOSTILE}")
    page.get_by_role("button", name="Resolve").click()
    assert page.get_by_role("button", name="Resolve").count() == 0
    page.get_by_role("link", name="Audit log").click()
    log = page.locator("main").inner_text()
    assert log.index("resolve alert") < log.index("acknowledge alert") < log.index("sign in")
    assert _HOSTILE in log
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{address}/audit")
    assert page.get_by_label("Token").is_visible()
    assert watched.complaints == []
    assert all(asked.startswith(address) for asked in watched.requests)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_accessible(browser: Any, place: tuple[Service, str], scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    service, address = place
    page = browser.new_page(color_scheme=scheme)
    page.set_default_timeout(10_000)
    page.goto(address)
    grave = []
    for path in ("/sign-in", "/", "/alerts/1", "/models/1", "/audit"):
        page.goto(address + path)
        found = axe.Axe().run(page).response["violations"]
        grave += [
            (path, one["id"], one["nodes"][0]["html"][:200])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        if path == "/sign-in":
            page.get_by_label("Token").fill(service.token("admin"))
            page.get_by_role("button", name="Sign in").click()
    assert grave == []
    page.close()
