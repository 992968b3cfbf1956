"""Readers of tables: what is read, what is refused and with which words, and one cohort through every format."""

from __future__ import annotations

import codecs
import datetime
import gzip
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.places import DATA
from workup.corpora.formats.tables.columnar import read_duckdb, read_parquet
from workup.corpora.formats.tables.columns import MISSING_CELLS, native_column, pack, text_columns
from workup.corpora.formats.tables.delimited import read_csv, read_tsv
from workup.corpora.formats.tables.excel import read_excel
from workup.corpora.formats.tables.frames import read_frame
from workup.corpora.formats.tables.reader import read_table
from workup.errors import InputError, MissingExtra, PluginError, StudyError
from workup.scores import Levels
from workup.tasks.risk.cohort import Cohort, Columns, check_cohort, identities


def written(folder: Path, content: str | bytes, name: str = "cohort.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(call: Any, *args: Any, **settings: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*args, **settings)
    return str(caught.value)


# One cohort, every format ------------------------------------------------------------------------------------------

ROWS: dict[str, list[Any]] = {
    "pid": [101, 102, 102, 9, 10, 11],
    "died": [0, 1, None, 1, 0, 0],
    "risk": [0.25, 0.731058578630005, 0.1, 1.0, 0.0, 1e-05],
    "site": ["A", "B", None, "A", "Zürich; Süd", 'the "old" wing'],
    "sex": ["F", "M", "M", None, "F", "M"],
    "smoker": [True, False, True, True, False, False],
    "weight": [1, 2.5, 1, 1, 1, 1200],
    "seen": [
        datetime.datetime(2024, 3, 1, 13, 45),
        datetime.datetime(2024, 3, 2),
        datetime.datetime(2023, 12, 31, 23, 59, 59),
        None,
        datetime.datetime(2024, 2, 29),
        datetime.datetime(2024, 1, 1, 0, 0, 1),
    ],
}
COLUMNS = Columns(
    outcome="died", risk="risk", patient="pid", site="site", time="seen", weight="weight", groups=("sex", "smoker")
)


def as_text(*, delimiter: str, decimal: str) -> str:
    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        text = text.replace(".", decimal) if isinstance(value, float) else text
        return '"' + text.replace('"', '""') + '"' if any(c in text for c in f'{delimiter}"') else text

    lines = [delimiter.join(ROWS), *(delimiter.join(map(cell, row)) for row in zip(*ROWS.values(), strict=True))]
    return "\r\n".join(lines) + "\r\n"


def as_parquet(folder: Path) -> Path:
    pyarrow.parquet.write_table(pa.table(ROWS), folder / "cohort.parquet")
    return folder / "cohort.parquet"


def as_excel(folder: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.append(list(ROWS))
    for row in zip(*ROWS.values(), strict=True):
        book.active.append(list(row))
    book.create_sheet("empty")
    book.save(folder / "cohort.xlsx")
    return folder / "cohort.xlsx"


def as_duckdb(folder: Path) -> Path:
    rows = pa.table(ROWS)
    with duckdb.connect(str(folder / "cohort.duckdb")) as connection:
        connection.register("rows", rows)
        connection.execute("create table cohort as select * from rows")
    return folder / "cohort.duckdb"


FORMS = {
    "csv": lambda folder: written(folder, as_text(delimiter=",", decimal=".")),
    "csv with a mark": lambda folder: written(folder, codecs.BOM_UTF8 + as_text(delimiter=",", decimal=".").encode()),
    "csv in UTF-16": lambda folder: written(folder, as_text(delimiter=",", decimal=".").encode("utf-16")),
    "csv, packed": lambda folder: written(
        folder, gzip.compress(as_text(delimiter=",", decimal=".").encode()), "cohort.csv.gz"
    ),
    "semicolons and decimal commas": lambda folder: written(folder, as_text(delimiter=";", decimal=",")),
    "commas in quotes as decimal sign": lambda folder: written(folder, as_text(delimiter=",", decimal=",")),
    "tsv": lambda folder: written(folder, as_text(delimiter="\t", decimal="."), "cohort.tsv"),
    "txt with tabs": lambda folder: written(folder, as_text(delimiter="\t", decimal=","), "cohort.txt"),
    "parquet": as_parquet,
    "excel": as_excel,
    "duckdb": as_duckdb,
    "pandas": lambda folder: pd.DataFrame(ROWS),
    "pandas, nullable": lambda folder: pd.DataFrame(ROWS).convert_dtypes(),
    "pandas, categorical": lambda folder: pd.DataFrame(ROWS).astype({"sex": "category", "pid": "category"}),
    "pandas, zoned": lambda folder: pd.DataFrame(ROWS).assign(
        seen=lambda rows: rows["seen"].dt.tz_localize("UTC").dt.tz_convert("Europe/Zurich")
    ),
    "polars": lambda folder: pl.DataFrame(ROWS, strict=False),
    "polars, lazy": lambda folder: pl.DataFrame(ROWS, strict=False).lazy(),
    "pyarrow": lambda folder: pa.table(ROWS),
    "dict of lists": lambda folder: ROWS,
    "dict of arrays": lambda folder: {name: np.array(column, dtype=object) for name, column in ROWS.items()},
}


def cohort_of(source: Any) -> Cohort:
    return check_cohort(read_table(source), COLUMNS, where="cohort")


@pytest.mark.parametrize("form", FORMS)
def test_one_cohort_reads_the_same_from_every_format(form: str, tmp_path: Path) -> None:
    expected = cohort_of(pa.table(ROWS))
    cohort = cohort_of(FORMS[form](tmp_path))
    np.testing.assert_array_equal(cohort.outcome, [0, 1, np.nan, 1, 0, 0])
    np.testing.assert_array_equal(cohort.risk, ROWS["risk"])
    np.testing.assert_array_equal(cohort.weight, ROWS["weight"])
    np.testing.assert_array_equal(cohort.time, np.array(ROWS["seen"], dtype="datetime64[us]"))
    assert cohort.patient.tolist() == ["101", "102", "102", "9", "10", "11"]
    assert cohort.site.tolist() == ["A", "B", None, "A", "Zürich; Süd", 'the "old" wing']
    assert cohort.groups["sex"].tolist() == ["F", "M", "M", None, "F", "M"]
    assert cohort.groups["smoker"].tolist() == ["1", "0", "1", "1", "0", "0"]
    assert cohort.notes == expected.notes
    assert cohort.sha256 == expected.sha256


def test_a_duckdb_relation_reads_as_its_table() -> None:
    rows = pa.table(ROWS)
    connection = duckdb.connect()
    connection.register("rows", rows)
    assert cohort_of(connection.sql("select * from rows")).sha256 == cohort_of(rows).sha256


# Text files ----------------------------------------------------------------------------------------------------------


def numbers_of(folder: Path, content: str, name: str = "cohort.csv", **settings: str) -> dict[str, list[Any]]:
    return {key: column.tolist() for key, column in read_table(written(folder, content, name), **settings).items()}


def test_every_spelling_of_missing_and_of_truth(tmp_path: Path) -> None:
    spellings = ["", "NA", "na", "NaN", "N/A", "null", "NULL", "None", " . ", "nA"]
    table = read_csv(written(tmp_path, "x,y,z\n" + "".join(f'"{s}",1,TRUE\n' for s in spellings) + "0.5,,false\n"))
    assert np.isnan(table["x"][:-1]).all()
    assert table["x"][-1] == 0.5
    assert np.isnan(table["y"][-1])
    assert table["z"].tolist() == [1.0] * 10 + [0.0]
    assert "0" not in MISSING_CELLS


def test_text_columns_hold_none_where_missing(tmp_path: Path) -> None:
    table = read_csv(written(tmp_path, "ward,n\nA,1\nNA,2\n b ,3\n"))
    assert table["ward"].dtype == object
    assert table["ward"].tolist() == ["A", None, "b"]


@pytest.mark.parametrize(
    ("cells", "kept_as_text"),
    [
        (["007", "7"], True),
        (["00", "0"], True),
        (["9007199254740993", "9007199254740992"], True),
        (["9007199254740991", "1"], False),
        (["12E4", "120000"], True),
        (["1e-05", "2.5E10", "1.0e+20"], False),
        (["1_000", "1000"], True),
        (["١٢", "12"], True),
        (["-1", "+2", "0.5", ".5", "5."], False),
        (["0x10", "16"], True),
    ],
)
def test_codes_stay_text_and_numbers_become_floats(tmp_path: Path, cells: list[str], kept_as_text: bool) -> None:
    column = read_csv(written(tmp_path, "x,y\n" + "".join(f"{cell},a\n" for cell in cells)))["x"]
    if kept_as_text:
        assert column.tolist() == cells
    else:
        assert column.dtype == np.float64
        assert column.tolist() == [float(cell) for cell in cells]


IDS = st.text(alphabet="0123456789ABEe-", min_size=1, max_size=20).filter(
    lambda text: not text.startswith(("-", "e", "E")) and "e-" not in text.lower()
)


@settings(max_examples=200, deadline=None)
@given(ids=st.lists(IDS, min_size=1, max_size=12, unique=True))
def test_different_ids_never_become_one(ids: list[str]) -> None:
    column = text_columns([("id", [pack(ids)])])["id"]
    assert identities(column).tolist() == ids
    assert len(Levels.of(column).names) == len(ids)


@settings(max_examples=100, deadline=None)
@given(
    values=st.lists(
        st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=20
    ).filter(any),
    decimal=st.sampled_from([".", ","]),
)
def test_every_float_comes_back_exactly(values: list[float | None], decimal: str) -> None:
    cells = ["" if value is None else repr(value).replace(".", decimal) for value in values]
    column = text_columns([("x", [pack(cells[:3]), pack(cells[3:])] if cells[3:] else [pack(cells)])], decimal=decimal)
    np.testing.assert_array_equal(column["x"], [np.nan if value is None else value for value in values])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('a,b\n"1,234.5",1\n"12,345,678",2\n', [1234.5, 12345678.0]),
        ("a;b\n1.234,5;1\n1.234.567;2\n", [1234.5, 1234567.0]),
        ("a;b\n0,25;1\n1,234;2\n", [0.25, 1.234]),
        ("a;b\n1.234;0,5\n2.345;0,7\n", [1234.0, 2345.0]),  # the other column says that commas come before decimals
        ("a;b\n1.234;0.5\n2.345;0.7\n", [1.234, 2.345]),
        ('a,b\n"1,234",0.5\n"2,345",0.7\n', [1234.0, 2345.0]),
        ("a,b\n1.234,1\n2.345,2\n", [1.234, 2.345]),  # cut at commas: a lone point is a decimal point
    ],
)
def test_separators_that_can_be_told_apart_are_read(tmp_path: Path, content: str, expected: list[float]) -> None:
    assert numbers_of(tmp_path, content)["a"] == expected


@pytest.mark.parametrize("content", ["w;y;r\n1.234;1;0\n2.345;0;1\n", 'w,y,r\n"1,234",1,0\n"2,345",0,1\n'])
def test_separators_that_cannot_be_told_apart_are_refused_when_used(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, content)
    recorded = Columns(outcome="y", risk="r")
    assert len(check_cohort(read_csv(path), recorded, where="cohort.csv")) == 2  # unused, so no obstacle
    for columns in (Columns(outcome="y", risk="r", weight="w"), Columns(outcome="y")):
        message = refusal(check_cohort, read_csv(path), columns, where="cohort.csv")
        assert "cohort.csv, column 'w'" in message
        assert "2 of 2 rows, the first is row 1" in message
        assert "without a thousands separator" in message
        assert "decimal ('.' or ',')" in message
    assert read_csv(path, decimal=".")["w"].tolist() in ([1.234, 2.345], [1234.0, 2345.0])
    assert read_csv(path, decimal=".")["w"].tolist() != read_csv(path, decimal=",")["w"].tolist()


def test_an_impossible_decimal_sign_is_refused(tmp_path: Path) -> None:
    assert "must be '.' or ','" in refusal(read_csv, written(tmp_path, "a,b\n1,2\n"), decimal=";")


def test_percent_signs_are_refused_where_a_number_is_asked_for(tmp_path: Path) -> None:
    table = read_csv(written(tmp_path, "y,p\n0,12%\n1,55 %\n"))
    message = refusal(check_cohort, table, Columns(outcome="y", risk="p"), where="cohort.csv")
    assert "percent signs in 2 of 2 rows" in message
    assert "divide by 100" in message
    assert "percent" in refusal(check_cohort, table, Columns(outcome="y"), where="cohort.csv")


def test_a_file_may_quote_newlines_and_delimiters(tmp_path: Path) -> None:
    table = numbers_of(tmp_path, 'note,"a,b",x\n"one\ntwo, three",1,2\n"say ""no""",3,4\n')
    assert table == {"note": ["one\ntwo, three", 'say "no"'], "a,b": [1.0, 3.0], "x": [2.0, 4.0]}


def test_a_header_with_another_mark_in_a_name_keeps_its_delimiter(tmp_path: Path) -> None:
    assert list(numbers_of(tmp_path, "age, years;sex\n70,5;F\n")) == ["age, years", "sex"]
    assert list(numbers_of(tmp_path, "sep=;\na;b\n1;2\n")) == ["a", "b"]


def test_nameless_columns_are_called_by_their_place_or_dropped_when_empty(tmp_path: Path) -> None:
    assert numbers_of(tmp_path, ",a,\n0,5,\n1,6,\n") == {"column 1": [0.0, 1.0], "a": [5.0, 6.0]}


def test_lines_of_every_ending_and_blank_lines(tmp_path: Path) -> None:
    for end in ("\n", "\r\n", "\r"):
        assert numbers_of(tmp_path, end.join(["a,b", "1,2", "", "3,4", ""])) == {"a": [1.0, 3.0], "b": [2.0, 4.0]}


def test_many_rows_pass_through_blocks(tmp_path: Path) -> None:
    n = 120_001
    table = read_csv(written(tmp_path, "a,b\n" + "".join(f"{i},{'x' if i == n - 1 else i}\n" for i in range(n))))
    np.testing.assert_array_equal(table["a"], np.arange(n))
    assert table["b"][[0, n - 2, n - 1]].tolist() == ["0", str(n - 2), "x"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["cohort.csv", "an empty file"]),
        ("\n \n", ["an empty file"]),
        ("a,b\n", ["a header alone"]),
        ("a,b\n1,2\n3,4,5\n", ["cohort.csv, line 3", "2 cells were expected", "got 3."]),
        ('a,b\n"x\ny",2\n3\n', ["cohort.csv, line 4", "got 1."]),
        ("a,b,a\n1,2,3\n", ["'a' as the name of columns 1 and 3", "rename"]),
        ("a,b\n1,x\0y\n", ["cohort.csv, line 2", "NUL"]),
        ('a,b\n1,2\n"3,4\n5,6\n', ["cohort.csv, line 3", "quote that is not closed"]),
        (b"a,b\n1,2\n3,caf\xe9\n", ["cohort.csv, line 3", "not valid UTF-8", "CSV UTF-8"]),
        ("a,b\n1,2\n".encode("utf-16-le"), ["line 1", "NUL", "UTF-16 without a byte-order mark"]),
        (b"\xff\xfe" + "a,b\n1,2\n".encode("utf-16-le")[:-1], ["not valid UTF-16"]),
    ],
)
def test_broken_files_are_refused_with_place_and_remedy(tmp_path: Path, content: str | bytes, words: list[str]) -> None:
    message = refusal(read_csv, written(tmp_path, content))
    assert all(word in message for word in words), message
    assert "To fix:" in message


def test_no_refusal_shows_a_cell(tmp_path: Path) -> None:
    for content in (
        "a,b\n1,2\nMabel Whitlock,4,5\n",
        'a,b\n1,2\n"Mabel Whitlock,4\n',
        "a,b\n1,2\nMabel Whitlock\0,4\n",
    ):
        with pytest.raises(InputError) as caught:
            read_csv(written(tmp_path, content))
        assert "Mabel" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_tsv_without_tabs_and_a_torn_gzip_are_refused(tmp_path: Path) -> None:
    message = refusal(read_tsv, written(tmp_path, "a,b\n1,2\n", "cohort.tsv"))
    assert "tabs were expected" in message
    assert "commas" in message
    assert numbers_of(tmp_path, "a\n1\n", "one.tsv") == {"a": [1.0]}
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    assert "is whole" in refusal(read_csv, written(tmp_path, packed[:-20], "torn.csv.gz"))
    assert "BadGzipFile" in refusal(read_csv, written(tmp_path, "a,b\n1,2\n", "plain.csv.gz"))


# Choosing a reader ---------------------------------------------------------------------------------------------------


def test_paths_that_cannot_be_read_name_the_known_endings(tmp_path: Path) -> None:
    for source, got in (
        (tmp_path / "absent.csv", "no such file"),
        (tmp_path / "nowhere" / "cohort.csv", "no directory"),
        (tmp_path, "a directory"),
        (written(tmp_path, "a", "cohort.sas7bdat"), "the ending '.sas7bdat'"),
        (written(tmp_path, "a", "cohort"), "a name without an ending"),
    ):
        message = refusal(read_table, source)
        assert got in message
        assert ".csv" in message
        assert ".parquet" in message
    folder = tmp_path / "cohort.parquet"
    folder.mkdir()
    assert "a directory" in refusal(read_table, folder)


def test_a_named_format_overrules_the_ending(tmp_path: Path) -> None:
    assert numbers_of(tmp_path, "a,b\n1,2\n", "cohort.dat", format="csv") == {"a": [1.0], "b": [2.0]}
    assert numbers_of(tmp_path, "a,b\n1,2\n", "COHORT.CSV", format="table") == {"a": [1.0], "b": [2.0]}
    with pytest.raises(PluginError, match="did you mean 'csv'"):
        read_table(tmp_path / "cohort.dat", format="cvs")
    with pytest.raises(StudyError, match="takes no setting 'sheet'"):
        read_table(tmp_path / "cohort.dat", format="csv", sheet="one")
    assert "takes no setting 'sheet'" in refusal(read_table, {"a": [1]}, sheet="one")


@pytest.mark.parametrize("format", ["spans", "predictions", "spans-jsonl", "brat", "i2b2", "conll", "tab", "presidio"])
def test_a_format_of_spans_is_no_table(tmp_path: Path, format: str) -> None:
    line = '{"id": "a", "text": "Smith", "spans": []}\n'
    for path in (written(tmp_path, line, "notes.jsonl"), written(tmp_path, "a,b\n1,2\n", "cohort.csv"), tmp_path):
        message = refusal(read_table, path, format=format)
        assert f"{path.name}, format '{format}': a format of tables was expected" in message
        assert "got a format of documents with spans" in message
        assert "csv, duckdb, excel, parquet, tsv" in message and "task: spans" in message


def read_rows(path: Path) -> list[int]:
    """A plug-in that is no reader of tables."""
    return [1, 2]


def test_a_plug_in_that_gives_no_columns_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n1,2\n", "cohort.csv")
    assert "got a format that gives a list" in refusal(read_table, path, format=f"{__name__}:read_rows")


# Parquet, DuckDB, Excel ------------------------------------------------------------------------------------------


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    for reader, name, kind in (
        (read_parquet, "x.parquet", "a Parquet file was expected"),
        (read_duckdb, "x.duckdb", "a DuckDB database was expected"),
        (read_excel, "x.xlsx", "an Excel workbook"),
    ):
        message = refusal(reader, written(tmp_path, "a,b\n1,2\n", name))
        assert kind in message
        assert name in message


def test_native_types_are_kept_exactly(tmp_path: Path) -> None:
    table = pa.table(
        {
            "big": pa.array([2**53, 2**53 + 1, None], pa.int64()),
            "code": ["007", "7", "  "],
            "day": [datetime.date(2024, 2, 29), None, datetime.date(1999, 12, 31)],
            "price": [Decimal("1.50"), None, Decimal("2")],
            "text_number": ["1", "2", "NA"],
            "lists": [[1, 2], [3], None],
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "t.pq")
    read = read_table(tmp_path / "t.pq")
    assert read["big"].tolist() == ["9007199254740992", "9007199254740993", None]
    assert read["code"].tolist() == ["007", "7", None]
    assert read["day"].dtype == np.dtype("datetime64[us]")
    assert np.isnat(read["day"]).tolist() == [False, True, False]
    np.testing.assert_array_equal(read["price"], [1.5, np.nan, 2.0])
    assert read["text_number"].tolist() == ["1", "2", "NA"]
    assert read["lists"].tolist() == [[1, 2], [3], None]


def test_empty_tables_are_refused(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "t.parquet")
    assert "t.parquet: columns and rows were expected" in refusal(read_parquet, tmp_path / "t.parquet")
    assert "columns and rows" in refusal(read_frame, pd.DataFrame())
    assert "columns and rows" in refusal(read_frame, {})


def test_a_database_of_several_tables_needs_a_query(tmp_path: Path) -> None:
    path = tmp_path / "hospital.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table visits as select 1 as a; create table labs as select 'secret' as b")
    message = refusal(read_duckdb, path)
    assert "2 tables: labs, visits" in message
    assert "query" in message
    assert read_table(path, query="select a, a + 1 as b from visits")["b"].tolist() == [2.0]
    assert "visit" in refusal(read_duckdb, path, query="select * from visit")
    assert "secret" not in refusal(read_duckdb, path, query="select cast(b as integer) from labs")
    assert "cannot be run" in refusal(read_duckdb, path, query="create table more as select 1")


def workbook(folder: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(folder / "cohort.xlsx")
    return folder / "cohort.xlsx"


def test_a_workbook_with_several_filled_sheets_needs_a_name(tmp_path: Path) -> None:
    path = workbook(tmp_path, {"read me": [["about"], ["x"]], "rows": [["a", "b"], [1, 2]]})
    message = refusal(read_excel, path)
    assert "read me, rows" in message
    assert "'sheet'" in message
    assert read_table(path, sheet="rows")["b"].tolist() == [2.0]
    assert "did you mean 'rows'" in refusal(read_excel, path, sheet="row")


def test_cells_of_a_workbook(tmp_path: Path) -> None:
    rows = [
        ["a", "day", "typed", "mixed", "code", None],
        [1, datetime.datetime(2024, 3, 1, 12), "0.5", 1, "007", None],
        ["NA", None, " ", "n.k.", "8", None],
        [],
        [True, datetime.date(2024, 3, 2), "2", 3, None, None],
    ]
    table = read_excel(workbook(tmp_path, {"s": rows}))
    np.testing.assert_array_equal(table["a"], [1.0, np.nan, 1.0])
    assert table["day"].astype("datetime64[h]").astype(str).tolist() == ["2024-03-01T12", "NaT", "2024-03-02T00"]
    np.testing.assert_array_equal(table["typed"], [0.5, np.nan, 2.0])
    assert table["mixed"].tolist() == [1, "n.k.", 3]
    assert table["code"].tolist() == ["007", "8", None]
    assert list(table) == ["a", "day", "typed", "mixed", "code"]


def test_formulas_that_were_never_computed_are_not_taken_as_missing(tmp_path: Path) -> None:
    message = refusal(read_excel, workbook(tmp_path, {"s": [["a", "b"], [1, "=A2/2"], [2, "=A3/2"]]}))
    assert "formulas whose results are not stored" in message


def test_header_faults_of_a_workbook(tmp_path: Path) -> None:
    assert "a header alone" in refusal(read_excel, workbook(tmp_path, {"s": [["a", "b"]]}))
    assert "an empty sheet" in refusal(read_excel, workbook(tmp_path, {"s": []}))
    assert "'a' as the name of columns 1 and 2" in refusal(read_excel, workbook(tmp_path, {"s": [["a", "a"], [1, 2]]}))


# In memory -----------------------------------------------------------------------------------------------------------


def test_frames_that_are_no_tables_are_refused() -> None:
    assert "got an object of type builtins.list" in refusal(read_frame, [[1, 2]])
    assert "builtins.int" in refusal(read_table, 3)
    assert "2 rows in 'a' and 3 in 'b'" in refusal(read_frame, {"a": [1, 2], "b": [1, 2, 3]})
    assert "one list or array per column" in refusal(read_frame, {"a": "text"})
    assert "2 dimensions" in refusal(read_frame, {"a": np.zeros((2, 2))})
    assert "name of its own" in refusal(read_frame, pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_arrays_of_a_dict_keep_exact_integers() -> None:
    table = read_frame({"n": np.array([1, 2]), "id": np.array([2**60, 2**60 + 1]), "b": np.array([True, False])})
    assert table["n"].dtype == np.float64
    assert table["id"].tolist() == [str(2**60), str(2**60 + 1)]
    assert table["b"].tolist() == [1.0, 0.0]


def test_zoned_times_become_utc() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    column = native_column([datetime.datetime(2024, 3, 1, 1, tzinfo=zone), pd.NaT, pd.Timestamp("2024-03-01", tz=zone)])
    assert column.astype(str).tolist() == ["2024-02-29T23:00:00.000000", "NaT", "2024-02-29T22:00:00.000000"]


@pytest.mark.parametrize(
    ("library", "reader", "name", "extra"),
    [
        ("pyarrow.parquet", read_parquet, "x.parquet", "tables"),
        ("duckdb", read_duckdb, "x.duckdb", "tables"),
        ("openpyxl", read_excel, "x.xlsx", "excel"),
    ],
)
def test_an_absent_library_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, library: str, reader: Any, name: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=rf"\[{extra}\]"):
        reader(Path(name))


@pytest.mark.real_data
def test_gusto_reads_whole() -> None:
    path = DATA / "gusto" / "gusto.csv.gz"
    cohort = check_cohort(read_table(path), Columns(outcome="day30", site="regl", groups=("sex",)), where=path.name)
    assert (len(cohort), int(cohort.outcome.sum())) == (40830, 2851)
    assert set(cohort.groups["sex"].tolist()) == {"male", "female"}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
def test_texts_of_parquet_are_shared_and_what_they_were(kind: Any, tmp_path: Path) -> None:
    words = ["ward A", "", " ", "NA", None, "ward B", "ward A", "Zürich"] * 40
    cells = [None if word is None else word.encode() if kind == pa.binary() else word for word in words]
    table = pa.table(
        {"x": range(len(words)), "word": pa.array(cells, kind), "none": pa.array([None] * len(words), kind)}
    )
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=7)
    found, plain = read_parquet(tmp_path / "t.parquet"), read_frame(table)
    assert list(found) == list(plain)
    for name, column in plain.items():
        assert found[name].dtype == column.dtype
        assert (
            np.array_equal(found[name], column) if column.dtype == object else np.array_equal(found[name], column, True)
        )
    assert found["word"][0] is found["word"][8]


@pytest.mark.parametrize("stored", [pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.float64())])
def test_columns_that_are_stored_as_dictionaries(stored: Any, tmp_path: Path) -> None:
    values = ["a", None, "b"] if stored.value_type == pa.string() else [1.5, None, 2.5]
    table = pa.table({"word": pa.array(values * 5, stored.value_type).dictionary_encode().cast(stored)})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=4)
    assert [str(cell) for cell in read_parquet(tmp_path / "t.parquet")["word"]] == [
        str(cell) for cell in read_frame(table)["word"]
    ]
