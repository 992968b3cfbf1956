"""Normal forms, variants and the notation of the hand-written lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.lexicon.terms import Concept, Surface, normal_form, plurals, read_list, variants
from workup.text.unicode import lowered, unaccented


@given(st.text())
def test_folding_keeps_every_place(text: str) -> None:
    assert len(unaccented(text)) == len(text) == len(lowered(text))


@given(st.text())
def test_a_normal_form_is_its_own(text: str) -> None:
    once = normal_form(text)
    assert normal_form(once) == once


def test_lists_are_read_as_noted() -> None:
    read = read_list("# a remark\nheart attack = MI = infarct; spleen\nMI; Na#")
    assert read == [
        Concept("heart attack", (Surface("heart attack"), Surface("MI", "e"), Surface("infarct"))),
        Concept("spleen", (Surface("spleen"),)),
        Concept("Na", (Surface("Na", "en"),)),
    ]


def test_a_concept_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="'liver' twice"):
        read_list("liver = hepar; liver = jecur")


def test_variants_do_not_turn_a_letter_into_a_plural() -> None:
    assert [form.words for form in variants(Surface("protein s"))] == ["protein s"]
    assert [form.words for form in variants(Surface("na", "n"))] == ["na"]
    assert list(plurals("hba1c")) == []
    assert [form.words for form in variants(Surface("aspirin"), plural=False)] == ["aspirin"]
