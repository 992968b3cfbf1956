"""Which facts a clinical term names: by its concept in the vocabularies, by its words, or by the head of a longer name.

"Diabetes" names the fact "type 2 diabetes"; "penicillin" given as a drug does not name the allergy to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.content.lists import listed
from workup.tasks.conversation.read.content.passages import Entity, allergen, extractor, is_generic, stems_of
from workup.tasks.conversation.read.facts.mentions import prepare_fact
from workup.tasks.conversation.read.facts.names import SIDE, stem
from workup.tasks.conversation.read.sentence.vocabulary import table

Stems = tuple[str, ...]


class FactNames(NamedTuple):
    """The names of a fact as a term can meet them."""

    concepts: frozenset[str]
    stems: frozenset[Stems]  # whole names
    heads: frozenset[Stems]  # endings of longer names that name the fact too


@cache
def _other_concepts() -> frozenset[Stems]:
    return frozenset(tuple(stem(word) for word in line.split()) for line in table("other_concepts")["phrases"])


def heads_of(stems: Stems) -> Iterable[Stems]:
    """The shorter names that a longer one may be spoken of by: its endings, unless they mean something else.

    >>> list(heads_of(("chronic", "kidney", "disease"))), list(heads_of(("heat", "stroke")))
    ([('kidney', 'disease')], [])
    """
    if stems in _other_concepts():
        return
    generic = listed("generic_words")
    for first in range(1, len(stems)):
        head = stems[first:]
        if not is_generic(" ".join(head)) and not generic.issuperset(head) and any(w.isalpha() for w in head):
            yield head


def names_of_fact(fact: Fact) -> FactNames:
    """The concepts and words by which a term names a fact."""
    prepared = prepare_fact(fact)
    cores = [tuple(word for word in name.words if word != SIDE) for name in prepared.names]
    stems = frozenset(tuple(stem(word) for word in core) for core in cores if core)
    concepts: set[str] = set()
    for text in (*fact.names, *(" ".join(core) for core in cores)):
        size = max(1, len(text.split()))
        for term in extractor().extract(text):
            # A name such as "stroke after carotid surgery" is not named by each of the terms in it.
            whole = 2 * len(text[term.start : term.end].split()) >= size
            if whole and not is_generic(term.concept):
                concepts.add(allergen(term.concept) or term.concept)
    heads = frozenset(head for name in stems for head in heads_of(name)) - stems
    return FactNames(frozenset(concepts), stems, heads)


class Naming:
    """The facts of a case by all that names them; facts keep their places in the list.

    >>> from workup.tasks.conversation.read.content.passages import Passage
    >>> naming = Naming([Fact("f1", "allergy", "penicillin"), Fact("f2", "diagnosis", "type 2 diabetes")])
    >>> [naming.named(one, as_allergy=False) for one in Passage("Your diabetes. Penicillin V was given.").entities]
    [(1,), ()]
    """

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._concepts: dict[tuple[str, bool], list[int]] = {}
        self._stems: dict[tuple[Stems, bool], list[int]] = {}
        for place, fact in enumerate(facts):
            names, allergy = names_of_fact(fact), fact.type == "allergy"
            for concept in names.concepts:
                self._concepts.setdefault((concept, allergy), []).append(place)
            for stems in names.stems | names.heads:
                self._stems.setdefault((stems, allergy), []).append(place)

    def named(self, entity: Entity, *, as_allergy: bool) -> tuple[int, ...]:
        """The places of the facts that an entity names, as an allergy or as anything else."""
        found = self._concepts.get((entity.concept, as_allergy), ())
        by_words = self._stems.get((stems_of(entity.words), as_allergy), ())
        return tuple(sorted({*found, *by_words})) if by_words else tuple(found)

    def allergen(self, entity: Entity) -> bool:
        """Whether some fact is an allergy to this."""
        return (entity.concept, True) in self._concepts or (stems_of(entity.words), True) in self._stems
