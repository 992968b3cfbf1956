"""The written forms of clinical terms: their normal form, their variants, and the notation of the hand-written lists.

Used when the shipped vocabularies are built and when a user adds terms of their own. It reads no text of patients.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from workup.text.unicode import lowered, unaccented

CATEGORIES = ("disease", "drug", "procedure", "anatomy", "lab", "vital")

WORD = r"[^\W_]+|&"
_WORDS = re.compile(WORD)

# How a surface is to be met in text: `e` in the very case it is written in, `n` only before a number, `en` both.
KINDS = ("", "e", "n", "en")

_BRITISH = (
    ("emia", "aemia"),
    ("edema", "oedema"),
    ("esophag", "oesophag"),
    ("hemo", "haemo"),
    ("hema", "haema"),
    ("ischemi", "ischaemi"),
    ("tumor", "tumour"),
    ("rrhea", "rrhoea"),
    ("pnea", "pnoea"),
    ("celiac", "coeliac"),
    ("fetal", "foetal"),
    ("fetus", "foetus"),
    ("estrogen", "oestrogen"),
    ("estradiol", "oestradiol"),
    ("cesarean", "caesarean"),
    ("goiter", "goitre"),
    ("behavior", "behaviour"),
    ("ization", "isation"),
    ("sulf", "sulph"),
)


class Surface(NamedTuple):
    """One written form of a concept, in normal form, and how it is to be met."""

    words: str
    kind: str = ""


class Concept(NamedTuple):
    """A concept of the hand-written lists: its preferred name and its surfaces, the preferred one first."""

    name: str
    surfaces: tuple[Surface, ...]


def normal_form(surface: str, *, keep_case: bool = False) -> str:
    """The words of a surface with one blank between them, so that hyphens, blanks and line ends are alike.

    >>> normal_form("Beta-blocker"), normal_form("Crohn’s  disease"), normal_form("D&C", keep_case=True)
    ('beta blocker', 'crohn s disease', 'D & C')
    """
    plain = unaccented(surface)
    return " ".join(_WORDS.findall(plain if keep_case else lowered(plain)))


def notation(surface: str) -> Surface:
    """Read a surface as the hand-written lists note it: a capital fixes the case, a # at its end asks for a number.

    >>> notation("MI"), notation("na#"), notation("heart attack")
    (Surface(words='MI', kind='e'), Surface(words='na', kind='n'), Surface(words='heart attack', kind=''))
    """
    bare = surface.strip().removesuffix("#")
    kind = ("e" if bare != bare.lower() else "") + ("n" if surface.strip().endswith("#") else "")
    return Surface(normal_form(bare, keep_case="e" in kind), kind)


def read_list(text: str) -> list[Concept]:
    """The concepts of a hand-written list: apart by `;` or a line end, their surfaces joined by `=`.

    A surface by itself is left out where a joined group holds it as well.

    >>> [concept.name for concept in read_list("liver; spleen\\nheart attack = MI; MI")]
    ['liver', 'spleen', 'heart attack']
    """
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    groups = [
        [part.strip() for part in group.split("=")] for line in lines for group in line.split(";") if group.strip()
    ]
    joined = {surface for group in groups if len(group) > 1 for surface in group}
    found: dict[str, Concept] = {}
    for group in groups:
        if len(group) == 1 and group[0] in joined:
            continue
        surfaces = tuple(dict.fromkeys(notation(surface) for surface in group))
        name = surfaces[0].words
        if name in found and len(group) > 1:
            raise ValueError(f"a list of terms names the concept '{name}' twice; join its surfaces in one group")
        found.setdefault(name, Concept(name, surfaces))
    return list(found.values())


def plurals(words: str) -> Iterator[str]:
    """The regular plural of the last word, where it can have one.

    >>> [form for name in ("biopsy", "crisis", "kidney stone", "diabetes", "rash") for form in plurals(name)]
    ['biopsies', 'crises', 'kidney stones', 'rashes']
    """
    last = words.rsplit(" ", 1)[-1]
    if len(last) < 3 or not last.isalpha():
        return
    if last.endswith("sis"):
        yield words[:-2] + "es"
    elif last.endswith(("ch", "sh", "x")):
        yield words + "es"
    elif last.endswith("y") and last[-2] not in "aeiou":
        yield words[:-1] + "ies"
    elif not last.endswith("s"):
        yield words + "s"


def spellings(words: str) -> Iterator[str]:
    """British spelling, and the possessive written without its apostrophe or left out.

    >>> list(spellings("anemia")), list(spellings("crohn s disease"))
    (['anaemia'], ['crohns disease', 'crohn disease'])
    """
    if " s " in f"{words} " and "protein s" not in words:
        yield f"{words} ".replace(" s ", "s ").strip()
        if not words.endswith(" s"):
            yield words.replace(" s ", " ")
    british = words
    for here, there in _BRITISH:
        if there not in british:
            british = british.replace(here, there)
    if british != words:
        yield british


def variants(surface: Surface, *, plural: bool = True) -> list[Surface]:
    """All forms of a surface that are matched, itself first; the case of an abbreviation is kept.

    >>> [form.words for form in variants(Surface("MI", "e"))], [form.words for form in variants(Surface("edema"))]
    (['MI', 'MIs'], ['edema', 'oedema', 'edemas', 'oedemas'])
    """
    forms = [surface.words]
    if surface.kind == "e" and plural and surface.words.isalpha() and surface.words.isupper():
        forms.append(surface.words + "s")
    elif surface.kind == "":
        forms.extend(spellings(surface.words))
        if plural:
            forms.extend(form for singular in list(forms) for form in plurals(singular))
    return [Surface(form, surface.kind) for form in dict.fromkeys(forms)]


def all_variants(surfaces: Iterable[Surface], *, plural: bool = True) -> list[Surface]:
    """The variants of several surfaces, each once, in their order."""
    return list(dict.fromkeys(form for surface in surfaces for form in variants(surface, plural=plural)))
