"""Verdicts → JUnit XML, so that a build server shows every gate as a test. Holds no time and no host."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from workup.errors import visible_lines
from workup.report import Verdict

_UNDECIDED = ("unsure", "not_assessed")
# All that XML 1.0 has no place for, even escaped: control characters, lone surrogates and the two non-characters.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(verdicts: Sequence[Verdict], *, name: str, allow_unsure: bool = False) -> str:
    """One suite of this name: see `render_suites`."""
    return render_suites({name: verdicts}, allow_unsure=allow_unsure)


def render_suites(suites: Mapping[str, Sequence[Verdict]], *, allow_unsure: bool = False) -> str:
    """A suite for each system by its name, one test case per verdict.

    A test is red exactly where it would make `workup gate` end with 1 or 3. A gate that failed is a failure. One that
    is unsure or not assessed is a failure of that type too, since a null must not pass unseen; where undecided gates
    are allowed it is skipped.
    """
    every = [verdict for verdicts in suites.values() for verdict in verdicts]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {_counts(every, allow_unsure)}>"]
    for name, verdicts in suites.items():
        lines.append(f" <testsuite name={_attribute(name)} {_counts(verdicts, allow_unsure)}>")
        for verdict in verdicts:
            lines += _case(verdict, suite=name, allow_unsure=allow_unsure)
        lines.append(" </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _counts(verdicts: Sequence[Verdict], allow_unsure: bool) -> str:
    failed = [v for v in verdicts if v.outcome == "fail" or (v.outcome in _UNDECIDED and not allow_unsure)]
    skipped = sum(v.outcome in _UNDECIDED for v in verdicts) if allow_unsure else 0
    return f'tests="{len(verdicts)}" failures="{len(failed)}" errors="0" skipped="{skipped}"'


def _case(verdict: Verdict, *, suite: str, allow_unsure: bool) -> list[str]:
    head = f"  <testcase classname={_attribute(suite)} name={_attribute(verdict.rule)}"
    if verdict.outcome == "pass":
        return [f"{head}/>"]
    if verdict.outcome in _UNDECIDED and allow_unsure:
        inner = f"   <skipped message={_attribute(f'{verdict.outcome}: {verdict.reason}')}/>"
    else:
        kind = f"type={_attribute(verdict.outcome)} message={_attribute(verdict.reason)}"
        inner = f"   <failure {kind}>{_text(_observed(verdict))}</failure>"
    return [f"{head}>", inner, "  </testcase>"]


def _observed(verdict: Verdict) -> str:
    seen = verdict.observed or {}
    return ", ".join(f"{key} {value}" for key, value in seen.items()) if isinstance(seen, dict) else str(seen)


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("", visible_lines(str(text))))


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("", visible_lines(str(text))))
