"""What msgspec, where it is installed, does for the readers of native corpora and predictions: lines typed at once.

A line is taken only when all of it is as it must be. For every other line, and for all of them without msgspec, the
answer is None, and the reader takes it with its own words for what is wrong; so results and errors are the same
whichever way a line goes. Many lines at once are decoded first and checked as columns, by whoever makes columns.
msgspec keeps the last of two values under one key, so the quotes of a line are counted: a key that occurs twice brings
two more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from operator import attrgetter
from typing import Annotated, Any, Literal

from workup.documents.batch import ABOUT
from workup.documents.document import IDENTIFIERS, Document, Span
from workup.files.jsonlines import parse

_LARGEST = 2**31 - 1
_OPTIONAL = ("text", "subtype", "entity", "identifier")
_FEW_LABELS = 256  # labels that are looked up while decoding
_FEW_SURPRISES = 8  # times that a new label may appear before looking up is given up


def decoder() -> Callable[[bytes], Any]:
    """A function from a line of a corpus to what it holds (`id`, `text`, `spans` and the rest), or None."""
    return _typed(0, _fits) or _none


def prediction_decoder() -> Callable[[bytes], Any]:
    """The same for a line of predictions, which holds `id` and `spans`."""
    return _typed(1, _prediction_fits) or _none


Records = Callable[[Sequence[bytes]], "list[Any] | None"]


def documents_decoder() -> Records:
    """A function from many lines of a corpus to their records, whose spans are not yet checked against their texts.

    None where a line cannot be taken, and always None without msgspec. Records have `text` where spans write their
    surface down, and `subtype`, `entity` and `identifier` only once a line of the file had one of them.
    """
    return _Many(_plain_document_type, partial(_plain_document_type, says_more=True)) if _installed() else _none


def predictions_decoder() -> Records:
    """The same for lines of predictions; places and scores are not yet checked."""
    return _Many(_plain_prediction_type) if _installed() else _none


def _installed() -> bool:
    try:
        import msgspec  # noqa: F401
    except ImportError:
        return False
    return True


def _none(_: Any) -> None:
    """Nothing is taken."""


def each_key_once(lines: Sequence[bytes], records: Sequence[Any]) -> bool:
    """Whether no line holds a key twice, by the number of quotes; where that tells nothing, line by line.

    A field that is written as null, or a quote that is written as its number, leaves the count in doubt.
    """
    return sum([line.count(b'"') for line in lines]) == _quotes(records) or all(map(_once, lines))


def _quotes(records: Sequence[Any]) -> int:
    """The quotes of lines that hold each field of a record once and none that is absent."""
    spans = [span for record in records for span in record.spans]
    count = 4 * len(records) + 6 * len(spans) + _quoted([record.id for record in records])
    count += _quoted([span.label for span in spans])
    inside = 0
    if records and hasattr(records[0], "text"):
        inside = sum([record.text.count('"') for record in records])
        count += 4 * len(records) + inside
        for key in ABOUT:
            count += _optional([*map(attrgetter(key), records)])
        for groups in filter(None, [record.groups for record in records]):
            count += 2 + _quoted([*groups, *(value for value in groups.values() if isinstance(value, str))])
    for key in _OPTIONAL:
        if spans and hasattr(spans[0], key):
            # A surface is a piece of its text, whose quotes are counted.
            count += _optional([*map(attrgetter(key), spans)], plain=key == "text" and not inside)
    if spans and hasattr(spans[0], "score"):
        count += 2 * (len(spans) - [span.score for span in spans].count(None))
    return count


def _optional(values: list[str | None], *, plain: bool = False) -> int:
    """Quotes of a key and its value, where there is one; a plain value has none of its own."""
    there = len(values) - values.count(None)
    if plain or not there:
        return 4 * there
    return 2 * there + _quoted([value for value in values if value is not None])


def _quoted(words: list[str]) -> int:
    return 2 * len(words) + "".join(words).count('"')


def _once(line: bytes) -> bool:
    try:
        parse(line)
    except (ValueError, RecursionError):
        return False
    return True


def document_of(record: Any, labels: dict[str, str]) -> Document:
    """The document of a line that was taken. Equal labels become one object, kept in `labels`: they are few words."""
    one = labels.setdefault
    spans = tuple(Span(s.start, s.end, one(s.label, s.label), s.subtype, s.entity, s.identifier) for s in record.spans)
    about = {key: getattr(record, key) for key in ABOUT}
    return Document(record.id, record.text, spans, groups=record.groups, **about)


# ---- msgspec ---------------------------------------------------------------------------------------------------------


@cache
def _typed(place: int, fits: Callable[[Any], bool]) -> Callable[[bytes], Any] | None:
    try:
        import msgspec
    except ImportError:
        return None
    decode = msgspec.json.Decoder(_types()[place]).decode

    def record(line: bytes) -> Any:
        try:
            found = decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError):  # bad UTF-8 is a ValueError
            return None
        return found if fits(found) and each_key_once([line], [found]) else None

    return record


class _Many:
    """Many lines as records of the first type that fits them all; a type that did not fit is not tried again.

    `types` make the type of a line from that of a label. Labels that have occurred become part of the type: a word of a
    known list is looked up, where any other would be made anew for each span, and hashed again by who counts it.
    """

    def __init__(self, *types: Callable[[Any], Any]) -> None:
        self._types = list(types)
        self._labels: set[str] = set()
        self._known: Callable[[bytes], Any] | None = None
        self._surprises = 0

    def __call__(self, lines: Sequence[bytes]) -> list[Any] | None:
        found = self._records(lines)
        return found if found is None or each_key_once(lines, found) else None

    def _records(self, lines: Sequence[bytes]) -> list[Any] | None:
        found = None if self._known is None else _decoded(lines, self._known)
        if found is not None:
            return found
        for place, make in enumerate(self._types):
            found = _decoded(lines, _decoder(make(str)))
            if found is not None:
                del self._types[:place]
                self._learn({span.label for record in found for span in record.spans})
                break
        return found

    def _learn(self, labels: set[str]) -> None:
        self._labels |= labels
        self._surprises += 1
        few = len(self._labels) <= _FEW_LABELS and self._surprises <= _FEW_SURPRISES
        # A Literal of no label at all cannot be written.
        self._known = _decoder(self._types[0](Literal[tuple(sorted(self._labels))])) if few and self._labels else None


def _decoded(lines: Sequence[bytes], decode: Callable[[bytes], Any]) -> list[Any] | None:
    import msgspec

    try:
        return [decode(line) for line in lines]
    except (msgspec.MsgspecError, ValueError, RecursionError):  # bad UTF-8 is a ValueError
        return None


def _decoder(type: Any) -> Callable[[bytes], Any]:
    import msgspec

    decode: Callable[[bytes], Any] = msgspec.json.Decoder(type).decode
    return decode


def _plain_document_type(label: Any, *, says_more: bool = False) -> Any:
    """Of a document. Its spans are small, since their number is what costs, unless they say more than most do.

    No default is a container, since each would be made anew.
    """
    import msgspec

    word = Annotated[str, msgspec.Meta(min_length=1)]
    more = ("subtype", "entity", "identifier") if says_more else ()
    span: Any = _struct(
        "span", [*_place(label), ("text", str | None, None), *((key, word | None, None) for key in more)]
    )
    about = [(key, word | None, None) for key in ABOUT]
    groups: Any = ("groups", dict[str, str | int | float | bool | None] | None, None)
    return _struct("document", [("id", word), ("text", str), ("spans", list[span]), *about, groups])


def _plain_prediction_type(label: Any) -> Any:
    import msgspec

    found: Any = _struct("found", [*_place(label), ("score", float | None, None)])
    return _struct("prediction", [("id", Annotated[str, msgspec.Meta(min_length=1)]), ("spans", list[found])])


def _place(label: Any) -> list[Any]:
    return [("start", int), ("end", int), ("label", label)]


def _fits(record: Any) -> bool:
    """What types alone do not say; a document without a list of spans goes the careful way."""
    if not record.id or not isinstance(record.spans, list):
        return False
    text = record.text
    length = len(text)
    for span in record.spans:
        start, end = span.start, span.end
        if not 0 <= start < end <= length or not span.label:
            return False
        if span.text is not None and text[start:end] != span.text:
            return False
        if span.identifier is not None and span.identifier not in IDENTIFIERS:
            return False
    return True


def _prediction_fits(record: Any) -> bool:
    return bool(record.id) and all(
        0 <= s.start < s.end <= _LARGEST and s.label and (s.score is None or -1e300 < s.score < 1e300)
        for s in record.spans
    )


@cache
def _types() -> tuple[Any, Any]:
    """Of a document and of a line of predictions. Ids that are numbers, layers and unknown keys go the careful way,
    and so does an empty text, which is refused everywhere but in `text`."""
    import msgspec

    maybe = Annotated[str, msgspec.Meta(min_length=1)] | None
    place = [("start", int), ("end", int), ("label", str)]
    optional = [(key, maybe, None) for key in ("subtype", "entity", "identifier")]
    span: Any = _struct("span", [*place, ("text", str | None, None), *optional])
    found: Any = _struct("found", [*place, ("score", float | int | None, None)])
    about = [(key, maybe, None) for key in ABOUT]
    spans = ("spans", list[span] | msgspec.UnsetType, msgspec.UNSET)
    groups: Any = ("groups", dict[str, str | int | float | bool | None], msgspec.field(default_factory=dict))
    document = _struct("document", [("id", str), ("text", str), spans, *about, groups])
    return document, _struct("prediction", [("id", str), ("spans", list[found])])


def _struct(name: str, fields: list[Any]) -> Any:
    import msgspec

    return msgspec.defstruct(name, fields, gc=False, forbid_unknown_fields=True)
