"""Facts of a case: what must be remembered, from which turn, to which. Knows the words allowed, no text of a reply."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_args

from workup.errors import InputError, near

FactType = Literal["allergy", "medication", "diagnosis", "symptom", "risk", "result", "procedure", "social", "plan"]
Status = Literal["present", "absent", "historical", "family", "uncertain"]
TYPES: tuple[str, ...] = get_args(FactType)
STATUSES: tuple[str, ...] = get_args(Status)
ATTRIBUTES = ("dose_value", "dose_unit", "frequency", "route", "laterality", "date")
SIDES = ("left", "right", "bilateral")
_WHERE = "a fact"  # a reader of files says which; an id could be a patient's
HARMS = ("avoid_class", "avoid_drug", "avoid_with", "pregnancy")


@dataclass(frozen=True)
class Fact:
    """One fact of the ledger. Active from turn `introduced` up to, and not at, turn `retired`.

    >>> fact = Fact("f1", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg"}, retired=4)
    >>> fact.active(3), fact.active(4)
    (True, False)
    """

    id: str
    type: str
    concept: str
    aliases: tuple[str, ...] = ()
    status: str = "present"
    attributes: Mapping[str, Any] = field(default_factory=dict)
    introduced: int = 1
    retired: int | None = None
    superseded_by: str | None = None
    weight: float = 1.0
    critical: bool = True
    harm_tag: str | None = None

    def __post_init__(self) -> None:
        aliases = (self.aliases,) if isinstance(self.aliases, str) else tuple(self.aliases)
        object.__setattr__(self, "aliases", aliases)
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))
        _check_words(self)
        check_attributes(self.attributes, where=_WHERE)
        _check_life(self)
        check_harm_tag(self.harm_tag, where=_WHERE)

    def __hash__(self) -> int:
        return hash((self.id, self.type, self.concept, self.aliases, self.status, self.introduced, self.retired))

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy cannot be pickled, and engines send facts to other processes.
        names = ("id", "type", "concept", "aliases", "status")
        rest = ("introduced", "retired", "superseded_by", "weight", "critical", "harm_tag")
        values = (*(getattr(self, name) for name in names), dict(self.attributes), *(getattr(self, n) for n in rest))
        return (Fact, values)

    @property
    def names(self) -> tuple[str, ...]:
        """The concept and its aliases, each once."""
        return tuple(dict.fromkeys((self.concept, *self.aliases)))

    def active(self, turn: int) -> bool:
        """Whether the fact holds at a turn."""
        return self.introduced <= turn and (self.retired is None or turn < self.retired)

    def over(self, turn: int) -> bool:
        """Whether the fact has been retired by this turn."""
        return self.retired is not None and turn >= self.retired


def one_of(value: Any, allowed: Iterable[str], *, field: str, where: str) -> str:
    """A word of a closed list, or an error that names the near ones."""
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    # A word that is near an allowed one is a slip of the pen and may be shown; any other could be a patient's.
    shown = value if isinstance(value, str) else ""
    hint = near(shown[:40], names)
    raise InputError(f"'{field}' must be one of {', '.join(names)}", where=where, got=_kind(value), remedy=hint)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    kinds: dict[type, str] = {str: "another text", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number")


def _check_words(fact: Fact) -> None:
    where = _WHERE
    for name in ("id", "concept"):
        value = getattr(fact, name)
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"'{name}' must be a text that is not empty", where=where, got=_kind(value))
    one_of(fact.type, TYPES, field="type", where=where)
    one_of(fact.status, STATUSES, field="status", where=where)
    for alias in fact.names:
        if not isinstance(alias, str) or not any(sign.isalnum() for sign in alias):
            raise InputError(
                "an alias must be a text with letters or digits",
                where=where,
                got="one without" if isinstance(alias, str) else _kind(alias),
                remedy="leave it out",
            )


def _check_life(fact: Fact) -> None:
    where = _WHERE
    for name, value in (("introduced", fact.introduced), ("retired", fact.retired)):
        if name == "retired" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"'{name}' must be the number of a turn, from 1", where=where, got=_kind(value))
    if fact.retired is not None and fact.retired <= fact.introduced:
        raise InputError(
            "a fact must be retired after the turn that introduces it",
            where=where,
            got=f"introduced {fact.introduced}, retired {fact.retired}",
            remedy="a fact is active for introduced <= turn < retired; give the turn at which it no longer holds",
        )
    if fact.superseded_by is not None:
        if not isinstance(fact.superseded_by, str) or fact.superseded_by == fact.id:
            raise InputError("'superseded_by' must be the id of another fact", where=where)
        if fact.retired is None:
            raise InputError(
                "a superseded fact must be retired",
                where=where,
                got="no 'retired'",
                remedy="give the turn at which the new fact takes its place",
            )
    weight = fact.weight
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not math.isfinite(weight) or weight <= 0:
        raise InputError("'weight' must be a number above 0", where=where, got=_kind(weight))
    if not isinstance(fact.critical, bool):
        raise InputError("'critical' must be true or false", where=where, got=_kind(fact.critical))


def check_harm_tag(tag: Any, *, where: str) -> None:
    """`avoid_class:X`, `avoid_drug:X`, `avoid_with:X` or `pregnancy`."""
    if tag is None:
        return
    head, _, rest = tag.partition(":") if isinstance(tag, str) else ("", "", "")
    if head not in HARMS or (head == "pregnancy") == bool(rest):
        raise InputError(
            "'harm_tag' must be avoid_class:X, avoid_drug:X, avoid_with:X or pregnancy",
            where=where,
            got=_kind(tag),
            remedy=near(head[:40], HARMS),
        )


def check_attributes(attributes: Mapping[str, Any], *, where: str) -> None:
    """Keys of the closed list, and values that the matcher can compare."""
    from workup.tasks.conversation.read.facts.expected_values import amounts_of, dates_of

    for key, value in attributes.items():
        one_of(key, ATTRIBUTES, field="attributes", where=where)
        place = f"{where}, attributes.{key}"
        if key == "dose_value":
            if amounts_of(value) is None:
                raise InputError(
                    "a dose must be a number above 0, a range such as '5-10' or parts such as '875/125'",
                    where=place,
                    got=_kind(value),
                    remedy="write the unit under dose_unit",
                )
        elif not isinstance(value, (str, int)) or isinstance(value, bool) or not str(value).strip():
            raise InputError("a text that is not empty was expected", where=place, got=_kind(value))
        elif key == "laterality":
            one_of(value, SIDES, field="laterality", where=place)
        elif key == "date" and not dates_of(value):
            raise InputError(
                "a date must be written as 2019, 2019-03, 2019-03-14 or March 2019",
                where=place,
                got=_kind(value),
                remedy="leave it out where it is not known",
            )
