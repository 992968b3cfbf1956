"""Sentences that say nothing of the patient: what to come back for, and what a drug or a disease does in general."""

from __future__ import annotations

from functools import cache

from workup.tasks.conversation.read.sentence.analysed import TREATMENTS, Analysed
from workup.tasks.conversation.read.sentence.clauses import HARD, SUBJECT
from workup.tasks.conversation.read.sentence.cues import word_set
from workup.tasks.conversation.read.sentence.precautions import warnings_in
from workup.tasks.conversation.read.sentence.vocabulary import drug_words

_ENDS = frozenset({HARD, SUBJECT})
_REACH = 30  # words from "for" to the last of the reasons
_SIGNS = frozenset({"sign", "symptom", "emergency", "side", "warning", "reason"})
_OWN = frozenset({"your", "her", "his", "my", "their", "our"})
_WARNED = frozenset({"symptom", "diagnosis", "result", "social"})


def warned_of(analysed: Analysed, start: int, kind: str) -> bool:
    """Whether a mention stands among the reasons to come back: "seek care for fever", "call with any rash".

    >>> from workup.tasks.conversation.read.sentence.text import Sentence
    >>> analysed = Analysed(Sentence("go to the nearest er right away for fever or rash".split(), False, ()), None)
    >>> warned_of(analysed, 10, "symptom"), warned_of(analysed, 10, "medication")
    (True, False)
    """
    if kind not in _WARNED:
        return False
    words = analysed.words
    for lead, trigger in analysed.warnings():
        if not trigger < start < trigger + _REACH or analysed.parted(trigger + 1, start, _ENDS):
            continue
        # "Call Dr. Ito about your gout" speaks of what she has; "call if your gout flares" is a condition anyway.
        owned = kind == "diagnosis" and not _OWN.isdisjoint(words[max(trigger, start - 3) : start])
        unhurried = words[lead] in word_set("unhurried_verbs") and word_set("urgency").isdisjoint(words[lead:start])
        if not owned and not unhurried:
            return True
    return False


def of_people(analysed: Analysed, start: int, end: int) -> bool:
    """Whether it is said of people at large: "anyone with asthma"; not of "someone with your asthma" or "like you".

    >>> from workup.tasks.conversation.read.sentence.text import Sentence
    >>> analysed = Analysed(Sentence("anyone with asthma should avoid it".split(), False, ()), None)
    >>> of_people(analysed, 2, 3)
    True
    """
    words = analysed.words
    people = word_set("people")
    if people.isdisjoint(words):
        return False
    meant = word_set("meant_you")
    for place in range(start - 1, analysed.shift - 1, -1):
        if words[place] in _PEOPLE_ENDS or analysed.parted(place + 1, start, _ENDS):
            return False
        if words[place] in meant:
            return False
        if words[place] in people:
            after = words[place + 1]
            if words[place] in ("those", "adults", "children", "women", "men") and after not in word_set("people_with"):
                return False
            before = words[place - 1] if place else ""
            return before not in ("no", "not", "like") and not {"like", "yourself"} & set(words[place : end + 3])
    after_it = words[end : end + 10]
    met = next((place for place, word in enumerate(after_it) if word in people), 0)
    return met > 0 and not {"in", "among"}.isdisjoint(after_it[:met]) and meant.isdisjoint(after_it[:met])


_PEOPLE_ENDS = frozenset({";", ":", "but"})


def may_suppose(words: list[str]) -> bool:
    """Whether a sentence has a word from which `warned_of` or `general` could follow: most have none.

    >>> may_suppose("ibuprofen is an nsaid".split()), may_suppose("you take ibuprofen".split())
    (True, False)
    """
    if not (word_set("general_verbs") | word_set("general_adverbs")).isdisjoint(words):
        return True
    if ("is" in words or "are" in words) and not _defining().isdisjoint(words):
        return True
    return bool(words) and bool(warnings_in(words))


@cache
def _defining() -> frozenset[str]:
    classes = word_set("classes_of_treatments") | word_set("classes_of_diseases")
    return classes | word_set("general_adverbs") | _SIGNS | {"used"}


def general(analysed: Analysed, start: int, end: int, kind: str) -> bool:
    """Whether the mention is the subject of a general statement: "ibuprofen is an NSAID", "X can block Y".

    >>> from workup.tasks.conversation.read.sentence.text import Sentence
    >>> analysed = Analysed(Sentence("metformin lowers blood sugar".split(), False, ()), None)
    >>> general(analysed, 0, 1, "medication")
    True
    """
    if analysed.shift or not (kind in TREATMENTS or kind in ("diagnosis", "symptom")):
        return False
    words = analysed.words
    if kind not in TREATMENTS and _done_by_drug(analysed, start):
        return True
    behind = end
    while behind < min(end + 3, len(words)) and words[behind] not in _general_stops():
        behind += 1
    behind = behind if behind < len(words) and words[behind] in word_set("general_adverbs") else end
    place = _predicate(words, behind)
    if behind < place < len(words) and words[behind] in word_set("general_adverbs"):
        persons = word_set("persons_meant")
        if words[place] not in word_set("finite_verbs") and _is_subject(analysed, start) and persons.isdisjoint(words):
            return True  # "COPD flares often start with a cold"
    if start and words[0] in word_set("doing"):
        place = next((at for at in range(end, min(end + 8, len(words))) if words[at] in _does()), len(words))
    if place >= len(words):
        return False
    word = words[place]
    modal = word in word_set("general_modals")
    copula = word in ("is", "are")
    if not (modal or copula or word in word_set("general_verbs")) or not _is_subject(analysed, start):
        return False
    rest = words[place + 1 : place + 13]
    persons = word_set("persons_meant")
    if modal:
        return _in_general(rest, kind)
    if not persons.isdisjoint(rest):
        return False
    if copula:
        return _defined(rest, kind)
    return kind != "symptom" and (word != "works" or rest[:1] == ["by"])


@cache
def _general_stops() -> frozenset[str]:
    verbs = word_set("finite_verbs") | word_set("verbs") | word_set("general_verbs") | word_set("general_modals")
    return verbs | word_set("general_adverbs") | {",", ";", ":", "(", ")", "-", "and", "or"}


def _done_by_drug(analysed: Analysed, start: int) -> bool:
    """Whether a drug does it to nobody in particular: "metformin causes diarrhea", "NSAIDs raise blood pressure"."""
    words = analysed.words
    first = max((bound.place for bound in analysed.bounds if bound.place <= start), default=0)
    verb = next((place for place in range(first, start) if words[place] in word_set("general_verbs")), -1)
    if verb <= first or start - verb > 6:
        return False
    subject = words[first:verb]
    drugs = drug_words() | word_set("classes_of_treatments")
    return (
        not drugs.isdisjoint(subject)
        and word_set("persons_meant").isdisjoint(words[first : start + 6])
        and (word_set("finite_verbs") | {"the"}).isdisjoint(subject)
    )


@cache
def _does() -> frozenset[str]:
    return word_set("general_verbs") | word_set("general_modals") | {"is", "are"}


def _predicate(words: list[str], end: int) -> int:
    """The word behind the subject: behind a bracket, a further subject ("ibuprofen and naproxen are"), an adverb."""
    place, size = end, len(words)
    if place < size and words[place] == "(" and ")" in words[place:]:
        place = words.index(")", place) + 1
    while place + 1 < size and words[place] in ("and", "or", ",", "/", "&"):
        place += 1 if words[place + 1] in ("and", "or") else 2
    while place < size and words[place] in word_set("general_adverbs"):
        place += 1
    return place


def _is_subject(analysed: Analysed, start: int) -> bool:
    """Whether the mention opens its clause, with nobody and no verb before it; "taking ibuprofen" may."""
    words = analysed.words
    first = max((bound.place for bound in analysed.bounds if bound.place <= start), default=0)
    before = words[first:start]
    blocked = word_set("persons_meant") | word_set("finite_verbs") | (word_set("verbs") - {"use"}) | {"the", "this"}
    return blocked.isdisjoint(before)


def _in_general(rest: list[str], kind: str) -> bool:
    """What follows "can" or "may": "block tamoxifen", but not "be continued", which is said to someone."""
    rest = [word for word in rest if word not in word_set("general_adverbs")]
    if not rest:
        return False
    if kind == "symptom":
        return rest[0] in ("be", "occur", "happen", "develop", "appear", "mean", "signal", "come")
    if rest[0] == "not":
        rest = rest[1:]
    if rest[:1] == ["be"]:
        return kind in TREATMENTS and word_set("handled").isdisjoint(rest[1:4])
    return bool(rest) and rest[0] not in word_set("kept_up")


def _defined(rest: list[str], kind: str) -> bool:
    """What follows "is": a class ("an NSAID", "a chronic disease"), or what is done as a rule ("often used for")."""
    if kind == "symptom":
        plain = [word for word in rest[:5] if word not in word_set("general_adverbs") and word != "always"]
        return plain[:1] in (["a"], ["an"]) and not _SIGNS.isdisjoint(plain[1:3])
    nouns = word_set("classes_of_treatments" if kind in TREATMENTS else "classes_of_diseases")
    if (rest[:1] and rest[0] in ("a", "an", "one", "the", "in", "among", "both", "all", "two")) or (
        rest[:1] and rest[0] in nouns
    ):
        near = rest[:8]
        return not nouns.isdisjoint(near) and word_set("of_now").isdisjoint(near)
    if rest[:1] and rest[0] in word_set("general_adverbs"):
        return not word_set("done_as_a_rule").isdisjoint(rest[1:3])
    return kind in TREATMENTS and rest[:2] in (["used", "to"], ["used", "for"], ["used", "in"])
