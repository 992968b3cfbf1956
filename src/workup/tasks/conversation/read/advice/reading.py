"""One sentence read: which verb asks what of each thing named in it, and how. The parts are put together here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.advice.amounts import dose_near, says_same_dose
from workup.tasks.conversation.read.advice.conditions import is_conditional, is_manner, is_reported, is_sudden
from workup.tasks.conversation.read.advice.governing import TAKEN, Reading, asked_before
from workup.tasks.conversation.read.advice.labels import from_before, from_dose, from_label
from workup.tasks.conversation.read.advice.parsed import Parsed
from workup.tasks.conversation.read.advice.pronouns import pronouns
from workup.tasks.conversation.read.advice.right_context import (
    BAD,
    GOOD,
    UNCHANGED,
    Behind,
    behind,
    coordinated,
    judged_at,
    passed,
    without_copula,
)
from workup.tasks.conversation.read.advice.subjects import (
    CONDITIONAL,
    GENERAL,
    JOINTS,
    PATIENT,
    PLAIN,
    QUESTION,
    REPORT,
    back,
)
from workup.tasks.conversation.read.advice.targets import (
    CARE,
    CLASS,
    LIFE,
    MEANS,
    REFERRAL,
    SAFETY,
    URGENCY,
    Found,
    Thing,
    acted,
)
from workup.tasks.conversation.read.advice.verbs import (
    ACTIONS,
    AVOID,
    CONTINUE,
    DECREASE,
    INCREASE,
    SEEK,
    START,
    STOP,
    Verb,
    opposite,
    words,
)
from workup.tasks.conversation.read.sentence.cues import word_set
from workup.tasks.conversation.read.sentence.text import Sentence
from workup.tasks.conversation.read.sentence.vocabulary import table

_ASKING = frozenset(["can", "could", "should", "may", "is", "are"])
_STEPS = frozenset(["then", "until", "after", "before"])


class Advised(NamedTuple):
    """Advice as read from one sentence."""

    action: str
    thing: Thing
    person: str
    mood: str
    dose: tuple[float, str] | None
    same_dose: bool
    barred: str
    fuzzy: bool
    step: str = ""


def read_sentence(
    sentence: Sentence,
    things: Sequence[Found],
    known: tuple[Thing, ...],
    run: tuple[Thing, ...],
    before: Sequence[str],
    following: Sentence | None,
    dosed: tuple[Thing, ...] = (),
) -> list[Advised]:
    """The advice of one sentence. `known` are the drugs that a pronoun may mean, `run` those of the list before it,
    `dosed` the one that a dose without a name means.
    """
    text = Parsed(sentence, things, before)
    targets = [*text.things, *pronouns(text, known, run, dosed), *acts(text)]
    if not targets:
        return []
    found = [one for target in targets for one in _of_target(text, target)]
    answer = _answer(text, following) if sentence.question else ""
    if answer:
        found = [_answered(one, answer) for one in found]
    return _staged(text, found)


@cache
def verbs_of_acts() -> frozenset[str]:
    """Every form of the first words of such verbs: a sentence with none of them and no thing is passed over."""
    forms = table("advice_verbs")["forms"]
    heads = {verb.split()[0] for verb in acted()}
    return frozenset(heads | {form for head in heads for form in forms.get(head, ())})


def acts(text: Parsed) -> list[Found]:
    """Verbs of doing as things of their own, met at the end of the verb."""
    found = []
    for verb in text.verbs:
        if "life" not in verb.asks or verb.start < text.shift:
            continue
        whole = " ".join((verb.head, *text.words[verb.start + 1 : verb.end]))
        thing = acted().get(whole) or (
            acted().get(verb.head) if "seek" in verb.asks and not _cares(text, verb) else None
        )
        if thing is None or (verb.head == "drink" and not _drunk_alone(text.words, verb.end)):
            continue
        if any(verb.end == one.start and one.things[0].kind in LIFE for one in text.things):
            continue  # "smoke cannabis", "lift heavy objects"
        found.append(Found(verb.end, verb.end, (thing,)))
    return found


def _cares(text: Parsed, verb: Verb) -> bool:
    """ "Drive to the emergency room"."""
    return any(0 <= one.start - verb.end < 4 and one.things[0].kind in (CARE, REFERRAL) for one in text.things)


def _drunk_alone(text: Sequence[str], place: int) -> bool:
    return place >= len(text) or text[place] in words("drunk_alone")


def _answer(text: Parsed, following: Sentence | None) -> str:
    """The yes or no behind a question of what may be done; "Do you take it? No." answers another."""
    opening = text.words[text.shift : text.shift + 2]
    if not opening or opening[0] not in _ASKING or opening == ["are", "you"]:
        return ""
    first = following.words[0] if following is not None and following.words else ""
    return "yes" if first in words("yeses") else "no" if first in words("noes") else ""


def _answered(one: Advised, answer: str) -> Advised:
    """ "Can you take ibuprofen? Yes." """
    if one.mood != QUESTION:
        return one
    return one._replace(mood=PLAIN, action=one.action if answer == "yes" else opposite(one.action))


def _of_target(text: Parsed, target: Found) -> list[Advised]:
    for thing in target.things:
        if thing.kind == CLASS and thing.name in words("wide_classes") and _exemplified(text.words, target.end):
            continue
        reading = _read(text, target, thing)
        if reading is not None and reading.action in ACTIONS:
            return [_advised(text, target, thing, reading)]
    return []


def _exemplified(text: Sequence[str], end: int) -> bool:
    """ "Antibiotics like amoxicillin" means some of them."""
    return list(text[end : end + 1]) in (["like"], ["such"], ["eg"]) or list(text[end : end + 2]) == ["(", "like"]


def _advised(text: Parsed, target: Found, thing: Thing, reading: Reading) -> Advised:
    dose = None
    if thing.kind in TAKEN and (text.numbered or target.stated is not None):
        after = min([one.start for one in text.things if one.start >= target.end], default=len(text.words))
        dose = dose_near(text.words, reading.verb, target, after)
    person = (
        PATIENT if thing.kind in (SAFETY, MEANS) else reading.person
    )  # whoever locks up the guns, the patient is to ask
    barred = reading.barred if reading.barred in (INCREASE, DECREASE) else ""
    same = reading.same_dose or (reading.action == CONTINUE and says_same_dose(text.words))
    step = _step(text.words) if thing.kind in (CARE, REFERRAL) else ""
    return Advised(reading.action, thing, person, _mood(text, target, reading), dose, same, barred, target.fuzzy, step)


@cache
def _how_soon() -> tuple[tuple[str, tuple[str, ...]], ...]:
    listed = table("advice_things")["how_soon"]
    return tuple((step, tuple(phrase.split())) for step, some in listed.items() for phrase in some)


def _step(text: Sequence[str]) -> str:
    """How soon a clinician is to be seen, by the words of the sentence; the most urgent that is said."""
    flat = tuple(text)
    for step, phrase in _how_soon():
        if any(flat[place : place + len(phrase)] == phrase for place in range(len(flat) - len(phrase) + 1)):
            return step
    return ""


def _mood(text: Parsed, target: Found, reading: Reading) -> str:
    if text.question:
        return QUESTION
    if reading.mood != PLAIN:
        return reading.mood
    if reading.verb is not None and text.words[reading.verb.start] in words("weighed"):
        return GENERAL
    first = min(target.start, reading.verb.start) if reading.verb is not None else target.start
    if is_reported(text.words, first):
        return REPORT
    span = (target.start, target.end)
    limited = (
        is_conditional(text.words, text.conditions, reading.verb, span, text.bounds, reading.action)
        or (reading.action == CONTINUE and reading.barred == STOP and is_sudden(text.words))
        or (reading.action == AVOID and reading.barred == START and is_manner(text.words, target.end))
    )
    return CONDITIONAL if limited else PLAIN


def _read(text: Parsed, target: Found, thing: Thing) -> Reading | None:
    if thing.kind == URGENCY:
        return _how_urgent(text, target)
    if _denied_outright(text, target):
        return Reading(AVOID, PLAIN, PATIENT, None)
    left = asked_before(text, target, thing)
    if left is not None and not left.waits:
        return left
    right = _judged_behind(text, target) if left is not None or not _aside(text.words, target.start) else None
    if right is not None:
        found = _from_behind(right, thing, left.action if left is not None else None)
        if found is not None:
            return found
    if not target.start and not target.end:
        return Reading(START, PLAIN, PATIENT, None)  # a dose alone: see pronouns
    for found in (left, from_label(text, target, thing), from_before(text, target, thing)):
        if found is not None:
            return found
    return from_dose(text, target, thing)


def _how_urgent(text: Parsed, target: Found) -> Reading | None:
    """ "You can manage this at home", "this can wait": told of the patient, unless denied, reported or of others."""
    before = text.words[max(text.shift, target.start - 6) : target.start]
    if any(word in words("negators") or word in words("unsaying") for word in before):
        return None
    for word in before:
        if word in words("subjects_general") or word in words("subjects_reporting") or word in word_set("relatives"):
            return None
    return Reading(START, PLAIN, PATIENT, None)


def _denied_outright(text: Parsed, target: Found) -> bool:
    """ "No ibuprofen", "so no driving tonight": at the head of a clause, and nothing is said behind it."""
    place = target.start - 1
    while place >= text.shift and (text.words[place] in words("carried") and text.words[place] not in ("no", ",")):
        if text.words[place] in JOINTS:
            break
        place -= 1
    if place < text.shift or text.words[place] not in words("none_of_it"):
        return False
    before = text.words[place - 1] if place > text.shift else ""
    opens = not before or before in JOINTS or before in words("before_none")
    after = passed(text.words, target.end, text.covered)
    return opens and not (after < len(text.words) and text.words[after] in words("finite") | words("past_copulas"))


def _judged_behind(text: Parsed, target: Found) -> Behind | None:
    others = text.covered - set(range(target.start, target.end))
    right = behind(text.words, target.end, others, text.verbs)
    if right is None and text.question and text.words[text.shift] in ("is", "are"):
        right = judged_at(text.words, target.end, text.verbs)
    if right is None and target.things[0].kind not in (CARE, REFERRAL) and _heads_clause(text, target):
        right = without_copula(text.words, target.end, text.verbs) or coordinated(text.words, target.end, text.verbs)
    if right is not None and _none_of(text.words, target.start):
        right = right._replace(negated=not right.negated)
    return _doubted(text, target, right) if right is not None else None


def _doubted(text: Parsed, target: Found, found: Behind) -> Behind:
    """ "I don't think naproxen is safe" denies it; "I'm not sure naproxen is the best choice" says nothing firm."""
    place = _before_subject(text, target)
    while place > text.shift and text.words[place] == "that":
        place -= 1
    word = text.words[place] if place >= text.shift else ""
    if word in words("doubting"):
        return found._replace(negated=not found.negated)
    if word in words("unsure"):
        near = text.words[max(text.shift, place - 3) : place + 1]
        unsure = any(one in words("negators") or one.startswith("un") for one in near)
        return found._replace(mood=GENERAL) if unsure else found
    if word in words("thinking") and back(text.words, place - 1)[1]:
        return found._replace(negated=not found.negated)
    return found


def _before_subject(text: Parsed, target: Found) -> int:
    """The word before a thing with its articles, doses and amounts."""
    place = target.start - 1
    while place >= text.shift and text.words[place] not in JOINTS:
        word = text.words[place]
        if word not in words("carried") and word not in words("amounts") and not word[0].isdigit():
            break
        place -= 1
    return place


def _heads_clause(text: Parsed, target: Found) -> bool:
    """Whether a thing is the subject of its clause: "Ibuprofen's fine", "half a tablet of Ativan works well"."""
    place = _before_subject(text, target)
    before = text.words[place] if place >= text.shift else ""
    return not before or before in JOINTS or before in words("before_meant")


def _aside(text: Sequence[str], start: int) -> bool:
    """ "Aspirin on top of apixaban is not advisable" judges the aspirin."""
    if start < 2 or text[start - 1] not in ("of", "with", "than", "to", "alongside", "from", "about", "by"):
        return False
    return not (text[start - 1] == "of" and text[start - 2] in words("amounts"))


def _none_of(text: Sequence[str], start: int) -> bool:
    """ "No further blood tests are needed"."""
    place = start - 1
    if place >= 0 and text[place] in ("neither", "nor"):
        return True
    while place >= 0 and text[place] in ("further", "more", "additional", "other", "new", "special", "extra"):
        place -= 1
    return place >= 0 and text[place] == "no" and (place == 0 or text[place - 1] != ",")


def _from_behind(found: Behind, thing: Thing, waiting: str | None) -> Reading | None:
    """The reading of what stands behind a thing; `waiting` is the action of a gerund before it."""
    seeks = thing.kind in (CARE, REFERRAL)
    if found.kind == UNCHANGED:
        return Reading(CONTINUE, found.mood, found.person, found.verb, same_dose=True)
    if found.kind in (GOOD, BAD):
        good = (found.kind == GOOD) != found.negated
        if waiting is not None:
            return Reading(waiting if good else opposite(waiting), found.mood, found.person, None)
        return Reading((SEEK if seeks else START) if good else AVOID, found.mood, found.person, None)
    if found.verb is None:
        return Reading(START, found.mood, found.person, None) if found.mood in (REPORT, GENERAL) else None
    action = found.verb.action(thing.kind)
    if not action:
        return None
    barred = action if found.negated else ""
    return Reading(opposite(action) if found.negated else action, found.mood, found.person, found.verb, barred)


def _staged(text: Parsed, found: list[Advised]) -> list[Advised]:
    """ "Take it for a week, then stop it" is one plan in two steps: the second holds later, not now."""
    kept: list[Advised] = []
    acted: dict[Thing, str] = {}
    for one in found:
        first = acted.setdefault(one.thing, one.action)
        if first != one.action and one.mood == PLAIN and not _STEPS.isdisjoint(text.words):
            one = one._replace(mood=CONDITIONAL)
        kept.append(one)
    return kept
