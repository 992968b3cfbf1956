"""Which facts a conversation holds and what becomes of them. Knows neither turns nor sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workup.corpora.generate.conversation.people import Persona
from workup.corpora.generate.conversation.sources import table
from workup.values.draws import Chance

FIRST, EARLY, ANY, LATE = 0, 1, 2, 3


@dataclass
class Drafted:
    """A fact on its way into the ledger; `words` is what its sentences need beyond its name."""

    key: str
    type: str
    concept: str
    aliases: tuple[str, ...] = ()
    status: str = "present"
    attributes: dict[str, Any] = field(default_factory=dict)
    weight: float = 1
    critical: bool = True
    harm: str | None = None
    words: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Told:
    """One thing that is told: it introduces `fact`, ends `ends`, or both. `way` names its sentences."""

    way: tuple[str, ...]
    phase: int
    fact: str = ""
    ends: str = ""
    needed: bool = False


@dataclass
class Plot:
    """All facts of a conversation and all that is told of them."""

    facts: dict[str, Drafted] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)
    must_end: set[str] = field(default_factory=set)  # facts that are told only where their end is told too

    def tell(self, fact: Drafted, *way: str, phase: int, ends: str = "", needed: bool = False) -> None:
        """Add a fact, with the telling that introduces it and ends another."""
        self.facts[fact.key] = fact
        self.told.append(Told(way, phase, fact.key, ends, needed))

    def end(self, key: str, *way: str) -> None:
        """End a fact without another in its place."""
        self.told.append(Told(way, LATE, "", key))


def plot_of(family: Mapping[str, Any], persona: Persona, chance: Chance, *, changes: float, year: int) -> Plot:
    """The facts of a conversation of this year; `changes` is the chance that doses and results change."""
    plot = Plot()
    _problem(plot, family, chance)
    _drugs(plot, family, chance, changes)
    _coming_and_going(plot, family, chance, changes)
    _background(plot, family, persona, chance)
    if chance.happens(0.7):
        _past(plot, family, persona, chance, before=year)
    return plot


def _problem(plot: Plot, family: Mapping[str, Any], chance: Chance) -> None:
    given = family["problem"]
    fact = _fact("problem", given["type"], given, weight=given.get("weight", 2))
    if given.get("sided"):
        fact.attributes["laterality"] = chance.pick(("left", "right"))
    plot.tell(fact, "problem", given["type"], phase=FIRST, needed=True)
    if "risk" in family and chance.happens(0.5):
        plot.tell(_fact("risk", "risk", family["risk"], weight=3), "risk", phase=EARLY, needed=True)


def _fact(key: str, type: str, given: Mapping[str, Any], *, weight: float = 1, critical: bool = True) -> Drafted:
    return Drafted(
        key,
        type,
        given["concept"],
        tuple(given.get("aliases", ())),
        weight=weight,
        critical=critical,
        harm=given.get("harm"),
    )


# ---- drugs -----------------------------------------------------------------------------------------------------------


def _drugs(plot: Plot, family: Mapping[str, Any], chance: Chance, changes: float) -> None:
    given = chance.pick(family["main"])
    step = chance.integer(0, len(given["steps"]) - 1)
    plot.tell(_drug("main", given, step), "medication", "introduce", phase=EARLY, needed=True)
    if len(given["steps"]) > 1 and chance.happens(changes):
        after = 1 if step == 0 else step - 1 if step == len(given["steps"]) - 1 else step + chance.pick((-1, 1))
        way = "up" if after > step else "down"
        plot.tell(_drug("changed", given, after), "medication", way, phase=LATE, ends="main", needed=True)
    if chance.happens(0.8):
        other = chance.pick(family["also"])
        step = chance.integer(0, len(other["steps"]) - 1)
        plot.tell(_drug("also", other, step), "medication", "also", phase=ANY)
    stopped = chance.pick(family["stop"])
    fact = _drug("stop", stopped, chance.integer(0, len(stopped["steps"]) - 1))
    fact.words["why"] = stopped["why"]
    fact.words["why_other"] = stopped.get("why_other", stopped["why"])
    plot.tell(fact, "medication", "also", phase=EARLY)
    plot.end("stop", "medication", "stop")
    plot.must_end.add("stop")


def _drug(key: str, given: Mapping[str, Any], step: int) -> Drafted:
    fact = _fact(key, "medication", given, weight=given.get("weight", 1))
    fact.attributes = {"dose_value": given["steps"][step], "dose_unit": given["unit"], "frequency": given["often"]}
    if "route" in given:
        fact.attributes["route"] = given["route"]
    return fact


# ---- what comes and goes ---------------------------------------------------------------------------------------------


def _coming_and_going(plot: Plot, family: Mapping[str, Any], chance: Chance, changes: float) -> None:
    symptom, denied = chance.pick(family["symptoms"]), chance.pick(family["denied"])
    fact = Drafted("symptom", "symptom", symptom, critical=False)
    if family.get("sided"):
        fact.attributes["laterality"] = chance.pick(("left", "right"))
    plot.tell(fact, "symptom", "present", phase=EARLY)
    if chance.happens(0.7):
        plot.end("symptom", "symptom", "gone")
    kind = family.get("denied_type", "symptom")
    plot.tell(Drafted("denied", kind, denied, status="absent", weight=2), "denied", phase=ANY, needed=True)
    _results(plot, family["result"], chance, changes)
    if chance.happens(0.45):
        suspected = chance.pick(family["uncertain"])
        plot.tell(Drafted("suspected", "diagnosis", suspected, status="uncertain"), "uncertain", "present", phase=ANY)
        if chance.happens(0.6):
            out = Drafted("excluded", "diagnosis", suspected, status="absent")
            plot.tell(out, "uncertain", "absent", phase=LATE, ends="suspected")
    if chance.happens(0.6):
        plot.tell(Drafted("plan", "plan", chance.pick(family["plans"])), "plan", phase=LATE)


def _results(plot: Plot, given: Mapping[str, Any], chance: Chance, changes: float) -> None:
    first, second = chance.pick(given["pairs"])
    unit = {"dose_unit": given["unit"]} if "unit" in given else {}
    fact = Drafted("result", "result", given["concept"], attributes={"dose_value": first, **unit})
    plot.tell(fact, "result", "present", phase=ANY)
    if first != second and chance.happens(changes):
        again = Drafted("retested", "result", given["concept"], attributes={"dose_value": second, **unit})
        plot.tell(again, "result", "again", phase=LATE, ends="result")


# ---- background ------------------------------------------------------------------------------------------------------


def _background(plot: Plot, family: Mapping[str, Any], persona: Persona, chance: Chance) -> None:
    pools = table("pools")
    taken = {fact.concept for fact in plot.facts.values()} | _named(family)
    allergy = chance.pick([one for one in pools["allergies"] if _apart(one["concept"], taken)])
    fact = _fact("allergy", "allergy", allergy, weight=3)
    fact.words["reaction"] = chance.pick(pools["reactions"])
    plot.tell(fact, "allergy", "present", phase=EARLY, needed=True)
    if "harm" in allergy and chance.happens(0.18):
        cleared = Drafted("cleared", "allergy", fact.concept, fact.aliases, status="absent", weight=2)
        plot.tell(cleared, "allergy", "absent", phase=LATE, ends="allergy", needed=True)
    if chance.happens(0.75):
        own = [name for name in pools["family"] if _apart(name, taken)]
        kin = Drafted("family", "diagnosis", chance.pick(own), status="family", weight=0.5, critical=False)
        relatives = pools["relatives"][2:] if persona.speaks_for_other else pools["relatives"]
        kin.words["relative"] = chance.pick(relatives)
        plot.tell(kin, "family", phase=ANY)
    social = [one for one in pools["social"] if persona.age in one["ages"] and _apart(one["concept"], taken)]
    if chance.happens(0.7):
        one = chance.pick(social)
        fact = _fact("social", "social", one, weight=0.5, critical=False)
        fact.status = one["status"]
        plot.tell(fact, "social", one["concept"], one["status"], phase=ANY)


def _past(plot: Plot, family: Mapping[str, Any], persona: Persona, chance: Chance, *, before: int) -> None:
    taken = {fact.concept for fact in plot.facts.values()} | _named(family)
    fitting = [
        one
        for one in table("pools")["history"]
        if persona.age in one.get("ages", (persona.age,))
        and _apart(one["concept"], taken)
        and taken.isdisjoint(one.get("not_with", ()))
    ]
    one = chance.pick(fitting)
    fact = _fact("history", one["type"], one)
    fact.status = "historical"
    if one.get("sided"):
        fact.attributes["laterality"] = chance.pick(("left", "right"))
    back = persona.years - 2 if persona.age == "0-17" else 18
    fact.attributes["date"] = str(before - chance.integer(1, max(back, 1)))
    plot.tell(fact, "history", one["type"], phase=ANY)


def _named(family: Mapping[str, Any]) -> set[str]:
    """Names that the family itself may speak of; a fact of the background must be none of them, nor part of one."""
    drugs = {one["concept"] for part in ("main", "also", "stop") for one in family[part]}
    return drugs | {*family["symptoms"], *family["denied"], *family["uncertain"], *family["plans"]}


def _apart(name: str, taken: set[str]) -> bool:
    words = set(name.split())
    return all(not (words <= set(other.split()) or set(other.split()) <= words) for other in taken)
