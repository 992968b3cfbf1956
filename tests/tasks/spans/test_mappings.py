"""Mappings: every shipped table is whole, exact names only, and files that teach when they are wrong."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.support.places import DATA, ROOT
from workup.documents.document import Span
from workup.documents.labels import CODE, NAMES
from workup.documents.mappings import LabelMapping, coded, joined, shipped
from workup.errors import InputError, StudyError
from workup.files.yaml_files import read_yaml

FOLDER = ROOT / "src" / "workup" / "documents" / "data"

I2B2 = (
    "PATIENT DOCTOR USERNAME PROFESSION ROOM DEPARTMENT HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP "
    "LOCATION-OTHER AGE DATE PHONE FAX EMAIL URL IPADDR SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE "
    "BIOID IDNUM"
)
VULPES = (
    "NAME SSN ADDRESS ZIPCODE DATE AGE_90_PLUS PHONE FAX EMAIL MRN HEALTH_PLAN_ID ACCOUNT_NUMBER LICENSE VIN "
    "LICENSE_PLATE DEVICE_ID IP URL CREDIT_CARD"
)


def test_what_is_shipped() -> None:
    assert shipped("mappings") == [
        *("google_dlp", "hipaa", "i2b2_2014", "meddocan", "ontonotes", "presidio", "presidio_synth", "scrubadub"),
        *("subtypes", "tab", "vulpes", "wikiner", "workup"),
    ]


@pytest.mark.parametrize("name", shipped("mappings"))
def test_every_shipped_mapping_is_whole(name: str) -> None:
    mapping = LabelMapping.load(name)
    assert mapping.name == name and mapping.source
    assert set(mapping.labels.values()) <= set(NAMES)
    # No label is written twice: the reader of users' files refuses that, the fast reader would not see it.
    content, _ = read_yaml(FOLDER / "mappings" / f"{name}.yaml")
    assert content["labels"] == mapping.labels
    # A canonical name means itself in every shipped table, so that spans once mapped may be mapped again.
    assert [mapping.of(one).name for one in NAMES] == list(NAMES)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("scheme", "labels"),
    [
        ("i2b2_2014", I2B2),
        ("vulpes", VULPES),
        ("tab", "PERSON CODE LOC ORG DEM DATETIME QUANTITY MISC"),
        (
            "ontonotes",
            "PERSON NORP GPE LOC FAC ORG DATE TIME CARDINAL MONEY ORDINAL PERCENT QUANTITY EVENT LANGUAGE LAW PRODUCT "
            "WORK_OF_ART",
        ),
        ("wikiner", "PER LOC ORG MISC"),
        ("hipaa", "A B C D E F G H I J K L M N O P Q R"),
        ("subtypes", "PATIENT_NAME DOCTOR_NAME FAMILY_NAME DOB ADMISSION_DATE DISCHARGE_DATE IDENTIFIER"),
    ],
)
def test_inventories(scheme: str, labels: str) -> None:
    assert sorted(LabelMapping.load(scheme).labels) == sorted(labels.split())


@pytest.mark.parametrize(
    ("scheme", "label", "name"),
    [
        ("i2b2_2014", "DOCTOR", "name_provider"),
        ("i2b2_2014", "LOCATION-OTHER", "GEO"),
        ("tab", "CODE", "ID"),
        ("tab", "DEM", "QUASI"),
        ("presidio", "LOCATION", "GEO"),
        ("presidio", "US_MBI", "health_plan_id"),
        ("presidio", "MEDICAL_LICENSE", "license_provider"),
        ("presidio", "NRP", "nationality_religion_politics"),
        ("vulpes", "AGE_90_PLUS", "age_over_89"),
        ("meddocan", "ID_TITULACION_PERSONAL_SANITARIO", "license_provider"),
        ("ontonotes", "FAC", "GEO"),
        ("ontonotes", "TIME", "time"),
        ("ontonotes", "CARDINAL", "quantity"),
        ("scrubadub", "national_insurance_number", "ssn"),
        ("scrubadub", "credential", "username"),
        ("hipaa", "H", "mrn"),
        ("hipaa", "J", "ID"),
        ("subtypes", "DOB", "date_birth"),
    ],
)
def test_labels_by_hand(scheme: str, label: str, name: str) -> None:
    found = LabelMapping.load(scheme).of(label)
    assert found is not None and found.name == name and found.is_coarse == name.isupper()
    assert found.at("leaf") == (None if name.isupper() else name)


def test_names_are_exact() -> None:
    presidio = LabelMapping.load("presidio")
    for near_miss in ("us_mbi", "US-MBI", "US_MBI ", "LOCATIONS", ""):
        assert presidio.of(near_miss) is None
    assert presidio.unmapped(["US_MBI", "us_mbi", "LOCATION", "?"]) == ["?", "us_mbi"]


def test_subtypes_refine_and_never_coarsen() -> None:
    vulpes = LabelMapping.load("vulpes")
    assert vulpes.of("DATE", subtype="DOB").name == "date_birth"  # type: ignore[union-attr]
    assert vulpes.of("MRN", subtype="IDENTIFIER").name == "mrn"  # type: ignore[union-attr]
    assert vulpes.of("NAME", subtype="nickname").name == "NAME"  # type: ignore[union-attr]
    assert vulpes.of("DATE", subtype="date_death").name == "date_death"  # type: ignore[union-attr]
    assert vulpes.of("SHOE", subtype="DOB") is None
    with pytest.raises(InputError, match="NAME and DATE"):
        vulpes.of("NAME", subtype="DOB")


def test_identifiers_as_tab_writes_them() -> None:
    tab = LabelMapping.load("tab")
    assert tab.of("PERSON", identifier="NO_MASK").identifier == "no_mask"  # type: ignore[union-attr]
    assert tab.of("PERSON", identifier="quasi").identifier == "quasi"  # type: ignore[union-attr]
    with pytest.raises(InputError, match="direct, quasi, no_mask or unknown"):
        tab.of("PERSON", identifier="maybe")
    with pytest.raises(InputError, match="under 'identifiers'"):
        LabelMapping.load("presidio").of("PERSON", identifier="DIRECT")


def test_codes_of_spans() -> None:
    spans = [
        Span(0, 1, "DATE", subtype="DOB"),
        Span(1, 2, "SHOE", identifier="quasi"),
        Span(2, 3, "SHOE"),
        Span(3, 4, "NAME", identifier="no_mask"),
    ]
    found = coded(spans, mapping=LabelMapping.load("vulpes"))
    assert found.canonical.tolist() == [CODE["date_birth"], -1, -1, CODE["NAME"]]
    assert found.identifier.tolist() == [-1, 1, -1, 2]
    assert dict(found.unmapped) == {"SHOE": 2}
    assert LabelMapping.load("vulpes").codes(["SSN", "SHOE"]).tolist() == [CODE["ssn"], -1]
    assert coded([], mapping=LabelMapping.load("tab")).canonical.shape == (0,)


def test_joined_mappings() -> None:
    both = LabelMapping.load("tab+presidio")
    assert both.name == "tab+presidio"
    assert [both.of(label).name for label in ("LOC", "LOCATION", "PERSON")] == ["GEO", "GEO", "NAME"]  # type: ignore[union-attr]
    one, other = LabelMapping("one", {"X": "city"}), LabelMapping("other", {"X": "date"})
    with pytest.raises(InputError, match="'X' as city and as date"):
        joined([one, other])
    assert joined([one]).labels == one.labels
    with pytest.raises(InputError, match="must have one rule of case"):
        joined([one, LabelMapping("third", {"Y": "date"}, case="ignore")])


def test_a_file_of_the_user(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text(
        "source: our handbook\nextends: i2b2_2014\ncase: ignore\n"
        "labels: {Pager: phone, DATE: date}\nunmapped: {ROOM: never used}\nsubtypes: {hotline: fax}\n"
    )
    ours = LabelMapping.load(file)
    assert ours.name == "ours" and ours.left_out == {"ROOM": "never used"}
    names = [None if (one := ours.of(label)) is None else one.name for label in ("PAGER", "date", "patient", "ROOM")]
    assert names == ["phone", "date", "name_patient", None]
    assert ours.of("pager", subtype="hotline").name == "fax"  # type: ignore[union-attr]
    file.write_text("source: changed\nlabels: {Pager: email}\n")
    assert LabelMapping.load(file).of("Pager").name == "email"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("source: s\nlabels: {X: name_pacient}\n", "did you mean 'name_patient'"),
        ("source: s\nlabels: {X: city}\nlables: {}\n", "did you mean 'labels'"),
        ("labels: {X: city}\n", "'source' is missing"),
        ("source: s\nlabels: {X: city, X: date}\n", "written twice"),
        ("source: s\ncase: ignore\nlabels: {X: city, x: date}\n", "case only"),
        ("source: s\nlabels: {X: city}\nunmapped: {X: why}\n", "at once: X"),
        ("source: s\nidentifiers: {D: directly}\nlabels: {X: city}\n", "identifiers.D"),
        ("source: s\nextends: own.yaml\nlabels: {X: city}\n", "extends itself"),
        ("- a\n", "expected a mapping of fields"),
    ],
)
def test_files_that_teach(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(content)
    with pytest.raises(StudyError, match=message):
        LabelMapping.load(file)


def test_unknown_mapping_answers_with_the_near_names() -> None:
    with pytest.raises(StudyError, match="did you mean 'presidio'"):
        LabelMapping.load("persidio")


@pytest.mark.real_data
def test_every_label_of_the_public_corpora_is_mapped() -> None:
    tab = [json.loads(line) for line in (DATA / "tab" / "tab.jsonl").read_text(encoding="utf-8").splitlines()]
    kinds = {(span["label"], span["identifier_type"]) for document in tab for span in document["spans"]}
    assert len({label for label, _ in kinds}) == 8 and len({kind for _, kind in kinds}) == 3
    assert all(LabelMapping.load("tab").of(label, identifier=kind) for label, kind in kinds)

    with zipfile.ZipFile(DATA / "meddocan" / "meddocan_brat.zip") as archive:
        lines = [line for name in archive.namelist() if name.endswith(".ann") for line in archive.open(name)]
    types = {line.decode().split("\t")[1].split(" ")[0] for line in lines if line.startswith(b"T")}
    assert len(types) == 22 and LabelMapping.load("meddocan").unmapped(types) == []

    sentences = json.loads((DATA / "presidio_synth" / "synth_dataset_v2.json").read_text(encoding="utf-8"))
    found = {span["entity_type"] for sentence in sentences for span in sentence["spans"]}
    assert found == set(LabelMapping.load("presidio_synth").labels)
