"""A user's own rules, patterns that are refused, and one answer where findings meet."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.detected import found
from workup.deid import Deidentifier, Finding, settings
from workup.deid.dates import ages, patterns
from workup.deid.overlaps import resolved
from workup.deid.patterns.safe_regex import compiled
from workup.deid.places import towns
from workup.deid.places.streets import Streets
from workup.deid.text_view import Page
from workup.errors import InputError
from workup.text.unicode import folded


def test_own_pattern_list_and_allow() -> None:
    pattern = {"id": "ward.band", "leaf": "id_other", "finds": r"(?<!\w)BAND-[0-9]{2}(?!\w)", "sure": 0.9}
    assert found("BAND-77 on wrist", patterns=[pattern]) == [("BAND-77", "id_other")]
    assert found("seen at the Old Mill", deny={"facility": ["old mill"]}) == [("Old Mill", "facility")]
    assert found("Dr. Berg agrees", allow=["Berg"]) == []
    assert found("MRN: 1234567", without=["label.mrn", "id.digits"]) == []
    assert found("MRN: 1234567", thresholds={"mrn": 0.99, "id_other": 0.99}) == []


@pytest.mark.parametrize(
    ("before", "due"), [("wristband", True), ("Wristband2:", True), ("left'wristband", True), ("door", False)]
)
def test_a_pattern_that_needs_a_word_nearby(before: str, *, due: bool) -> None:
    pattern = {"id": "ward.band", "leaf": "id_other", "finds": r"(?<!\w)Q[0-9]{2}(?!\w)", "near": ["wristband"]}
    assert found(f"the {before} Q77", patterns=[pattern]) == ([("Q77", "id_other")] if due else [])


@pytest.mark.parametrize("pattern", ["a*b", "(a+)+b", "(?:a?){40}a{40}", "x{0,9}", "(?:[a-z]{1,20} ?){1,30}!", "("])
def test_patterns_that_could_be_slow_are_refused(pattern: str) -> None:
    with pytest.raises(InputError):
        compiled(pattern, where="rule 'mine'")


def test_every_shipped_pattern_is_bounded() -> None:
    assert len(settings.load().patterns) > 50  # each went through the check when it was loaded


def test_patterns_of_the_modules_pass_the_same_check() -> None:
    finders = [rule.finds for rule in patterns.RULES] + [finds for *_, finds in ages._FINDS]
    finders += [finds for *_, finds in Streets(settings.load())._rules]
    finders += [towns._BEFORE_STATE, towns._COUNTRY]
    for finder in finders:
        compiled(finder.pattern.pattern, where="a module")
    assert len(finders) > 50


@pytest.mark.parametrize(
    "config",
    [
        {"patterns": [{"id": "x.y", "leaf": "disease", "finds": "abc"}]},
        {"patterns": [{"id": "x.y", "leaf": "mrn", "finds": "abc", "holds": "lun"}]},
        {"thresholds": {"mnr": 0.4}},
        {"unknown": 1},
        {"allow": [True]},
    ],
)
def test_wrong_rules_are_named(config: dict[str, object]) -> None:
    with pytest.raises(InputError, match="config"):
        Deidentifier.load(config)


def test_rules_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("date_order: dmy\ndeny: {employer: [Acme Mill]}\n", encoding="utf-8")
    deid = Deidentifier.load(file, tagger="off")
    assert deid.settings.date_order == "dmy"
    assert [one.label for one in deid.detect(["for Acme Mill"])[0]] == ["employer"]


def test_unknown_layer_and_language() -> None:
    with pytest.raises(InputError, match="layer"):
        Deidentifier.load(layers=["rule"])
    with pytest.raises(InputError, match="language"):
        Deidentifier.load(language="de")


_SPANS = st.tuples(st.integers(0, 60), st.integers(1, 20), st.floats(0.5, 1.0), st.sampled_from("abc"))


@given(st.lists(_SPANS, max_size=12))
def test_resolved_findings_never_overlap_and_leave_nothing_out(spans: list[tuple[int, int, float, str]]) -> None:
    text = "x" * 90
    given_findings = [Finding(start, start + length, "mrn", score, rule) for start, length, score, rule in spans]
    kept = resolved(given_findings, text)
    assert all(one.end <= other.start for one, other in pairwise(kept))
    masked = {i for one in kept for i in range(one.start, one.end)}
    left = {i for one in given_findings for i in range(one.start, one.end)} - masked
    # At most single characters at an edge are dropped: a piece of one letter is no finding.
    assert all(i - 1 not in left or i - 2 not in left for i in left)


@given(st.text(max_size=80))
def test_folding_moves_no_offset(text: str) -> None:
    page = Page(text)
    assert len(folded(text)) == len(text) == len(page.plain) == len(page.low)
    assert all(page.low[start:end] == word for word, start, end in zip(page.words, page.starts, page.ends, strict=True))


@given(st.text(max_size=200))
def test_any_text_is_answered_inside_it(text: str) -> None:
    (findings,) = Deidentifier.load(tagger="off").detect([text])
    assert all(0 <= one.start < one.end <= len(text) for one in findings)
