"""The names of a fact as words to look for: status and allergy words taken off, doses and sides read, plurals folded.

"Penicillin allergy" becomes penicillin, to be met as an allergy; "warfarin 5 mg" becomes warfarin with a dose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from workup.tasks.conversation.read.names import ALIAS, CONCEPT, other_names
from workup.tasks.conversation.read.sentence.cues import phrases, starts_with
from workup.tasks.conversation.read.sentence.doses import find_doses, number_of
from workup.tasks.conversation.read.sentence.folding import tokens
from workup.tasks.conversation.read.sentence.frequencies import find_frequencies
from workup.tasks.conversation.read.sentence.routes_sides_dates import find_routes, side_at
from workup.tasks.conversation.read.sentence.vocabulary import table

SIDE = "<side>"
_MOST_KEPT = 4096  # facts; the same ones are asked for in every arm and run, and by every reader of a case
_JOINED = re.compile(r"[a-z]{4}[-\u2010\u2011\u2013][a-z]{4}|[a-z]{4} and [a-z]{4}", re.IGNORECASE)


class Name(NamedTuple):
    """Stems to look for. `whole` marks a name that carries its own allergy or status words and needs no others."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    whole: bool = False
    inverted: bool = False  # the name itself denies: "NKDA", "nonsmoker" of a fact that is absent
    via: str = CONCEPT


@cache
def _groups() -> dict[str, str]:
    return {word: line.split()[0] for line in table("inflections")["groups"] for word in line.split()}


@cache
def _no_plural() -> frozenset[str]:
    return frozenset(table("inflections")["no_plural"])


def stem(word: str) -> str:
    """One form for a word and its inflections.

    >>> stem("stones"), stem("allergic"), stem("biopsies"), stem("lupus")
    ('stone', 'allergy', 'biopsy', 'lupus')
    """
    group = _groups().get(word)
    if group is not None:
        return group
    if len(word) < 4 or word[-1] != "s" or word in _no_plural() or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    single = word[:-1]
    return _groups().get(single, single)


@cache
def _listed(name: str) -> dict[str, list[tuple[str, ...]]]:
    opened: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted(phrases(table("names")[name]), key=len, reverse=True):
        opened.setdefault(phrase[0], []).append(phrase)
    return opened


@cache
def _word_list(name: str) -> frozenset[str]:
    return frozenset(word for line in table("names")[name] for word in line.split())


def names_of(texts: tuple[str, ...], kind: str, status: str) -> tuple[list[Name], dict[str, Any]]:
    """The names to look for, and the attributes that the texts themselves state.

    >>> names, stated = names_of(("warfarin 5 mg daily",), "medication", "present")
    >>> names[0].words, stated
    (('warfarin',), {'dose_value': 5.0, 'dose_unit': 'mg', 'frequency': 'daily'})
    """
    found, stated = _names_of(texts, kind, status)
    return list(found), dict(stated)


@lru_cache(maxsize=_MOST_KEPT)
def _names_of(texts: tuple[str, ...], kind: str, status: str) -> tuple[tuple[Name, ...], Mapping[str, Any]]:
    found: dict[tuple[str, ...], Name] = {}
    stated: dict[str, Any] = {}
    for number, text in enumerate(texts):
        words, own = _without_values([word for word in tokens(text) if word not in ("(", ")", ",", ":")], kind)
        for key, value in own.items():
            stated.setdefault(key, value)
        forms = [[word for word in words if word[0].isalnum() or word == SIDE]]
        if kind in ("medication", "allergy") and _JOINED.search(text) and len(forms[0]) == 2:
            forms.append([forms[0][0], "/", forms[0][1]])  # "amoxicillin-clavulanate" is written with a stroke too
        if "/" in words[1:-1]:  # "amoxicillin/clavulanate" is met with its stroke and without
            forms.append([word for word in words if word[0].isalnum() or word in (SIDE, "/")])
        for form in forms:
            for name in _cores(form, kind, status) if form else ():
                found.setdefault(name.words, name._replace(via=ALIAS) if number else name)
    return tuple(found.values()), MappingProxyType(stated)


def further_names(names: list[Name], kind: str) -> list[Name]:
    """What else the vocabularies call it; a name that carries its own status words has no others.

    >>> names, _ = names_of(("penicillin allergy",), "allergy", "present")
    >>> ("bicillin",) in [name.words for name in further_names(names, "allergy")]
    True
    """
    given = tuple(" ".join(name.words) for name in names if not name.whole and SIDE not in name.words)
    return list(_further(given, kind))


@lru_cache(maxsize=_MOST_KEPT)
def _further(given: tuple[str, ...], kind: str) -> tuple[Name, ...]:
    return tuple(_name(other.words.split())._replace(via=other.via) for other in other_names(given, kind))


def _without_values(words: list[str], kind: str) -> tuple[list[str], dict[str, Any]]:
    """Take doses, frequencies and routes off a drug, a number off a result, a side off a problem."""
    if kind in ("medication", "result"):
        return _without_dose(words, kind)
    stated: dict[str, Any] = {}
    kept = list(words)
    for place in range(len(words)):
        side = side_at(words, place)
        if not side or len(words[place]) == 1:
            continue
        stated["laterality"] = side
        if words[place + 1 : place + 2] == ["sided"]:
            kept[place + 1] = ""
        kept[place] = "" if not any(kept[:place]) else SIDE
    remaining = [word for word in kept if word]
    return (remaining, stated) if any(word != SIDE for word in remaining) else (words, {})


def _without_dose(words: list[str], kind: str) -> tuple[list[str], dict[str, Any]]:
    stated: dict[str, Any] = {}
    spans: list[tuple[int, int]] = []
    doses = find_doses(words, 0, len(words))
    if doses:
        dose = doses[0]
        sign = "-" if dose.kind == "range" else "/"
        one = len(dose.amounts) == 1
        stated["dose_value"] = dose.amounts[0] if one else sign.join(f"{amount:g}" for amount in dose.amounts)
        if dose.unit is not None:
            stated["dose_unit"] = dose.unit.name + (f"/{dose.per}" if dose.per and kind == "result" else "")
        spans += [(one_dose.start, one_dose.end) for one_dose in doses]
    elif len(words) > 1 and number_of(words[-1]) is not None and (len(words[-1]) > 1 or kind == "result"):
        if len(words) > 3 and words[-2] == "/" and number_of(words[-3]) is not None:
            stated["dose_value"] = f"{words[-3]}/{words[-1]}"
            spans.append((len(words) - 3, len(words)))
        else:
            stated["dose_value"] = number_of(words[-1])
            spans.append((len(words) - 1, len(words)))
    if kind == "medication":
        frequencies = find_frequencies(words, 0, len(words))
        if frequencies:
            first, last = frequencies[0].start, frequencies[-1].end
            stated["frequency"] = " ".join(words[first:last])
            spans += [(one.start, one.end) for one in frequencies]
        routes = [route for route in find_routes(words, 1, len(words)) if route.value not in ("injected",)]
        if routes and (doses or frequencies):
            stated["route"] = routes[0].value
            spans += [(route.start, route.end) for route in routes]
    kept = [word for place, word in enumerate(words) if not any(first <= place < last for first, last in spans)]
    while kept and kept[-1] in ("tablet", "tablets", "capsule", "capsules", "of", "at", "-", "/", "x"):
        kept.pop()
    return (kept, stated) if any(word[0].isalpha() for word in kept) else (words, {})


def _cores(words: list[str], kind: str, status: str) -> list[Name]:
    fused = _word_list("denying_names")
    if status == "absent" and words[0] in fused:
        return [_name(words, whole=True, inverted=True)]
    core = _stripped(words, f"{status}_openers", f"{status}_closers")
    if kind != "allergy":
        return [_name(core)]
    drug = _stripped(core, "allergy_openers", "allergy_closers")
    if not drug or set(drug) <= _word_list("allergy_generic"):
        return [_name(core, whole=True)]
    found = [_name(drug)]
    if len(drug) > 1 and drug[-1] in _word_list("drug_generic"):
        found.append(_name(drug[:-1]))
    return found


def _stripped(words: list[str], openers: str, closers: str) -> list[str]:
    lists = table("names")
    kept = list(words)
    if openers in lists:
        while length := starts_with(kept, 0, _listed(openers)):
            kept = kept[length:]
    if closers in lists:
        ends = phrases(lists[closers])
        while end := next((one for one in ends if len(kept) > len(one) and tuple(kept[-len(one) :]) == one), None):
            kept = kept[: -len(end)]
    return kept or (list(words) if "allergy" not in openers else [])


def _name(words: list[str], *, whole: bool = False, inverted: bool = False) -> Name:
    return Name(tuple(words), tuple(word if word == SIDE else stem(word) for word in words), whole, inverted)
