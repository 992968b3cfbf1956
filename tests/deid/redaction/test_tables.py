"""Tables in and out of redaction: a plan for every column, nothing that looks like identifiers passed on unsaid."""

from __future__ import annotations

import csv
import datetime
import io
import json
from pathlib import Path

import pytest

from tests.support.shell import call
from workup.errors import InputError
from workup.redaction.columns import Chosen, planned

HEAD = ["patient_id", "MRN", "First Name", "surname", "DOB", "age", "sex", "hb", "visited", "note"]
ONE, OTHER = ["k1", "00417", "Quenneville", "Zbigniewa"], ["k2", "00418", "Ottoline", "Vantongeren"]
ROWS = [
    [*ONE, "1961-03-04", "93", "F", "12.3", "2021-03-04", 'Seen "well", Mr. Trevino.'],
    [*OTHER, "1931-01-04", "45", "M", "13.30", "2021-03-05", "Dr. Ada Berg called,\nthen left."],
    [*ONE, "1961-03-04", "93", "F", "11.0", "2021-04-04", ""],
]


def as_csv(delimiter: str = ",", end: str = "\n") -> str:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator=end).writerows([HEAD, *ROWS])
    return buffer.getvalue()


def cells(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


@pytest.mark.parametrize(("delimiter", "end", "mark"), [(",", "\n", ""), (";", "\r\n", "\ufeff"), ("\t", "\n", "")])
def test_a_csv_comes_out_as_a_csv(tmp_path: Path, delimiter: str, end: str, mark: str) -> None:
    (tmp_path / "in.csv").write_bytes((mark + as_csv(delimiter, end)).encode("utf-8"))
    done = call("redact", tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert done.code == 0, done.err
    new = (tmp_path / "out.csv").read_bytes().decode("utf-8")
    assert new.startswith(mark) and (end in new)
    head, *rows = cells(new.removeprefix("\ufeff"), delimiter)
    assert head == HEAD
    assert [row[6:8] for row in rows] == [row[6:8] for row in ROWS]
    assert rows[0][:6] == ["patient-1", "[MRN-1]", "[NAME-1]", "[NAME-2]", "[DATE-1]", "90+"] and rows[1][5] == "45"
    assert rows[2][:6] == rows[0][:6] and rows[1][0] == "patient-2" and rows[2][9] == ""
    said = new + done.out + done.err + (tmp_path / "out.csv.redaction.json").read_text(encoding="utf-8")
    for word in ("Quenneville", "Vantongeren", "00417", "1961", "Trevino", "Berg", "k1"):
        assert word not in said
    assert "MRN: identifies, replaced as a whole [mrn] (by its name)" in done.err + done.out
    (plan,) = json.loads((tmp_path / "out.csv.redaction.json").read_text(encoding="utf-8"))["plans"]
    assert [one["treated"] for one in plan] == ["key", *["identifier"] * 5, "kept", "kept", "identifier", "text"]


def test_a_parquet_keeps_the_types_of_what_stays(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table(
        {
            "patient_id": [1, 2],
            "mrn": pyarrow.array([918273, None], pyarrow.int64()),
            "dob": [datetime.date(1961, 3, 4), datetime.date(1931, 1, 4)],
            "hb": pyarrow.array([12.5, None], pyarrow.float32()),
            "sex": pyarrow.array(["F", "M"]).dictionary_encode(),
            "note": ["Mr. Trevino was seen today.", None],
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet")
    done = call("redact", tmp_path / "in.parquet", "-o", tmp_path / "out.parquet")
    assert done.code == 0, done.err
    new = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert new.column_names == table.column_names
    assert new.column("hb").equals(table.column("hb")) and new.column("sex").equals(table.column("sex"))
    assert new.column("mrn").to_pylist() == ["[MRN-1]", None] and new.column("note").to_pylist()[1] is None
    assert "Trevino" not in str(new.to_pylist()) and "1961" not in str(new.to_pylist())


@pytest.mark.parametrize(
    "column",
    [
        [f"{90_000_000 + 7919 * i}" for i in range(40)],
        [f"AB{1000 + i}" for i in range(40)],
        [f"{i}{i}-XK-{i}9" for i in range(40)],
        ["Quenneville", "Ottoline", "Zbigniewa", "Vantongeren", "Trevino", "Berg"] * 1,
        [f"Ann{chr(97 + i % 26)} Lee{chr(97 + i % 26)}" for i in range(40)],
        [f"{i:05d}" for i in range(40)],
    ],
)
def test_what_looks_like_identifiers_of_no_known_kind_is_refused(column: list[str]) -> None:
    with pytest.raises(InputError, match="may be identifiers") as caught:
        planned({"q7": column}, Chosen(), where="in.csv")
    assert "'q7'" in str(caught.value) and not any(cell in str(caught.value) for cell in column)
    for chosen, treated in (
        (Chosen(identifiers={"q7": "mrn"}), "identifier"),
        (Chosen(text=("q7",)), "text"),
        (Chosen(kept=("q7",)), "kept"),
        (Chosen(key="q7"), "key"),
    ):
        assert planned({"q7": column}, chosen, where="")[0].treated == treated


@pytest.mark.parametrize(
    ("column", "treated", "leaf"),
    [
        (["a.b@example.org", "c@example.org"], "identifier", "email"),
        (["745-12-3456", "745-12-3457"], "identifier", "ssn"),
        (["(412) 555-0134", "412.555.0199"], "identifier", "phone"),
        (["3/4/2021", "12/31/2020"], "identifier", "date"),
        (["2021-03-04T10:00:00Z"], "identifier", "date"),
        (["12.3", "4", "-0.5", "1e3"], "kept", ""),
        (["yes", "no", "yes", "no", "yes", "no"], "kept", ""),
        (["", ""], "kept", ""),
        (["He came in with pain today.", "None since then at all."], "text", ""),
    ],
)
def test_a_column_is_told_by_its_cells(column: list[str], treated: str, leaf: str) -> None:
    (plan,) = planned({"q7": column}, Chosen(), where="")
    assert (plan.treated, plan.leaf) == (treated, leaf)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--text-column", "nothing"), "must be in the table"),
        (("--id-column", "note=nothing"), "canonical label"),
        (("--text-column", "note", "--keep-column", "note"), "one thing can be said"),
    ],
)
def test_what_is_said_of_columns_is_checked(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    (tmp_path / "in.csv").write_text(as_csv(), encoding="utf-8")
    done = call("redact", tmp_path / "in.csv", "-o", tmp_path / "out.csv", *words)
    assert done.code == 2 and says in done.err and not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("content", ["", "a,b\n", "a,a\n1,2\n", 'a,b\n"1,2\n', "a,b\n1\n", "a\0,b\n1,2\n"])
def test_a_damaged_table_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "in.csv").write_text(content, encoding="utf-8")
    done = call("redact", tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert done.code == 2 and not (tmp_path / "out.csv").exists() and "Traceback" not in done.err


def test_restore_gives_a_table_back_and_detect_names_its_cells(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(as_csv(), encoding="utf-8")
    assert call("redact", "--new-key", tmp_path / "key").code == 0
    words = ("--map", tmp_path / "map", "--key-file", tmp_path / "key")
    assert call("redact", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--as", "surrogate", *words).code == 0
    assert call("restore", tmp_path / "out.csv", "-o", tmp_path / "again.csv", *words).code == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "in.csv").read_bytes()
    assert call("detect", tmp_path / "in.csv", "-o", tmp_path / "found.jsonl").code == 0
    found = {one["id"]: one["spans"] for one in map(json.loads, (tmp_path / "found.jsonl").read_text().splitlines())}
    assert found["in.csv:1:2"] == [{"start": 0, "end": 5, "label": "mrn", "score": 1.0}]
    assert any(span["label"].startswith("name") for span in found["in.csv:1:10"])
