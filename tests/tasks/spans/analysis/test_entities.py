"""Mentions grouped into entities: by id, by what they say, never across documents; protected only if all of it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError
from workup.tasks.spans.errors.entities import KINDS, group_entities, group_mentions, normalised
from workup.documents.batch import Batch
from workup.documents.document import Document, Span
from workup.documents.labels import CODE, UNMAPPED


@pytest.mark.parametrize(
    ("surface", "expected"),
    [
        ("Ann Lee", "ann lee"),
        ("  ANN\t\nLEE ", "ann lee"),
        ("(Ann Lee),", "ann lee"),
        ("O'Neil-Smith", "o'neil-smith"),
        ("“Ann”", "ann"),
        ("ﬁnn Straße", "finn strasse"),
        ("ＡＮＮ", "ann"),
        ("+1 (555) 010", "+1 (555) 010"),
        ("$5", "$5"),
        ("J. R.", "j. r"),
        ("--", "--"),
        ("…", "..."),
        ("", ""),
    ],
)
def test_normalised_by_hand(surface: str, expected: str) -> None:
    assert normalised(surface) == expected


@given(st.text())
def test_normalising_twice_changes_nothing(surface: str) -> None:
    assert normalised(normalised(surface)) == normalised(surface)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_both_ways_of_normalising_agree_on_ascii(surface: str) -> None:
    # A letter beyond ASCII sends the same surface the other way.
    assert normalised(surface + "é").removesuffix("é") == normalised(surface + "z").removesuffix("z")


def test_ids_come_before_surfaces_and_never_meet_them() -> None:
    surfaces = ["Ann Lee", "she", "Ann Lee", "ann lee", "e1"]
    found = group_mentions([0] * 5, surfaces, ["NAME"] * 5, entity=["e1", "e1", None, " ", None])
    assert found.number.tolist() == [0, 0, 1, 1, 2]


def test_branches_and_documents_keep_entities_apart() -> None:
    found = group_mentions([0, 0, 1], ["Florence", "Florence", "Florence"], ["NAME", "GEO", "NAME"])
    assert len(set(found.number.tolist())) == 3


def test_an_entity_is_protected_only_if_every_mention_that_must_be_masked_is() -> None:
    found = group_mentions([0, 0, 0, 0, 1], ["Ann", "ann", "Bob", "Eve", "Ann"], ["NAME"] * 5)
    table = found.table([True, True, True, False, True], [True, False, True, False, True])
    # Eve need not be masked, so she is no entity that counts.
    assert table.document.tolist() == [0, 0, 1]
    assert table.protected.tolist() == [False, True, True]
    need_not = found.table([True, False, True, False, True], [True, False, True, False, True])
    assert need_not.protected.tolist() == [True, True, True]
    assert len(found.table([False] * 5, [True] * 5).protected) == 0


def test_kinds_direct_before_quasi_before_unspecified() -> None:
    direct, quasi, no_mask, none = 0, 1, 2, -1
    surfaces = ["a", "a", "b", "b", "c", "c", "d"]
    found = group_mentions(
        [0] * 7, surfaces, ["ID"] * 7, identifier=[quasi, direct, none, quasi, no_mask, none, direct]
    )
    assert found.is_kind("direct").tolist() == [True, True, False, False, False, False, True]
    assert found.is_kind("quasi").tolist() == [False, False, True, True, False, False, False]
    assert found.is_kind("unspecified").tolist() == [False, False, False, False, True, True, False]
    with pytest.raises(InputError, match="did you mean 'direct'"):
        found.is_kind("direkt")


mention = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["Ann", "ANN ", "ann,", "Bob", "Lee"]),
    st.sampled_from(["NAME", "GEO"]),
    st.sampled_from([None, "", "e1", "e2"]),
    st.integers(-1, 2),
    st.booleans(),
    st.booleans(),
)


def _answers(rows: list[tuple[int, str, str, str | None, int, bool, bool]]) -> list[tuple[int, bool, int]]:
    document, surface, branch, entity, identifier, must, masked = zip(*rows, strict=True)
    found = group_mentions(document, surface, branch, entity=entity, identifier=identifier)
    return sorted(zip(*(column.tolist() for column in found.table(must, masked)), strict=True))


@given(st.lists(mention, min_size=1, max_size=12), st.randoms())
def test_grouping_does_not_depend_on_order_and_is_what_it_says(rows: list, random: object) -> None:
    answers = _answers(rows)
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert _answers(shuffled) == answers
    by_key: dict = {}
    for document, surface, branch, entity, identifier, must, masked in rows:
        key = (document, entity) if entity else (document, branch, surface.lower().strip(" ,"))
        by_key.setdefault(key, []).append((identifier, must, masked))
    expected = []
    for key, mentions in by_key.items():
        if any(must for _, must, _ in mentions):
            said = {identifier for identifier, _, _ in mentions}
            kind = KINDS.index("direct" if 0 in said else "quasi" if 1 in said else "unspecified")
            expected.append((key[0], all(masked for _, must, masked in mentions if must), kind))
    assert answers == sorted(expected)


def test_the_golds_of_a_batch() -> None:
    spans = (Span(0, 3, "name_patient", entity="p"), Span(4, 7, "NAME"), Span(8, 11, "shoe"), Span(12, 15, "sock"))
    batch = Batch.of([Document("1", "Ann ANN ann Ann", spans), Document("2", "Ann", (Span(0, 3, "NAME"),))])
    codes = [CODE["name_patient"], CODE["NAME"], UNMAPPED, UNMAPPED, CODE["NAME"]]
    found = group_entities(batch, codes, [-1, 1, -1, -1, -1])
    assert found.number.tolist() == [0, 1, 2, 2, 3]
    assert found.document.tolist() == [0, 0, 0, 0, 1]
    assert found.is_kind("quasi").tolist() == [False, True, False, False, False]
    empty = group_entities(Batch.of([Document("1", "", ())]), np.empty(0, int), np.empty(0, int))
    assert len(empty.number) == 0 and len(empty.table([], []).protected) == 0
