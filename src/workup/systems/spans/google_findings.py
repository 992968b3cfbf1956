"""What Google's content:inspect answers: findings with their places and likelihoods, and the names of its errors.

Knows the form of the answers alone; who asked, and how often, is the affair of google_dlp."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from workup.documents.offsets import Counting, to_codepoints
from workup.errors import InputError
from workup.files.jsonlines import kind, parse

# Ranks, not probabilities: the service has five steps and says no more of them than their order.
SCORES = {"VERY_UNLIKELY": 0.1, "UNLIKELY": 0.3, "POSSIBLE": 0.5, "LIKELY": 0.7, "VERY_LIKELY": 0.9}
_UNSAID = "LIKELIHOOD_UNSPECIFIED"  # documented as the same as POSSIBLE; JSON of protocol buffers leaves it out
_LARGEST = 2**31 - 1
_NAME = re.compile(r"[A-Z][A-Z_]{2,59}")


@dataclass(frozen=True, slots=True)
class Finding:
    """Where something was found in the text that was sent, in code points, as what, and how likely."""

    start: int
    end: int
    label: str
    score: float | None


def findings_in(body: bytes, sent: str) -> tuple[list[Finding], bool]:
    """The findings in an answer, and whether it left some out.

    ValueError says what is out of form, and never what the answer holds.

    >>> answer = b'{"result": {"findings": [{"infoType": {"name": "PERSON_NAME"}, "likelihood": "LIKELY", ' \\
    ...     b'"location": {"codepointRange": {"end": "4"}}}]}}'
    >>> findings_in(answer, "Rose came")
    ([Finding(start=0, end=4, label='PERSON_NAME', score=0.7)], False)
    """
    try:
        whole = parse(body)
    except (ValueError, RecursionError):
        raise ValueError("must be JSON; got something else") from None
    result = whole.get("result") if isinstance(whole, dict) else None
    if not isinstance(result, dict):  # an empty object is what a proxy may say; the service itself says "result"
        got = kind(whole) if not isinstance(whole, dict) else kind(result) if "result" in whole else "none"
        raise ValueError(f"must hold an object 'result'; got {got}")
    listed = result.get("findings", [])
    truncated = result.get("findingsTruncated", False)
    if not isinstance(listed, list) or not isinstance(truncated, bool):
        raise ValueError("must hold a list 'findings' and, if at all, true or false as 'findingsTruncated'")
    return [_finding(record, sent, f"finding {place}") for place, record in enumerate(listed)], truncated


def cause_of(body: bytes) -> str:
    """The names that Google gives an error (PERMISSION_DENIED, SERVICE_DISABLED); its sentences are not repeated."""
    try:
        error = parse(body)["error"]
        details = error.get("details", [])
        names = [error.get("status"), *(detail.get("reason") for detail in details)]
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError, IndexError):
        return ""
    return ", ".join(dict.fromkeys(name for name in names if isinstance(name, str) and _NAME.fullmatch(name)))


def _finding(record: Any, sent: str, where: str) -> Finding:
    info_type = record.get("infoType") if isinstance(record, dict) else None
    label = info_type.get("name") if isinstance(info_type, dict) else None
    if not isinstance(label, str) or not label:
        raise ValueError(f"{where}: must name its 'infoType'")
    likelihood = record.get("likelihood", _UNSAID)
    if not isinstance(likelihood, str):
        raise ValueError(f"{where}: 'likelihood' must be a text; got {kind(likelihood)}")
    start, end = _place(record.get("location"), sent, where)
    # A step that is not known yet is no reason to lose a finding: it has no score then.
    return Finding(start, end, label, SCORES.get("POSSIBLE" if likelihood == _UNSAID else likelihood))


def _place(location: Any, sent: str, where: str) -> tuple[int, int]:
    """Code points; from bytes where the service gives nothing else."""
    ranges = location if isinstance(location, dict) else {}
    unit = next((key for key in ("codepointRange", "byteRange") if isinstance(ranges.get(key), dict)), "")
    if not unit:
        raise ValueError(f"{where}: must hold a 'codepointRange' or a 'byteRange'")
    # A 0 is left out in JSON of protocol buffers, and 64-bit numbers are texts there.
    start, end = (_number(ranges[unit].get(key, 0), f"{where}: '{key}'") for key in ("start", "end"))
    if not start < end:
        raise ValueError(f"{where}: must end after its start; got {start} to {end}")
    if unit == "codepointRange":
        return start, end
    try:
        return to_codepoints(sent, [(start, end)], counting=Counting("byte"), document="", beyond=True)[0]
    except InputError as error:
        raise ValueError(f"{where}: {error.expected}; got {error.got}") from None


def _number(value: Any, what: str) -> int:
    if isinstance(value, str) and len(value) <= 19 and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise ValueError(f"{what} must be a place in a text")
    return value
