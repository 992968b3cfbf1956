"""Which counts of a site are watched over, in one ledger of this pack and of those sent before: small ones, atoms that
may be small, and how many came in between two packs. Cohorts grow, so whoever was counted then is counted now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from workup.disclosure.atoms import DoesNotFit
from workup.disclosure.exposure import Search, Watched
from workup.disclosure.inference import Ledger, Piece, Span, Sum, Who
from workup.packs.counts import EVERYONE, Cells
from workup.packs.sent_packs import Sent

Counts = Mapping[Who, tuple[int, ...]]


class Watch(NamedTuple):
    """A search through one measure, and the pieces that earlier packs have told of it."""

    search: Search
    before: tuple[Piece, ...]


class _Version(NamedTuple):
    """The counts of one earlier pack, and of who came between it and the next; the names of slices begin with these."""

    then: str
    since: str
    counts: Counts
    came: Counts
    before: tuple[Piece, ...]


def small(cells: Cells, measure: str, slices: Sequence[Who], n: int, k: int) -> bool:
    """Is a count under k patients? Where they repeat, fewer of them stand behind n rows; on average so many."""
    return n * _per_row(cells, measure, slices) < k


def _per_row(cells: Cells, measure: str, slices: Sequence[Who]) -> float:
    return 1.0 if measure == "patients" else min(cells.per_row(who) for who in slices)


def watch(cells: Cells, measure: str, *, k: int, earlier: Sequence[Sent], by_cut: bool) -> Watch:
    """The search through one measure: of whole slices, or at and between all thresholds."""
    now = cells.ledger(measure, by_cut=by_cut)
    watched = list(_small_ones(cells, now, now.counts, (), measure, k))
    versions = _versions(cells, now, measure, earlier, by_cut=by_cut)
    if not versions:
        return Watch(Search(now, watched), ())
    ledger = _over_time(now, versions)
    for i, one in enumerate(versions):
        watched += _small_ones(cells, now, one.counts, (one.then,), measure, k)
        later = tuple(other.since for other in versions[i:])
        for since in {(one.since,), later}:
            watched += _changes(cells, now, ledger, since, measure, k)
    return Watch(Search(ledger, watched), tuple(piece for one in versions for piece in one.before))


def _small_ones(cells: Cells, now: Ledger, counts: Counts, prefix: Who, measure: str, k: int) -> Iterator[Watched]:
    """Small slices between any two cuts, the small parts of a sum taken together, and atoms that might be small."""
    ends = [(start, stop) for start in range(now.bins) for stop in range(start + 1, now.bins + 1)]
    for start, stop in ends:
        few = set()
        for who in sorted(set(now.counts) - now.inner):
            if small(cells, measure, (who,), sum(counts[who][start:stop]), k):
                few.add(who)
                enough = ceil((k - 1) / _per_row(cells, measure, (who,)))
                yield Watched(Span(((*prefix, *who),), start, stop), enough, k)
        for _, parts in now.sums:
            both = tuple(sorted(few & set(parts)))
            n = sum(sum(counts[who][start:stop]) for who in both)
            if len(both) > 1 and small(cells, measure, both, n, k):
                enough = ceil((k - 1) / _per_row(cells, measure, both))
                yield Watched(Span(tuple((*prefix, *who) for who in both), start, stop), enough, k)
    # One more than for a slice: any set of atoms and bins that is known to hold k - 1 people or fewer leaves each of
    # them no more than k whole numbers, so that single ones represent all.
    bound = ceil(k / _per_row(cells, measure, (EVERYONE,)))
    for who in _atoms(now):
        yield from (Watched(Span(((*prefix, *who),), b, b + 1), bound, bound, "inner") for b in range(now.bins))


def _changes(
    cells: Cells, now: Ledger, ledger: Ledger, since: tuple[str, ...], measure: str, k: int
) -> Iterator[Watched]:
    """How many came between two packs, where they were few; that nobody came gives nobody away."""
    ends = [(start, stop) for start in range(now.bins) for stop in range(start + 1, now.bins + 1)]
    bound = ceil(k / _per_row(cells, measure, (EVERYONE,)))
    for start, stop in ends:
        for who in sorted(set(now.counts) - now.inner):
            span = Span(tuple((one, *who) for one in since), start, stop)
            n = ledger.value(span)
            if n and small(cells, measure, (who,), n, k):
                yield Watched(span, ceil((k - 1) / _per_row(cells, measure, (who,))), k)
    for who in _atoms(now):
        whose = tuple((one, *who) for one in since)
        yield from (Watched(Span(whose, b, b + 1), bound, bound, "change") for b in range(now.bins))


def _atoms(ledger: Ledger) -> list[Who]:
    """The atoms that are not the whole of some slice, which is watched itself."""
    alone = {parts[0] for _, parts in ledger.sums if len(parts) == 1}
    return sorted(ledger.inner - alone)


def _versions(cells: Cells, now: Ledger, measure: str, earlier: Sequence[Sent], *, by_cut: bool) -> list[_Version]:
    """The earlier packs from which the cohort has only grown, the oldest first."""
    found: list[_Version] = []
    whose = sorted(set(now.counts) - now.inner)
    later: Counts = {who: now.counts[who] for who in whose}
    for number in reversed(range(len(earlier))):
        one = earlier[number]
        if measure not in (one.cuts if by_cut else one.sizes):
            continue
        told = one.cuts[measure] if by_cut else {who: (n,) for who, n in one.sizes[measure].items()}
        if not set(told) <= set(whose) or any(len(bins) != now.bins for bins in told.values()):
            continue
        counts = {who: told.get(who, (0,) * now.bins) for who in whose}
        came = {who: tuple(a - b for a, b in zip(later[who], counts[who], strict=True)) for who in whose}
        if min(n for bins in came.values() for n in bins) < 0:
            continue
        try:
            filled, grown = (cells.tie(part, later, named=False).counts for part in (counts, came))
        except DoesNotFit:
            continue
        then = f"then {number:06}"
        before = [((then, *who), 0) for who in whose if who not in told]  # a level not named was that of nobody
        before += [((then, *who), cut) for who in told for cut in range(now.bins) if one.tells(measure, who, cut)]
        found.insert(0, _Version(then, f"since {number:06}", filled, grown, tuple(before)))
        later = counts
    return found


def _over_time(now: Ledger, versions: Sequence[_Version]) -> Ledger:
    """One ledger of all packs: what is there now was there then or has come since."""
    counts: dict[Who, tuple[int, ...]] = {}
    sums: list[Sum] = list(now.sums)
    inner = set(now.inner)
    standing = dict(versions[0].counts)
    for i, one in enumerate(versions):
        following: Who = (versions[i + 1].then,) if i + 1 < len(versions) else ()
        for name, part in ((one.then, standing), (one.since, one.came)):
            counts |= {(name, *who): bins for who, bins in part.items()}
            sums += [((name, *whole), tuple((name, *part) for part in parts)) for whole, parts in now.sums]
        sums += [((*following, *who), ((one.then, *who), (one.since, *who))) for who in standing]
        inner |= {(name, *who) for name in (one.then, one.since) for who in standing}
        standing = {who: tuple(map(sum, zip(bins, one.came[who], strict=True))) for who, bins in standing.items()}
    return Ledger({**counts, **standing}, tuple(sums), named=now.named, inner=frozenset(inner))
