"""The report of a detector says what its record says, in every form; no type, miss or untested letter is hidden."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import spans_record
from tests.support.hostile import NAMES
from tests.support.html_page import Page, words
from tests.support.report_parts import cells, part, with_tables
from tests.support.spans_record import NOTE, documents, predictions, report, scored
from workup import score_spans
from workup.errors import visible
from workup.report import Report
from workup.reports import flat, html, markdown, pdf, text
from workup.reports.charts import drawing
from workup.reports.sections import figures, sections
from workup.reports.spans import heat, viewer
from workup.reports.spans import words as spans_words
from workup.reports.spans.errors import MISSED, NO_IDENTIFIER
from workup.reports.spans.setting import Primary, narrowed

SECTIONS = [
    "De-identification validation report",
    "In plain words",
    "Gates",
    "Corpus",
    "Overall",
    "What may be claimed of leaks",
    "By rule set",
    "By type",
    "By type, where the type must be right",
    "By branch of types",
    "Recall and precision over the overlap asked for",
    "Which type was taken for which",
    "What was missed",
    "What was masked for nothing",
    "What stayed visible under partial masks",
    "Values found again",
    "Safe Harbor",
    "Severity weights",
    "Annotators among themselves",
    "By sex",
    "Gaps without a verdict",
    "Do the groups differ at all",
    "Largest gaps",
    "Smallest difference these data could see",
    "Smallest gap between groups these data could see",
    "Documents",
    "Limits: what this corpus cannot prove",
]
RENDERERS = pytest.mark.parametrize("render", [text.render, markdown.render, html.render], ids=["text", "md", "html"])


@pytest.fixture(scope="module")
def full() -> Report:
    return Report.from_dict(report().as_dict())  # as it is kept: figures at twelve digits


# The parts


def test_every_part_stands_in_the_order_people_know(full: Report) -> None:
    lines = text.render(full).splitlines()
    assert [above for above, below in pairwise(lines) if below and set(below) == {"="}] == SECTIONS
    assert re.findall(r"^#+ (.*)$", markdown.render(full), flags=re.M) == SECTIONS


@RENDERERS
def test_the_same_record_gives_the_same_report(render: Any, full: Report) -> None:
    assert render(full) == render(Report.from_dict(full.as_dict()))


def test_the_header_names_policy_rules_labels_and_self_test(full: Report) -> None:
    rows = dict(part(full, "record").tables[0].rows)
    assert rows["Policy"] == "as_annotated"
    assert rows["Rules of the headline"].startswith("full_mask at level phi")
    assert rows["Scorer self-test"].startswith("Scorer self-test passed: 100 of 100")
    assert rows["Documents, patients"] == "52, 24"
    assert len(rows["Corpus sha256"]) == 64


def test_a_scorer_that_failed_its_own_test_is_said_first(full: Report) -> None:
    broken = with_tables(full, selftest={"passed": 99, "of": 100, "line": "Scorer self-test FAILED: do not trust"})
    assert text.render(broken).splitlines()[2] == "Scorer self-test FAILED: do not trust"
    [alarm] = [attrs for tag, attrs in Page(html.render(broken)).found if attrs.get("class") == "alarm"]
    assert alarm["role"] == "note"


def test_headline_numbers_counted_by_hand(full: Report) -> None:
    """Five types in 48 notes must be masked; 12 dates and 24 phones are missed; 16 doses are masked for nothing."""
    rows = {row["metric"]: row for row in cells(part(full, "overall"))}
    assert rows["sensitivity (recall)"]["counts"] == "204/240"
    assert rows["sensitivity (recall)"]["value"] == "0.850"
    assert rows["precision"]["counts"] == "228/244"
    assert rows["leak rate, documents"]["counts"] == "30/48"  # 24 with a short phone, 6 more without the date
    assert rows["leak rate, patients"]["value"] == "1"
    assert rows["specificity, documents without identifiers"]["counts"] == "4/4"
    assert rows["specificity, protected terms"]["counts"] == "48/48"
    assert rows["entity recall, direct identifiers"]["value"] == "–"
    assert rows["entity recall, direct identifiers"]["how"] == "undefined: no entity is marked as direct"
    assert all(
        row["95% interval"] != "–" or row["how"].partition(":")[0] in ("undefined", "insufficient")
        for row in rows.values()
    )
    said = " ".join(part(full, "summary").sentences)
    assert "Of every 100 identifiers that must be masked it found 85.0 (95% interval 78.0 to 90.5; 204/240" in said
    assert "In 62.5 % of the documents with identifiers (30/48" in said


def test_every_specificity_has_its_unit(full: Report) -> None:
    names = [row["metric"] for row in cells(part(full, "overall")) if "specificity" in row["metric"]]
    assert len(names) == 4
    assert all(name.startswith("specificity, ") for name in names)


@RENDERERS
def test_every_estimate_of_the_overall_table_is_the_records(render: Any, full: Report) -> None:
    shown = words(render, full)
    for metric in ("recall", "precision", "f1", "f2"):
        e = full.estimate(metric, mode="full_mask", level="phi")
        assert f"{spans_words.share(e.low)} to {spans_words.share(e.high)}" in shown


# Rule sets


def test_every_rule_set_has_its_row_and_the_denominators_are_said(full: Report) -> None:
    section = part(full, "rules")
    held = [row for row in full.results["internal"].tables["counts"] if row["label"] is None]
    rows = cells(section)
    assert len(rows) == len(held)
    assert {(row["golds"], row["predictions"]) for row in rows if "char" not in row["rules"]} == {("240", "244")}
    assert "240 golds and 244 predictions in every row that counts spans" in " ".join(section.sentences)
    strict = next(row for row in rows if (row["rules"], row["level"]) == ("strict", "leaf"))
    half = next(row for row in rows if (row["rules"], row["level"]) == ("iou:0.5", "leaf"))
    assert (strict["found"], half["found"]) == ("156", "180")


RULES = [
    {"policy": "as_annotated", "mode": "iou:0.5", "level": "phi", "against": {"mode": "strict", "level": "phi"}}
    | {"gained": 30, "lost": 6, "credited_gained": 30, "credited_lost": 6, "compound": None, "other_label": 48}
    | {"confusions": [{"gold": "name_provider", "prediction": "name_patient", "count": 48}]},
    {"policy": "as_annotated", "mode": "cover:1", "level": "leaf", "against": {"mode": "strict", "level": "leaf"}}
    | {
        "gained": 2,
        "lost": 0,
        "credited_gained": 5,
        "credited_lost": 0,
        "compound": 2,
        "other_label": 0,
        "confusions": [],
    },
]


def test_gains_losses_compound_matches_and_confusions_stand_by_rule(full: Report) -> None:
    section = part(with_tables(full, rules=RULES), "rules")
    [gains] = [table for table in section.tables if "gains and loses" in table.caption]
    assert gains.rows == (
        ("iou:0.5", "phi", "strict phi", "30", "6", "30", "6", "–", "48"),
        ("cover:1", "leaf", "strict leaf", "2", "0", "5", "0", "2", "0"),
    )
    [confused] = [table for table in section.tables if "confused" in table.caption]
    assert confused.rows == (("iou:0.5", "phi", "name_provider", "name_patient", "48"),)
    assert "gained or lost" not in section.tables[0].heads


def test_a_record_without_both_sides_shows_the_net_gain(full: Report) -> None:
    section = part(with_tables(full, rules=None), "rules")
    rows = {(row["rules"], row["level"]): row["gained or lost"] for row in cells(section)}
    assert (rows["strict", "leaf"], rows["iou:0.5", "leaf"], rows["char (characters)", "phi"]) == ("–", "+24", "–")
    assert section.sentences[-1].endswith("as a net count.")


def test_types_the_system_cannot_emit_are_named(full: Report) -> None:
    emits = {"declared": ["A"], "canonical": ["date"], "unmapped": [], "reached": ["date"], "not_reached": ["phone"]}
    section = part(with_tables(full, emits=emits), "corpus")
    [table] = [table for table in section.tables if table.caption == "Types the system can emit"]
    assert ("types of the corpus it cannot emit", "phone") in table.rows


def test_denominators_that_moved_are_not_called_equal(full: Report) -> None:
    counts = [dict(row) for row in full.results["internal"].tables["counts"]]
    next(row for row in counts if row["mode"] == "iou:0.5" and row["label"] is None)["golds"] = 250
    said = " ".join(part(with_tables(full, counts=counts), "rules").sentences)
    assert "the rows do not count the same spans (golds 240 or 250)" in said.lower()
    assert "no rule changes" not in said


def test_equivalent_labels_stand_beside_the_strict_rows() -> None:
    found = score_spans(documents(), predictions(), equivalent=["name_patient=name_provider"], replicates=200)
    rows = cells(part(found, "rules"))
    plain = next(row for row in rows if (row["rules"], row["level"]) == ("strict", "leaf"))
    equal = next(row for row in rows if row["rules"] == "strict" and row["level"].startswith("leaf with"))
    assert (plain["found"], equal["found"]) == ("156", "204")
    net = cells(part(with_tables(found, rules=None), "rules"))
    assert next(row["gained or lost"] for row in net if row["level"].startswith("leaf with")) == "+48"
    assert plain["golds"] == equal["golds"]


def test_several_policies_have_a_table_each_and_say_which() -> None:
    found = scored(policies=("as_annotated", "hipaa_safe_harbor"))
    section = part(found, "rules")
    assert [table.caption for table in section.tables[:2]] == [
        "Every rule set, policy as_annotated",
        "Every rule set, policy hipaa_safe_harbor",
    ]
    for drawn in (text.render(found), markdown.render(found).replace("\\", "")):
        assert "Every rule set, policy hipaa_safe_harbor" in drawn
        assert "All documents together, policy as_annotated" in drawn
    rows = dict(part(found, "record").tables[0].rows)
    assert rows["Policy"] == "as_annotated, hipaa_safe_harbor (headline: as_annotated)"
    # Providers and places that may stay are neither hit nor miss under Safe Harbor.
    assert cells(section, 1)[0]["golds"] != cells(section, 0)[0]["golds"]


def test_the_primary_rule_set_is_the_one_shown() -> None:
    found = scored(primary=None, modes=("strict", "full_mask"))
    chosen = replace(found, study={**found.study, "primary": {"mode": "strict", "level": "leaf"}})
    [recall] = [row for row in cells(part(chosen, "overall")) if row["metric"] == "sensitivity (recall)"]
    assert recall["counts"] == "156/240"
    assert json.loads(flat.render(chosen))["sensitivity_numerator"] == 156


# Types


def test_no_type_is_left_out_and_the_largest_comes_first(full: Report) -> None:
    rows = cells(part(full, "types"))
    assert {row["type"] for row in rows} == set(spans_record.LABELS)
    golds = [int(row["golds"]) for row in rows]
    assert golds == sorted(golds, reverse=True)
    by_name = {row["type"]: row for row in rows}
    assert (by_name["date"]["found"], by_name["date"]["missed"]) == ("36", "12")
    assert by_name["phone"]["recall"].startswith("0.500 (")
    assert by_name["drug"]["recall"] == "–"
    assert any("type drug" in point and "undefined" in point for point in part(full, "types").points)


def test_many_types_are_drawn_in_several_charts_with_none_missing() -> None:
    text_ = " ".join(f"w{i}" for i in range(95))
    spans, at = [], 0
    for i in range(95):
        spans.append({"start": at, "end": at + len(f"w{i}"), "label": f"OWN_{i}"})
        at += len(f"w{i}") + 1
    gold = [{"id": str(i), "text": text_, "spans": spans} for i in range(12)]
    found = score_spans(gold, {one["id"]: spans[:50] for one in gold}, replicates=200, modes=["full_mask"])
    charts = [chart for chart in figures(found)["types"] if chart.title.startswith("Recall")]
    assert [chart.title for chart in charts] == [f"Recall by type ({i} of 3)" for i in (1, 2, 3)]
    drawn = [row["label"] for chart in charts for row in chart.spec["layer"][-2]["data"]["values"]]
    assert len(drawn) == len(set(drawn)) == 95
    assert sum(len(chart.table.rows) for chart in charts) == 95


def test_the_curve_has_both_lines_with_bands_and_names(full: Report) -> None:
    [chart] = figures(full)["curve"]
    band, line, *_ = chart.spec["layer"]
    assert {row["which"] for row in line["data"]["values"]} == {"recall", "precision"}
    assert len(line["data"]["values"]) == 20
    assert all(row["low"] <= row["value"] <= row["high"] for row in band["data"]["values"])
    names = [layer["data"]["values"][0]["which"] for layer in chart.spec["layer"] if layer["mark"]["type"] == "text"]
    assert sorted(names) == ["precision", "recall"]
    assert [row[0] for row in chart.table.rows] == [f"{tau / 10:g}" for tau in range(1, 11)]


def test_the_heat_map_keeps_every_count_when_types_are_added_up(full: Report) -> None:
    rows = [{"gold": f"t{i}", "prediction": f"t{(i * 7) % 40}", "count": i + 1} for i in range(40)]
    rows += [{"gold": "t3", "prediction": MISSED, "count": 9}, {"gold": NO_IDENTIFIER, "prediction": "t5", "count": 4}]
    [chart] = figures(with_tables(full, confusion=rows))["confusion"]
    counted = [
        row for layer in chart.spec["layer"] if layer["mark"]["type"] == "text" for row in layer["data"]["values"]
    ]
    assert sum(int(row["count"]) for row in counted if "count" in row) == sum(row["count"] for row in rows)
    assert "(other types)" in str(chart.spec)
    assert len(chart.table.rows) == len(rows)


def test_confusions_are_counted_apart_from_misses_and_false_alarms(full: Report) -> None:
    section = part(full, "confusion")
    assert "228 pairs, 180 of them of one type" in section.sentences[0]
    pairs = {(row["the gold is"], row["it was taken for"]): row["count"] for row in cells(section)}
    assert pairs == {
        ("name_provider", "name_patient"): "48",
        ("date", MISSED): "12",
        (NO_IDENTIFIER, "date"): "16",
    }


# Errors


def test_misses_and_false_alarms_add_up(full: Report) -> None:
    misses, alarms = part(full, "misses"), part(full, "alarms")
    assert misses.sentences[0] == "36 missed of 240 golds that must be masked (15.0 %), at full_mask, level phi."
    assert alarms.sentences[0] == "16 false alarms of 244 predictions (6.6 %), at full_mask, level phi."
    for section, total in ((misses, 36), (alarms, 16)):
        for table in section.tables[:3]:
            assert sum(int(row[1]) for row in table.rows) == total, table.caption
    assert {row["category"]: row["count"] for row in cells(misses)}["partly masked"] == "24"


def test_errors_that_were_not_all_looked_at_say_so(full: Report) -> None:
    errors = {**full.results["internal"].tables["errors"], "total_misses": 50_000}
    said = part(with_tables(full, errors=errors), "misses").sentences
    assert said[1] == "The first 36 of them were looked at one by one; the shares are of these."


def test_the_gravest_partial_leaks_come_first(full: Report) -> None:
    rows = cells(part(full, "partial"))
    assert [row["how grave"] for row in rows] == ["high", "low"]
    assert rows[0]["what stayed visible"] == "last four digits"
    assert "in 24 of them what stayed is grave" in part(full, "partial").sentences[0]


# Safe Harbor and claims


def test_an_untested_letter_is_said_in_words_and_never_green(full: Report) -> None:
    section = part(full, "safe-harbor")
    rows = {row["letter"]: row for row in cells(section)}
    assert {letter: row["coverage"] for letter, row in rows.items()} == {
        "A": "tested",
        "C": "tested",
        "P": "not tested",
        "Q": "not tested",
    }
    assert "Not tested: P, Q (2 of 4)." in section.sentences[1]
    page = html.render(full)
    assert page.count('<span class="badge unsure"><span aria-hidden="true">?</span> not tested</span>') == 2
    assert not re.search(r'badge good"><span aria-hidden="true">.</span> (not )?tested', page)


def test_a_letter_without_golds_is_not_tested_whatever_it_calls_itself(full: Report) -> None:
    rows = [spans_record.harbor("G", "social security numbers", 0, 1.0, status="tested")]
    [row] = cells(part(with_tables(full, safe_harbor=rows), "safe-harbor"))
    assert row["coverage"] == "not tested"


def test_types_of_a_letter_that_were_not_seen_are_named(full: Report) -> None:
    leaf = {"leaf": "name_patient", "golds": 48, "condition": None}
    unseen = {"leaf": "employer", "golds": 0, "condition": "of the patient"}
    rows = [spans_record.harbor("A", "names", 48, 1.0, by_leaf=[leaf, unseen])]
    section = part(with_tables(full, safe_harbor=rows), "safe-harbor")
    assert cells(section)[0]["types"] == "name_patient (48); not seen: employer"
    assert section.tables[1].rows == (("A", "employer", "of the patient"),)


def test_golds_too_coarse_for_a_letter_are_shown_apart(full: Report) -> None:
    coarse = {
        "label": "GEO",
        "letters": ["B"],
        "golds": 1194,
        "patients": 100,
        "recall": 0.895,
        "low": 0.876,
        "high": 0.912,
    }
    section = part(with_tables(full, safe_harbor_coarse=[coarse]), "safe-harbor")
    assert section.tables[-1].rows == (("GEO", "B", "1,194", "100", "0.895", "0.876 to 0.912"),)
    assert section.tables[-1].titled


def test_leaks_that_were_seen_allow_no_claim_by_clean_patients(full: Report) -> None:
    section = part(full, "claims")
    assert "24 of 24 patients with identifiers leaked" in section.sentences[0]
    assert {row["clean patients still needed"] for row in cells(section)} == {"leaks were seen"}


def test_without_a_leak_the_bound_and_what_is_still_needed_are_said() -> None:
    gold = [one for one in documents() if one["spans"]]
    echo = {one["id"]: [dict(span) for span in one["spans"] if span["label"] != "drug"] for one in gold}
    found = score_spans(gold, echo, replicates=200)
    rows = {row["claim"]: row for row in cells(part(found, "claims"))}
    assert rows["fewer than 1 % of patients leak"]["clean patients needed"] == "299"
    assert rows["fewer than 1 % of patients leak"]["clean patients still needed"] == "275"
    # Clopper and Pearson, no leak in 24 patients: 1 - 0.05 ** (1 / 24).
    assert "above 11.7 % (one-sided 95%)" in " ".join(part(found, "summary").sentences)
    assert "at most 11.7 % (one-sided 95%)" in Page(html.render(found)).text
    assert any("2,971 more clean patients" in point for point in part(found, "limits").points)


def test_agreement_stands_as_the_ceiling(full: Report) -> None:
    section = part(full, "agreement")
    assert "an F1 of 0.930 (95 % interval 0.900 to 0.950) on 40 documents" in section.sentences[1]
    assert cells(section)[1]["annotators"] == "ann and bob"
    assert cells(section, 1)[0]["value"] == "-0.020"


# What is absent or undefined


def test_a_detector_that_finds_nothing_has_no_precision_and_says_why() -> None:
    found = score_spans(documents(), {one["id"]: [] for one in documents()}, replicates=200)
    rows = {row["metric"]: row for row in cells(part(found, "overall"))}
    assert rows["sensitivity (recall)"]["value"] == "0"
    assert rows["precision"]["value"] == "–"
    assert "the detector predicts nothing" in rows["precision"]["how"]
    known = json.loads(flat.render(found))
    assert (known["sensitivity"], known["precision"], known["precision_lower"]) == (0, None, None)
    assert html.render(found)


@RENDERERS
def test_a_record_that_holds_little_is_shown_without_a_crash(render: Any, full: Report) -> None:
    bare = with_tables(full, **dict.fromkeys(full.results["internal"].tables))
    assert "Safe Harbor" not in [section.title for section in sections(bare)]
    assert "0.850" in words(render, bare)
    assert "No gate was set" in words(render, replace(full, results={}))


def test_shares_never_round_to_all_or_none() -> None:
    @given(st.floats(0, 1))
    def check(value: float) -> None:
        shown, percent = spans_words.share(value), spans_words.percent(value)
        assert (float(shown) in (0, 1)) == (value in (0, 1)) or 0 < value < 1e-11 or 1 - 1e-11 < value < 1
        if 1e-9 < value < 1 - 1e-9:
            assert 0 < float(percent.removesuffix(" %")) < 100

    check()


# Groups


def test_groups_are_shown_at_the_headline_and_none_is_dropped(full: Report) -> None:
    rows = cells(part(full, "by:sex"))
    assert {row["sex"] for row in rows} == {"F", "M"}
    recall = {row["sex"]: row["counts"] for row in rows if row["metric"] == full.title("recall")}
    held = {e.slice["sex"]: e for e in full.estimates("recall", lens="subgroups") if e.slice.get("mode") == "full_mask"}
    assert recall == {sex: f"{e.numerator:.0f}/{e.denominator:.0f}" for sex, e in held.items()}
    assert not any("mode" in cell for row in rows for cell in row.values())
    assert [chart.title for chart in figures(full)["by:sex"]][:2] == ["sensitivity (recall)", "leak rate, documents"]


def test_an_alert_of_another_rule_set_stays_in_the_narrowed_record(full: Report) -> None:
    alerts = ({"metric": "recall", "slice": {"mode": "strict", "level": "leaf"}, "type": "performance"},)
    groups = replace(full.results["subgroups"], alerts=alerts)
    kept = narrowed(replace(full, results={**full.results, "subgroups": groups}))
    assert kept.results["subgroups"].alerts == alerts
    assert all("mode" not in e.slice for result in kept.results.values() for e in result.estimates)


# The viewer


def test_the_marks_of_a_document_say_what_became_of_it(full: Report) -> None:
    shown = viewer.documents(full)
    assert len(shown) == 50
    one = next(one for one in shown if "1 false alarm" in one.facts and "1 missed" in one.facts)
    kinds = [piece.kind.name for piece in one.pieces if piece.kind]
    assert kinds == ["hit", "hit", "hit", "hit", "part", "miss", "false", "keep"]
    assert "✓ name_provider → name_patient" in [piece.tag for piece in one.pieces]
    assert [piece.stop for piece in one.pieces if piece.stop] == [f"{one.id}-miss-1"]
    assert all(piece.said.startswith(piece.kind.word) for piece in one.pieces if piece.kind)
    assert not re.search(r"[A-WYZa-wyz0-8]", "".join(piece.text for piece in one.pieces))


def test_kinds_differ_in_sign_and_word() -> None:
    kinds = viewer.KINDS.values()
    assert len({kind.sign for kind in kinds}) == len({kind.word for kind in kinds}) == len(kinds)


@settings(max_examples=60)
@given(st.text(st.characters(codec="utf-8"), max_size=60), st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70))))
def test_every_character_is_shown_once_whatever_the_runs(shape: str, ends: list[tuple[int, int]]) -> None:
    gold, found = {"label": "date", "outcome": "miss"}, {"label": "date", "outcome": "credited"}
    runs = [{"start": a, "end": b, "golds": [gold], "predictions": [found] if b % 2 else []} for a, b in ends]
    pieces = list(viewer._pieces("doc", shape, runs))
    assert "".join(piece.text for piece in pieces) == viewer._lines(shape)
    assert len({piece.stop for piece in pieces if piece.stop}) == sum(1 for piece in pieces if piece.stop)


def test_text_is_shown_only_where_the_record_says_that_it_holds_it(full: Report) -> None:
    rows = [{**row, "text": NOTE, "id": "chart-of-ann"} for row in full.results["internal"].tables["documents"][:2]]
    silent = with_tables(full, documents=rows)
    for drawn in (html.render(silent), text.render(silent), markdown.render(silent)):
        assert "Ann Lee" not in drawn and "chart-of-ann" not in drawn
    open_ = replace(silent, contains_phi=True)
    page = Page(html.render(open_))
    assert "Ann Lee" in page.text and "Document 1: chart-of-ann" in page.text
    assert page.text.count("THIS REPORT HOLDS PATIENT TEXT.") == 2
    assert text.render(open_).splitlines()[2] == "THIS REPORT HOLDS PATIENT TEXT."


def test_a_long_document_is_cut_and_says_so(full: Report) -> None:
    [row] = full.results["internal"].tables["documents"][:1]
    [one] = viewer.documents(with_tables(full, documents=[{**row, "shape": "x" * 25_000}]))
    assert one.cut == "5,000 characters more are not shown."
    assert sum(len(piece.text) for piece in one.pieces) == viewer.LONGEST


# Page, PDF and flat form


def test_every_figure_of_the_text_is_on_the_page(full: Report) -> None:
    page = Page(html.render(full)).text
    missing = {
        cell
        for section in sections(full)
        for table in section.tables
        for row in table.rows
        for cell in row
        if " ".join(visible(cell).split()) not in page.replace("not assessed", "not_assessed")
    }
    shares = {cell for row in part(full, "confusion").tables[0].rows for cell in row}
    assert missing <= shares  # the page shows counts on the heat map and in the table behind it


@pytest.mark.skipif(not drawing.available(), reason="vl-convert-python is not installed (extra 'report')")
def test_every_chart_can_be_drawn(full: Report) -> None:
    page = Page(html.render(full))
    charts = sum(len(found) for found in figures(full).values())
    assert [tag for tag, _ in page.found].count("svg") == charts >= 9
    assert len([attrs for _, attrs in page.found if attrs.get("class") == "wide"]) == 1


@pytest.mark.usefixtures("without_charts")
def test_ids_are_unique_and_references_have_their_targets(full: Report) -> None:
    page = Page(html.render(full))
    ids = [attrs["id"] for _, attrs in page.found if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag, attrs in page.found:
        assert not {key for key in attrs if key.startswith("on") or key in ("src", "style")}
        if tag == "a":
            assert str(attrs["href"])[1:] in ids


def test_the_pdf_marks_every_page_that_may_hold_text(full: Report) -> None:
    pytest.importorskip("weasyprint", exc_type=(ImportError, OSError), reason="weasyprint is not installed")
    pypdf = pytest.importorskip("pypdf")
    few = replace(with_tables(full, documents=full.results["internal"].tables["documents"][:8]), contains_phi=True)
    pages = [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(io.BytesIO(pdf.render(few))).pages]
    assert 5 <= len(pages) <= 16
    assert all("THIS REPORT HOLDS PATIENT TEXT." in page for page in pages)
    whole = " ".join(pages)
    for said in ("By rule set", "Safe Harbor", "not tested", "On paper: the first 6 of 8 documents"):
        assert said in whole, said
    assert "Document 6 progress note ·" in whole
    assert "Document 7 progress note ·" not in whole


def test_the_flat_form_has_the_familiar_names_with_units() -> None:
    known = json.loads(flat.render(scored()))
    assert (known["sensitivity"], known["sensitivity_numerator"], known["sensitivity_denominator"]) == (0.85, 204, 240)
    assert known["recall"] == known["sensitivity"]
    assert (known["specificity"], known["specificity_unit"]) == (known["specificity_char"], "characters")
    assert known["precision"] == pytest.approx(228 / 244)
    assert (known["true_positives"], known["false_negatives"], known["false_positives"]) == (204, 36, 16)
    assert known["leak_rate_document"] == pytest.approx(30 / 48)
    assert {"f1", "f2", "leak_rate_patient", "over_redaction", "specificity_token"} <= set(known)
    assert all(not isinstance(value, (dict, list)) for value in known.values())
    assert (known["mode"], known["level"], known["policy"]) == ("full_mask", "phi", "as_annotated")


# Hostile names


@pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
@pytest.mark.usefixtures("without_charts")
def test_a_hostile_name_adds_no_element_and_is_shown(name: str, full: Report) -> None:
    plain = Page(html.render(replace(full, contains_phi=True)))
    page = Page(html.render(spans_record.hostile(name)))
    assert page.tags <= plain.tags | {"p"}
    assert {key for _, attrs in page.found for key in attrs} <= {key for _, attrs in plain.found for key in attrs}
    assert all(c.isprintable() or c in "\n\t" for c in "".join(page.words))
    assert " ".join(visible(name)[:60].split()) in page.text
    for drawn in (text.render(spans_record.hostile(name)), markdown.render(spans_record.hostile(name))):
        assert all(c.isprintable() or c == "\n" for c in drawn)
    assert "<script" not in markdown.render(spans_record.hostile(name))


@pytest.mark.skipif(not drawing.available(), reason="vl-convert-python is not installed (extra 'report')")
def test_a_hostile_label_is_a_word_in_every_chart() -> None:
    for chart in [chart for found in figures(spans_record.hostile(NAMES["chart"])).values() for chart in found]:
        drawn = drawing.svg(chart.spec, name="x")
        assert "<script" not in drawn and "onload" not in drawn


def test_the_setting_that_decides_is_the_first_policy_where_none_is_named() -> None:
    found = scored(policies=("hipaa_safe_harbor", "as_annotated"))
    assert Primary.of(found) == Primary("full_mask", "phi", "hipaa_safe_harbor", several=True)
    assert Primary.of(found).rule() == {"mode": "full_mask", "level": "phi", "policy": "hipaa_safe_harbor"}


def test_counts_on_the_heat_map_fit_their_cells() -> None:
    assert [heat._brief(n) for n in (7, 9999, 12_345, 1_234_567)] == ["7", "9999", "12k", "1.2M"]
