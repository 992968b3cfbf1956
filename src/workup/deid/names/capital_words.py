"""Given names that are dictionary words (Will, Rob, Joy), where their capital tells them from the word.

A capital inside a sentence that runs on in small letters, or a verb that only people do after a word that opens one,
speaks for a person; after an article, or before another word with a capital that is no surname, it does not."""

from __future__ import annotations

from workup.deid.names.weights import name_weight
from workup.deid.names.word_weights import Weight
from workup.deid.names.words import KIN
from workup.deid.text_view import Page
from workup.deid.word_lists import words

SHORT_FORMS = words("names.short_forms")
_ARTICLES = words("names.articles")
SAID = words("names.said")
DONE_TO = words("names.done_to")
_BEFORE = words("names.before_short_form")
_INSIDE = name_weight("word.capital_inside")
_OPENING = name_weight("word.capital_opening")
CASED = "cased"


def weigh_capitals(page: Page, weights: list[Weight]) -> None:
    """Raise the weights of such words where case and neighbours make names of them."""
    for at in page.of(SHORT_FORMS):
        if page.cases[at] != "t":
            continue
        if page.restored is not None and page.restored[at]:
            odds: float | None = _OPENING  # it would not have got its capital back otherwise
        else:
            odds = _INSIDE if _inside(page, at, weights) else _OPENING if _does(page, at) else None
        if odds is not None and weights[at].odds < odds:
            weights[at] = weights[at]._replace(odds=odds, why=CASED, given=True, common=True, everyday=False)


def _inside(page: Page, at: int, weights: list[Weight]) -> bool:
    """Whether the word has a capital where the sentence has none."""
    if not at or page.opens_sentence(at):
        return False
    before, gap = page.words[at - 1], page.gaps[at - 1]
    if gap not in (" ", ", ", " (", ' "') or before in _ARTICLES:
        return False
    if page.cases[at - 1] != "l" and not (page.cases[at - 1] == "t" and (before in _BEFORE or before in KIN)):
        return False
    after = at + 1
    if after >= page.size:
        return True
    if page.gaps[at][:1] in ("-", "/", "\\"):
        return False
    return page.gaps[at] != " " or page.cases[after] == "l" or (page.cases[after] == "t" and weights[after].family)


def _does(page: Page, at: int) -> bool:
    """Whether the word opens a sentence, and a verb that only people do follows ('Will denies', 'Hope was told')."""
    if not page.opens_sentence(at) or at + 2 >= page.size or page.gaps[at] != " " or page.cases[at + 1] != "l":
        return False
    verb, next_word = page.words[at + 1], page.words[at + 2]
    if verb in SAID:
        return next_word not in ("to",) or verb not in ("states", "reports")
    if verb in ("is", "was", "has", "will", "did") and page.gaps[at + 1] == " ":
        aged = next_word in ("a", "an") and page.cases[at + 3 : at + 4] == "d"
        return next_word in DONE_TO or aged or (verb == "did" and next_word == "not")
    kin = next_word in ("his", "her") and at + 3 < page.size and page.words[at + 3] in KIN
    return verb == "and" and kin
