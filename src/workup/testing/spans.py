"""What a detector under test must do, as checks that name each fault; `workup.testing` is the door to it.

Knows no scoring. No message holds a text, since a user may put texts of patients to the checks."""

from __future__ import annotations

import contextlib
import io
import logging
import math
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from workup.errors import WorkupError

_TOLERANCE = 1e-9  # of a score
_MARK = "Quenneville"  # in every text that is made here; where it turns up in a log or an error, texts do

TEXTS = (
    f"Patient: Rose {_MARK}, seen on 03/04/2021 in Springfield by Dr. Alan Reyes.",
    f"Call Mr. {_MARK} at (617) 555-0142 or write to r.{_MARK.lower()}@example.org before Monday.",
    "No complaints. Blood pressure 120/80, pulse 72, A1C 7.2.",
    f"{_MARK}, Rose; SSN 219-09-1234; MRN 00482913; 14 Elm Street, Boston, MA 02115.",
    "Nothing.",
)
_HOSTILE = {
    "a text of blanks": " \t\r\n\x0b\u00a0\u2028 ",
    "a text with NUL and control characters": f"\x00Rose\x00 {_MARK}\x1b[31m, born 03/04/1961\x07",
    "a text with a lone surrogate": f"Rose \ud83d {_MARK} \udc00, (617) 555-0142",
    "a text with accents, ligatures and directions": f"\u202eZoe\u0308 \ufb01eld {_MARK}\u202c İzmir ẞ 3/4/2021",
    "a line of 10,000 characters": f"Rose {_MARK} was seen again. " * 345,
    "a word of 5,000 characters": f"{_MARK} " + "x" * 5000,
    "a text of several line ends": f"Rose\r\n{_MARK}\r\r\n\n03/04/2021\r\n",
    "a text that looks like a format": f"{{0}} %s <b>{_MARK}</b> \\n {{{{name}}}} [SEP] </s>",
}

_Key = tuple[int, int, str, float | None]
_Answers = list[list[_Key] | None]
_Detect = Callable[[list[str]], Any]


def span_faults(system: Any, texts: Sequence[str]) -> Iterator[str]:
    """Every fault of a detector, in words."""
    yield from _attributes(system)
    detect = getattr(system, "detect", None)
    if not callable(detect):
        yield "it must have a method detect(texts)"
        return
    with _overheard() as said:
        yield from _behaviour(detect, list(texts), getattr(system, "emits", None))
    if said():
        yield "what it prints or logs, at any level, must not hold words of a text"


def _attributes(system: Any) -> Iterator[str]:
    """Attributes that a detector may have must be of their kind."""
    mapping, emits, batch = (getattr(system, name, None) for name in ("mapping", "emits", "batch"))
    if mapping is not None and (not isinstance(mapping, str) or not mapping):
        yield "'mapping' must be the name or path of a label mapping, or None"
    if emits is not None and (
        isinstance(emits, str) or not isinstance(emits, Sequence) or not all(isinstance(one, str) for one in emits)
    ):
        yield "'emits' must be a tuple of labels, or None"
    if batch is not None and (isinstance(batch, bool) or not isinstance(batch, int) or batch < 1):
        yield "'batch' must be a whole number of texts, at least 1"


def _behaviour(detect: _Detect, texts: list[str], emits: Any) -> Iterator[str]:
    given = list(texts)
    whole, fault = _ask(detect, given, "the whole list", emits)
    if given != texts:
        yield "detect() must not change the list it is given"
    if whole is None:
        yield fault
    else:
        yield from _repeatable(detect, texts, whole, emits)
        yield from _code_points(detect, texts, whole, emits)
    yield from _nothing(detect, emits)
    for what, text in _HOSTILE.items():
        _, fault = _ask(detect, [text], what, emits, may_refuse=True)
        if fault:
            yield fault
    if whole is not None:
        again, _ = _ask(detect, list(texts), "the whole list at the end", emits)
        if again is not None and not _same(again, whole):
            yield "the answer to a text must not depend on what was asked before"


def _repeatable(detect: _Detect, texts: list[str], whole: _Answers, emits: Any) -> Iterator[str]:
    """The same texts again, in another order, in two parts and each by itself must give the same answers."""
    again, fault = _ask(detect, list(texts), "the same list a second time", emits)
    if again is None:
        yield fault
    elif not _same(again, whole):
        yield "a second call with the same list must give the same answers"
        return  # then order and batches would be blamed for the same fault
    turned, fault = _ask(detect, texts[::-1], "the texts in another order", emits)
    if turned is None:
        yield fault
    elif not _same(turned[::-1], whole):
        yield "the answer to a text must not depend on the order of the texts"
        return
    alone: _Answers = []
    for text in texts:
        one, fault = _ask(detect, [text], "a list of one text", emits)
        if one is None:
            yield fault
            return
        alone += one
    if not _same(alone, whole):
        yield "the answer to a text must not depend on the batch it comes in"


def _code_points(detect: _Detect, texts: list[str], whole: _Answers, emits: Any) -> Iterator[str]:
    """Emoji before a text that spans were found in: offsets in UTF-16 units or bytes then run over its end."""
    found = [text for text, spans in zip(texts, whole, strict=True) if spans]
    for text in found[:1]:
        moved = "\U0001f600" * len(text) + "\n" + text
        what = "a text with emoji, where offsets must count code points"
        _, fault = _ask(detect, [moved], what, emits, may_refuse=True)
        if fault:
            yield fault


def _nothing(detect: _Detect, emits: Any) -> Iterator[str]:
    for texts, what in (([], "an empty list"), ([""], "an empty text")):
        _, fault = _ask(detect, texts, what, emits)
        if fault:
            yield fault


def _ask(
    detect: _Detect, texts: list[str], what: str, emits: Any, *, may_refuse: bool = False
) -> tuple[_Answers | None, str]:
    """The answers, or the fault in them; an error of our own is no fault where the detector may refuse."""
    texts, sent = list(texts), texts
    try:
        answers = detect(sent)
    except WorkupError as error:
        if _MARK.casefold() in str(error).casefold():
            return None, f"{what}: the error that detect() raised holds words of the text"
        return None, "" if may_refuse else f"{what}: detect() refused it, saying: {str(error).rstrip('.')}"
    except Exception as error:  # whatever the system raises is what is asked about
        return None, f"{what}: detect() raised {type(error).__name__}, which is not an error of workup.errors"
    if isinstance(answers, (str, bytes, Mapping)) or not isinstance(answers, Sequence):
        return None, f"{what}: detect() must answer a list; got {type(answers).__name__}"
    if len(answers) != len(texts):
        return None, f"{what}: detect() must answer one list per text; got {len(answers)} for {len(texts)} texts"
    read: _Answers = []
    for text, answer in zip(texts, answers, strict=True):
        spans, problem = _spans(answer, len(text), emits)
        if problem:
            return None, f"{what}: {problem}"
        read.append(spans)
    return read, ""


def _spans(answer: Any, length: int, emits: Any) -> tuple[list[_Key] | None, str]:
    if answer is None:
        return None, ""
    if isinstance(answer, (str, bytes, Mapping)) or not isinstance(answer, Sequence):
        return None, f"the answer to a text must be a list of spans, or None; got {type(answer).__name__}"
    keys: list[_Key] = []
    for span in answer:
        start, end, label, score = (_part(span, name) for name in ("start", "end", "label", "score"))
        if not all(isinstance(place, numbers.Integral) and not isinstance(place, bool) for place in (start, end)):
            return None, "a span must have a start and an end that are whole numbers"
        if not 0 <= start < end <= length:
            return None, f"a span must lie inside its text; got {start} to {end} in {length} characters"
        if not isinstance(label, str) or not label:
            return None, f"a span must have a label that is a text; got {type(label).__name__}"
        if isinstance(emits, Sequence) and emits and label not in emits:
            return None, "a span carries a label that 'emits' does not list"
        if score is not None and not _is_number(score):
            return None, "a score must be a finite number, or None"
        keys.append((int(start), int(end), label, None if score is None else float(score)))
    return sorted(keys, key=lambda key: (*key[:3], key[3] or 0.0)), ""


def _part(span: Any, name: str) -> Any:
    return span.get(name) if isinstance(span, Mapping) else getattr(span, name, None)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _same(some: _Answers, others: _Answers) -> bool:
    return len(some) == len(others) and all(map(_same_spans, some, others))


def _same_spans(some: list[_Key] | None, others: list[_Key] | None) -> bool:
    if some is None or others is None:
        return some is others
    return len(some) == len(others) and all(
        one[:3] == other[:3] and _same_score(one[3], other[3]) for one, other in zip(some, others, strict=True)
    )


def _same_score(one: float | None, other: float | None) -> bool:
    return one is other if one is None or other is None else abs(one - other) <= _TOLERANCE


@contextlib.contextmanager
def _overheard() -> Iterator[Callable[[], bool]]:
    """Listens to what is printed and logged for a while, and says whether texts were in it."""
    printed = io.StringIO()
    ear, root = _Ear(), logging.getLogger()
    level = root.level
    root.addHandler(ear)
    root.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            yield lambda: ear.heard or _MARK.casefold() in printed.getvalue().casefold()
    finally:
        root.setLevel(level)
        root.removeHandler(ear)


class _Ear(logging.Handler):
    heard = False

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(Exception):  # a record that cannot be written out cannot be read either
            self.heard = self.heard or _MARK.casefold() in record.getMessage().casefold()
