"""What leaked and what was needlessly destroyed, in counts per document; rates and intervals are made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workup.documents.policies import MUST, MUST_NOT
from workup.stats.arrays import Whole
from workup.tasks.spans.counting.blocks import Block, Sheet
from workup.tasks.spans.counting.characters import Line, Units
from workup.tasks.spans.counting.coverage import union_starts

# must_alnum: letters and digits only. A document leaks when a must-mask gold is not fully masked. Non-PHI is what lies
# on no gold that must or may be masked or is ignored. A negative document has no such gold; intact means answered and
# without any prediction. Protected golds must not be masked; untouched ones meet no prediction.
FIELDS = (
    "must_chars",
    "must_chars_unmasked",
    "must_alnum",
    "must_alnum_unmasked",
    "non_phi_chars",
    "non_phi_chars_masked",
    "non_phi_tokens",
    "non_phi_tokens_masked",
    "documents_with_must",
    "documents_leaking",
    "negative_documents",
    "negative_documents_intact",
    "protected",
    "protected_untouched",
)
_OF_TEXT = ("must_alnum", "must_alnum_unmasked", "non_phi_tokens", "non_phi_tokens_masked", "documents_leaking")
_OF_LENGTH = ("non_phi_chars",)


@dataclass(frozen=True, eq=False)
class Leaks:
    """Counts behind leak rates, over-redaction and specificity; `documents[field]` has one entry per document.

    What cannot be known without texts (or lengths) is absent from `documents` and None in `totals`.
    """

    documents: Mapping[str, Whole]

    def totals(self) -> dict[str, int | None]:
        """Over all documents."""
        found: dict[str, int | None] = {"documents": len(self.documents["must_chars"])}
        return found | {name: int(self.documents[name].sum()) if name in self.documents else None for name in FIELDS}


class LeakTable:
    """Collects the counts of one policy, block by block."""

    def __init__(self, sheet: Sheet, policy: str) -> None:
        self._sheet, self._policy = sheet, sheet.policies.index(policy)
        self._found = np.zeros((len(FIELDS), sheet.matchup.documents), dtype=np.int64)

    def add(self, block: Block, characters: Line, units: Units, tokens: tuple[Units, Whole] | None) -> None:
        """A block of known documents: its characters as counted, and its tokens where there is text."""
        sheet = self._sheet
        decision = sheet.table[block.decision, self._policy]
        counted = decision != MUST_NOT
        n = block.documents
        golds = block.golds
        here: dict[str, Whole] = {name: np.zeros(n, dtype=np.int64) for name in FIELDS}
        must_chars, hits, predicted, credited, neutral = units.documents
        here["must_chars"], here["must_chars_unmasked"] = must_chars, must_chars - hits
        here["non_phi_chars_masked"] = predicted - credited - neutral
        if sheet.matchup.lengths is not None:
            any_gold = golds.end - union_starts(golds.start, golds.end, counted)
            lengths = sheet.matchup.lengths[block.first : block.first + n].astype(np.int64)
            here["non_phi_chars"] = lengths - _sums(golds.document, any_gold, n)
        if tokens is not None:
            counts, non_phi = tokens
            here["non_phi_tokens"] = non_phi
            here["non_phi_tokens_masked"] = counts.documents[2] - counts.documents[3] - counts.documents[4]
            here["must_alnum"], here["must_alnum_unmasked"] = self._alnum(block, characters, decision == MUST)
        here["documents_with_must"] = np.minimum(_sums(golds.document, decision == MUST, n), 1)
        negative = _sums(golds.document, counted, n) == 0
        spoken = np.bincount(block.predictions.document, minlength=n) + np.bincount(block.strays.document, minlength=n)
        answered = sheet.matchup.answered
        known = np.ones(n, dtype=np.bool_) if answered is None else answered[block.first : block.first + n]
        here["negative_documents"] = negative.astype(np.int64)
        here["negative_documents_intact"] = (negative & (spoken == 0) & known).astype(np.int64)
        touched = np.bincount(block.pairs.gold, minlength=len(golds)) > 0
        here["protected"] = _sums(golds.document, ~counted, n)
        here["protected_untouched"] = _sums(golds.document, ~counted & ~touched, n)
        self._found[:, block.first : block.first + n] = [here[name] for name in FIELDS]

    def _alnum(self, block: Block, line: Line, must: npt.NDArray[np.bool_]) -> tuple[Whole, Whole]:
        assert block.text is not None
        golds = block.golds
        wanted = union_starts(golds.start, golds.end, must)
        total = _sums(golds.document, block.text.alnum(wanted, golds.end), block.documents)
        left, right = line.crossing(wanted, line.masked)
        masked = _sums(golds.document.take(block.pairs.gold), block.text.alnum(left, right), block.documents)
        return total, total - masked

    def done(self, leaking: Whole | None) -> Leaks:
        """With the documents that leak, where texts could tell."""
        matchup = self._sheet.matchup
        unknown = {*(_OF_TEXT if matchup.texts is None else ()), *(_OF_LENGTH if matchup.lengths is None else ())}
        found = {name: self._found[i] for i, name in enumerate(FIELDS) if name not in unknown}
        if leaking is not None:
            found["documents_leaking"] = leaking.astype(np.int64)
        return Leaks(found)


def _sums(owner: Whole, amounts: npt.NDArray[np.integer] | npt.NDArray[np.bool_], owners: int) -> Whole:
    return np.bincount(owner, weights=amounts, minlength=owners).astype(np.int64)
