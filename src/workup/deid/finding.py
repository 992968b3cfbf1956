"""What a detection is: where, what, how sure, by which rule and on what evidence. It holds no text."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """`text[start:end]` in code points is taken for `label`, a canonical leaf.

    `rule` names the rule that found it, `evidence` the cues that spoke for it ("title", "check_digit"); neither ever
    holds what the text says there. `score` lies between 0 and 1.

    >>> Finding(8, 12, "name_provider", 0.97, "name.title", ("title", "surname"))[:3]
    (8, 12, 'name_provider')
    """

    start: int
    end: int
    label: str
    score: float
    rule: str
    evidence: tuple[str, ...] = ()

    def overlaps(self, other: Finding) -> bool:
        """Whether the two share a character."""
        return self.start < other.end and other.start < self.end
