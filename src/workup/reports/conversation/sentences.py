"""The sentences that a reader of a chat model's report should leave with, each with its interval and n."""

from __future__ import annotations

from collections.abc import Iterator

from workup.report import Estimate, Report
from workup.reports.conversation.headline import TOO_SHORT, against_bar, at_horizon, never_words
from workup.reports.conversation.memory import advice as memory_words
from workup.reports.conversation.safety import judgement
from workup.reports.conversation.setting import Numbers, Setting, size_words
from workup.reports.conversation.turns import table_of
from workup.reports.conversation.words import between, capital, counted, hundred, tidy, value_words, why
from workup.reports.spans.words import percent
from workup.reports.wording import number, plural, signed


def sentences(report: Report) -> Iterator[str]:
    """What a reader should leave with, each with its interval and n."""
    if "internal" not in report.results:
        return
    numbers, setting = Numbers.of(report), Setting.of(report)
    coverage = numbers.get("coverage", setting.keys())
    if coverage is not None and coverage.value is None and "nobody asked" in str(coverage.reason):
        yield "Recorded without probes: what was forgotten cannot be told."
    yield judgement(report).words
    yield _held(report, numbers, setting)
    yield _recall(numbers, setting)
    yield _gap(numbers, setting)
    yield _slope(numbers, setting)
    yield _loss(numbers, setting)
    yield _never_said(numbers, report)
    yield _conflict_said(numbers, setting)
    if by_people(report):
        yield _plan_said(numbers)
    yield next(memory_words(numbers, table_of(report, "use") or {}))


def _held(report: Report, numbers: Numbers, setting: Setting) -> str:
    e = numbers.get("coverage", setting.keys())
    facts = f", in which {number(int(e.denominator))} times a fact was due" if e is not None and e.denominator else ""
    held = f" ({plural(e.n_rows, 'conversation')})" if e is not None and e.n_rows != report.corpus["n_cases"] else ""
    return (
        f"{size_words(report)}{held}, of up to {plural(numbers.turns, 'turn')}{facts}. "
        f"A fact counts as kept when its status and its value are right."
    )


def _recall(numbers: Numbers, setting: Setting) -> str:
    e, bar = at_horizon(numbers, setting), against_bar(numbers, setting)
    at = f"at turn {setting.horizon}"
    if e is None or e.value is None:
        reason = why(e, TOO_SHORT.format(setting.horizon))
        return f"Recall {at} is {_absent(e)}: {reason}. So it is {bar.words}."
    kept = f"{capital(at)} the model kept {hundred(e.value)} of every 100 {setting.kind} facts{between(e)}"
    verdict = f"It {bar.words}" if bar.verdict in ("pass", "fail") else capital(bar.words)
    return f"{kept}, {counted(e)}. {verdict}."


def _absent(e: Estimate | None) -> str:
    return "not defined" if e is None else value_words(e)


def _gap(numbers: Numbers, setting: Setting) -> str:
    e = numbers.gap_at(10, setting.kind)
    if e is None or e.value is None:
        return (
            f"The decay gap D(10), what the conversation itself costs, is {_absent(e)}: {why(e, TOO_SHORT.format(10))}."
        )
    value = tidy(e.value)
    if e.low is not None and e.high is not None and e.low <= 0 <= e.high:
        return (
            f"At turn 10 recall differs by {signed_points(value)} from that with the facts alone before the model"
            f"{between(e)}: no clear cost of the conversation, and none ruled out within these ends."
        )
    costs = "costs" if value < 0 else "gains"
    return (
        f"The conversation itself {costs} {hundred(value)} of every 100 facts at turn 10{between(e)}, against the same "
        "model with the facts alone before it."
    )


def _slope(numbers: Numbers, setting: Setting) -> str:
    e = numbers.get("decay_slope", setting.keys())
    if e is None or e.value is None:
        return f"The decay slope is {_absent(e)}: {why(e, 'it needs two turns')}."
    if e.low is None or e.high is None or e.low <= 0 <= e.high:
        return f"Recall changes by {signed(tidy(e.value))} a turn{between(e, of_hundred=False)}: no clear trend."
    falls = "falls" if e.value < 0 else "rises"
    return f"Recall {falls} by {hundred(e.value)} of 100 facts with every turn{between(e)}."


def _loss(numbers: Numbers, setting: Setting) -> str:
    first = numbers.get("time_to_loss", setting.keys())
    good = numbers.get("time_to_loss", setting.keys(loss="sustained"))
    if first is None or first.value is None:
        return f"The time until a fact is lost is {_absent(first)}: {why(first, 'it was not followed')}."
    if first.value >= 10:
        return "No fact was lost within 10 turns."
    said = f"A fact is first missing or wrong after {first.value:.1f} turns{between(first, of_hundred=False)}"
    if good is not None and good.value is not None:
        said += f", and lost for good after {good.value:.1f}{between(good, of_hundred=False)}"
    return f"{said}; means restricted to ten turns, so that 10 says not before the tenth."


def _never_said(numbers: Numbers, report: Report) -> str:
    e = numbers.get("never_events")
    if e is None or e.value is None:
        return f"Never-events are {_absent(e)}: {why(e, 'they were not counted')}."
    words = never_words(numbers, report)
    return f"Of never-events {words}." if e.value == 0 else f"{capital(words)}."


def _conflict_said(numbers: Numbers, setting: Setting) -> str:
    e = numbers.conflicts(setting)
    by = f"by the judge {setting.judge}" if setting.judge else "by rules, which may miss what a language judge sees"
    if e is None or e.value is None:
        return f"The rate of conflicting advice ({by}) is {_absent(e)}: {why(e, 'it was not counted')}."
    pairs, conflicting = int(e.denominator or 0), int(e.numerator or 0)
    if pairs < FEWEST_PAIRS:
        return f"{number(conflicting)} of {plural(pairs, 'comparable pair')} of advice conflict, found {by}."
    return f"Of 100 comparable pairs of advice {hundred(e.value)} conflict{between(e)}; {counted(e)}, found {by}."


FEWEST_PAIRS = 10  # below which a share of a hundred would say more than was seen


def by_people(report: Report) -> bool:
    """Whether plans were written by people; those made by rule are told of in the appendix alone."""
    sources = (table_of(report, "plans") or {}).get("sources") or {}
    return bool({"case", "target_plans"} & set(sources))


def signed_points(value: float) -> str:
    """A difference of shares in points, with its sign.

    >>> signed_points(0.06098), signed_points(-0.2), signed_points(0.0)
    ('+6.1 points', '-20.0 points', '0.0 points')
    """
    return f"{100 * value:+.1f} points" if abs(value) >= 5e-4 else "0.0 points"


def _plan_said(numbers: Numbers) -> str:
    e, against = numbers.get("plan_coverage"), numbers.get("plan_contradicted")
    if e is None or e.value is None:
        return f"Plan coverage is {_absent(e)}: {why(e, 'no plan was given')}."
    opposed = "" if against is None or against.value is None else f"; {percent(against.value)} were opposed"
    return f"Replies covered {percent(e.value)} of the items of the plans{between(e)}; {counted(e)}{opposed}."
