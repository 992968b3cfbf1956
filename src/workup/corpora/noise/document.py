"""`add_noise`: documents perturbed at a rate that is measured, not believed, with spans that stay true.

Knows documents one at a time; what rounding or a value without room left undone is owed to the documents after it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from workup.corpora.noise.edits import Edit, Stretch, edited, measured, stretches
from workup.corpora.noise.kinds import Kind, find_kind
from workup.documents.document import Document
from workup.errors import InputError, near
from workup.stats.random import generator
from workup.text.typos import distance

On = Literal["phi", "context", "both"]
NEAR = 0.1  # the measured rate may differ from the asked one by this share of it, unless it is at the ceiling
_ROUNDS = 6  # edits that cancel each other in part are made up for, in so many rounds at most
_DELETABLE = 3  # letters or digits that a value needs before it may lose one: with edits kept apart one always stays


@dataclass
class NoiseMeasure:
    """What noise did, added up over documents. `distance` is the edit distance over the targeted characters.

    `reachable` is the distance if every place that the kind can strike had been struck; both divided by `characters`
    give the measured rate and the ceiling.
    """

    kind: str = ""
    on: str = ""
    asked: float = 0.0
    documents: int = 0
    changed: int = 0
    characters: int = 0
    edits: int = 0
    distance: int = 0
    reachable: int = 0

    @property
    def rate(self) -> float | None:
        """The measured character error rate; None where no character was targeted."""
        return self.distance / self.characters if self.characters else None

    @property
    def ceiling(self) -> float | None:
        """The highest rate that this kind can reach on these texts; None where no character was targeted."""
        return self.reachable / self.characters if self.characters else None

    @property
    def at_ceiling(self) -> bool:
        """The rate that was asked lies above what the kind can reach here."""
        return self.ceiling is not None and self.ceiling < self.asked

    def record(self) -> dict[str, Any]:
        """As plain data, with the reason where there is no rate."""
        found: dict[str, Any] = {"kind": self.kind, "on": self.on, "asked": self.asked, "measured": self.rate}
        found |= {"ceiling": self.ceiling, "at_ceiling": self.at_ceiling}
        found |= {key: getattr(self, key) for key in ("characters", "distance", "edits", "documents", "changed")}
        if not self.characters:
            found["reason"] = f"no characters to perturb on '{self.on}'"
        return found


def add_noise(
    documents: Iterable[Document],
    *,
    kind: str,
    rate: float,
    on: On = "both",
    seed: int,
    measure: NoiseMeasure | None = None,
) -> Iterator[Document]:
    """Documents with noise of one kind, at a character error rate of `rate` over the targeted characters.

    `on` targets the characters under gold spans (phi), all others (context), or both; those that must stay are context.
    `measure`, where given, holds what was done once all documents are through. Every document keeps its id and gets
    the group `noise`.

    >>> from workup.documents.document import Span
    >>> golds = (Span(8, 19, "name_provider"), Span(23, 31, "date"))
    >>> clean = [Document("1", "Seen by Rose Miller on 3/4/2021.", golds)]
    >>> seen = NoiseMeasure()
    >>> [noisy] = add_noise(clean, kind="ocr", rate=0.2, on="phi", seed=1, measure=seen)
    >>> noisy.text.startswith("Seen by "), noisy.text.endswith("."), len(noisy.spans), seen.characters, seen.distance
    (True, True, 2, 19, 4)
    """
    chosen = find_kind(kind)
    if on not in get_args(On):
        raise InputError(
            "a known target was expected", where="on", got=repr(str(on)[:40]), remedy=near(str(on), get_args(On))
        )
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
        raise InputError("a rate must be a share of characters, from 0 to 1", where="rate", got=repr(rate)[:40])
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError("a seed must be a whole number, 0 or more", where="seed", got=repr(seed)[:40])
    measure = NoiseMeasure() if measure is None else measure
    measure.kind, measure.on, measure.asked = chosen.name, on, float(rate)
    return _noisy(documents, chosen, on, seed, measure)


def _noisy(documents: Iterable[Document], kind: Kind, on: On, seed: int, measure: NoiseMeasure) -> Iterator[Document]:
    owed = 0.0
    for document in documents:
        found = stretches(document)
        targeted = [one for one in found if on == "both" or one.on_phi == (on == "phi")]
        characters = sum(one.end - one.start for one in targeted)
        wanted = measure.asked * characters + owed
        edits, cost, reachable = _perturbed(document, kind, targeted, wanted, seed)
        owed = wanted - cost
        measure.documents += 1
        measure.changed += bool(edits)
        measure.characters += characters
        measure.edits += len(edits)
        measure.distance += cost
        measure.reachable += reachable
        yield replace(edited(document, edits), groups={**document.groups, "noise": _named(document, kind)})


def _named(document: Document, kind: Kind) -> str:
    """The kinds that a document went through, one after another."""
    before = document.groups.get("noise")
    return f"{before}+{kind.name}" if before else kind.name


def _perturbed(
    document: Document, kind: Kind, targeted: Sequence[Stretch], wanted: float, seed: int
) -> tuple[list[Edit], int, int]:
    """Edits in order whose distance comes nearest to what is wanted, that distance, and the largest one possible."""
    chance = generator(seed, "noise", kind.name, document.id)
    goal = math.floor(wanted + chance.random())
    possible = _possible(document, kind, targeted, chance)
    most = sum(edit.cost for edit in possible)
    if goal <= 0 or not possible:
        return [], 0, most
    aim, cost = goal, 0
    taken: list[Edit] = []
    for _ in range(_ROUNDS):
        taken = sorted(_taken(possible, aim, document.text, kind), key=lambda edit: edit.start)
        cost = measured(document, taken, targeted)
        if cost >= goal or taken == sorted(possible, key=lambda edit: edit.start):
            break
        aim += goal - cost
    exhausted = sum(edit.cost for edit in taken) == most
    return taken, cost, cost if exhausted else max(cost, most)


def _possible(document: Document, kind: Kind, targeted: Sequence[Stretch], chance: np.random.Generator) -> list[Edit]:
    """Every edit that the kind can make, in an order of chance, less those that come too near an earlier one."""
    text = document.text
    line_end = "\r\n" if "\r\n" in text else "\n"
    group = 1 if kind.strikes.groups else 0
    places: list[tuple[int, int, bool]] = []
    for one in targeted:
        # The stretch is looked at by itself: what lies past its borders belongs to others.
        surface = text[one.start : one.end]
        roomy = not one.on_span or sum(map(str.isalnum, surface)) >= _DELETABLE
        for match in kind.strikes.finditer(surface):
            start, end = match.span(group)
            places.append(
                (one.start + start, one.start + end, roomy and not (one.on_span and _bares(surface, start, end)))
            )
    order, draws = chance.permutation(len(places)).tolist(), chance.random(len(places)).tolist()
    blocked = bytearray(len(text) + 2)
    found = []
    for i in order:
        start, end, roomy = places[i]
        if kind.apart:
            low, high = (start, end) if start < end else (start - 1, start + 1)
            if blocked.find(1, low, high) >= 0:
                continue
        replacement = kind.replace(text[start:end], draws[i], roomy, line_end)
        cost = distance(text[start:end], replacement)
        if not cost:
            continue
        found.append(Edit(start, end, replacement, cost))
        if kind.apart:
            low, high = max(0, low - kind.apart), high + kind.apart
            blocked[low:high] = b"\x01" * (high - low)
    return found


def _bares(surface: str, start: int, end: int) -> bool:
    """Whether a value would begin or end with a blank if these characters went, as the initial of "J Smith"."""
    return (start == 0 and surface[end : end + 1].isspace()) or (end == len(surface) and surface[start - 1].isspace())


def _taken(possible: Sequence[Edit], goal: int, text: str, kind: Kind) -> Iterator[Edit]:
    """The first edits whose costs add up to the goal; an edit of two may pass it by one, of a word a part is taken."""
    spent = 0
    for edit in possible:
        if spent >= goal:
            return
        if kind.whole_words and edit.cost > goal - spent:
            edit = _part(edit, text[edit.start : edit.end], goal - spent)
        spent += edit.cost
        yield edit


def _part(edit: Edit, surface: str, cost: int) -> Edit:
    """The beginning of a word whose change costs as much, as when the shift key is let go too late."""
    change = str.upper if edit.text == surface.upper() else str.lower
    length = 1
    while distance(surface[:length], change(surface[:length])) < cost:
        length += 1
    start = surface[:length]
    return Edit(edit.start, edit.start + length, change(start), distance(start, change(start)))
