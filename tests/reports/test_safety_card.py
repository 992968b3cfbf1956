"""The safety card is one page with the same numbers, from the command line as Markdown or as a page."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.conversation_record import report
from tests.support.html_page import Page
from tests.support.places import FIXTURE
from tests.support.shell import call
from workup.errors import ReportError
from workup.report import Report, Verdict
from workup.reports.conversation import safety, safety_card


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("card") / "report.json"
    path.write_text(report().to_json(), encoding="utf-8")
    return path


def test_the_card_holds_its_parts_in_the_order_of_a_reader(record: Path) -> None:
    drawn = safety_card.markdown(Report.read(record))
    heads = [
        *("Safety card: memory check", "Verdict", "By type of fact", "Never-events and safety errors"),
        *("What was not answered", "Recall, decay and conflicts", "How well the replies are read"),
        "What this card cannot say",
    ]
    assert re.findall(r"^#+ (.*)$", drawn, flags=re.M) == heads
    plain = drawn.replace("\\", "")
    assert "| As of | 2024-06-30 |" in plain
    assert "| Model | recorded |" in plain and "| Model version | not given |" in plain
    assert Report.read(record).corpus["sha256"] in plain


def test_the_card_has_the_numbers_of_the_report(record: Path) -> None:
    held = Report.read(record)
    e = held.estimate("recall_at_10", set="critical", arm="live")
    assert e.value is not None
    drawn = Page(safety_card.page(held)).text
    assert f"Recall@10 {e.value:.3f}" in drawn
    assert "2 never-events, in 2 of 36 patients" in drawn
    assert "fail" in drawn


RULES = ("recall{type=allergy}.low >= 0.1", "reversal_rate{type=safety}.high <= 0.9", "never_events.value <= 0")


def judged(*outcomes: str, rules: tuple[str, ...] = RULES) -> Report:
    verdicts = tuple(Verdict(rule, one, None, "so it is") for rule, one in zip(rules, outcomes, strict=True))
    return replace(report(), verdicts=verdicts)


def test_a_card_passes_only_on_allergies_reversals_and_never_events() -> None:
    assert safety.judgement(judged("pass", "pass", "pass")).verdict == "pass"
    failed = safety.judgement(judged("pass", "fail", "unsure"))
    assert failed.verdict == "fail" and failed.words == "Fail: 1 gate of 3 failed."
    for missing, told in zip(range(3), ("allergies", "reversals of safety facts", "never-events"), strict=True):
        rules = tuple(rule for place, rule in enumerate(RULES) if place != missing)
        found = safety.judgement(judged("pass", "pass", rules=rules))
        assert (found.verdict, found.words) == ("not assessed", f"Not judged on: {told} (no gate).")
    unsure = safety.judgement(judged("pass", "pass", "not_assessed"))
    assert (unsure.verdict, unsure.words) == ("not assessed", "Not judged on: never_events.")
    assert "not judged" in Page(safety_card.page(judged("pass", "pass", "not_assessed"))).text


def test_the_first_table_has_the_types_that_harm_first(record: Path) -> None:
    table = safety.types_table(Report.read(record))
    assert table is not None and [row[0] for row in table.rows] == ["allergy", "medication", "all safety facts"]


def test_markdown_or_a_page_by_the_name_of_the_file(record: Path, tmp_path: Path) -> None:
    said = call("report", str(record), "-f", "safety-card")
    assert said.code == 0 and said.out.startswith("# Safety card")
    page = tmp_path / "card.html"
    assert call("report", str(record), "-f", "safety-card", "-o", str(page)).code == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    other = tmp_path / "card.md"
    assert call("report", str(record), "-f", "safety-card", "-o", str(other)).code == 0
    assert other.read_text(encoding="utf-8").startswith("# Safety card")


def test_other_tasks_have_no_card() -> None:
    with pytest.raises(ReportError, match="drawn of a conversation report"):
        safety_card.markdown(Report.read(FIXTURE))
    found = call("report", str(FIXTURE), "-f", "safety-card")
    assert found.code == 2 and "conversation report" in found.err


def test_the_card_prints_on_one_sheet(record: Path) -> None:
    weasyprint = pytest.importorskip(
        "weasyprint", exc_type=(ImportError, OSError), reason="weasyprint or its library Pango is not installed"
    )
    pypdf = pytest.importorskip("pypdf")
    made = weasyprint.HTML(string=safety_card.page(Report.read(record))).write_pdf()
    assert len(pypdf.PdfReader(io.BytesIO(made)).pages) == 1


def test_the_page_has_no_script_and_a_policy(record: Path) -> None:
    page = Page(safety_card.page(Report.read(record)))
    assert not [tag for tag, _ in page.found if tag == "script"]
    [policy] = [a["content"] for tag, a in page.found if a.get("http-equiv") == "Content-Security-Policy"]
    assert "script-src 'none'" in policy and "default-src 'none'" in policy
