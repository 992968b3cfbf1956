"""Which words of a text stand where case says nothing: in texts, or lines, all in small letters or all in capitals."""

from __future__ import annotations

import re

from workup.deid.text_view import Page
from workup.text.wordlists import words_of

SMALL, CAPITALS = 1, 2
_FEW = 40  # words in small letters for each with a capital that a writer without capitals may have let slip in
_SHOUTED = 6  # words in capitals for each that is not, in a text in capitals
# A line of small letters in a text with capitals; it must open a sentence, or it is the middle of one.
_SMALL_LINE = re.compile(r"^[ \t>*-]{0,6}[a-z][^A-Z\n]{14,}$", re.MULTILINE)
# A line of capitals is a sentence, and no heading, if it is long and has small words inside.
_CAPITAL_LINE = re.compile(r"^[^a-z\n]{30,}$", re.MULTILINE)
_SENTENCE = 7
_INSIDE = words_of("by in is was at from with to for on has had will the and")
_ENDED = re.compile(r"(?:^|[.:;!?)\]\n])[ \t]{0,4}\n[ \t]*$|^$")


def silent(page: Page) -> bytes | None:
    """One byte for each word, SMALL or CAPITALS where its case says nothing; None where all words tell by theirs."""
    cases = page.cases
    small, titled = cases.count("l"), cases.count("t") + cases.count("m")
    if small > 1 and titled * _FEW <= small:
        return bytes((SMALL,)) * page.size
    capitals = cases.count("u")
    if capitals > 2 and (small + titled) * _SHOUTED <= capitals:
        return bytes((CAPITALS,)) * page.size
    found: bytearray | None = None
    for line in _CAPITAL_LINE.finditer(page.plain):
        first, last = page.word_at(line.start()), page.word_at(line.end())
        if cases.count("u", first, last) >= _SENTENCE and not _INSIDE.isdisjoint(page.words[first:last]):
            found = found or bytearray(page.size)
            found[first:last] = bytes((CAPITALS,)) * (last - first)
    for line in _SMALL_LINE.finditer(page.plain):
        if _ENDED.search(page.plain[max(0, line.start() - 8) : line.start()]):
            first, last = page.word_at(line.start()), page.word_at(line.end())
            if last - first > 2:
                found = found or bytearray(page.size)
                found[first:last] = bytes((SMALL,)) * (last - first)
    return bytes(found) if found is not None else None
