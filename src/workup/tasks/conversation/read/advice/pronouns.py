"""Pronouns that mean a drug named before: "Since naproxen ..., avoid it", "Please continue both"."""

from __future__ import annotations

from collections.abc import Sequence

from workup.tasks.conversation.read.advice.governing import TAKEN, asked_before
from workup.tasks.conversation.read.advice.parsed import Parsed
from workup.tasks.conversation.read.advice.right_context import behind, without_copula
from workup.tasks.conversation.read.advice.subjects import JOINTS, PLAIN
from workup.tasks.conversation.read.advice.targets import Found, Thing
from workup.tasks.conversation.read.advice.verbs import ACTIONS, BASE, GERUND, Verb, at, words
from workup.tasks.conversation.read.sentence.cues import word_set
from workup.tasks.conversation.read.sentence.vocabulary import table

_NOT_OBJECTS = frozenset(["easy", "slow", "slowly", "up", "seriously", "personally", "simple", "short", "in", "all"])


def pronouns(text: Parsed, known: tuple[Thing, ...], run: tuple[Thing, ...], dosed: tuple[Thing, ...]) -> list[Found]:
    """Pronouns behind a verb that mean a drug named before: "Since naproxen ..., avoid it"."""
    found = []
    for verb in text.verbs:
        if "drug" not in verb.asks or verb.end < text.shift:
            continue
        length = _pronoun_at(text.words, verb.end)
        if verb.head == "pick" and text.words[verb.end : verb.end + 2] in (["it", "up"], ["them", "up"]):
            length = 2
        if not length:
            meant = _antecedents(text, verb.start, dosed, many=False) if _dose_alone(text, verb) else ()
            if verb.end - verb.start > 1 and text.words[verb.start + 1] == "that":  # "so let's do that"
                meant = _recommended(text, verb)
            found += [Found(verb.end, verb.end, (thing,)) for thing in meant[:1]]
            continue
        many = text.words[verb.end] in ("them", "these", "those", "both")
        meant = _antecedents(text, verb.start, run if many else known, many=many)
        if text.words[verb.end] == "both" and len(meant) != 2:
            continue
        found += [Found(verb.end, verb.end + length, (thing,)) for thing in meant]
    if not text.things and not text.shift and _opens_with_dose(text):
        found += [Found(0, 0, (thing,)) for thing in dosed]
    for place, word in enumerate(text.words[:-2]):
        counted = word[0].isdigit() or word in word_set("number_words")
        if counted and text.words[place + 1] in words("amounts") and _opens(text, place):
            judged = behind(text.words, place + 2, text.covered, text.verbs)
            if judged is not None and judged.mood == PLAIN:  # "...; 100 mg twice a day is a reasonable dose"
                meant = _antecedents(text, place, dosed, many=False)
                found += [Found(place, place + 2, (thing,)) for thing in meant[:1]]
    for place, word in enumerate(text.words):
        if word in ("it", "that", "them") and place > 1 and text.words[place - 2] in words("candidates"):
            meant = _antecedents(text, place, known, many=False)
            found += [Found(place, place + 1, (thing,)) for thing in meant[:1]]
        if word in words("subjects_meant") and place >= text.shift and _opens(text, place):
            meant = _antecedents(text, place, known, many=False)
            if len(meant) != 1 or _expletive(text, place):
                continue
            judged = behind(text.words, place + 1, text.covered, text.verbs)
            judged = judged or without_copula(text.words, place + 1, text.verbs)
            if judged is not None and judged.mood == PLAIN:
                found.append(Found(place, place + 1, meant))
    return found


def _opens(text: Parsed, place: int) -> bool:
    """Whether a pronoun opens its clause: "..., so that is what I would take"."""
    return place == text.shift or text.words[place - 1] in JOINTS or text.words[place - 1] in words("before_meant")


def _expletive(text: Parsed, place: int) -> bool:
    """ "It is important to", "it is safe for you to": no drug is meant."""
    rest = text.words[place + 1 :]
    end = next((place for place, word in enumerate(rest) if word in (",", ";", ":", "—")), len(rest))
    if not {"that", "if", "when", "whether"}.isdisjoint(rest[:end]):
        return True
    if "to" not in rest[:end]:
        return False
    # "It's okay for you to use at night": the verb lacks its object, which is the pronoun.
    doing = place + 1 + rest.index("to") + 1
    verb = next((one for one in text.verbs if one.start == doing and "drug" in one.asks), None)
    after = text.words[verb.end] if verb is not None and verb.end < len(text.words) else ""
    return verb is None or bool(after and after[0].isalpha() and after not in words("behind_pronouns"))


def _pronoun_at(text: Sequence[str], place: int) -> int:
    if place >= len(text):
        return 0
    word = text[place]
    after = text[place + 1] if place + 1 < len(text) else ""
    if word in ("the", "this", "that", "these", "those", "your") and after in words("things_meant_nouns"):
        return 2
    alone = not after[:1].isalpha() or after in words("behind_pronouns")
    if word in ("one", "some") and after in words("behind_pronouns"):
        return 1  # "take one with dinner"
    if word in ("it", "them", "both") or (word in words("things_meant") and alone):
        return 0 if after in _NOT_OBJECTS else 1
    return 0


def _dose_alone(text: Parsed, verb: Verb) -> bool:
    """ "Doxycycline works well. Take 100 mg twice a day": the drug is the one named before."""
    if verb.end == len(text.words):
        return " ".join(text.words[verb.start :]) in table("advice_verbs")["without_object"]
    if verb.end >= len(text.words) or any(one.start >= verb.end for one in text.things) or not text.numbered:
        return False
    if not {BASE, GERUND} & verb.forms or verb.asks["drug"] not in ACTIONS:
        return False
    place = verb.end + (text.words[verb.end] in ("you", "her", "him"))
    place += place < len(text.words) and text.words[place] in ("to", "with", "at", "by", "on")
    word = text.words[place] if place < len(text.words) else ""
    unit = text.words[place + 1] if place + 1 < len(text.words) else ""
    if word in word_set("number_words") and unit[:1].isdigit():  # "one 50 mg tablet"
        return True
    number = word[:1].isdigit() or word in word_set("number_words") or word in ("a", "half")
    return number and (unit in words("amounts") or unit in words("behind_pronouns"))


def _opens_with_dose(text: Parsed) -> bool:
    """ "400 mg every 6 hours, with food": a sentence that is a dose of the drug named before, and how often."""
    opening = text.words[:4]
    number = opening and (opening[0][:1].isdigit() or opening[0] in word_set("number_words") or opening[0] == "half")
    if not number or words("amounts").isdisjoint(opening[1:]) or words("how_often_taken").isdisjoint(text.words):
        return False
    told = words("finite") | words("past_copulas") | words("subjects_own") | words("negators")
    return not text.question and told.isdisjoint(text.words[:10])


def _recommended(text: Parsed, verb: Verb) -> tuple[Thing, ...]:
    """The drug of the same sentence that "do that" takes up, unless something was said against it."""
    here = [one for one in text.things if one.end <= verb.start and one.things[0].kind in TAKEN]
    between = text.words[here[-1].end : verb.start] if here else []
    spoken = any(word in words("negators") or at(between, place, "bad") for place, word in enumerate(between))
    before = asked_before(text, here[-1], here[-1].things[0]) if here else None
    return here[-1].things[:1] if here and before is None and not spoken else ()


def _antecedents(text: Parsed, place: int, known: tuple[Thing, ...], *, many: bool) -> tuple[Thing, ...]:
    here = [one for one in text.things if one.end <= place and one.things[0].kind in TAKEN]
    if here:
        near = here if many else here[-1:]
        return tuple(dict.fromkeys(one.things[0] for one in near))
    return known if many or len(known) == 1 else ()
