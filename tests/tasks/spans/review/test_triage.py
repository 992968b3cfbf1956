"""The frame of a review: which regions there are, in which stratum, and that they add up to what the scorer counts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.notes import detect, notes
from workup.documents.batch import Batch
from workup.documents.detections import HeldDetections
from workup.documents.document import Document, Span
from workup.errors import InputError
from workup.score import score_spans
from workup.tasks.spans.counting.counting_rules import Yardstick
from workup.tasks.spans.review.estimating import raw_rate
from workup.tasks.spans.review.frame import NOT_REVIEWED, STRATA, Frame
from workup.tasks.spans.review.shared_alarms import groups, iou, middle
from workup.tasks.spans.review.triage import Regions, triage

TEXT = "x" * 200
Found = dict[str, list[Span]]


def _triage(documents: Sequence[Document], *systems: Found, mode: str = "full_mask", **of: Any) -> Regions:
    stick = Yardstick.of(modes=[mode], levels=["phi"], primary={"mode": mode}, **of)
    return triage([Batch.of(documents)], {f"s{i}": HeldDetections(one) for i, one in enumerate(systems)}, stick=stick)


def _rows(regions: Regions) -> list[tuple[Any, ...]]:
    frame = regions.frame
    return [
        (
            regions.starts[i],
            regions.ends[i],
            STRATA[frame.stratum[i]] if frame.stratum[i] >= 0 else None,
            frame.golds[i],
            frame.hits[i].tolist(),
            frame.credits[i].tolist(),
            frame.alarms[i].tolist(),
        )
        for i in range(len(frame))
    ]


def test_every_stratum_by_hand() -> None:
    golds = tuple(Span(start, start + 10, "date") for start in (0, 20, 40))
    one = [Span(0, 10, "date"), Span(20, 30, "zip"), Span(100, 110, "date"), Span(150, 155, "date")]
    two = [Span(0, 10, "date"), Span(101, 110, "phone")]
    rows = _rows(_triage([Document("a", TEXT, golds)], {"a": one}, {"a": two}))
    assert rows == [
        (0, 10, "found_by_all", 1, [1, 1], [1, 1], [0, 0]),
        (20, 30, "found_by_some", 1, [1, 0], [1, 0], [0, 0]),  # types are not asked
        (40, 50, "missed_by_all", 1, [0, 0], [0, 0], [0, 0]),
        (100, 110, "alarm_of_all", 0, [0, 0], [0, 0], [1, 1]),
        (150, 155, "alarm_of_some", 0, [0, 0], [0, 0], [1, 0]),
    ]


def test_a_prediction_over_two_golds_is_divided_by_overlap_and_a_gold_in_pieces_gathers() -> None:
    golds = (Span(0, 10, "date"), Span(10, 40, "zip"), Span(60, 70, "date"))
    found = [Span(0, 40, "date"), Span(60, 64, "date"), Span(65, 70, "date")]
    rows = _rows(_triage([Document("a", TEXT, golds)], {"a": found}))
    assert [(row[0], row[2], row[4], row[5]) for row in rows] == [
        (0, "found_by_all", [1], [0.25]),
        (10, "found_by_all", [1], [0.75]),
        (60, "missed_by_all", [0], [2]),  # one character is left open, and both pieces are credited
    ]


def test_false_alarms_that_touch_a_gold_are_fixed_and_those_on_protected_text_are_not() -> None:
    golds = (Span(0, 10, "date"), Span(50, 60, "drug"))
    found = [Span(0, 100, "date"), Span(52, 58, "name_patient")]
    regions = _triage([Document("a", TEXT, golds)], {"a": found})
    assert _rows(regions) == [
        (0, 0, None, 0, [0], [0], [1]),
        (0, 10, "found_by_all", 1, [1], [0], [0]),
        (52, 58, "alarm_of_all", 0, [0], [0], [1]),
    ]
    assert regions.facts["alarms_beside_golds"] == 1


def test_predictions_that_nobody_can_look_at_stay_false_alarms() -> None:
    found = {"a": [Span(190, 260, "date")], "z": [Span(0, 4, "date"), Span(9, 12, "date")]}
    regions = _triage([Document("a", TEXT, (Span(0, 10, "date"),))], found, {})
    fixed = regions.frame.stratum == NOT_REVIEWED
    assert regions.frame.alarms[fixed].sum(axis=0).tolist() == [3, 0]
    assert regions.facts["alarms_in_unknown_documents"] == 2
    assert regions.facts["documents_without_answer_of_system_1"] == 1
    assert len(set(regions.frame.patient.tolist())) == 2


def test_golds_at_one_place_are_one_region() -> None:
    golds = (Span(0, 10, "date"), Span(0, 10, "date_birth"))
    rows = _rows(_triage([Document("a", TEXT, golds)], {"a": [Span(0, 10, "date")]}))
    assert [(row[2], row[3], row[4], row[5]) for row in rows] == [("found_by_all", 2, [2], [1])]
    # One prediction answers for one gold where pairs are asked for: the region is found in part.
    rows = _rows(_triage([Document("a", TEXT, golds)], {"a": [Span(0, 10, "date")]}, mode="exact"))
    assert [(row[2], row[3], row[4], row[5]) for row in rows] == [("found_by_some", 2, [1], [1])]


def test_what_may_be_masked_is_no_region() -> None:
    golds = (Span(0, 10, "year_only"), Span(20, 30, "date"))
    found = [Span(0, 10, "date"), Span(5, 19, "date"), Span(20, 30, "date")]
    regions = _triage([Document("a", TEXT, golds)], {"a": found}, policies=["hipaa_safe_harbor"])
    assert _rows(regions) == [
        (0, 0, None, 0, [0], [0], [1]),  # it touches what may be masked, so it is no unmarked identifier
        (20, 30, "found_by_all", 1, [1], [1], [0]),
    ]
    assert regions.facts["neutral"] == 1


def test_several_annotators_and_half_scores_are_refused() -> None:
    layered = Document("a", TEXT, layers={"x": (Span(0, 3, "date"),), "y": (Span(0, 4, "date"),)})
    with pytest.raises(InputError, match="one list of golds"):
        _triage([layered], {"a": []})
    with pytest.raises(InputError, match="phi"):
        _triage([Document("a", TEXT)], {"a": []}, mode="partial")


@pytest.mark.parametrize("mode", ["full_mask", "iou:0.5", "exact", "cover:1", "overlap"])
def test_raw_rates_are_those_of_the_scorer(mode: str) -> None:
    corpus = notes(80, seed=3, patients=30)
    found = [detect(corpus, seed=seed) for seed in (4, 5)]
    documents = [
        Document(note["id"], note["text"], tuple(Span(**s) for s in note["spans"]), patient=note["patient"])
        for note in corpus
    ]
    spans = [{id: [Span(**s) for s in several] for id, several in one.items()} for one in found]
    regions = _triage(documents, *spans, mode=mode)
    for frame in (regions.frame, regions.frame.folded()):
        for system, one in enumerate(found):
            report = score_spans(corpus, one, modes=[mode], levels=["phi"], replicates=200)
            for metric in ("recall", "precision"):
                [theirs] = [
                    e
                    for e in report.results["internal"].estimates
                    if e.metric == metric and dict(e.slice) == {"mode": mode, "level": "phi"}
                ]
                mine = raw_rate(frame, system=system, metric=metric)  # type: ignore[arg-type]
                assert mine.value == pytest.approx(theirs.value, abs=1e-12), (metric, system)
                assert mine.interval.low == pytest.approx(theirs.low, abs=1e-12)
                assert mine.interval.high == pytest.approx(theirs.high, abs=1e-12)
                assert (mine.top, mine.bottom) == pytest.approx((theirs.numerator, theirs.denominator))


def test_the_order_of_documents_and_of_systems_changes_nothing_but_columns() -> None:
    corpus = notes(30, seed=8, patients=9)
    documents = [
        Document(note["id"], note["text"], tuple(Span(**s) for s in note["spans"]), patient=note["patient"])
        for note in corpus
    ]
    spans = [{id: [Span(**s) for s in x] for id, x in detect(corpus, seed=seed).items()} for seed in (1, 2)]
    one = _triage(documents, *spans)
    other = _triage(documents[::-1], *spans[::-1])
    assert (one.cases, one.starts, one.ends, one.labels) == (other.cases, other.starts, other.ends, other.labels)
    assert one.frame.stratum.tolist() == other.frame.stratum.tolist()
    assert one.frame.patient.tolist() == other.frame.patient.tolist()
    reviewed = one.frame.stratum >= 0
    assert np.allclose(one.frame.hits[reviewed], other.frame.hits[reviewed][:, ::-1])
    assert np.allclose(one.frame.alarms[reviewed], other.frame.alarms[reviewed][:, ::-1])


def test_a_frame_folds_and_comes_back() -> None:
    rng = np.random.default_rng(1)
    rows = [
        (int(rng.integers(3)), int(rng.integers(-1, 5)), 1, [int(rng.integers(2))], [1 / 3], [0]) for _ in range(60)
    ]
    frame = Frame.of(rows, systems=1)
    folded = frame.folded()
    back = Frame.from_rows(folded.as_rows(), systems=1)
    assert len(folded) < len(frame) and folded.count.sum() == 60
    assert back.sizes() == folded.sizes() == frame.sizes()
    assert back.as_rows() == folded.as_rows()


# ---- false alarms of several systems ---------------------------------------------------------------------------------


def _slowly(places: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Complete linkage as it is defined."""
    found = [[place] for place in sorted(set(places))]
    while True:
        links = [(-min(iou(x, y) for x in a for y in b), *sorted((a, b))) for a, b in itertools.combinations(found, 2)]
        near = [link for link in links if -link[0] >= 0.5]
        if not near:
            return sorted(found)
        _, a, b = min(near)
        found = [group for group in found if group not in (a, b)] + [sorted(a + b)]


@given(
    st.lists(st.tuples(st.integers(0, 25), st.integers(1, 12)).map(lambda p: (p[0], p[0] + p[1])), max_size=8),
    st.randoms(use_true_random=False),
)
def test_groups_are_complete_linkage_in_any_order(places: list[tuple[int, int]], luck: Any) -> None:
    expected = _slowly(places)
    luck.shuffle(places)
    assert groups(places) == expected
    for group in expected:
        assert all(iou(a, b) >= 0.5 for a, b in itertools.combinations(group, 2))
        assert middle(group) in group


def test_a_chain_of_half_overlaps_is_no_agreement() -> None:
    regions = _triage(
        [Document("a", TEXT, ())],
        {"a": [Span(0, 10, "date")]},
        {"a": [Span(3, 13, "date")]},
        {"a": [Span(6, 16, "date")]},
    )
    assert [row[2] for row in _rows(regions)] == ["alarm_of_some", "alarm_of_some"]


def test_thousands_of_overlapping_alarms_do_not_stop_it() -> None:
    found = groups([(start, start + 5000) for start in range(800)])
    assert sorted(place for group in found for place in group) == [(start, start + 5000) for start in range(800)]
