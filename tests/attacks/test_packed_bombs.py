"""Small files that unpack into more than a machine holds: each is refused in one message, within bounded memory."""

from __future__ import annotations

import gzip
import io
import json
import resource
import subprocess
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest

from tests.support import shell

MEMORY = 3 * 2**30  # of address space: Python with numpy, scipy and pyarrow takes about half of it before any work
MEBIBYTE = 2**20
LOW = ("--largest-unpacked", "500000000")


def bounded(*words: str | Path) -> shell.Done:
    """`workup` with these words in a process that may not take more memory than this."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    done = subprocess.run(
        [*shell.COMMAND, *map(str, words)], capture_output=True, text=True, timeout=120, preexec_fn=limited, check=False
    )
    return shell.Done(done.returncode, done.stdout, done.stderr)


def refused(done: shell.Done) -> str:
    assert done.code == 2, done.err[-2000:]
    assert "Traceback" not in done.err and "MemoryError" not in done.err
    return done.err


def gzip_bomb(path: Path, head: bytes, filling: bytes, size: int) -> Path:
    """A gzip file of a beginning and then one thing over and over; packed once, since members may follow members."""
    block = filling * (16 * MEBIBYTE // len(filling))
    path.write_bytes(gzip.compress(head) + gzip.compress(block) * (size // len(block)))
    return path


# ---- tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filling", [b"0,0.5\n", b"a", b"\n"], ids=["rows", "one cell", "blank lines"])
def test_a_gzip_bomb_of_a_table(tmp_path: Path, filling: bytes) -> None:
    path = gzip_bomb(tmp_path / "cohort.csv.gz", b"died,p\n1,0.5\n", filling, 6 * 2**30)
    assert path.stat().st_size < 20 * MEBIBYTE
    message = refused(bounded(*shell.risk_words(path)))
    assert "as in a zip bomb" in message or "bytes, unpacked, were expected" in message
    assert "largest" in message


def test_a_packed_table_within_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cohort.csv.gz"
    path.write_bytes(gzip.compress(shell.lines(shell.cohort()).encode()))
    assert shell.call(*shell.risk_words(path)).code == 0
    assert shell.call(*shell.risk_words(path, "--largest-unpacked", "1000000")).code == 0
    done = shell.call(*shell.risk_words(path, "--largest-unpacked", "10000"))
    assert "at most 10,000 bytes, unpacked" in refused(done)
    assert shell.SECRET not in done.err


def test_who_sets_the_limit_may_pack_tightly(tmp_path: Path) -> None:
    """20 MiB that pack to a thousandth: a bomb by its ratio, unless its owner says how large it is."""
    path = tmp_path / "cohort.csv.gz"
    text = shell.lines({**shell.cohort(), "note": ["0" * 100_000] * 240})
    path.write_bytes(gzip.compress(text.encode()))
    assert "as in a zip bomb" in refused(shell.call(*shell.risk_words(path)))
    assert shell.call(*shell.risk_words(path, "--largest-unpacked", str(100 * MEBIBYTE))).code == 0


SHEET = b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'


SHARED = (
    b'<Override PartName="/xl/sharedStrings.xml" '
    b'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
)


def workbook(path: Path, rows: Iterable[bytes], *, strings: Iterable[bytes] | None = None) -> Path:
    """A workbook whose sheet holds these rows of XML, and whose shared texts may be these."""
    plain = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["died", "p"])
    book.save(plain)
    with zipfile.ZipFile(plain) as given, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        parts: dict[str, Iterable[bytes]] = {name: [given.read(name)] for name in given.namelist()}
        parts["xl/worksheets/sheet1.xml"] = rows
        if strings is not None:
            parts["xl/sharedStrings.xml"] = strings
            kinds = given.read("[Content_Types].xml")
            parts["[Content_Types].xml"] = [kinds.replace(b"</Types>", SHARED + b"</Types>")]
        for name, pieces in parts.items():
            with made.open(name, "w") as member:
                for piece in pieces:
                    member.write(piece)
    return path


def head() -> bytes:
    cells = b'<c r="A1" t="inlineStr"><is><t>died</t></is></c><c r="B1" t="inlineStr"><is><t>p</t></is></c>'
    return SHEET + b'<row r="1">' + cells + b"</row>"


def end() -> bytes:
    return b"</sheetData></worksheet>"


def test_a_zip_bomb_in_the_shared_texts_of_a_workbook(tmp_path: Path) -> None:
    def strings() -> Iterable[bytes]:
        yield b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        for _ in range(150):
            yield b"<si><t>" + b"a" * (2 * MEBIBYTE) + b"</t></si>"
        yield b"</sst>"

    path = workbook(tmp_path / "cohort.xlsx", [head(), end()], strings=strings())
    assert path.stat().st_size < 5 * MEBIBYTE
    assert "largest" in refused(bounded(*shell.risk_words(path)))


def test_a_cell_far_to_the_right_of_every_row(tmp_path: Path) -> None:
    """Each row of forty bytes becomes 16,384 cells."""

    def rows() -> Iterable[bytes]:
        yield head()
        for row in range(2, 30_000):
            yield b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (row, row)
        yield end()

    message = refused(
        bounded(*shell.risk_words(workbook(tmp_path / "cohort.xlsx", rows()), "--largest-unpacked", "500000000"))
    )
    assert "bytes, unpacked, were expected" in message


def test_one_wide_row_above_many_narrow_ones(tmp_path: Path) -> None:
    def rows() -> Iterable[bytes]:
        yield head() + b'<row r="2"><c r="A2"><v>1</v></c><c r="XFD2"><v>1</v></c></row>'
        for row in range(3, 12_000):
            yield b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (row, row)
        yield end()

    message = refused(
        bounded(*shell.risk_words(workbook(tmp_path / "cohort.xlsx", rows()), "--largest-unpacked", "500000000"))
    )
    assert "bytes, unpacked, were expected" in message


def test_a_row_numbered_a_thousand_million(tmp_path: Path) -> None:
    def rows() -> Iterable[bytes]:
        yield head() + b'<row r="1000000000"><c r="A1000000000"><v>1</v></c></row>' + end()

    message = refused(bounded(*shell.risk_words(workbook(tmp_path / "cohort.xlsx", rows()))))
    assert "1,048,576 rows" in message


def test_a_parquet_file_of_one_long_text_in_every_row(tmp_path: Path) -> None:
    """A megabyte, referred to a hundred thousand times: 100 GB in a file of a few kilobytes."""
    rows = 100_000
    note = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * rows, pyarrow.int32()), pyarrow.array(["a" * MEBIBYTE])
    )
    table = pyarrow.table({"died": [0, 1] * (rows // 2), "p": [0.5] * rows, "note": note})
    path = tmp_path / "cohort.parquet"
    pyarrow.parquet.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < MEBIBYTE
    assert "bytes, unpacked, were expected" in refused(bounded(*shell.risk_words(path)))


def test_a_parquet_file_of_hundreds_of_millions_of_equal_rows(tmp_path: Path) -> None:
    path = tmp_path / "cohort.parquet"
    one = pyarrow.table({"died": pyarrow.nulls(2**24, pyarrow.int8()), "p": pyarrow.nulls(2**24, pyarrow.float32())})
    with pyarrow.parquet.ParquetWriter(path, one.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(one, row_group_size=2**24)
    assert path.stat().st_size < 2 * MEBIBYTE
    assert "bytes, unpacked, were expected" in refused(bounded(*shell.risk_words(path)))


# ---- documents -------------------------------------------------------------------------------------------------------


def predictions(folder: Path) -> Path:
    path = folder / "found.jsonl"
    path.write_text('{"id": "a", "spans": []}\n', encoding="utf-8")
    return path


def scored(gold: Path, pred: Path) -> str:
    return refused(bounded("score", "spans", "--gold", gold, "--pred", pred, "--replicates", "200"))


@pytest.mark.parametrize("filling", [b'{"id": "a", "text": "b", "spans": []}\n', b" ", b"\n"])
def test_a_gzip_bomb_of_documents(tmp_path: Path, filling: bytes) -> None:
    head = b'{"id": "a", "text": "Ann", "spans": []}\n'
    gold = gzip_bomb(tmp_path / "gold.jsonl.gz", head, filling, 6 * 2**30)
    scored(gold, predictions(tmp_path))


def test_a_zip_bomb_of_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "notes.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for number in range(40):
            archive.writestr(f"{number}.txt", b"a" * (16 * MEBIBYTE))
            archive.writestr(f"{number}.ann", b"")
    assert "as in a zip bomb" in scored(path, predictions(tmp_path))


def test_a_bomb_of_a_docbin(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    path = tmp_path / "notes.spacy"
    packer = zlib.compressobj(9)
    block = b"\0" * (16 * MEBIBYTE)
    path.write_bytes(b"".join(packer.compress(block) for _ in range(40)) + packer.flush())
    assert "a DocBin of at most" in scored(path, predictions(tmp_path))


def test_the_limits_change_nothing_in_the_record(tmp_path: Path) -> None:
    path = shell.write(tmp_path / "cohort.csv", shell.cohort())
    records = []
    for words in ((), ("--largest-unpacked", "123456789")):
        done = shell.call(*shell.risk_words(path, "--json", "-", *words))
        assert done.code == 0, done.err
        records.append(json.loads(done.out))
    assert records[0] == records[1]
