"""Which texts are marked as not looking English: sentences of many languages by hand, generated notes, real corpora."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import unicodedata
import zipfile
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.places import DATA
from workup.corpora.generate.notes.corpus import generate
from workup.documents.language import count_uncertain, language_of
from workup.lexicon.sources import everyday_words
from workup.text.wordlists import function_words, other_languages

ENGLISH = {
    "running": "HISTORY OF PRESENT ILLNESS: The patient is a 54-year-old woman with hypertension who was brought to "
    "the emergency department after two days of chest pain. She denies fever. Troponin was normal. We will follow her.",
    "telegraphic": "Lungs clear bilaterally. Abdomen soft, nontender. No edema. Negative rash, negative jaundice.",
    "lower case": "pt c/o sob x3d, no cp, afebrile, lungs ctab, cxr neg, d/c home, f/u pcp 1 wk",
    "doses": "Metformin 500 mg PO BID\nLisinopril 10 mg PO daily\nAtorvastatin 40 mg PO qHS\nASA 81 mg PO daily\n"
    "Furosemide 20 mg IV TID\nPantoprazole 40 mg IV\nEnoxaparin 40 mg SC\nOndansetron 4 mg IM PRN\nCeftriaxone 1 g IV",
    "drug names": "Metformin, lisinopril, atorvastatin, amlodipine, furosemide, pantoprazole, enoxaparin, ondansetron, "
    "ceftriaxone, vancomycin, warfarin, apixaban, sertraline, gabapentin, levothyroxine, montelukast, tamsulosin",
    "laboratory": "WBC 7.2  Hgb 13.1  Hct 39.2  Plt 210\nNa 138  K 4.1  Cl 102  CO2 24  BUN 14  Cr 0.9  Glu 101",
    "names": "Pt: Maria de la Cruz Peña. PCP: Dr. van der Berg. Seen with her son José Luis de los Santos.",
    "address": "Lives at 12 Avenida de la Paz, Los Angeles. Transferred from Hospital San Juan de Dios.",
    "latin": "Status post fall. Labs pending. Rx: amoxicillin po tid x 10 d. NPO. Dx: diabetes mellitus, tinea pedis.",
    "search": "troponin trend",
    "one word": "Hypertension",
    "foreign name alone": "José Müller",
    "numbers": "120/80",
    "nothing": "",
    "blank": " \n\t",
}
OTHERS = {
    "Spanish": "Paciente varón de 54 años que acude a urgencias por dolor torácico de dos días. No refiere fiebre.",
    "German": "Der Patient wurde mit Brustschmerzen in die Notaufnahme gebracht. Er war in der Klinik und hat Fieber.",
    "French": "Le patient est admis aux urgences pour une douleur thoracique. On a noté que son état est stable.",
    "Dutch": "De patiënt werd opgenomen met pijn op de borst en had in het verleden een infarct. Hij was stabiel.",
    "Italian": "Il paziente è stato ricoverato per dolore toracico. Non ha febbre e non fuma da dieci anni.",
    "Portuguese": "O paciente foi internado com dor no peito. Não tem febre e não fuma há dez anos.",
    "Polish": "Pacjent został przyjęty do szpitala z powodu bólu w klatce piersiowej. Nie gorączkuje od wczoraj.",
    "Swedish": "Patienten lades in på avdelningen efter två dagar med smärta i bröstet och har inte haft feber.",
    "Vietnamese": "Bệnh nhân nhập viện vì đau ngực trong hai ngày và không có sốt. Tình trạng hiện nay ổn định.",
    "Tagalog": "Ang pasyente ay dinala sa ospital dahil sa pananakit ng dibdib at hindi siya nilalagnat ngayon.",
    "Haitian Creole": "Pasyan an te antre lopital paske li te gen doulè nan pwatrin li, men li pa gen lafyèv kounye a.",
    "Russian": "Пациент поступил с болью в груди, лихорадки нет.",
    "Chinese": "患者因胸痛两天入院，无发热。",
    "Arabic": "دخل المريض المستشفى بسبب ألم في الصدر منذ يومين.",
    "German list": "Diagnosen: Hypertonie, Zustand nach Myokardinfarkt und Vorhofflimmern. Weiter mit ASS.",
    "French list": "Antécédents: hypertension, diabète de type 2, infarctus du myocarde avec pose de stent en 2015.",
    "Swahili, without a list": "Mgonjwa alilazwa hospitalini kwa sababu ya maumivu ya kifua kwa siku mbili. Hana homa "
    "wala kikohozi. Alipewa dawa nyumbani lakini hakupata nafuu yoyote.",
}
INSTRUCTIONS = """Instrucciones para el alta: tome sus medicamentos todos los días y no deje de tomarlos aunque se
sienta mejor. Llame a la clínica si tiene fiebre, dolor en el pecho o dificultad para respirar, y vaya a la sala de
urgencias si los síntomas no mejoran. Tiene una cita con el médico dentro de dos semanas; traiga la lista de
todas las medicinas que toma."""


@pytest.mark.parametrize("name", ENGLISH)
def test_english_however_short_or_telegraphic_is_not_marked(name: str) -> None:
    for text in (ENGLISH[name], ENGLISH[name].lower(), ENGLISH[name].upper()):
        assert language_of(text) == "english"


@pytest.mark.parametrize("name", OTHERS)
def test_other_languages_are_marked(name: str) -> None:
    for text in (OTHERS[name], OTHERS[name].lower(), OTHERS[name].upper()):
        assert language_of(text) == "uncertain"


@pytest.mark.parametrize("name", ["Spanish", "German", "French", "Portuguese", "French list"])
def test_accents_lost_on_the_way_are_no_excuse(name: str) -> None:
    plain = unicodedata.normalize("NFD", OTHERS[name]).encode("ascii", "ignore").decode()
    assert language_of(plain) == "uncertain"


def test_a_passage_in_another_language_marks_an_english_note() -> None:
    note = ENGLISH["running"] * 20
    assert language_of(note) == "english"
    assert language_of(note + "\n" + INSTRUCTIONS + "\n" + note) == "uncertain"
    assert language_of(f'{note} She said "no me duele" and pointed to her chest. {note}') == "english"
    assert language_of(f"{note}\n{OTHERS['Chinese'] * 4}\n{note}") == "uncertain"


def test_names_of_many_origins_in_a_note_are_no_evidence() -> None:
    staff = "Seen by Dr. van der Berg, Dr. de la Cruz, Dr. von der Leyen, Dr. dos Santos, Dr. del Rio and Dr. El Amin. "
    assert language_of(ENGLISH["telegraphic"] + " " + staff) == "english"
    assert language_of("α1-antitrypsin deficiency; β-blocker held; 5 µg given") == "english"


def test_marked_texts_are_counted() -> None:
    assert count_uncertain([*ENGLISH.values(), *OTHERS.values()]) == len(OTHERS)


def test_generated_notes_of_every_kind_are_english() -> None:
    kinds = product(("short", "medium", "long"), ("low", "high"), ("none", "high"))
    notes = [
        note.text
        for seed, (length, density, ambiguity) in enumerate(kinds, start=4100)
        for note in generate(12, seed=seed, length=length, density=density, ambiguity=ambiguity).documents()
    ]
    assert len(notes) == 144
    assert count_uncertain(notes) == count_uncertain(map(str.lower, notes)) == 0


def test_english_function_words_are_single_lower_case_and_no_words_of_others() -> None:
    assert len(function_words()) > 100
    assert all(word.isalpha() and word == word.lower() for word in function_words())
    assert not function_words() & {"a", "no", "me", "he", "in", "is", "of", "was"}
    assert not function_words() & other_languages().any_language


def test_word_lists_are_those_recorded_and_hold_few_english_words() -> None:
    data = files("workup.text") / "data"
    (name, record), *rest = json.loads((data / "provenance.json").read_text(encoding="utf-8"))["files"].items()
    text = (data / name).read_bytes()
    assert not rest and hashlib.sha256(text).hexdigest() == record["sha256_of_text"]
    assert record["licence"].startswith("MIT") and record["rows"] == 1 + len(other_languages().by_language)
    assert {"es", "de", "fr", "it", "pt", "nl"} < other_languages().by_language.keys()
    assert all(len(words) > 50 for words in other_languages().by_language.values())
    assert len(other_languages().any_language & everyday_words()) < 30


@given(st.text(max_size=60), st.sampled_from([" ", "\n", "-", "\u00a0"]))
def test_any_text_has_an_answer_that_blanks_do_not_change(text: str, between: str) -> None:
    assert language_of(text) in ("english", "uncertain")
    assert language_of(between + text + between) == language_of(text)


def test_half_a_surrogate_pair_is_no_obstacle() -> None:
    assert language_of("\ud800 the patient and the nurse") == "english"


def _columns(path: Path, *names: str) -> list[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        texts = {row[name] for row in csv.DictReader(file) for name in names}
    return sorted(text for text in texts if text.strip())


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("paths", "columns"),
    [
        (["mtsamples/mtsamples.csv.gz"], ["transcription"]),
        (["mtsamples/mtsamples.csv.gz"], ["description"]),
        (["aci_bench/train.csv", "aci_bench/valid.csv"], ["dialogue", "note"]),
        (["mts_dialog/MTS-Dialog-TrainingSet.csv"], ["dialogue", "section_text"]),
    ],
)
def test_real_english_notes_and_dialogues(paths: list[str], columns: list[str]) -> None:
    texts = [text for path in paths for text in _columns(DATA / path, *columns)]
    assert len(texts) > 100
    assert count_uncertain(texts) <= len(texts) / 200
    assert count_uncertain(map(str.lower, texts)) <= len(texts) / 200


@pytest.mark.real_data
def test_real_spanish_cases() -> None:
    with zipfile.ZipFile(DATA / "meddocan" / "meddocan_brat.zip") as archive:
        cases = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".txt")]
    assert len(cases) == 1000
    assert count_uncertain(cases) >= 990 and count_uncertain(map(str.lower, cases)) >= 990


@pytest.mark.real_data
def test_real_judgments_with_foreign_names_and_laws_are_english() -> None:
    lines = (DATA / "tab" / "tab.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    paragraphs = [paragraph for text in texts for paragraph in text.split("\n") if len(paragraph.split()) >= 5]
    assert len(texts) == 72 and count_uncertain(texts) == 0
    assert count_uncertain(paragraphs) <= len(paragraphs) / 200
