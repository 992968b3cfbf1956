"""A corpus of notes: any of its documents can be made by itself, from the seed, its number and the settings alone."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from workup.corpora import writer
from workup.corpora.generate.notes import settings, visits
from workup.corpora.generate.notes.compiled import wording
from workup.corpora.generate.notes.grammar import Family
from workup.corpora.generate.notes.note import compose
from workup.corpora.generate.notes.note_writer import Scribe
from workup.corpora.generate.notes.settings import LENGTHS, SWAPS, NoteSettings
from workup.documents.builder import Written
from workup.documents.document import Document
from workup.documents.labels import branch_of
from workup.values import Patient, name_pool, versions
from workup.values.draws import Chance
from workup.version import __version__

_BYSTANDERS = 8_000_000  # numbers of people who are met in the notes of others
_MET = 40
_FREE: frozenset[str] = frozenset()
# Types that make sense without a word about who it is; forms and letters do not.
_FREE_TYPES = frozenset((
    "radiology_report", "progress_note", "nursing_note", "lab_report", "consultation", "history_and_physical",
    "pathology_report", "operative_report", "search_query", "message", "emergency_note", "psychiatry_note",
    "telehealth_transcript",
))  # fmt: skip


def generate(
    count: Annotated[int, Field(ge=1, le=9_000_000, description="Notes")],
    *,
    seed: int = 0,
    length: Annotated[str, Field(description="Length of a note: short, medium or long")] = "medium",
    density: Annotated[str, Field(description="How densely identifiers stand: low, medium or high")] = "medium",
    ambiguity: Annotated[str, Field(description="How hard they are to tell: none, standard or high")] = "standard",
    as_of: Annotated[str | datetime.date | None, Field(description="Last day that notes speak of")] = None,
    types: Annotated[Sequence[str], Field(description="Types of note by name; all when empty")] = (),
    specialties: Annotated[Sequence[str], Field(description="Specialties by name; all when empty")] = (),
    leaves: Annotated[Sequence[str] | None, Field(description="Kinds of identifier; all when absent")] = None,
    swap: Annotated[
        str, Field(description="Every note again under other names, by origin, sex or both; none for once")
    ] = "none",
    phi_free: Annotated[float, Field(ge=0, le=1, description="Share of notes without any identifier")] = 0.08,
) -> Notes:
    """Clinical notes with every identifier and many clinical terms as gold.

    >>> note = next(generate(1, seed=7).documents())
    >>> all(note.text[span.start : span.end].strip() for span in note.spans), note.id
    (True, 'note-7-0000000')
    """
    return Notes(
        settings.checked(
            count=count,
            seed=seed,
            length=length,
            density=density,
            ambiguity=ambiguity,
            as_of=as_of,
            types=types,
            specialties=specialties,
            leaves=leaves,
            swap=swap,
            phi_free=phi_free,
        )
    )


@dataclass(frozen=True)
class Notes:
    """A corpus that is made as it is read: nothing is held but the settings."""

    settings: NoteSettings

    def __len__(self) -> int:
        return self.settings.count

    @property
    def name(self) -> str:
        """The name of the corpus in reports."""
        return "notes"

    @cached_property
    def header(self) -> dict[str, Any]:
        """What every sidecar says of how its document was made."""
        asked = self.settings
        return {
            "phiDensity": asked.density,
            "ambiguityLevel": asked.ambiguity,
            "length": asked.length,
            "seed": asked.seed,
            "libraries": {"workup": __version__, "notes": settings.VERSION, **versions()},
        }

    def written(self, number: int) -> Written:
        """The document with this number, and its boilerplate."""
        return _written(self.settings, number)

    def documents(self) -> Iterator[Document]:
        """All documents in order."""
        for number in range(self.settings.count):
            yield self.written(number).document

    def write(
        self, out: Path, *, workers: int = 1, watch: Callable[[str, int, int], None] | None = None
    ) -> tuple[Path, ...]:
        """One JSONL of the corpus and a sidecar for each document; whole, or not at all."""
        return writer.write_corpus(
            out,
            maker=partial(_maker, self.settings),
            count=self.settings.count,
            corpus=self.name,
            config=self.header,
            as_of=self.settings.as_of,
            workers=workers,
            watch=watch,
        )


def _maker(asked: NoteSettings) -> Callable[[int], Written]:
    """What a worker makes documents with."""
    return partial(_written, asked)


def _written(asked: NoteSettings, number: int) -> Written:
    variants = SWAPS[asked.swap]
    base, variant = divmod(number, len(variants))
    visit = _visit(asked, base)
    chance = Chance.of(asked.seed, "notes", "text", base)
    free = chance.uniform() < asked.phi_free and visit.type.name in _FREE_TYPES
    place = chance.uniform()  # drawn in any case: a swap changes names and nothing else
    origin, sex = variants[variant]
    if asked.swap != "none":
        visit = _renamed(visit, origin, sex, int(place * len(name_pool(origin="white", sex="F"))))
    families = visit.type.families
    family = chance.weighted(families, list(accumulate(one.weight for one in families)))
    words = wording(_FREE if free else asked.leaves, family.phrasing)
    scribe = Scribe(
        visit,
        number=base,
        chance=chance,
        manner=asked.manner,
        wording=words,
        bystanders=_bystanders(asked.seed, asked.ambiguity),
        neutral=asked.swap in ("sex", "both"),
        style=family.style,
    )
    pieces = compose(scribe, family, wording=words, characters=LENGTHS[asked.length] * visit.type.length)
    identified = any(branch_of(span.label) != "CLIN" and span.identifier != "no_mask" for span in pieces.spans)
    groups = _groups(visit, family, identified=identified)
    if asked.swap != "none":
        groups["pair"] = f"pair-{base:07d}"
    return pieces.written(
        f"note-{asked.seed}-{number:07d}",
        patient=f"{visit.patient.id}-{variant}" if len(variants) > 1 else visit.patient.id,
        site=visit.site_style.site,
        time=visit.day.isoformat(),
        groups=groups,
        type=visit.type.name,
        specialty=visit.specialty.name,
    )


def _visit(asked: NoteSettings, base: int) -> visits.Visit:
    patient, at, size = visits.place_of(asked.seed, base)
    return _visits(asked, patient, size)[at]


@lru_cache(maxsize=16)
def _visits(asked: NoteSettings, patient: int, size: int) -> tuple[visits.Visit, ...]:
    return visits.visits(asked.seed, patient, size, asked.wanted)


@lru_cache(maxsize=4)
def _bystanders(seed: int, ambiguity: str) -> tuple[Patient, ...]:
    return tuple(Patient.of(seed, _BYSTANDERS + at, ambiguity=ambiguity) for at in range(_MET))


def _renamed(visit: visits.Visit, origin: str | None, sex: str | None, at: int) -> visits.Visit:
    """The same visit of a patient with another name, of the same place in every pool."""
    person = visit.patient.person
    pool = name_pool(origin=origin or person.origin, sex=sex or person.sex)
    return replace(visit, patient=visit.patient.renamed(replace(pool[at], decade=person.decade)))


def _groups(visit: visits.Visit, family: Family, *, identified: bool) -> dict[str, str]:
    person, age = visit.patient.person, visit.patient.age_at(visit.day)
    return {
        "sex": person.sex,
        "origin": person.origin,
        "decade": f"{person.decade}s",
        "popularity": person.popularity,
        "ambiguous_name": "yes" if person.ambiguous else "no",
        "age": next(band for low, band in _BANDS if age >= low),
        "family": f"{visit.type.name}/{family.name}",
        "phrasing": family.phrasing,
        "style": family.style,
        "phi": "present" if identified else "none",
    }


_BANDS = ((90, "90+"), (70, "70-89"), (50, "50-69"), (18, "18-49"), (0, "0-17"))
