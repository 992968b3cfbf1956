"""A folder or archive of documents that somebody sent: no link in it leads to another file of the reader."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from tests.support.shell import SECRET, Done, call


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "private.txt"
    path.write_text(f"{SECRET} of the reader\n", encoding="utf-8")
    return path


def folder(path: Path, secret: Path, *, linked: str) -> Path:
    """A corpus with a whole document and one whose file, or whole folder, is a link."""
    path.mkdir()
    if linked == "folder":
        inner = secret.parent / "elsewhere"
        inner.mkdir()
        (inner / "b.txt").write_text(SECRET, encoding="utf-8")
        (inner / "b.ann").write_text("", encoding="utf-8")
        (path / "inner").symlink_to(inner)
    else:
        for ending in ("txt", "ann", "xml"):
            place = path / f"a.{ending}"
            if ending == linked:
                place.symlink_to(secret)
            elif ending != "xml":
                place.write_text("", encoding="utf-8")
    (path / "good.txt").write_text("Rose came.\n", encoding="utf-8")
    (path / "good.ann").write_text("T1\tNAME 0 4\tRose\n", encoding="utf-8")
    return path


def refused(done: Done, *outputs: Path) -> None:
    assert done.code == 2, done
    assert "a link" in done.err and SECRET not in done.out + done.err
    assert not any(out.exists() for out in outputs)


@pytest.mark.parametrize("linked", ["txt", "ann", "folder"])
def test_a_brat_folder(linked: str, tmp_path: Path, secret: Path) -> None:
    corpus, out = folder(tmp_path / "b", secret, linked=linked), tmp_path / "out.jsonl"
    refused(call("corpus", "convert", corpus, out, "--from", "brat"), out)
    refused(call("corpus", "describe", corpus))


def test_an_i2b2_folder(tmp_path: Path, secret: Path) -> None:
    corpus, out = folder(tmp_path / "b", secret, linked="xml"), tmp_path / "out.jsonl"
    refused(call("corpus", "convert", corpus, out, "--from", "i2b2"), out)


@pytest.mark.parametrize("linked", ["txt", "folder"])
def test_a_folder_of_notes(linked: str, tmp_path: Path, secret: Path) -> None:
    notes, out = folder(tmp_path / "n", secret, linked=linked), tmp_path / "out"
    refused(call("redact", notes, "-o", out), out)
    refused(call("corpus", "inject", "--source", notes, "--seed", "1", "-o", out), out)
    refused(call("detect", notes, "-o", out), out)


def test_a_folder_of_redacted_notes(tmp_path: Path, secret: Path) -> None:
    pytest.importorskip("cryptography")
    notes, out, key = tmp_path / "plain", tmp_path / "out", tmp_path / "k"
    notes.mkdir()
    (notes / "a.txt").write_text("Rose came.\n", encoding="utf-8")
    key.write_bytes(b"0123456789abcdef0123456789abcdef\n")
    assert call("redact", notes, "-o", out, "--map", tmp_path / "m", "--key-file", key).code == 0
    (out / "b.txt").symlink_to(secret)
    refused(
        call("restore", out, "--map", tmp_path / "m", "--key-file", key, "-o", tmp_path / "back"), tmp_path / "back"
    )


def test_the_other_file_of_a_pair(tmp_path: Path, secret: Path) -> None:
    corpus, out = folder(tmp_path / "b", secret, linked="txt"), tmp_path / "out.jsonl"
    refused(call("corpus", "convert", corpus / "a.ann", out, "--from", "brat"), out)


def test_a_member_of_an_archive_that_is_a_link(tmp_path: Path, secret: Path) -> None:
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        link = zipfile.ZipInfo("a.txt")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, str(secret))
        archive.writestr("a.ann", "")
    refused(call("corpus", "convert", tmp_path / "c.zip", tmp_path / "o.jsonl", "--from", "brat"), tmp_path / "o.jsonl")


def test_a_link_that_the_user_names_is_followed(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Rose came.\n", encoding="utf-8")
    (tmp_path / "link.txt").symlink_to(tmp_path / "note.txt")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("Rose came.\n", encoding="utf-8")
    (tmp_path / "notes link").symlink_to(tmp_path / "notes")
    assert call("redact", tmp_path / "link.txt", "-o", tmp_path / "o.txt").code == 0
    assert call("redact", tmp_path / "notes link", "-o", tmp_path / "out").code == 0


def test_a_hidden_link_is_no_document(tmp_path: Path, secret: Path) -> None:
    """An editor leaves such a link beside a file that it has open."""
    corpus = folder(tmp_path / "b", secret, linked="none")
    (corpus / ".#good.txt").symlink_to("rose@ward.4711")
    assert call("corpus", "describe", corpus).code == 0
