"""Archives that must not be trusted: bombs, names that lead out, passwords, damage."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from workup.corpora.formats.spans import brat, file_sets, i2b2
from workup.errors import InputError


def packed(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=compression)
    return path


@pytest.mark.parametrize("name", ["../n1.ann", "/n1.ann", "a/../../n1.ann", "C:n1.ann", "..\\n1.ann"])
def test_names_that_lead_out_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"c\.zip: .* a name that leads out of it"):
        list(brat.read(packed(tmp_path / "c.zip", {"n1.txt": b"x", name: b""})))


def test_a_member_that_is_too_large_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    bomb = packed(tmp_path / "c.zip", {"n1.ann": b"", "n1.txt": b"a" * (file_sets.LARGEST_MEMBER + 1)})
    with pytest.raises(InputError, match=r"c\.zip, member 2: a file of at most"):
        list(brat.read(bomb))


def test_many_members_that_unpack_to_far_too_much_are_refused(tmp_path: Path) -> None:
    members = {f"n{i}.{ending}": b"a" * 2_000_000 for i in range(4) for ending in ("txt", "ann")}
    with pytest.raises(InputError, match=r"c\.zip: an archive of texts .* 16,000,000 bytes packed into .* zip bomb"):
        list(brat.read(packed(tmp_path / "c.zip", members)))


def test_text_that_repeats_itself_is_no_bomb(tmp_path: Path) -> None:
    corpus = packed(tmp_path / "c.zip", {"n1.txt": b"a" * 1_000_000, "n1.ann": b"T1\tX 0 4\taaaa\n"})
    assert len(next(brat.read(corpus)).text) == 1_000_000


def test_what_a_mac_adds_is_passed_over(tmp_path: Path) -> None:
    members = {"c/n1.txt": b"x", "c/n1.ann": b"", "__MACOSX/c/._n1.ann": b"\xff", "c/.DS_Store": b"\0"}
    assert [document.id for document in brat.read(packed(tmp_path / "c.zip", members))] == ["n1"]


def test_damage_one_name_twice_and_unknown_compression(tmp_path: Path) -> None:
    path = packed(tmp_path / "c.zip", {"n1.txt": os.urandom(5000).hex().encode(), "n1.ann": b""})
    content = bytearray(path.read_bytes())
    content[200:220] = b"\0" * 20
    (tmp_path / "torn.zip").write_bytes(content)
    with pytest.raises(InputError, match=r"torn\.zip: a zip archive that can be read"):
        list(brat.read(tmp_path / "torn.zip"))
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("n1.txt", "x")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("n1.txt", "y")
    with pytest.raises(InputError, match="one name twice"):
        list(i2b2.read(tmp_path / "two.zip"))


def test_a_pipe_or_nothing_is_no_corpus(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, got in (("pipe", "something else"), ("absent", "nothing at this path")):
        with pytest.raises(InputError, match=got):
            list(brat.read(tmp_path / name))
    (tmp_path / "c").mkdir()
    os.mkfifo(tmp_path / "c" / "n1.ann")
    with pytest.raises(InputError, match=r"files that end in \.ann"):
        list(brat.read(tmp_path / "c"))
