"""The page in a real browser: silent on the network, accessible, whole at every width, sortable by keyboard, inert."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hostile import NAMES, hostile, with_comparisons
from workup import Study, validate
from workup.corpora.generate.cohort.generator import generate
from workup.report import Report
from workup.reports import html

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra 'test')")

ROOT = Path(__file__).parents[2]
FIXTURE = ROOT / "tests" / "fixtures" / "reports" / "schema_1.json"
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


def _chromium() -> str:
    """Debian's browser; a test installs nothing by itself."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not installed (make test does it, unless told APT=no)")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=_chromium(), args=ARGUMENTS)
        yield opened
        opened.close()


def _monitored(*, sex: str = "sex", female: str = "F", lab: str = "creatinine") -> Report:
    """A year in which outcomes change in October, as the drift lens sees it; names may be a user's own."""
    jump = {"drift": {"outcome_log_odds": 0.8}, "drift_from": 10, "drift_steps": 1}
    table = dict(generate(6000, seed=4, plan=jump).table)
    table[sex] = np.where(table.pop("sex") == "F", female, "M").astype(object)
    table[lab] = table.pop("creatinine") + (table["time"] >= np.datetime64("2024-11-01")) * 0.4
    outcome = table["outcome"].copy()
    outcome[table["time"] >= np.datetime64("2024-12-15")] = np.nan  # not known yet
    table["outcome"] = outcome
    roles = {"outcome": "outcome", "risk": "risk", "patient": "patient", "time": "time"}
    study = {
        "name": "watched",
        "task": "risk",
        "columns": {**roles, "groups": [sex], "inputs": [lab, "age"]},
        "lenses": {"drift": {"baseline": 6, "by": [sex]}},
        "thresholds": [0.2],
        "bootstrap": {"replicates": 200},
    }
    return validate(Study.of(study), table=table)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A plain page and a hostile one, of a validation and of a year of monitoring, by name, as addresses."""
    folder = tmp_path_factory.mktemp("pages")
    report = Report.read(FIXTURE)
    made = {
        "plain": with_comparisons(report),
        "hostile": hostile(report, HOSTILE),
        "drift": _monitored(),
        "hostile-drift": _monitored(sex=f"sex {HOSTILE}", female=f"F {HOSTILE}", lab=f"lab {HOSTILE}"),
    }
    for name, record in made.items():
        (folder / f"{name}.html").write_text(html.render(record), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in made}


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


def _open(browser: Any, address: str, *, width: int = 1280, scheme: str = "light") -> Watched:
    watched = Watched(browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme))
    watched.page.goto(address)
    return watched


@pytest.mark.parametrize("name", ["plain", "hostile", "drift", "hostile-drift"])
def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(
    browser: Any, files: dict[str, str], name: str
) -> None:
    watched = _open(browser, files[name])
    for width in (1280, 390):
        watched.page.set_viewport_size({"width": width, "height": 900})
        watched.page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        assert watched.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), width
    assert watched.requests == [files[name]]
    assert watched.complaints == []
    watched.page.close()


def test_hostile_names_add_nothing(browser: Any, files: dict[str, str]) -> None:
    watched = _open(browser, files["hostile"])
    count = "(list) => list.map((one) => document.querySelectorAll(one).length)"
    assert watched.page.evaluate(count, ["script", "style", "img", "iframe", "[onload],[onerror]", "b"]) == [
        1,
        1,
        0,
        0,
        0,
        0,
    ]
    assert "<script>alert(1)</script>" in watched.page.inner_text("h1")
    assert "{{ 7*7 }}" in watched.page.inner_text("h1")
    assert watched.page.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\u0000]/.test(document.body.textContent)") is False
    watched.page.close()


def test_hostile_names_add_nothing_to_a_monitoring_page(browser: Any, files: dict[str, str]) -> None:
    watched = _open(browser, files["hostile-drift"])
    count = "(list) => list.map((one) => document.querySelectorAll(one).length)"
    elements = ["script", "style", "img", "iframe", "[onload],[onerror]", "b"]
    assert watched.page.evaluate(count, elements) == [1, 1, 0, 0, 0, 0]
    assert "<script>alert(1)</script>" in watched.page.inner_text("main")
    assert watched.page.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\u0000]/.test(document.body.textContent)") is False
    watched.page.close()


def test_a_monitoring_page_has_its_parts_and_charts(browser: Any, files: dict[str, str]) -> None:
    watched = _open(browser, files["drift"])
    heads = watched.page.locator("h2").all_inner_texts()
    for words in ("Period and windows", "Baseline and now", "Active alerts", "Resolved alerts"):
        assert words in heads
    assert watched.page.locator("figure svg").count() >= 2
    assert watched.page.locator("figure svg text").first.text_content()
    watched.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["plain", "drift"])
def test_no_serious_fault_of_accessibility(browser: Any, files: dict[str, str], name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    watched = _open(browser, files[name], scheme=scheme)
    watched.page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    found = axe.Axe().run(watched.page).response
    grave = [
        (fault["id"], fault["nodes"][0]["html"][:200])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
    assert grave == []
    assert len(found["passes"]) > 20
    background = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    watched.page.close()


@pytest.mark.parametrize("name", ["plain", "drift"])
def test_charts_follow_the_dark_theme(browser: Any, files: dict[str, str], name: str) -> None:
    watched = _open(browser, files[name], scheme="dark")
    script = "getComputedStyle(document.querySelector('figure svg text')).fill"
    assert watched.page.evaluate(script) == "rgb(230, 235, 240)"
    watched.page.close()


def test_a_table_sorts_by_keyboard_and_says_so(browser: Any, files: dict[str, str]) -> None:
    watched = _open(browser, files["plain"])
    table = watched.page.locator("table", has=watched.page.locator("caption", has_text="All patients together")).first
    head = table.locator("thead th").nth(1)
    head.locator("button").focus()
    seen = []
    for key, said in (("Enter", "ascending"), ("Space", "descending")):
        watched.page.keyboard.press(key)
        assert head.get_attribute("aria-sort") == said
        cells = table.locator("tbody tr td:nth-child(2)").all_inner_texts()
        seen.append([float(cell) for cell in cells if cell != "–"])
    assert len(seen[0]) > 5
    assert seen == [sorted(seen[0]), sorted(seen[0], reverse=True)]
    watched.page.keyboard.press("Tab")
    watched.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") is None
    watched.page.close()


def test_the_first_tab_stop_skips_to_the_report(browser: Any, files: dict[str, str]) -> None:
    watched = _open(browser, files["plain"])
    watched.page.keyboard.press("Tab")
    assert watched.page.evaluate("document.activeElement.getAttribute('href')") == "#main"
    watched.page.keyboard.press("Enter")
    assert watched.page.evaluate("document.activeElement.id") == "main"
    watched.page.close()


def test_printed_from_the_browser_the_folded_tables_are_there(browser: Any, files: dict[str, str]) -> None:
    pypdf = pytest.importorskip("pypdf")
    watched = _open(browser, files["plain"], scheme="dark")
    made = watched.page.pdf(prefer_css_page_size=True)
    pages = pypdf.PdfReader(io.BytesIO(made)).pages
    whole = " ".join(" ".join(page.extract_text().split()) for page in pages)
    assert 3 <= len(pages) <= 14
    for words in ("In plain words", "Every group of ethnicity", "Gaps described and not judged", "Limits"):
        assert words in whole, words
    assert "Points of the ROC curve" not in whole
    watched.page.close()
