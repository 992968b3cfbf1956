"""The page says what the record says, fetches nothing, and shows hostile names as words; the PDF holds the same."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from tests.support.hostile import NAMES, hostile, with_comparisons
from tests.support.html_page import Page
from tests.support.places import FIXTURE
from workup.errors import MissingExtra, visible
from workup.report import Report
from workup.reports import html, markdown, pdf, text
from workup.reports.charts import drawing


@pytest.fixture(scope="module")
def report() -> Report:
    return with_comparisons(Report.read(FIXTURE))


@pytest.fixture(scope="module")
def page(report: Report) -> Page:
    return Page(html.render(report))


def test_the_same_record_gives_the_same_page(report: Report) -> None:
    assert html.render(report) == html.render(Report.from_dict(report.as_dict()))


def test_summary_comes_first_then_gates_then_the_panels(page: Page) -> None:
    places = [
        page.text.rindex(words) for words in ("In plain words", "Gates and their verdicts", "Discrimination: ROC")
    ]
    assert places == sorted(places)
    assert [attrs["id"] for tag, attrs in page.found if tag == "h2"][-1] == "part-record"


def test_every_verdict_stands_as_a_word_with_its_reason(page: Page, report: Report) -> None:
    for verdict in report.verdicts:
        assert verdict.rule in page.text
        assert verdict.reason in page.text
    badges = [attrs["class"] for tag, attrs in page.found if tag == "span" and "badge" in (attrs.get("class") or "")]
    assert {"badge good", "badge bad", "badge unsure"} <= set(badges)
    for word in ("pass", "fail", "unsure", "disparity", "within", "inconclusive"):
        assert re.search(rf"[✓✗?–] (\d )?{word}\b", page.text), word


def test_failed_gates_come_before_those_that_passed(report: Report) -> None:
    table = html._in_words(next(s for s in html.sections(report) if s.key == "gates").tables[0])
    outcomes = [row[0] for row in table.rows]
    assert outcomes == sorted(outcomes, key=["fail", "unsure", "not assessed", "pass"].index)
    assert table.rows[0][1].split(":")[1].strip().startswith("the ")


@pytest.mark.parametrize("render", [html.render, text.render, markdown.render], ids=["html", "text", "markdown"])
def test_gaps_stand_with_verdict_reason_test_and_smallest_gap(render: Any, report: Report) -> None:
    drawn = render(report)
    shown = Page(drawn).text if render is html.render else " ".join(unescape(drawn).replace("\\", "").split())
    for words in (
        "ethnicity Black",
        "-0.120",
        "-0.200 to -0.060",
        "disparity",
        "the interval lies within",
        "may be smaller",
        "insufficient in one of them: 4 patients",
        "equalised odds",
        "Cochran's Q",
        "<0.001",
        "0.123",
        "The margin is 0.05.",
        "1 beyond it, 1 within it, 1 that these data cannot settle",
        "Sensitivity at 0.2 is lower for ethnicity Black than for the rest by 0.120",
    ):
        assert words in shown, words


def test_every_figure_of_the_markdown_is_on_the_page(page: Page, report: Report) -> None:
    cells = {
        re.sub(r"\\(.)", r"\1", cell).strip()
        for line in unescape(markdown.render(report)).splitlines()
        if line.startswith("| ")
        for cell in re.split(r"(?<!\\)\|", line)[1:-1]
    }
    shown = page.text.replace("not assessed", "not_assessed")
    missing = {
        cell for cell in cells if set(cell) - {"-"} and cell.replace("not assessed", "not_assessed") not in shown
    }
    assert len(cells) > 100
    assert not missing


def test_nothing_is_fetched_and_only_its_own_script_may_run(page: Page) -> None:
    for tag, attrs in page.found:
        assert tag not in ("link", "iframe", "object", "embed", "img", "form", "base")
        assert not {key for key in attrs if key.startswith("on") or key in ("src", "style", "action")}
        assert (attrs.get("href") or "#").startswith("#")
    [policy] = [str(attrs["content"]) for tag, attrs in page.found if "Content-Security-Policy" in str(attrs)]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for kind in ("script", "style"):
        [held] = page.raw[kind]
        assert "'sha256-" + base64.b64encode(hashlib.sha256(held.encode()).digest()).decode() + "'" in policy


def test_ids_are_unique_and_every_reference_has_its_target(page: Page) -> None:
    ids = [attrs["id"] for _, attrs in page.found if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in page.found:
        for key in ("aria-labelledby", "aria-describedby"):
            assert attrs.get(key) is None or attrs[key] in ids
        if (attrs.get("href") or "").startswith("#"):
            assert str(attrs["href"])[1:] in ids


def test_tables_have_captions_scopes_and_labelled_regions(page: Page) -> None:
    tags = [tag for tag, _ in page.found]
    assert tags.count("table") == tags.count("caption") == tags.count("thead")
    assert all(attrs.get("scope") in ("row", "col") for tag, attrs in page.found if tag == "th")
    labels = [attrs["aria-label"] for _, attrs in page.found if attrs.get("role") == "region"]
    assert len(labels) == len(set(labels)) == tags.count("table")


@pytest.mark.skipif(not drawing.available(), reason="vl-convert-python is not installed (extra 'report')")
def test_charts_are_drawn_each_with_words_and_figures(page: Page) -> None:
    tags = [tag for tag, _ in page.found]
    assert tags.count("svg") == tags.count("figure") == tags.count("figcaption") >= 8


@pytest.mark.usefixtures("without_charts")
def test_without_the_library_tables_stand_in_for_charts_and_the_extra_is_named(report: Report) -> None:
    page = Page(html.render(report))
    assert "svg" not in page.tags
    assert "extra 'report'" in page.text
    folded = [attrs for tag, attrs in page.found if tag == "details" and attrs.get("class") == "chart-table"]
    assert folded and all("open" in attrs for attrs in folded)


@pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
@pytest.mark.usefixtures("without_charts")
def test_a_hostile_name_adds_no_element_and_is_shown(name: str, report: Report) -> None:
    plain, page = Page(html.render(report)), Page(html.render(hostile(report, name)))
    assert page.tags <= plain.tags
    assert {key for _, attrs in page.found for key in attrs} <= {key for _, attrs in plain.found for key in attrs}
    assert all(c.isprintable() or c in "\n\t" for c in "".join(page.words))
    assert " ".join(visible(name)[:200].split()) in page.text
    assert "49" not in page.text or "49" in plain.text


@pytest.mark.usefixtures("without_charts")
def test_a_long_name_makes_no_endless_page(report: Report) -> None:
    assert len(html.render(hostile(report, NAMES["long"]))) < 1_000_000


def test_a_page_stays_small(report: Report) -> None:
    assert len(html.render(report)) < 1_000_000


def test_a_report_with_patient_text_says_so_at_the_top(report: Report) -> None:
    page = Page(html.render(replace(report, contains_phi=True)))
    assert "THIS REPORT HOLDS PATIENT TEXT." in page.text


@pytest.mark.usefixtures("without_charts")
def test_a_record_with_no_lens_still_makes_a_page(report: Report) -> None:
    page = Page(html.render(replace(report, results={}, verdicts=())))
    assert "No gate was set" in page.text


# PDF


def test_without_the_library_a_pdf_names_the_extra(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "weasyprint", None)
    with pytest.raises(MissingExtra, match=r"weasyprint.*\[pdf\]"):
        pdf.render(report)


def test_the_pdf_holds_the_report_on_several_pages_with_no_row_cut(report: Report) -> None:
    pytest.importorskip(
        "weasyprint", exc_type=(ImportError, OSError), reason="weasyprint is not installed (extra 'pdf')"
    )
    pypdf = pytest.importorskip("pypdf")
    made = pdf.render(report)
    assert made.startswith(b"%PDF-")
    pages = [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(io.BytesIO(made)).pages]
    assert 3 <= len(pages) <= 12
    whole = " ".join(pages)
    for words in ("In plain words", "Gaps between groups", "Limits", "the interval lies within"):
        assert words in whole, words
    assert report.sha256 in whole.replace(" ", "")
    assert "Figures behind this chart" not in whole


# ---- on paper --------------------------------------------------------------------------------------------------------


def long_grid(count: int, **fields: Any) -> html.Grid:
    given: dict[str, Any] = {
        "label": "Table",
        "caption": "Power",
        "heads": ("group", "reason", "power"),
        "kinds": ("words", "reason", "num"),
        "rows": tuple((f"band {i}", f"because of {'many ' * (i % 40)}things", f"{i / 1000:.3f}") for i in range(count)),
    }
    return html.Grid(**given | fields)


def test_a_long_table_is_printed_as_lines_that_hold_every_word() -> None:
    grid = long_grid(63)
    heads, *blocks = grid.as_lines()
    assert heads.text.split() == list(grid.heads)
    assert len(blocks) == 13, "a rule after every fifth row"
    for i, block in enumerate(blocks):
        rows = grid.rows[5 * i : 5 * i + 5]
        assert sorted(" ".join(" ".join(row) for row in rows).split()) == sorted(block.text.split())
        assert max(map(len, block.text.split("\n"))) <= 118
    ends = {len(line) for block in blocks for line in block.text.split("\n") if line.startswith("band")}
    assert len(ends) == 1, "figures stand below each other at the right"


def test_verdicts_of_a_long_table_keep_sign_word_and_tone_on_paper() -> None:
    outcomes = ["within", "disparity", "inconclusive"] * 20
    rows = tuple((f"band {i}", outcome, "0.1") for i, outcome in enumerate(outcomes))
    _, *lines = long_grid(60, kinds=("words", "verdict", "num"), rows=rows).as_lines()
    assert [line.tone for line in lines[:3]] == ["good", "bad", "unsure"]
    assert [line.text.split()[2:4] for line in lines[:3]] == [
        ["✓", "within"],
        ["✗", "disparity"],
        ["?", "inconclusive"],
    ]


def test_words_too_wide_for_a_line_stand_below_it() -> None:
    rows = tuple((f"band {i}", "0.1", f"the gap of {i} {'is not known ' * 9}yet") for i in range(60))
    kinds, heads = ("words", "num", "reason"), ("group", "gap", "reason")
    first, *blocks = long_grid(60, heads=heads, kinds=kinds, rows=rows).as_lines()
    assert first.text == "group    gap\n    reason"
    lines = [line for block in blocks for line in block.text.split("\n")]
    assert lines[:2] == ["band 0   0.1", "    " + rows[0][2][: len(lines[1]) - 4]]
    assert sorted(" ".join(lines).split()) == sorted(" ".join(" ".join(row) for row in rows).split())


def test_a_short_table_keeps_its_cells_on_paper() -> None:
    assert long_grid(30).as_lines() == ()


def test_on_paper_the_figures_behind_a_chart_are_left_out_and_all_else_stays(report: Report) -> None:
    screen, paper = Page(html.render(report)), Page(html.render(report, interactive=False))
    kept = {attrs.get("class") for tag, attrs in paper.found if tag == "details"}
    if drawing.available():
        assert "chart-data" in {attrs.get("class") for tag, attrs in screen.found if tag == "details"}
        assert "chart-data" not in kept
    assert {tag for tag, _ in paper.found} - {"script"} <= {tag for tag, _ in screen.found}


def test_names_that_run_from_right_to_left_are_set_apart_on_paper_too() -> None:
    assert html._printed("ward 7 <b>") == "ward 7 &lt;b&gt;"
    assert html._printed("\u05d0\u05d1 7") == "<bdi>\u05d0\u05d1 7</bdi>"
    assert html._isolated("ward <7>") == "<bdi>ward &lt;7&gt;</bdi>"


def test_a_chart_is_drawn_once_for_the_page_and_its_print(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    vl_convert = pytest.importorskip("vl_convert", reason="charts need vl-convert-python (extra 'report')")
    drawing._drawn.cache_clear()
    calls = []
    real = vl_convert.vegalite_to_svg
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda *a, **k: calls.append(1) or real(*a, **k))
    first = html.render(report)
    drawn = len(calls)
    assert drawn > 0
    html.render(report, interactive=False)
    assert html.render(report) == first
    assert len(calls) == drawn
