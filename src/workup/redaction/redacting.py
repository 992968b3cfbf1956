"""Redaction of documents from the spans of any detector. Knows labels and texts; neither detectors nor files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace

from workup.documents.document import Document, Span, check_spans
from workup.documents.labels import SCHEME, branch_of, is_canonical
from workup.errors import InputError, named
from workup.redaction import tokens
from workup.redaction.dates.anchors import Anchor, anchors
from workup.redaction.dates.shifting import read_days
from workup.redaction.linking import normalised
from workup.redaction.patient import Chart, Held, Redacted, surface_of
from workup.redaction.replacements import Kept, merged
from workup.redaction.settings import Settings

Found = tuple[Document, Sequence[Span]]
Watch = Callable[[str, int, int], None]
_CLINICAL = "CLIN"


def redact(
    document: Document,
    spans: Sequence[Span],
    *,
    how: str = "label",
    shift_dates: bool = False,
    key: bytes | None = None,
    rules: bool | None = None,
    number_by: str = "patient",
    whole_weeks: bool = False,
    keep: Iterable[str] = (),
    day_first: bool | None = None,
    mask_with: str = tokens.MASK,
) -> Redacted:
    """Replace what a detector found in one document. `Settings.of` says what each option does.

    >>> note = Document("n1", "Ann Lee, 93, saw Dr. Ray. Ms. Lee lives in 02115.")
    >>> spans = [Span(0, 7, "name_patient"), Span(9, 11, "age_over_89"), Span(21, 24, "name_provider"),
    ...          Span(30, 33, "name_patient"), Span(43, 48, "zip")]
    >>> redact(note, spans).document.text
    '[NAME-1], 90+, saw Dr. [NAME-2]. Ms. [NAME-1] lives in 021.'
    """
    settings = Settings.of(
        how=how,
        shift_dates=shift_dates,
        key=key,
        rules=rules,
        number_by=number_by,
        whole_weeks=whole_weeks,
        keep=keep,
        day_first=day_first,
        mask_with=mask_with,
    )
    return redact_all([(document, spans)], settings)[0]


def redact_all(found: Iterable[Found], settings: Settings, *, watch: Watch | None = None) -> list[Redacted]:
    """Replace what was found in documents, each patient's with one numbering, one shift and one set of surrogates.

    A document without a patient is a patient of its own. Texts that hold tokens or masks are refused where values would
    be invented: a second shift undoes the first, and a surrogate beside a token shows which of the two is real.
    """
    held = [(one, _wanted(one, spans, settings, number)) for number, (one, spans) in enumerate(found, start=1)]
    _check_ids([document for document, _ in held])
    if settings.invents:
        for number, (document, _) in enumerate(held, start=1):
            refuse_redacted(document, number=number)
    groups: dict[str, list[int]] = {}
    for place, (document, _) in enumerate(held):
        groups.setdefault(patient_of(document), []).append(place)
    elsewhere = _Elsewhere(held, groups if settings.how == "surrogate" else {})
    done: dict[int, Redacted] = {}
    for number, (patient, places) in enumerate(groups.items(), start=1):
        chart = Chart(patient, [held[place] for place in places], settings, elsewhere.of(patient), number)
        done |= dict(zip(places, chart.redacted(), strict=True))
        if watch is not None:
            watch("redacting", len(done), len(held))
    return [done[place] for place in range(len(held))]


def patient_of(document: Document) -> str:
    """Whose notes share numbers and shift: the patient's, or, where none is given, the document's own."""
    return f"patient {document.patient}" if document.patient is not None else f"document {document.id}"


def refuse_redacted(document: Document, *, number: int | None = None) -> None:
    """Refuse a text in which something was redacted before."""
    if tokens.is_redacted(document.text):
        raise InputError(
            "surrogates and shifted dates need text that was not redacted before",
            where=named("document", document.id, number=number),
            got="tokens, masks or hashes in it",
            remedy="start from the original (workup restore gives it back), or redact --as label without --shift-dates",
        )


# ---- what is replaced at all -----------------------------------------------------------------------------------------


def _wanted(
    document: Document, spans: Sequence[Span], settings: Settings, number: int
) -> tuple[list[Span], list[Kept]]:
    check_spans(document.text, spans, document=document.id, number=number)
    chosen, kept = [], []
    for span in spans:
        label = span.label
        if label != tokens.UNKNOWN and not is_canonical(label):
            raise InputError(
                "spans to redact must carry canonical labels",
                where=named("document", document.id, number=number),
                got="another label",
                remedy="map the detector's labels first, and give PHI where a label has no canonical name",
            )
        if label in tokens.WORDS and label != tokens.UNKNOWN and branch_of(label) == _CLINICAL:
            kept.append(Kept(span.start, span.end, label, "clinical"))
        elif span.identifier == "no_mask":
            kept.append(Kept(span.start, span.end, label, "marked not to be masked"))
        elif label in settings.keep or (label in SCHEME and branch_of(label) in settings.keep):
            kept.append(Kept(span.start, span.end, label, "policy"))
        else:
            chosen.append(span)
    if settings.shifts and "date" not in settings.keep:
        chosen, kept = _anchored(document.text, chosen, kept, settings)
    return merged(document.text, chosen), kept


_BETWEEN = re.compile(r"[.,]?,?\s{0,2}(?:the\s)?")  # Monday, the 14th of March


def _anchored(text: str, chosen: list[Span], kept: list[Kept], settings: Settings) -> tuple[list[Span], list[Kept]]:
    """What is replaced, with the words of the calendar that no detector looks for but that would reveal the shift.

    A weekday in front of a date joins it and moves with it. Words under another find (a name, a disease) belong to it.
    A policy that lets relative dates stay speaks of notes whose dates are gone, so that it does not keep these.
    """
    found = anchors(text)
    if not any(span.label != tokens.UNKNOWN and branch_of(span.label) == "DATE" for span in chosen):
        found = [one for one in found if not one.doubtful]
    if not found:
        return chosen, kept
    # A name that was found in a part of a holiday (the Day of Groundhog Day) is no name.
    whole = {place for one in found if one.kind == "holiday" for place in range(one.start, one.end)}
    chosen = [one for one in chosen if not _is_part(one, found, whole)]
    taken = bytearray(len(text))  # 1: under a find that is no date, or that has to stay
    dates: dict[int, Span] = {}
    for span in chosen:
        if span.label != tokens.UNKNOWN and branch_of(span.label) == "DATE":
            dates[span.start] = span
        else:
            taken[span.start : span.end] = b"\1" * (span.end - span.start)
    for one in kept:
        if branch_of(one.label) != "DATE" or one.reason != "policy":
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
    added = []
    for anchor in found:
        if any(taken[anchor.start : anchor.end]) or (settings.whole_weeks and anchor.kind in ("weekday", "weekend")):
            continue
        gap = _BETWEEN.match(text, anchor.end)
        date = dates.get(gap.end()) if gap and anchor.kind == "weekday" else None
        if date is not None and read_days(text[anchor.start : date.end]) is not None:
            added.append(replace(date, start=anchor.start))
        elif anchor.kind == "offset":  # the clock stays, its offset goes
            added.append(Span(anchor.start, anchor.end, "time"))
        else:
            added.append(Span(anchor.start, anchor.end, "date_relative"))
    covered = [(one.start, one.end) for one in added]
    kept = [one for one in kept if one.reason != "policy" or not _under(one, covered)]
    return [*chosen, *added], kept


def _is_part(span: Span, found: Sequence[Anchor], whole: Container[int]) -> bool:
    """Whether a find that is no date lies within a longer name of a holiday."""
    if span.start not in whole or (span.label != tokens.UNKNOWN and branch_of(span.label) == "DATE"):
        return False
    return any(
        one.kind == "holiday"
        and one.start <= span.start
        and span.end <= one.end
        and one.end - one.start > span.end - span.start
        for one in found
    )


def _under(one: Kept, places: Sequence[tuple[int, int]]) -> bool:
    return any(one.start < end and start < one.end for start, end in places)


def _check_ids(documents: Sequence[Document]) -> None:
    places: dict[str, int] = {}
    for number, document in enumerate(documents, start=1):
        if document.id in places:
            raise InputError(
                "every document must have an id of its own",
                where=named("document", document.id, number=number),
                got=f"the id of document {places[document.id]:,} again",
            )
        places[document.id] = number


class _Elsewhere:
    """Values detected in the file, and in how many patients' notes each; `of` a patient, those of all others."""

    def __init__(self, held: Sequence[Held], groups: Mapping[str, Sequence[int]]) -> None:
        self._own = {
            patient: frozenset(
                normalised(surface_of(held[place][0], span)) for place in places for span in held[place][1][0]
            )
            for patient, places in groups.items()
        }
        self._counts = Counter(value for values in self._own.values() for value in values)

    def of(self, patient: str) -> _Others:
        return _Others(self._counts, self._own.get(patient, frozenset()))


class _Others:
    def __init__(self, counts: Mapping[str, int], own: frozenset[str]) -> None:
        self._counts, self._own = counts, own

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and self._counts.get(value, 0) > (value in self._own)
