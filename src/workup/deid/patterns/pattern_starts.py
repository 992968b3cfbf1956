"""Where a pattern may begin: what was read off the shipped patterns when they were built, and off any other when met.

Reading it off a pattern takes milliseconds, and there are some 180 shipped ones; so their answers are a data file that
`scripts/build_pattern_starts.py` writes. Each is kept under the hash of its pattern, all under the hash of the code
that reads them: a user's own pattern, or a file that is older than the code, is read off as if there were no file."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from importlib.resources import files
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as reader  # type: ignore[attr-defined]
from typing import Any

from workup.deid.patterns.regex_heads import heads
from workup.deid.patterns.regex_tails import least_run, tails
from workup.deid.patterns.start_index import Asked

FILE = "pattern_starts.json.gz"
_DATA = files("workup.deid") / "data"
_CODE = ("pattern_starts.py", "regex_heads.py", "regex_tails.py")

Starts = dict[str, Asked | None]


def starts_of(pattern: str, flags: int = 0) -> Asked | None:
    """What a pattern asks for at a place; None where it may begin anywhere.

    >>> asked = starts_of(r"(?<!\\w)MRN: [0-9]{6}")
    >>> sorted(asked.heads), sorted(asked.tails), asked.least
    (['MRN'], ['A: '], 3)
    """
    answers, key = known(), _key(pattern, flags)
    if key not in answers:
        answers[key] = _read_off(pattern, flags)
    return answers[key]


def _read_off(pattern: str, flags: int) -> Asked | None:
    parsed = reader.parse(pattern, flags)
    opens = heads(parsed) if len(parsed) and _opens_word(parsed[0]) else None
    return None if opens is None else Asked(opens, tails(parsed), least_run(parsed))


def _opens_word(first: Any) -> bool:
    """Whether a pattern opens by refusing a letter or digit before it, so that it begins where a word does."""
    kind, about = first
    if kind is codes.ASSERT_NOT and about[0] < 0:
        body = list(about[1])
        return len(body) == 1 and body[0][0] is codes.IN and (codes.CATEGORY, codes.CATEGORY_WORD) in body[0][1]
    return False


def _key(pattern: str, flags: int) -> str:
    return hashlib.sha256(f"{int(flags)} {pattern}".encode()).hexdigest()[:24]


@cache
def known() -> Starts:
    """The answers so far: first those that are shipped, then those that were read off in this process."""
    try:
        text = gzip.decompress((_DATA / FILE).read_bytes())
        record = json.loads((_DATA / "provenance.json").read_text(encoding="utf-8"))["written"][FILE]
    except (OSError, EOFError, KeyError, ValueError):
        return {}
    return unpacked(text) if hashlib.sha256(text).hexdigest() == record["sha256_of_text"] else {}


def code_hash() -> str:
    """The hash of the code that reads starts off patterns; nothing where the sources are not at hand."""
    try:
        text = "".join((files("workup.deid.patterns") / name).read_text(encoding="utf-8") for name in _CODE)
    except OSError:
        return ""
    return hashlib.sha256(text.encode()).hexdigest()


def packed(answers: Starts) -> bytes:
    """The content of the data file: every set once, and what each pattern asks for by the places of its sets."""
    sets = sorted({tuple(sorted(one)) for asked in answers.values() if asked for one in asked[:2] if one is not None})
    place = {frozenset(one): at for at, one in enumerate(sets)}
    patterns = {
        key: asked and [place[asked.heads], None if asked.tails is None else place[asked.tails], asked.least]
        for key, asked in sorted(answers.items())
    }
    text = json.dumps({"code": code_hash(), "patterns": patterns, "sets": sets}, separators=(",", ":"))
    return (text.replace("],[", "],\n[") + "\n").encode("ascii")


def unpacked(text: bytes) -> Starts:
    """What the data file says of each pattern; nothing where another state of the code wrote it."""
    content = json.loads(text)
    if not content["code"] or content["code"] != code_hash():
        return {}
    sets = [frozenset(one) for one in content["sets"]]
    return {
        key: asked and Asked(sets[asked[0]], None if asked[1] is None else sets[asked[1]], asked[2])
        for key, asked in content["patterns"].items()
    }
