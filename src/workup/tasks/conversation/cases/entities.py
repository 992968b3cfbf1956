"""Critical entities of the simple form as facts: "penicillin allergy" is an allergy, "warfarin 5 mg" has a dose.

What the words do not say is taken as present; the kind of a bare name comes from the clinical vocabularies.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts.names import names_of
from workup.tasks.conversation.read.sentence.folding import word_tokens
from workup.tasks.conversation.read.sentence.vocabulary import table

if TYPE_CHECKING:
    from workup.lexicon import Extractor

_KINDS = {"drug": "medication", "procedure": "procedure", "lab": "result", "vital": "result"}
_ALLERGY = frozenset(["allergy", "allergies", "allergic", "anaphylaxis", "hypersensitivity", "nkda", "intolerance"])
_SOCIAL = frozenset(
    [
        "smoker",
        "smoking",
        "smokes",
        "tobacco",
        "alcohol",
        "drinks",
        "vapes",
        "vaping",
        "pregnant",
        "pregnancy",
        "lives",
        "homeless",
    ]
)
_STATUSES = ("family", "historical", "uncertain", "absent")


def fact_of_entity(text: str, *, id: str) -> Fact:
    """The fact that an entity stands for, introduced at turn 1.

    >>> fact = fact_of_entity("warfarin 5 mg daily", id="e1")
    >>> fact.type, fact.concept, dict(fact.attributes)
    ('medication', 'warfarin', {'dose_value': 5.0, 'dose_unit': 'mg', 'frequency': 'daily'})
    >>> fact_of_entity("family history of breast cancer", id="e2").status
    'family'
    """
    words = word_tokens(text)
    status = next((status for status in _STATUSES if _opens(words, f"{status}_openers")), "present")
    type = _type_of(text, words)
    names, stated = names_of((text,), type, status)
    concept = text
    if stated or status != "present":
        plain = " ".join(names[0].words) if names and "<" not in " ".join(names[0].words) else text
        concept = text if type == "allergy" else plain
    return Fact(id, type, concept, status=status, attributes=stated)


def _opens(words: tuple[str, ...], name: str) -> bool:
    openers = (tuple(line.split()) for line in table("names")[name])
    return any(len(words) > len(opener) and words[: len(opener)] == opener for opener in openers)


def _type_of(text: str, words: tuple[str, ...]) -> str:
    if not _ALLERGY.isdisjoint(words):
        return "allergy"
    if not _SOCIAL.isdisjoint(words):
        return "social"
    if "risk" in words:
        return "risk"
    found = _extractor().extract(text)
    if not found:
        _, stated = names_of((text,), "medication", "present")
        return "medication" if "dose_unit" in stated else "diagnosis"
    widest = max(found, key=lambda term: term.end - term.start)
    return _KINDS.get(widest.category, "diagnosis")


@cache
def _extractor() -> Extractor:
    from workup.lexicon import Extractor

    return Extractor.load()
