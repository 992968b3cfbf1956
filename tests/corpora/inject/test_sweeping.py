"""The sweep: what looks like PHI in a source is marked unknown, what does not is left, in time linear in the text."""

from __future__ import annotations

import math
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.corpora.inject.insertion_points import PatternSite, default_sites
from workup.corpora.inject.residual_phi import UNKNOWN, residues, sweep
from workup.documents.document import IDENTIFIERS, Span, SpanArrays
from workup.documents.labels import CODE
from workup.tasks.spans.counting.counts import count
from workup.tasks.spans.counting.matchup import Matchup
from workup.documents.policies import Policy, decide, known_policies


def found(text: str) -> list[tuple[str, str]]:
    return [(text[span.start : span.end], span.label) for span in sweep(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Seen by Dr. Olsen and Mrs. Berg-Smith today.", [("Olsen", "NAME"), ("Berg-Smith", "NAME")]),
        ("Dr. J. R. Olsen's note. He agrees.", [("J. R. Olsen", "NAME")]),
        ("Sent to Dr. X. The wound was clean.", [("X", "NAME")]),
        ("Signed, Ann B. Olsen, M.D.", [("Ann B. Olsen", "NAME")]),
        ("His wife, Ingrid, came along.", [("Ingrid", "NAME")]),
        ("He met with Kevin Nguyen about it.", [("Kevin Nguyen", "NAME")]),
        ("Seen by Dr. M.B. Lévesque; José Martínez came along.",
         [("M.B. Lévesque", "NAME"), ("José Martínez", "NAME")]),
        ("Mr. O’Brien-Núñez and Dr. Jose\u0301 Ruiz agree.",
         [("O’Brien-Núñez", "NAME"), ("Jose\u0301 Ruiz", "NAME")]),
        ("Born 3/4/1950, seen 2021-03-04 and March 5th, 2021.",
         [("3/4/1950", "date"), ("2021-03-04", "date"), ("March 5th, 2021", "date")]),
        ("Operated on 12 May 2019 and in June of 2020.", [("12 May 2019", "date"), ("June of 2020", "date")]),
        ("Returned on 3/14 for sutures.", [("3/14", "date")]),
        ("Masked as MM/DD/YYYY and [**Name 12**] and XYZ.",
         [("MM/DD/YYYY", "date"), ("[**Name 12**]", "misc"), ("XYZ", "misc")]),
        ("Diagnosed in 1998.", [("1998", "year_only")]),
        ("Next Tuesday and Thanksgiving.",
         [("Next Tuesday", "date_relative"), ("Thanksgiving", "date_relative")]),
        ("On postoperative day 3 he walked.", [("postoperative day 3", "date_relative")]),
        ("At 10:30 a.m., again at 14:05.", [("10:30 a.m.", "time"), ("14:05", "time")]),
        ("A 67-year-old man, his mother aged 93.", [("67", "age_under_90"), ("93", "age_over_89")]),
        ("Call (555) 555-0134 or 555-0199.", [("(555) 555-0134", "CONTACT"), ("555-0199", "CONTACT")]),
        ("Write to a.b@example.org or see www.example.org/x.",
         [("a.b@example.org", "email"), ("www.example.org/x", "url")]),
        ("SSN 123-45-6789, MRN: 00412-7, Account #A-99123.",
         [("123-45-6789", "ssn"), ("00412-7", "ID"), ("A-99123", "ID")]),
        ("From 10.1.2.3 and 00:1B:44:11:3A:B7.", [("10.1.2.3", "ip"), ("00:1B:44:11:3A:B7", "mac")]),
        ("Lives at 12 Oak Hill Road, Springfield, IL 62704.",
         [("12 Oak Hill Road", "street_address"), ("Springfield", "city"), ("IL", "state"), ("62704", "zip")]),
        ("Moved from Seattle to Texas, then Mexico.", [("Seattle", "city"), ("Texas", "state"), ("Mexico", "country")]),
        ("At St. Vincent's Hospital in Orange County.",
         [("St. Vincent's Hospital", "facility"), ("Orange County", "county")]),
        ("This white female is Jehovah's Witness.",
         [("white", "ethnicity"), ("Jehovah's Witness", "nationality_religion_politics")]),
    ],
)  # fmt: skip
def test_residues_are_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Strength 5/5, pain 4/10, blood pressure 120/80 and 45/80/12.",
        "Epinephrine 1:100,000 with titer 1:160 and ratio 3:1.",
        "Given 2000 mL of saline and 1500 mg of drug; take 1-2 tablets.",
        "A history of MI, CAD and PE; the patient may march on.",
        "PREOPERATIVE DIAGNOSIS: Left knee pain. The Patient tolerated it.",
        "Potassium 4.1, A1C 7.2, 3-0 Vicryl, size 7.5 tube, white blood count 12.4.",
        "",
    ],
)
def test_what_is_no_phi_is_left(text: str) -> None:
    assert found(text) == []


def test_known_golds_are_not_found_again() -> None:
    text = "Seen by Dr. Olsen on 03/04/2021."
    assert [span.label for span in sweep(text, known=[Span(12, 17, "DOCTOR")])] == ["date"]
    assert sweep(text, known=[Span(0, len(text), "misc")]) == ()


def test_residues_bear_canonical_names_and_are_unknown() -> None:
    assert {residue.label for residue in residues()} <= set(CODE)
    assert all(span.identifier == UNKNOWN for span in sweep("Dr. Olsen, 03/04/2021"))


@given(st.text(st.sampled_from("Dr. AbX1/-:,@#\n 0Mrs'’é\U0001f600"), max_size=60))
def test_spans_are_apart_inside_the_text_and_hold_something(text: str) -> None:
    place = 0
    for span in sweep(text):
        assert place <= span.start < span.end <= len(text)
        assert any(map(str.isalnum, text[span.start : span.end]))
        place = span.end


def _repeats(parsed: Any, inside: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """The upper ends of every repeat in a pattern, outermost first."""
    seen: list[tuple[int, ...]] = []
    for code, argument in parsed:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            _, high, inner = argument
            here = (*inside, int(high)) if high > 1 else inside
            seen += [here] * (high > 1) + _repeats(inner, here)
        elif code is codes.BRANCH:
            for branch in argument[1]:
                seen += _repeats(branch, inside)
        elif code is codes.SUBPATTERN:
            seen += _repeats(argument[-1], inside)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            seen += _repeats(argument[1], inside)
    return seen


def test_patterns_take_time_in_proportion_to_the_text() -> None:
    """Every repeat has an upper end, and one in another stays small: work per character has a bound."""
    counted = 0
    sites = [kind.finds for kind in default_sites() if isinstance(kind, PatternSite)]
    for pattern in [*(residue.finds for residue in residues()), *sites]:
        for ends in _repeats(parser.parse(pattern.pattern)):
            counted += 1
            assert math.prod(ends) <= 400, pattern.pattern
    assert counted > 50


def test_hostile_runs_are_read_to_the_end() -> None:
    for run in (
        "A" * 50_000,
        "A " * 30_000,
        "1-" * 30_000,
        "a@" * 30_000,
        "Dr. " * 20_000,
        "[" * 50_000,
        "A." * 30_000,
    ):
        assert isinstance(sweep(run), tuple)


KNOWN = pytest.mark.skipif(UNKNOWN not in IDENTIFIERS, reason="scoring does not know golds that nobody checked")


@KNOWN
def test_a_residue_may_be_masked_under_every_policy() -> None:
    for name in known_policies():
        for leaf in ("name_patient", "date", "NAME", "state"):
            assert Policy.load(name).of(leaf, UNKNOWN) == "may"
        assert Policy.load(name).of("drug", UNKNOWN) == "must_not"


@KNOWN
@pytest.mark.parametrize("mode", ["strict", "exact", "iou:0.5", "overlap", "cover:1", "full_mask"])
@pytest.mark.parametrize("level", ["leaf", "branch", "phi"])
def test_a_residue_is_neither_hit_nor_miss_and_a_mask_on_it_is_neutral(mode: str, level: str) -> None:
    text = "Seen by Dr. Olsen and Rose."
    [residue] = sweep(text)
    golds = SpanArrays.of([(0, residue.start, residue.end, residue.label), (0, 22, 26, "name_patient")])
    canonical = [CODE[golds.labels[label]] for label in golds.label]
    decisions = decide([Policy.load("as_annotated")], canonical, [IDENTIFIERS.index(UNKNOWN), -1])[0]
    found = SpanArrays.of([(0, residue.start, residue.end, "city"), (0, 22, 26, "name_patient")])
    matchup = Matchup(golds, found, 1, {"as_annotated": decisions}, texts=[text])
    [setting] = matchup.settings([mode], levels=["phi" if mode in ("exact", "full_mask") else level])
    row = count(matchup, [setting]).total(setting)
    assert (row["golds"], row["hits"], row["misses"]) == (1, 1, 0)
    assert (row["predictions"], row["credited"], row["neutral"], row["false_alarms"]) == (2, 1, 1, 0)
