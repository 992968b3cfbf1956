"""What a sentence says of a mention: denied, ended, past, doubted, supposed, of a relative (clause-bounded ConText).

After Harkema and others, "ConText", J Biomed Inform 2009. It knows the kind of a fact, not the fact.
"""

from __future__ import annotations

from typing import NamedTuple

from workup.tasks.conversation.read.facts.analysed import TREATMENTS, Analysed
from workup.tasks.conversation.read.facts.answers import answer
from workup.tasks.conversation.read.facts.experiencer import experiencer
from workup.tasks.conversation.read.facts.hypothetical import general, warned_of
from workup.tasks.conversation.read.facts.timing import UNMARKED, ended_by, ended_later, time_of
from workup.tasks.conversation.read.sentence.cue_scope import applies, joined_before, reaches
from workup.tasks.conversation.read.sentence.cues import Cue, word_set


class Said(NamedTuple):
    """What is said of one mention. `mood` is empty for a plain statement; `denier` is the cue that denied it."""

    mood: str = ""  # question, conditional, supposed
    family: str = ""  # "history" for the family at large, "relative" for one of them
    personal: bool = True  # also, or only, of the patient
    negated: bool = False
    ruled_out: bool = False
    ended: bool = False
    possible: bool = False
    time: str = UNMARKED
    confirmed: bool = False
    outright: bool = False  # "has", "takes", "is on": said in so many words
    undergone: bool = False  # "she had", "you developed": said of the patient in the past
    answered: str = ""  # yes or no, behind a colon or a question
    attack: bool = False  # an attack of it is denied, not the disease


_DONE = frozenset({"procedure", "plan"})
_INNER = frozenset({"negated", "supposed", "possible", "condition", "ruled_out"})


def said_of(
    analysed: Analysed, start: int, end: int, kind: str, *, more: frozenset[str] = frozenset(), core: int | None = None
) -> Said:
    """What the sentence says of the mention in words [start, end) of a fact of this kind.

    `more` are categories of cues to leave out: an allergy asks for its drug to be avoided, which denies nothing.
    `core` is where the name itself begins, if other words of the mention stand before it ("allergies: no penicillin").

    >>> from workup.tasks.conversation.read.sentence.text import Sentence
    >>> analysed = Analysed(Sentence("her mother never had chest pain".split(), False, ()), None)
    >>> said = said_of(analysed, 4, 6, "symptom")
    >>> said.negated, said.family
    (True, 'relative')
    """
    found: dict[str, Cue] = {}
    words = analysed.words
    for cue in analysed.cues:
        if cue.category in more or not applies(cue.category, kind):
            continue
        if cue.start < end and cue.end > start:
            if core is None or cue.category not in _INNER or not start <= cue.start or cue.end > core:
                continue
            if cue.before and reaches(analysed, cue, core, end, kind):
                found.setdefault(cue.category, cue)
            continue
        if cue.category == "stopped" and cue.start >= end and _held_under_condition(words, cue):
            continue
        if kind in _DONE and cue.category == "negated" and words[cue.end - 1] == "negative":
            continue  # a test that came out negative was done
        if reaches(analysed, cue, start, end, kind):
            found.setdefault(cue.category, cue)
    if "holds" in found:
        for category in ("negated", "stopped", "no_longer", "resolved"):
            other = found.get(category)
            if other is not None and other.before and joined_before(analysed.words, other.end, start):
                del found[category]
    family, personal = experiencer(analysed, found, start, end, kind)
    answered = answer(analysed, start, end)
    if answered == "no" and kind in _DONE and words[end : end + 1] == [":"] and "negative" in words[end : end + 3]:
        answered = ""
    ended = ended_by(analysed, found)
    later = "" if ended else ended_later(analysed, end, kind)
    negated = "negated" in found or "trouble" in found or answered == "no"
    if answered == "yes" and "negated" in found and found["negated"].before is False:
        negated = False
    attack = (
        negated and kind == "diagnosis" and end < len(analysed.words) and analysed.words[end] in word_set("attacks")
    )
    return Said(
        mood=_mood(analysed, found, start, end, kind, answered, ended=ended, attack=attack),
        family=family,
        personal=personal,
        negated=negated and not attack,
        ruled_out="ruled_out" in found or later == "ruled_out",
        ended=ended or later == "ended",
        possible=("possible" in found and not _owned(analysed, found["possible"], start)) or "tested" in found,
        time=time_of(analysed, found, start, end, kind),
        confirmed="confirmed" in found or answered == "yes",
        outright=_outright(analysed, start),
        undergone=_undergone(analysed, start),
        answered=answered,
        attack=attack,
    )


def _held_under_condition(words: list[str], cue: Cue) -> bool:
    """An order of its own behind the drug: "digoxin 125 mcg daily, hold if the pulse is below 50"."""
    ordered = words[cue.start] in ("hold", "stop", "discontinue") and words[cue.start - 1] in (",", ";", "(", "—", "-")
    return ordered and cue.end < len(words) and words[cue.end] in ("if", "when", "unless", "for")


_PERMITTED = frozenset({"can", "may", "could"})


def _only_permitted(analysed: Analysed, start: int, end: int, kind: str) -> bool:
    """As "you can take aspirin if your cardiologist agrees"."""
    before = analysed.words[max(0, start - 4) : start]
    if kind not in TREATMENTS or _PERMITTED.isdisjoint(before) or not {"continue", "keep"}.isdisjoint(before):
        return False
    return any(cue.category == "condition" and cue.start >= end for cue in analysed.cues)


def _like_the_patient(words: list[str], end: int) -> bool:
    return words[end : end + 2] in (["like", "you"], ["like", "her"], ["like", "him"], ["like", "yourself"])


def _weighed(analysed: Analysed, found: dict[str, Cue], start: int) -> bool:
    """Weighed and not yet done; "before taking your metformin" speaks of what is taken."""
    cue = found.get("weighed")
    if cue is None:
        return False
    words = analysed.words
    return not (words[cue.start] == "before" and words[start - 1] in _OWN)


def _mood(
    analysed: Analysed,
    found: dict[str, Cue],
    start: int,
    end: int,
    kind: str,
    answered: str,
    *,
    ended: bool,
    attack: bool,
) -> str:
    if analysed.question and (not answered or "possible" in found or attack):
        return "question"
    if "condition" in found:
        return "conditional"
    if ended and any(cue.category == "condition" and cue.start > start for cue in analysed.cues):
        return "conditional"  # "stop warfarin if you bleed"
    if _only_permitted(analysed, start, end, kind):
        return "conditional"
    if ("supposed" in found and not _like_the_patient(analysed.words, end)) or _weighed(analysed, found, start):
        return "supposed"
    if "feared" in found and "possible" not in found:  # "checking for pneumonia, not yet confirmed" is a doubt
        return "supposed"
    if "flagged" in found and "negated" not in found:
        return "supposed"
    if warned_of(analysed, start, kind):
        return "conditional"
    if "possible" in found or "ruled_out" in found:
        return ""
    following = analysed.words[end] if end < len(analysed.words) else ""
    modals = "modals_of_diseases" if kind == "diagnosis" else "modals_of_treatments" if kind in TREATMENTS else ""
    if modals and following in word_set(modals):
        return "supposed"
    return "general" if general(analysed, start, end, kind) else ""


_OWN = frozenset({"his", "her", "your", "their", "my", "known", "longstanding", "chronic"})


def _owned(analysed: Analysed, cue: Cue, start: int) -> bool:
    """As "likely caused by his hypertension", which doubts the cause and not the disease."""
    return cue.before and not _OWN.isdisjoint(analysed.words[max(cue.end, start - 8) : start])


def _outright(analysed: Analysed, start: int) -> bool:
    holds = word_set("holds_now")
    place = start - 1
    while place >= analysed.shift:
        if analysed.clause_between(place, start):
            return False
        if analysed.words[place] in holds:
            return True
        place -= 1
    return False


_UNDERWENT = frozenset({"had", "developed", "suffered", "survived"})


def _undergone(analysed: Analysed, start: int) -> bool:
    """Whether the patient is the subject of "had" right before the mention: "the patient had a heart attack"."""
    words = analysed.words
    place = start - 1
    while place >= 0 and (words[place] in word_set("determiners") or words[place] in word_set("adverbs")):
        place -= 1
    return place > 0 and words[place] in _UNDERWENT and words[place - 1] in word_set("subjects")
