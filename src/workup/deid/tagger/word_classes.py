"""What the lists know of a word, as one small number: in everyday English, in clinical terms, borne by people, a place.

The tagger is told, since three small layers cannot hold a hundred thousand names; it still decides by what stands
around the word, and part of its training went without."""

from __future__ import annotations

from functools import lru_cache

from workup.deid import gazetteer
from workup.deid.known_words import clinical_words
from workup.text.unicode import unaccented

CLASSES = 32
_BORNE = 2.75  # log10 of bearers from which a word counts as a given name or a surname
_PEOPLED = 4.0  # log10 of inhabitants from which it counts as a place


@lru_cache(maxsize=1 << 16)
def class_of(word: str) -> int:
    """The lists that hold a word, as a sum: 1 everyday, 2 clinical, 4 given name, 8 surname, 16 place.

    >>> class_of("Hope") & 1, class_of("Hope") & 4, class_of("metformin") & 2, class_of("Trevino") & 8
    (1, 4, 2, 8)
    """
    if not word.isalpha():
        return 0
    plain = unaccented(word).lower()
    borne, place = gazetteer.people().get(plain, gazetteer.UNKNOWN), gazetteer.places().get(plain)
    return (
        (plain in gazetteer.everyday())
        + 2 * (plain in clinical_words())
        + 4 * (borne.given >= _BORNE)
        + 8 * (borne.surname >= _BORNE)
        + 16 * (place is not None and place.people >= _PEOPLED)
    )
