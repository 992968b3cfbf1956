"""What a sentence says of one thing that it names: the one answer that facts, advice and plans are read from."""

from __future__ import annotations

from typing import NamedTuple

STATEMENT, ORDER, QUESTION, SUPPOSITION = "statement", "order", "question", "supposition"
PATIENT, OTHER, NOBODY = "patient", "other", "nobody"
AFFIRMED, DENIED = "affirmed", "denied"
NOW, PAST, ENDED, PLANNED, UNMARKED = "now", "past", "ended", "planned", "unmarked"
SURE, POSSIBLE, CONFIRMED, RULED_OUT = "sure", "possible", "confirmed", "ruled_out"
THEME, GROUND, ITEM, REACTION = "theme", "ground", "item", "reaction"
NONE = "none"

# Rules that say how something is told, beside the fields: their ids stand in `rules`.
HAS, HAD, EARLIER, OWN_TOO, ATTACK, OWNED = "has", "had", "earlier", "own_too", "attack", "owned"
CONDITIONAL, NOT_OWN = "under_condition", "not_own"


class Mention(NamedTuple):
    """Words [start, end) of a sentence that name a thing, and what is said of it; the last rule is the reason code.

    >>> said = Mention(polarity=DENIED, person="relative(mother)", rules=("negated",))
    >>> said.negated, said.family, said.silent
    (True, 'relative', '')
    """

    thing: str = ""
    start: int = 0
    end: int = 0
    via: str = ""  # concept, alias, synonym, brand, abbreviation, fuzzy
    role: str = THEME
    mood: str = STATEMENT
    person: str = PATIENT  # patient, relative(kin), other, nobody
    polarity: str = AFFIRMED
    time: str = UNMARKED
    certainty: str = SURE
    act: str = NONE  # of orders only
    values: tuple[tuple[str, object, int], ...] = ()  # attribute, value, place
    rules: tuple[str, ...] = ()

    @property
    def silent(self) -> str:
        """Why nothing is told of the patient or the family: a question, a supposition, another's; else nothing."""
        untold = self.mood in (QUESTION, SUPPOSITION) or self.person in (OTHER, NOBODY)
        return (self.rules[-1] if self.rules else self.mood) if untold else ""

    @property
    def order(self) -> str:
        """What is asked to be done with it; an order states nothing."""
        return self.act if self.mood == ORDER and self.act != NONE else ""

    @property
    def family(self) -> str:
        """`history` for the family at large, `relative` for one of them; nothing for the patient."""
        if not self.person.startswith("relative"):
            return ""
        return "history" if self.person == FAMILY else "relative"

    @property
    def personal(self) -> bool:
        """Whether it is also, or only, of the patient."""
        return not self.family or OWN_TOO in self.rules

    @property
    def negated(self) -> bool:
        """Whether it is denied, all negations counted."""
        return self.polarity == DENIED

    @property
    def ruled_out(self) -> bool:
        """Whether it was looked for and not found."""
        return self.certainty == RULED_OUT

    @property
    def possible(self) -> bool:
        """Whether it is doubted."""
        return self.certainty == POSSIBLE

    @property
    def confirmed(self) -> bool:
        """Whether it is said to be certain."""
        return self.certainty == CONFIRMED

    @property
    def ended(self) -> bool:
        """Whether it had been, and an end of it is told; "previously" tells of no end."""
        return self.time == ENDED and EARLIER not in self.rules

    @property
    def outright(self) -> bool:
        """Whether it is said in so many words: "has", "takes", "is on"."""
        return HAS in self.rules

    @property
    def undergone(self) -> bool:
        """Whether the patient is said to have had it: "she had", "you developed"."""
        return HAD in self.rules

    @property
    def attack(self) -> bool:
        """Whether an attack of it is denied, and not the disease."""
        return ATTACK in self.rules


FAMILY, SPEAKERS = "relative(family)", "relative(my "  # of the family at large; of the one who speaks
