"""The layer of rules: shapes, labels, days, ages, streets, places, bodies and names. Needs no model."""

from __future__ import annotations

from workup.deid.addresses import addresses, below, widened
from workup.deid.ages import ages
from workup.deid.counties import counties
from workup.deid.cues import CueBook
from workup.deid.dates import dates
from workup.deid.finding import Finding
from workup.deid.geo import places, towns_behind
from workup.deid.initials import initials
from workup.deid.labelled import labelled
from workup.deid.listed import Listed
from workup.deid.names import names
from workup.deid.nations import Nations
from workup.deid.organisations import Organisations
from workup.deid.page import Page
from workup.deid.settings import Settings
from workup.deid.shapes import shapes
from workup.deid.streets import Streets


class Rules:
    """Proposes what the rules find; findings may overlap and may be weak."""

    name = "rules"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._cues, self._streets, self._bodies = CueBook.of(settings), Streets(settings), Organisations(settings)
        self._listed, self._nations = Listed(settings), Nations(settings)
        self.version = f"rules {settings.version} {settings.digest}"

    def propose(self, page: Page) -> list[Finding]:
        """All that any rule finds on a page."""
        settings = self._settings
        cues = self._cues.find(page)
        bodies = list(self._bodies.find(page, cues, settings))
        streets = list(widened(page, [*self._streets.find(page, cues, settings), *addresses(page, settings)]))
        return [
            *shapes(page, settings),
            *labelled(page, cues, settings),
            *dates(page, cues, settings),
            *ages(page, settings),
            *streets,
            *towns_behind(page, streets, settings.not_names),
            *below(page, streets, settings),
            *counties(page, settings),
            *places(page, cues, settings),
            *bodies,
            *towns_behind(page, bodies, settings.not_names, known=True),
            *names(page, cues, settings),
            *initials(page, settings),
            *self._nations.find(page, settings),
            *self._listed.find(page),
        ]
