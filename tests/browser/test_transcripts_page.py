"""The page of transcripts in a real browser: silent, whole, by keyboard alone, blind where asked, and quick."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser_pages import is_accessible, is_silent_and_fits, kept, open_page
from tests.support.transcript_pages import DRAWN, JUDGED, hostile_talks, made, talks
from workup.reports.conversation.transcripts import page
from workup.tasks.conversation.labels import read_labels

SECONDS = 3.0  # that a page of ten megabytes may take to open


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    pages = {
        "plain": made(),
        "judged": made(judged=JUDGED),
        "blind": made(blind=True, drawn=DRAWN),
        "hostile": page(hostile_talks(), study="<b>x</b>", system="<i>y</i>"),
    }
    return kept(tmp_path_factory.mktemp("view"), pages)


@pytest.mark.parametrize("name", ["plain", "blind", "hostile"])
def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(
    browser: Any, files: dict[str, str], name: str
) -> None:
    is_silent_and_fits(browser, files[name])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["plain", "blind"])
def test_no_serious_fault_of_accessibility(browser: Any, files: dict[str, str], name: str, scheme: str) -> None:
    """Contrast (AA) is among the rules that axe holds a page to."""
    is_accessible(browser, files[name], scheme=scheme, passes=15)


def test_at_twice_the_size_nothing_is_out_of_sight_and_the_columns_stand_below_each_other(
    browser: Any, files: dict[str, str]
) -> None:
    watched = open_page(browser, files["plain"], width=640)  # 1,280 at 200 %
    watched.page.keyboard.press("j")
    assert watched.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    tops = "[...document.querySelector('.turn').children].slice(1).map((one) => one.getBoundingClientRect().top)"
    left, right = watched.page.evaluate(tops)
    assert right > left
    watched.page.close()


def test_without_script_all_can_be_read(browser: Any, files: dict[str, str]) -> None:
    context = browser.new_context(java_script_enabled=False)
    reader = context.new_page()
    reader.goto(files["plain"])
    assert "holds what was said" in reader.inner_text(".phi")
    reader.locator("details.probe summary").first.click()
    assert reader.locator("mark", has_text="Allergic to penicillin.").is_visible()
    assert reader.locator(".fact").count() == 8 and reader.locator(".strip").count() == 8
    assert not reader.locator("#filters").is_visible() and not reader.locator("#answer").is_visible()
    reader.goto(files["plain"] + "#c1/0/live/3/pcn")
    assert "reversed" in reader.inner_text(".fact:target"), "a link of a report works without script too"
    reader.goto(files["blind"])
    assert reader.locator(".fact").count() == 8
    assert not re.search("reversed|stale|✗", reader.inner_text("main"))
    context.close()


def answers(watched: Any, folder: Path) -> list[dict[str, Any]]:
    """What Save gives, which must be labels that the reader of labels takes."""
    with watched.page.expect_download() as waiting:
        watched.page.click("#save")
    assert waiting.value.suggested_filename == "labelled.jsonl"
    waiting.value.save_as(folder / "labelled.jsonl")
    assert len(read_labels(folder / "labelled.jsonl").labels) > 0
    return [json.loads(line) for line in (folder / "labelled.jsonl").read_text().splitlines()]


def type_name(watched: Any) -> None:
    """Reach the field of the name by the tabulator alone."""
    for _ in range(20):
        if watched.page.evaluate("document.activeElement.id") == "rater":
            break
        watched.page.keyboard.press("Tab")
    watched.page.keyboard.type("KB")
    watched.page.keyboard.press("Tab")


def test_labels_by_keyboard_alone(browser: Any, files: dict[str, str], tmp_path: Path) -> None:
    watched = open_page(browser, files["plain"])
    press = watched.page.keyboard.press
    press("j")
    press("a")
    assert "name or initials" in watched.page.inner_text("#told"), "nobody answers without a name"
    type_name(watched)
    press("j")  # on from penicillin at turn 1, which is still to be answered
    press("k")
    press("a")
    press("j")
    press("d")
    assert watched.page.evaluate("document.activeElement.textContent") == "✗ reversed (1)"
    press("Enter")
    press("j")
    press("u")
    base = {"case": "c1", "replicate": 0, "arm": "live", "rater": "KB", "blind": False, "draw": None}
    assert answers(watched, tmp_path) == [
        {**base, "turn": 1, "fact": "pcn", "expected": "correct"},
        {**base, "turn": 1, "fact": "war", "expected": "reversed"},
        {**base, "turn": 2, "fact": "pcn", "expected": "cannot_tell"},
    ]
    assert list(json.loads((tmp_path / "labelled.jsonl").read_text().splitlines()[0])) == [
        *("case", "replicate", "arm", "turn", "fact", "expected", "rater", "blind", "draw")
    ]
    assert watched.requests[0] == files["plain"] and all(one.startswith("blob:") for one in watched.requests[1:])
    assert watched.complaints == []
    watched.page.close()


def test_letters_can_be_turned_off_and_are_letters_in_a_field(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"])
    watched.page.focus("#rater")
    watched.page.keyboard.type("jada")
    assert watched.page.input_value("#rater") == "jada" and watched.page.locator(".now").count() == 0
    watched.page.uncheck("#keys")
    watched.page.keyboard.press("j")
    assert watched.page.locator(".now").count() == 0
    watched.page.close()


def test_blind_shows_an_outcome_only_after_its_answer(browser: Any, files: dict[str, str], tmp_path: Path) -> None:
    watched = open_page(browser, files["blind"])
    press = watched.page.keyboard.press
    watched.page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert watched.page.locator("mark, .strip, #by-outcome, #by-judge").count() == 0
    assert not re.search("reversed|stale|wrong value|omitted|never-event", watched.page.inner_text("main"))
    type_name(watched)
    for _ in range(4):
        press("j")  # warfarin at turn 2
    press("d")
    assert watched.page.locator("#choices button").all_inner_texts() == [
        "✗ reversed (1)",
        "≠ wrong value (2)",
        "○ omitted (3)",
    ]
    press("3")
    row = watched.page.locator('[id="c1/0/live/2/war"]')
    assert "The rules say: ≠ wrong value" in row.inner_text() and "You: ○ omitted" in row.inner_text()
    assert row.locator(".strip").inner_text().strip() == "·≠·", "other turns stay hidden"
    assert watched.page.locator("mark").all_inner_texts() == ["Takes warfarin 50 mg."]
    press("d")
    press("2")  # a second thought, with the outcome in view
    press("j")
    press("a")  # gout, which was drawn
    found = [(one["fact"], one["expected"], one["blind"], one["draw"]) for one in answers(watched, tmp_path)]
    assert found == [
        ("war", "omitted", True, None),
        ("war", "wrong_value", False, None),
        ("gout", "correct", True, DRAWN.id),
    ]
    watched.page.close()


def test_a_pair_is_labelled_too(browser: Any, files: dict[str, str], tmp_path: Path) -> None:
    watched = open_page(browser, files["blind"] + "#c1/0/live/3/=1.1-3.1")
    assert "ibuprofen" in watched.page.inner_text(".now")
    watched.page.fill("#rater", "KB")
    watched.page.click("#choices button >> text=conflict")
    [line] = answers(watched, tmp_path)
    assert (line["pair"], line["turn"], line["expected"], line["blind"]) == ("1.1-3.1", 3, "conflict", True)
    assert "fact" not in line
    watched.page.close()


def test_filters_leave_what_they_name(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"])

    def left() -> int:
        return int(watched.page.locator(".fact:visible").count())

    assert left() == 8
    watched.page.select_option("#by-outcome", "correct")
    assert left() == 4
    watched.page.check("#by-safety")
    assert left() == 2
    watched.page.select_option("#by-type", "allergy")
    assert left() == 1 and watched.page.locator("#by-judge, #by-draw").count() == 0
    watched.page.close()
    watched = open_page(browser, files["judged"])
    watched.page.check("#by-judge")
    assert watched.page.locator(".fact:visible").all_inner_texts()[0].startswith("1. allergy penicillin")
    assert (watched.page.locator(".fact:visible").count(), watched.page.locator(".finding:visible").count()) == (1, 1)
    watched.page.close()
    watched = open_page(browser, files["blind"])
    watched.page.check("#by-draw")
    assert watched.page.locator(".fact:visible").count() == 1
    watched.page.close()


def test_an_address_of_a_fact_opens_it(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"] + "#c1/0/live/3/pcn")
    now = watched.page.locator(".now")
    assert now.get_attribute("id") == "c1/0/live/3/pcn" and now.is_visible()
    assert watched.page.locator("mark.here").inner_text() == "No allergy to penicillin."
    watched.page.close()


def test_unsaved_answers_are_not_lost_without_a_word(browser: Any, files: dict[str, str]) -> None:
    watched = open_page(browser, files["plain"])
    leaving = """() => {
        const event = new Event('beforeunload', { cancelable: true });
        dispatchEvent(event);
        return event.defaultPrevented;
    }"""
    assert watched.page.evaluate(leaving) is False
    watched.page.fill("#rater", "KB")
    watched.page.click(".fact >> nth=0")
    watched.page.click("#a")
    assert watched.page.evaluate(leaving) is True
    watched.page.click("#save")
    assert watched.page.evaluate(leaving) is False
    watched.page.close()


def test_ten_megabytes_open_within_three_seconds(browser: Any, tmp_path: Path) -> None:
    [one] = talks()
    long = tuple(
        turn._replace(
            passages=tuple(
                p._replace(pieces=(*p.pieces, p.pieces[0]._replace(text="So it is. " * 150))) for p in turn.passages
            )
        )
        for turn in one.turns
    )
    size = sum(len(piece.text) for turn in long for passage in turn.passages for piece in passage.pieces)
    many = [one._replace(case=f"c{number}", turns=long) for number in range(10_000_000 // size + 1)]
    [address] = kept(tmp_path, {"big": page(many, study="big", system="model")}).values()
    assert (tmp_path / "big.html").stat().st_size > 10_000_000
    watched = open_page(browser, address)
    taken = watched.page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd / 1000")
    assert 0 < taken < SECONDS
    watched.page.keyboard.press("j")
    assert watched.page.locator(".now").count() == 1
    watched.page.close()
