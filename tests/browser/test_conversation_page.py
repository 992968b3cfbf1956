"""The page of a chat model and its safety card in a real browser: silent, accessible, whole at every width, printed."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tests.support import conversation_record
from tests.support.browser_pages import HOSTILE, is_accessible, is_silent_and_fits, kept, open_page
from tests.support.report_parts import with_tables
from workup.reports import html
from workup.reports.conversation import safety_card

PAGES = pytest.mark.parametrize("name", ["plain", "hostile", "card", "hostile-card"])


def hostile(name: str) -> Any:
    """One name wherever a file of cases, a study or a model decides it."""
    found = conversation_record.report()
    events = [{**row, "case": name, "fact": name, "concept": name} for row in conversation_record.NEVER]
    pairs = [{**row, "case": name, "slot": name, "actions": [name, name]} for row in conversation_record.PAIRS]
    held = with_tables(found, never_events=events, conflicts=pairs, unscorable={name: 2})
    part = {**held.study["conversation"], "judge": name, "memory": name}
    return replace(
        held,
        study={**held.study, "name": name, "conversation": part},
        system={"name": name, "version": name},
        corpus={**held.corpus, "name": name, "version": name},
        as_of=name,
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Report and card, plain and hostile, by name, as addresses."""
    folder = tmp_path_factory.mktemp("pages")
    plain, bad = conversation_record.report(), hostile(HOSTILE)
    made = {
        "plain": html.render(plain),
        "hostile": html.render(bad),
        "card": safety_card.page(plain),
        "hostile-card": safety_card.page(bad),
    }
    return kept(folder, made)


@PAGES
def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(
    browser: Any,
    files: dict[str, str],
    name: str,
) -> None:
    is_silent_and_fits(browser, files[name])


@pytest.mark.parametrize(("name", "scripts"), [("hostile", 1), ("hostile-card", 0)])
def test_hostile_names_add_nothing(browser: Any, files: dict[str, str], name: str, scripts: int) -> None:
    watched = open_page(browser, files[name])
    count = "(list) => list.map((one) => document.querySelectorAll(one).length)"
    asked = ["script", "style", "img", "iframe", "[onload],[onerror]", "b"]
    assert watched.page.evaluate(count, asked) == [scripts, 1, 0, 0, 0, 0]
    assert "<script>alert(1)</script>" in watched.page.inner_text("h1")
    assert watched.page.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\u0000]/.test(document.body.textContent)") is False
    watched.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["plain", "card"])
def test_no_serious_fault_of_accessibility(
    browser: Any,
    files: dict[str, str],
    name: str,
    scheme: str,
) -> None:
    is_accessible(browser, files[name], scheme=scheme, passes=20 if name == "plain" else 15)


def test_without_script_every_number_and_chart_is_there(browser: Any, files: dict[str, str]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(files["plain"])
    assert page.locator("figure svg").count() >= 7
    assert page.locator("dl.key div").count() == 7
    page.locator("figure details summary").first.click()
    assert page.locator("figure details table").first.is_visible()
    context.close()


def test_names_of_the_lines_do_not_lie_on_each_other(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"])
    script = """[...document.querySelectorAll('figure svg')].map((svg) =>
        [...svg.querySelectorAll('text')].filter((one) =>
            ['live', 'oracle', 'naive', 'first loss', 'for good'].includes(one.textContent)
            && one.getAttribute('text-anchor') === 'start')
        .map((one) => one.getBoundingClientRect().top))"""
    charts = [sorted(tops) for tops in watched.page.evaluate(script) if len(tops) > 1]
    assert len(charts) >= 4
    for tops in charts:
        assert all(later - former > 8 for former, later in pairwise(tops)), tops
    watched.page.close()


def test_the_card_prints_on_one_sheet(browser: Any, files: dict[str, str]) -> None:
    pypdf = pytest.importorskip("pypdf")
    watched = open_page(browser, files["card"])
    made = watched.page.pdf(prefer_css_page_size=True)
    assert len(pypdf.PdfReader(io.BytesIO(made)).pages) == 1
    watched.page.close()


def test_the_report_prints_whole(browser: Any, files: dict[str, str]) -> None:
    pypdf = pytest.importorskip("pypdf")
    watched = open_page(browser, files["plain"])
    pages = pypdf.PdfReader(io.BytesIO(watched.page.pdf(prefer_css_page_size=True))).pages
    assert 5 <= len(pages) <= 16
    whole = " ".join(" ".join(page.extract_text().split()) for page in pages)
    assert "Recall by turn" in whole and "Limits" in whole
    watched.page.close()
