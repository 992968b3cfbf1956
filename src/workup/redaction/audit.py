"""What can be counted of a redaction itself: are surrogates consistent, intervals kept, originals gone, shifts safe?

Reads the redacted text anew, and trusts nothing that the redaction says of itself but the places of its pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from workup.documents.residue import Masked, residue
from workup.redaction.dates.context import Almanac
from workup.redaction.dates.narrowing import remaining
from workup.redaction.dates.shifting import read_days
from workup.redaction.dates.written import Day
from workup.redaction.linking import value_key
from workup.redaction.patient import Redacted
from workup.redaction.replacements import Alignment, Piece
from workup.redaction.tokens import WORDS


@dataclass(frozen=True, slots=True)
class Audit:
    """A share with its counts; null, with the reason, where there is nothing to count."""

    metric: str
    value: float | None
    n: int
    numerator: int
    better: str
    describe: str
    reason: str = ""
    beside: tuple[tuple[str, int], ...] = ()

    def record(self) -> dict[str, object]:
        """As plain data, for a JSON file."""
        found: dict[str, object] = {
            "metric": self.metric,
            "value": self.value,
            "n": self.n,
            "numerator": self.numerator,
            "better": self.better,
            "describe": self.describe,
            **dict(self.beside),
        }
        return found | ({"reason": self.reason} if self.reason else {})


def audits(redacted: Sequence[Redacted]) -> list[Audit]:
    """All audits of a redaction."""
    return [
        surrogate_consistency(redacted),
        interval_preservation(redacted),
        residual_originals(redacted),
        shift_candidates(redacted),
    ]


def surrogate_consistency(redacted: Sequence[Redacted]) -> Audit:
    """Share of a patient's distinct values with one surrogate that no other value of the patient has.

    Values are compared without case, accents, blanks and marks, states and counties in any form, within one kind.
    """
    right = total = 0
    for group in _patients(redacted):
        forward: dict[tuple[str, str], set[str]] = {}
        backward: dict[tuple[str, str], set[str]] = {}
        for one, piece in _pieces(group, "surrogate"):
            old, new = (value_key(piece.label, said) for said in _both(one, piece))
            word = WORDS[piece.label]
            forward.setdefault((word, old), set()).add(new)
            backward.setdefault((word, new), set()).add(old)
        total += len(forward)
        right += sum(
            len(news) == 1 and len(backward[word, next(iter(news))]) == 1 for (word, _), news in forward.items()
        )
    return _share(
        "surrogate_consistency",
        right,
        total,
        better="higher",
        describe="values of a patient with one surrogate, which no other value has",
        reason="no value was replaced by a surrogate",
    )


def interval_preservation(redacted: Sequence[Redacted]) -> Audit:
    """Share of pairs of dates of a patient whose distance in days is what it was.

    Dates are read again from the redacted text. Dates that give day, month and year are counted; others have no
    distance that could be kept, and are counted apart as `partial_dates`.
    """
    kept = total = partial = unread = 0
    for group in _patients(redacted):
        moved: set[tuple[Day, Day]] = set()
        alone = 0  # dates whose new form cannot be read: no pair with them is kept
        almanac = _almanac(group)
        for one, piece in _pieces(group, "shift"):
            old, new = _both(one, piece)
            before = almanac.read(one.source.id, old)
            if before is None or not before.whole:
                partial += 1
                continue
            after = read_days(new, near=before.days[0].year, day_first=any(w.day_first for w in before.written))
            if after is None or len(after.days) != len(before.days):
                alone += 1
                continue
            moved.update(zip(before.days, after.days, strict=True))
        unread += alone
        shifts = Counter((new - old).days for old, new in moved)
        count = len(moved) + alone
        kept += sum(same * (same - 1) // 2 for same in shifts.values())
        total += count * (count - 1) // 2
    return _share(
        "interval_preservation",
        kept,
        total,
        better="higher",
        describe="pairs of a patient's dates that are as many days apart as before",
        reason="no patient has two dates that were moved",
        beside=(("partial_dates", partial), ("unread_dates", unread)),
    )


def residual_originals(redacted: Sequence[Redacted]) -> Audit:
    """Share of a patient's replaced values that can still be read somewhere in the patient's redacted texts.

    A value is met in any case and spacing, as `workup score spans` meets it; very short and very common ones are not
    searched. Dates that were moved are not searched in each other: one may fall on another's old day by chance.
    """
    found = searched = skipped = in_part = 0
    for group in _patients(redacted):
        seen = _residue(group)
        found, searched = found + seen[0], searched + seen[1]
        skipped, in_part = skipped + seen[2], in_part + seen[3]
    return _share(
        "residual_originals",
        found,
        searched,
        better="lower",
        describe="replaced values of a patient that still stand in a redacted text",
        reason="no value was replaced that is long enough to be searched",
        beside=(("visible_in_part", in_part), ("not_searched", skipped)),
    )


def shift_candidates(redacted: Sequence[Redacted]) -> Audit:
    """Share of patients whose shift could still be any: no known word of the calendar that is left narrows it.

    Forms that `anchors` does not know are not seen here either: 1 is no promise that nothing narrows a shift.
    Beside it are how many shifts there are and how many are left for the patient whose notes reveal most; 1 is a shift
    that can be worked out. `loose_words` are words of the calendar that are left with no moved date near them.
    """
    right = total = loose = 0
    fewest = every = 0
    for group in _patients(redacted):
        if not any(piece.done == "shift" for one in group for piece in one.pieces):
            continue
        left, every, unheld = remaining(group, whole_weeks=group[0].whole_weeks)
        fewest = left if not total else min(fewest, left)
        total, right, loose = total + 1, right + (left == every), loose + unheld
    return _share(
        "shift_candidates",
        right,
        total,
        better="higher",
        describe="patients whose shift of dates no known word of the calendar that is left narrows",
        reason="no date was moved",
        beside=(("candidates", every), ("fewest_candidates", fewest), ("loose_words", loose)) if total else (),
    )


def _residue(group: Sequence[Redacted]) -> tuple[int, int, int, int]:
    """The redacted texts of a patient with the originals after them, of which only the first part is visible."""
    parts: list[str] = []
    hidden: list[tuple[int, int]] = []
    length = 0
    for one in group:
        both = Alignment(one.pieces)
        hidden += [(length + p.new_start, length + p.new_end) for p in one.pieces if p.done == "shift"]
        hidden += [
            (length + start, length + end) for kept in one.kept for start, end in [both.span(kept.start, kept.end)]
        ]
        parts.append(one.document.text + "\n\n")
        length += len(parts[-1])
    visible, golds = length, []
    for label, surface in dict.fromkeys(
        (piece.label, one.source.text[piece.start : piece.end]) for one in group for piece in one.pieces
    ):
        golds.append(Masked(length, length + len(surface), None if label == "PHI" else label))
        parts.append(surface + "\n\n")
        length += len(parts[-1])
    left = residue("".join(parts), golds, [*hidden, (visible, length)]) if golds else None
    if left is None:
        return 0, 0, 0, 0
    return left.found_whole, left.searched, left.unsearched, left.found_in_part


def _almanac(group: Sequence[Redacted]) -> Almanac:
    notes = (
        (
            one.source.id,
            one.source.time,
            [one.source.text[piece.start : piece.end] for piece in one.pieces if piece.done == "shift"],
        )
        for one in group
    )
    return Almanac(notes, day_first=group[0].day_first)


def _patients(redacted: Iterable[Redacted]) -> list[list[Redacted]]:
    groups: dict[str, list[Redacted]] = {}
    for one in redacted:
        groups.setdefault(one.patient, []).append(one)
    return list(groups.values())


def _pieces(group: Iterable[Redacted], done: str) -> Iterator[tuple[Redacted, Piece]]:
    return ((one, piece) for one in group for piece in one.pieces if piece.done == done)


def _both(one: Redacted, piece: Piece) -> tuple[str, str]:
    old, new = one.source.text[piece.start : piece.end], one.document.text[piece.new_start : piece.new_end]
    return old, new


def _share(
    metric: str,
    numerator: int,
    n: int,
    *,
    better: str,
    describe: str,
    reason: str,
    beside: tuple[tuple[str, int], ...] = (),
) -> Audit:
    value = numerator / n if n else None
    return Audit(metric, value, n, numerator, better, describe, "" if n else reason, beside)
