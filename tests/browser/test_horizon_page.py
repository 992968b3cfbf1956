"""The page of risks at horizons in a real browser: silent, accessible, whole at every width, with its charts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.browser_pages import HOSTILE, is_accessible, is_silent_and_fits, kept, open_page
from workup import score_horizon
from workup.corpora.generate.survival.generator import generate
from workup.report import Report
from workup.reports import html


def _scored(sex: str, level: str) -> Report:
    plan = {"groups": {"sex": {"F": 0.5, level: 0.5}}, "censoring": 0.5}
    table = dict(generate(400, seed=2, plan=plan).table)
    table[sex] = table.pop("sex")
    return score_horizon(
        table,
        followup="followup",
        status="status",
        risk={"365d": "risk_365d", "1095d": "risk_1095d"},
        patient="patient",
        by=[sex],
        thresholds=[0.2],
        replicates=200,
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    made = {"plain": _scored("sex", "M"), "hostile": _scored(f"sex {HOSTILE}", f"M {HOSTILE}")}
    return kept(tmp_path_factory.mktemp("pages"), {name: html.render(one) for name, one in made.items()})


@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(
    browser: Any, files: dict[str, str], name: str
) -> None:
    is_silent_and_fits(browser, files[name])


def test_no_serious_fault_of_accessibility(browser: Any, files: dict[str, str]) -> None:
    is_accessible(browser, files["plain"], scheme="dark")


def test_the_charts_are_drawn_with_the_figures_under_their_axes(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"])
    heads = watched.page.locator("h2").all_inner_texts()
    for title in ("The model over the horizons", "By 3 years (1095 days)", "Follow-up", "Losses"):
        assert title in heads
    texts = " ".join(watched.page.locator("figure svg text").all_text_contents())
    # Few are in a fifth at the end: the lines under the axis are of everyone.
    assert "at risk, everyone" in texts and "competing, everyone" in texts and "years since the prediction" in texts
    assert "at risk, highest fifth" not in texts
    watched.page.close()
