"""What a sentence says of a mention: denied, ended, past, doubted, supposed, of a relative (clause-bounded ConText).

After Harkema and others, "ConText", J Biomed Inform 2009. It knows the kind of a fact, not the fact.
"""

from __future__ import annotations

from workup.tasks.conversation.read.sentence.analysed import TREATMENTS, Analysed
from workup.tasks.conversation.read.sentence.answers import answer
from workup.tasks.conversation.read.sentence.cue_scope import applies, joined_before, reaches
from workup.tasks.conversation.read.sentence.cues import Cue, word_set
from workup.tasks.conversation.read.sentence.experiencer import experiencer
from workup.tasks.conversation.read.sentence.hypothetical import general, of_people, warned_of
from workup.tasks.conversation.read.sentence.mention import (
    AFFIRMED,
    ATTACK,
    CONDITIONAL,
    CONFIRMED,
    DENIED,
    EARLIER,
    ENDED,
    GROUND,
    HAD,
    HAS,
    ITEM,
    NONE,
    NOT_OWN,
    OTHER,
    OWN_TOO,
    OWNED,
    PAST,
    PATIENT,
    POSSIBLE,
    QUESTION,
    RULED_OUT,
    STATEMENT,
    SUPPOSITION,
    SURE,
    THEME,
    Mention,
)
from workup.tasks.conversation.read.sentence.orders import (
    AVOID,
    ORDER,
    PRESUPPOSING,
    REPORT,
    STOP,
    UNFIT,
    Order,
    is_ground,
    order_of,
)
from workup.tasks.conversation.read.sentence.timing import MILD, STRONG, denied_in_short, ended_by, ended_later, time_of
from workup.tasks.conversation.read.sentence.vocabulary import listed

_DONE = frozenset({"procedure", "plan"})
_INNER = frozenset({"negated", "supposed", "possible", "condition", "ruled_out"})


def said_of(
    analysed: Analysed, start: int, end: int, kind: str, *, more: frozenset[str] = frozenset(), core: int | None = None
) -> Mention:
    """What the sentence says of the mention in words [start, end) of a fact of this kind.

    `more` are categories of cues to leave out: an allergy asks for its drug to be avoided, which denies nothing.
    `core` is where the name itself begins, if other words of the mention stand before it ("allergies: no penicillin").

    >>> from workup.tasks.conversation.read.sentence.text import Sentence
    >>> analysed = Analysed(Sentence("her mother never had chest pain".split(), False, ()), None)
    >>> said = said_of(analysed, 4, 6, "symptom")
    >>> said.polarity, said.person
    ('denied', 'relative(mother)')
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
    order = _order(analysed, start if core is None else core, end, kind)
    if order is not None:
        for category in _ORDERED:
            found.pop(category, None)
    ended = ended_by(analysed, found)
    ground = is_ground(analysed, start)
    if ground:
        found.pop("weighed", None)  # "before taking anything new with your apixaban"
    judged = order is not None and order.mood == UNFIT
    later = "" if ended or ground or (order is not None and not judged) else ended_later(analysed, end, kind)
    if later and judged:
        order = None  # "it is not needed anymore, so you stopped it"
    negated = "negated" in found or "trouble" in found or answered == "no"
    if answered == "yes" and "negated" in found and found["negated"].before is False:
        negated = False
    attack = (
        negated and kind == "diagnosis" and end < len(analysed.words) and analysed.words[end] in word_set("attacks")
    )
    mood = _mood(analysed, found, start, end, kind, answered, ended=ended, attack=attack)
    short = denied_in_short(analysed, end)
    if short and mood in ("conditional", "supposed", "general"):
        mood, negated = "", True  # "if you had asthma, but you do not"
    conditional = False
    if order is not None and mood != "question":
        mood, conditional = _mood_of_order(analysed, order, found, start, mood)
    negated = negated and not attack
    ruled_out = "ruled_out" in found or later == "ruled_out"
    possible = ("possible" in found and not _owned(analysed, found["possible"], start, kind)) or "tested" in found
    possible = possible or later == "doubted"
    confirmed = "confirmed" in found or answered == "yes"
    time = time_of(analysed, found, start, end, kind)
    over = ended or later == "ended"
    told = {
        OWN_TOO: bool(family) and personal,
        ATTACK: attack,
        HAS: _outright(analysed, start),
        HAD: _undergone(analysed, start),
        OWNED: _belongs(analysed, start),
        CONDITIONAL: conditional and not mood,
        EARLIER: time == STRONG and not over,
        "negated": negated,
        "ended": over,
        "doubted": possible,
        "ruled_out": ruled_out,
        NOT_OWN: short and bool(family),
        "ordered": order is not None and not mood,
        mood: bool(mood),
    }
    return Mention(
        start=start,
        end=end,
        role=GROUND if ground else ITEM if analysed.shift else THEME,
        mood=_MOODS.get(mood, SUPPOSITION) if mood else ORDER if order is not None else STATEMENT,
        person=OTHER if mood == REPORT else family or PATIENT,
        polarity=DENIED if negated else AFFIRMED,
        time=ENDED if over or time == STRONG else PAST if time == MILD else time,
        certainty=RULED_OUT if ruled_out else POSSIBLE if possible else CONFIRMED if confirmed else SURE,
        act=order.act if order is not None and not mood else NONE,
        rules=tuple(rule for rule, holds in told.items() if holds),
    )


_MOODS = {"question": QUESTION, REPORT: STATEMENT}
_ORDERED = ("negated", "stopped", "no_longer", "weighed", "trouble", "possible", "feared", "past", "history")
_NEVER_ORDERED = frozenset({"symptom", "result"})


def _order(analysed: Analysed, start: int, end: int, kind: str) -> Order | None:
    """What is asked to be done with the mention; of a disease or an operation only that it be avoided."""
    if analysed.question or kind in _NEVER_ORDERED:
        return None
    order = order_of(analysed, start, end)
    if order is None or kind in ("medication", "allergy", "social"):
        return order
    away = order.act in (AVOID, STOP)
    return order if away and (kind in TREATMENTS or order.mood == ORDER) else None


def _mood_of_order(analysed: Analysed, order: Order, found: dict[str, Cue], start: int, mood: str) -> tuple[str, bool]:
    """The code of what says nothing, and whether a condition stands: what is to be stopped is taken, come what may."""
    if order.mood == REPORT:
        return REPORT, False
    behind = any(cue.category == "condition" and cue.start > start for cue in analysed.cues)
    conditional = "condition" in found or (behind and order.act == STOP)
    if order.act in PRESUPPOSING and (order.mood == ORDER or _belongs(analysed, start)):
        return "", conditional
    if conditional or order.mood not in (ORDER, UNFIT):
        return ("conditional" if conditional else "supposed"), conditional
    return "", False


def _belongs(analysed: Analysed, start: int) -> bool:
    return start > 0 and not listed("owners").isdisjoint(analysed.words[max(0, start - 3) : start])


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
    if of_people(analysed, start, end):
        return "general"
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


def _owned(analysed: Analysed, cue: Cue, start: int, kind: str) -> bool:
    """As "likely caused by his hypertension", which doubts the cause and not the disease."""
    if not cue.before:
        return False
    if not _OWN.isdisjoint(analysed.words[max(cue.end, start - 8) : start]):
        return True
    # "Probably from the torsemide": the cause is doubted, and not that it is taken.
    caused = not listed("causing").isdisjoint(analysed.words[cue.end : start])
    return caused and (kind == "medication" or analysed.words[start - 1] == "the")


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
