"""What rules propose and what the tagger says of the same page, weighed as one list of findings.

A find of the rules that stands on strong evidence keeps its score. The chance of any other is taken from the fitted
table: so the tagger lifts a rule's guess, or lets it fall. What the tagger alone finds is proposed beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from workup.deid.clinical_terms import unprotected
from workup.deid.finding import Finding
from workup.deid.fusion.chances import Chances, log_odds
from workup.deid.fusion.leaves import Leaves
from workup.deid.settings import Settings
from workup.deid.tagger.decoding import Tagged, Words, spans_of
from workup.deid.tagger.model import Tagger
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.documents.labels import BRANCHES, SCHEME, branch_of
from workup.documents.titles import title_length

_STRONG = words("fusion.strong")
_STRONG_RULES = words("fusion.strong_rules")
_BRANCH = {name: branch_of(name) for name in (*SCHEME, *BRANCHES)}


class Find(NamedTuple):
    """A finding to be weighed: its kind in the fitted table and two opinions in log-odds; strong ones have no kind."""

    finding: Finding
    kind: str
    first: float
    second: float


class Opinion:
    """What the tagger says of any stretch of one page."""

    def __init__(self, page: Page, read: Words) -> None:
        self.words = read
        plain = page.text
        weights = np.array(
            [
                sum(map(str.isalnum, plain[start:end]))
                for start, end in zip(read.starts.tolist(), read.ends.tolist(), strict=True)
            ],
            dtype=np.float64,
        )
        self._weight = np.concatenate([[0.0], np.cumsum(weights)])
        self._mass = np.concatenate([[0.0], np.cumsum(weights * read.identifying)])

    def of(self, start: int, end: int) -> float | None:
        """The mean chance, over letters and digits, of being part of an identifier; None where none is read."""
        first = int(np.searchsorted(self.words.ends, start, side="right"))
        last = int(np.searchsorted(self.words.starts, end, side="left"))
        weight = self._weight[last] - self._weight[first] if last > first else 0.0
        return float((self._mass[last] - self._mass[first]) / weight) if weight else None


class Fusion:
    """Rules and tagger for one set of rules; `caution` is added to the log-odds of all that is not strong."""

    def __init__(self, tagger: Tagger, chances: Chances, settings: Settings, *, caution: float = 0.0) -> None:
        self._tagger, self._chances, self._caution = tagger, chances, caution
        self._leaves, self._settings = Leaves(settings), replace(settings, allow=())
        self.version = f"{tagger.version} fusion {chances.digest} caution {caution:g}"

    def read(self, page: Page) -> Opinion:
        """The tagger's opinion of a page."""
        return Opinion(page, self._tagger.read(page.text))

    def weighed(self, page: Page, proposed: Sequence[Finding], opinion: Opinion) -> list[Finding]:
        """All findings with the score that both speakers together give them."""
        return [
            one.finding if not one.kind else one.finding._replace(score=self._score(one))
            for one in self.finds(page, proposed, opinion)
        ]

    def finds(self, page: Page, proposed: Sequence[Finding], opinion: Opinion) -> list[Find]:
        """What is to be weighed: the findings of the rules, then those of the tagger."""
        found = []
        for one in proposed:
            said = opinion.of(one.start, one.end) if self._is_weak(one) else None
            kind = "" if said is None else one.rule
            found.append(Find(one, kind, log_odds(one.score), log_odds(said or 0.0)))
        return [*found, *self._tagged(page, proposed, opinion)]

    def told(self, findings: Sequence[Finding], opinion: Opinion) -> list[Finding]:
        """The findings of the rules with what the tagger says of them as evidence, where it agrees."""
        found = []
        for one in findings:
            said = None if one.rule.startswith("tagger.") else opinion.of(one.start, one.end)
            if said is not None and said >= 0.5:
                one = one._replace(evidence=(*one.evidence, f"tagger {said:.2f}"))
            found.append(one)
        return found

    def _is_weak(self, one: Finding) -> bool:
        """Whether a finding of the rules may be weighed. One below its threshold is not the tagger's to bring up."""
        return not is_strong(one) and one.score >= self._settings.threshold(one.label) and self._chances.knows(one.rule)

    def _score(self, one: Find) -> float:
        total = self._chances.of_find(one.kind, one.first, one.second) + self._caution
        return round(1 / (1 + math.exp(-max(-30.0, min(30.0, total)))), 4)

    def _tagged(self, page: Page, proposed: Sequence[Finding], opinion: Opinion) -> list[Find]:
        taken = bytearray(len(page.text))
        for one in proposed:
            if one.score >= self._settings.threshold(one.label):
                taken[one.start : one.end] = b"\1" * (one.end - one.start)
        spans = [_trimmed(page.text, one) for one in spans_of(page.text, opinion.words, caution=self._caution)]
        findings = {
            Finding(one.start, one.end, self._leaves.of(one.label, page, one.start, one.end), 1.0, rule, (why,)): one
            for one in spans
            if one.start < one.end
            for rule, why in [(f"tagger.{one.label.lower()}", f"tagger {one.sure:.2f}")]
            if self._settings.on(rule)
        }
        plain = frozenset(unprotected(page, list(findings), self._settings, _BRANCH))
        found = []
        for finding, span in findings.items():
            agreed = taken.find(1, span.start, span.end) >= 0
            part = ".agreed" if agreed else "" if finding in plain else ".clinical"
            if agreed:
                finding = finding._replace(evidence=(*finding.evidence, "rules and tagger"))
            found.append(Find(finding, f"tagger.{span.label}{part}", log_odds(span.sure), log_odds(span.least)))
        return found


def is_strong(one: Finding) -> bool:
    """Whether a finding stands on evidence that no second opinion outweighs."""
    if one.label.startswith("name_") and "list" in one.evidence:  # a name that the user listed
        return True
    return one.rule.partition(".")[0] in _STRONG_RULES or not _STRONG.isdisjoint(one.evidence)


def _trimmed(text: str, one: Tagged) -> Tagged:
    """A name without its title and without the s of a possessive."""
    if one.label != "NAME":
        return one
    start, end = one.start + title_length(text[one.start : one.end]), one.end
    if text[max(start, end - 2) : end] in ("'s", "’s", "'S", "’S"):
        end -= 2
    return one._replace(start=start, end=end)
