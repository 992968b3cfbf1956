"""A pattern that is tried only where it can begin. Finds what a plain search finds."""

from __future__ import annotations

import re
from functools import cached_property

from workup.deid.patterns.pattern_starts import starts_of
from workup.deid.patterns.start_index import REGISTER
from workup.deid.text_view import Page


class Finder:
    """A pattern that is tried only where it can begin. Finds what `finditer` finds, in the same order.

    It is compiled when a text first has a place where it may begin: for most patterns and texts there is none."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text, self._flags = text, flags
        asked = starts_of(text, flags)
        self.number = None if asked is None else REGISTER.number(asked)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self._text, self._flags)

    def find(self, page: Page) -> list[re.Match[str]]:
        """Matches in the plain text of a page, from the left."""
        if self.number is None:
            return list(self.pattern.finditer(page.plain))
        starts = page.places.get(self.number)
        if not starts:
            return []
        match, plain, free = self.pattern.match, page.plain, 0
        matches: list[re.Match[str]] = []
        for start in starts:
            if start >= free and (found := match(plain, start)) is not None:
                free = found.end()
                matches.append(found)
        return matches
