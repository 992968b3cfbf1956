"""Notes of generated patients with true spans, and arbitrary texts with arbitrary spans, for tests of redaction."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from hypothesis import strategies as st

from workup.documents.document import Document, Span
from workup.documents.labels import NAMES, branch_of
from workup.values import LEAVES, Patient, date_value, make
from workup.values.draws import Chance

KEY = b"0123456789abcdef0123456789abcdef"
LABELS = (*(name for name in NAMES), "PHI")
REPLACED = tuple(leaf for leaf in LEAVES if branch_of(leaf) not in ("CLIN", "DATE", "AGE"))


def marked(
    *parts: str | tuple[str, str], id: str = "n1", patient: str | None = None, time: str | None = None
) -> Document:
    """A document of plain words and (value, label) pairs; its golds are the spans of the values."""
    text, spans = "", []
    for part in parts:
        words, label = (part, "") if isinstance(part, str) else part
        if label:
            spans.append(Span(len(text), len(text) + len(words), label))
        text += words
    return Document(id, text, tuple(spans), patient=patient, time=time)


def note(seed: int, *, leaves: Sequence[str] = REPLACED, id: str = "n1", patient: str | None = None) -> Document:
    """A note with a value of each leaf, drawn from one generated patient."""
    person = Patient.of(seed, 0)
    chance = Chance.of(seed, "redaction", id)
    parts: list[str | tuple[str, str]] = ["Note. "]
    for leaf in leaves:
        value = make(leaf, patient=person, chance=chance, when=person.visit)
        parts += [(value.text, leaf), " was noted; "]
    return marked(*parts, "end.", id=id, patient=patient)


def dated(
    days: Sequence[datetime.date], forms: Sequence[str], *, id: str = "n1", patient: str | None = None
) -> Document:
    """A note of dates, each in a form of the generator."""
    person = Patient.of(1, 0)
    chance = Chance.of(1, "dates")
    parts: list[str | tuple[str, str]] = []
    for day, form in zip(days, forms, strict=True):
        parts += ["Seen ", (date_value(day, patient=person, chance=chance, form=form).text, "date"), ". "]
    return marked(*parts, id=id, patient=patient)


@st.composite
def arbitrary(draw: st.DrawFn) -> tuple[Document, list[Span]]:
    """Any text, with spans anywhere in it: overlapping, nested, on blanks, under any label."""
    text = draw(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=60))
    places = st.tuples(st.integers(0, len(text) - 1), st.integers(1, 20), st.sampled_from(LABELS))
    spans = [
        Span(start, min(len(text), start + size), label) for start, size, label in draw(st.lists(places, max_size=8))
    ]
    return Document("any", text, tuple(spans)), spans
