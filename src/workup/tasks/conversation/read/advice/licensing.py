"""What licenses a change of advice: in which direction an event on a fact points for a slot. It knows no reply.

*Toward* is start, continue, increase, ask for, more urgent; *away* is stop, avoid, decrease, not needed, less urgent.
An event counts where it is of this patient, has a fitting status and bears on the slot; what is absent, of the family
or past counts for nothing, but for past reactions, bleeds and clots, which stay a caution. Which condition, result,
drug and procedure bears on what stands in data/advice_bearing.yaml, which no clinician has reviewed yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice.forbidden import PREGNANCY
from workup.tasks.conversation.read.advice.relevant_facts import (
    CHANGED,
    INTRODUCED,
    RETIRED,
    Happened,
    covers_thing,
    forbids,
    things_of_fact,
)
from workup.tasks.conversation.read.advice.statements import statements_of
from workup.tasks.conversation.read.advice.targets import (
    CARE,
    CLASS,
    DRUG,
    LIFE,
    MEANS,
    NAMED,
    REFERRAL,
    SAFETY,
    TEST,
    URGENCY,
    Names,
    Thing,
    members,
    parts_of,
)
from workup.tasks.conversation.read.advice.verbs import AVOID, DECREASE, STOP
from workup.tasks.conversation.read.facts.expected_values import amounts_of
from workup.tasks.conversation.read.facts.mentions import prepare_fact
from workup.tasks.conversation.read.facts.names import stem
from workup.tasks.conversation.read.names import generic_names, plain
from workup.tasks.conversation.read.sentence.vocabulary import table

TOWARD, AWAY, UNCLEAR = "toward", "away", "unclear"
_TURNED = {TOWARD: AWAY, AWAY: TOWARD, UNCLEAR: UNCLEAR}
_HELD, _DOUBTED, _PAST = "present", "uncertain", "historical"
_CONDITIONS = frozenset({"diagnosis", "symptom", "risk"})
_COMPLAINTS = frozenset({"diagnosis", "symptom", "risk", "result"})
_TAKEN = frozenset({DRUG, CLASS, NAMED})
_NOTHING: frozenset[str] = frozenset()
Phrase = tuple[str, ...]


def points(event: Happened, thing: Thing) -> frozenset[str]:
    """The directions in which an event points for a thing; empty where it does not bear on it.

    >>> allergy = Happened(3, INTRODUCED, Fact("f1", "allergy", "penicillin"))
    >>> sorted(points(allergy, Thing("drug", "amoxicillin"))), sorted(points(allergy, Thing("drug", "warfarin")))
    (['away'], [])
    >>> over = Happened(5, RETIRED, Fact("f2", "diagnosis", "acute kidney injury"))
    >>> sorted(points(over, Thing("drug", "ibuprofen")))
    ['toward']
    """
    fact = event.fact
    if fact.status not in (_HELD, _DOUBTED):
        return _of_the_past(event, thing)
    if thing.kind in _TAKEN:
        return frozenset(_on_drug(event, thing))
    if thing.kind == TEST:
        return frozenset(_on_test(event, thing))
    if thing.kind in (CARE, URGENCY, REFERRAL):
        return frozenset(_on_care(event, thing))
    if thing.kind in (SAFETY, MEANS):
        return frozenset(_on_safety(event, thing))
    return frozenset(_on_life(event, thing)) if thing.kind in LIFE else _NOTHING


def binds(event: Happened, thing: Thing, direction: str) -> bool:
    """Whether an event not only licenses a change but asks for it: advice that stays as it was is then too old.

    A new indication asks for no drug in particular, and a caution that has gone asks for none at all.
    """
    fact = event.fact
    if direction not in points(event, thing) or _TURNED[direction] in points(event, thing):
        return False
    if thing.kind not in _TAKEN:
        return event.kind != RETIRED and (direction == AWAY or thing.kind != TEST)
    if event.kind == RETIRED:
        own = fact.type == "medication" and fact.status == _HELD and thing in things_of_fact(fact)
        return own if direction == AWAY else forbids(fact, thing)
    if event.kind == CHANGED and fact.type == "medication":
        return False  # the dose decides
    return direction == AWAY or (fact.type == "plan" and thing in _named_in(fact))


# ---- drugs ----------------------------------------------------------------------------------------------------------


def _on_drug(event: Happened, thing: Thing) -> Iterator[str]:
    fact = event.fact
    coming = TOWARD if event.kind == RETIRED else AWAY  # of what is a reason against the drug
    if fact.harm_tag is not None and _tag_counts(fact) and event.kind != CHANGED and forbids(fact, thing):
        yield coming
    if fact.type == "allergy":
        if _of_allergy(fact, thing):
            yield coming
        return
    if fact.type == "medication":
        yield from _of_medication(event, thing)
        return
    if fact.type == "plan":
        yield from _of_plan(event, thing)
    if fact.type in ("plan", "procedure"):
        yield from _of_procedure(event, thing)
        return
    if fact.type == "social" and _declined(fact):
        yield from _of_plan(event, thing)
        return
    if fact.type in _CONDITIONS and any(covers_thing(own, thing) for own in _harmed_by(fact)):
        yield coming
    if fact.type == "result" or _side(fact):
        found = frozenset(_of_result(event, thing))
        if found or fact.type == "result":
            yield from found
            if not found and not _side(fact):
                return
    worse = _course(event)
    for record in _bearing(fact):
        if _listed(record.get("caution", ()), thing):
            yield _followed(AWAY, worse)
        if _listed(record.get("indication", ()), thing):
            yield _followed(TOWARD, worse)


def _tag_counts(fact: Fact) -> bool:
    """A suspicion forbids where it is of an allergy or a pregnancy."""
    return fact.status == _HELD or fact.type == "allergy" or (fact.harm_tag or "") == PREGNANCY


def _followed(direction: str, course: str) -> str:
    """The direction of a condition that comes or grows worse, turned where it goes or grows better."""
    return direction if course == INTRODUCED else _TURNED[direction] if course == RETIRED else UNCLEAR


def _course(event: Happened) -> str:
    if event.kind != CHANGED or event.before is None:
        return event.kind
    new, old = _words_of(event.fact), _words_of(event.before)
    for name, course in (("worse", INTRODUCED), ("better", RETIRED)):
        if _any_phrase(_phrases(name), new) and not _any_phrase(_phrases(name), old):
            return course
    for name, course in (("worse", RETIRED), ("better", INTRODUCED)):
        if _any_phrase(_phrases(name), old) and not _any_phrase(_phrases(name), new):
            return course
    return UNCLEAR


def _of_allergy(fact: Fact, thing: Thing) -> bool:
    """An allergy to a drug bears on it, and on the drugs of its class, tagged or not."""
    own = things_of_fact(fact) | _harmed_by(fact)
    if any(covers_thing(one, thing) for one in own):
        return True
    names = {part for one in own for part in members_named(one)}
    held = members_named(thing)
    return any(names & members(key) and held & members(key) for key in table("advice_bearing")["allergy_classes"])


def members_named(thing: Thing) -> frozenset[str]:
    """The drugs that a thing stands for."""
    if thing.kind == CLASS:
        return members(thing.name)
    return parts_of(thing.name) if thing.kind == DRUG else frozenset()


def _of_medication(event: Happened, thing: Thing) -> Iterator[str]:
    fact = event.fact
    own = things_of_fact(fact)
    if any(covers_thing(one, thing) for one in own):
        # A class takes in many drugs: one of them started is no reason to take the class.
        if thing.kind != CLASS or any(one.kind == CLASS for one in own):
            if event.kind == CHANGED and event.before is not None:
                yield from _of_dose(event.before, fact)
            else:
                yield AWAY if event.kind == RETIRED else TOWARD
        return
    if event.kind == CHANGED:
        return
    for ours, theirs in _together():
        for mine, others in ((ours, theirs), (theirs, ours)):
            if any(_listed(mine, one) for one in own) and _listed(others, thing):
                yield TOWARD if event.kind == RETIRED else AWAY


def _of_dose(old: Fact, new: Fact) -> Iterator[str]:
    before, after = dose_of(old), dose_of(new)
    if before is None or after is None or before[1] != after[1] or before[0] == after[0]:
        yield UNCLEAR
    else:
        yield TOWARD if after[0] > before[0] else AWAY


def dose_of(fact: Fact) -> tuple[float, str] | None:
    """The dose of a medication in the unit in which doses are compared, with what it measures."""
    wanted = prepare_fact(fact).wanted
    if wanted.unit is None or not wanted.amounts:
        return None
    return wanted.amounts[0] * wanted.unit.factor, wanted.unit.measure


def _of_plan(event: Happened, thing: Thing) -> Iterator[str]:
    """A plan or order told by another clinician points where its act does; what the patient declines, away."""
    for action, named in _acts(event.fact):
        if covers_thing(named, thing) or named == thing:
            direction = AWAY if action in (STOP, AVOID, DECREASE) or _declined(event.fact) else TOWARD
            yield _TURNED[direction] if event.kind == RETIRED else direction


def _of_procedure(event: Happened, thing: Thing) -> Iterator[str]:
    words = _stems_of(event.fact)
    for record in table("advice_bearing")["held_for"]:
        if _any_phrase(_folded(tuple(record["names"])), words) and _listed(record["drugs"], thing):
            over = event.kind == RETIRED or _done(event.fact)
            yield TOWARD if over else AWAY


def _done(fact: Fact) -> bool:
    """Whether a procedure has been done; one that comes up in a conversation is else taken to be ahead."""
    words = _words_of(fact)
    return _any_phrase(_phrases("done"), words) and not _any_phrase(_phrases("planned"), words)


def _declined(fact: Fact) -> bool:
    return _any_phrase(_phrases("declined"), _words_of(fact))


def _of_result(event: Happened, thing: Thing) -> Iterator[str]:
    fact = event.fact
    for record in _results(fact):
        side = _side(fact)
        if event.kind == RETIRED:
            if side in ("too_high", "too_low"):
                yield from (_TURNED[one] for one in _on_side(record, side, thing))
        elif side in ("too_high", "too_low"):
            yield from _on_side(record, side, thing)
        elif side == "normal":
            yield from _on_side(record, "normal_means", thing)
            before = _side(event.before) if event.before is not None else ""
            sides = [before] if before in ("too_high", "too_low") else ["too_high", "too_low"]
            yield from (_TURNED[one] for wrong in sides for one in _on_side(record, wrong, thing))


def _on_side(record: Mapping[str, Any], side: str, thing: Thing) -> Iterator[str]:
    for direction, listed in record.get(side, {}).items():
        if _listed(listed, thing):
            yield direction


@lru_cache(maxsize=4096)
def _side(fact: Fact) -> str:
    """Whether a result is too high, too low or normal, by its words or by its value; empty where neither tells."""
    records = _results(fact)
    if not records:
        return ""
    words = _words_of(fact)
    for side in ("normal", "too_high", "too_low"):
        if _any_phrase(_phrases_of_side(side), words):
            return side
    value, unit = _value(fact)
    if value is None:
        return ""
    for record in records:
        ranges: Mapping[str, Sequence[str]] = record.get("normal", {})
        limits = ranges.get(unit) if unit else next(iter(ranges.values()), None)
        if limits is not None:
            low, high = (float(limit) for limit in limits)
            return "too_low" if value < low else "too_high" if value > high else "normal"
    return ""


_VALUE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)\s*([a-z%][a-z0-9%/]*)?")


def _value(fact: Fact) -> tuple[float | None, str]:
    """The value of a result and its unit, by its attributes or by its name: "TSH 9.8 mIU/L"."""
    amounts = amounts_of(fact.attributes.get("dose_value")) if "dose_value" in fact.attributes else None
    if amounts is not None:
        return amounts[0][0], str(fact.attributes.get("dose_unit") or "").casefold().replace(" ", "")
    for name in fact.names:
        found = _VALUE.search(name.casefold().replace("\u00b5", "u"))
        if found is not None:
            return float(found[1]), found[2] or ""
    return None, ""


# ---- tests, care, safety plans, ways of life -------------------------------------------------------------------------


def _on_test(event: Happened, thing: Thing) -> Iterator[str]:
    fact = event.fact
    if fact.type == "plan" or (fact.type == "social" and _declined(fact)):
        yield from _of_plan(event, thing)
    if fact.type in ("result", "procedure") and _names_test(fact, thing):
        if event.kind != RETIRED and not _any_phrase(_phrases("planned"), _words_of(fact)):
            yield AWAY
        if _side(fact) in ("too_high", "too_low"):
            yield TOWARD  # what came out wrong may well be asked for again
    elif (fact.type in _CONDITIONS or _side(fact) in ("too_high", "too_low")) and _is_ground(fact, thing):
        yield TOWARD if _course(event) == INTRODUCED else UNCLEAR
    if fact.type == "medication" and _watched(things_of_fact(fact), thing):
        yield UNCLEAR if event.kind == RETIRED else TOWARD


def _is_ground(fact: Fact, thing: Thing) -> bool:
    looked_at = set(table("advice_bearing")["parts_of_tests"].get(thing.name, ("any",)))
    parts = _parts(fact)
    return "any" in looked_at or not parts or bool(parts & looked_at)


@lru_cache(maxsize=4096)
def _parts(fact: Fact) -> frozenset[str]:
    words = _stems_of(fact)
    flat = {word for name in words for word in name}
    listed: Mapping[str, Sequence[str]] = table("advice_bearing")["parts_of_complaints"]
    return frozenset(part for part, some in listed.items() if not flat.isdisjoint(stem(word) for word in some))


def _watched(drugs: Iterable[Thing], thing: Thing) -> bool:
    listed = table("advice_bearing")["watched"].get(thing.name, ())
    return any(_listed(listed, drug) for drug in drugs)


def _names_test(fact: Fact, thing: Thing) -> bool:
    written = table("advice_things")[TEST].get(thing.name, ())
    return _any_phrase(_folded((thing.name, *written)), _stems_of(fact))


def _on_care(event: Happened, thing: Thing) -> Iterator[str]:
    fact = event.fact
    if fact.type == "plan" or (fact.type == "social" and _declined(fact)):
        yield from _of_plan(event, thing)
    if fact.type not in _COMPLAINTS:
        return
    side = _side(fact)
    alarming = _any_phrase(_alarm(), _stems_of(fact))
    if thing.kind == REFERRAL and not alarming:
        looked_at = set(table("advice_bearing")["parts_of_specialties"].get(thing.name, ()))
        alarming = bool(_parts(fact) & looked_at)
    if side == "normal" and _results(fact):
        yield AWAY
    elif alarming or side in ("too_high", "too_low"):
        yield _followed(TOWARD, _course(event))


def _on_safety(event: Happened, thing: Thing) -> Iterator[str]:
    fact = event.fact
    if fact.type == "plan":
        yield from _of_plan(event, thing)
    elif fact.type in (*_CONDITIONS, "social") and _any_phrase(_self_harm(), _stems_of(fact)) and event.kind != RETIRED:
        yield TOWARD


def _on_life(event: Happened, thing: Thing) -> Iterator[str]:
    fact = event.fact
    if fact.type == "plan" or (fact.type == "social" and _declined(fact)):
        yield from _of_plan(event, thing)
    record = table("advice_bearing")["ways_of_life"].get(thing.name, {})
    coming = TOWARD if event.kind == RETIRED else AWAY
    if fact.type == "allergy":
        if thing in _things_named(fact):
            yield coming
    elif fact.type == "medication":
        if event.kind != CHANGED and any(_listed(record.get("drugs", ()), one) for one in things_of_fact(fact)):
            yield coming
    elif fact.type in (*_COMPLAINTS, "procedure"):
        words = _stems_of(fact)
        if fact.type == "result" and _side(fact) in ("", "normal"):
            return
        if _any_phrase(_folded(tuple(record.get("conditions", ()))), words):
            yield _followed(AWAY, _course(event))
        if _any_phrase(_folded(tuple(record.get("indication", ()))), words):
            yield _followed(TOWARD, _course(event))


def _of_the_past(event: Happened, thing: Thing) -> frozenset[str]:
    """A past reaction, bleed or clot is a caution when it comes to light; all else that is past is none."""
    fact = event.fact
    if fact.status != _PAST or event.kind != INTRODUCED or thing.kind not in _TAKEN:
        return _NOTHING
    if fact.type == "allergy":
        return frozenset({AWAY}) if _of_allergy(fact, thing) or forbids(fact, thing) else _NOTHING
    if fact.harm_tag is not None and forbids(fact, thing):
        return frozenset({AWAY})
    counted = [record for record in _bearing(fact) if record.get("history_counts")]
    return frozenset({AWAY}) if any(_listed(one.get("caution", ()), thing) for one in counted) else _NOTHING


# ---- words and lists -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _words_of(fact: Fact) -> tuple[Phrase, ...]:
    """Every name of a fact as it is written, folded; statuses, sides and courses stand in it."""
    return tuple(tuple(plain(name).split()) for name in fact.names)


@lru_cache(maxsize=4096)
def _stems_of(fact: Fact) -> tuple[Phrase, ...]:
    return tuple(tuple(stem(word) for word in name) for name in _words_of(fact))


@cache
def _folded(names: tuple[str, ...]) -> tuple[Phrase, ...]:
    return tuple(tuple(stem(word) for word in plain(name).split()) for name in names)


@cache
def _phrases(name: str) -> tuple[Phrase, ...]:
    return tuple(tuple(phrase.split()) for phrase in table("advice_bearing")[name])


@cache
def _phrases_of_side(side: str) -> tuple[Phrase, ...]:
    return tuple(tuple(phrase.split()) for phrase in table("advice_bearing")["sides"][side])


@cache
def _alarm() -> tuple[Phrase, ...]:
    return _folded(tuple(table("advice_bearing")["alarm"]))


@cache
def _self_harm() -> tuple[Phrase, ...]:
    return _folded(tuple(table("advice_bearing")["self_harm"]))


def _any_phrase(phrases: Iterable[Phrase], names: Iterable[Phrase]) -> bool:
    return any(_within(phrase, name) for name in names for phrase in phrases)


def _within(phrase: Phrase, words: Phrase) -> bool:
    size = len(phrase)
    return any(words[place : place + size] == phrase for place in range(len(words) - size + 1))


@cache
def _things(listed: tuple[str, ...]) -> tuple[Thing, ...]:
    classes = table("advice_classes")
    return tuple(
        Thing(CLASS, name) if name in classes else Thing(DRUG, generic_names().get(plain(name), name))
        for name in listed
    )


def _listed(names: Iterable[str], thing: Thing) -> bool:
    return any(covers_thing(limit, thing) for limit in _things(tuple(names)))


@cache
def _together() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    return tuple((tuple(ours), tuple(theirs)) for ours, theirs in table("advice_bearing")["together"])


@lru_cache(maxsize=4096)
def _bearing(fact: Fact) -> tuple[Mapping[str, Any], ...]:
    """The records of conditions that a fact names; "pain" is not met in "chest pain", which has its own."""
    found: dict[int, Mapping[str, Any]] = {}
    records = table("advice_bearing")["conditions"]
    for name in _stems_of(fact):
        met = [
            (phrase, place)
            for place, record in enumerate(records)
            for phrase in _folded(tuple(record["names"]))
            if _within(phrase, name)
        ]
        for phrase, place in met:
            if not any(len(other) > len(phrase) and _within(phrase, other) for other, _ in met):
                found[place] = records[place]
    return tuple(found[place] for place in sorted(found))


@lru_cache(maxsize=4096)
def _results(fact: Fact) -> tuple[Mapping[str, Any], ...]:
    """The records of results that a fact names; of "digoxin level" and "a1c" the longest names alone."""
    names = _stems_of(fact)
    met = [
        (max(len(phrase) for phrase in _folded(tuple(record["names"])) if _any_phrase((phrase,), names)), record)
        for record in table("advice_bearing")["results"]
        if _any_phrase(_folded(tuple(record["names"])), names)
    ]
    longest = max((size for size, _ in met), default=0)
    return tuple(record for size, record in met if size == longest)


@cache
def _names() -> Names:
    return Names()


@lru_cache(maxsize=4096)
def _things_named(fact: Fact) -> frozenset[Thing]:
    """Everything of the tables that the names of a fact hold."""
    return frozenset(
        thing for words in _words_of(fact) for one in _names().find(words) if not one.fuzzy for thing in one.things
    )


def _named_in(fact: Fact) -> frozenset[Thing]:
    return frozenset(thing for _, thing in _acts(fact))


@lru_cache(maxsize=4096)
def _harmed_by(fact: Fact) -> frozenset[Thing]:
    """The drugs of "metformin intolerance", "lithium toxicity", "hives with amoxicillin"."""
    drugs = frozenset(thing for thing in _things_named(fact) if thing.kind in _TAKEN)
    return drugs if drugs and _any_phrase(_phrases("reactions"), _words_of(fact)) else frozenset()


@lru_cache(maxsize=4096)
def _acts(fact: Fact) -> tuple[tuple[str, Thing], ...]:
    """What a plan asks for, as advice is read; a thing without a verb is asked for."""
    found: dict[Thing, str] = {}
    for name in fact.names:
        for one in statements_of(name):
            found.setdefault(one.thing, one.action)
    for thing in sorted(_things_named(fact)):
        found.setdefault(thing, "start")
    return tuple((action, thing) for thing, action in found.items())
