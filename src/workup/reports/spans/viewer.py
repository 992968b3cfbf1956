"""The documents of a record for reading: shapes with golds and predictions marked, as pieces that a page lays out.

Text is shown only where the record says that it holds patient text; a shape has one sign for each character."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workup.errors import visible
from workup.report import Report
from workup.reports.layout import Section, Table
from workup.reports.spans.setting import Primary, is_spans
from workup.reports.wording import number, plural

LONGEST = 20_000  # characters of one document that a page shows
MOST = 50
_LABEL = 40

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """How a piece looks and reads: a sign and a word beside the colour, which is never alone."""

    name: str
    sign: str
    word: str
    means: str


KINDS = {
    kind.name: kind
    for kind in (
        Kind("miss", "✗", "missed", "must be masked and stayed visible here"),
        Kind("part", "◐", "missed, masked here", "a part of a missed identifier that is masked"),
        Kind("hit", "✓", "found", "must be masked and was"),
        Kind("false", "!", "false alarm", "masked for nothing"),
        Kind("edge", "+", "beyond the ends", "masked beyond the ends of an identifier that was found"),
        Kind("may", "~", "may be masked", "counts neither way"),
        Kind("keep", "=", "must stay", "a term that must not be masked, and was not"),
    )
}


@dataclass(frozen=True)
class Piece:
    """A stretch of a document; plain text has no kind."""

    text: str
    kind: Kind | None = None
    tag: str = ""
    said: str = ""
    stop: str = ""  # id of the piece, where a reader can jump to it


@dataclass(frozen=True)
class Shown:
    """A document of the viewer."""

    id: str
    name: str
    facts: str
    pieces: tuple[Piece, ...]
    misses: int
    cut: str = ""


def documents(report: Report) -> list[Shown]:
    """The documents that the record holds, as pieces."""
    internal = report.results.get("internal")
    rows = internal.tables.get("documents") if internal is not None and is_spans(report) else None
    return [_document(i, row, text=report.contains_phi) for i, row in enumerate((rows or ())[:MOST], start=1)]


def sections(report: Report) -> Iterator[Section]:
    """A list of the documents; on a page the viewer stands below it."""
    internal = report.results.get("internal")
    rows = (internal.tables.get("documents") or ()) if internal is not None else ()
    if not rows:
        return
    held = list(rows)[:MOST]
    body = []
    for place, row in enumerate(held, start=1):
        golds, alarms = _tallies(row)
        found, missed = golds.get("hit", 0), golds.get("miss", 0)
        size = number(len(row.get("shape") or row.get("text") or ""))
        about = (_name(place, row, text=report.contains_phi), str(row.get("type") or "–"), size)
        body.append((*about, number(found), number(missed), number(alarms)))
    primary = Primary.of(report)
    what = (
        "their text"
        if report.contains_phi
        else "shapes: X and x stand for letters, 9 for digits, and no word can be read"
    )
    said = (
        f"{plural(len(held), 'document')}, those with misses first, judged at {primary.mode}, level {primary.level}. "
        f"The page shows them as {what}.",
    )
    heads = ("document", "kind", "characters shown", "marks found", "marks missed", "marks of false alarm")
    yield Section("Documents", said, (Table(heads, tuple(body), "Documents that can be looked at"),), key="documents")


def _name(place: int, row: Row, *, text: bool) -> str:
    """A number; the id of a document may tell who the patient is, so it is shown with the text only."""
    name = f"Document {row.get('number', place)}"
    return f"{name}: {visible(str(row['id']))[:80]}" if text and row.get("id") is not None else name


def _tallies(row: Row) -> tuple[dict[str, int], int]:
    """Stretches of golds by outcome, and of false alarms; a span that is cut into several runs counts once."""
    golds: dict[str, int] = {}
    alarms = 0
    before: Row = {"end": -1, "golds": (), "predictions": ()}
    for run in row.get("runs") or ():
        joined = run["start"] == before["end"]
        for gold in run["golds"]:
            if not (joined and gold in before["golds"]):
                golds[gold["outcome"]] = golds.get(gold["outcome"], 0) + 1
        for prediction in run["predictions"]:
            if prediction["outcome"] == "false_alarm" and not (joined and prediction in before["predictions"]):
                alarms += 1
        before = run
    return golds, alarms


def _document(place: int, row: Row, *, text: bool) -> Shown:
    whole = str(row.get("shape") or "")
    if text and isinstance(row.get("text"), str):
        whole = row["text"]
    shown = whole[:LONGEST]
    golds, alarms = _tallies(row)
    missed = golds.get("miss", 0)
    facts = [f"{number(len(whole))} characters", f"{number(golds.get('hit', 0))} found", f"{number(missed)} missed"]
    facts.append(plural(alarms, "false alarm"))
    if row.get("type"):
        facts.insert(0, visible(str(row["type"]))[:80])
    cut = f"{number(len(whole) - LONGEST)} characters more are not shown." if len(whole) > LONGEST else ""
    pieces = tuple(_pieces(f"doc-{place}", shown, row.get("runs") or ()))
    stops = sum(1 for piece in pieces if piece.stop)
    return Shown(f"doc-{place}", _name(place, row, text=text), " · ".join(facts), pieces, stops, cut)


def _pieces(id: str, text: str, runs: Sequence[Row]) -> Iterator[Piece]:
    """Runs in order with what lies between them; each character once, whatever the record holds."""
    at, stops = 0, 0
    before: Row = {"end": -1, "golds": (), "predictions": ()}
    for run in sorted(runs, key=lambda one: one["start"]):
        start, end = max(at, int(run["start"])), min(len(text), int(run["end"]))
        if start >= end:
            continue
        if start > at:
            yield Piece(_lines(text[at:start]))
        kind = kind_of(run)
        if kind is None:
            yield Piece(_lines(text[start:end]))
        else:
            missed = [gold for gold in run["golds"] if gold["outcome"] == "miss"]
            joined = run["start"] == before["end"] and all(gold in before["golds"] for gold in missed)
            stops += bool(missed and not joined)
            stop = f"{id}-miss-{stops}" if missed and not joined else ""
            yield Piece(_lines(text[start:end]), kind, _tag(kind, run), _said(kind, run), stop)
        at, before = end, run
    if at < len(text):
        yield Piece(_lines(text[at:]))


def kind_of(run: Row) -> Kind | None:
    """The gravest thing that is true of a stretch."""
    golds = {gold["outcome"] for gold in run["golds"]}
    predictions = {prediction["outcome"] for prediction in run["predictions"]}
    masked = bool(predictions - {"removed"})
    if "miss" in golds:
        return KINDS["part" if masked else "miss"]
    if "hit" in golds:
        return KINDS["hit"]
    if "false_alarm" in predictions:
        return KINDS["false"]
    if golds & {"may", "ignored"} or "neutral" in predictions:
        return KINDS["may"]
    if "must_not" in golds:
        return KINDS["false" if masked else "keep"]
    return KINDS["edge"] if masked else None


def _tag(kind: Kind, run: Row) -> str:
    """The sign and the types; an arrow where the system gave another type than the gold's."""
    golds, predictions = _labels(run["golds"]), _labels(run["predictions"])
    if golds and predictions and golds != predictions:
        return f"{kind.sign} {golds} → {predictions}"
    return f"{kind.sign} {golds or predictions}"


def _said(kind: Kind, run: Row) -> str:
    """The same for a screen reader."""
    golds, predictions = _labels(run["golds"]), _labels(run["predictions"])
    taken = f", masked as {predictions}" if golds and predictions and golds != predictions else ""
    return f"{kind.word}, {golds or predictions}{taken}: "


def _labels(marks: Sequence[Row]) -> str:
    names = dict.fromkeys(visible(str(mark["label"]))[:_LABEL] for mark in marks)
    return ", ".join(names)


def _lines(text: str) -> str:
    """Line ends stay; every other character that could steer the page or hide is made visible."""
    return "\n".join(
        visible(line.replace("\t", "    ").replace("\xa0", " "))
        for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    )
