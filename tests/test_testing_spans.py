"""The conformance test for detectors: it passes what fits and finds each fault, by its own name."""

from __future__ import annotations

import logging
import re
import sys
import threading
import warnings
from typing import Any

import pytest

from workup.errors import InputError, PluginError
from workup.documents.document import Span
from workup.testing import check_system

WORD = re.compile(r"[A-Z]\w+")


class Fits:
    """Every word with a capital is a name."""

    name, version = "fits", "1"
    emits: Any = ("NAME",)

    def detect(self, texts: Any) -> Any:
        return [self.one(text) for text in texts]

    def one(self, text: str) -> Any:
        return [Span(found.start(), found.end(), "NAME", score=0.5) for found in WORD.finditer(text)]


class Plain(Fits):
    """Mappings in place of objects, tuples in place of lists, and a text refused."""

    mapping, batch = "presidio", 8

    def one(self, text: str) -> Any:
        if "Nothing" in text:
            return None
        return tuple({"start": s.start, "end": s.end, "label": s.label} for s in super().one(text))


class RefusesTheHostile(Fits):
    def one(self, text: str) -> Any:
        if not text.isprintable():
            raise InputError("a text must be printable", got=f"one of {len(text)} characters that is not")
        return super().one(text)


class Nameless(Fits):
    name = ""


class NoMethod:
    name, version = "none", "1"


class WrongMapping(Fits):
    mapping = ""


class WrongEmits(Fits):
    emits = "NAME"


class WrongBatch(Fits):
    batch = 0


class Short(Fits):
    def detect(self, texts: Any) -> Any:
        return super().detect(texts)[1:]


class Joined(Fits):
    def detect(self, texts: Any) -> Any:
        return {"spans": super().detect(texts)}


class Masked(Fits):
    def one(self, text: str) -> Any:
        return WORD.sub("*", text)


class Utf16(Fits):
    def one(self, text: str) -> Any:
        return [
            Span(*(len(text[:place].encode("utf-16-le", "surrogatepass")) // 2 for place in (s.start, s.end)), "NAME")
            for s in super().one(text)
        ]


class Inclusive(Fits):
    def one(self, text: str) -> Any:
        return [Span(found.start(), found.end() - 1, "ID") for found in re.finditer(r"\b\w\b|\b8\b", text)]

    emits = None


class Floating(Fits):
    def one(self, text: str) -> Any:
        return [{"start": float(s.start), "end": s.end, "label": "NAME"} for s in super().one(text)]


class Numbered(Fits):
    def one(self, text: str) -> Any:
        return [{"start": s.start, "end": s.end, "label": 3} for s in super().one(text)]


class OtherLabel(Fits):
    emits = ("DATE",)


class Sure(Fits):
    def one(self, text: str) -> Any:
        return [Span(s.start, s.end, "NAME", score=float("nan")) for s in super().one(text)]


class Moody(Fits):
    calls = 0

    def detect(self, texts: Any) -> Any:
        self.calls += 1
        return super().detect(texts) if self.calls % 2 else [[] for _ in texts]


class ByPlace(Fits):
    def detect(self, texts: Any) -> Any:
        return [self.one(text) if place < 2 else [] for place, text in enumerate(texts)]


class ByBatch(Fits):
    def detect(self, texts: Any) -> Any:
        return super().detect(texts) if len(texts) > 1 else [[] for _ in texts]


class Learns(Fits):
    """Takes to heart that a text had control characters in it."""

    tired = False

    def one(self, text: str) -> Any:
        self.tired = self.tired or "\x00" in text
        return [] if self.tired else super().one(text)


class Empties(Fits):
    def detect(self, texts: Any) -> Any:
        found = super().detect(texts)
        texts.clear()
        return found


class EmptyText(Fits):
    def one(self, text: str) -> Any:
        return super().one(text) if text else [Span(0, 1, "NAME")]


class NoTexts(Fits):
    def detect(self, texts: Any) -> Any:
        return super().detect(texts) if texts else None


class Encodes(Fits):
    def one(self, text: str) -> Any:
        text.encode()
        return super().one(text)


class Cuts(Fits):
    def one(self, text: str) -> Any:
        if len(text) > 4096:
            raise ValueError(text)
        return super().one(text)


class Tells(Fits):
    def one(self, text: str) -> Any:
        if "\x00" in text:
            raise InputError("a text must hold no NUL", got=repr(text))
        return super().one(text)


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which a test runner cannot send from one process to another."""
    return text.encode("utf-8", "replace").decode()


class Logs(Fits):
    def one(self, text: str) -> Any:
        logging.getLogger("some.library").debug("token %s", text.split()[-1:])
        logging.getLogger("some.library").debug("tokens %s", _whole(text))
        return super().one(text)


class Prints(Fits):
    def one(self, text: str) -> Any:
        print(_whole(text), file=sys.stderr)
        return super().one(text)


@pytest.mark.parametrize("system", [Fits(), Plain(), RefusesTheHostile()])
def test_what_fits_passes(system: Any, capfd: pytest.CaptureFixture[str]) -> None:
    level = logging.getLogger().level
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_system(system, task="spans")
    assert logging.getLogger().level == level
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("system", "fault"),
    [
        (Nameless(), "'name' must be a text that is not empty; got an empty text"),
        (NoMethod(), r"must have a method detect\(texts\)"),
        (WrongMapping(), "'mapping' must be the name or path"),
        (WrongEmits(), "'emits' must be a tuple of labels"),
        (WrongBatch(), "'batch' must be a whole number"),
        (Short(), "one list per text; got 4 for 5 texts"),
        (Joined(), "must answer a list; got dict"),
        (Masked(), "must be a list of spans, or None; got str"),
        (Utf16(), "a text with emoji, where offsets must count code points: a span must lie inside its text"),
        (Inclusive(), "a span must lie inside its text; got "),
        (Floating(), "a start and an end that are whole numbers"),
        (Numbered(), "a label that is a text; got int"),
        (OtherLabel(), "a label that 'emits' does not list"),
        (Sure(), "a score must be a finite number"),
        (Moody(), "a second call with the same list must give the same answers"),
        (ByPlace(), "must not depend on the order of the texts"),
        (ByBatch(), "must not depend on the batch"),
        (Learns(), r"as a span detector: \(1\) the answer to a text must not depend on what was asked before\.$"),
        (Empties(), "must not change the list it is given"),
        (EmptyText(), "an empty text: a span must lie inside its text; got 0 to 1 in 0 characters"),
        (NoTexts(), "an empty list: .* got NoneType"),
        (Encodes(), r"\(1\) a text with a lone surrogate: detect\(\) raised UnicodeEncodeError, [^(]*$"),
        (
            Cuts(),
            r"\(1\) a line of 10,000 characters: .*\(2\) a word of 5,000 characters: detect\(\) raised ValueError",
        ),
        (Tells(), r"\(1\) a text with NUL and control characters: the error that detect\(\) raised holds words of"),
        (Logs(), "what it prints or logs, at any level, must not hold words of a text"),
        (Prints(), "what it prints or logs, at any level, must not hold words of a text"),
    ],
)
def test_each_fault_is_found(system: Any, fault: str) -> None:
    with pytest.raises(PluginError, match=fault) as failed:
        check_system(system, task="spans")
    assert type(system).__name__ in str(failed.value)
    assert "quenneville" not in str(failed.value).lower()


def test_texts_of_ones_own_come_first() -> None:
    class Picky(Fits):
        def one(self, text: str) -> Any:
            if text == "Wilhelm is ill":
                raise KeyError(text)
            return super().one(text)

    with pytest.raises(PluginError, match=r"the whole list: detect\(\) raised KeyError") as failed:
        check_system(Picky(), task="spans", texts=["Wilhelm is ill", "Nobody is"])
    assert "Wilhelm" not in str(failed.value)


def test_the_call_itself_is_checked() -> None:
    for texts in ("two texts", ["one"], ["one", ""], ["one", 2]):
        with pytest.raises(PluginError, match="a list of two texts or more, none of them empty"):
            check_system(Fits(), task="spans", texts=texts)  # type: ignore[arg-type]
    with pytest.raises(PluginError, match="did you mean 'spans'"):
        check_system(Fits(), task="span")


def test_what_cannot_travel_is_warned_of() -> None:
    system = Fits()
    system.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.warns(UserWarning, match=r"Fits cannot be pickled \(TypeError\)") as seen:
        check_system(system, task="spans")
    assert seen[0].filename == __file__
