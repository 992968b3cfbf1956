"""What a longer history, compaction or an external memory would change, in words: availability times use.

A fact is lost either because it no longer stood in what was sent, or because it stood there and was not used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from workup.report import Report
from workup.reports.conversation.setting import Numbers, Setting
from workup.reports.conversation.turns import table_of
from workup.reports.conversation.words import HEADS, between, brief, estimate_rows, hundred, value_words, why
from workup.reports.layout import Section, Table
from workup.reports.spans.words import percent
from workup.reports.wording import number, plural

_POLICIES = (
    (r"full", "the whole history is sent"),
    (r"last:(\d+)", "the last {} turns are sent"),
    (r"tokens:(\d+)", "as much of the end of the history as {} tokens hold is sent"),
    (r"compact:(\d+)", "older turns are compacted to {} tokens"),
    (r"clean", "replies that repeat themselves are cleaned before they enter the history"),
)


def policy_words(memory: str) -> str:
    """A memory policy by name and in words.

    >>> policy_words("last:4+clean")
    'last:4+clean (the last 4 turns are sent; replies that repeat themselves are cleaned before they enter the history)'
    """
    said = []
    for part in memory.split("+"):
        for pattern, words in _POLICIES:
            match = re.fullmatch(pattern, part.strip())
            if match:
                said.append(words.format(*match.groups()))
    return f"{memory} ({'; '.join(said)})" if said else memory


def section(report: Report) -> Section:
    """Was it there, was it used, and what follows."""
    numbers, setting = Numbers.of(report), Setting.of(report)
    found = [e for e in (numbers.get("availability"), numbers.get("use")) if e is not None]
    if not found:
        return Section("")
    policy = (
        "The conversations were recorded elsewhere; the record does not say which memory they were held with."
        if setting.recorded
        else f"Memory policy: {policy_words(str(setting.study['memory']))}."
    )
    counts: Mapping[str, Any] = table_of(report, "use") or {}
    said = (policy, *advice(numbers, counts))
    table = Table(HEADS, tuple(estimate_rows(found)), "Was a fact there, and was it used")
    return Section("What more memory would change", said, (table,) if counts.get("sendable") else (), key="memory")


def advice(numbers: Numbers, counts: Mapping[str, Any]) -> Iterator[str]:
    """What would help and what would not, from the counts of the record alone."""
    due, sent = int(counts.get("sendable") or 0), int(counts.get("sent") or 0)
    if not due:
        e = numbers.get("availability")
        yield (
            "Whether a longer history, compaction or an external memory would help cannot be told: "
            f"{why(e, 'the record does not say what was sent')}."
        )
        return
    kept_sent, kept_unsent = int(counts["sent_correct"]), int(counts["unsent_correct"])
    gone, unused = due - sent - kept_unsent, sent - kept_sent
    lost = gone + unused
    times = f"{plural(due, 'time')} that a critical fact was due"
    if not lost:
        yield f"Of {times} none was lost, so no other memory could have kept more."
        return
    yield f"Of {times} it was lost {number(lost)} times. {_split(gone, unused, lost)}"
    yield from _at_best(numbers, due, sent, kept_sent, kept_unsent, gone)
    yield from _history(numbers, unused)


def _split(gone: int, unused: int, lost: int) -> str:
    if not unused:
        return (
            "Each time it no longer stood in what was sent: a longer history, or a memory that brings it back, is what "
            "would help."
        )
    if not gone:
        return (
            "Each time it still stood in what was sent: a longer history or an external memory would change nothing; "
            "what fails is the use of what is there."
        )
    return (
        f"In {percent(gone / lost)} of these ({number(gone)}) it no longer stood in what was sent: there a longer "
        f"history or a memory that brings it back would help. In {percent(unused / lost)} ({number(unused)}) it did, "
        "and was not used: there it would not."
    )


def _at_best(numbers: Numbers, due: int, sent: int, kept_sent: int, kept_unsent: int, gone: int) -> Iterator[str]:
    """An upper end for what a longer history can win, said as the supposition that it is."""
    if not gone or not sent:
        return
    now, then = (kept_sent + kept_unsent) / due, (kept_sent + (due - sent) * kept_sent / sent) / due
    e = numbers.get("use")
    used = "" if e is None else between(e)
    if then > now:
        yield (
            f"If facts that were brought back were used as well as those that stood there, {percent(kept_sent / sent)}"
            f"{used}, recall over all turns would go from {percent(now)} to {percent(then)}. No memory alone wins "
            "more."
        )
    else:
        yield (
            "Facts that were no longer sent were kept no worse than those that were, from the model's own replies or "
            "by chance: bringing them back promises nothing."
        )


def _history(numbers: Numbers, unused: int) -> Iterator[str]:
    """Does the history around the facts stand in the way? The oracle shows them alone."""
    if not unused:
        return
    use, oracle = numbers.get("use"), numbers.get("recall", {"set": "critical", "arm": "oracle"})
    if use is None or use.value is None or oracle is None or oracle.value is None:
        yield (
            "Whether compaction would help the facts that stood there unused cannot be told without the oracle arm, in "
            f"which they stand alone ({'not run' if oracle is None else value_words(oracle)})."
        )
        return
    both = f"{percent(oracle.value)} of the facts when they stand alone (oracle) and {percent(use.value)} of those "
    both += "that stood in the history"
    if None in (use.high, oracle.low, use.low, oracle.high):
        yield f"The model keeps {both}; without both intervals nothing follows from it."
    elif use.high < oracle.low:  # type: ignore[operator]
        yield f"The model keeps {both}: {brief(oracle)} and {brief(use)}, intervals that do not touch."
        yield (
            "So what stands around the facts is in the way. Compaction, or a short list of the facts sent with every "
            f"turn, may win up to {hundred(oracle.value - use.value)} of 100: try it as a memory policy before "
            "believing it."
        )
    elif use.low > oracle.high:  # type: ignore[operator]
        yield f"The model keeps {both}: the history helps, and compaction could only take away."
    else:
        yield (
            f"The model keeps {both}; these data do not tell the two apart, so nothing says that compaction would help."
        )
