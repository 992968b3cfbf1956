"""A canary in the text: no answer of the analysis, however it is printed, and no error holds any of it."""

from __future__ import annotations

import dataclasses

import pytest

from workup.errors import InputError
from workup.tasks.spans.errors.categories import category_of_false_alarm, category_of_miss
from workup.tasks.spans.errors.entities import group_mentions
from workup.tasks.spans.errors.partial_leaks import partial_leak
from workup.documents.residue import Masked, residue
from workup.tasks.spans.errors.safe_harbor import safe_harbor
from workup.tasks.spans.errors.shapes import coarse_shape, document_shape, keyed_hash, shape
from workup.documents.document import Span
from workup.documents.labels import NAMES

CANARY = "Zebulonqx"
NUMBER = "8675309417"
SURFACES = (f"{CANARY} Vrrt", f"{CANARY.upper()}", f"{NUMBER}", f"{CANARY.lower()}@{CANARY}.org", f"{CANARY}  {NUMBER}")


def _clean(answer: object) -> None:
    written = repr(dataclasses.asdict(answer) if dataclasses.is_dataclass(answer) else answer).lower()
    pieces = [text[i : i + 3] for text in (CANARY.lower(), NUMBER) for i in range(len(text) - 2)]
    # Three letters or digits in a row are enough to tell; places and counts of this test are smaller numbers.
    assert [piece for piece in pieces if piece in written] == []


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("label", [None, *NAMES])
def test_answers_hold_no_text(surface: str, label: str | None) -> None:
    text = f"The note of {surface} says: {surface}. {surface.upper()}"
    start, end = 12, 12 + len(surface)
    masks = [(start, start + 3)]
    _clean(category_of_miss(text, start, end, label=label, same=masks))
    _clean(category_of_miss(text, start, end, label=label))
    _clean(category_of_false_alarm(text, start, end))
    _clean(partial_leak(text, start, end, label=label, masks=masks))
    _clean(residue(text, [Masked(start, end, label)], [(start, end)]))


@pytest.mark.parametrize("surface", SURFACES)
def test_shapes_hashes_and_groups_hold_no_text(surface: str) -> None:
    _clean(shape(surface))
    _clean(coarse_shape(surface))
    _clean(document_shape(f"of {surface}", [Span(3, 9, "name_patient")], []))
    _clean(group_mentions([0, 0], [surface, surface], ["NAME", "GEO"], entity=[None, surface]))
    key = b"a key of sixteen or more bytes"
    hashed = keyed_hash(surface, key)
    assert surface.lower() not in hashed and key.hex() not in hashed


def test_errors_hold_no_text() -> None:
    for call in (
        lambda: keyed_hash(CANARY, b"short"),
        lambda: safe_harbor({"ssn": ([1], [2])}),
        lambda: group_mentions([0], [CANARY], ["NAME"], entity=[CANARY]).is_kind("none"),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert CANARY.lower() not in str(caught.value).lower()
