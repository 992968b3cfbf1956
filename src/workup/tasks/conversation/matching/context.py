"""What a sentence says of a mention: denied, ended, past, doubted, supposed, of a relative (clause-bounded ConText).

After Harkema and others, "ConText", J Biomed Inform 2009. It knows the kind of fact, not the fact: agreeing is for others.
"""

from __future__ import annotations

from typing import NamedTuple

from workup.tasks.conversation.matching.clauses import (
    CAUSE,
    COMMA_PREDICATE,
    DASH,
    EXCEPTION,
    HARD,
    PREDICATE,
    RELATIVE,
    SUBJECT,
    Bound,
    find_bounds,
)
from workup.tasks.conversation.matching.cues import Cue, find_cues, phrase_list, starts_with, word_set
from workup.tasks.conversation.matching.text import Sentence

TREATMENTS = frozenset({"medication", "plan", "procedure"})
_NEVER_STOPPED = frozenset({"diagnosis", "symptom", "result", "allergy"})
_CLAUSE = frozenset({HARD, EXCEPTION, SUBJECT, PREDICATE, COMMA_PREDICATE, CAUSE, RELATIVE, DASH})
_PERSON = frozenset({HARD, SUBJECT})
_BEHIND = frozenset({HARD, EXCEPTION, SUBJECT, PREDICATE, CAUSE})
# Adjectives qualify the words up to the next comma: "prior MI, diabetes" is no prior diabetes.
_TIGHT = frozenset({"possible", "past", "holds", "now"})
_TIGHT_PHRASES = frozenset({"instead", "rather", "in", "as", "off", "non", "ex", "former"})
_UNMARKED, NOW, MILD, STRONG = "unmarked", "now", "mild", "strong"


class Said(NamedTuple):
    """What is said of one mention. `mood` is empty for a plain statement; `denier` is the cue that denied it."""

    mood: str = ""  # question, conditional, supposed
    family: str = ""  # "history" for the family at large, "relative" for one of them
    personal: bool = True  # also, or only, of the patient
    negated: bool = False
    ruled_out: bool = False
    ended: bool = False
    possible: bool = False
    time: str = _UNMARKED
    confirmed: bool = False
    outright: bool = False  # "has", "takes", "is on": said in so many words
    answered: str = ""  # yes or no, behind a colon or a question


class Analysed:
    """A sentence under its heading, with its cues and clauses found once for all mentions in it."""

    __slots__ = ("bounds", "cues", "following", "question", "shift", "words")

    def __init__(self, sentence: Sentence, following: Sentence | None) -> None:
        self.words = [*sentence.heading, *sentence.words] if sentence.heading else sentence.words
        self.shift = len(sentence.heading)
        self.question = sentence.question
        self.following = following
        self.cues = find_cues(self.words)
        self.bounds = find_bounds(self.words)

    def parted(self, first: int, last: int, kinds: frozenset[str]) -> bool:
        """Whether a clause of these kinds begins behind `first` and up to `last`."""
        return any(first <= bound.place <= last and bound.kind in kinds for bound in self.bounds)


def said_of(analysed: Analysed, start: int, end: int, kind: str, *, more: frozenset[str] = frozenset()) -> Said:
    """What the sentence says of the mention in words [start, end) of a fact of this kind.

    `more` are categories of cues to leave out: an allergy asks for its drug to be avoided, which denies nothing.

    >>> analysed = Analysed(Sentence("her mother denies chest pain".split(), False, ()), None)
    >>> said = said_of(analysed, 3, 5, "symptom")
    >>> said.negated, said.family
    (True, 'relative')
    """
    found: dict[str, Cue] = {}
    for cue in analysed.cues:
        if cue.category in more or (cue.start < end and cue.end > start) or not _applies(cue.category, kind):
            continue
        if _reaches(analysed, cue, start, end, kind):
            found.setdefault(cue.category, cue)
    if "holds" in found:
        for category in ("negated", "stopped", "no_longer", "resolved"):
            cue = found.get(category)
            if cue is not None and cue.before and _joined_before(analysed.words, cue.end, start):
                del found[category]
    family, personal = _experiencer(analysed, found, start, end, kind)
    answered = _answer(analysed, end)
    ended = _ended(analysed, found, start, end, kind)
    later = "" if ended else _ended_later(analysed, start, end, kind)
    negated = "negated" in found or answered == "no"
    if answered == "yes" and "negated" in found and found["negated"].before is False:
        negated = False
    return Said(
        mood=_mood(analysed, found, start, answered, ended=ended),
        family=family,
        personal=personal,
        negated=negated,
        ruled_out="ruled_out" in found or later == "ruled_out",
        ended=ended or later == "ended",
        possible="possible" in found or "tested" in found,
        time=_time(analysed, found, start, end),
        confirmed="confirmed" in found or answered == "yes",
        outright=_outright(analysed, start),
        answered=answered,
    )


def _applies(category: str, kind: str) -> bool:
    if category == "stopped":
        return kind not in _NEVER_STOPPED
    if category == "resolved":
        return kind not in TREATMENTS
    if category == "weighed":
        return kind in TREATMENTS
    if category == "feared":
        return kind not in TREATMENTS and kind != "risk"
    return not (category == "tested" and kind == "symptom")


def _reaches(analysed: Analysed, cue: Cue, start: int, end: int, kind: str) -> bool:
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
        if analysed.parted(first, start, _PERSON):
            return False
        return not (kind in TREATMENTS and "," in words[cue.end : start])
    for bound in analysed.bounds:
        if first <= bound.place <= start and not _label(analysed, cue, bound):
            return False
    gap = words[first:start]
    if ")" in gap and "(" not in gap[: gap.index(")")]:
        return False  # the cue stands in brackets, the mention outside them
    if not in_heading and (category in _TIGHT or words[cue.start] in _TIGHT_PHRASES) and "," in gap:
        return False
    if words[cue.start] in ("off", "non", "ex") and len([w for w in gap if w not in word_set("determiners")]) > 1:
        return False
    if category == "stopped" and not _takes_object(words, cue, gap):
        return False
    if category in ("negated", "stopped", "no_longer"):
        return not _out_of_reach(words, cue, gap, kind)
    return True


def _label(analysed: Analysed, cue: Cue, bound: Bound) -> bool:
    """A dash right behind a cue joins it to what follows: "Denies - chest pain"."""
    return bound.kind == DASH and bound.place - 1 == cue.end


_PASSIVE = frozenset({"was", "were", "is", "are", "be", "been", "being"})


def _takes_object(words: list[str], cue: Cue, gap: list[str]) -> bool:
    """"Metformin was stopped and insulin ..." stops nothing that follows; "replaced A with B" leaves B alone."""
    before = cue.start - 1
    while before >= 0 and words[before] in word_set("adverbs"):
        before -= 1
    if cue.end - cue.start == 1 and before >= 0 and words[before] in _PASSIVE:
        return False
    opener = words[cue.start]
    if opener.startswith(("replac", "swap")) and not {"with", "by", "for"}.isdisjoint(gap):
        return False
    moved = opener.startswith(("switch", "chang", "transition", "convert")) and ("to" in gap or "→" in gap)
    return not moved


def _out_of_reach(words: list[str], cue: Cue, gap: list[str], kind: str) -> bool:
    """"No bleeding on warfarin", "no treatment for asthma": a preposition takes the mention out of the negation."""
    seen = having = treating = False
    plain_not = words[cue.end - 1] in ("not", "never")
    prepositions = word_set("treatment_prepositions") if kind in TREATMENTS else frozenset()
    for word in gap:
        if word in word_set("reach_fillers") and not seen and word not in prepositions:
            continue
        if word == "for" and seen and not treating:
            return True
        if word in prepositions and seen and not treating and (having or not plain_not):
            return True
        having = having or word in word_set("having")
        treating = treating or word in word_set("treating")
        seen = seen or word[0].isalpha()
    return False


def _reaches_back(analysed: Analysed, cue: Cue, end: int) -> bool:
    words = analysed.words
    stop = cue.start
    fillers = word_set("after_fillers")
    helped = False
    while stop > end and words[stop - 1] in fillers:
        stop -= 1
        helped = helped or words[stop] in _PASSIVE or words[stop] in ("has", "have", "had")
    if analysed.parted(end + 1 if end < len(words) else end, stop, _BEHIND) or analysed.parted(end, end, frozenset({HARD})):
        return False
    gap = words[end:stop]
    if not word_set("finite_verbs").isdisjoint(gap):
        return False
    if "(" in gap and ")" not in gap and words[cue.start - 1] != "(":
        return False
    if cue.category in ("history", "family", "now", "past"):
        return len(gap) <= 8
    if cue.category in ("feared", "holds") or words[cue.start] == "free":
        return len(gap) == 0 and not (words[cue.start] == "free" and helped)
    if cue.category == "stopped" and _next_is_object(words, cue, helped=helped):
        return False
    return len(gap) <= 12


def _next_is_object(words: list[str], cue: Cue, *, helped: bool) -> bool:
    """"..., stopped smoking" looks forward; "warfarin changed to 7.5 mg" changes a dose and stops nothing."""
    following = words[cue.end] if cue.end < len(words) else ""
    if words[cue.end - 1] in ("to", "for", "with", "by"):
        return following[:1].isdigit() or following in word_set("number_words") or following in ("a", "once", "twice")
    if helped or not following:
        return False
    return not (following in word_set("after_participle") or following[0].isdigit())


def _joined_before(words: list[str], first: int, start: int) -> bool:
    gap = words[first:start]
    return "and" in gap or "," in gap or "-" in gap or "—" in gap


# ---- who ------------------------------------------------------------------------------------------------------------


def _experiencer(analysed: Analysed, found: dict[str, Cue], start: int, end: int, kind: str) -> tuple[str, bool]:
    words = analysed.words
    cue = found.get("family")
    if cue is not None:
        personal = "personal" in words[max(0, cue.start - 3) : cue.start]
        return "history", personal
    relatives = word_set("relatives")
    if relatives.isdisjoint(words):
        return "", True
    for place, word in enumerate(words):
        if word not in relatives:
            continue
        if place < start and _of_relative_before(analysed, place, start, kind):
            return "relative", False
        if place >= end and _of_relative_after(words, end, place):
            return "relative", False
    return "", True


def _of_relative_before(analysed: Analysed, place: int, start: int, kind: str) -> bool:
    words = analysed.words
    if analysed.parted(place + 1, start, _PERSON) and place >= analysed.shift:
        return False
    if kind in TREATMENTS and "," in words[place:start]:
        return False
    before = place - 1
    while before >= 0 and (words[before] in word_set("determiners") or words[before] in ("maternal", "paternal")):
        before -= 1
    if before >= 0 and words[before] in word_set("informants_before") and place - before <= 3:
        return False
    following = place + 1
    while following < start and words[following] in word_set("adverbs"):
        following += 1
    return words[following] not in word_set("informants")


_IN_RELATIVE = frozenset({"in", "(", ":", "-", "—"})


def _of_relative_after(words: list[str], end: int, place: int) -> bool:
    """"Diabetes in her mother", "breast cancer (mother)"."""
    gap = words[end:place]
    if not gap or gap[0] not in _IN_RELATIVE or len(gap) > 5:
        return False
    return all(word in word_set("determiners") or word in _IN_RELATIVE or word in word_set("relatives") or word == "both"
               for word in gap)


# ---- whether, when --------------------------------------------------------------------------------------------------


def _mood(analysed: Analysed, found: dict[str, Cue], start: int, answered: str, *, ended: bool) -> str:
    if analysed.question and not answered:
        return "question"
    if "condition" in found:
        return "conditional"
    if ended and any(cue.category == "condition" and cue.start > start for cue in analysed.cues):
        return "conditional"  # "stop warfarin if you bleed"
    if any(category in found for category in ("supposed", "feared", "weighed")):
        return "supposed"
    return ""


def _answer(analysed: Analysed, end: int) -> str:
    """The yes or no that closes an item ("Chest pain: no") or answers a question ("Chest pain? No.")."""
    words = analysed.words
    if analysed.question:
        following = analysed.following
        return _yes_or_no(following.words, 0, closes=False) if following is not None and following.words else ""
    place = end
    if place < len(words) and words[place] in (":", "(", "-", "—", "="):
        return _yes_or_no(words, place + 1, closes=True)
    return ""


_CLOSERS = frozenset({",", ")", ";", "—", "-", ":"})


def _yes_or_no(words: list[str], place: int, *, closes: bool) -> str:
    for name, answer in (("answers_no", "no"), ("answers_yes", "yes")):
        length = starts_with(words, place, phrase_list(name))
        after = place + length
        if length and (after >= len(words) or words[after] in _CLOSERS or (not closes and answer == "yes")):
            return answer
        if length and not closes and answer == "no" and words[after] in word_set("subjects"):
            return answer
    return ""


def _ended(analysed: Analysed, found: dict[str, Cue], start: int, end: int, kind: str) -> bool:
    cues = [found[category] for category in ("stopped", "resolved", "no_longer") if category in found]
    if not cues and "past" in found and kind == "social" and found["past"].before:
        return False
    if not cues:
        return False
    last = max(cue.end for cue in cues)
    restarts = phrase_list("restarted")
    words = analysed.words
    negated_first = "negated" in found and found["negated"].end <= cues[0].start
    return not any(starts_with(words, place, restarts) for place in range(last, len(words))) and not negated_first


_ANAPHORS = frozenset({"it", "this", "that", "these", "they", "which", "she", "he", "we", "i", "you", "them"})
_TURNS = frozenset({"but", "however", "and", "then", ",", ";", "later", "though", "although", "—"})


def _ended_later(analysed: Analysed, start: int, end: int, kind: str) -> str:
    """"Was on warfarin but it was stopped": the next clause, or a sentence that opens with "it", ends the mention."""
    words = analysed.words
    ahead = [b.place for b in analysed.bounds if b.place >= end and b.kind in (HARD, SUBJECT, PREDICATE, COMMA_PREDICATE)]
    for place in ahead:
        verdict = _ending_at(words, place, analysed.cues, kind)
        if verdict and not (kind in TREATMENTS and _another_drug(words, end, place)):
            return verdict
    following = analysed.following
    if following is not None and following.words and following.words[0] in ("it", "this", "that", "these", "they"):
        if not analysed.question and not (kind in TREATMENTS and _another_drug(words, end, len(words))):
            return _ending_at(following.words, 0, find_cues(following.words), kind)
    return ""


def _another_drug(words: list[str], first: int, last: int) -> bool:
    from workup.tasks.conversation.matching.vocabulary import drug_words

    return not drug_words().isdisjoint(words[first:last])


def _ending_at(words: list[str], place: int, cues: list[Cue], kind: str) -> str:
    fillers = word_set("after_fillers")
    size = len(words)
    while place < size and (words[place] in fillers or words[place] in _ANAPHORS or words[place] in _TURNS):
        place += 1
    for cue in cues:
        if cue.start != place or not _applies(cue.category, kind):
            continue
        after = words[cue.end] if cue.end < size else ""
        closes = not after or after in ("it", "this", "them") or after in word_set("after_participle") or after[0].isdigit()
        if not closes or (after in ("to", "with", "for") and cue.category == "stopped" and cue.before):
            continue
        if cue.category == "ruled_out":
            return "ruled_out"
        if cue.category in ("stopped", "resolved"):
            restarts = phrase_list("restarted")
            again = any(starts_with(words, later, restarts) for later in range(cue.end, size))
            return "" if again else "ended"
    return ""


_CHILDHOOD = frozenset({"since", "diagnosed", "onset", "allergic", "allergy", "anaphylaxis", "reaction"})


def _time(analysed: Analysed, found: dict[str, Cue], start: int, end: int) -> str:
    words = analysed.words
    past = found.get("past")
    if past is not None and not ("now" in found and found["now"].start > past.start):
        childlike = not {"child", "childhood", "infancy"}.isdisjoint(words[past.start : past.end])
        beyond_and = past.before and "and" in words[past.end : start]
        if beyond_and or (childlike and not _CHILDHOOD.isdisjoint(words)):
            return MILD
        return STRONG
    if "now" in found:
        return NOW
    if "history" in found:
        return MILD
    return MILD if _dated(words, end) or _dated_before(words, start) else _UNMARKED


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word[:2] in ("19", "20")


def _dated(words: list[str], end: int) -> bool:
    return any(_is_year(word) for word in words[end : end + 5])


def _dated_before(words: list[str], start: int) -> bool:
    return start > 1 and words[0] == "in" and _is_year(words[1])


def _outright(analysed: Analysed, start: int) -> bool:
    holds = word_set("holds_now")
    place = start - 1
    while place >= analysed.shift:
        if words_parted(analysed, place, start):
            return False
        if analysed.words[place] in holds:
            return True
        place -= 1
    return False


def words_parted(analysed: Analysed, place: int, start: int) -> bool:
    """Whether a clause begins between a word and the mention behind it."""
    return analysed.parted(place + 1, start, _CLAUSE)
