"""What else a thing is called: brands and generic names of drugs, synonyms of diseases, tests and procedures.

One table for facts and advice: the clinical vocabularies that ship with the project and data/advice_drugs.yaml. A name
that could mean something else is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.sentence.folding import word_tokens
from workup.tasks.conversation.read.sentence.vocabulary import table

CONCEPT, ALIAS, SYNONYM, BRAND, ABBREVIATION, FUZZY = "concept", "alias", "synonym", "brand", "abbreviation", "fuzzy"
DRUG_KINDS = frozenset({"medication", "allergy"})
_CATEGORIES = {
    **dict.fromkeys(("diagnosis", "symptom", "risk", "social"), ("disease",)),
    **dict.fromkeys(("procedure", "plan"), ("procedure", "lab")),
    "result": ("lab", "vital"),
}
_SHORTEST = 4  # letters; shorter names are met only where they are listed


class OtherName(NamedTuple):
    """A name that the case does not give, and by which kind of name it is met."""

    words: str
    via: str


@cache
def _left_out() -> frozenset[str]:
    return frozenset(part.strip() for line in table("advice_drugs")["left_out"] for part in line.split(";"))


def plain(text: str) -> str:
    """A name as the tables have it: folded, hyphens as blanks.

    >>> plain("Amoxicillin-Clavulanate"), plain("Co-Trimoxazole")
    ('amoxicillin clavulanate', 'co trimoxazole')
    """
    return " ".join(word_tokens(text.replace("_", " ")))


def _lexicon_names(*, own: bool) -> Mapping[str, list[str]]:
    """Names of drugs by their concept in the project's own lists or, from five letters on, in the others."""
    from workup.lexicon import sources

    short = frozenset(table("advice_drugs")["too_short"])
    everyday = frozenset(word for line in table("words")["no_drugs"] for word in line.split())
    left_out = _left_out() | short | (frozenset() if own else everyday)
    found: dict[str, list[str]] = {}
    for source in sources.provenance():
        if (source.file == "own.tsv.gz") != own:
            continue
        for row in sources.read_source(source):
            concept = plain(row.concept) if row.category == "drug" else ""
            if not concept or concept in left_out:
                continue
            names = [concept, *(plain(surface) for surface in row.surfaces)]
            kept = [name for name in names if own or name == concept or (" " not in name and len(name) > 4)]
            found.setdefault(concept, []).extend(name for name in kept if name and name not in left_out)
    return found


@cache
def generic_names() -> Mapping[str, str]:
    """Every name of a drug with its generic name.

    >>> names = generic_names()
    >>> names["tylenol"], names["augmentin"], names["penicillamine"]
    ('acetaminophen', 'amoxicillin clavulanate', 'penicillamine')
    """
    found: dict[str, str] = {}
    for generic, names in table("advice_drugs")["names"].items():
        for name in (generic, *names):
            found.setdefault(plain(name), generic)
    _add(found, _lexicon_names(own=True))
    # Members of classes keep their names: a vocabulary that prefers "clorazepic acid" is not to take clorazepate away.
    for record in table("advice_classes").values():
        for name in map(plain, record.get("members", ())):
            found.setdefault(name, name)
    _add(found, _lexicon_names(own=False))
    return found


def _add(found: dict[str, str], concepts: Mapping[str, list[str]]) -> None:
    for concept, names in concepts.items():
        generic = next((found[name] for name in names if name in found), concept)
        for name in names:
            found.setdefault(name, generic)


@cache
def _by_generic() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name, generic in generic_names().items():
        found.setdefault(generic, []).append(name)
    return {generic: tuple(names) for generic, names in found.items()}


@cache
def ingredients(generic: str) -> tuple[str, ...]:
    """The drugs that a combination is made of; a single drug is made of itself.

    >>> ingredients("oxycodone acetaminophen"), ingredients("insulin glargine")
    (('oxycodone', 'acetaminophen'), ('insulin glargine',))
    """
    words, generics = generic.split(), _by_generic()
    if len(words) == 1 or words[0] in listed_names("one_drug"):
        return (generic,)
    for first in range(len(words) - 1, 0, -1):
        head, rest = " ".join(words[:first]), " ".join(words[first:])
        if head in generics and all(part in generics for part in ingredients(rest)):
            return (head, *ingredients(rest))
    return (generic,)


@cache
def _combinations() -> Mapping[str, tuple[str, ...]]:
    """Combinations by each of their drugs."""
    found: dict[str, list[str]] = {}
    for generic in _by_generic():
        parts = ingredients(generic)
        for part in parts if len(parts) > 1 else ():
            found.setdefault(part, []).append(generic)
    return {part: tuple(generics) for part, generics in found.items()}


@cache
def listed_names(name: str) -> frozenset[str]:
    """A list of data/names.yaml that says which further names count."""
    return frozenset(word for line in table("names")[name] for word in line.split())


@cache
def _concepts() -> tuple[Mapping[str, frozenset[tuple[str, str]]], Mapping[tuple[str, str], tuple[str, ...]]]:
    """Surfaces with the concepts (category, name) that they name, and concepts with their surfaces."""
    from workup.lexicon import sources

    by_surface: dict[str, set[tuple[str, str]]] = {}
    by_concept: dict[tuple[str, str], list[str]] = {}
    for source in sources.provenance():
        for row in sources.read_source(source):
            if row.category in ("drug", "anatomy"):
                continue
            key = (row.category, row.concept)
            for surface in (plain(surface) for surface in row.surfaces):
                by_surface.setdefault(surface, set()).add(key)
                by_concept.setdefault(key, []).append(surface)
    return (
        {surface: frozenset(keys) for surface, keys in by_surface.items()},
        {key: tuple(dict.fromkeys(surfaces)) for key, surfaces in by_concept.items()},
    )


def other_names(given: Iterable[str], kind: str) -> Iterator[OtherName]:
    """Further names of a thing by those that its case gives, in their plain form.

    >>> next(one.words for one in other_names(["apixaban"], "medication"))
    'eliquis'
    >>> "high blood pressure" in {one.words for one in other_names(["hypertension"], "diagnosis")}
    True
    """
    own = list(dict.fromkeys(plain(name) for name in given))
    found = _of_drug(own, kind) if kind in DRUG_KINDS else _of_concept(own, kind)
    everyday = listed_names("everyday")
    for words, via in dict(found).items():
        if words in own or words in everyday:
            continue
        if len(words.replace(" ", "")) < _SHORTEST:
            if words in listed_names("abbreviations"):
                yield OtherName(words, ABBREVIATION)
        else:
            yield OtherName(words, via)


def _of_drug(own: list[str], kind: str) -> Iterator[tuple[str, str]]:
    generics = dict.fromkeys(generic_names()[name] for name in own if name in generic_names())
    for generic in generics:
        for name in _by_generic().get(generic, ()):
            yield name, SYNONYM if name == generic else BRAND
        if kind == "allergy":  # any of its drugs is reason enough
            for combined in _combinations().get(generic, ()):
                for name in _by_generic()[combined]:
                    yield name, BRAND


def _of_concept(own: list[str], kind: str) -> Iterator[tuple[str, str]]:
    by_surface, by_concept = _concepts()
    wanted = _CATEGORIES.get(kind, ())
    for name in own:
        keys = {key for key in by_surface.get(name, ()) if key[0] in wanted}
        if not keys:
            continue
        for key in sorted(keys):
            for surface in by_concept[key]:
                if by_surface[surface] <= keys:  # a surface of another concept as well says neither
                    yield surface, SYNONYM
        return  # the first name that the vocabularies know
