"""Who appears in a patient's notes: the relative who speaks, the author, and who has which role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workup.values import Patient, Provider

if TYPE_CHECKING:
    from workup.corpora.generate.notes.note_writer import Scribe

_AUTHORS: Mapping[str, str] = {
    "radiology_report": "radiologist", "pathology_report": "pathologist", "operative_report": "surgeon",
    "psychiatry_note": "psychiatrist", "nursing_note": "nurse",
}  # fmt: skip


def relative_of(patient: Patient, age: int) -> tuple[int, str]:
    """Which relative speaks in the notes, and by which word: a child has no grandson, a centenarian no mother."""
    at = int(patient.digits[9]) % len(patient.relatives)
    relative = patient.relatives[at]
    woman = relative.person.sex == "F"
    if age < 18 and relative.relation not in ("mother", "father", "aunt", "uncle", "sister", "brother", "neighbor"):
        return at, "mother" if woman else "father"
    if age >= 70 and relative.relation in ("mother", "father", "aunt", "uncle"):
        return at, "daughter" if woman else "son"
    if age < 40 and relative.relation in ("grandson", "daughter", "son"):
        return at, "sister" if woman else "brother"
    return at, relative.relation


def author_of(scribe: Scribe) -> Provider:
    """Who writes a note of this type."""
    return (
        _with_role(scribe.patient, _AUTHORS.get(scribe.visit.type.name, "attending")) or scribe.bystander.providers[0]
    )


def provider_of(scribe: Scribe, role: str) -> tuple[Provider, Patient]:
    """Who has a role, and whose provider that is; a role that is not filled is taken by a colleague."""
    patient = scribe.patient
    if role == "author":
        own = scribe.author in patient.providers
        return scribe.author, patient if own else scribe.bystander
    wanted = {"attending": "attending", "nurse": "nurse", "surgeon": "surgeon", "pcp": "primary care",
              "referrer": "primary care"}.get(role, "")  # fmt: skip
    found = _with_role(patient, wanted)
    if found is not None and (found is not scribe.author or role in ("surgeon", "nurse")):
        return found, patient
    colleague = scribe.bystander if scribe.bystander.providers[0] is not scribe.author else scribe.second
    return (colleague.providers[0], colleague) if role != "nurse" else (colleague.providers[2], colleague)


def _with_role(patient: Patient, role: str) -> Provider | None:
    return next((provider for provider in patient.providers if provider.role == role), None)
