"""The page in a real browser: silent on the network, accessible, whole at every width, sortable by keyboard, inert."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from tests.support.browser_pages import HOSTILE, is_accessible, is_silent_and_fits, kept, open_page
from tests.support.hostile import hostile, with_comparisons
from tests.support.places import FIXTURE
from workup import Study, validate
from workup.corpora.generate.cohort.generator import generate
from workup.report import Report
from workup.reports import html


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
    return kept(folder, {name: html.render(record) for name, record in made.items()})


@pytest.mark.parametrize("name", ["plain", "hostile", "drift", "hostile-drift"])
def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(
    browser: Any, files: dict[str, str], name: str
) -> None:
    is_silent_and_fits(browser, files[name])


def test_hostile_names_add_nothing(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["hostile"])
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
    watched = open_page(browser, files["hostile-drift"])
    count = "(list) => list.map((one) => document.querySelectorAll(one).length)"
    elements = ["script", "style", "img", "iframe", "[onload],[onerror]", "b"]
    assert watched.page.evaluate(count, elements) == [1, 1, 0, 0, 0, 0]
    assert "<script>alert(1)</script>" in watched.page.inner_text("main")
    assert watched.page.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\u0000]/.test(document.body.textContent)") is False
    watched.page.close()


def test_a_monitoring_page_has_its_parts_and_charts(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["drift"])
    heads = watched.page.locator("h2").all_inner_texts()
    for words in ("Period and windows", "Baseline and now", "Active alerts", "Resolved alerts"):
        assert words in heads
    assert watched.page.locator("figure svg").count() >= 2
    assert watched.page.locator("figure svg text").first.text_content()
    watched.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["plain", "drift"])
def test_no_serious_fault_of_accessibility(browser: Any, files: dict[str, str], name: str, scheme: str) -> None:
    background = is_accessible(browser, files[name], scheme=scheme)
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.mark.parametrize("name", ["plain", "drift"])
def test_charts_follow_the_dark_theme(browser: Any, files: dict[str, str], name: str) -> None:
    watched = open_page(browser, files[name], scheme="dark")
    script = "getComputedStyle(document.querySelector('figure svg text')).fill"
    assert watched.page.evaluate(script) == "rgb(230, 235, 240)"
    watched.page.close()


def test_a_table_sorts_by_keyboard_and_says_so(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"])
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
    watched = open_page(browser, files["plain"])
    watched.page.keyboard.press("Tab")
    assert watched.page.evaluate("document.activeElement.getAttribute('href')") == "#main"
    watched.page.keyboard.press("Enter")
    assert watched.page.evaluate("document.activeElement.id") == "main"
    watched.page.close()


def test_printed_from_the_browser_the_folded_tables_are_there(browser: Any, files: dict[str, str]) -> None:
    pypdf = pytest.importorskip("pypdf")
    watched = open_page(browser, files["plain"], scheme="dark")
    made = watched.page.pdf(prefer_css_page_size=True)
    pages = pypdf.PdfReader(io.BytesIO(made)).pages
    whole = " ".join(" ".join(page.extract_text().split()) for page in pages)
    assert 3 <= len(pages) <= 14
    for words in ("In plain words", "Every group of ethnicity", "Gaps described and not judged", "Limits"):
        assert words in whole, words
    assert "Points of the ROC curve" not in whole
    watched.page.close()
