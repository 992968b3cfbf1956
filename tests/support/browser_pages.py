"""Pages in a real browser: the browser, a page that is watched, and what every page is held to."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile import NAMES

ARGUMENTS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = "".join(NAMES[key] for key in ("html", "template", "bidi", "control", "chart")) + "x" * 400
UNFOLD = "document.querySelectorAll('details').forEach((part) => { part.open = true; })"


def _chromium() -> str:
    """Debian's browser; a test installs nothing by itself."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not installed (make test does it, unless told APT=no)")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra 'test')")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=_chromium(), args=ARGUMENTS)
        yield opened
        opened.close()


class Watched:
    """A page with a record of all that it asked for, complained of or popped up."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dialog)

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def open_page(browser: Any, address: str, *, width: int = 1280, scheme: str = "light") -> Watched:
    watched = Watched(browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme))
    watched.page.goto(address)
    return watched


def kept(folder: Path, pages: Mapping[str, str]) -> dict[str, str]:
    """Pages as files of a folder: their addresses by name."""
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in pages}


def is_silent_and_fits(browser: Any, address: str) -> None:
    """Nothing is asked for or complained of, and at no width is a part of the unfolded page out of sight."""
    watched = open_page(browser, address)
    for width in (1280, 390):
        watched.page.set_viewport_size({"width": width, "height": 900})
        watched.page.evaluate(UNFOLD)
        assert watched.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), width
    assert watched.requests == [address]
    assert watched.complaints == []
    watched.page.close()


def is_accessible(browser: Any, address: str, *, scheme: str, passes: int = 20) -> str:
    """No serious fault by axe, which found more than so many rules kept; the colour of the background."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    watched = open_page(browser, address, scheme=scheme)
    watched.page.evaluate(UNFOLD)
    found = axe.Axe().run(watched.page).response
    grave = [
        (fault["id"], fault["nodes"][0]["html"][:200])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
    assert grave == []
    assert len(found["passes"]) > passes
    background: str = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    watched.page.close()
    return background
