"""Whether a text looks English, by its words. A mark for the report; nothing is refused for it.

It does not say which other language a text is in, and a text that gives no evidence either way is not marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from workup.lexicon.sources import everyday_words, words_of_terms
from workup.text.wordlists import function_words, other_languages

LEAST_SHARE = 0.1  # running English has more function words than this; telegraphic notes often have fewer
PASSAGE = 30  # words of a passage in another language that mark a text which is English elsewhere
_LEAST_IN_PASSAGE = 6  # function words of other languages; running Spanish, German or French has ten and more in 30
_LEAST_UNKNOWN, _UNKNOWN_SHARE = 15, 0.8  # so many words, and so many of them in no list, are a language without list
_STRETCH = 120  # words that are counted before the next look at how many are needed
_PARTICLES_OF_A_NAME = 3  # "de la", "van der", "de los … y"
_OTHER_SCRIPT = 40  # letters of Greek, Cyrillic, Arabic, Chinese, … that make a passage
Language = Literal["english", "uncertain"]
_WORD = re.compile(r"[^\W\d_]+")
_BLANKED = "".join(chr(code) if chr(code).isalpha() else " " for code in range(128))
_NOT_LATIN = re.compile(r"[\u0370-\u1dff\u1f00-\u1fff\u2c80-\ua71f\ua800-\ufaff\ufb13-\ufefe\uff66-\uffdc]")


def language_of(text: str) -> Language:
    """`uncertain` where the words are evidence of another language, in the whole text or in a passage of it.

    Function words of other languages and letters with accents are weighed against words of an English dictionary, so
    that short, telegraphic and list-like English is English. Without evidence nothing is marked.

    >>> language_of("She was admitted to the ward with chest pain."), language_of("Ingresa por dolor de pecho.")
    ('english', 'uncertain')
    >>> language_of("BP 120/80, HR 72, afebrile"), language_of("Maria de la Cruz")
    ('english', 'english')
    """
    words = _words(text.lower())
    if not text.isascii() and _other_script(text):
        return "uncertain"
    if not _has_function_words(words) and _looks_foreign(words):
        return "uncertain"
    others = other_languages().any_language
    # Most notes hold no word of another language: to learn that takes no look at how many.
    if others.isdisjoint(words) or sum(map(others.__contains__, words)) < _LEAST_IN_PASSAGE:
        return "english"
    return "uncertain" if _holds_foreign_passage(words) else "english"


def _has_function_words(words: Sequence[str]) -> bool:
    """Whether English function words are as many of the words as in running English; mostly the first ones tell."""
    known, enough, found = function_words().__contains__, LEAST_SHARE * len(words), 0
    for start in range(0, len(words), _STRETCH):
        found += sum(map(known, words[start : start + _STRETCH]))
        if found >= enough:
            return True
    return found >= enough


def count_uncertain(texts: Iterable[str]) -> int:
    """How many of the texts are marked uncertain, for the report."""
    return sum(language_of(text) == "uncertain" for text in texts)


def _words(lowered: str) -> list[str]:
    """Runs of letters; for plain ASCII the fast way, since most notes are."""
    return lowered.translate(_BLANKED).split() if lowered.isascii() else _WORD.findall(lowered)


def _looks_foreign(words: Sequence[str]) -> bool:
    """Whether function words of one other language and accents outweigh English words, or hardly a word is known.

    A function word weighs twice, but a particle of names ("de la Cruz", "van der Berg") once, and particles alone are
    evidence only where they are many and dense.
    """
    others = other_languages()
    met = [word for word in words if word in others.any_language]
    best = max(others.by_language.values(), key=lambda known: sum(map(known.__contains__, met)))
    foreign = [word for word in met if word in best]
    rest = [word for word in words if word not in best]
    strange = _not_english(rest)
    english = len(rest) - len(strange)
    accented = sum(not word.isascii() for word in strange)
    particles = sum(word in others.particles for word in foreign)
    if particles < len(foreign):
        enough = len(foreign) > 1 or accented > 1
    else:
        enough = particles > _PARTICLES_OF_A_NAME and 4 * particles > len(words)
    if enough and 2 * len(foreign) - particles + accented > english:
        return True
    return _hardly_known(strange, known=english + len(foreign))


def _not_english(words: Sequence[str]) -> list[str]:
    """Words that are in no English list; of two letters only function words are taken for English."""
    function, everyday = function_words(), everyday_words()
    return [word for word in words if word not in function and (len(word) < 3 or word not in everyday)]


def _hardly_known(strange: Sequence[str], *, known: int) -> bool:
    """Whether nearly all words are in no list at all: a language without a list. Names of drugs are in the lexicon."""
    unknown = [word for word in strange if len(word) > 2]
    total = known + len(unknown)
    if total < _LEAST_UNKNOWN or len(unknown) <= _UNKNOWN_SHARE * total:
        return False
    return sum(word not in words_of_terms() for word in unknown) > _UNKNOWN_SHARE * total


def _holds_foreign_passage(words: Sequence[str]) -> bool:
    """Whether any 30 words in a row (in steps of 15) look foreign."""
    others = other_languages().any_language
    for start in range(0, max(len(words) - PASSAGE // 2, 1), PASSAGE // 2):
        passage = words[start : start + PASSAGE]
        if sum(map(others.__contains__, passage)) >= _LEAST_IN_PASSAGE and _looks_foreign(passage):
            return True
    return False


def _other_script(text: str) -> bool:
    """Whether most letters are of another script than Latin, or so many that they make a passage."""
    found = len(_NOT_LATIN.findall(text))
    return found >= _OTHER_SCRIPT or (found > 1 and 2 * found > sum(map(str.isalpha, text)))
