"""Everything a scribe writes from, compiled once: the grammar and the phrases of each specialty.

One wording serves every note whose allowed leaves, specialty and sex are alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from workup.corpora.generate.notes import grammar, vocabulary
from workup.corpora.generate.notes.slot_writers import Parts
from workup.corpora.generate.notes.templates import Compiler
from workup.corpora.generate.notes.vocabulary import Lab, Specialty

# The singular by which a template asks for a phrase, and the list of the specialty that holds it.
PHRASES = {
    "complaint": "complaints", "exam": "exam", "study": "studies", "plan": "plans", "story": "story",
    "problem": "problems", "procedure": "procedures", "anatomy": "anatomy",
}  # fmt: skip


@dataclass(frozen=True)
class Terms:
    """What one specialty says of one kind of patient: phrases, compiled; drugs with their doses; labs.

    `operations` are steps, each with a word of the procedures that it belongs to (none: any); `operable` the procedures
    of which steps are known.
    """

    phrases: Mapping[str, tuple[Parts, ...]]
    drugs: tuple[tuple[str, Parts], ...]
    labs: tuple[Lab, ...]
    operations: tuple[tuple[str, Parts], ...] = ()
    operable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wording:
    """The grammar for notes of a phrasing that may hold the leaves of `allowed` (None: all), section by section."""

    allowed: frozenset[str] | None
    phrasing: str
    compiler: Compiler
    sections: Mapping[str, tuple[Parts, ...]]


@cache
def wording(allowed: frozenset[str] | None, phrasing: str) -> Wording:
    """The grammar compiled for notes that may hold these identifying leaves, in one of the two phrasings."""
    source = grammar.source()
    compiler = Compiler(source.rules, allowed=allowed, phrasing=phrasing, shared=source.shared)
    sections = {name: compiler.named(name, section.options) for name, section in source.sections.items()}
    return Wording(allowed, phrasing, compiler, sections)


@cache
def terms(specialty: str, marks: str, allowed: frozenset[str] | None, phrasing: str) -> Terms:
    """A specialty's words for a patient with these marks (m or f, a for adults)."""
    return _terms(vocabulary.specialties()[specialty], marks, wording(allowed, phrasing).compiler)


@cache
def common_terms(young: bool, covid: bool, allowed: frozenset[str] | None, phrasing: str) -> Terms:
    """Illnesses, medicines and tests that any specialty may mention."""
    common = vocabulary.specialties()[vocabulary.COMMON]
    compiler = wording(allowed, phrasing).compiler
    prefix = "young_" if young else ""
    marks = "c" if covid else ""
    drugs = [vocabulary.drug_of(item) for item in common.items(f"{prefix}drugs", marks=marks)]
    return Terms(
        {"problem": compiler.options(common.items(f"{prefix}problems", marks=marks))},
        tuple((drug.name, compiler.template(drug.dose)) for drug in drugs),
        tuple(vocabulary.lab_of(item) for item in common.items("labs", marks="")),
    )


def _terms(specialty: Specialty, marks: str, compiler: Compiler) -> Terms:
    drugs = [vocabulary.drug_of(item) for item in specialty.items("drugs", marks=marks)]
    steps = [item.rpartition(" > ") for item in specialty.items("operation", marks=marks)]
    procedures = specialty.items("procedures", marks=marks)
    return Terms(
        {kind: compiler.options(specialty.items(key, marks=marks)) for kind, key in PHRASES.items()},
        tuple((drug.name, compiler.template(drug.dose)) for drug in drugs),
        tuple(vocabulary.lab_of(item) for item in specialty.items("labs", marks=marks)),
        tuple((word, compiler.template(step)) for word, _, step in steps),
        tuple(name for name in procedures if "{" not in name and any(word and word in name for word, _, _ in steps)),
    )
