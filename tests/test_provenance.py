"""Every shipped file of data has its source and licence, and every work of others has its notice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT

SOURCE = ROOT / "src" / "workup"
FOLDERS = sorted(path for path in SOURCE.rglob("data") if path.is_dir())
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")
OWN = "Apache-2.0, as Workup itself"
SCOWL = (
    "Kevin Atkinson",
    "Grady Ward",
    "Brian Kelk",
    "Alan Beale",
    "WordNet 1.6 Copyright 1997 by Princeton University",
)
SCOWL += ("J Ross Beresford 1993-1999", "Benjamin Titze", "Copyright 1993, Geoff Kuenning, Granada Hills, CA")


def records(folder: Path) -> dict[str, dict[str, Any]]:
    record = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    assert not set(record.get("files", {})) & set(record.get("written", {}))
    return {**record.get("files", {}), **record.get("written", {})}


def name_of(folder: Path) -> str:
    return folder.relative_to(SOURCE.parent).as_posix()


def test_there_are_folders_of_data() -> None:
    assert len(FOLDERS) >= 8


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_every_file_has_its_source_and_licence(folder: Path) -> None:
    held = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {"provenance.json"}
    held = {name for name in held if "__pycache__" not in name}
    known = records(folder)
    assert held == set(known), "each file has an entry, and each entry a file"
    for name, record in known.items():
        for field in ("source", "licence", "derived"):
            assert isinstance(record.get(field), str) and record[field].strip(), f"{name} lacks '{field}'"


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_every_folder_and_every_work_of_others_stands_in_the_notice(folder: Path) -> None:
    assert name_of(folder) in NOTICE
    for name, record in records(folder).items():
        if record["licence"] != OWN:
            assert name in NOTICE, f"{name} is a work of others"


def test_attribution_is_whole() -> None:
    """Creative Commons asks for title, author, source, licence and changes; the others for their notices."""
    for title, licence in (("GeoNames", "by/4.0"), ("Google Books Ngrams", "by/3.0")):
        section = NOTICE.split(f". {title}\n")[1].split("\n\n\n")[0]
        assert f"https://creativecommons.org/licenses/{licence}/" in section
        assert all(word in section for word in ("Title: ", "Author: ", "Source: https://", "Changes: "))
    said = NOTICE.split("---- begin of the copyright file of SCOWL")[1].split("---- end of")[0]
    assert all(name in said for name in SCOWL)
    assert "THIS SOFTWARE IS PROVIDED BY GEOFF KUENNING" in said and "WITHOUT WARRANTY OF ANY" in NOTICE


def test_data_and_notice_are_shipped() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "NOTICE" in project["project"]["license-files"]
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/workup"]
