"""Rules and tagger together: who wins, what is said, and what happens where the tagger cannot run."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tiny_tagger import write
from workup.deid import Deidentifier, Finding
from workup.deid.fusion.chances import Chances, log_odds
from workup.deid.fusion.fusion import is_strong
from workup.deid.fusion.leaves import Leaves
from workup.deid.settings import load
from workup.deid.tagger.encoding import LABELS
from workup.deid.text_view import Page
from workup.documents.labels import SCHEME
from workup.errors import InputError
from workup.systems.spans.native import Native
from workup.testing import check_system

KINDS = {"zyx": "B-NAME", "qorvin": "I-NAME", "quux": "B-GEO", "asthma": "B-NAME", "ada": "B-NAME"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("tagger") / "model", KINDS)


@pytest.fixture(scope="module")
def both(folder: Path) -> Deidentifier:
    return Deidentifier.load(tagger="on", model=folder)


def found(deid: Deidentifier, text: str) -> dict[str, Finding]:
    return {text[one.start : one.end]: one for one in deid.detect([text])[0]}


def test_what_the_tagger_alone_finds_is_told_as_such(both: Deidentifier) -> None:
    text = "seen with zyx qorvin, home in quux"
    assert not found(Deidentifier.load(tagger="off"), text)
    one = found(both, text)["zyx qorvin"]
    assert one.rule == "tagger.name" and one.evidence == ("tagger 1.00",) and one.label == "name_patient"
    assert found(both, text)["quux"].label == "city"


def test_strong_evidence_of_a_rule_is_never_outweighed(both: Deidentifier) -> None:
    text = "Dr. Emily Jones saw Patient: Mary Hall, MRN: 00-41-77, NPI 1234567893, at 617-555-0142."
    alone = found(Deidentifier.load(tagger="off"), text)
    assert found(both, text).keys() == alone.keys()


def test_a_strong_rule_wins_on_what_it_is(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "model", {"77": "B-PHONE", "41": "I-PHONE", "00": "I-PHONE", "mrn": "I-PHONE", "-": "I-PHONE"}
    )
    deid = Deidentifier.load(tagger="on", model=folder)
    assert found(deid, "MRN: 00-41-77.")["00-41-77"].label == "mrn"


def test_a_weak_guess_of_a_rule_can_be_outweighed(both: Deidentifier) -> None:
    text = "Walked beside Emily Jones for a while."
    assert "Emily Jones" in found(Deidentifier.load(tagger="off"), text)
    assert not found(both, text)


def test_agreement_is_told(both: Deidentifier) -> None:
    one = found(both, "Dr. Ada saw him.")["Ada"]
    assert one.label == "name_provider" and "tagger 1.00" in one.evidence
    assert found(both, "Dr. Ada qorvin saw him.")["Ada qorvin"].label == "name_provider"


def test_a_clinical_term_is_weighed_as_one(both: Deidentifier) -> None:
    assert not found(both, "he has asthma")


def test_a_mention_found_once_is_found_again(both: Deidentifier) -> None:
    text = "Seen with zyx qorvin. ZQorvin wrote the note."
    assert found(both, text)["ZQorvin"].rule == "again.handle" and "ZQorvin" not in found(both, text[21:])


def test_words_that_the_user_allows_stay(folder: Path) -> None:
    deid = Deidentifier.load({"allow": ["Quux"]}, tagger="on", model=folder)
    assert not found(deid, "home in quux")
    deid = Deidentifier.load({"without": ["tagger.geo"]}, tagger="on", model=folder)
    assert not found(deid, "home in quux")


def test_names_that_the_user_lists_are_not_outweighed(folder: Path) -> None:
    deid = Deidentifier.load({"names": ["Wibble"], "deny": {"employer": ["Acme Mill"]}}, tagger="on", model=folder)
    assert {"Wibble", "Acme Mill"} <= found(deid, "Saw Wibble of Acme Mill.").keys()


def test_caution_shifts_what_is_masked(folder: Path) -> None:
    text = "Walked beside Emily Jones for a while, home in quux."
    bold, wary = (Deidentifier.load(tagger="on", model=folder, caution=by) for by in (-9.0, 9.0))
    assert not found(bold, text) and any("Emily Jones" in words for words in found(wary, text))
    assert bold.version != wary.version


def test_answers_hang_neither_on_order_nor_on_company(both: Deidentifier) -> None:
    texts = ["seen with zyx qorvin", "", "home in quux " * 300, "Dr. Ada"]
    together = both.detect(texts)
    assert together == [both.detect([text])[0] for text in texts]
    assert together == both.detect(texts[::-1])[::-1]


@pytest.mark.parametrize("text", ["", "\ud800", "\u0301" * 9, "患者 zyx", "Jose\u0301 zyx\u0301", "مرحبا zyx"])
def test_offsets_in_any_script(both: Deidentifier, text: str) -> None:
    for one in both.detect([text])[0]:
        assert 0 <= one.start < one.end <= len(text)
        assert text[one.start : one.end].casefold().startswith("zyx")


def test_auto_falls_back_to_rules_and_says_so(tmp_path: Path, folder: Path) -> None:
    broken = write(tmp_path / "model", KINDS)
    (broken / "vocab.txt").write_text("changed", encoding="utf-8")
    with pytest.warns(UserWarning, match="rules worked alone"):
        deid = Deidentifier.load(model=broken)
    assert not deid.tagged and "tagger" not in deid.version and "damaged or changed" in deid.notes[0]
    with pytest.raises(InputError, match="damaged or changed"):
        Deidentifier.load(tagger="on", model=broken)
    assert not Deidentifier.load(tagger="off", model=broken).notes
    assert Deidentifier.load(model=folder).tagged


def test_a_table_fitted_for_another_tagger_is_refused(tmp_path: Path) -> None:
    other = write(tmp_path / "model", KINDS)
    table = json.loads((other / "fusion.json").read_text())
    for wrong in ({**table, "fitted_for": "0" * 64}, {"curves": {}}, {"curves": {**table["curves"], "name": [1]}}, {}):
        (other / "fusion.json").write_text(json.dumps(wrong))
        with pytest.raises(InputError, match=r"fusion\.json"):
            Deidentifier.load(tagger="on", model=other)


@pytest.mark.parametrize("wrong", [{"tagger": "maybe"}, {"caution": float("nan")}, {"caution": 99}, {"threads": 0}])
def test_wrong_settings_are_refused(folder: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Deidentifier.load(model=folder, **{"tagger": "on", **wrong})


def opened(folder: Path, **settings: Any) -> Native:
    return Native(**{"name": "native", "base": folder.parent, "model": folder.name, **settings})


def test_as_a_system_under_test(folder: Path) -> None:
    system = opened(folder)
    check_system(system, task="spans", texts=["seen with zyx qorvin in quux", "Nothing."])
    assert "tagger " in system.version and "tagger " not in opened(folder, tagger=False).version
    assert opened(folder, tagger=True).version == opened(folder, tagger="on").version == system.version
    again = pickle.loads(pickle.dumps(system))
    assert (
        again.detect(["home in quux"])
        == system.detect(["home in quux"])
        != opened(folder, tagger="off").detect(["home in quux"])
    )
    (spans,) = opened(folder, policy="hipaa_safe_harbor").detect(["zyx in quux"])
    assert spans is not None and {span.label for span in spans} == {"name_patient", "city"}


def test_a_system_that_falls_back_notes_it(tmp_path: Path) -> None:
    broken = write(tmp_path / "model", KINDS)
    (broken / "card.json").unlink()
    assert "rules worked alone" in opened(broken).notes[0]
    with pytest.raises(InputError):
        opened(broken, model="absent")


def test_rules_alone_load_no_runtime() -> None:
    code = (
        "import sys; from workup.deid import Deidentifier; Deidentifier.load(tagger='off').detect(['Dr. Ada Berg']); "
        "print({'onnxruntime', 'tokenizers', 'workup.deid.tagger.model'} & set(sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        == "set()"
    )


@given(st.floats(0, 1))
def test_log_odds_are_bounded_and_rise(share: float) -> None:
    assert -5 <= log_odds(share) <= 5 and log_odds(share) <= log_odds(min(1.0, share + 0.01))


def test_kinds_lean_on_wider_ones() -> None:
    table = Chances({"rules": [0, 1, 0], "tagger": [5, 0, 0], "name": [1, 0, 0]})
    assert [table.of_find(kind, 2.0, 0.0) for kind in ("name.single", "city.weak", "tagger.GEO.agreed")] == [1, 2, 5]
    assert table.knows("name.single") and not table.knows("ward.band")


@pytest.mark.parametrize(
    ("label", "text", "leaf"),
    [
        ("NAME", "nurse |", "name_provider"),
        ("NAME", "her daughter |", "name_relative"),
        ("GEO", "in |02139", "zip"),
        ("GEO", "|Ohio", "state"),
        ("GEO", "|France", "country"),
        ("GEO", "|Kent County", "county"),
        ("ORG", "|Elm Clinic", "facility"),
        ("ORG", "|Elm Inc", "employer"),
        ("DATE", "|2019", "year_only"),
        ("DATE", "born |3 May 1950", "date_birth"),
        ("DATE", "|9:30 pm", "time"),
        ("DATE", "|last Tuesday", "date_relative"),
        ("AGE", "|93", "age_over_89"),
        ("PHONE", "fax |555-0142", "fax"),
        ("ID", "chart |A77", "mrn"),
        ("QUASI", "|Albanian", "nationality_religion_politics"),
    ],
)
def test_the_leaf_of_a_span_is_read_from_its_words(label: str, text: str, leaf: str) -> None:
    page = Page(text.replace("|", "") + ("Wibble" if text.endswith("|") else ""))
    assert Leaves(load()).of(label, page, text.index("|"), len(page.text)) == leaf


@given(st.sampled_from(LABELS), st.text(max_size=20))
def test_every_span_has_a_leaf(label: str, text: str) -> None:
    page = Page(text)
    assert Leaves(load()).of(label, page, 0, len(text)) in SCHEME


def test_what_is_strong() -> None:
    assert is_strong(Finding(0, 1, "name_patient", 0.9, "name.title", ("title",)))
    assert is_strong(Finding(0, 1, "mrn", 0.9, "label.mrn", ("label", "word")))
    assert not is_strong(Finding(0, 1, "name_patient", 0.6, "name.single", ("single",)))
