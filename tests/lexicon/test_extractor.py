"""What the extractor promises: exact places, the longest term, no overlap, and the same answer from both engines."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workup.errors import InputError, MissingExtra
from workup.lexicon import CATEGORIES, ENGINES, Extractor, Term
from workup.lexicon import extractor as extractor_module
from workup.lexicon.terms import normal_form
from workup.lexicon.words import cut, cut_any

EXTRACTOR = Extractor.load()

_SURFACES = (
    *("heart failure", "Heart", "failure", "chest pain", "PAIN", "MI", "mi", "K", "Na", "T", "BP", "E. coli", "D&C"),
    *("breast cancer", "beta-blocker", "Crohn’s disease", "Crohns disease", "type 2 diabetes mellitus", "ST"),
    *(
        "V/Q scan",
        "carbidopa/levodopa",
        "Ménière's disease",
        "İ",
        "ß",
        "é",
        "COVID-19",
        "x-ray",
        "12 lead EKG",
        "colon",
    ),
)
_GAPS = (
    " ",
    "-",
    "\n",
    "  ",
    " \n ",
    "\n\n",
    ". ",
    ", ",
    "/",
    " & ",
    "&",
    ": ",
    " 98.6 ",
    "=",
    "’s ",
    "",
    "_",
    "\0",
    "\u00ad",
)

texts = st.lists(st.tuples(st.sampled_from(_SURFACES) | st.text(max_size=6), st.sampled_from(_GAPS)), max_size=25).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)


def found(text: str) -> list[tuple[str, str]]:
    return [(text[term.start : term.end], term.concept) for term in EXTRACTOR.extract(text)]


@given(texts)
@example("")
@example("İİ heart failure İ")
def test_places_are_exact_ordered_and_apart(text: str) -> None:
    last = 0
    for term in EXTRACTOR.extract(text):
        assert last <= term.start < term.end <= len(text)
        words = normal_form(text[term.start : term.end], keep_case=True)
        assert term.surface in (words, words.lower())
        assert term.category in CATEGORIES
        before, after = text[term.start - 1 : term.start], text[term.end : term.end + 1]
        assert not before.isalnum() and not after.isalnum(), "a term inside a word"
        last = term.end


@cache
def by_automaton() -> Extractor:
    pytest.importorskip("ahocorasick_rs", reason="the engine 'ahocorasick' needs the extra 'lexicon'")
    return Extractor.load(engine="ahocorasick")


@given(texts)
def test_both_engines_agree(text: str) -> None:
    assert by_automaton().extract(text) == EXTRACTOR.extract(text)


@given(texts)
def test_the_fast_cut_is_the_defined_one(text: str) -> None:
    fast, defined = cut(text), cut_any(text)
    assert (fast.words, fast.starts) == (defined.words, defined.starts)
    assert len(defined.plain) == len(text)


@given(texts, st.sets(st.sampled_from(CATEGORIES), min_size=1))
def test_a_choice_of_categories_filters_and_changes_nothing(text: str, chosen: set[str]) -> None:
    kept = [term for term in EXTRACTOR.extract(text) if term.category in chosen]
    assert Extractor.load(categories=chosen).extract(text) == kept


def test_the_longest_term_wins_and_nothing_inside_it_is_told() -> None:
    assert found("acute congestive heart failure") == [("congestive heart failure", "heart failure")]
    assert Extractor.load(categories=["anatomy"]).extract("breast cancer") == []
    assert found("breast and lung") == [("breast", "breast"), ("lung", "lung")]


def test_a_shorter_term_is_found_where_the_longer_one_is_broken() -> None:
    assert found("pain in the heart. Failure to thrive.") == [
        ("pain", "pain"),
        ("heart", "heart"),
        ("Failure to thrive", "failure to thrive"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "heart failure",
        "Heart Failure",
        "HEART FAILURE",
        "heart-failure",
        "heart\nfailure",
        "heart  failure",
        "heart\n  failure",
    ],
)
def test_case_hyphens_and_line_ends_are_alike(text: str) -> None:
    assert found(text) == [(text, "heart failure")]


@pytest.mark.parametrize("gap", [". ", ", ", "\n\n", "; ", " - ", " / ", "(", "_"])
def test_a_stop_a_comma_or_an_empty_line_parts_a_term(gap: str) -> None:
    assert ("heart failure") not in [concept for _, concept in found(f"chest{gap}pain heart{gap}failure")]
    assert "chest pain" not in [concept for _, concept in found(f"chest{gap}pain")]


def test_abbreviations_keep_their_case() -> None:
    assert found("MI in 2019") == [("MI", "myocardial infarction")]
    assert found("two MIs") == [("MIs", "myocardial infarction")]
    assert found("do re mi") == []
    assert found("US citizens may add aids") == []
    assert found("copd and COPD") == [(word, "chronic obstructive pulmonary disease") for word in ("copd", "COPD")]


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("K 3.4", ["potassium"]),
        ("K+ of 3.4", ["potassium"]),
        ("Na: 138", ["sodium"]),
        ("T = 98.6", ["body temperature"]),
        ("Cr is 1.2", ["creatinine"]),
        ("Vitamin K deficiency", ["vitamin k deficiency"]),
        ("Special K for breakfast", []),
        ("Na and K", []),
        ("Mr. T was here", []),
        ("K.\n3 tablets", []),
        ("R\n2. Continue", []),
    ],
)
def test_short_letters_are_met_only_before_a_number(text: str, concepts: list[str]) -> None:
    assert [concept for _, concept in found(text)] == concepts


def test_stops_after_a_letter_and_strokes_in_drugs_join() -> None:
    assert found("E. coli") == [("E. coli", "escherichia coli")]
    assert found("H.pylori") == [("H.pylori", "helicobacter pylori")]
    assert found("carbidopa/levodopa") == [("carbidopa/levodopa", "carbidopa levodopa")]
    assert found("liver/spleen") == [("liver", "liver"), ("spleen", "spleen")]
    assert found("D&C") == found("D&C.") == [("D&C", "dilation and curettage")]
    assert found("Washington, D.C.") == []


def test_brand_and_generic_and_spellings_are_one_concept() -> None:
    for names, concept in (
        ("Tylenol, paracetamol, acetaminophen", "acetaminophen"),
        ("Crohn's disease, Crohn’s disease, Crohns disease, Crohn disease", "crohn s disease"),
        ("anemia, anaemia", "anemia"),
        ("biopsy, biopsies", "biopsy"),
        ("heart attack, MI, myocardial infarctions", "myocardial infarction"),
    ):
        assert [told for _, told in found(names)] == [concept] * len(names.split(",")), names


def test_things_that_differ_are_different_concepts() -> None:
    for pair in (
        "hypokalemia, hyperkalemia",
        "type 1 diabetes, type 2 diabetes",
        "hydrocodone, Percocet",
        "MRI, CT",
        "ALT 20, AST 20",
        "gentamicin, tobramycin",
        "melanoma, lymphoma",
    ):
        concepts = [concept for _, concept in found(pair)]
        assert len(set(concepts)) == 2, pair


def test_negation_is_not_handled_here() -> None:
    assert found("no fever") == [("fever", "fever")]


def test_unicode_offsets_are_code_points() -> None:
    text = "𝒜 😀 Ménière’s disease İ — fever"
    assert found(text) == [("Ménière’s disease", "meniere disease"), ("fever", "fever")]


def test_names_are_marked_or_left_out() -> None:
    assert [term.ambiguous for term in EXTRACTOR.extract("Burns, colon, pneumonia")] == [True, True, False]
    assert found("Will, May, Mark, Rose, April and Dr. Foley; Amber, Timothy, Florence, Whipple") == []


def test_work_grows_with_the_text_and_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    note = "Chronic acute left heart pain in the right lower leg, acute on chronic heart disease of the chest wall. "
    looks = 0
    real = extractor_module._met

    def counted(*arguments: object) -> Term | None:
        nonlocal looks
        looks += 1
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(extractor_module, "_met", counted)
    counts, hits = [], []
    for size in (250_000, 1_000_000):
        looks = 0
        hits.append(len(EXTRACTOR.extract(note * (size // len(note)))))
        counts.append(looks)
    assert counts[1] / counts[0] == pytest.approx(4, rel=0.01)
    assert hits[1] / hits[0] == pytest.approx(4, rel=0.01)
    assert counts[0] < 250_000 / 4, "fewer looks than words"


def test_a_wide_gap_parts_and_costs_nothing() -> None:
    assert found("heart" + " " * 40 + "failure")[0][1] == "heart failure"
    assert (
        found("heart" + " " * 200_000 + ", failure")
        == found("heart" + " " * 200_000 + "failure")
        == [("heart", "heart")]
    )


def test_many_texts_give_what_each_gives() -> None:
    notes = ["fever", "", "BP 120/80 and cough"]
    assert list(EXTRACTOR.extract_many(notes)) == [EXTRACTOR.extract(note) for note in notes]


def test_terms_of_the_user_win_and_change_the_version() -> None:
    own = Extractor.load(more={"drug": ["wonderdrug", "heart failure"], "lab": ["ZZ#"]})
    told = [(term.category, term.concept) for term in own.extract("Wonderdrug for heart failure, ZZ 4, ZZ top")]
    assert told == [("drug", "wonderdrug"), ("drug", "heart failure"), ("lab", "zz")]
    assert own.version != EXTRACTOR.version
    assert found("wonderdrug") == [], "the shipped vocabulary stays as it is"


def test_bad_arguments_are_told_in_one_sentence() -> None:
    with pytest.raises(InputError, match=r"categories must be .*; got 'diseases'\. To fix: did you mean 'disease'"):
        Extractor.load(categories=["diseases"])
    with pytest.raises(InputError, match="got none"):
        Extractor.load(categories=[])
    with pytest.raises(InputError, match="did you mean 'tokens'"):
        Extractor.load(engine="token")
    with pytest.raises(InputError, match="categories of more"):
        Extractor.load(more={"person": ["x"]})
    with pytest.raises(InputError, match="letters or digits"):
        Extractor.load(more={"drug": ["--"]})
    assert Extractor.load(categories="drug").categories == ("drug",)


def test_the_engine_behind_an_extra_is_named_when_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    with pytest.raises(MissingExtra, match=re.escape("'.[lexicon]'")):
        Extractor.load(engine="ahocorasick")
    assert ENGINES[0] == "tokens", "the default needs no extra"


def test_import_reads_no_vocabulary() -> None:
    code = "import sys, workup.lexicon.extractor as e; print(e._shipped.cache_info().currsize, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["0", "False"]


def test_size_of_the_choice() -> None:
    sizes = {category: len(Extractor.load(categories=[category])) for category in CATEGORIES}
    assert sum(sizes.values()) == len(EXTRACTOR)
    assert all(sizes.values())
