"""Text and Markdown say what the record says, show nulls as nulls, and let no name from a user's file do anything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import workup
from tests.support.places import FIXTURE
from workup.errors import ReportError
from workup.report import LensResult, Report, Verdict, digest
from workup.reports import markdown, text
from workup.reports.text import visible
from workup.tasks.risk.cards import CARDS

RENDERERS = [text.render, markdown.render]
BOTH = pytest.mark.parametrize("render", RENDERERS, ids=["text", "markdown"])
Render = Callable[[Report], str]


def one_class() -> Report:
    table = {"died": [0] * 40, "p": [0.1, 0.2, 0.3, 0.4] * 10}
    return workup.score_risk(table, outcome="died", risk="p", thresholds=[0.25], replicates=200)


# The record


def test_a_report_of_schema_1_reads_and_comes_back_byte_for_byte(report: Report) -> None:
    assert report.schema_version == 1
    assert report.to_json() == FIXTURE.read_text(encoding="utf-8")
    assert report.sha256 == json.loads(FIXTURE.read_text(encoding="utf-8"))["sha256"]


def test_what_the_kept_report_holds_is_still_found(report: Report) -> None:
    assert report.corpus["n_cases"] == 300
    assert report.as_of == "2024-06-30"
    assert report.estimate("auroc").n_patients == 300
    assert report.estimate("auroc", level=0.90).level == 0.90
    assert report.estimate("sensitivity", threshold=0.2).denominator == report.estimate("auroc").n_events
    assert [v.outcome for v in report.verdicts[:3]] == ["pass", "fail", "unsure"]
    assert report.estimate("auroc", ethnicity="Hispanic").status != "ok"


def test_a_slice_that_is_not_held_is_named_with_those_that_are(report: Report) -> None:
    with pytest.raises(ReportError, match=r"no estimate of 'sensitivity' on slice \{\}.*threshold"):
        report.estimate("sensitivity")


def _changed(change: Callable[[dict[str, Any]], object], folder: Path, *, signed: bool) -> Path:
    record = json.loads(FIXTURE.read_text(encoding="utf-8"))
    change(record)
    if signed:
        record["sha256"] = digest(record)
    file = folder / "report.json"
    file.write_text(json.dumps(record), encoding="utf-8")
    return file


def test_a_record_that_was_changed_is_refused(tmp_path: Path) -> None:
    file = _changed(lambda r: r["results"]["internal"]["estimates"][0].update(value=0.99), tmp_path, signed=False)
    with pytest.raises(ReportError, match="does not match its own sha256"):
        Report.read(file)


CHANGES: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("a later schema", lambda r: r.update(schema_version=99)),
    ("no schema", lambda r: r.pop("schema_version")),
    ("no corpus", lambda r: r.pop("corpus")),
    ("no results", lambda r: r.pop("results")),
    ("results that are a list", lambda r: r.update(results=[])),
    ("an estimate without its value", lambda r: r["results"]["internal"]["estimates"][0].pop("value")),
    ("an estimate that is a number", lambda r: r["results"]["internal"]["estimates"].append(3)),
    ("a verdict without its rule", lambda r: r["verdicts"][0].pop("rule")),
]


@pytest.mark.parametrize(("why", "change"), CHANGES, ids=[why for why, _ in CHANGES])
def test_a_record_that_is_not_whole_is_refused_and_not_a_crash(
    why: str, change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    with pytest.raises(ReportError, match=r"report\.json"):
        Report.read(_changed(change, tmp_path, signed=True))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"\xff\xfe"])
def test_a_file_that_is_no_report_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(content)
    with pytest.raises(ReportError, match=r"report\.json"):
        Report.read(tmp_path)


def test_a_folder_without_a_report_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="run the study first"):
        Report.read(tmp_path)


# Sections

SECTIONS = [
    "Validation report",
    "In plain words",
    "Gates",
    "Overall",
    "Decisions at a threshold of 0.2",
    "Calibration",
    "Decision curve",
    "By ethnicity",
    "Smallest difference these data could see",
    "Limits",
]


def test_the_text_has_every_section_in_order(report: Report) -> None:
    lines = text.render(report).splitlines()
    titles = [above for above, below in pairwise(lines) if below and set(below) == {"="}]
    assert titles == SECTIONS


def test_the_markdown_has_every_section_in_order(report: Report) -> None:
    titles = re.findall(r"^#+ (.*)$", markdown.render(report), flags=re.M)
    assert titles == SECTIONS


@BOTH
def test_the_same_record_draws_the_same_text_and_reads_nothing_else(render: Render, report: Report) -> None:
    assert render(report) == render(Report.from_dict(json.loads(report.to_json())))


@BOTH
def test_the_header_says_what_was_tested_on_what(render: Render, report: Report) -> None:
    drawn = render(report).replace("\\", "")
    for words in ("readmission", "generated cohort 1", "300", "2024-06-30", report.corpus["sha256"], report.sha256):
        assert str(words) in drawn


@BOTH
def test_every_verdict_stands_with_its_reason(render: Render, report: Report) -> None:
    drawn = " ".join(unescape(render(report)).replace("\\", "").split())
    for verdict in report.verdicts:
        assert verdict.rule in drawn
        assert verdict.reason in drawn
        assert verdict.outcome.replace("_", " ") in drawn


@BOTH
def test_no_gate_is_said(render: Render) -> None:
    assert "No gate was set" in render(one_class())


def test_a_refitted_model_has_its_sections(report: Report) -> None:
    own = report.results["internal"]
    extra = [
        replace(e, slice={**e.slice, "validation": kind})
        for kind in ("optimism-corrected", "5-fold")
        for e in own.estimates[:1]
    ]
    drawn = text.render(replace(report, results={"internal": replace(own, estimates=(*own.estimates, *extra))}))
    assert "Refitted: optimism-corrected\n" in drawn
    assert "Refitted: 5-fold\n" in drawn


# Figures


def _rows(drawn: str, title: str) -> Iterator[list[str]]:
    """Rows of the tables under a heading of the Markdown, as plain cells."""
    part = drawn.split(f"# {title}\n", 1)[1].split("\n#", 1)[0]
    for line in part.splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            yield [unescape(re.sub(r"\\(.)", r"\1", cell)).strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def _shows(cell: str, value: float | None) -> bool:
    """Does a rounded figure stand for this value? Within half a unit of its last digit."""
    if value is None:
        return cell == "–"
    digits = cell.replace(",", "")
    if "e" in digits:
        return float(digits) == pytest.approx(value, rel=0.006)
    decimals = len(digits.partition(".")[2])
    return abs(float(digits) - value) <= 0.5000001 * 10**-decimals


def test_the_figures_are_those_of_the_record(report: Report) -> None:
    drawn = markdown.render(report)
    seen = 0
    for title, keys in (("Overall", {}), ("Decisions at a threshold of 0.2", {"threshold": 0.2})):
        held = {
            CARDS[e.metric].title: e
            for e in report.results["internal"].estimates
            if dict(e.slice) == keys and e.level == 0.95
        }
        rows = {row[0]: row for row in reversed(list(_rows(drawn, title)))}  # the 95 % table comes first
        del rows["metric"]
        assert set(rows) == set(held)
        for name, row in rows.items():
            e = held[name]
            assert _shows(row[1], e.value), row
            ends = row[2].split(" to ") if e.low is not None else ["–", "–"]
            assert _shows(ends[0], e.low), row
            assert _shows(ends[1], e.high), row
            assert row[3] == f"{e.n_patients}"
            seen += 1
    assert seen == 19


def test_the_figures_by_group_are_those_of_the_record(report: Report) -> None:
    rows = list(_rows(markdown.render(report), "By ethnicity"))[1:]
    held = [e for e in report.results["subgroups"].estimates if e.level == 0.95]
    assert {row[0] for row in rows} == {"White", "Black", "Hispanic", "Asian"}
    for row in rows:
        name = row[1].removesuffix(" at 0.2")
        [e] = [e for e in held if CARDS[e.metric].title == name and e.slice["ethnicity"] == row[0]]
        assert _shows(row[2], e.value), row
        assert row[4] == f"{e.n_patients}"
        assert e.status == "ok" or row[-1].startswith(f"{e.status}: "), row


def test_text_and_markdown_hold_the_same_figures(report: Report) -> None:
    plain = text.render(report)
    for title in ("Overall", "By ethnicity"):
        for row in list(_rows(markdown.render(report), title))[1:]:
            if row[0] != "metric":
                assert re.search(r"\s+".join(map(re.escape, filter(None, row[:4]))), plain), row


# Nulls


@BOTH
def test_a_null_is_a_dash_with_its_reason_and_never_a_zero(render: Render) -> None:
    report = one_class()
    drawn = render(report)
    assert "needs rows with and rows without the event" in " ".join(drawn.split())
    rows = list(_rows(markdown.render(report), "Overall"))[1:]
    nulls = {CARDS[e.metric].title for e in report.estimates() if e.value is None and e.metric in CARDS}
    assert {"AUROC", "calibration slope"} <= nulls
    for row in rows:
        if row[0] in nulls:
            assert row[1:3] == ["–", "–"], row
            assert row[-1].startswith("undefined: "), row
    for line in text.render(report).splitlines():
        if line.startswith(("AUROC ", "calibration slope ")):
            assert line.split()[-5] == "–", line


@BOTH
def test_every_reason_of_a_refused_figure_is_shown(render: Render, report: Report) -> None:
    drawn = " ".join(unescape(render(report)).replace("\\", "").split())
    shown = ("auroc", "calibration_slope", "brier", "sensitivity", "ppv")
    refused = [e for e in report.estimates() if e.status != "ok" and e.metric in shown and e.level == 0.95]
    assert refused
    for e in refused:
        assert f"{e.status}: {e.reason}" in drawn, e


# Hostile names

HOSTILE = {
    "html": "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "pipes": "a | b || c |",
    "markdown": "[click](javascript:alert(1)) **bold** `code` # title ![i](http://x/y.png) <http://evil.example>",
    "ansi": "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "breaks": "line\n# Limits\n\nforged | row\r\n---\n",
    "bidi": "\u202eabc\u2066def\u200f\u061c",
    "template": "{{ 7*7 }}{% raw %}${7*7}",
    "backslash": "\\| \\< \\",
    "zero": "a\u0000b\u200bc\ufeffd",
    "long": "long" * 2500,
}
NAMES = pytest.mark.parametrize("name", HOSTILE.values(), ids=list(HOSTILE))


def hostile(report: Report, name: str) -> Report:
    """The report with one name in every place that a user's file decides."""
    internal, groups = report.results["internal"], report.results["subgroups"]
    renamed = tuple(
        replace(e, slice={name: name, **{k: v for k, v in e.slice.items() if k != "ethnicity"}})
        for e in groups.estimates
        if e.slice["ethnicity"] == "White"
    )
    return replace(
        report,
        study={**report.study, "name": name},
        corpus={**report.corpus, "name": name, "version": name},
        system={"name": name, "version": name},
        as_of=name,
        results={
            "internal": replace(internal, notes=(name, f"Warning: column '{name}' is named like a patient id")),
            "subgroups": LensResult("subgroups", settings={"by": [name]}, estimates=renamed, notes=(name,)),
        },
        verdicts=(Verdict(f"auroc{{x={name}}}.low >= 0.5", "not_assessed", None, name),),
    )


@BOTH
@NAMES
def test_a_hostile_name_cannot_steer_a_terminal_or_forge_a_line(render: Render, name: str, report: Report) -> None:
    drawn = render(hostile(report, name))
    assert all(c.isprintable() or c == "\n" for c in drawn)
    lines = drawn.splitlines()
    assert lines.count("# Limits") + lines.count("## Limits") + lines.count("Limits") == 1
    assert not any(line.startswith(("forged", "---")) for line in lines if set(line) != {"-", " "})
    assert "49" not in drawn or "49" in render(report)


@NAMES
def test_a_hostile_name_does_nothing_in_the_short_form_either(name: str, report: Report) -> None:
    assert all(c.isprintable() or c == "\n" for c in str(hostile(report, name)))
    assert len(str(hostile(report, name)).splitlines()) == len(str(report).splitlines())


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {key for key, _ in attrs}


@NAMES
def test_a_hostile_name_adds_no_markup(name: str, report: Report) -> None:
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown.render(hostile(report, name)))
    parser = _Tags()
    parser.feed(page)
    assert parser.tags == {"h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert not parser.attributes


@NAMES
def test_a_hostile_name_is_shown_and_keeps_the_columns(name: str, report: Report) -> None:
    drawn = hostile(report, name)
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown.render(drawn))
    plain = markdown.render(report)
    before = MarkdownIt("commonmark", {"html": True}).enable("table").render(plain)

    def widths(html: str) -> set[int]:
        return {row.count("<td>") for row in re.findall(r"<tr>(.*?)</tr>", html, flags=re.S)}

    assert widths(page) <= widths(before)
    assert visible(name).split()[0] in unescape(page)


def test_markdown_holds_no_bare_angle_bracket_since_not_all_dialects_know_the_backslash(report: Report) -> None:
    assert "<" not in markdown.render(hostile(report, HOSTILE["html"]))


def test_a_long_name_makes_no_endless_report(report: Report) -> None:
    for render in RENDERERS:
        assert len(render(hostile(report, HOSTILE["long"]))) < 2_000_000
