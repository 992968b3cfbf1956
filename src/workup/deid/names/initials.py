"""Initials with points between them (A.B.C.), as people sign and are written of. Knows no name."""

from __future__ import annotations

from collections.abc import Iterator

from workup.deid.finding import Finding
from workup.deid.names.words import ABBREVIATIONS
from workup.deid.patterns.finder import Finder
from workup.deid.settings import Settings
from workup.deid.text_view import Page

_DOTTED = Finder(r"(?<![\w.&])[A-Z]\.[A-Z]\.[A-Z]\.(?![\w])")


def initials(page: Page, settings: Settings) -> Iterator[Finding]:
    """Three capitals with points that abbreviate nothing known."""
    if not settings.on("name.dotted"):
        return
    for match in _DOTTED.find(page):
        if match[0].replace(".", "").lower() not in ABBREVIATIONS:
            yield Finding(*match.span(), "name_patient", 0.7, "name.dotted", ("initials",))
