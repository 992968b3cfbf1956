"""Masked values that are visible elsewhere: in any case and spacing, never across a mask, never by chance."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.documents.residue import Masked, Residue, residue


def search(marked: str, label: str | None = "name_patient", *, also: str = "") -> tuple[Residue, list[tuple[str, str]]]:
    """A note with masked golds in [brackets] and golds left visible in {braces}; what was found, as text and kind."""
    text, golds, masks, opened = "", [], [], 0
    for piece in re.split(r"([\[\]{}])", marked):
        if piece in ("[", "{"):
            opened = len(text)
        elif piece in ("]", "}"):
            golds.append(Masked(opened, len(text), label))
            if piece == "]":
                masks.append((opened, len(text)))
        else:
            text += piece
    found = residue(text, golds, masks)
    return found, [(text[place.start : place.end], place.kind) for place in found.places]


@pytest.mark.parametrize(
    ("marked", "label", "expected"),
    [
        # Case, spacing, hyphens, accents.
        ("[Ann Hendrix] saw ann hendrix", "name_patient", [("ann hendrix", "whole")]),
        ("[Ann Hendrix] saw ANN  HENDRIX", "name_patient", [("ANN  HENDRIX", "whole")]),
        ("[Ann Hendrix] saw Ann-Hendrix", "name_patient", [("Ann-Hendrix", "whole")]),
        ("[Ann Hendrix] saw annhendrix", "name_patient", [("annhendrix", "whole")]),
        ("[Ann Hendrix] saw A n n Hendrix", "name_patient", [("A n n Hendrix", "whole")]),
        ("[annhendrix] saw Ann\nHendrix", "username", [("Ann\nHendrix", "whole")]),
        ("[José Ñandú] saw Jose Nandu", "name_patient", [("Jose Nandu", "whole")]),
        ("[123-45-6789] or 123 45 6789", "ssn", [("123 45 6789", "whole")]),
        ("[123-45-6789] or 123456789", "ssn", [("123456789", "whole")]),
        # Words of a value.
        ("[Ann Hendrix] saw Mrs Hendrix", "name_patient", [("Hendrix", "token")]),
        ("[Ann Hendrix] saw Hendrix, Ann", "name_patient", [("Hendrix", "token"), ("Ann", "token")]),
        ("[Hendrix, Ann] saw Hendrixson", "name_patient", []),
        ("[jane.hendrix@example.org] or hendrix", "email", [("hendrix", "token")]),
        ("[415-555-0123] ends in 0123", "phone", [("0123", "token")]),
        ("[415-555-0123] took 555 mg", "phone", []),
        ("[3 March 2020] in 2020, in March", "date", []),
        ("[software engineer] like an engineer", "profession", []),
        ("[Mercy General Hospital] is a hospital", "facility", []),
        ("[Benefits Review Panel] on benefits, a review", "org_other", []),
        ("[Hopkins Hospital] said Hopkins did, hopkins", "facility", [("Hopkins", "token")]),
        ("[Nos. 12345/89] with nos of others", "id_other", []),
        ("[Ref AB1234 X] with ab1234", "mrn", [("ab1234", "token")]),
        ("[12 Oakley Street] near Oakley and the street", "street_address", [("Oakley", "token")]),
        # Names that are words count where they look like names.
        ("[Ann Rose] said Rose came", "name_patient", [("Rose", "token")]),
        ("[Ann Rose] rose. Rose came", "name_patient", []),
        ("[Rose] said that Rose came", "name_patient", [("Rose", "whole")]),
        ("[ROSE] said that Rose came", "name_patient", [("Rose", "whole")]),
        ("[Rose] SAID THAT ROSE CAME", "name_patient", []),
        ("[Will Hendrix] will go", "name_patient", []),
        ("[Rose Hendrix] or rose hendrix", "name_patient", [("rose hendrix", "whole")]),
        # Short numbers only in their own form.
        ("[12/5] or 125 or 12.5 or 12/50 or 3-12/5", "date", []),
        ("[12/5] or 12/5.", "date", [("12/5", "whole")]),
        ("[94110] or 94110-1234", "zip", [("94110", "whole")]),
        ("[94110] or 94110.5 or 1,94110 or x94110", "zip", []),
        ("[94110] or (94110)", "zip", [("94110", "whole")]),
        ("[10:30] or 10:30:15", "time", []),
        # Not worth a search.
        ("[44] and 44", "age_under_90", []),
        ("[MA] and MA", "state", []),
        ("[March] and March", "date", []),
    ],
)
def test_what_turns_up_again(marked: str, label: str, expected: list[tuple[str, str]]) -> None:
    assert search(marked, label)[1] == expected


def test_counts_of_values() -> None:
    found, _ = search("[Ann Hendrix], [Bo Hendrix], [ANN HENDRIX], [Eve Zorn], [Al]. Mr Hendrix, bo hendrix.")
    # Three values: Ann is masked twice and counts once; Al is too short to be looked for.
    assert (found.searched, found.unsearched) == (3, 1)
    assert (found.found_whole, found.found_in_part) == (1, 1)
    assert [(place.kind, place.gold) for place in found.places] == [("token", 0), ("whole", 1)]


def test_a_place_on_a_gold_is_a_miss_that_is_known() -> None:
    found, texts = search("[Ann Hendrix] then {Ann Hendrix} then Ann Hendrix")
    assert [text for text, _ in texts] == ["Ann Hendrix", "Ann Hendrix"]
    assert [place.known for place in found.places] == [True, False]


def test_nothing_is_found_under_a_mask_or_across_one() -> None:
    assert search("[Ann Hendrix] and [Ann Hendrix]")[1] == []
    text = "Ann Hendrix. Ann Xyz Hendrix"
    found = residue(text, [Masked(0, 11, "username")], [(0, 11), (17, 20)])
    # The two visible words stand beside each other once the one between is masked, but that one was there.
    assert [(place.kind, text[place.start : place.end]) for place in found.places] == [
        ("token", "Ann"),
        ("token", "Hendrix"),
    ]
    far = residue("Ann Hendrix. Ann .... Hendrix", [Masked(0, 11, "name_patient")], [(0, 11)])
    assert [place.kind for place in far.places] == ["token", "token"]


def test_only_what_was_masked_is_searched() -> None:
    text = "Ann Hendrix saw Ann and Hendrix"
    gold = [Masked(0, 11, "name_patient")]
    assert residue(text, gold, []) == Residue(0, 0, 0, 0, ())
    assert [text[p.start : p.end] for p in residue(text, gold, [(4, 11)]).places] == ["Hendrix"]
    # Masked word by word, with the blank left: still one value.
    assert residue(text, gold, [(4, 11), (0, 3)]).searched == 1
    # A mask that is on no gold hides nothing that must be hidden.
    assert residue(text, gold, [(12, 15)]).searched == 0


def test_masks_outside_the_text_and_long_passages_do_no_harm() -> None:
    text = "Ann Hendrix " + "word " * 100 + "Ann Hendrix"
    found = residue(text, [Masked(0, 11, "name_patient"), Masked(12, 512, "misc")], [(-5, 11), (12, 512), (900, 950)])
    assert found.found_whole == 1 and found.searched == 2
    assert residue("", [], []) == Residue(0, 0, 0, 0, ())


def test_many_values_are_found_as_few_are() -> None:
    names = [f"Qx{i:03d}a Zz{i:03d}b" for i in range(150)]
    text = " ; ".join(names) + "\n" + " , ".join(name.upper() for name in names)
    golds, at = [], 0
    for name in names:
        golds.append(Masked(at, at + len(name), "name_patient"))
        at += len(name) + 3
    masks = [(gold.start, gold.end) for gold in golds]
    found = residue(text, golds, masks)
    assert (found.searched, found.found_whole, found.found_in_part) == (150, 150, 0)
    one = residue(text, golds[:1], masks)
    assert one.found_whole == 1 and one.places == found.places[:1]


names = st.from_regex(r"[A-Z][bcdfgkz][a-z]{2,6}", fullmatch=True)
words = st.lists(st.sampled_from(["the", "patient", "was", "seen", "for", "pain;", "(cough)", "9.5", "–"]), max_size=6)


@given(names, names, words, words, st.sampled_from([" ", "  ", "-", "", "\n", "_", ", "]), st.sampled_from("lus"))
def test_a_planted_value_is_found(
    first: str, last: str, before: list[str], between: list[str], gap: str, case: str
) -> None:
    planted = first + gap + last
    planted = {"l": planted.lower(), "u": planted.upper(), "s": planted.swapcase()}[case]
    opening = " ".join([*before, ""])
    middle = " ".join(["", *between, ""])
    masked = f"{first} {last}"
    text = opening + masked + middle + planted + " today"
    gold = Masked(len(opening), len(opening) + len(masked), "name_patient")
    found = residue(text, [gold], [(gold.start, gold.end)])
    place = len(opening) + len(masked) + len(middle)
    assert (place, place + len(planted), "whole") in [(one.start, one.end, one.kind) for one in found.places]
    assert found.found_whole == 1


@given(st.text(max_size=80), st.lists(st.tuples(st.integers(0, 80), st.integers(1, 15)), max_size=5), st.data())
def test_any_text_gets_an_answer_that_holds_together(
    text: str, spans: list[tuple[int, int]], data: st.DataObject
) -> None:
    golds = [Masked(a, min(a + size, len(text)), "name_patient") for a, size in spans if a < len(text)]
    masks = data.draw(st.lists(st.sampled_from([(gold.start, gold.end) for gold in golds] or [(0, 0)]), max_size=4))
    found = residue(text, golds, masks)
    hidden = {place for a, b in masks for place in range(a, b)}
    assert found.found_whole + found.found_in_part <= found.searched
    assert bool(found.places) == bool(found.found_whole + found.found_in_part)
    for place in found.places:
        assert 0 <= place.start < place.end <= len(text)
        assert not hidden.intersection(range(place.start, place.end))
        assert 0 <= place.gold < len(golds)
