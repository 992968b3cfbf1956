"""How far a cue reaches: to the end of its clause, not out of brackets, not past a preposition that ends it."""

from __future__ import annotations

from workup.tasks.conversation.read.sentence.analysed import PASSIVE, TREATMENTS, Analysed
from workup.tasks.conversation.read.sentence.clauses import (
    CAUSE,
    COMMA_PREDICATE,
    DASH,
    EXCEPTION,
    HARD,
    PREDICATE,
    SUBJECT,
    Bound,
)
from workup.tasks.conversation.read.sentence.cues import Cue, word_set
from workup.tasks.conversation.read.sentence.vocabulary import drug_words, listed

_NEVER_STOPPED = frozenset({"diagnosis", "symptom", "result", "allergy"})
_PERSON = frozenset({HARD, SUBJECT})
_BEHIND = frozenset({HARD, EXCEPTION, SUBJECT, PREDICATE, CAUSE})
# Adjectives qualify the words up to the next comma: "prior MI, diabetes" is no prior diabetes.
_TIGHT = frozenset({"possible", "past", "holds", "now"})
_ENDING = frozenset({"negated", "stopped", "no_longer"})
_TIGHT_PHRASES = frozenset({"instead", "rather", "in", "as", "off", "non", "ex", "former"})


def applies(category: str, kind: str) -> bool:
    """Whether a cue of this category can speak of a fact of this kind: a fever is not discontinued."""
    if category == "stopped":
        return kind not in _NEVER_STOPPED
    if category == "resolved":
        return kind not in TREATMENTS
    if category == "weighed":
        return kind in TREATMENTS
    if category == "trouble":
        return kind == "symptom"
    if category == "feared":
        return kind not in TREATMENTS and kind != "risk"
    return not (category == "tested" and kind == "symptom")


def reaches(analysed: Analysed, cue: Cue, start: int, end: int, kind: str) -> bool:
    """Whether a cue reaches the mention in words [start, end)."""
    if cue.before:
        return cue.end <= start and _reaches_forward(analysed, cue, start, kind)
    return cue.start >= end and _reaches_back(analysed, cue, end)


def _reaches_forward(analysed: Analysed, cue: Cue, start: int, kind: str) -> bool:
    words, category = analysed.words, cue.category
    if category == "condition":
        return not analysed.parted(cue.end, start, frozenset({HARD}))
    in_heading = cue.end < analysed.shift
    first = max(cue.end, analysed.shift)
    if category == "family":
        turns = [bound.place for bound in analysed.bounds if bound.kind in _PERSON and first <= bound.place <= start]
        if any(words[place : place + 2] != ["but", "not"] for place in turns):  # "but not of diabetes" goes on
            return False
        return not (kind in TREATMENTS and "," in words[cue.end : start])
    for bound in analysed.bounds:
        if first <= bound.place <= start and not _label(analysed, cue, bound) and not _listed(words, cue, bound):
            return False
    gap = words[first:start]
    told = words[first + gap.index(":") :] if ":" in gap and not in_heading else ()
    if gap[:1] != [":"] and not word_set("finite_verbs").isdisjoint(told):
        return False  # "thinking about your reflux: omeprazole has helped"
    if ")" in gap and "(" not in gap[: gap.index(")")]:
        return False  # the cue stands in brackets, the mention outside them
    tight = category in _TIGHT or (category in _ENDING and words[cue.start] in _TIGHT_PHRASES)
    if not in_heading and tight and "," in gap:
        return False
    if words[cue.start] in ("off", "non", "ex") and len([w for w in gap if w not in word_set("determiners")]) > 1:
        return False
    if category == "stopped" and not _takes_object(words, cue, gap):
        return False
    if words[cue.start] == "lack" and joined_before(words, cue.end, start):
        return False
    if category == "negated" and cue.end - cue.start > 1 and gap[:1] in (["and"], [","]):
        return False  # "PE was not found, asthma is stable" denies what stands before it
    if category in ("negated", "stopped", "no_longer"):
        return not _out_of_reach(words, cue, gap, kind)
    return True


def _label(analysed: Analysed, cue: Cue, bound: Bound) -> bool:
    """A dash right behind a cue joins it to what follows: "Denies - chest pain"."""
    return bound.kind == DASH and bound.place - 1 == cue.end


def _listed(words: list[str], cue: Cue, bound: Bound) -> bool:
    """An aside ("not, as far as we know, taking"), or a list of verbs ("does not smoke, use alcohol or vape")."""
    if bound.kind != COMMA_PREDICATE:
        return False
    if cue.end < len(words) and words[cue.end] == ",":
        return True
    plain_not = words[cue.end - 1] in ("not", "never")
    return (
        plain_not
        and words[bound.place] in word_set("base_verbs")
        and not {"or", "nor"}.isdisjoint(words[bound.place :])
    )


def _takes_object(words: list[str], cue: Cue, gap: list[str]) -> bool:
    """As "metformin was stopped and insulin ..." stops nothing that follows; "replaced A with B" leaves B alone."""
    before = cue.start - 1
    while before >= 0 and words[before] in word_set("adverbs"):
        before -= 1
    opener = words[cue.start]
    if opener.endswith(("ed", "held")) and cue.end - cue.start == 1 and before >= 0 and words[before] in PASSIVE:
        return False
    if opener.startswith(("replac", "swap")) and not {"with", "by", "for"}.isdisjoint(gap):
        return False
    moved = opener.startswith(("switch", "chang", "transition", "convert")) and ("to" in gap or "→" in gap)
    return not moved


def _out_of_reach(words: list[str], cue: Cue, gap: list[str], kind: str) -> bool:
    """A preposition of circumstance ends a negation: "no bleeding on warfarin", "not a fit choice in your glaucoma".

    Not behind a word that carries it on ("no sign of", "not diagnosed with"). A list of findings goes on behind it
    ("no pain in the chest, fever or cough"); a list of grounds does too, where what is denied is a use or a fitness.
    """
    circumstance, carriers = listed("circumstance"), listed("carriers")
    gap = [words[cue.end - 1], *gap]
    if gap[-1] in listed("owners") and len(gap) > 2 and _denies_a_deed(cue, gap):
        return True
    plain = [word for word in gap[1:] if word not in word_set("reach_fillers")]
    if cue.category == "negated" and plain[:1] and plain[0] in listed("relational"):
        return True  # "does not extend to torsemide"
    judged = cue.category != "negated" or not (listed("fit") | listed("used")).isdisjoint(gap)
    for place in range(len(gap) - 1, 0, -1):
        word = gap[place]
        if word in (",", "or", "nor", "and") and not judged and kind not in TREATMENTS:
            return False
        if word in circumstance and gap[place - 1] not in carriers:
            return any(
                other[0].isalpha() and other not in word_set("reach_fillers") and other not in listed("negators")
                for other in gap[:place]
            )
    return False


def _denies_a_deed(cue: Cue, gap: list[str]) -> bool:
    """As "will not affect your torsemide": what is denied is done to it, and that it is taken is taken for granted."""
    return cue.category == "negated" and gap[0] in listed("negators") and listed("possessing").isdisjoint(gap)


def _reaches_back(analysed: Analysed, cue: Cue, end: int) -> bool:
    words = analysed.words
    stop = cue.start
    fillers = word_set("after_fillers")
    helped = False
    while stop > end and words[stop - 1] in fillers:
        stop -= 1
        helped = helped or words[stop] in PASSIVE or words[stop] in ("has", "have", "had")
    if analysed.parted(end + 1 if end < len(words) else end, stop, _BEHIND) or analysed.parted(
        end, end, frozenset({HARD})
    ):
        return False
    gap = words[end:stop]
    chained = bool(gap) and (gap[0] in PASSIVE or gap[0] in word_set("having")) and gap[-1] in ("and", "then", "but")
    if chained and len(gap) <= 6 and listed("subjects").isdisjoint(gap):
        gap = []  # "was tried and abandoned"
    timed = cue.category in ("past", "history", "now")
    if cue.category in ("resolved", "stopped", "no_longer") and _told(gap):
        return len(gap) <= 9  # "the pneumonia you had in March is gone"
    # "Gabapentin was tried in the past": the verb right behind a mention is its own.
    if not word_set("finite_verbs").isdisjoint(gap[1:] if timed else gap):
        return False
    if cue.category == "past" and cue.end < len(words) and words[cue.end][0].isdigit():
        return False  # "25 mg (previously 50 mg)" is about the dose
    if "(" in gap and ")" not in gap and words[cue.start - 1] != "(":
        return False
    if cue.category in ("history", "family", "now", "past"):
        return len(gap) <= (16 if cue.category == "family" else 8)
    if words[cue.start] in ("vs", "versus"):
        return len(gap) <= 3 and "," not in gap
    if cue.category in ("feared", "holds") or words[cue.start] == "free":
        return len(gap) == 0 and not (words[cue.start] == "free" and helped)
    if words[cue.start] in _LABELLED and words[cue.start - 1] not in (":", "(", "-", "—"):
        return False
    if cue.category in _LOOKING_EITHER_WAY and _next_is_object(words, cue, helped=helped):
        return False
    return len(gap) <= 12


def _told(gap: list[str]) -> bool:
    """Whether what stands between is a relative clause of its own: "(that) you had in March"."""
    told = gap[1:] if gap[:1] in (["that"], ["which"]) else gap
    return len(told) > 1 and told[0] in ("you", "she", "he", "i", "they") and told[1] in _HAD


_HAD = frozenset({"had", "have", "has", "mentioned", "reported", "described", "were", "was", "took", "got", "started"})
_LABELLED = frozenset({"former", "quit", "ex"})  # "Tobacco: former smoker", but "asthma, former smoker"
_LOOKING_EITHER_WAY = frozenset({"stopped", "possible", "negated", "resolved", "ruled_out"})


def _next_is_object(words: list[str], cue: Cue, *, helped: bool) -> bool:
    """As "..., stopped smoking" looks forward; "warfarin changed to 7.5 mg" changes a dose and stops nothing."""
    following = words[cue.end] if cue.end < len(words) else ""
    if words[cue.start] == "→":
        return following not in drug_words()
    if words[cue.start] in ("vs", "versus"):
        return False
    if words[cue.end - 1] in ("to", "for", "with", "by"):
        return following[:1].isdigit() or following in word_set("number_words") or following in ("a", "once", "twice")
    if helped or not following or (cue.end - cue.start > 1 and cue.category != "ruled_out"):
        return False
    return not (following in word_set("after_participle") or following[0].isdigit())


def joined_before(words: list[str], first: int, start: int) -> bool:
    """Whether an "and", a comma or a dash stands between a cue and the mention behind it."""
    gap = words[first:start]
    return "and" in gap or "," in gap or "-" in gap or "—" in gap
