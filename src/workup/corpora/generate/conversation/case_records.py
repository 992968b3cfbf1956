"""A plot and its turns as one record of the case file: messages, facts with their lives, events, summary and plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workup.corpora.generate.conversation.people import Persona
from workup.corpora.generate.conversation.plots import Drafted, Plot, Told
from workup.corpora.generate.conversation.sources import table
from workup.corpora.generate.conversation.wording import introduction_of, sentence_of
from workup.values.draws import Chance

_CHATTY = {"fluent": 0.8, "limited": 0.55}


def record_of(
    id: str,
    plot: Plot,
    placed: Mapping[int, list[Told]],
    family: Mapping[str, Any],
    persona: Persona,
    chance: Chance,
) -> dict[str, Any]:
    """The record of one case."""
    facts = _facts(plot, placed)
    turns = _turns(plot, placed, persona, chance)
    for turn in turns:
        events = _events(facts, turn["turn"])
        if events:
            turn["events"] = events
    held = [fact for fact in facts if fact["retired"] is None]
    return {
        "id": id,
        "patient_summary": _summary(held, facts, persona),
        "turns": turns,
        "facts": facts,
        "target_plan": _plan(held, facts, family),
        "metadata": {},
    }


# ---- facts and events ------------------------------------------------------------------------------------------------


def _facts(plot: Plot, placed: Mapping[int, list[Told]]) -> list[dict[str, Any]]:
    began = {one.fact: turn for turn, told in placed.items() for one in told if one.fact}
    ended = {one.ends: (turn, one.fact) for turn, told in placed.items() for one in told if one.ends}
    order = sorted(began, key=lambda key: (began[key], list(plot.facts).index(key)))
    ids = {key: f"f{number}" for number, key in enumerate(order, start=1)}
    return [_fact(plot.facts[key], ids, began[key], ended.get(key)) for key in order]


def _fact(fact: Drafted, ids: Mapping[str, str], introduced: int, ended: tuple[int, str] | None) -> dict[str, Any]:
    retired, by = ended or (None, "")
    return {
        "id": ids[fact.key],
        "type": fact.type,
        "concept": fact.concept,
        "aliases": list(fact.aliases),
        "status": fact.status,
        "attributes": dict(fact.attributes),
        "introduced": introduced,
        "retired": retired,
        "superseded_by": ids[by] if by else None,
        "weight": fact.weight,
        "critical": fact.critical,
        "harm_tag": fact.harm,
    }


def _events(facts: list[dict[str, Any]], turn: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for fact in facts:
        if fact["retired"] == turn:
            by = fact["superseded_by"]
            found.append(
                {"kind": "change", "fact": fact["id"], "by": by} if by else {"kind": "retire", "fact": fact["id"]}
            )
    return found + [{"kind": "introduce", "fact": fact["id"]} for fact in facts if fact["introduced"] == turn]


# ---- messages --------------------------------------------------------------------------------------------------------


def _turns(plot: Plot, placed: Mapping[int, list[Told]], persona: Persona, chance: Chance) -> list[dict[str, Any]]:
    talk = table("small_talk")
    language = persona.language
    chatter = chance.shuffled(talk[language])
    asked = chance.shuffled(talk["questions"][language])
    found = []
    for turn, told in sorted(placed.items()):
        said = [sentence_of(one, plot, persona, chance) for one in told]
        if turn == 1:
            said = [chance.pick(talk["openings"][language]), introduction_of(persona), *said]
        chatting = chance.happens(_CHATTY[language]) or not told
        if chatting and chatter:
            first = turn > 1 and chance.happens(0.35)
            said = [chatter.pop(), *said] if first else [*said, chatter.pop()]
        if asked and (not told or chance.happens(0.15)):
            said.append(asked.pop())
        found.append({"turn": turn, "message": " ".join(part for part in said if part) or _nothing(language)})
    closing = chance.pick(talk["closings"][language])
    lead = f"{chatter.pop()} " if chatter and chance.happens(0.5) else ""
    found.append({"turn": len(found) + 1, "message": lead + closing})
    return found


def _nothing(language: str) -> str:
    return "Nothing new today, just checking in." if language == "fluent" else "Today nothing new, I only say hello."


# ---- summary and plan ------------------------------------------------------------------------------------------------

_STATED = {
    ("medication", "present"): "Takes {}.",
    ("allergy", "present"): "Allergic to {}.",
    ("allergy", "absent"): "Not allergic to {}.",
    ("smoker", "absent"): "Not a {}.",
    ("smoker", "historical"): "Former {}.",
    ("plan", "present"): "Plan: {}.",
    ("", "absent"): "No {}.",
    ("", "historical"): "History of {}.",
    ("", "family"): "Family history of {}.",
    ("", "uncertain"): "Suspected {}.",
}


def _summary(held: list[dict[str, Any]], facts: list[dict[str, Any]], persona: Persona) -> str:
    """What holds at the end, in plain sentences, and which drugs were stopped."""
    found = [f"{persona.years}-year-old {_noun(persona)}."]
    for fact in held:
        name = " ".join([*filter(None, [fact["attributes"].get("laterality")]), fact["concept"]])
        if fact["type"] == "result":
            found.append(f"{_capital(name)} is {fact['attributes']['dose_value']}.")
            continue
        key = ("smoker" if name == "smoker" else fact["type"], fact["status"])
        text = _STATED.get(key) or _STATED.get(("", fact["status"])) or "{}."
        found.append(_capital(text.format(name)))
    found += [f"{_capital(fact['concept'])} was stopped." for fact in _stopped(facts)]
    return " ".join(found)


def _plan(held: list[dict[str, Any]], facts: list[dict[str, Any]], family: Mapping[str, Any]) -> str:
    found = []
    for fact in held:
        if (fact["type"], fact["status"]) == ("medication", "present"):
            dose = [str(fact["attributes"][key]) for key in ("dose_value", "dose_unit", "frequency")]
            found.append(f"Continue {fact['concept']} {' '.join(dose)}.")
        elif (fact["type"], fact["status"]) == ("plan", "present"):
            found.append(f"Next step: {fact['concept']}.")
    found += [f"Do not restart {fact['concept']}." for fact in _stopped(facts)]
    found += [f"Avoid {fact['concept']}." for fact in held if (fact["type"], fact["status"]) == ("allergy", "present")]
    return " ".join([*found, *family["advice"]])


def _stopped(facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [fact for fact in facts if fact["type"] == "medication" and fact["retired"] and not fact["superseded_by"]]


def _noun(persona: Persona) -> str:
    names = {("female", True): "girl", ("male", True): "boy", ("female", False): "woman", ("male", False): "man"}
    return names[(persona.sex, persona.age == "0-17")]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
