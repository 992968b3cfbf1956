"""Facts said in plain sentences: rightly, turned into their contrary, or with another value. Knows no model.

The sentences are written down here and not looked up with the matcher: a self-test that asked the matcher which words
it likes would test nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.talk.prompts import name_of

_RIGHT = {
    "allergy": {
        "present": "The patient is allergic to {}.",
        "absent": "The patient is not allergic to {}.",
        "historical": "The patient had an allergy to {} in the past.",
        "uncertain": "The patient has a possible allergy to {}.",
    },
    "medication": {
        "present": "The patient takes {}.",
        "absent": "The patient does not take {}.",
        "historical": "The patient took {} in the past.",
        "uncertain": "The patient possibly takes {}.",
    },
    "procedure": {"present": "The patient had {}.", "historical": "The patient had {}."},
    "social": {"present": "Social history: {}.", "absent": "The patient denies being {}."},
    "result": {"present": "The {}."},
    "plan": {"present": "The plan is {}."},
}
_PROBLEM = {
    "present": "The patient has {}.",
    "absent": "The patient has no {}.",
    "historical": "The patient has a history of {}.",
    "family": "There is a family history of {}.",
    "uncertain": "The patient has possible {}.",
}
_CONTRARY = {
    "allergy": {
        "present": "The patient is not allergic to {}.",
        "absent": "The patient is allergic to {}.",
        "historical": "The patient currently has an active allergy to {}.",
        "uncertain": "An allergy to {} has been ruled out.",
    },
    "medication": {
        "present": "The patient no longer takes {}.",
        "absent": "The patient takes {}.",
        "historical": "The patient currently takes {}.",
        "uncertain": "The patient does not take {}.",
    },
    "procedure": {"present": "The patient has never had {}.", "historical": "The patient has never had {}."},
    "social": {"present": "The patient denies: {}.", "absent": "Social history: {}."},
    "result": {"present": "There is no {}."},
    "plan": {"present": "The {} was cancelled."},
}
_NO_PROBLEM = {
    "present": "The patient does not have {}.",
    "absent": "The patient has {}.",
    "historical": "The patient currently has active {}.",
    "family": "There is no family history of {}.",
    "uncertain": "{} has been ruled out.",
}
_OTHER_WORDS = {
    "laterality": {"left": "right", "right": "left", "bilateral": "left"},
    "frequency": {"weekly": "three times daily", "once weekly": "three times daily"},
    "route": {"oral": "intravenous", "po": "intravenous", "by mouth": "intravenous"},
}
_OTHERWISE = {"frequency": "once weekly", "route": "oral"}
_CHANGED_FIRST = ("dose_value", "laterality", "frequency", "route", "date")


@lru_cache(maxsize=20_000)
def right(fact: Fact) -> str:
    """The fact as it is, with every value it has.

    >>> right(Fact("f1", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg"}))
    'The patient takes warfarin 5 mg.'
    """
    return (
        _RIGHT.get(fact.type, {}).get(fact.status, _PROBLEM[fact.status]).format(_worded(fact, dict(fact.attributes)))
    )


@lru_cache(maxsize=20_000)
def contrary(fact: Fact) -> str:
    """The fact turned into its contrary.

    >>> contrary(Fact("f1", "allergy", "penicillin allergy"))
    'The patient is not allergic to penicillin.'
    """
    form = _CONTRARY.get(fact.type, {}).get(fact.status, _NO_PROBLEM[fact.status])
    sentence = form.format(_worded(fact, {key: fact.attributes[key] for key in _SIDE if key in fact.attributes}))
    return sentence[0].upper() + sentence[1:]


_SIDE = ("laterality",)


def has_value(fact: Fact) -> bool:
    """Whether the fact has a value that could be told wrongly."""
    return fact.status != "absent" and any(name in fact.attributes for name in _CHANGED_FIRST)


@lru_cache(maxsize=20_000)
def wrong(fact: Fact) -> str:
    """The fact with one of its values changed: ten times the dose, the other side, another rhythm, route or year.

    >>> wrong(Fact("f1", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg"}))
    'The patient takes warfarin 50 mg.'
    """
    changed = next(name for name in _CHANGED_FIRST if name in fact.attributes)
    other = {**fact.attributes, changed: _another(changed, fact.attributes[changed])}
    return _RIGHT.get(fact.type, {}).get(fact.status, _PROBLEM[fact.status]).format(_worded(fact, other))


def _another(name: str, value: Any) -> Any:
    if name == "dose_value":
        first = float(str(value).replace("/", "-").split("-")[0])
        return f"{first * 10:g}"
    if name == "date":
        return "1903"
    return _OTHER_WORDS[name].get(str(value).casefold(), _OTHERWISE.get(name))


def _worded(fact: Fact, values: dict[str, Any]) -> str:
    words = [str(values["laterality"])] if "laterality" in values else []
    words.append(name_of(fact))
    if fact.type == "result" and "dose_value" in values:
        words.append("is")
    words += [str(values[key]) for key in ("dose_value", "dose_unit", "frequency") if key in values]
    if "route" in values:
        words.append(f"by the {values['route']} route")
    if "date" in values:
        words.append(f"in {values['date']}")
    return " ".join(words)
