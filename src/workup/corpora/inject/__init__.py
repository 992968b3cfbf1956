"""PHI put into a user's own text, with every offset true and the source unchanged between the insertions."""

from __future__ import annotations

from workup.corpora.inject.document import Injected, Injector
from workup.corpora.inject.insertion_points import PatternSite, Place, SiteKind, default_sites, find_sites
from workup.corpora.inject.phrases import Phrase
from workup.corpora.inject.residual_phi import UNKNOWN, sweep
from workup.corpora.inject.sources import read_source

__all__ = [
    "UNKNOWN",
    "Injected",
    "Injector",
    "PatternSite",
    "Phrase",
    "Place",
    "SiteKind",
    "default_sites",
    "find_sites",
    "read_source",
    "sweep",
]
