"""Text tables through pyarrow: the same columns, values and refusals as line by line, whatever the file holds."""

from __future__ import annotations

import csv
import gzip
import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.corpora.formats.tables import arrow_csv, delimited
from workup.errors import InputError

NUMBERS = [
    "0",
    "1",
    "-3",
    "+4",
    "007",
    "12E4",
    "1e5",
    "1.5e-7",
    "2E+3",
    "0.25",
    "0,25",
    "1,234",
    "1.234",
    "1.234,5",
    "5.",
]
NUMBERS += [
    ".5",
    "-.5",
    "1e400",
    "1e-400",
    "5e-324",
    "9007199254740993",
    "9007199254740992.0",
    "1.797693134862315808e308",
]
NUMBERS += [
    "inf",
    "-Infinity",
    "0.1000000000000000055511151231257827",
    "2.2250738585072011e-308",
    "-0",
    "00",
    "1_0",
    "٣",
]
MISSING = ["", ".", "NA", "n/a", "NaN", "null", "None"]
WORDS = [
    "F",
    "M",
    "true",
    "False",
    " padded ",
    "\xa0x\x1f",
    "a b",
    "Zürich",
    "𝔘",
    "it's",
    "-",
    "+",
    "e",
    "\ufeff",
    "\x85",
]
TORN = [
    '"',
    'a"b',
    '"a"b',
    'a""b',
    '""',
    '" "',
    "\r",
    "\n",
    "\r\n",
    "\0",
    ",",
    ";",
    "\t",
    "'",
    "x\ry",
    "\x0b",
    "\u2028",
]

cells = st.sampled_from(NUMBERS) | st.sampled_from(MISSING) | st.sampled_from(WORDS) | st.text(max_size=4)


def read(path: Path, worth: float, **given: Any) -> Any:
    """The columns, or what is said against the file."""
    usual, delimited._WORTH_ARROW = delimited._WORTH_ARROW, worth  # type: ignore[assignment]
    try:
        return delimited.read_csv(path, **given)
    except InputError as error:
        return str(error)
    finally:
        delimited._WORTH_ARROW = usual


def assert_same(path: Path, **given: Any) -> Any:
    fast, slow = read(path, 0, **given), read(path, float("inf"), **given)
    if isinstance(slow, str):
        assert fast == slow
        return slow
    assert list(fast) == list(slow)
    for name, column in slow.items():
        assert fast[name].dtype == column.dtype, name
        if column.dtype == np.float64:
            assert fast[name].tobytes() == column.tobytes(), name
        else:
            assert fast[name].tolist() == column.tolist(), name
    return slow


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """A table as some program would write it: columns of one kind mostly, in any way of quoting."""
    width, rows = draw(st.integers(1, 4)), draw(st.integers(0, 70))
    kinds = [
        draw(st.sampled_from([NUMBERS[:16], NUMBERS, MISSING + NUMBERS, WORDS + NUMBERS, MISSING, WORDS]))
        for _ in range(width)
    ]
    turn = random.Random(draw(st.integers(0, 2**32)))
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=draw(st.sampled_from(",;\t")),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])),
        lineterminator=draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"])),
    )
    writer.writerow([f"c{place}" for place in range(width)])
    writer.writerows([turn.choice(kind) for kind in kinds] for _ in range(rows))
    text = out.getvalue()
    if not draw(st.booleans()):
        text = text.rstrip("\r\n")
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf", b"sep=,\n", b"\n \n"])) + text.encode()


@given(content=tables(), decimal=st.sampled_from(["", "", ".", ","]))
@settings(max_examples=300, deadline=None)
def test_what_programs_write_reads_the_same(
    content: bytes, decimal: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.csv"
    path.write_bytes(content)
    assert_same(path, decimal=decimal)


@given(
    lines=st.lists(st.lists(cells | st.sampled_from(TORN), max_size=4), max_size=6),
    delimiter=st.sampled_from(",;\t"),
    torn=st.binary(max_size=3),
)
@settings(max_examples=400, deadline=None)
def test_what_nobody_should_write_is_read_or_refused_the_same(
    lines: list[list[str]], delimiter: str, torn: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "torn.csv"
    text = "\n".join(delimiter.join(line) for line in lines)
    path.write_bytes(text.encode(errors="surrogatepass") + torn)
    assert_same(path)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n3\n",
        b"a,b\n1,2\n3,4,5\n",
        b"a,b\n" + b"1,2\n" * 9 + b"\xff,3\n",
        b'a,b\n1,"2\n',
        b'a,b\n1,"2"x\n',
        b'a,b\n1, "2,3"\n',
        b'a,b\n1,"2\n3"\n',
        b"a,b\n1,x\0\n",
        b"a,a\n1,2\n",
        b"a,b\n",
        b"a,b\n\n\n",
        b"a\n   \n1\n",
        b"a,b\n1," + b"x" * 131_073 + b"\n",
        b"a,b\n1," + "é".encode() * 131_072 + b"\n",
        b"a,b\n1," + b"x" * 5_000_000 + b"\n",
    ],
)
def test_each_kind_of_fault_is_told_in_the_same_words(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "faulty.csv").write_bytes(content)
    assert_same(tmp_path / "faulty.csv")


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_many_blocks_with_quotes_across_their_edges(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_csv, "_BLOCK", 1000)
    turn = random.Random(3)
    lines = [
        f'P{turn.randrange(900):04d},"ward {turn.randrange(9)}, left",{turn.random()!r},{turn.randrange(99)}'
        for _ in range(3000)
    ]
    content = ("patient,ward,risk,age\n" + "\n".join(lines)).encode()
    path = tmp_path / f"cohort.{ending}"
    path.write_bytes(gzip.compress(content) if ending == "csv.gz" else content)
    read_by: list[int] = []
    monkeypatch.setattr(arrow_csv, "read_rows", _counted(arrow_csv.read_rows, read_by))
    table = assert_same(path)
    assert read_by == [4]
    assert table["risk"].dtype == table["age"].dtype == np.float64


def test_a_whole_number_beyond_exact_floats_keeps_its_column_text(tmp_path: Path) -> None:
    path = tmp_path / "ids.csv"
    path.write_text("id,x\n" + "".join(f"{2**53 + place},{place}\n" for place in range(100)))
    assert assert_same(path)["id"].tolist()[0] == str(2**53)


def _counted(call: Any, seen: list[int]) -> Any:
    def counting(*args: Any, **given: Any) -> Any:
        found = call(*args, **given)
        seen.append(len(found))
        return found

    return counting
