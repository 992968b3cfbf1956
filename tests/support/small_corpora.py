"""Small corpora for tests: documents as lists of spans, made into a matchup, and strategies that draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tests.support.brute_force import MUST, Found, Gold, Scheme
from workup.documents.document import SpanArrays
from workup.tasks.spans.counting.counts import Counts, count
from workup.tasks.spans.counting.matchup import Level, Matchup, Setting

BRANCH = {"name_patient": "NAME", "name_provider": "NAME", "date": "DATE", "city": "GEO", "zip": "GEO", "GEO": "GEO"}
LABELS = (*BRANCH, "FOO")  # GEO is coarse, FOO is unmapped
SCHEME = Scheme(leaf={name: name for name in BRANCH if name != "GEO"}, branch=BRANCH)
SPAN_MODES = (
    "strict", "exact", "iou:0.1", "iou:0.25", "iou:0.5", "iou:0.9", "iou:1", "overlap", "partial", "i2b2",
    "cover:0.3", "cover:0.8", "cover:1", "full_mask", "published:gold50",
)  # fmt: skip
UNIT_MODES = ("char", "token")
POLICY = "p"


class Note(NamedTuple):
    """A document with what should and what was found."""

    text: str
    golds: Sequence[Gold]
    found: Sequence[Found]


def arrays(spans: Sequence[tuple[int, int, int, str]]) -> SpanArrays:
    """Spans in the order given, so that nothing is sorted for the kernel."""
    labels = tuple(dict.fromkeys(span[3] for span in spans))
    columns = [np.array([span[i] for span in spans], dtype=np.int32) for i in range(3)]
    codes = np.array([labels.index(span[3]) for span in spans], dtype=np.int32)
    return SpanArrays(columns[0], columns[1], columns[2], codes, labels)


def matchup(
    notes: Sequence[Note],
    *,
    scheme: Scheme = SCHEME,
    with_text: bool = True,
    answered: Sequence[bool] | None = None,
    unknown: Sequence[Sequence[Found]] = (),
    decisions: Mapping[str, Sequence[int]] | None = None,
) -> Matchup:
    """Notes as a matchup under one policy that the golds carry themselves."""
    golds = [(i, g.start, g.end, g.label) for i, note in enumerate(notes) for g in note.golds]
    found = [(i, p.start, p.end, p.label) for i, note in enumerate(notes) for p in note.found]
    found += [(len(notes) + i, p.start, p.end, p.label) for i, some in enumerate(unknown) for p in some]
    own = {POLICY: [g.decision for note in notes for g in note.golds]}
    rows = {name: kind for name, kind in scheme.branch.items() if kind}
    return Matchup(
        arrays(golds),
        arrays(found),
        len(notes),
        {name: np.array(codes, dtype=np.int8) for name, codes in (decisions or own).items()},
        levels=(Level("leaf", scheme.leaf), Level("branch", scheme.branch, rows), Level("phi")),
        texts=[note.text for note in notes] if with_text else None,
        answered=None if answered is None else np.array(answered),
        ignored=scheme.ignored,
    )


def counted(notes: Sequence[Note], modes: Sequence[str] = (*SPAN_MODES, *UNIT_MODES), **given: Any) -> Counts:
    """All levels of some modes."""
    found = matchup(notes, **given)
    if given.get("with_text") is False:
        modes = [mode for mode in modes if mode not in ("full_mask", "token")]
    return count(found, found.settings(modes))


def setting(counts: Counts, mode: str, level: str = "phi") -> Setting:
    """One setting of those counted."""
    return next(one for one in counts.settings if one.mode.name == mode and one.level == level)


# ---- strategies ------------------------------------------------------------------------------------------------------

_ALPHABET = "abcXYZ09 .-,\n_é汉😀\u0301"


@st.composite
def texts(draw: st.DrawFn, *, low: int = 0, high: int = 24) -> str:
    """Letters, digits, blanks, punctuation and characters beyond one byte."""
    return draw(st.text(alphabet=_ALPHABET, min_size=low, max_size=high))


@st.composite
def notes(
    draw: st.DrawFn,
    *,
    most: int = 4,
    labels: Sequence[str] = LABELS,
    decisions: Sequence[int] = (0, 1, 2),
    strays: bool = True,
) -> Note:
    """A note with overlapping, nested, touching and repeated spans; golds hold something solid."""
    text = draw(texts())
    solid = [i for i, c in enumerate(text) if c.isalnum()]
    golds = []
    for _ in range(draw(st.integers(0, most)) if solid else 0):
        core = draw(st.sampled_from(solid))
        start, end = draw(st.integers(max(0, core - 6), core)), draw(st.integers(core + 1, min(len(text), core + 7)))
        golds.append(Gold(start, end, draw(st.sampled_from(labels)), draw(st.sampled_from(decisions))))
    found = []
    for _ in range(draw(st.integers(0, most))):
        if golds and draw(st.booleans()):  # near a gold, or exactly on it
            near = draw(st.sampled_from(golds))
            start = near.start + draw(st.sampled_from((0, 0, 0, -1, 1, 2)))
            end = near.end + draw(st.sampled_from((0, 0, 0, -1, 1, 3)))
            label = draw(st.sampled_from((near.label, near.label, *labels)))
        else:
            start, label = draw(st.integers(0, len(text))), draw(st.sampled_from(labels))
            end = start + draw(st.integers(1, 9))
        if strays or 0 <= start < end <= len(text):
            found.append(Found(start, end, label))
    return Note(text, golds, found)


def must_only() -> st.SearchStrategy[Note]:
    """Notes in which every gold must be masked and every prediction lies in the text."""
    return notes(decisions=(MUST,), strays=False)
