"""Which figures of a site must stay there: those that rest on fewer than k people, and those from which such a count
could be worked out, from this pack or from it and those sent before. Goes on withholding until the audit finds nothing,
and then tells again what need not have been withheld."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from workup.disclosure.atoms import DoesNotFit
from workup.disclosure.exposure import Exposed
from workup.disclosure.figures import SIDES
from workup.disclosure.inference import Piece, Who
from workup.packs.counts import EVERYONE, UNSAID, Cells
from workup.packs.sent_packs import Sent
from workup.packs.watched_counts import Watch, small, watch

Cut = tuple[str, Who, int]  # a side of the two-by-two table, a slice, and a cut
Kind = TypeVar("Kind", Who, Cut)

_MOST_TRIED = 8  # pieces tried one by one for the one that helps, before the first is taken
_MOST_RESTORED = 60  # pieces tried for whether they could be told after all; fewer where the ledger is large
_FEWEST_RESTORED = 8
_SMALL_LEDGER = 1_000


@dataclass(frozen=True)
class Kept:
    """What stays at the site: whole slices, and sides of the two-by-two table of a slice at a threshold's cut."""

    slices: frozenset[Who] = frozenset()
    cuts: frozenset[Cut] = frozenset()

    def tells(self, who: Who, sides: Iterable[str], cut: int) -> bool:
        """May a figure of this slice that shows these sides at this cut be told?"""
        return who not in self.slices and not any((side, who, cut) in self.cuts for side in sides)


def withhold(cells: Cells, *, k: int, earlier: Sequence[Sent] = (), study: str = "") -> Kept:
    """Everything that must stay at the site so that no count under k is told or can be worked out, also by someone who
    has the packs sent `earlier`. Those of the same `study` settings have the same thresholds and the same system.

    >>> sizes = {"": (40, 60), "F": (20, 30), "M": (17, 26), "X": (3, 4)}  # events and non-events
    >>> named = {("sex", level) if level else (): both for level, both in sizes.items()}
    >>> people = {who: sum(both) for who, both in named.items()}
    >>> cells = Cells(
    ...     columns={"sex": ("F", "M", "X")},
    ...     sums=(((), (("sex", "F"), ("sex", "M"), ("sex", "X"))),),
    ...     sizes={"patients": people, "rows": people, "events": {who: both[0] for who, both in named.items()},
    ...            "non-events": {who: both[1] for who, both in named.items()}},
    ...     cuts={"events": {}, "non-events": {}})
    >>> sorted(withhold(cells, k=11).slices)  # M is not small; without it X would be everyone less F and M
    [('sex', 'M'), ('sex', 'X')]
    """
    if k <= 1:
        return Kept(slices=frozenset(who for who in cells.sizes["rows"] if UNSAID in who))
    if cells.blocks is None:
        return _one_grouping(cells, k=k, earlier=earlier, study=study)
    few = primary_slices(cells, k=k, earlier=earlier)
    try:
        return _withheld(cells, few, k=k, earlier=earlier, study=study)
    except DoesNotFit:
        return _one_grouping(cells, k=k, earlier=earlier, study=study)


def _one_grouping(cells: Cells, *, k: int, earlier: Sequence[Sent], study: str) -> Kept:
    """What a record may tell that does not say how its groupings overlap: the first of them, and everyone."""
    first = min((name for name in cells.columns), default="")
    others = {who for who in cells.sizes["rows"] if who and who[0] != first}
    return _withheld(
        replace(cells, blocks=(), crossed={}, sums=tuple(one for one in cells.sums if one[1][0][0] == first)),
        primary_slices(cells, k=k, earlier=earlier) | others,
        k=k,
        earlier=earlier,
        study=study,
    )


def _withheld(cells: Cells, few: set[Who], *, k: int, earlier: Sequence[Sent], study: str) -> Kept:
    if EVERYONE in few:
        return Kept(slices=frozenset(cells.sizes["rows"]))
    slices = complementary_slices(cells, few, k=k, earlier=earlier)
    if EVERYONE in slices:
        return Kept(slices=frozenset(cells.sizes["rows"]))
    alike = [one for one in earlier if one.study == study]
    cuts = complementary_cuts(cells, slices, primary_cuts(cells, slices, k=k, earlier=alike), k=k, earlier=alike)
    return Kept(frozenset(slices), frozenset(cuts))


def primary_slices(cells: Cells, *, k: int, earlier: Sequence[Sent] = ()) -> set[Who]:
    """Slices with fewer than k patients, rows, events or non-events; none at all is fewer than k too. So are those told
    before of which such a count has changed by fewer than k since."""
    found = {*cells.few, *(who for who in cells.sizes["rows"] if UNSAID in who)}
    for measure in cells.sizes:
        for who, n in cells.sizes[measure].items():
            if small(cells, measure, (who,), n, k):
                found.add(who)
            found |= {who for one in earlier if 0 < abs(one.told_change(measure, who, 0, (n,))) < k}
    return found


def complementary_slices(cells: Cells, few: Iterable[Who], *, k: int, earlier: Sequence[Sent] = ()) -> set[Who]:
    """The small slices and those that must stay with them, because all but one part of a whole gives that part away."""
    measures = [measure for measure in cells.sizes if EVERYONE in cells.sizes[measure]]
    if not measures:  # without everyone nothing can be held against the whole
        return {*few, *cells.sizes["rows"]}
    if not cells.repeated:
        measures.remove("patients")  # they are the rows
    last = earlier[-1].slices if earlier else frozenset[Who]()
    closing = _Closing[Who](
        watches={measure: watch(cells, measure, k=k, earlier=earlier, by_cut=False) for measure in measures},
        told=lambda measure, kept: {(who, 0): who for who in cells.sizes[measure] if who not in kept},
        order=lambda who: (who not in last, cells.sizes["rows"][who], who),
        everyone=lambda who: who == EVERYONE,
    )
    return closing.closed(set(few))


def primary_cuts(cells: Cells, slices: set[Who], *, k: int, earlier: Sequence[Sent] = ()) -> set[Cut]:
    """Sides of told slices at a threshold with fewer than k flagged, or fewer than k not flagged, or of which such a
    count was told before and has changed by fewer than k since."""
    found: set[Cut] = set()
    for side in SIDES:
        for who, bins in cells.cuts[side].items():
            for cut in range(1, len(bins)):
                few = min(sum(bins[cut:]), sum(bins[:cut]))
                doubtful = cells.weighted or (who, cut) in cells.few_flagged
                changed = any(
                    0 < abs(change) < k
                    for one in earlier
                    for change in (
                        one.told_change(side, who, cut, bins),
                        one.told_change(side, who, 0, bins) - one.told_change(side, who, cut, bins),
                    )
                )
                if who not in slices and (doubtful or changed or small(cells, side, (who,), few, k)):
                    found.add((side, who, cut))
    return found


def complementary_cuts(
    cells: Cells, slices: set[Who], few: Iterable[Cut], *, k: int, earlier: Sequence[Sent] = ()
) -> set[Cut]:
    """The small ones and those that must stay with them: other groups at the same threshold, or the same group at a
    neighbouring one, since the flagged at 0.1 less the flagged at 0.2 is a count of people too."""
    kept = set(few)
    if cells.weighted or not cells.thresholds:
        return kept
    last = earlier[-1].kept_cuts if earlier else frozenset[Cut]()

    def told(side: str, hidden: set[Cut]) -> dict[Piece, Cut | None]:
        """Whether a slice is told at all was decided before, so its whole count is not there to be withheld."""
        cuts = range(len(cells.thresholds) + 1)
        every = [(who, cut) for who in cells.cuts[side] if who not in slices for cut in cuts]
        return {(who, cut): (side, who, cut) if cut else None for who, cut in every if (side, who, cut) not in hidden}

    def order(one: Cut) -> tuple[Any, ...]:
        """Small groups first, and of two thresholds the one that the study named later."""
        return one not in last, cells.sizes["rows"][one[1]], one[1], -cells.named.index(cells.thresholds[one[2] - 1])

    for side in SIDES:
        if EVERYONE in cells.cuts[side]:
            closing = _Closing[Cut](
                watches={side: watch(cells, side, k=k, earlier=earlier, by_cut=True)},
                told=told,
                order=order,
                everyone=lambda one: one[1] == EVERYONE,
            )
            kept |= closing.closed({one for one in kept if one[0] == side})
    return kept


@dataclass
class _Closing(Generic[Kind]):
    """Withholds one thing after another until nothing small can be worked out.

    `told` says what is published of a measure with some things kept, and which thing each piece belongs to (None where
    it is not there to be withheld); `order` which of two is withheld first; `everyone` is the last resort.
    """

    watches: Mapping[str, Watch]
    told: Callable[[str, set[Kind]], Mapping[Piece, Kind | None]]
    order: Callable[[Kind], Any]
    everyone: Callable[[Kind], bool]

    def closed(self, first: set[Kind]) -> set[Kind]:
        """The things given and all that must stay with them, and no more of these than it takes."""
        kept = set(first)
        while (choice := self._next(kept)) is not None:
            kept.add(choice)
        size = max(one.search.ledger.table.size for one in self.watches.values())
        most = max(_FEWEST_RESTORED, _MOST_RESTORED * _SMALL_LEDGER // max(size, _SMALL_LEDGER))
        for one in sorted(kept - first, key=self.order, reverse=True)[:most]:
            if all(self._exposed(measure, kept - {one}) is None for measure in self.watches):
                kept.remove(one)
        return kept

    def _exposed(self, measure: str, kept: set[Kind]) -> Exposed | None:
        return self.watches[measure].search.exposed(self._pieces(measure, kept))

    def _pieces(self, measure: str, kept: set[Kind]) -> list[Piece]:
        return [*self.told(measure, kept), *self.watches[measure].before]

    def _next(self, kept: set[Kind]) -> Kind | None:
        for measure, one in self.watches.items():
            while (found := self._exposed(measure, kept)) is not None:
                choice = self._choice(measure, found, kept)
                if choice is not None:
                    return choice
                one.search.settle(found.number)  # earlier packs alone give it away: it is too late
        return None

    def _choice(self, measure: str, found: Exposed, kept: set[Kind]) -> Kind | None:
        """The first of the things that the range rests on which alone makes it wide enough, else the one that widens it
        most."""
        search = self.watches[measure].search
        told = self.told(measure, kept)
        proof = found.audit.proof(search.watched[found.number].span)
        owned = [told.get(piece) for piece in proof]
        things = sorted({one for one in owned if one is not None}, key=self.order)
        choices = [one for one in things if not self.everyone(one)] or things
        best: Kind | None = None
        reached = -1
        for one in choices[:_MOST_TRIED]:
            reach = search.reach(found.number, self._pieces(measure, kept | {one}))
            if reach >= search.watched[found.number].enough:
                return one
            if reach > reached:
                best, reached = one, reach
        return best
