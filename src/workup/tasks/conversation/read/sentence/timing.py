"""When it is: over, past, or now; ended in this clause, in the next one, or begun again."""

from __future__ import annotations

from workup.tasks.conversation.read.sentence.analysed import TREATMENTS, Analysed
from workup.tasks.conversation.read.sentence.clauses import (
    COMMA_PREDICATE,
    HARD,
    PREDICATE,
    RELATIVE,
    SUBJECT,
)
from workup.tasks.conversation.read.sentence.cue_scope import applies
from workup.tasks.conversation.read.sentence.cues import Cue, find_cues, phrase_list, starts_with, word_set
from workup.tasks.conversation.read.sentence.vocabulary import drug_words

UNMARKED, NOW, MILD, STRONG = "unmarked", "now", "mild", "strong"
_OPENING = frozenset({HARD, SUBJECT, PREDICATE, COMMA_PREDICATE, RELATIVE})


def ended_by(analysed: Analysed, found: dict[str, Cue]) -> bool:
    """Whether a cue that reaches the mention ends it, and nothing behind it begins it again."""
    cues = [found[category] for category in ("stopped", "resolved", "no_longer") if category in found]
    if not cues:
        return False
    last = max(cue.end for cue in cues)
    restarts = phrase_list("restarted")
    words = analysed.words
    negated_first = "negated" in found and found["negated"].end <= cues[0].start
    again = any(words[place] in restarts and starts_with(words, place, restarts) for place in range(last, len(words)))
    return not again and not negated_first


_ANAPHORS = frozenset({"it", "this", "that", "these", "they", "which", "she", "he", "we", "i", "you", "them"})
_TURNS = frozenset({"but", "however", "and", "then", ",", ";", "later", "though", "although", "—", "when", "which"})
_TURNS_AND_DO = _TURNS | {"does", "did", "do"}
_TAKING = frozenset(
    ("have", "take", "taking", "took", "use", "using", "used", "need", "had", "started", "start", "filled", "on", "has")
)
_UNDER = frozenset({"if", "unless", "when", "whenever"})
_DECLINED = frozenset({"declined", "refused", "declines", "refuses"})
_SHORT = frozenset({"is", "was", "does", "did", "has", "are", "were", "do", "have"})


def ended_later(analysed: Analysed, end: int, kind: str) -> str:
    """Ended by the next clause, or by a sentence that opens with "it": "was on warfarin but it was stopped"."""
    words = analysed.words
    for place in [bound.place for bound in analysed.bounds if bound.place >= end and bound.kind in _OPENING]:
        verdict = _ending_at(words, place, analysed.cues, kind) or _denied_in_short(words, place)
        if verdict and not (kind in TREATMENTS and _another_drug(words, end, place)):
            return verdict
    following = analysed.following
    if following is None or analysed.question or following.words[0] not in ("it", "this", "that", "these", "they"):
        return ""
    if kind in TREATMENTS and _another_drug(words, end, len(words)):
        return ""
    return _ending_at(following.words, 0, find_cues(following.words), kind)


def _of_it(words: list[str], place: int) -> bool:
    """As "... and does not take it": a denial whose object is what was just named."""
    while place < len(words) and words[place] in _TAKING:
        place += 1
    if place >= len(words) or words[place] not in ("it", "them") or words[place - 1] == "of":
        return False
    after = words[place + 1] if place + 1 < len(words) else ""
    return not after or after in word_set("after_participle") or after in ("anymore", "any", "ever")


def _unused(words: list[str], place: int) -> bool:
    """As "... and is not being used now"."""
    while place < len(words) and words[place] in ("being", "been", "currently", "now"):
        place += 1
    return place < len(words) and words[place] in ("used", "taken", "prescribed", "given")


def _denied_in_short(words: list[str], place: int) -> str:
    """As "..., but testing showed she is not": a turn that closes with the bare denial."""
    if (
        place >= len(words)
        or words[place] not in ("but", "however", "although", "though")
        or words[-1] != "not"
        or len(words) - place > 9
    ):
        return ""
    return "ruled_out" if words[-2] in _SHORT else ""


def denied_in_short(analysed: Analysed, end: int) -> bool:
    """As "if you had asthma, but you do not, ...": taken up in a later clause by a person, a helping verb and "not"."""
    words = analysed.words
    return any(
        words[place] == "not"
        and words[place - 1] in _SHORT
        and words[place - 2] in word_set("subjects")
        and words[place - 3] in word_set("hard") | {",", ";", "and", "\u2014"}
        and _stops_short(words, place + 1)
        for place in range(end + 3, len(words))
    )


def _stops_short(words: list[str], place: int) -> bool:
    """Whether the clause ends here, or with "have it": "but you do not have it"."""
    if place + 1 < len(words) and words[place] in _TAKING and words[place + 1] in ("it", "that", "them", "this"):
        place += 2
    return place >= len(words) or not words[place].isalnum() or words[place] == "so"


def _another_drug(words: list[str], first: int, last: int) -> bool:
    return not drug_words().isdisjoint(words[first:last])


def _ending_at(words: list[str], place: int, cues: list[Cue], kind: str) -> str:
    fillers = word_set("after_fillers")
    size = len(words)
    while place < size and (words[place] in fillers or words[place] in _ANAPHORS or words[place] in _TURNS_AND_DO):
        place += 1
    for cue in cues:
        if cue.start != place or not applies(cue.category, kind):
            continue
        after = words[cue.end] if cue.end < size else ""
        if cue.category == "negated" and (_of_it(words, cue.end) or (kind in TREATMENTS and _unused(words, cue.end))):
            return "ended"
        if cue.category == "no_longer" and after not in ("it", "this", "them", "that"):
            continue
        closes = (
            not after or after in ("it", "this", "them") or after in word_set("after_participle") or after[0].isdigit()
        )
        if not closes or (after in ("to", "with", "for") and cue.category == "stopped" and cue.before):
            continue
        if after in _UNDER:
            continue  # "hold if the pulse is below 50"
        if cue.category == "ruled_out":
            return "ruled_out"
        if cue.category == "possible" and not cue.before:
            return "doubted"
        refused = cue.category == "negated" and words[cue.start] in _DECLINED
        if cue.category in ("stopped", "resolved", "no_longer") or (refused and kind in TREATMENTS):
            restarts = phrase_list("restarted")
            again = any(starts_with(words, later, restarts) for later in range(cue.end, size))
            return "" if again else "ended"
    return ""


_CHILDHOOD = frozenset({"since", "diagnosed", "onset", "allergic", "allergy", "anaphylaxis", "reaction"})


def time_of(analysed: Analysed, found: dict[str, Cue], start: int, end: int, kind: str) -> str:
    """Now, strongly past (and no more), mildly past (and perhaps still), or unmarked."""
    words = analysed.words
    past = found.get("past")
    if past is not None and kind == "allergy" and words[past.start] != "formerly":
        return MILD  # a reaction in the past is the allergy of today
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
    return MILD if _dated(words, end) or _dated_before(words, start) else UNMARKED


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word[:2] in ("19", "20")


def _dated(words: list[str], end: int) -> bool:
    return any(_is_year(word) for word in words[end : end + 5])


def _dated_before(words: list[str], start: int) -> bool:
    return start > 1 and ((words[0] == "in" and _is_year(words[1])) or _is_year(words[start - 1]))
