"""Which labels are ignored: canonical names with all that lies below them, and labels as they are written.

What becomes of golds and predictions that carry them is for the matching to say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workup.documents.labels import CODE, NAMES, leaves_of
from workup.documents.mappings import LabelMapping
from workup.errors import InputError, near


@dataclass(frozen=True)
class IgnoredLabels:
    """What `--ignore` names: canonical names (a branch with all its leaves), and labels as they are written."""

    canonical: frozenset[str]
    labels: frozenset[str]

    @classmethod
    def parse(cls, names: Iterable[str], *, mapping: LabelMapping, seen: Iterable[str] = ()) -> IgnoredLabels:
        """A canonical name ignores all that maps to it or below; a label of a scheme ignores that label and no other.

        `seen` are labels of the corpus and the predictions, which may be ignored even when they are not mapped.

        >>> IgnoredLabels.parse(["AGE"], mapping=LabelMapping.load("i2b2_2014")).canonical == {
        ...     "AGE", "age_over_89", "age_under_90"}
        True
        """
        known = {*mapping.labels, *mapping.left_out, *seen}
        canonical: set[str] = set()
        labels: set[str] = set()
        for name in names:
            if name in CODE:
                canonical |= {name, *leaves_of(name)}
            elif name in known:
                labels.add(name)
            else:
                raise InputError(
                    "an ignored label must be a canonical name or a label of the mapping or of the corpus",
                    got=repr(name[:60]),
                    remedy=near(name, known | set(NAMES)),
                )
        return cls(frozenset(canonical), frozenset(labels))
