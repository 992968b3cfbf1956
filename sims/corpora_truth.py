"""What must be true of a document whose truth is known, judged from its text and by the rules of others.

Nothing here asks the generator what it meant to write: a surface is what stands under a gold."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from stdnum import iban, imei, luhn
from stdnum.us import ssn

from workup.corpora.formats.spans.any_format import SpanFormat
from workup.documents.document import Document, Span
from workup.documents.labels import branch_of, is_canonical
from workup.documents.records import all_spans
from workup.errors import InputError, show_ids

# ---- places ----------------------------------------------------------------------------------------------------------


def misplaced(document: Document, *, noisy: bool = False) -> Iterator[str]:
    """What is wrong with the place of each gold: an offset that is one off shows a blank or cuts a word.

    >>> list(misplaced(Document("1", "by Rose today", (Span(3, 7, "name_provider"),))))
    []
    >>> list(misplaced(Document("1", "by Rose today", (Span(2, 6, "name_provider"), Span(9, 20, "date")))))
    ['a blank at an end', 'a cut word', 'outside its text']
    """
    text = document.text
    for span in all_spans(document):
        if not 0 <= span.start < span.end <= len(text):
            yield "outside its text"
            continue
        surface = text[span.start : span.end]
        if surface != surface.strip():
            yield "a blank at an end"
        if _cuts(text, span.start) or (_cuts(text, span.end) and not _aged(span, text, noisy)):
            yield "a cut word"


def _cuts(text: str, place: int) -> bool:
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


def _aged(span: Span, text: str, noisy: bool) -> bool:
    """As in 54yo, or S4vo after a scan: the number alone is the age."""
    age = is_canonical(span.label) and branch_of(span.label) == "AGE"
    return age and (noisy or (text[span.end - 1].isdigit() and text[span.end] == "y"))


def surfaces(document: Document) -> list[tuple[str, str]]:
    """Label and text of each gold, in order of place."""
    ordered = sorted(document.spans, key=lambda span: (span.start, span.end, span.label))
    return [(span.label, document.text[span.start : span.end]) for span in ordered]


def between(document: Document) -> list[str]:
    """The text cut at every border of a gold."""
    borders = sorted({0, len(document.text), *(edge for span in document.spans for edge in (span.start, span.end))})
    return [document.text[start:end] for start, end in pairwise(borders)]


# ---- numbers ---------------------------------------------------------------------------------------------------------

_RESERVED = re.compile(r"(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid)$")
_DOCUMENTS = [
    ipaddress.ip_network(block)
    for block in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20")
]
_TEST_CARDS = ("400000", "411111", "424242", "555555", "510510", "222300", "378282", "371449", "601111")
_FREE_MAC = ("00005E0053", "02005E1000", "01005E9010")  # RFC 7042, for documents
_VIN_LETTERS = {
    letter: value
    for value, letters in enumerate(("AJ", "BKS", "CLT", "DMU", "ENV", "FW", "GPX", "HY", "RZ"), start=1)
    for letter in letters
}
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def valid(label: str, surface: str) -> bool | None:
    """Whether a number is valid and of a range kept free for examples; None where no rule is known for its shape.

    >>> valid("ssn", "666-12-3456"), valid("credit_card", "4111 1111 1111 1111"), valid("city", "Rome")
    (False, True, None)
    """
    rule = _RULES.get(label)
    return rule(surface) if rule else None


def _digits(surface: str) -> str:
    return re.sub(r"\D", "", surface)


def _ssn(surface: str) -> bool | None:
    number = _digits(surface)
    # Areas that were not issued before June 2011: no adult of the years before bears one.
    free = number[:3].isdigit() and (734 <= int(number[:3]) <= 749 or 773 <= int(number[:3]) <= 899)
    return free and bool(ssn.is_valid(number)) if len(number) == 9 else None


def _card(surface: str) -> bool | None:
    number = _digits(surface)
    whole = len(number) in (15, 16) and not re.search(r"[*xX•.]", surface)
    return number.startswith(_TEST_CARDS) and bool(luhn.is_valid(number)) if whole else None


def _provider(surface: str) -> bool | None:
    if re.fullmatch(r"\d{10}", surface):
        return surface[0] in "12" and bool(luhn.is_valid("80840" + surface))
    if re.fullmatch(r"[A-Z]{2}\d{7}", surface):
        digits = [int(digit) for digit in surface[2:]]
        return (sum(digits[0:6:2]) + 2 * sum(digits[1:6:2])) % 10 == digits[6]
    return None


def _vin(surface: str) -> bool | None:
    """49 CFR 565.15(c)."""
    number = re.sub(r"\W", "", surface).upper()
    if not re.fullmatch(r"[A-HJ-NPR-Z0-9]{17}", number):
        return None
    values = [int(c) if c.isdigit() else _VIN_LETTERS[c] for c in number]
    rest = sum(weight * value for weight, value in zip(_VIN_WEIGHTS, values, strict=True)) % 11
    return number[8] == ("X" if rest == 10 else str(rest))


def _telephone(surface: str) -> bool | None:
    if re.fullmatch(r"020 7946 0\d{3}|\+44 7700 900\d{3}|\d{5}", surface):  # kept for drama; an inner number
        return True
    number = _digits(re.split(r"(?i) ?(?:ext|x)", surface)[0])
    return number[-7:-2] == "55501"


def _mail(surface: str) -> bool | None:
    text = surface.lower().removeprefix("mailto:")
    text = text.replace(" [at] ", "@").replace(" [dot] ", ".").replace(" at ", "@").replace(" dot ", ".")
    return bool(_RESERVED.search(text.replace(" ", "").partition("@")[2]))


def _address(surface: str) -> bool | None:
    text = surface.lower()
    return bool(_RESERVED.search(urlsplit(text if "://" in text else f"http://{text}").hostname or ""))


def _ip(surface: str) -> bool | None:
    try:
        address = ipaddress.ip_address(surface)
    except ValueError:
        return False
    inner = getattr(address, "ipv4_mapped", None) or address
    return any(inner in block for block in _DOCUMENTS if block.version == inner.version)


def _device(surface: str) -> bool | None:
    return bool(imei.is_valid(surface)) if re.fullmatch(r"\d{15}", surface) else None


_RULES: dict[str, Callable[[str], bool | None]] = {
    "ssn": _ssn,
    "credit_card": _card,
    "license_provider": _provider,
    "vin": _vin,
    "phone": _telephone,
    "fax": _telephone,
    "email": _mail,
    "url": _address,
    "ip": _ip,
    "mac": lambda surface: re.sub(r"[^0-9A-F]", "", surface.upper()).startswith(_FREE_MAC),
    "iban": lambda surface: bool(iban.is_valid(surface)),
    "device_id": _device,
}

# ---- dates -----------------------------------------------------------------------------------------------------------

_MONTHS = ("january", "february", "march", "april", "june", "july", "august", "september", "october", "november")
_MONTHS += ("december",)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def date_format(surface: str) -> str | None:
    """The format of a date, with and without leading zeros taken as one; None in May, long and short alike.

    >>> date_format("03/4/2021"), date_format("Mar. 14th, 2021"), date_format("14MAR2021")
    ('9/9/9999', 'Mon. 9TH, 9999', '9MON9999')
    """
    if re.search(r"(?i)may", surface):
        return None
    shaped = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "TH", surface)
    shaped = re.sub(r"[A-Za-z]+(?:-[a-z]+)?", _date_word, shaped)
    shaped = re.sub(r"\d+", lambda digits: "9999" if len(digits[0]) == 4 else "9", shaped)
    return re.sub(r"words(?:,? words)*", "words", shaped)


def _date_word(found: re.Match[str]) -> str:
    word = found[0]
    if word == "TH":
        return word
    for names, long, short in ((_MONTHS, "month", "mon"), (_WEEKDAYS, "weekday", "day")):
        if word.lower() in names or word.lower()[:3] in [name[:3] for name in names]:
            kind = long if word.lower() in names else short
            return kind.upper() if word.isupper() else kind.capitalize() if word[0].isupper() else kind
    return "words"


# ---- formats ---------------------------------------------------------------------------------------------------------

PLACES = {
    "spans-jsonl": "c.jsonl",
    "brat": "c",
    "i2b2": "c.zip",
    "conll": "c.conll",
    "docbin": "c.spacy",
    "presidio": "c.json",
    "tab": "c.json",
    "label-studio": "c.json",
}


def round_trip(format: SpanFormat, documents: Sequence[Document], folder: Path) -> Counter[str]:
    """Written and read again, all at once; where one is refused, each by itself. Counts kept, lost and refusals.

    A refusal must name the document, give its reason, and leave nothing behind: else it counts as lost.
    """
    path = folder / PLACES[format.name]
    show_ids()  # a refusal is counted by the document that it names, in every worker
    try:
        format.write(documents, path)
    except InputError as error:
        if any(folder.iterdir()):
            return Counter({"lost: something half-written": len(documents)})
        if len(documents) > 1:
            return sum((round_trip(format, [one], folder) for one in documents), Counter[str]())
        named = f"document '{documents[0].id[:80]}'" in str(error) and error.got
        reason = re.sub(r"\b\d+\b", "n", f"{error.expected}; got {error.got}")
        return Counter([f"refused: {reason}" if named else "lost: refused without a name or a reason"])
    try:
        found = {document.id: document for document in format.read(path)}
        kept = sum(_same(document, found.get(document.id)) for document in documents)
        return +Counter({"kept": kept, "lost: other text or offsets": len(documents) - kept})
    finally:
        _remove(path)


def _same(one: Document, other: Document | None) -> bool:
    return other is not None and one.text == other.text and _places(one) == _places(other)


def _places(document: Document) -> Counter[tuple[int, int, str]]:
    return Counter((span.start, span.end, span.label) for span in all_spans(document))


def _remove(path: Path) -> None:
    if path.is_dir():
        for inner in path.iterdir():
            inner.unlink()
        path.rmdir()
    else:
        path.unlink()
