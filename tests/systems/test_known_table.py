"""Tables of known values: how they are read and refused, whose texts they reach, and what is never told."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import call
from workup.errors import InputError
from workup.systems.spans.known_table import read_known
from workup.systems.spans.native import Native

SECRETS = ("Quenneville", "Zbigniewa", "7451238899", "00918273", "Alderbrook")
CSV = (
    "patient_id,First Name,last_name,DOB,phone,MRN,address,sex\n"
    "zz-key-1,Zbigniewa,Quenneville,1961-03-04,745-123-8899,00918273,12 Alderbrook St,F\n"
)
NOTE = "zbigniewa quenneville (mrn 918273, tel 7451238899) of 12 alderbrook st was seen."


def opened(base: Path, **settings: Any) -> Native:
    return Native(**{"name": "native", "base": base, **settings})


def covered(system: Native, text: str, patient: str | None) -> str:
    (spans,) = system.detect_of_patients([text], [patient])
    assert spans is not None
    return "".join(sign for at, sign in enumerate(text) if not any(s.start <= at < s.end for s in spans))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "known.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def test_a_table_reaches_the_notes_of_its_patient_alone(table: Path) -> None:
    system = opened(table.parent, known="known.csv")
    assert not any(word in covered(system, NOTE, "zz-key-1").lower() for word in map(str.lower, SECRETS))
    plain = covered(opened(table.parent), NOTE, None)
    assert covered(system, NOTE, "another") == covered(system, NOTE, None) == plain
    (table.parent / "work.csv").write_text("patient_id,employer\np1,Acme Mill\n", encoding="utf-8")
    work = opened(table.parent, known="work.csv")
    own, other = work.detect_of_patients(["then acme mill called."] * 2, ["p1", "p2"])
    assert own is not None and "employer" in {span.label for span in own}
    assert other is not None and "employer" not in {span.label for span in other}


def test_the_forms_of_a_table_say_the_same(table: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    folder = table.parent
    names, cells = (line.split(",") for line in CSV.splitlines())
    row = dict(zip(names, cells, strict=True))
    (folder / "known.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    pyarrow.parquet.write_table(pyarrow.table({name: [cell] for name, cell in row.items()}), folder / "known.parquet")
    kinds = {name: value for name, value in row.items() if name not in ("patient_id", "sex")}
    long = ["patient_id;kind;value", *(f"zz-key-1;{name};{value}" for name, value in kinds.items())]
    (folder / "long.csv").write_text("\n".join(long) + "\n", encoding="utf-8")
    (folder / "each").mkdir()
    (folder / "each" / "zz-key-1.json").write_text(json.dumps(kinds, indent=1), encoding="utf-8")
    texts = {covered(opened(folder, known=name), NOTE, "zz-key-1") for name in
             ("known.csv", "known.jsonl", "known.parquet", "long.csv", "each")}  # fmt: skip
    assert len(texts) == 1 and "quenneville" not in texts.pop()


def test_what_is_not_used_and_who_is_not_known_is_said(table: Path) -> None:
    system = opened(table.parent, known="known.csv")
    system.told_patients(["zz-key-1", "other", None, None])
    said = " ".join(system.notes)
    assert "not looked for: sex" in said and "2 of 4 documents name no patient" in said
    assert "patients of 1 of 4 documents are not in the table" in said and "6 of 1 patients" in said
    assert not any(secret in said for secret in (*SECRETS, "zz-key-1", "other "))


def test_settings_travel_without_a_value_and_the_version_changes_with_the_table(table: Path) -> None:
    one = opened(table.parent, known="known.csv")
    packed = pickle.dumps(one)
    assert not any(secret.encode() in packed for secret in SECRETS)
    assert covered(pickle.loads(packed), NOTE, "zz-key-1") == covered(one, NOTE, "zz-key-1")
    table.write_text(CSV.replace("1961", "1962"), encoding="utf-8")
    other = opened(table.parent, known="known.csv")
    assert one.version != other.version and opened(table.parent).version not in (one.version, other.version)
    assert not any(secret in one.version for secret in SECRETS)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "empty table"),
        ("patient_id,name\n", "empty table"),
        ("a,b\n1,Quenneville\n", "one column with the patient's key"),
        ("patient_id,person_id,name\n1,2,Quenneville\n", "2 columns that may be it"),
        ("patient_id,haemoglobin\n1,Quenneville\n", "columns of known values were expected"),
        ("patient_id,name\n1,Quenneville,3\n", "2 cells were expected"),
        ("patient_id,name,name\n1,Quenneville,3\n", "names of their own"),
        ('patient_id,name\n1,"Quenneville\n', "matching quotes"),
        ("patient_id,name\n,Quenneville\n", "an empty key"),
        ("patient_id,kind,value\n1,Quenneville,x\n", "a kind must be"),
        ("patient_id,name\n1," + "Quenneville" * 20_000 + "\n", "131,072"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_without_its_content(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "known.csv").write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_known(tmp_path / "known.csv", where="system 'native'").rows())
    assert says in str(caught.value) and "Quenneville" not in str(caught.value)


@pytest.mark.parametrize(
    "content", ['{"patient_id": "zz-key-1", "name": ', "[1]", '{"a": NaN}', '{"name": "Q", "name": "R"}']
)
def test_no_file_of_a_folder_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "known").mkdir()
    (tmp_path / "known" / "Quenneville-1961.jsonl").write_text(content + "\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_known(tmp_path / "known", where="system 'native'").rows())
    assert "Quenneville" not in str(caught.value) and "file 1" in str(caught.value)


def test_numbers_dates_lists_and_missing_cells_of_other_types(tmp_path: Path) -> None:
    import datetime

    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table(
        {
            "patient_id": [7, 8],
            "mrn": [918273.0, None],
            "dob": [datetime.date(1961, 3, 4), None],
            "name": ["Quenneville", None],
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "known.parquet")
    (tmp_path / "known.jsonl").write_text(
        '{"patient_id": 7, "name": ["Quenneville", null], "mrn": 918273, "dob": null, "phone": true}\n',
        encoding="utf-8",
    )
    rows = list(read_known(tmp_path / "known.parquet", where="").rows())
    assert rows == [
        ("7", [("mrn", "918273"), ("date_birth", "1961-03-04"), ("name_patient", "Quenneville")]),
        ("8", []),
    ]
    assert next(read_known(tmp_path / "known.jsonl", where="").rows()) == (
        "7",
        [("name_patient", "Quenneville"), ("mrn", "918273")],
    )


def test_detect_and_redact_take_a_table_and_no_file_or_line_holds_a_value(table: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "notes.jsonl"
    documents = [
        {"id": "n1", "text": NOTE, "patient": "zz-key-1"},
        {"id": "n2", "text": "Seen today, well.", "patient": "nobody"},
    ]
    corpus.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    out = tmp_path / "made"
    out.mkdir()
    detected = call("detect", corpus, "-o", out / "found.jsonl", "--known", table)
    redacted = call("redact", corpus, "-o", out / "redacted.jsonl", "--known", table, "--known-key", "patient_id")
    said = detected.out + detected.err + redacted.out + redacted.err
    assert detected.code == redacted.code == 0, said
    assert "patients of 1 of 2 documents are not in the table" in said
    written = "".join(path.read_text(encoding="utf-8") for path in out.rglob("*") if path.is_file())
    for secret in SECRETS:
        assert secret.lower() not in (said + written).lower()
    assert '"name_patient"' in (out / "found.jsonl").read_text(encoding="utf-8")


def test_a_study_tells_the_detector_whose_each_document_is(table: Path, tmp_path: Path) -> None:
    from workup import Study, validate
    from workup.documents.document import Document, Span

    start = NOTE.index("zbigniewa")
    document = Document(
        "n1", NOTE, (Span(start, start + len("zbigniewa quenneville"), "name_patient"),), patient="zz-key-1"
    )
    study = {"name": "known", "task": "spans", "seed": 1, "systems": [{"use": "native", "with": {"known": str(table)}}]}
    report = validate(Study.of(study, where="test"), table=[document])
    content = report.to_json()
    assert not any(secret in content for secret in SECRETS)
    assert "Known values: 6 of 1 patients" in content
