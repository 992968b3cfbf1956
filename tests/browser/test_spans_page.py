"""The page of a detector in a real browser: silent, accessible, whole at every width, inert; the viewer by keyboard."""

from __future__ import annotations

import io
import unicodedata
from dataclasses import replace
from typing import Any

import pytest

from tests.support import spans_record
from tests.support.browser_pages import HOSTILE, is_accessible, is_silent_and_fits, kept, open_page
from tests.support.report_parts import with_tables
from workup.reports import html

PAGES = pytest.mark.parametrize("name", ["plain", "hostile", "text"])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A plain page, a hostile one, and one that holds patient text, by name, as addresses."""
    folder = tmp_path_factory.mktemp("pages")
    plain = spans_record.report()
    rows = [{**row, "text": spans_record.NOTE} for row in plain.results["internal"].tables["documents"]]
    made = {
        "plain": plain,
        "hostile": spans_record.hostile(HOSTILE),
        "text": replace(with_tables(plain, documents=rows), contains_phi=True),
    }
    return kept(folder, {name: html.render(record) for name, record in made.items()})


@PAGES
def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(
    browser: Any,
    files: dict[str, str],
    name: str,
) -> None:
    is_silent_and_fits(browser, files[name])


def test_hostile_labels_ids_and_texts_add_nothing(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["hostile"])
    count = "(list) => list.map((one) => document.querySelectorAll(one).length)"
    asked = ["script", "style", "img", "iframe", "[onload],[onerror]", "b", ".viewer svg"]
    assert watched.page.evaluate(count, asked) == [1, 1, 0, 0, 0, 0, 0]
    assert "<script>alert(1)</script>" in watched.page.inner_text(".document[open] summary")
    assert "<script>alert(1)</script>" in watched.page.inner_text(".document[open] .shape")
    assert watched.page.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\u0000]/.test(document.body.textContent)") is False
    watched.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["plain", "text"])
def test_no_serious_fault_of_accessibility(
    browser: Any,
    files: dict[str, str],
    name: str,
    scheme: str,
) -> None:
    is_accessible(browser, files[name], scheme=scheme)


def test_counts_on_full_cells_follow_the_dark_theme(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"], scheme="dark")
    script = "getComputedStyle(document.querySelector('.wide svg text[fill=\"#fefefe\"]')).fill"
    assert watched.page.evaluate(script) == "rgb(20, 25, 31)"
    watched.page.close()


def test_the_viewer_moves_by_button_and_says_where_it_is(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"])
    page = watched.page
    shown = (
        "[...document.querySelectorAll('.document')].filter((one) => one.offsetParent !== null).map((one) => one.id)"
    )
    assert page.evaluate(shown) == ["doc-1"]
    button = page.get_by_role("button", name="Next document")
    button.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(shown) == ["doc-2"]
    assert page.inner_text(".where").startswith("Document 2 of 50: ")
    assert page.evaluate("document.activeElement.dataset.go") == "next"  # the focus stays, to press again
    page.get_by_role("button", name="Previous document").click()
    page.get_by_role("button", name="Previous document").click()
    assert page.evaluate(shown) == ["doc-1"]
    assert page.inner_text(".where") == "This is the first document."
    page.locator(".tools select").select_option("49")
    assert page.evaluate(shown) == ["doc-50"]
    assert watched.complaints == []
    page.close()


def test_the_next_miss_is_found_by_key_and_takes_the_focus(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"])
    page = watched.page
    page.get_by_role("button", name="Next miss").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "doc-1-miss-1"
    total = page.evaluate("document.querySelectorAll('[data-miss]').length")
    assert page.inner_text(".where") == f"Miss 1 of {total}, in document 1 of 50."
    seen = []
    for _ in range(total - 1):
        page.keyboard.press("m")
        seen.append(page.evaluate("document.activeElement.id"))
    assert len(set(seen)) == total - 1  # every miss once
    assert page.evaluate("document.activeElement.closest('.document').open") is True
    page.keyboard.press("m")
    assert page.inner_text(".where") == "There is no further miss."
    page.keyboard.press("b")
    assert page.evaluate("document.activeElement.id") == seen[-2]
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.close()


def test_marks_differ_without_colour(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"])
    script = """[...document.querySelectorAll('.marks .run')].map((one) => {
        const style = getComputedStyle(one);
        return [style.borderTopStyle, style.borderBottomStyle, style.borderBottomWidth, style.fontWeight].join(' ');
    })"""
    looks = watched.page.evaluate(script)
    assert len(looks) == len(set(looks)) == 7
    watched.page.close()


def test_without_its_script_every_document_unfolds_by_itself(browser: Any, files: dict[str, str]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(files["plain"])
    assert page.locator(".document").count() == 50
    assert page.locator(".document summary").nth(7).is_visible()
    assert not page.locator(".tools").is_visible()
    page.locator(".document summary").nth(7).click()
    assert page.locator(".document .shape").nth(7).is_visible()
    context.close()


def test_printed_from_the_browser_every_page_is_marked(browser: Any, files: dict[str, str]) -> None:
    pypdf = pytest.importorskip("pypdf")
    watched = open_page(browser, files["text"])
    made = watched.page.pdf(prefer_css_page_size=True)
    pages = [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(io.BytesIO(made)).pages]
    assert 5 <= len(pages) <= 25
    assert all("THIS REPORT HOLDS PATIENT TEXT." in page for page in pages)
    whole = unicodedata.normalize("NFKC", " ".join(pages))  # the browser writes ligatures
    assert "On paper: the first 6 of 50 documents." in whole
    assert "Document 6 progress note ·" in whole
    assert "Document 7 progress note ·" not in whole
    watched.page.close()


def test_the_banner_stays_in_sight(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["text"], width=390)
    watched.page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    top = watched.page.evaluate("document.querySelector('.phi').getBoundingClientRect().top")
    assert top == 0
    watched.page.close()
