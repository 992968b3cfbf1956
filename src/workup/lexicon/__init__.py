"""Clinical vocabularies from sources that may be passed on, and one fast extractor of their terms.

Nothing is read at import; the vocabularies are read once, when the first extractor is made.
"""

from __future__ import annotations

from workup.lexicon.extractor import ENGINES, Extractor, Term
from workup.lexicon.sources import CategoryError, Source, measured_error, phenotypes, provenance
from workup.lexicon.terms import CATEGORIES

__all__ = [
    "CATEGORIES",
    "ENGINES",
    "CategoryError",
    "Extractor",
    "Source",
    "Term",
    "measured_error",
    "phenotypes",
    "provenance",
]
