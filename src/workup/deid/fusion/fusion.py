"""What rules propose and what the tagger says of the same page, weighed as one list of findings.

A find of the rules that stands on strong evidence keeps its score. The chance of any other is taken from the fitted
table: so the tagger lifts a rule's guess, or lets it fall. What the tagger alone finds is proposed beside them."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from workup.deid import gazetteer
from workup.deid.clinical_terms import unprotected
from workup.deid.finding import Finding
from workup.deid.fusion.chances import Chances, log_odds
from workup.deid.fusion.leaves import Leaves
from workup.deid.overlaps import left_of
from workup.deid.settings import Settings
from workup.deid.tagger.decoding import Tagged, Words, spans_of
from workup.deid.tagger.model import Tagger
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.documents.labels import BRANCHES, SCHEME, branch_of
from workup.documents.titles import title_length

_STRONG = words("fusion.strong")
_STRONG_RULES = words("fusion.strong_rules")
_SMALL_WORDS = words("fusion.small_words")
_WORDED = ("tagger.name", "tagger.geo", "tagger.org")
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
        self._spoken = weights > 0
        self._weight = np.concatenate([[0.0], np.cumsum(weights)])
        self._mass = np.concatenate([[0.0], np.cumsum(weights * read.identifying)])

    def least(self, start: int, end: int) -> float:
        """The lowest chance among the words of a stretch that have letters or digits."""
        first, last = self._words(start, end)
        spoken = self._spoken[first:last]
        return float(self.words.identifying[first:last][spoken].min()) if spoken.any() else 0.0

    def of(self, start: int, end: int) -> float | None:
        """The mean chance, over letters and digits, of being part of an identifier; None where none is read."""
        first, last = self._words(start, end)
        weight = self._weight[last] - self._weight[first] if last > first else 0.0
        return float((self._mass[last] - self._mass[first]) / weight) if weight else None

    def _words(self, start: int, end: int) -> tuple[int, int]:
        first = int(np.searchsorted(self.words.ends, start, side="right"))
        return first, int(np.searchsorted(self.words.starts, end, side="left"))


class Fusion:
    """Rules and tagger for one set of rules; `caution` is added to the log-odds of all that is not strong."""

    def __init__(self, tagger: Tagger, chances: Chances, settings: Settings, *, caution: float = 0.0) -> None:
        self._tagger, self._chances, self._caution = tagger, chances, caution + chances.caution
        self._leaves, self._settings = Leaves(settings), replace(settings, allow=())
        self.version = f"{tagger.version} fusion {chances.digest} caution {caution:g}"

    def read(self, page: Page, written: str) -> Opinion:
        """The tagger's opinion of a page; it reads the text as written, without capitals that were given back."""
        return Opinion(page, self._tagger.read(written))

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
            said = opinion.of(one.start, one.end) if self._is_weak(page, one) else None
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

    def _is_weak(self, page: Page, one: Finding) -> bool:
        """Whether a finding of the rules may be weighed. One below its threshold is not the tagger's to bring up."""
        listed = self._settings.names  # words that the user says are names
        return (
            not is_strong(one)
            and one.score >= self._settings.threshold(one.label)
            and self._chances.knows(one.rule)
            and not (listed and listed.intersection(page.words[page.word_at(one.start) : page.word_at(one.end)]))
        )

    def _score(self, one: Find) -> float:
        total = self._chances.of_find(one.kind, one.first, one.second) + self._caution
        score = round(1 / (1 + math.exp(-max(-30.0, min(30.0, total)))), 4)
        shared = one.second >= 0 and not one.finding.rule.startswith("tagger.")
        return max(score, one.finding.score) if shared else score  # nothing falls that both hold for an identifier

    def _tagged(self, page: Page, proposed: Sequence[Finding], opinion: Opinion) -> list[Find]:
        """What the tagger finds, under the leaf of a rule that found the same, around what a strong rule calls else."""
        rules = _Ruled(page, [one for one in proposed if one.score >= self._settings.threshold(one.label)])
        found: dict[Finding, str] = {}
        for span in spans_of(page.text, opinion.words, caution=self._caution):
            rule = f"tagger.{span.label.lower()}"
            span = _trimmed(page.text, span)
            said = page.text[span.start : span.end]
            if not said or said.lower() in _SMALL_WORDS or not self._settings.on(rule):
                continue
            leaf = self._leaves.of(span.label, page, span.start, span.end)
            one = Finding(span.start, span.end, leaf, 1.0, rule, (f"tagger {span.sure:.2f}",))
            same = rules.same(one)
            # A date that a rule reads whole stays as it is and can be shifted; the tagger adds what is beside it.
            if same is not None and not (span.label == "DATE" and is_strong(same) and same.label != "time"):
                found[one._replace(label=same.label, evidence=(*one.evidence, "rules and tagger"))] = (
                    f"{span.label}.agreed"
                )
            else:
                found |= dict.fromkeys(rules.around(one), span.label)
        plain = frozenset(unprotected(page, list(found), self._settings, _BRANCH))
        finds = []
        for one, kind in found.items():
            sure, least = opinion.of(one.start, one.end), opinion.least(one.start, one.end)
            part = "" if kind.endswith(".agreed") else self._part(page, one, plain)
            finds.append(Find(one, f"tagger.{kind}{part}", log_odds(sure or 0.0), log_odds(least)))
        return finds

    def _part(self, page: Page, one: Finding, plain: frozenset[Finding]) -> str:
        """What speaks against a find that is the tagger's alone: a clinical term, or words that everybody writes."""
        if one not in plain:
            return ".clinical"
        own = page.words[page.word_at(one.start) : page.word_at(one.end)]
        return ".everyday" if one.rule in _WORDED and gazetteer.everyday().issuperset(own) else ""


class _Ruled:
    """What rules found on a page, asked by place."""

    def __init__(self, page: Page, findings: Sequence[Finding]) -> None:
        self._text, self._found = page.text, sorted(findings)
        self._reach = list(accumulate((one.end for one in self._found), max))
        self._strong = bytearray(len(page.text))
        for one in self._found:
            if is_strong(one):
                self._strong[one.start : one.end] = b"\1" * (one.end - one.start)

    def same(self, one: Finding) -> Finding | None:
        """The surest finding of the same branch that shares characters with this one, strong ones first.

        A clock time beside a day does not make the day a time, which most policies leave.
        """
        first = bisect_right(self._reach, one.start)
        last = bisect_left(self._found, (one.end,), lo=first)
        met = [
            other
            for other in self._found[first:last]
            if other.overlaps(one) and _BRANCH[other.label] == _BRANCH[one.label]
        ]
        return max(
            met, key=lambda other: (other.label != "time", is_strong(other), other.score, -other.start), default=None
        )

    def around(self, one: Finding) -> list[Finding]:
        """What is left of a finding beside what strong rules call something else."""
        return left_of(one, self._strong, self._text)


def is_strong(one: Finding) -> bool:
    """Whether a finding stands on evidence that no second opinion outweighs."""
    return not _STRONG_RULES.isdisjoint((one.rule, one.rule.partition(".")[0])) or not _STRONG.isdisjoint(one.evidence)


def _trimmed(text: str, one: Tagged) -> Tagged:
    """A name without its title and without the s of a possessive."""
    if one.label != "NAME":
        return one
    start, end = one.start + title_length(text[one.start : one.end]), one.end
    if text[max(start, end - 2) : end] in ("'s", "’s", "'S", "’S"):
        end -= 2
    return one._replace(start=start, end=end)
