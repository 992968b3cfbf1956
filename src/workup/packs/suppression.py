"""Which figures of a site must stay there: those that rest on fewer than k people, and those from which such a count
could be worked out. Goes on withholding, the smallest group first, until the audit finds nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil

from workup.disclosure.audit import Audit, Floats, Ledger, Piece, Span, Who
from workup.packs.cells import EVERYONE, SIDES, SIZES, Cells

_MOST_TRIED = 12  # pieces tried one by one for the one that helps, before the first is taken


@dataclass(frozen=True)
class Kept:
    """What stays at the site: whole slices, and sides of the two-by-two table of a slice at a threshold's cut."""

    slices: frozenset[Who] = frozenset()
    cuts: frozenset[tuple[str, Who, int]] = frozenset()

    def tells(self, who: Who, sides: Iterable[str], cut: int) -> bool:
        """May a figure of this slice that shows these sides at this cut be told?"""
        return who not in self.slices and not any((side, who, cut) in self.cuts for side in sides)


def withhold(cells: Cells, *, k: int) -> Kept:
    """Everything that must stay at the site so that no count under k is told or can be worked out.

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
        return Kept()
    small = primary_slices(cells, k=k)
    if EVERYONE in small:
        return Kept(slices=frozenset(cells.sizes["rows"]))
    slices = complementary_slices(cells, small, k=k)
    cuts = complementary_cuts(cells, slices, primary_cuts(cells, slices, k=k), k=k)
    return Kept(frozenset(slices), frozenset(cuts))


def primary_slices(cells: Cells, *, k: int) -> set[Who]:
    """Slices with fewer than k patients, rows, events or non-events; none at all is fewer than k too."""
    found = set(cells.few)
    for measure in SIZES:
        per_row = (lambda who: 1.0) if measure == "patients" else cells.per_row
        found |= {who for who, n in cells.sizes[measure].items() if _small(n, per_row(who), k)}
    return found


def _small(n: int, per_row: float, k: int) -> bool:
    """Where patients repeat, fewer of them stand behind n rows; on average so many."""
    return n * per_row < k


@dataclass
class _Search:
    """Looks for small counts of one measure that can be worked out. What was found safe stays so as less is told."""

    cells: Cells
    measure: str
    ledger: Ledger
    k: int
    safe: set[Span] = field(default_factory=set)
    tables: list[Floats] = field(default_factory=list)

    def enough(self, span: Span) -> int | None:
        """How far the range of a count must reach: k whole numbers; None where the count is not small."""
        per_row = 1.0 if self.measure == "patients" else min(self.cells.per_row(who) for who in span.slices)
        return ceil((self.k - 1) / per_row) if _small(self.ledger.value(span), per_row, self.k) else None

    def exposed(self, told: Iterable[Piece], spans: Iterable[Span]) -> tuple[Span, Audit] | None:
        """The first small count that what is told narrows too far."""
        audit = Audit(self.ledger, told, tables=self.tables)
        for span in spans:
            if span in self.safe:
                continue
            enough = self.enough(span)
            if enough is not None and audit.width(span, enough=enough) < enough:
                return span, audit
            self.safe.add(span)
        return None


def complementary_slices(cells: Cells, small: Iterable[Who], *, k: int) -> set[Who]:
    """The small slices and those that must stay with them, because all but one part of a whole gives that part away."""
    kept = set(small)
    for family in cells.families():
        made = [_Search(cells, measure, cells.ledger(measure, family, by_cut=False), k) for measure in SIZES]
        searches = [one for one in made if one.ledger.counts]
        while (choice := _next_slice(cells, searches, kept)) is not None:
            kept.add(choice)
    return kept


def _next_slice(cells: Cells, searches: list[_Search], kept: set[Who]) -> Who | None:
    """The next slice to withhold; None when no small count of a withheld slice can be worked out."""
    for search in searches:
        ledger = search.ledger
        found = search.exposed([(who, 0) for who in ledger.counts if who not in kept], _hidden_spans(ledger, kept))
        if found is None:
            continue
        around = _around(ledger, found[0].slices, kept)
        choices = sorted(around - {EVERYONE}, key=lambda who: (cells.sizes["rows"][who], who))
        if choices:
            return choices[0]
    return None


def _hidden_spans(ledger: Ledger, kept: set[Who]) -> Iterator[Span]:
    """Each withheld slice, and each set of them that a sum gives away together."""
    yield from (Span((who,), 0, ledger.bins) for who in sorted(ledger.counts) if who in kept)
    for _, parts in ledger.sums:
        hidden = tuple(sorted(who for who in parts if who in kept))
        if 1 < len(hidden) < len(parts):
            yield Span(hidden, 0, ledger.bins)


def _around(ledger: Ledger, start: Iterable[Who], kept: set[Who]) -> set[Who]:
    """Slices that are told and stand in a sum with these, or with withheld ones that are tied to these by sums."""
    reached, found = set(start), set[Who]()
    frontier = set(reached)
    while frontier:
        members = {who for whole, parts in ledger.sums if frontier & {whole, *parts} for who in (whole, *parts)}
        found |= members - kept
        frontier = (members & kept) - reached
        reached |= frontier
    return found


def primary_cuts(cells: Cells, slices: set[Who], *, k: int) -> set[tuple[str, Who, int]]:
    """Sides of told slices at a threshold with fewer than k flagged, or fewer than k not flagged."""
    found: set[tuple[str, Who, int]] = set()
    for side in SIDES:
        for who, bins in cells.cuts[side].items():
            for cut in range(1, len(bins)):
                few = min(sum(bins[cut:]), sum(bins[:cut]))
                doubtful = cells.weighted or (who, cut) in cells.few_flagged
                if who not in slices and (doubtful or _small(few, cells.per_row(who), k)):
                    found.add((side, who, cut))
    return found


def complementary_cuts(
    cells: Cells, slices: set[Who], small: Iterable[tuple[str, Who, int]], *, k: int
) -> set[tuple[str, Who, int]]:
    """The small ones and those that must stay with them: other groups at the same threshold, or the same group at a
    neighbouring one, since the flagged at 0.1 less the flagged at 0.2 is a count of people too."""
    kept = set(small)
    if cells.weighted:
        return kept
    for side in SIDES:
        for family in ((EVERYONE,), *cells.families()):
            ledger = cells.ledger(side, family, by_cut=True)
            if ledger.counts:
                _close_cuts(_Search(cells, side, ledger, k), slices, kept)
    return kept


def _close_cuts(search: _Search, slices: set[Who], kept: set[tuple[str, Who, int]]) -> None:
    """Withhold one piece after another until nothing small can be worked out."""
    ledger, side = search.ledger, search.measure
    told = {
        (who, cut)
        for who in ledger.counts
        for cut in range(ledger.bins)
        if who not in slices and (cut == 0 or (side, who, cut) not in kept)
    }
    while (found := search.exposed(told, _cut_spans(ledger, told))) is not None:
        choice = _next_cut(search, *found, told)
        if choice is None:
            return
        told.remove(choice)
        kept.add((side, *choice))


def _next_cut(search: _Search, span: Span, audit: Audit, told: set[Piece]) -> Piece | None:
    """The piece to withhold: the first that by itself makes the count less known, else the first there is."""
    choices = _cut_choices(search.cells, search.ledger, span, told)
    if audit.exact(span):
        freeing = audit.freeing(span)
        return next((choice for choice in choices if choice in freeing), choices[0] if choices else None)
    low, high = audit.range(span)
    for choice in choices[:_MOST_TRIED]:
        if Audit(search.ledger, told - {choice}).width(span, enough=high - low + 1) > high - low:
            return choice
    return choices[0] if choices else None


def _cut_spans(ledger: Ledger, told: set[Piece]) -> Iterator[Span]:
    """Every count between two cuts: of each slice, and of the parts of a sum that are not told, taken together."""
    ends = [(start, stop) for start in range(ledger.bins) for stop in range(start + 1, ledger.bins + 1)]
    for start, stop in ends:
        yield from (Span((who,), start, stop) for who in sorted(ledger.counts))
        for _, parts in ledger.sums:
            hidden = tuple(sorted(who for who in parts if not _both_told(who, start, stop, ledger.bins, told)))
            if 1 < len(hidden) < len(parts):
                yield Span(hidden, start, stop)


def _both_told(who: Who, start: int, stop: int, bins: int, told: set[Piece]) -> bool:
    return (who, start) in told and (stop == bins or (who, stop) in told)


def _cut_choices(cells: Cells, ledger: Ledger, span: Span, told: set[Piece]) -> list[Piece]:
    """Told pieces at the cuts of a span, or failing that at any: small groups first, everyone last, and of two
    thresholds the one that the study named later."""

    def rank(piece: Piece) -> tuple[bool, int, Who, int]:
        who, cut = piece
        return who == EVERYONE, cells.sizes["rows"][who], who, -cells.named.index(cells.thresholds[cut - 1])

    ties = {who for whole, parts in ledger.sums if {whole, *parts} & set(span.slices) for who in (whole, *parts)}
    near = {(who, cut) for who, cut in told if cut in (span.start, span.stop) and who in ties | set(span.slices)}
    at_cuts = {(who, cut) for who, cut in told if cut in (span.start, span.stop)}
    for some in (near, at_cuts, told):
        choices = sorted((piece for piece in some if piece[1] > 0), key=rank)
        if choices:
            return choices
    return []
