"""Types of the settings that systems take from a study: what each may be, its bounds, and the words for its meaning.

A system writes them in its signature, where `plugins.settings_of` reads them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from workup.errors import InputError
from workup.systems.wire.address import checked_headers, checked_url

_LONGEST_PATH, _LONGEST_PART = 4_096, 255  # bytes, as file systems have them
_DAY = 86_400.0


def in_words_of(check: Callable[[Any], object]) -> BeforeValidator:
    """A check that raises InputError as a check of a setting; what was got is not repeated, for it may be a secret."""

    def checked(value: Any) -> Any:
        try:
            check(value)
        except InputError as error:
            # The field comes before the message, so it need not open it.
            expected = re.sub(r"^'\w+' ", "", error.expected)
            raise ValueError(expected + (f". To fix: {error.remedy}" if error.remedy else "")) from None
        return value

    return BeforeValidator(checked)


def _printable(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("must be one line of text, without control characters")
    return text


def _path(text: str) -> str:
    _printable(text)
    parts = [len(part.encode("utf-8", "surrogatepass")) for part in text.split("/")]
    if max(parts) > _LONGEST_PART or sum(parts) + len(parts) > _LONGEST_PATH:
        raise ValueError("is longer than the name of a file can be")
    return text


def _whole_text(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise ValueError("must be a text that is not empty; leave the setting out to go without")
    return text


def _class(value: Any) -> Any:
    # One sentence for all four types, where a union would complain once for each of them.
    if not isinstance(value, (int, str, float)) or value != value or value in (math.inf, -math.inf):
        raise ValueError("must be a class of the model: a number, a text, true or false")
    return value


Word = Annotated[str, AfterValidator(_printable), Field(min_length=1, max_length=500)]
FilePath = Annotated[str, AfterValidator(_path), Field(min_length=1)]
Prompt = Annotated[str, AfterValidator(_whole_text), Field(max_length=1_000_000)]
Words = Annotated[list[Word], Field(min_length=1, max_length=10_000)]
Share = Annotated[float, Field(ge=0, le=1)]

Timeout = Annotated[float, Field(gt=0, le=_DAY, description="Seconds that an answer may take")]
Retries = Annotated[int, Field(ge=0, le=100, description="Tries after the first one that fails")]
Concurrency = Annotated[int, Field(ge=1, le=256, description="Requests that are under way at a time")]
Rate = Annotated[float | None, Field(gt=0, le=100_000, description="Most requests a second; null for no limit")]
Batch = Annotated[int, Field(ge=1, le=1_000_000, description="Rows or texts that are handed over at once")]
Threads = Annotated[int, Field(ge=1, le=256, description="Threads of the processor")]
OnError = Annotated[
    Literal["fail", "refuse"],
    Field(description="What a crash on one text means: fail ends the run, refuse counts its golds as missed"),
]
CaFile = Annotated[FilePath, Field(description="Certificates of a private authority, as a PEM file")]
Sha256 = Annotated[
    str, Field(pattern=r"^\s*[0-9a-fA-F]{64}\s*$", description="sha256 that the content of the model must have")
]
UNPINNED = "unpinned"  # what `sha256` is where it was not given; an empty text is a pin that was lost, not one left out
Trust = Annotated[bool, Field(description="true: you trust the model, whose files run code of their own when read")]
Features = Annotated[
    Words | None,
    Field(description="Columns the model uses, in the order in which it was fitted, where it has no names"),
]
Positive = Annotated[int | str | float | bool, BeforeValidator(_class), Field(description="Class that means the event")]
Missing = Annotated[
    Literal["refuse", "pass"],
    Field(description="A row that lacks a predictor: refuse answers nothing, pass leaves it to the model"),
]
Send = Annotated[Words | None, Field(description="Columns that leave this machine; all when absent")]
Offsets = Annotated[
    Literal["codepoint", "utf16", "byte", "codepoint-inclusive", "utf16-inclusive", "byte-inclusive"],
    Field(description="How the system counts the offsets of spans"),
]
LabelMap = Annotated[Word, Field(description="Mapping of the system's labels: a name, a file, or several joined by +")]
Emits = Annotated[Words | None, Field(description="Labels that the system can give")]
MaxTokens = Annotated[int, Field(ge=1, le=1_000_000, description="Most tokens of a reply")]
Temperature = Annotated[float, Field(ge=0, le=10, description="Temperature of sampling")]
SystemPrompt = Annotated[Prompt, Field(description="Prompt of the deployment, sent before all messages")]


def _url(value: Any) -> None:
    if not isinstance(value, str):
        raise InputError("must be an address of http or https", remedy="write it as https://host/path")
    checked_url(value, where="")


def _headers(value: Any) -> None:
    if value is not None and not (isinstance(value, dict) and all(isinstance(name, str) for name in value)):
        raise InputError("must be names and texts, as in Accept-Language: en")
    checked_headers(value or {}, where="")


def _secret(value: Any) -> None:
    if not isinstance(value, str) or not re.fullmatch(r"env:[A-Za-z_]\w*", value):
        raise InputError("must name the environment variable that holds the secret", remedy="write it as env:VARIABLE")


Url = Annotated[str, in_words_of(_url), Field(max_length=2_000)]
Headers = Annotated[
    dict[str, str] | None,
    in_words_of(_headers),
    Field(description="Headers of every request; a secret is named as env:VARIABLE"),
]
Environment = Annotated[
    Annotated[
        list[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]],
        Field(min_length=1, max_length=100),
    ]
    | None,
    Field(description="Names of variables that the program gets beside PATH, HOME, TMPDIR and those of the language"),
]
Secret = Annotated[str, in_words_of(_secret)]
