"""The page of alarms and events in a real browser: silent, accessible, whole at every width."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.browser_pages import is_accessible, is_silent_and_fits, kept, open_page
from tests.support.wards import validated
from workup.reports import html


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with groups and two thresholds, as an address."""
    report = validated(lenses={"internal": {}, "subgroups": {"by": ["sex"]}})
    return kept(tmp_path_factory.mktemp("pages"), {"ward": html.render(report)})["ward"]


def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(browser: Any, address: str) -> None:
    is_silent_and_fits(browser, address)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_accessibility(browser: Any, address: str, scheme: str) -> None:
    is_accessible(browser, address, scheme=scheme)


def test_fates_stand_before_the_first_threshold_and_the_charts_are_drawn(browser: Any, address: str) -> None:
    watched = open_page(browser, address)
    heads = watched.page.eval_on_selector_all("h2", "(list) => list.map((one) => one.textContent.trim())")
    places = [heads.index(one) for one in ("Who was watched, and what was put aside", "Alarms and events by threshold")]
    assert places == sorted(places)
    drawn = watched.page.eval_on_selector_all("h3", "(list) => list.map((one) => one.textContent.trim())")
    for title in ("How long before events are flagged", "How often alarms sound", "Alerts and events in a few stays"):
        assert title in drawn
    watched.page.close()
