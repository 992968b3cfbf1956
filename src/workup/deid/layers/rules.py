"""The layer of rules: shapes, labels, days, ages, streets, places, organisations and names. Needs no model."""

from __future__ import annotations

from workup.deid.cues import CueBook
from workup.deid.dates.ages import ages
from workup.deid.dates.finder import dates
from workup.deid.finding import Finding
from workup.deid.identifiers.labelled_values import labelled
from workup.deid.identifiers.pattern_rules import shapes
from workup.deid.listed import Listed
from workup.deid.names.finder import initials, names
from workup.deid.organisations.finder import Organisations
from workup.deid.places.addresses import addresses, below, widened
from workup.deid.places.counties import counties
from workup.deid.places.streets import Streets
from workup.deid.places.towns import places, towns_after
from workup.deid.settings import Settings
from workup.deid.text_view import Page


class Rules:
    """Proposes what the rules find; findings may overlap and may be weak."""

    name = "rules"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._cues, self._streets, self._organisations = (
            CueBook.of(settings),
            Streets(settings),
            Organisations(settings),
        )
        self._listed = Listed(settings)
        self.version = f"rules {settings.version} {settings.digest}"

    def propose(self, page: Page) -> list[Finding]:
        """All that any rule finds on a page."""
        settings = self._settings
        cues = self._cues.find(page)
        organisations = list(self._organisations.find(page, cues, settings))
        streets = list(widened(page, [*self._streets.find(page, cues, settings), *addresses(page, settings)]))
        return [
            *shapes(page, settings),
            *labelled(page, cues, settings),
            *dates(page, cues, settings),
            *ages(page, settings),
            *streets,
            *towns_after(page, streets, settings.not_names),
            *below(page, streets, settings),
            *counties(page, settings),
            *places(page, cues, settings),
            *organisations,
            *towns_after(page, organisations, settings.not_names, known=True),
            *names(page, cues, settings),
            *initials(page, settings),
            *self._listed.nations(page, settings),
            *self._listed.denied(page),
        ]
