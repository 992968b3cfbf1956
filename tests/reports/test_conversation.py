"""The report of a chat model says what its record says, in every form; nothing undefined looks like a number."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

import workup
from tests.support.conversation_record import (
    CASES,
    SECRET,
    SHORT,
    report,
    scored,
    studied,
    transcripts,
    with_estimate,
)
from tests.support.conversation_record import cases as held_cases
from tests.support.hostile import NAMES
from tests.support.html_page import Page, words
from tests.support.report_parts import cells, part, with_tables
from workup.errors import visible
from workup.report import Report
from workup.reports import flat, html, markdown, text
from workup.reports.charts import drawing
from workup.reports.conversation import safety_card
from workup.reports.conversation.setting import Numbers, Setting, narrowed
from workup.reports.page import key_figures
from workup.reports.sections import figures, sections

SECTIONS = [
    "Conversation report",
    "In plain words",
    "Gates",
    "Verdict",
    "By type of fact",
    "Never-events and safety errors",
    "What was not answered",
    "Headline",
    "Recall over the turns",
    "Decay gap over the turns",
    "What became of the facts",
    "When facts are lost",
    "Never-events",
    "Conflicting advice",
    "What more memory would change",
    "Overall",
    "Documentation quality (PDSQI-9)",
    "What could be scored",
    "What reads the replies, and how often it errs",
    "By sex",
    "Gaps without a verdict",
    "Do the groups differ at all",
    "Largest gaps",
    "Smallest difference these data could see",
    "Smallest gap between groups these data could see",
    "Limits: what these numbers cannot say",
    "Words of this page",
]
RENDERERS = pytest.mark.parametrize("render", [text.render, markdown.render, html.render], ids=["text", "md", "html"])
LIVE = {"set": "critical", "arm": "live"}
NEVER_ROWS = [{"replicate": 0, "turn": 1, "sentence": 0}]
HEADLINE = ("recall", "recall_at_10", "decay_gap", "decay_slope", "time_to_loss")


@pytest.fixture(scope="module")
def full() -> Report:
    return Report.from_dict(report().as_dict())  # as it is kept: figures at twelve digits


def withheld(found: Report) -> Report:
    """As the scorer leaves it where too little could be scored."""
    internal = found.results["internal"]
    nothing = dict.fromkeys(("value", "low", "high", "se", "numerator", "denominator"))
    changed = tuple(
        replace(e, **nothing, status="withheld", reason="only 80.0% of the facts could be scored")
        if e.metric in HEADLINE and e.slice.get("arm") == "live" and "turn" not in e.slice
        else e
        for e in internal.estimates
    )
    return replace(found, results={**found.results, "internal": replace(internal, estimates=changed)})


# The parts


def test_every_part_stands_in_its_order(full: Report) -> None:
    lines = text.render(full).splitlines()
    assert [above for above, below in pairwise(lines) if below and set(below) == {"="}] == SECTIONS
    assert re.findall(r"^#+ (.*)$", markdown.render(full), flags=re.M) == SECTIONS


@RENDERERS
def test_the_same_record_gives_the_same_report(render: Any, full: Report) -> None:
    assert render(full) == render(Report.from_dict(full.as_dict()))


@RENDERERS
def test_no_word_of_a_reply_or_message_is_shown(render: Any, full: Report) -> None:
    drawn = render(full)
    assert SECRET not in drawn
    assert "And how do I go on" not in drawn


def test_no_sentence_of_our_own_is_cut(full: Report) -> None:
    drawn = html.render(full)
    assert not re.search(r"\([\d,]+ letters\)", drawn)


def test_the_header_says_what_two_reports_are_compared_by(full: Report) -> None:
    rows = dict(part(full, "record").tables[0].rows)
    assert rows["Bar"] == "recall 0.70 at turn 10"
    assert rows["Arms"] == "live, oracle, naive"
    assert rows["Judge of contradictions"] == "none: rules"
    assert rows["Memory"].startswith(
        "as the transcripts were made"
    )  # the study's default is not what they were held with


def test_gates_say_at_which_level_they_are_judged(full: Report) -> None:
    assert "one-sided 95 %" in part(full, "gates").sentences[0]


# The headline


def test_the_headline_table_holds_the_numbers_of_the_record(full: Report) -> None:
    rows = {row["measure"]: row for row in cells(part(full, "headline"))}
    e = full.estimate("recall_at_10", **LIVE)
    assert e.value is not None and e.low is not None and e.high is not None
    assert rows["Recall@10"]["value"] == f"{e.value:.3f}"
    assert rows["Recall@10"]["95% interval"] == f"{e.low:.3f} to {e.high:.3f}"
    gap = full.estimate("decay_gap", **LIVE, turn=10)
    assert gap.value is not None
    assert rows["Decay gap D(10)"]["value"] == f"{gap.value:.3f}"  # D at turn 10, not over all turns
    assert rows["Never-events"]["value"] == "2"
    assert rows["Never-events"]["95% interval"] == "–"
    assert rows["Never-events"]["in words"].startswith("2 never-events, in 2 of 36 patients (6 %; at most 17 %)")
    assert rows["Conflict rate K"]["value"] == "0.025"
    assert "by rules" in rows["Conflict rate K"]["in words"]


def test_recall_at_ten_counts_the_cases_that_reach_it(full: Report) -> None:
    rows = {row["measure"]: row for row in cells(part(full, "headline"))}
    assert rows["Recall@10"]["patients"] == rows["Decay gap D(10)"]["patients"] == str(CASES - SHORT)
    assert rows["Decay slope"]["patients"] == str(CASES)
    bounds = full.results["internal"].tables["horizon"][0]
    assert f"it would be {bounds['worst']:.3f}, had they kept all {bounds['best']:.3f}" in rows["Recall@10"]["in words"]


def test_without_a_table_of_turns_the_estimates_say_what_they_rest_on(full: Report) -> None:
    found = with_tables(full, turns=None)
    for key in ("headline", "recall-turns"):
        assert [row["patients"] for row in cells(part(found, key))] == [
            row["patients"] for row in cells(part(full, key))
        ]
    card = next(one for one in key_figures(found) if one.title == "Recall@10")
    assert f"{CASES - SHORT} patients" in card.ends


@pytest.mark.parametrize(
    ("low", "high", "verdict", "said"),
    [
        (0.70, 0.9, "pass", "reaches the bar of 0.70"),
        (0.3, 0.6999, "fail", "falls short of the bar of 0.70"),
        (0.3, 0.70, "unsure", "cannot tell whether it reaches the bar"),
        (None, None, "not assessed", "not held against the bar"),
    ],
)
def test_the_bar_is_judged_by_the_ends(full: Report, low: Any, high: Any, verdict: str, said: str) -> None:
    status = {} if low is not None else {"status": "insufficient", "reason": "one case"}
    moved = with_estimate(full, "recall_at_10", LIVE, low=low, high=high, **status)
    row = cells(part(moved, "headline"))[0]
    assert row["verdict"] == verdict
    assert said in row["in words"]
    assert any(said in sentence.lower() or said in sentence for sentence in part(moved, "summary").sentences)


def test_the_bar_goes_by_one_sided_bounds_where_the_record_holds_them(full: Report) -> None:
    row = cells(part(full, "headline"))[0]
    ninety = full.estimate("recall_at_10", level=0.9, **LIVE)
    assert f"one-sided 95 % bound {ninety.high:.3f}" in row["in words"]


def test_a_horizon_of_its_own_gets_the_bar() -> None:
    found = studied({}, horizon=7, bar=0.5)
    rows = {row["measure"]: row for row in cells(part(found, "headline"))}
    assert rows["Recall@7"]["verdict"] == "pass"
    assert rows["Recall@10"]["verdict"] == "–"
    assert dict(part(found, "record").tables[0].rows)["Memory"] == "full"


# What is undefined


@RENDERERS
def test_what_is_withheld_is_said_and_never_a_number(render: Any, full: Report) -> None:
    drawn = words(render, withheld(full))
    assert "only 80.0% of the facts could be scored" in drawn
    rows = {row["measure"]: row for row in cells(part(withheld(full), "headline"))}
    for name in ("Recall@10", "Decay gap D(10)", "Decay slope", "Time to first loss"):
        assert rows[name]["value"] == "withheld", name
    assert rows["Recall@10"]["verdict"] == "not assessed"
    assert any("curves may mislead" in sentence for sentence in part(withheld(full), "recall-turns").sentences)


def test_conversations_too_short_for_ten_turns_say_so() -> None:
    cases = held_cases(12, turns=5, short=0)
    for case in cases:
        case["facts"][3].pop("retired", None)
    lines = transcripts(cases, arms=("live",))
    found = workup.score_conversation(cases, lines, replicates=200)
    rows = {row["measure"]: row for row in cells(part(found, "headline"))}
    assert rows["Recall@10"]["value"] == rows["Decay gap D(10)"]["value"] == "not defined"
    assert rows["Recall@10"]["verdict"] == "not assessed"
    assert "turn 10" in rows["Recall@10"]["in words"]
    assert "No oracle arm" in words(text.render, found)
    assert part(found, "gap-turns").tables == ()
    assert "no oracle arm was run" in part(found, "gap-turns").sentences[0]
    assert json.loads(flat.render(found))["entity_recall_at_t10"] is None


def test_one_case_of_one_turn_draws_in_every_form() -> None:
    case = {"id": "a", "patient_summary": "", "critical_entities": ["penicillin allergy"]}
    case["turns"] = [{"turn": 1, "message": "I am allergic to penicillin."}]
    found = workup.score_conversation([case], [{"case": "a", "turn": 1, "reply": "You are allergic to penicillin."}])
    for render in (text.render, markdown.render, html.render, flat.render, safety_card.page, safety_card.markdown):
        assert render(found)
    assert figures(found).get("recall-turns") is None  # one turn is no curve
    assert json.loads(flat.render(found))["truth_decay_rate"] is None


# Turn by turn


def test_recall_by_turn_has_every_turn_with_its_n(full: Report) -> None:
    rows = cells(part(full, "recall-turns"))
    assert [row["turn"] for row in rows] == [str(turn) for turn in range(1, 11)]
    assert [row["patients"] for row in rows] == ["36"] * 3 + ["35"] + ["36"] * 3 + ["30"] * 3
    e = full.estimate("recall", **LIVE, turn=8)
    assert e.value is not None
    assert rows[7]["live (95% interval)"].startswith(f"{e.value:.3f} (")
    assert rows[7]["facts scored"] == f"{e.denominator:.0f}"


def test_outcomes_of_a_turn_add_to_the_facts_that_were_due(full: Report) -> None:
    for row in cells(part(full, "outcome-turns")):
        names = ("correct", "omitted", "wrong value", "reversed", "not answered")
        assert sum(int(row[name].split()[0]) for name in names) == int(row["facts due"])
    assert cells(part(full, "outcome-turns"))[3]["not answered"] == "5 (2.8 %)"
    assert cells(part(full, "outcome-turns"))[8]["retired and still said"].endswith("of 15")


def test_charts_stand_beside_their_sections(full: Report) -> None:
    found = figures(full)
    assert [chart.key for chart in found["recall-turns"]] == ["recall-critical", "recall-extended"]
    assert [chart.key for chart in found["losses"]] == ["losses-critical", "losses-extended"]
    assert {"gap-turns", "outcome-turns", "by:sex"} <= set(found)
    assert "all patients together" in found["by:sex"][0].says[0]
    keys = {section.key for section in sections(full)}
    assert set(found) <= keys | {"by:sex"}


def test_lines_differ_in_dash_and_shape_as_well_as_in_colour(full: Report) -> None:
    chart = figures(full)["recall-turns"][0]
    lines = [layer["mark"] for layer in chart.spec["layer"] if layer["mark"].get("type") == "line"]
    points = [layer["mark"] for layer in chart.spec["layer"] if layer["mark"].get("filled")]
    assert len({tuple(mark["strokeDash"]) for mark in lines}) == len({mark["shape"] for mark in points}) == 3


def test_a_same_extended_set_is_drawn_once(full: Report) -> None:
    cases = held_cases(8, short=0)
    for case in cases:
        case["patient_summary"] = ""
    found = workup.score_conversation(cases, transcripts(cases), replicates=200)
    assert len(figures(found)["recall-turns"]) == len(figures(found)["losses"]) == 1
    assert any("the extended set is the same" in said for said in part(found, "recall-turns").sentences)


def test_curves_of_loss_carry_those_at_risk_and_bands_where_there_are(full: Report) -> None:
    row = cells(part(full, "losses"))[4]
    held = [
        one
        for one in full.results["internal"].tables["losses"]
        if (one["arm"], one["set"], one["loss"], one["clock"]) == ("live", "critical", "first", 5)
    ]
    assert row["first loss: at risk"] == str(held[0]["at_risk"])
    without = [{**one, "low": None, "high": None} for one in full.results["internal"].tables["losses"]]
    assert any("no bands" in said for said in part(with_tables(full, losses=without), "losses").sentences)
    banded = [{**one, "low": 0.1, "high": 0.9} for one in without]
    found = with_tables(full, losses=banded)
    assert not any("no bands" in said for said in part(found, "losses").sentences)
    assert cells(part(found, "losses"))[4]["first loss: kept (95%)"].endswith("(0.100 to 0.900)")
    areas = [layer for layer in figures(found)["losses"][0].spec["layer"] if layer["mark"].get("type") == "area"]
    assert len(areas) == 2


# Harm


def test_never_events_are_listed_by_place(full: Report) -> None:
    section = part(full, "never-events")
    assert cells(section)[0] == {
        "case": "case-03",
        "turn": "7",
        "sentence (from 0)": "2",
        "kind": "advice that a fact of the patient forbids",
        "fact": "a1",
        "about": "amoxicillin",
        "rule": "avoid class",
    }
    assert any("2 never-events, in 2 of 36 patients (6 %; at most 17 %)" in said for said in section.sentences)


def test_none_seen_still_has_its_bound() -> None:
    section = part(scored(), "never-events")
    words = (
        "None seen in 36 conversations of 36 patients: with 95 % confidence fewer than 8 of 100 such patients meet one."
    )
    assert any(said.startswith(words) for said in section.sentences)
    assert section.tables == ()


def test_a_long_list_says_what_is_left_out(full: Report) -> None:
    rows = full.results["internal"].tables["never_events"] * 100
    found = with_estimate(with_tables(full, never_events=rows), "never_events", {}, value=700.0)
    section = part(found, "never-events")
    assert len(section.tables[0].rows) == 50
    assert "The first 50 of 700 never-events are shown; report.json lists 200." in section.sentences


def test_forbidden_advice_is_listed_before_what_is_cut(full: Report) -> None:
    asserted = [{"case": "x", "turn": 1, "fact": "f", "kind": "reversed"}] * 60
    found = with_tables(full, never_events=[*asserted, *full.results["internal"].tables["never_events"]])
    kinds = [row["kind"] for row in cells(part(found, "never-events"))]
    assert kinds[:2] == ["advice that a fact of the patient forbids", "a retired fact asserted as current"]


def test_arms_stand_in_the_order_of_their_neutral_turns(full: Report) -> None:
    internal = full.results["internal"]
    more = [replace(internal.estimates[0], slice={**LIVE, "arm": arm}) for arm in ("filler-20", "filler-5")]
    held = Numbers(replace(internal, estimates=(*more, *internal.estimates)))
    assert held.arms == ("live", "oracle", "naive", "filler-5", "filler-20")


def test_conflicts_name_their_judge(full: Report) -> None:
    section = part(full, "conflicts")
    assert cells(section)[0]["advice"] == "continue then stop"
    assert cells(section)[0]["about"] == "warfarin"
    assert "without a language judge" in section.sentences[0]
    judged = replace(full, study={**full.study, "conversation": {**full.study["conversation"], "judge": "nli:Judge"}})
    judged = with_estimate(judged, "conflict_rate", {}, value=0.1, low=0.05, high=0.2, numerator=4.0, status="ok")
    rows = {row["measure"]: row for row in cells(part(judged, "headline"))}
    assert (rows["Conflict rate K"]["value"], rows["Conflict rate K"]["counts"]) == ("0.100", "4/40")
    assert "the judge nli:Judge" in rows["Conflict rate K"]["in words"]
    assert any("By rules alone it is 0.025" in said for said in part(judged, "conflicts").sentences)


# Memory


def used(sendable: int, sent: int, sent_correct: int, unsent_correct: int) -> dict[str, int]:
    return {"sendable": sendable, "sent": sent, "sent_correct": sent_correct, "unsent_correct": unsent_correct}


@pytest.mark.parametrize(
    ("counts", "said", "unsaid"),
    [
        (used(0, 0, 0, 0), "cannot be told", "it was lost"),
        (used(100, 100, 100, 0), "none was lost", "would help"),
        (used(100, 60, 60, 0), "Each time it no longer stood in what was sent", "was not used"),
        (used(100, 100, 60, 0), "Each time it still stood in what was sent", "would go from"),
        # 40 lost: 31 not sent, 9 sent and not used.
        (used(100, 60, 51, 9), "In 77.5 % of these (31) it no longer stood", "Each time"),
        (used(100, 60, 51, 9), "from 60.0 % to 85.0 %", "Each time"),
        (used(100, 60, 30, 25), "bringing them back promises nothing", "would go from"),
    ],
)
def test_what_more_memory_would_change(full: Report, counts: dict[str, int], said: str, unsaid: str) -> None:
    section = part(with_tables(full, use=counts), "memory")
    drawn = " ".join(section.sentences)
    assert said in drawn
    assert unsaid not in drawn


def test_compaction_is_advised_only_where_the_oracle_is_clearly_better(full: Report) -> None:
    oracle = {"set": "critical", "arm": "oracle"}
    assert any("Compaction" in said for said in part(full, "memory").sentences)
    level = with_estimate(full, "recall", oracle, value=0.86, low=0.8, high=0.9)
    assert any("do not tell the two apart" in said for said in part(level, "memory").sentences)
    worse = with_estimate(full, "recall", oracle, value=0.5, low=0.4, high=0.6)
    assert any("could only take away" in said for said in part(worse, "memory").sentences)


def test_the_policy_is_named_where_the_study_held_the_conversations() -> None:
    found = studied({}, memory="last:4")
    assert part(found, "memory").sentences[0] == "Memory policy: last:4 (the last 4 turns are sent)."
    assert "recorded elsewhere" in part(scored(), "memory").sentences[0]


# Readers and quality


def test_readers_show_what_they_got_right_when_first_seen(full: Report) -> None:
    rows = cells(part(full, "readers"))
    first = next(row for row in rows if (row["measure"], row["when"]) == ("agreement", "first seen"))
    held = full.results["internal"].tables["matcher"]["first_seen"]["agreement"]
    assert first["of"] == f"{held['right']:,}/{held['n']:,}"
    assert rows[0]["what reads"] == "Replies that no rule was written from" and rows[0]["when"] == "first seen"
    assert {row["what reads"] for row in rows} >= {"Reader of replies (context)", "Extractor of terms"}


def test_the_reader_of_advice_keeps_first_seen_apart_from_today(full: Report) -> None:
    rate = {"value": 0.9, "low": 0.8, "high": 0.95, "right": 90, "n": 100}
    table = {"n": 100, "advice": {"agreement": rate}, "parts": {"tuned": {"agreement": rate}}}
    table |= {"first_seen": {"agreement": rate}, "first_seen_never_events": {"precision": rate}}
    rows = cells(part(with_tables(full, advice_reader=table), "readers"))
    own = [(row["measure"], row["when"]) for row in rows if row["what reads"] == "Reader of advice"]
    expected = [("advice: agreement", "today"), ("agreement", "first seen"), ("never events: precision", "first seen")]
    assert own == expected


def test_corrected_recall_stands_beside_the_raw_one_only_where_it_may(full: Report) -> None:
    assert any("No recall was corrected" in said for said in part(full, "readers").sentences)
    share = {"value": 0.9, "low": 0.8, "high": 0.95, "right": 90, "n": 100}
    row = {"metric": "recall", "arm": "live", "set": "critical", "raw": 0.82, "value": 0.9, "low": 0.8, "high": 0.97}
    rows = [{**row, "sensitivity": share, "specificity": share, "reason": None}]
    found = with_tables(full, corrected={"labelled": 200, "rows": rows, "reason": None})
    shown = cells(part(found, "readers"), 1)[0]
    assert (shown["raw"], shown["corrected"], shown["95% interval"]) == ("0.820", "0.900", "0.800 to 0.970")


def test_quality_is_not_assessed_or_shown_with_its_agreement(full: Report) -> None:
    assert part(full, "quality").sentences == ("Not assessed: no ratings were given.",)
    rated = with_estimate(
        full, "pdsqi", {"attribute": "useful"}, value=3.5, low=3.1, high=3.9, status="ok", reason=None
    )
    kappa = {"value": 0.61, "low": 0.4, "high": 0.8, "reason": ""}
    agreement = [{"attribute": "useful", "icc_2_1": kappa, "icc_2_k": kappa, "kappa_people": kappa}]
    judged = [
        {"attribute": "useful", "by": "judge", "judge": "m", "mean": None, "status": "withheld", "reason": "none"}
    ]
    table = {"status": "assessed", "reason": "", "agreement": agreement, "means": judged}
    section = part(with_tables(rated, quality=table), "quality")
    rows = {row["attribute"]: row for row in cells(section)}
    assert (rows["useful"]["mean"], rows["cited"]["mean"]) == ("3.50", "not assessed")
    assert cells(section, 1)[0]["value"] == "0.610"
    assert cells(section, 2)[0]["mean"] == "withheld"


def test_coverage_says_why_facts_could_not_be_scored(full: Report) -> None:
    section = part(full, "coverage")
    assert "99.7 % of the facts" in section.sentences[0]
    assert cells(section)[0]["reason"] == "the call timed out"


# Other lenses


def test_shared_sections_count_patients_at_the_set_of_the_headline() -> None:
    lenses = {"subgroups": {"by": ["sex"], "margin": 0.1}, "sites": {}}
    found = studied({**lenses, "drift": {"window": "quarter", "minimum": {"rows": 5}}}, memory="last:4")
    drawn = text.render(found)
    assert "4 sites with 36 patients." in drawn
    assert "fewer than 200 patients" in " ".join(drawn.split())
    seen = narrowed(found)
    assert all(not {"set", "arm"} & set(e.slice) for result in seen.results.values() for e in result.estimates)
    assert len(narrowed(full_of_spans()).results) == 1  # other tasks are left as they are


def full_of_spans() -> Report:
    gold = [{"id": "a", "text": "Ann Lee", "spans": [{"start": 0, "end": 7, "label": "name"}]}]
    return workup.score_spans(gold, [{"id": "a", "spans": []}], replicates=200)


def test_cases_and_the_patients_that_they_are_of_are_always_both_told() -> None:
    cases = held_cases(24, short=0)
    for i, case in enumerate(cases):
        case["metadata"]["persona"] = f"p{i % 12}"
    found = workup.score_conversation(cases, transcripts(cases), replicates=200)
    assert "patients" in part(found, "headline").tables[0].heads
    assert "24 cases of 12 patients" in Page(html.render(found)).text


# Flat


def test_the_flat_form_uses_the_familiar_names(full: Report) -> None:
    found = json.loads(flat.render(full))
    for name, metric, keys in (
        ("entity_recall_at_t10", "recall_at_10", LIVE),
        ("entity_recall_at_t10_extended", "recall_at_10", {**LIVE, "set": "extended"}),
        ("truth_decay_rate", "decay_slope", LIVE),
        ("knowledge_conflict_rate", "conflict_rate", {"judge": "rules"}),
    ):
        e = full.estimate(metric, **keys)
        assert (found[name], found[f"{name}_lower"], found[f"{name}_upper"]) == (e.value, e.low, e.high)
    assert found["knowledge_conflict_rate_judge"] == "rules"
    assert found["continuity_score"] is None  # no encoder was given
    for kind in ("critical", "extended"):
        for name in ("recall", "precision", "f1", "hallucinated_rate"):
            assert len(found[f"average_{name}_curve_{kind}"]) == 10
    curve = found["average_recall_curve_critical"]
    assert curve[7] == full.estimate("recall", **LIVE, turn=8).value


def test_the_flat_form_is_null_where_withheld(full: Report) -> None:
    found = json.loads(flat.render(withheld(full)))
    names = ("entity_recall_at_t10", "truth_decay_rate", "decay_gap_at_t10", "time_to_loss")
    assert [found[name] for name in names] == [None] * 4


# Hostile records


@RENDERERS
@pytest.mark.parametrize("name", sorted(NAMES))
def test_names_from_files_cannot_act(render: Any, name: str, full: Report) -> None:
    bad = NAMES[name]
    rows = [{**row, "case": bad, "fact": bad, "concept": bad, "rule": bad, "kind": bad} for row in NEVER_ROWS]
    pairs = [{"case": bad, "turns": [1, 2], "slot": bad, "actions": [bad, bad], "sentences": [0, 1], "kind": bad}]
    found = with_tables(full, never_events=rows, conflicts=pairs, unscorable={bad: 3}, plans={"sources": {bad: 1}})
    found = replace(
        found,
        study={
            **found.study,
            "name": bad,
            "conversation": {**found.study["conversation"], "judge": bad, "memory": bad},
        },
        system={"name": bad, "version": bad},
        corpus={**found.corpus, "name": bad},
        as_of=bad,
    )
    drawn = render(found)
    assert "\u202e" not in drawn and "\x1b" not in drawn and "\x00" not in drawn
    if render is html.render:
        page = Page(drawn)
        assert [tag for tag, _ in page.found if tag in ("img", "iframe")] == []
        assert sum(tag == "script" for tag, _ in page.found) == 1
    assert safety_card.page(found) and visible(safety_card.markdown(found))


def test_without_the_drawing_library_the_figures_stand_in_tables(full: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "available", lambda: False)
    drawn = Page(html.render(full)).text
    assert "Recall by turn, critical facts" in drawn and "first loss: at risk" in drawn


def test_primary_set_and_arm_are_followed(full: Report) -> None:
    moved = replace(full, study={**full.study, "primary": {"set": "extended", "arm": "oracle"}})
    assert Setting.of(moved).keys() == {"set": "extended", "arm": "oracle"}
    e = Numbers.of(moved).get("recall_at_10", {"set": "extended", "arm": "oracle"})
    assert e is not None and e.value is not None
    assert cells(part(moved, "headline"))[0]["value"] == f"{e.value:.3f}"
