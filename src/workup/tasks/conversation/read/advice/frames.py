"""Who tells whom, and how: advice now, a report, general information, a condition; to the patient or to another.

It reads the words to the left of a verb. No parse: a subject that it does not know advises no one.
"""

from __future__ import annotations

from collections.abc import Sequence

from workup.tasks.conversation.read.advice.heads import after_preposition, after_to, drawback
from workup.tasks.conversation.read.advice.subjects import (
    CONDITIONAL,
    GENERAL,
    JOINTS,
    OTHER,
    PLAIN,
    REPORT,
    Frame,
    back,
    by_other,
    denied_head,
    doubted,
    person_of,
    reported,
    subject_of,
    unsaid,
)
from workup.tasks.conversation.read.advice.verbs import BASE, GERUND, PARTICIPLE, PAST, Verb, words
from workup.tasks.conversation.read.sentence.cues import word_set

_BE = frozenset(["am", "is", "are", "be", "was", "were", "been", "being"])
_ISSUED = frozenset(["prescribe", "send", "order", "write", "start", "put", "give", "add"])
_RECOMMENDING = frozenset(["recommend", "suggest", "advise", "propose", "prefer", "favor", "need"])
_TURNS = frozenset([";", "but", ":", "however"])
Earlier = tuple[Verb, Frame] | None


def frame_of(text: Sequence[str], verb: Verb, before: Sequence[str], earlier: Earlier) -> Frame:
    """The frame of a verb. `before` is the sentence before this one, `earlier` the verb before this one."""
    if verb.head in ("no", "nothing"):
        return Frame()  # "there is no change to"
    place, negated, no_longer = back(text, verb.start - 1)
    frame = _framed(text, verb, place, before, earlier, negated=negated)
    return frame._replace(negated=frame.negated != negated, no_longer=no_longer)


def _framed(
    text: Sequence[str],
    verb: Verb,
    place: int,
    before: Sequence[str],
    earlier: Earlier,
    *,
    negated: bool,
) -> Frame:
    word = text[place] if place >= 0 else ""
    forms = verb.forms
    if word == "no" and verb.head == "need":
        return Frame(negated=True)  # "there is no need for"
    if not word or word in JOINTS:
        return _opening(text, verb, place, earlier, negated=negated)
    if word in ("to", "na"):
        if earlier is not None and place > 0 and text[place - 1] in ("and", "or", ","):
            return earlier[1]._replace(negated=earlier[1].negated and text[place - 1] == "or")
        return after_to(text, place, before)
    if word in ("let", "lets") or (word == "us" and place > 0 and text[place - 1] == "let"):
        return Frame()
    if word in words("modals") or word in words("modals_unsure"):
        return _after_modal(text, verb, place, before)
    if word in ("do", "does", "did"):
        return _after_do(text, verb, place, before)
    if word in _BE:
        return _after_be(text, verb, place, before)
    if word in ("have", "has", "had", "having"):
        return _after_have(text, verb, place)
    if word in words("subjects_own"):
        return _own(text, verb, place)
    if word in words("subjects_patient"):
        return _declared(text, verb, place, before)
    person = person_of(text, place, before)
    if person is not None:
        return person
    if GERUND in forms and BASE not in forms:
        return after_preposition(text, place)
    if word in words("subordinating"):
        return Frame(CONDITIONAL)
    if BASE in forms:
        return _bare(text, verb, place, before)
    return Frame(REPORT if PAST in forms or PARTICIPLE in forms else GENERAL)


def _opening(text: Sequence[str], verb: Verb, place: int, earlier: Earlier, *, negated: bool) -> Frame:
    """At the head of a clause: an imperative, or a verb joined to the one before it, which shares its subject."""
    word = text[place] if place >= 0 else ""
    shares = earlier is not None and word in ("and", "or", "nor", ",", "then", "/", "&")
    if shares and earlier is not None and _TURNS.isdisjoint(text[earlier[0].end : verb.start]):
        one, frame = earlier
        alike = BASE in one.forms if BASE in verb.forms else bool(one.forms & verb.forms)
        if alike and BASE in verb.forms and (word != "," or frame.mood in (PLAIN, GENERAL) or frame.person == OTHER):
            listed = word == "," and "or" in text[verb.end : verb.end + 4]  # "do not stop, start or change it"
            denied = frame.negated and (word in ("or", "nor", "/") or listed) and not negated
            return frame._replace(negated=denied, subject=False)
        if alike and GERUND in verb.forms:
            return frame._replace(negated=frame.negated and word in ("or", "nor", "/", "and"))
        if alike and BASE not in verb.forms:
            return frame._replace(negated=False)
    if BASE in verb.forms:
        return Frame()
    if GERUND in verb.forms:
        return Frame(GENERAL, subject=True)
    return Frame(REPORT)


def _after_modal(text: Sequence[str], verb: Verb, place: int, before: Sequence[str]) -> Frame:
    frame = subject_of(text, place - 1, before)
    subject, _, _ = back(text, place - 1)
    word = text[subject] if subject >= 0 else ""
    if text[place] == "would":
        hedged = not (words("hedges") | {"otherwise", "normally"}).isdisjoint(text[max(0, subject - 2) : verb.start])
        if hedged or word not in words("subjects_own"):
            return frame._replace(mood=GENERAL) if frame.mood == PLAIN else frame
    if not words("hedges").isdisjoint(text[subject + 1 : verb.start]) and word not in words("subjects_patient"):
        return frame._replace(mood=GENERAL) if frame.mood == PLAIN else frame
    theirs = word in ("they", "he", "she") and "you" in text[verb.start : verb.end + 1]  # "they may give you"
    if theirs or reported(text, subject):
        return frame._replace(mood=REPORT)
    if unsaid(text, subject):
        return frame._replace(mood=GENERAL)
    return frame._replace(negated=doubted(text, subject))


def _after_do(text: Sequence[str], verb: Verb, place: int, before: Sequence[str]) -> Frame:
    if text[place] != "do":
        return Frame(REPORT)
    subject, _, _ = back(text, place - 1)
    word = text[subject] if subject >= 0 else ""
    if word in ("i", "we"):
        return Frame() if verb.head in _RECOMMENDING else Frame(GENERAL)
    if word in words("subjects_patient"):
        return _declared(text, verb, subject, before)
    if word in words("subordinating"):
        return Frame(CONDITIONAL)
    person = person_of(text, subject, before) if word else None
    return person if person is not None else Frame()


def _declared(text: Sequence[str], verb: Verb, place: int, before: Sequence[str]) -> Frame:
    """ "You take" tells what is; "I suggest you take", "make sure that you take" and "you need" advise."""
    person = person_of(text, place, before) or Frame()
    left = place - 1
    while left >= 0 and text[left] in ("that", "the"):
        left -= 1
    word = text[left] if left >= 0 else ""
    if word in words("subordinating"):
        return person._replace(mood=CONDITIONAL)
    if reported(text, place):
        return person._replace(mood=REPORT)
    if GERUND in verb.forms and BASE not in verb.forms:
        unharmed = drawback(text, place)  # "no concerns about you taking"
        if unharmed is not None:
            return unharmed
    if word in words("modals") and not {"circumstances", "never", "account", "point"}.isdisjoint(text[:left]):
        return person._replace(negated=True)  # "under no circumstances should you take"
    if word in ("have", "get") and BASE in verb.forms and left > 0 and text[left - 1] in ("let", "us", "i", "we", "to"):
        return person  # "let's have you see", "I'd like to have you try"
    if word == "is" and left > 0 and text[left - 1] in words("proposals") and not by_other(text, left - 1):
        return person  # "my recommendation is that you stay on it"
    if word in words("advising_you") and BASE in verb.forms and not by_other(text, left):
        flipped = denied_head(text, left)
        return person._replace(negated=flipped)
    if verb.head == "need" and BASE in verb.forms:
        return person._replace(negated=doubted(text, place))
    return person._replace(mood=REPORT)


def _after_be(text: Sequence[str], verb: Verb, place: int, before: Sequence[str]) -> Frame:
    left, denied, _ = back(text, place - 1)
    word = text[left] if left >= 0 else ""
    if text[place] in ("was", "were", "been", "being"):
        return Frame(REPORT)
    if word in words("modals"):
        return _after_modal(text, verb, left, before)._replace(negated=denied)
    if word == "to":
        frame = after_to(text, left, before)
        return frame._replace(negated=frame.negated != denied)
    if text[place] == "be" and word == "you":
        return Frame(negated=denied)  # "you'll be given", which loses its "will" in folding
    if GERUND in verb.forms:
        if word in ("i", "we"):
            return _own(text, verb, left)
        if word in words("proposals") and not words("proposing").isdisjoint(text[max(0, left - 3) : left]):
            return Frame()  # "the next step is adding"
        person = person_of(text, left, before) if word else None
        return person._replace(mood=REPORT) if person is not None else Frame(REPORT)
    person = person_of(text, left, before) if word else None
    return (person or Frame())._replace(mood=REPORT)


def _after_have(text: Sequence[str], verb: Verb, place: int) -> Frame:
    left, _, _ = back(text, place - 1)
    word = text[left] if left >= 0 else ""
    if word in words("modals") or word in words("modals_unsure"):
        return Frame(GENERAL)  # "should have taken", "would have stopped"
    if text[place] == "have" and word in ("i", "we") and verb.head not in _RECOMMENDING:
        return Frame()  # "I have sent a prescription": done now, by the one who advises
    return Frame(REPORT)


def _own(text: Sequence[str], verb: Verb, place: int) -> Frame:
    left, _, _ = back(text, place - 1)
    word = text[left] if left >= 0 else ""
    if word in words("subordinating"):
        return Frame(CONDITIONAL)
    single = verb.end - verb.start == 1
    if verb.head == "need" and single and text[place] == "we":
        return Frame()  # "we need a blood test"
    if verb.head == "see" and text[verb.end : verb.end + 1] in (["a"], ["an"]):
        return Frame()  # "I'd see a podiatrist"
    if BASE in verb.forms and single and verb.head in ("see", "visit", "call", "have", "need"):
        return Frame(GENERAL)  # "I see that your doctor ..."
    if BASE in verb.forms or GERUND in verb.forms:
        return Frame()
    # "I've sent a prescription" and "I sent a prescription" are folded alike; a time tells them apart.
    dated = not words("past_times").isdisjoint(text)
    return Frame() if verb.head in _ISSUED and not dated else Frame(REPORT)


def _bare(text: Sequence[str], verb: Verb, place: int, before: Sequence[str]) -> Frame:
    """A plain form behind some other word: an imperative unless a subject or another verb stands before it."""
    start = place
    while start >= 0 and text[start] not in JOINTS:
        word = text[start]
        if word in words("subjects_own") or word in words("subjects_patient") or word in word_set("finite_verbs"):
            return Frame(GENERAL)
        person = person_of(text, start, before)
        if person is not None:
            return person._replace(mood=GENERAL) if person.mood == PLAIN else person
        if word in words("subordinating"):
            return Frame(CONDITIONAL)
        start -= 1
    return Frame()
