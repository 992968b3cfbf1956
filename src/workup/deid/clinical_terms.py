"""Clinical words that must stay: a finding that is nothing but such a word is dropped, unless a cue names a person.

Terms marked ambiguous (Burns, Colon) protect nothing by themselves."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache, cached_property

from workup.deid.finding import Finding
from workup.deid.known_words import clinical_words, is_clinical_part
from workup.deid.names.words import VERBS
from workup.deid.settings import Settings
from workup.deid.text_view import Page
from workup.deid.word_lists import words
from workup.lexicon import Extractor
from workup.text.wordlists import words_of

_SOFT = frozenset(("NAME", "GEO", "ORG", "QUASI"))
# Evidence that outweighs a clinical term: somebody of that name is meant.
_PERSON = words_of(
    "title credential label cue pair kin initial comma list kin_before naming vocative bed header speaker"
)


_CALLED = words_of("title credential label kin comma list kin_before naming vocative bed speaker")
_BARE = frozenset(("single", "words", "preposition", "met", "pair", "capitals", "verb"))
_OPERATIONS = tuple(sorted(words("clinical.operation_endings")))
_SURE_PLACES = words_of("city.state city.label city.street city.before_state city.zip employer.cue county street.plain")
_ALWAYS = words("clinical.always_clinical")


@cache
def _extractor() -> Extractor:
    return Extractor.load()


def unprotected(page: Page, findings: Sequence[Finding], settings: Settings, branches: dict[str, str]) -> list[Finding]:
    """The findings without those that lie on clinical words alone, or on what the user allows."""
    kept = without_allowed(page, findings, settings.allow)
    if not any(branches[one.label] in _SOFT for one in kept):
        return kept
    terms = _Terms(page)
    lists = (settings.lists["eponym_nouns"], settings.lists["instruments"])
    return [one for one in kept if branches[one.label] not in _SOFT or not _clinical(page, one, terms, lists)]


class _Terms:
    """The clinical terms of a page, looked for when a finding could lie on one."""

    def __init__(self, page: Page) -> None:
        self._page = page

    @cached_property
    def _found(self) -> list[tuple[int, int]]:
        return [(term.start, term.end) for term in _extractor().extract(self._page.text) if not term.ambiguous]

    def cover(self, one: Finding) -> bool:
        """Whether a finding lies inside a term, or a name on a part of one."""
        page, name = self._page, one.label.startswith("name")
        words = " ".join(page.words[page.word_at(one.start) : page.word_at(one.end)]).replace("'", " ").split()
        if page.text.isascii() and not (any if name else all)(map(is_clinical_part, words)):
            return False  # no word of the finding is in any term
        # Terms do not overlap and are in order, so those that touch a finding are neighbours.
        at = max(0, bisect_right(self._found, (one.start, len(page.text))) - 1)
        for start, end in self._found[at : at + 8]:
            if start >= one.end:
                break
            if start <= one.start and one.end <= end:
                return True
            if start < one.end and one.start < end and name and end - start > 3:
                return True
        return False


def _clinical(page: Page, one: Finding, terms: _Terms, lists: tuple[frozenset[str], frozenset[str]]) -> bool:
    nouns, instruments = lists
    if one.label.startswith("name"):
        if _CALLED.intersection(one.evidence):
            return False
        if _BARE.issuperset(one.evidence) and _instrument(page, one, instruments):
            return True
        if _eponym(page, one, nouns):
            return True
        if _PERSON.intersection(one.evidence):
            return False
    if one.rule in _SURE_PLACES:
        return False
    return terms.cover(one) or (one.label in ("city", "country", "state") and _eponym(page, one, nouns))


def _instrument(page: Page, one: Finding, instruments: frozenset[str]) -> bool:
    """Whether every word is a name that instruments, signs and materials go by."""
    words = [word for word in page.words[page.word_at(one.start) : page.word_at(one.end)] if len(word) > 1]
    return bool(words) and instruments.issuperset(words)


def _eponym(page: Page, one: Finding, nouns: frozenset[str]) -> bool:
    """Whether a word such as sign, catheter or syndrome follows, with or without a possessive."""
    last = page.word_at(one.end)
    if last >= page.size or page.starts[last] - one.end > 4:
        return False
    gap = page.plain[one.end : page.starts[last]]
    if page.words[last] == "s" and gap == "'" and last + 1 < page.size and page.gaps[last] == " ":
        last, gap = last + 1, " "
    if gap not in (" ", "-", "s' "):
        return False
    word = page.words[last]
    if word in nouns:
        return page.cases[last] != "t" or (page.cases[last - 1] == "t" and word in _ALWAYS)
    return page.cases[last] == "l" and (word.endswith(_OPERATIONS) or word in clinical_words()) and word not in VERBS


def without_allowed(page: Page, findings: Sequence[Finding], phrases: Sequence[str]) -> list[Finding]:
    """The findings without those that are nothing but a phrase that the user allows."""
    if not phrases:
        return list(findings)
    known = {" ".join(Page(phrase).words) for phrase in phrases}
    return [one for one in findings if " ".join(Page(page.text[one.start : one.end]).words) not in known]
