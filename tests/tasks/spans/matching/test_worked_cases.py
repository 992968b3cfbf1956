"""Cases worked by hand: every scorer of spans must give these numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.support.brute_force import MAY, MUST_NOT, Found, Gold, Scheme
from tests.support.small_corpora import POLICY, SCHEME, Note, arrays, counted, matchup, setting
from workup.documents.policies import MUST
from workup.errors import InputError
from workup.tasks.spans.counting.cells import cells
from workup.tasks.spans.counting.counts import Counts, count
from workup.tasks.spans.counting.matchup import Level, Matchup
from workup.tasks.spans.counting.outcomes import outcomes
from workup.tasks.spans.counting.verdicts import OUTCOMES

_TEXT = "x" * 300


def _score(golds: list[Gold], found: list[Found], text: str = _TEXT, **given: object) -> Counts:
    return counted([Note(text, golds, found)], **given)


def _hits(counts: Counts, mode: str, level: str = "leaf") -> tuple[int | None, ...]:
    """hits, golds, credited, predictions."""
    total = counts.total(setting(counts, mode, level))
    return total["hits"], total["golds"], total["credited"], total["predictions"]


def _date(*borders: tuple[int, int]) -> list[Gold]:
    return [Gold(start, end, "date") for start, end in borders]


def _dates(*borders: tuple[int, int]) -> list[Found]:
    return [Found(start, end, "date") for start, end in borders]


def test_one_prediction_over_the_whole_document() -> None:
    counts = _score(_date((10, 20), (50, 60), (100, 110)), _dates((0, 200)), "x" * 200)
    assert _hits(counts, "strict") == (0, 3, 0, 1)
    assert _hits(counts, "iou:0.5") == (0, 3, 0, 1)
    assert _hits(counts, "cover:1") == (3, 3, 0, 1)
    assert _hits(counts, "char", "phi") == (30, 30, 30, 200)  # recall 1, precision 0.15


def test_a_gold_in_two_pieces() -> None:
    counts = _score(_date((0, 10)), _dates((0, 4), (5, 10)))
    assert _hits(counts, "strict") == (0, 1, 0, 2)
    assert _hits(counts, "iou:0.5") == (1, 1, 1, 2)
    assert counts.total(setting(counts, "iou:0.5", "leaf"))["false_alarms"] == 1
    assert _hits(counts, "cover:1") == (0, 1, 2, 2)
    assert _hits(counts, "char", "phi") == (9, 10, 9, 9)


def test_the_same_fifth_twice_covers_a_fifth() -> None:
    counts = _score(_date((0, 10)), _dates((0, 2), (0, 2)))
    assert _hits(counts, "strict") == (0, 1, 0, 2)
    assert _hits(counts, "iou:0.5") == (0, 1, 0, 2)
    assert _hits(counts, "cover:1") == (0, 1, 2, 2)
    assert _hits(counts, "cover:0.3") == (0, 1, 2, 2)  # 0.2 and not 0.4
    assert _hits(counts, "char", "phi") == (2, 10, 2, 2)


def test_the_right_span_under_a_type_of_another_branch() -> None:
    counts = _score([Gold(0, 10, "date")], [Found(0, 10, "city")])
    assert _hits(counts, "exact", "phi") == (1, 1, 1, 1)
    assert _hits(counts, "strict") == (0, 1, 0, 1)
    assert _hits(counts, "iou:0.5") == (0, 1, 0, 1)
    assert _hits(counts, "full_mask", "phi") == (1, 1, 1, 1)
    assert _hits(counts, "cover:1") == (0, 1, 0, 1)
    assert _hits(counts, "cover:1", "branch") == (0, 1, 0, 1)
    assert _hits(counts, "cover:1", "phi") == (1, 1, 1, 1)
    assert _hits(counts, "char", "phi") == (10, 10, 10, 10)


def test_one_character_shared() -> None:
    counts = _score(_date((0, 10)), _dates((9, 60)), "x" * 200)
    assert [_hits(counts, mode)[0] for mode in ("strict", "iou:0.5", "cover:1")] == [0, 0, 0]
    assert _hits(counts, "cover:1") == (0, 1, 0, 1)
    assert _hits(counts, "char", "phi") == (1, 10, 1, 51)


def test_touching_is_not_overlapping() -> None:
    counts = _score(_date((0, 10)), _dates((10, 20)))
    for one in counts.settings:
        total = counts.total(one)
        if one.mode.name != "token":  # one long token holds both
            assert (total["hits"], total["credited"]) == (0, 0), one
    assert _hits(counts, "overlap", "phi") == (0, 1, 0, 1)


def test_the_same_prediction_twice() -> None:
    counts = _score(_date((0, 10)), _dates((0, 10), (0, 10)))
    for mode in ("strict", "iou:0.5", "overlap", "i2b2"):
        assert _hits(counts, mode) == (1, 1, 1, 2)
        assert counts.total(setting(counts, mode, "leaf"))["false_alarms"] == 1
    assert _hits(counts, "cover:1") == (1, 1, 2, 2)
    assert _hits(counts, "char", "phi") == (10, 10, 10, 10)


def test_three_characters_short() -> None:
    counts = _score(_date((253, 271)), _dates((256, 271)))
    assert _hits(counts, "strict") == (0, 1, 0, 1)
    assert _hits(counts, "iou:0.5") == (1, 1, 1, 1)  # 15 of 18 are 0.833
    assert _hits(counts, "cover:1") == (0, 1, 1, 1)
    assert _hits(counts, "char", "phi") == (15, 18, 15, 15)


# ---- levels ----------------------------------------------------------------------------------------------------------


def test_a_coarse_label_is_a_miss_at_leaf_and_compared_at_its_branch() -> None:
    counts = _score([Gold(0, 10, "city")], [Found(0, 10, "GEO")])
    assert [_hits(counts, "strict", level)[0] for level in ("leaf", "branch", "phi")] == [0, 1, 1]
    assert [_hits(counts, "cover:1", level)[2] for level in ("leaf", "branch", "phi")] == [0, 1, 1]


def test_two_coarse_or_unmapped_labels_are_not_equal_at_leaf_even_to_themselves() -> None:
    for label, hits in (("GEO", [0, 1, 1]), ("FOO", [0, 0, 1])):
        counts = _score([Gold(0, 10, label)], [Found(0, 10, label)])
        assert [_hits(counts, "strict", level)[0] for level in ("leaf", "branch", "phi")] == hits


def test_hierarchies_hold_in_both_directions() -> None:
    for gold, found in (("city", "zip"), ("zip", "city"), ("city", "GEO"), ("GEO", "city")):
        counts = _score([Gold(0, 10, gold)], [Found(0, 10, found)])
        assert _hits(counts, "iou:0.5", "branch")[0] == 1


def test_an_equivalence_is_a_column_beside_the_strict_one_with_the_same_denominators() -> None:
    same = {"city": "city", "zip": "zip", "date": "date"}
    levels = (Level("leaf", same), Level("leaf, city as zip", {**same, "city": "zip"}, prefers=False))
    golds, found = arrays([(0, 0, 10, "city"), (0, 20, 30, "date")]), arrays([(0, 0, 10, "zip"), (0, 20, 30, "date")])
    both = Matchup(golds, found, 1, {POLICY: np.array([MUST, MUST], dtype=np.int8)}, levels=levels)
    counts = count(both, both.settings(["strict"], levels=["leaf", "leaf, city as zip"]))
    strict, beside = (counts.total(one) for one in counts.settings)
    assert (strict["hits"], beside["hits"]) == (1, 2)
    assert (strict["golds"], strict["predictions"]) == (beside["golds"], beside["predictions"]) == (2, 2)
    rows = [row for row in counts.table() if row["label"] and row["level"] == "leaf, city as zip"]
    assert [(row["label"], row["golds"], row["hits"]) for row in rows] == [
        ("city", 1, 1),
        ("date", 1, 1),
        ("zip", 0, 0),
    ]


# ---- assignment ------------------------------------------------------------------------------------------------------


def test_an_optimal_assignment_finds_what_a_greedy_one_loses() -> None:
    # The first prediction overlaps both golds, the second only the first: taking them in order loses a gold.
    counts = _score(_date((0, 10), (10, 20)), _dates((5, 15), (0, 3)))
    assert _hits(counts, "overlap") == (2, 2, 2, 2)
    assert _hits(counts, "partial", "phi") == (2, 2, 2, 2)


def test_the_gold_that_must_be_masked_comes_first() -> None:
    golds = [Gold(0, 10, "date", MAY), Gold(4, 10, "date")]
    found = matchup([Note(_TEXT, golds, _dates((0, 10)))])
    seen = outcomes(found, found.settings(["iou:0.5"], levels=["leaf"])[0])
    assert seen.hit.tolist() == [False, True]  # though the other gold fits it better
    assert (seen.gold.tolist(), seen.prediction.tolist()) == ([1], [0])


def test_partial_prefers_equal_borders_to_equal_types() -> None:
    counts = _score([Gold(0, 10, "date")], [Found(0, 10, "city"), Found(0, 9, "date")])
    total = counts.total(setting(counts, "partial"))
    assert (total["hits"], total["exact_hits"]) == (1, 1)
    found = matchup([Note(_TEXT, [Gold(0, 10, "date")], [Found(0, 10, "city"), Found(0, 9, "date")])])
    overlap = outcomes(found, found.settings(["overlap"], levels=["phi"])[0])
    assert overlap.prediction.tolist() == [1]  # elsewhere the type comes first


def test_what_is_tied_goes_to_the_first_by_start_end_and_label() -> None:
    for order in (1, -1):
        found = [Found(0, 10, "city"), Found(0, 10, "zip")][::order]
        made = matchup([Note(_TEXT, [Gold(0, 10, "date")], found)])
        seen = outcomes(made, made.settings(["exact"])[0])
        assert found[int(seen.prediction[0])].label == "city"


# ---- policies and ignored labels -------------------------------------------------------------------------------------


def _outcome(golds: list[Gold], found: list[Found], mode: str, level: str, scheme: Scheme = SCHEME) -> list[str]:
    made = matchup([Note(_TEXT, golds, found)], scheme=scheme)
    seen = outcomes(made, made.settings([mode], levels=[level])[0])
    return [OUTCOMES[code] for code in seen.outcome]


def test_what_may_be_masked_is_neither_missed_nor_a_false_alarm() -> None:
    golds = [Gold(0, 10, "name_provider", MAY)]
    for mode in ("strict", "iou:0.5", "cover:1", "full_mask"):
        assert _outcome(golds, [Found(0, 10, "name_provider")], mode, "leaf") == ["neutral"]
        # A shifted border, or another label: what may be masked may be masked under any name.
        assert _outcome(golds, [Found(1, 10, "name_patient")], mode, "leaf") == ["neutral"]
        assert _outcome(golds, [Found(0, 21, "name_provider")], mode, "leaf") == ["false_alarm"]
    counts = _score(golds, [Found(0, 10, "name_provider")])
    assert _hits(counts, "char", "phi") == (0, 0, 0, 10) and counts.total(setting(counts, "char"))["neutral"] == 10


def test_half_on_what_must_be_masked_is_credit_and_less_with_what_may_be_is_neutral() -> None:
    golds = [Gold(0, 5, "date"), Gold(5, 8, "city", MAY)]
    assert _outcome(golds, [Found(0, 10, "date")], "cover:1", "leaf") == ["credited"]  # m = 0.5
    assert _outcome(golds, [Found(1, 11, "date")], "cover:1", "leaf") == ["neutral"]  # m = 0.4, y = 0.3
    assert _outcome(golds, [Found(1, 16, "date")], "cover:1", "leaf") == ["false_alarm"]  # m + y = 7/15
    assert _outcome(golds, [Found(1, 11, "date")], "strict", "leaf") == ["neutral"]
    assert _outcome(golds, [Found(0, 10, "date")], "strict", "leaf") == ["false_alarm"]  # m is not below a half


def test_what_must_not_be_masked_is_plain_text() -> None:
    golds = [Gold(0, 10, "date", MUST_NOT)]
    for mode in ("strict", "cover:1", "full_mask", "overlap"):
        assert _outcome(golds, [Found(0, 10, "date")], mode, "leaf") == ["false_alarm"]
    made = matchup([Note(_TEXT, golds, [Found(0, 10, "date")]), Note(_TEXT, golds, [])])
    leaks = count(made, made.settings(["full_mask"]), leaks=True).leaks[POLICY].totals()
    assert (leaks["protected"], leaks["protected_untouched"], leaks["non_phi_chars_masked"]) == (2, 1, 10)
    assert leaks["negative_documents"] == 2 and leaks["negative_documents_intact"] == 1


def test_several_policies_in_one_pass_are_each_as_if_alone() -> None:
    notes = [Note(_TEXT, _date((0, 10), (4, 14), (30, 40)), _dates((2, 12), (30, 35)))]
    decisions = {"a": [MUST, MAY, MUST_NOT], "b": [MUST_NOT, MUST, MUST], "c": [MAY, MAY, MAY]}
    together = matchup(notes, decisions=decisions)
    counts = count(together, together.settings(["iou:0.25", "cover:0.3", "char", "token", "full_mask"]), leaks=True)
    for policy, codes in decisions.items():
        alone = matchup(notes, decisions={policy: codes})
        single = count(alone, alone.settings(["iou:0.25", "cover:0.3", "char", "token", "full_mask"]), leaks=True)
        mine = [row for row in counts.table() if row["policy"] == policy]
        assert mine == list(single.table())
        assert counts.leaks[policy].totals() == single.leaks[policy].totals()


_IGNORING = Scheme(SCHEME.leaf, SCHEME.branch, frozenset({"city"}))


def test_ignored_golds_and_the_predictions_on_them_count_on_neither_side() -> None:
    golds = [Gold(0, 10, "city"), Gold(20, 30, "date")]
    counts = _score(golds, [Found(0, 10, "city"), Found(20, 30, "date"), Found(2, 10, "zip")], scheme=_IGNORING)
    for mode in ("strict", "iou:0.5", "cover:1"):
        for level in ("leaf", "branch", "phi"):
            assert _hits(counts, mode, level) == (1, 1, 1, 1)
    assert _hits(counts, "char", "phi") == (10, 10, 10, 10)
    # Half of it elsewhere: it does not lie mostly on the ignored gold.
    assert _outcome(golds, [Found(5, 15, "zip")], "strict", "phi", _IGNORING) == ["false_alarm"]
    assert _outcome(golds, [Found(4, 15, "zip")], "strict", "phi", _IGNORING) == ["removed"]


def test_an_ignored_label_on_plain_text_is_removed_where_types_count_and_a_mask_at_phi() -> None:
    found = [Found(50, 60, "city")]
    assert _outcome([], found, "strict", "leaf", _IGNORING) == ["removed"]
    assert _outcome([], found, "cover:1", "branch", _IGNORING) == ["removed"]
    assert _outcome([], found, "strict", "phi", _IGNORING) == ["false_alarm"]
    counts = _score([], found, scheme=_IGNORING)
    assert _hits(counts, "char", "phi") == (0, 0, 0, 10)
    assert _hits(counts, "token", "leaf") == (0, 0, 0, 0) and _hits(counts, "token", "phi") == (0, 0, 0, 1)
    # Touching a counted gold it stays, at every level.
    assert _outcome([Gold(59, 70, "date")], found, "strict", "leaf", _IGNORING) == ["false_alarm"]


# ---- what lies outside -----------------------------------------------------------------------------------------------


def test_predictions_outside_their_text_or_of_unknown_documents_are_false_alarms_and_reported() -> None:
    note = Note("x" * 20, _date((0, 10)), [Found(0, 10, "date"), Found(15, 25, "date"), Found(30, 40, "zip")])
    made = matchup([note], unknown=[[Found(0, 10, "date")], [Found(0, 7, "date")]])
    counts = count(made, made.settings(["strict", "cover:1", "full_mask", "char", "token"]))
    assert counts.strays == {"outside_text": 2, "unknown_document": 2}
    for mode in ("strict", "cover:1", "full_mask"):
        total = counts.total(setting(counts, mode))
        assert (total["credited"], total["predictions"], total["false_alarms"]) == (1, 5, 4)
    assert counts.total(setting(counts, "char"))["false_alarms"] == 10 + 10 + 10 + 7
    assert counts.total(setting(counts, "token"))["false_alarms"] == 4
    assert counts.per_document(setting(counts, "strict"))["false_alarms"].tolist() == [2, 1, 1]
    seen = outcomes(made, made.settings(["strict"])[0])
    assert seen.stray.tolist() == [False, True, True, True, True]


def test_empty_and_reversed_predictions_are_false_alarms_without_characters() -> None:
    counts = _score(_date((0, 10)), _dates((5, 5), (8, 3), (-2, 4)))
    assert counts.strays["outside_text"] == 3
    for mode in ("strict", "overlap", "cover:0.3", "full_mask"):
        total = counts.total(setting(counts, mode))
        assert (total["hits"], total["predictions"], total["false_alarms"]) == (0, 3, 3)
    assert counts.total(setting(counts, "char"))["false_alarms"] == 6  # of the one that begins before its text


def test_a_missing_document_is_missed_and_not_left_intact() -> None:
    notes = [Note("x" * 20, _date((0, 10)), []), Note("y" * 30, [], []), Note("z" * 40, [], [])]
    made = matchup(notes, answered=[False, False, True])
    counts = count(made, made.settings(["strict", "full_mask"]), leaks=True)
    assert _hits(counts, "strict") == (0, 1, 0, 0)
    leaks = counts.leaks[POLICY].totals()
    assert (leaks["documents_with_must"], leaks["documents_leaking"]) == (1, 1)
    assert (leaks["negative_documents"], leaks["negative_documents_intact"]) == (2, 1)
    assert leaks["non_phi_chars"] == 10 + 30 + 40


def test_a_gold_outside_its_text_is_refused_by_place_and_length_alone() -> None:
    with pytest.raises(InputError, match=r"document 1, gold 1.*inside its text.*10 to 25"):
        counted([Note("secret" * 5, _date((0, 6)), []), Note("secret" * 4, _date((10, 25)), [])], ("strict",))


# ---- full masks, tokens, letters and digits --------------------------------------------------------------------------


def test_blanks_and_punctuation_may_stay_visible_in_a_full_mask_and_nothing_else() -> None:
    text = "Ann-Lee O'Hara, 7"
    words = [Found(m.start(), m.end(), "date") for m in re.finditer(r"\w+", text)]
    counts = _score([Gold(0, len(text), "name_patient")], words, text)
    assert _hits(counts, "full_mask", "phi")[:2] == (1, 1)
    assert _hits(counts, "cover:1", "phi")[0] == 0
    counts = _score([Gold(0, len(text), "name_patient")], words[:-1], text)
    assert _hits(counts, "full_mask", "phi")[0] == 0  # a digit is left
    euro = _score([Gold(0, 3, "date")], [Found(0, 2, "date")], "12€")
    assert _hits(euro, "full_mask", "phi")[0] == 0  # a currency sign is no punctuation


def test_a_gold_of_nothing_but_punctuation_is_refused() -> None:
    with pytest.raises(InputError, match="white space and punctuation"):
        counted([Note("a -- b", _date((2, 4)), [])], ("full_mask",))


def test_letters_and_digits_leak_apart_from_all_characters() -> None:
    note = Note("Ann Lee", [Gold(0, 7, "name_patient")], [Found(0, 3, "date"), Found(4, 6, "date")])
    made = matchup([note])
    leaks = count(made, made.settings(["full_mask"]), leaks=True).leaks[POLICY].totals()
    assert (leaks["must_chars"], leaks["must_chars_unmasked"]) == (7, 2)
    assert (leaks["must_alnum"], leaks["must_alnum_unmasked"]) == (6, 1)
    assert leaks["documents_leaking"] == 1


def test_a_token_counts_when_one_character_of_it_is_covered() -> None:
    text = "alpha beta_1 gamma"
    counts = _score([Gold(4, 7, "date")], [Found(0, 1, "date"), Found(13, 14, "city")], text)
    assert _hits(counts, "token", "phi") == (1, 2, 1, 2)
    assert _hits(counts, "token", "leaf") == (1, 2, 1, 2)
    typed = _score([Gold(0, 5, "date"), Gold(0, 5, "city")], [Found(0, 5, "city")], text)
    assert _hits(typed, "token", "leaf") == (1, 2, 1, 1)  # once per label
    assert _hits(typed, "token", "phi") == (1, 1, 1, 1)


def test_tokens_outside_golds_are_counted_for_specificity() -> None:
    made = matchup([Note("one two three four", [Gold(0, 3, "date")], [Found(0, 5, "date")])])
    leaks = count(made, made.settings(["full_mask"]), leaks=True).leaks[POLICY].totals()
    assert (leaks["non_phi_tokens"], leaks["non_phi_tokens_masked"]) == (3, 1)


def test_i2b2_forgives_two_characters_at_the_end_and_none_at_the_start() -> None:
    for found, hit in (
        (Found(0, 12, "date"), 1),
        (Found(0, 8, "date"), 1),
        (Found(0, 13, "date"), 0),
        (Found(1, 10, "date"), 0),
    ):
        assert _hits(_score(_date((0, 10)), [found]), "i2b2")[0] == hit


def test_the_published_rule_takes_a_parent_one_way_and_the_whole_document() -> None:
    counts = _score([Gold(0, 10, "city")], [Found(0, 300, "GEO")])
    assert _hits(counts, "published:gold50") == (1, 1, 1, 1)
    assert _hits(_score([Gold(0, 10, "GEO")], [Found(0, 10, "city")]), "published:gold50")[0] == 0
    # Greedy: the first gold takes the prediction that the second needed.
    counts = _score(_date((0, 10), (5, 12)), _dates((3, 12)))
    assert _hits(counts, "published:gold50") == (1, 2, 1, 1)


def test_shares_are_compared_without_rounding() -> None:
    counts = _score(_date((0, 10)), _dates((0, 3)), modes=("iou:0.3", "cover:0.3", "iou:0.300000001"))
    assert [_hits(counts, mode)[0] for mode in ("iou:0.3", "cover:0.3", "iou:0.300000001")] == [1, 1, 0]


def test_modes_that_read_texts_say_so_without_them() -> None:
    made = matchup([Note("abc", [], [])], with_text=False)
    with pytest.raises(InputError, match="needs the texts"):
        count(made, made.settings(["full_mask"]))
    with pytest.raises(InputError, match="counts spans"):
        outcomes(made, made.settings(["char"])[0])


def test_nothing_at_all_counts_nothing() -> None:
    for notes in ([], [Note("", [], [])], [Note("abc", [], []), Note("", [], [])]):
        made = matchup(notes)
        counts = count(made, made.settings(["strict", "cover:1", "full_mask", "char", "token"]), leaks=True)
        for row in counts.table():
            assert (row["golds"], row["hits"], row["predictions"], row["label"]) == (0, 0, 0, None)
        assert counts.leaks[POLICY].totals()["negative_documents_intact"] == len(notes)
        assert all(not len(cells(made, one).document) for one in counts.settings)
