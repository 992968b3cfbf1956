"""What the shipped tables of names say of a word, and which names may stand for it: same sex, same origin group.

Knows no text and no patient."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import NamedTuple

from workup.values import ambiguous, tables
from workup.values.tables import Draw, Name

Kind = str  # "given" or "family"
# Initials are exchanged within these two groups: of the letters in the second few names begin.
USUAL_LETTERS, RARE_LETTERS = "ABCDEFGHJKLMNPRSTW", "IOQUVXYZ"


class About(NamedTuple):
    """What is known of a word as a name; None where the tables do not list it."""

    kind: Kind | None
    sex: str | None
    origin: int | None


@cache
def _listed() -> dict[str, dict[str, Name]]:
    """Names by the part they play (F, M, family) and by their letters in lower case."""
    found: dict[str, dict[str, Name]] = {"F": {}, "M": {}, "family": {}}
    for origin in tables.ORIGINS:
        for name in tables.surnames(origin).names:
            found["family"].setdefault(name.text.casefold(), name)
        for sex in ("F", "M"):
            for decade in range(tables.FIRST_DECADE, tables.LAST_DECADE + 1, 10):
                for name in tables.given_names(origin, sex, decade).names:
                    found[sex].setdefault(name.text.casefold(), name)
    return found


def _origin(name: Name) -> int:
    return max(range(len(tables.ORIGINS)), key=name.shares.__getitem__)


def about(word: str, *, kind: Kind | None = None) -> About:
    """Sex and origin group of a name as the tables have it; `kind` says what it is where the text does.

    >>> about("maria"), about("nguyen")
    (About(kind='given', sex='F', origin=2), About(kind='family', sex=None, origin=3))
    """
    listed = _listed()
    given = {sex: listed[sex][word] for sex in ("F", "M") if word in listed[sex]}
    family = listed["family"].get(word)
    sex = max(given, key=lambda one: given[one].bearers) if given else None
    if kind is None:
        rather_given = sex is not None and (family is None or given[sex].bearers >= family.bearers)
        kind = "given" if rather_given else "family" if family is not None else None
    if kind == "given":
        return About(kind, sex, _origin(given[sex]) if sex is not None else None)
    return About(kind, None, None if family is None else _origin(family))


@cache
def pool(kind: Kind, sex: str | None, origin: int | None, letter: str) -> Draw:
    """Names that begin with a letter, as frequent as they are, of a sex and of a group where those are given.

    Without a name of that letter whose likeliest group it is, the names that lean to the group most.
    """
    listed = _listed()
    parts = ("family",) if kind == "family" else (sex,) if sex else ("F", "M")
    names = {
        name.text: name
        for part in parts
        for name in listed[part].values()
        if _usable(name.text, letter) and (sex is None or about(name.text.casefold(), kind="given").sex == sex)
    }
    chosen = list(names.values())
    if origin is None:
        weights = [name.bearers for name in chosen]
    else:
        own = [name for name in chosen if _origin(name) == origin]
        chosen = own or chosen
        weights = [name.bearers * name.shares[origin] ** (1 if own else 3) for name in chosen]
    kept = [(name, weight) for name, weight in zip(chosen, weights, strict=True) if weight > 0]
    return Draw(tuple(name for name, _ in kept), tuple(accumulate(weight for _, weight in kept)))


def _usable(text: str, letter: str) -> bool:
    """A plain word, and none that is also an everyday word, a place or an eponym: Rose, Will, Parkinson."""
    return text[0] == letter and text.isascii() and text.isalpha() and not ambiguous.is_ambiguous(text)
