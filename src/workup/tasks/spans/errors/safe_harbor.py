"""The Safe Harbor matrix: for each of the letters A to R, what a corpus can say about a detector, and what it cannot.

Counts come by patient, since patients are what is sampled. Knows the letters of the canonical scheme; whether a letter
is good enough is not said here, and a letter that was not tested has no answer at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.documents.labels import BRANCHES, LETTERS, SCHEME, leaves_of
from workup.errors import InputError
from workup.metric import CLUSTERED, few_clusters
from workup.stats import intervals
from workup.stats.arrays import Floats

Status = Literal["tested", "not tested"]
# The identifiers of 45 CFR 164.514(b)(2)(i), in our own words.
TITLES: Mapping[str, str] = {
    "A": "Names",
    "B": "Places smaller than a state",
    "C": "Dates finer than a year, and ages of 90 and over",
    "D": "Telephone numbers",
    "E": "Fax numbers",
    "F": "E-mail addresses",
    "G": "Social security numbers",
    "H": "Medical record numbers",
    "I": "Health plan numbers",
    "J": "Account numbers",
    "K": "Certificate and licence numbers",
    "L": "Vehicle identifiers and plates",
    "M": "Device identifiers and serial numbers",
    "N": "Web addresses",
    "O": "Internet protocol addresses",
    "P": "Biometric identifiers",
    "Q": "Full-face photographs and the like",
    "R": "Any other unique number, characteristic or code",
}


class Share(NamedTuple):
    """Gold spans found, with the interval of recall and the one-sided upper bound of the miss rate; None where unknown.

    `patients` have at least one such gold span, `patients_missed` at least one that was not found. `effective_n` is
    how many independent gold spans these are worth. `reason` says why an end is missing, or warns of few patients.
    """

    golds: int
    hits: int
    patients: int
    patients_missed: int
    recall: float | None
    low: float | None
    high: float | None
    method: str
    effective_n: float | None
    miss_upper: float | None
    miss_method: str
    reason: str = ""


class LeafRow(NamedTuple):
    """One leaf under its letter. `condition` says when the letter holds, where that depends on the text."""

    leaf: str
    condition: str | None
    share: Share


class LetterRow(NamedTuple):
    """One letter. Its share is over all its leaves, those with a condition too: a miss is never left out.

    It is tested only where gold spans were seen whose letter depends on nothing; `reason` says why it is not.
    """

    letter: str
    title: str
    status: Status
    share: Share
    leaves: tuple[LeafRow, ...]
    reason: str = ""


class CoarseRow(NamedTuple):
    """Golds under a label that does not say which letter they fall under, and the letters it may be."""

    label: str
    letters: tuple[str, ...]
    share: Share


class SafeHarbor(NamedTuple):
    """All eighteen letters, and the gold spans that could not be put under one."""

    rows: tuple[LetterRow, ...]
    coarse: tuple[CoarseRow, ...]


def safe_harbor(counts: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]], *, level: float = 0.95) -> SafeHarbor:
    """The matrix from gold spans and hits of each label: two arrays, an entry per patient, alike for all labels.

    Labels are leaves, branches, or names without a canonical one; of the last two it is not known which letter they
    fall under, so they are answered apart. Leaves without a letter are no part of Safe Harbor and left out.

    >>> found = safe_harbor({"ssn": ([1] * 299, [1] * 299), "name_provider": ([1] * 299, [0] * 299)})
    >>> row = found.rows[6]
    >>> row.letter, row.status, row.share.recall, round(row.share.miss_upper, 4)
    ('G', 'tested', 1.0, 0.01)
    >>> [row.letter for row in found.rows if row.status == "tested"]
    ['G']
    """
    known = _checked(counts)
    coarse = {name: pair for name, pair in known.items() if name not in SCHEME and pair[0].any()}
    coarse_rows = tuple(
        CoarseRow(name, _letters_under(name), share_of(*pair, level=level)) for name, pair in sorted(coarse.items())
    )
    rows = (_letter_row(letter, known, coarse_rows, level) for letter in LETTERS)
    return SafeHarbor(tuple(rows), tuple(row for row in coarse_rows if row.letters))


def share_of(golds: Floats, hits: Floats, *, level: float = 0.95) -> Share:
    """Recall over gold spans that cluster in patients, one entry per patient.

    The interval is Wilson's on gold spans where no patient has two, else that of a clustered share. The bound of the
    miss rate is one-sided: exact over patients where no patient has two gold spans, else what the low end of the
    interval leaves at that level. Of a single patient with several of them only the bound exists, exact over patients.

    >>> clean = share_of(np.full(100, 3.0), np.full(100, 3.0))
    >>> clean.golds, clean.patients, round(clean.miss_upper, 4), clean.miss_method
    (300, 100, 0.0165, 'exact on effective rows, monotone')
    """
    use = golds > 0
    d, x = golds[use], hits[use]
    patients, total, found = int(use.sum()), int(d.sum()), int(x.sum())
    missed = int(np.count_nonzero(x < d))
    if not patients:
        return Share(0, 0, 0, 0, None, None, None, "none", None, None, "none", "no gold was seen")
    sides = 2 * level - 1  # two-sided level whose upper end is the one-sided bound
    if patients == total:
        low, high = intervals.wilson(found / total, total, level=level)
        bound = intervals.clopper_pearson(missed, patients, level=sides).high
        return Share(total, found, patients, missed, found / total, low, high, "Wilson", float(total), bound, _OVER)
    share = found / total
    if patients < 2:
        bound = intervals.clopper_pearson(missed, patients, level=sides).high
        reason = "all golds are of one patient; an interval needs at least two"
        return Share(total, found, patients, missed, share, None, None, CLUSTERED, None, bound, _OVER, reason)
    clustered = intervals.clustered_share(x, d, np.arange(patients), np.ones(patients))
    ends, upper = (intervals.effective_ends(clustered, level=one) for one in (level, sides))
    n, few = clustered.effective_n(level), few_clusters(patients, "patients")
    return Share(
        *(total, found, patients, missed, share, *ends, CLUSTERED, n, 1 - upper.low, CLUSTERED),
        reason=few,
    )


_OVER = "exact over patients"


def _checked(counts: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]) -> dict[str, tuple[Floats, Floats]]:
    found = {}
    lengths = set()
    for name, (golds, hits) in counts.items():
        pair = np.asarray(golds, dtype=np.float64), np.asarray(hits, dtype=np.float64)
        lengths |= {pair[0].shape, pair[1].shape}
        if len(lengths) > 1 or pair[0].ndim != 1:
            raise InputError(
                "golds and hits must be one entry per patient, alike for all labels",
                where=f"label '{name[:60]}'",
                got=f"arrays of shapes {pair[0].shape} and {pair[1].shape}",
            )
        if not (np.all(pair[1] >= 0) and np.all(pair[1] <= pair[0])):
            raise InputError("hits must lie between 0 and the golds of their patient", where=f"label '{name[:60]}'")
        found[name] = pair
    return found


def _letter_row(
    letter: str, counts: Mapping[str, tuple[Floats, Floats]], coarse: Sequence[CoarseRow], level: float
) -> LetterRow:
    under = [leaf for leaf in SCHEME.values() if leaf.safe_harbor == letter]
    leaves = tuple(
        LeafRow(leaf.name, leaf.condition, share_of(*counts.get(leaf.name, _NOTHING), level=level)) for leaf in under
    )
    pairs = [counts[leaf.name] for leaf in under if leaf.name in counts]
    together = (sum(one[0] for one in pairs), sum(one[1] for one in pairs)) if pairs else _NOTHING
    share = share_of(np.asarray(together[0]), np.asarray(together[1]), level=level)
    if any(row.share.golds for row in leaves if row.condition is None):
        return LetterRow(letter, TITLES[letter], "tested", share, leaves)
    reason = "no gold of this letter was seen"
    if share.golds:
        names = " and ".join(row.leaf for row in leaves if row.share.golds)
        reason = f"only golds whose letter depends on a condition were seen ({names})"
    unclear = sum(row.share.golds for row in coarse if letter in row.letters)
    if unclear:
        reason += f"; {unclear:,} golds have a label too coarse to tell whether they fall under it"
    return LetterRow(letter, TITLES[letter], "not tested", share, leaves, reason)


_NOTHING: tuple[Floats, Floats] = (np.empty(0), np.empty(0))


def _letters_under(label: str) -> tuple[str, ...]:
    """Letters that gold spans of a coarse label may fall under; of a label without a canonical name, any."""
    leaves = leaves_of(label) if label in BRANCHES else tuple(SCHEME)
    return tuple(sorted({letter for leaf in leaves if (letter := SCHEME[leaf].safe_harbor)}))
