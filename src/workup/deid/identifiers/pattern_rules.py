"""Structured values by their own shape: the patterns of the rules, each with its second look."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workup.deid.finding import Finding
from workup.deid.identifiers.validators import CHECKS
from workup.deid.settings import Pattern, Settings
from workup.deid.text_view import Page

_REACH = 40
_WORDS = re.compile(r"[a-z]{1,40}")


def shapes(page: Page, settings: Settings) -> Iterator[Finding]:
    """What the patterns find on a page."""
    low, longest, places = page.low, page.longest, page.places
    for rule in settings.patterns:
        if rule.long > longest or (rule.finds.number is not None and not places[rule.finds.number]):
            continue
        needs = rule.needs
        if needs and needs[0] not in low and (len(needs) == 1 or not any(piece in low for piece in needs)):
            continue
        if rule.near and rule.near.isdisjoint(page.letters):
            continue
        matches = rule.finds.find(page)
        if matches:
            yield from _read(page, rule, matches)


def _read(page: Page, rule: Pattern, matches: list[re.Match[str]]) -> Iterator[Finding]:
    for match in matches:
        start, end = match.span("v") if "v" in rule.finds.pattern.groupindex else match.span()
        if start < 0 or start == end:
            continue
        evidence = ["shape"]
        if rule.holds:
            if not CHECKS[rule.holds](page.plain[start:end]):
                continue
            evidence.append(rule.holds)
        if rule.near:
            before = set(_WORDS.findall(page.low[max(0, start - _REACH) : start]))
            if rule.near.isdisjoint(before):
                continue
            evidence.append("near")
        yield Finding(start, end, rule.leaf, rule.sure, rule.id, tuple(evidence))
