"""What reads the replies and how often it errs, what could not be scored and why, and quality as people rated it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.report import Report
from workup.reports.conversation.headline import reached
from workup.reports.conversation.setting import ONE_SIDED, Numbers, Setting
from workup.reports.conversation.turns import table_of
from workup.reports.conversation.words import capital, counted, ends, value_words, why
from workup.reports.layout import Section, Table
from workup.reports.spans.words import how, percent, share
from workup.reports.wording import number

REASONS = {
    "missing_turn": "the turn is missing in the transcript",
    "no_transcript": "the case has no transcript at all",
    "no_reply": "there is no reply",
    "not_asked": "no question was asked of this fact",
    "empty": "the reply is empty",
    "empty_reply": "the reply is empty",
    "refusal": "the model refused",
    "timeout": "the call timed out",
    "error": "the call failed",
}
ATTRIBUTES = (
    *("cited", "accurate", "thorough", "useful", "organised", "comprehensible", "succinct", "synthesised"),
    "stigmatising",
)
_RATE = {"value", "n"}
Held = Mapping[str, Any]


# ---- coverage --------------------------------------------------------------------------------------------------------


def coverage_section(report: Report) -> Section:
    """How much could be scored, why the rest could not, and what short conversations leave open."""
    numbers, setting = Numbers.of(report), Setting.of(report)
    e = numbers.get("coverage", setting.keys())
    if e is None:
        return Section("")
    said = []
    if e.value is None:
        said.append(f"Coverage is {value_words(e)}: {e.reason}.")
    else:
        below = "" if e.value >= 0.95 else " Below 95 % the headline is withheld: what failed could hide any answer."
        said.append(f"{percent(e.value)} of the facts that were due could be scored ({counted(e)}).{below}")
    reasons: Mapping[str, int] = table_of(report, "unscorable") or {}
    tables = []
    if reasons:
        ordered = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
        body = tuple((REASONS.get(name, name.replace("_", " ")), number(n)) for name, n in ordered)
        caption = "Why facts could not be scored, all arms together"
        tables.append(Table(("reason", "facts times turns"), body, caption))
    elif e.value == 1:
        said.append("Nothing failed and nothing is missing.")
    if reasons:
        said.append("A failed or missing reply scores nothing; it is never read as one that forgot.")
    reach = reached(table_of(report, "horizon"), setting.kind)
    said += [f"{capital(reach)}."] if reach else []
    return Section("What could be scored", tuple(said), tuple(tables), key="coverage")


# ---- readers ---------------------------------------------------------------------------------------------------------


def readers_section(report: Report) -> Section:
    """The matcher, the extractor of terms and the reader of advice, each with its measured error."""
    named = (
        ("matcher", f"Reader of replies ({Setting.of(report).study['matcher']})"),
        ("extractor", "Extractor of terms"),
        ("advice_reader", "Reader of advice"),
    )
    new = table_of(report, "first_sight") or {}
    said: list[str] = []
    rows = [("Replies that no rule was written from", *row) for row in measures(new, when="first seen")]
    for key, title in named:
        held = table_of(report, key)
        found = list(measures(held)) if isinstance(held, Mapping) else []
        if not found:
            said.append(f"{title}: the record holds no measured error.")
            continue
        rows += [(title, *row) for row in found]
        said += [f"{title}: {line}" for line in _about(held)]
    if not rows:
        return Section("")
    said[:0] = [
        "Every number above rests on what reads the replies. These are shares of labelled sentences that each reads "
        "rightly; the sentences are hard on purpose and do not describe this model's replies.",
        "'First seen' was measured before any rule was fitted to those sentences, and is the honest figure; 'today' is "
        "after the rules were mended on them.",
    ]
    heads = ("what reads", "measure", "when", "right", "95% interval", "of")
    tables = [Table(heads, tuple(rows), "Measured error of what reads the replies", titled=True)]
    held = table_of(report, "corrected") or {}
    if held.get("rows"):
        tables.append(_corrected(held))
    elif held.get("reason"):
        said.append(f"No recall was corrected for these errors: {held['reason']}.")
    return Section("What reads the replies, and how often it errs", tuple(said), tuple(tables), key="readers")


def judges_section(report: Report) -> Section:
    """What a judge read, how far readers agree with people, and the rates that labels give; nothing without either."""
    held = table_of(report, "readers") or {}
    judge, labels = held.get("judge") or {}, held.get("labels")
    said = []
    for kind, words in (("facts", "facts at a turn"), ("pairs", "pairs of advice")):
        read = judge.get(kind) or {}
        if read.get("read"):
            said.append(
                f"The judge read {number(read['read'])} {words}, each {judge['k']} times; its answers differed in "
                f"{number(read['not_unanimous'])} of them."
            )
    if labels is not None:
        said.append(
            f"People labelled {number(labels['units'])} drawn units; {number(labels['outside'])} labels were not blind "
            f"or not drawn, and {number(labels['of_changed_replies'])} units have another reply now: they do not count."
        )
    elif said:
        said.append("Without labels of people nothing that the judge says is shown: draw some with workup label draw.")
    if not said:
        return Section("")
    tables = []
    if held.get("agreement"):
        body = tuple(
            (
                str(row["units"]),
                str(row["reader"]),
                "any answer" if row["answers"] == "all" else f"{row['answers']} or not",
                share(row["kappa"]),
                _between(row["low"], row["high"]),
                number(row["labels"]),
                number(row["clusters"]),
            )
            for row in held["agreement"]
        )
        heads = ("units", "reader", "answers", "kappa", "90% interval", "labels", "clusters")
        tables.append(Table(heads, body, "Agreement with people (Cohen's kappa)", titled=True))
    found = [
        e
        for result in report.results.values()
        for e in result.estimates
        if "reader" in e.slice and "judge_run" not in e.slice and e.level == ONE_SIDED
    ]
    if found:
        rows = tuple(
            (
                e.metric.replace("_", " "),
                str(e.slice.get("type", "all")),
                "people and reader (prediction-powered)" if e.slice["reader"] == "ppi" else "reader alone",
                share(e.value),
                _between(e.low, e.high),
                str(e.reason or ""),
            )
            for e in found
        )
        titles = ("rate", "of", "by", "value", "90% interval", "what it rests on")
        tables.append(Table(titles, rows, "Rates that rest on labels of people", titled=True))
    return Section("Judge and people", tuple(said), tuple(tables), key="judges")


def _corrected(held: Held) -> Table:
    """Recall beside what it would be had the replies been read without error, by Rogan and Gladen."""
    body = tuple(
        (
            str(row["arm"]),
            str(row["set"]),
            share(row["raw"]),
            "not defined" if row["value"] is None else share(row["value"]),
            _between(row["low"], row["high"]),
            share(row["sensitivity"]["value"]),
            share(row["specificity"]["value"]),
            str(row.get("reason") or ""),
        )
        for row in held["rows"]
    )
    caption = f"Recall corrected by {number(held.get('labelled'))} labelled replies of this model (Rogan and Gladen)"
    heads = ("arm", "facts", "raw", "corrected", "95% interval", "sensitivity", "specificity", "reason")
    return Table(heads, body, caption, titled=True)


def measures(held: Held, *, when: str = "today", prefix: str = "") -> Iterator[tuple[str, str, str, str, str]]:
    """Every rate that a reader's table holds, at any depth: measure, when, right, interval, of how many."""
    for name, value in held.items():
        if name == "parts":  # which sentences were tuned on: in the record
            continue
        words = f"{prefix}{str(name).replace('_', ' ')}"
        if isinstance(value, Mapping) and set(value) >= _RATE:
            yield words, when, share(value["value"]), _between(value.get("low"), value.get("high")), _of(value)
        elif isinstance(value, Mapping):
            first = str(name).startswith("first_seen")
            about = words.replace("first seen", "").strip()
            yield from measures(value, when="first seen" if first else when, prefix=f"{about}: " if about else prefix)
        elif isinstance(value, (list, tuple)):
            yield from _by_category(value, when)


def _by_category(rows: Sequence[Any], when: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Rows of an extractor: precision and recall of all categories together, where it says so, else of each."""
    held = [row for row in rows if isinstance(row, Mapping) and "category" in row]
    for row in [row for row in held if row["category"] == "all"] or held:
        for measure, wrong in (("recall", "missed"), ("precision", "wrong")):
            if measure in row:
                low, high = row.get(f"{measure}_interval") or (None, None)
                of = f"{number(row['right'])}/{number(row['right'] + row[wrong])}"
                name = f"{measure} of {'all kinds' if row['category'] == 'all' else row['category']}"
                yield name, when, share(row[measure]), _between(low, high), of


def _between(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{share(low)} to {share(high)}"


def _of(rate: Held) -> str:
    return f"{number(rate['right'])}/{number(rate['n'])}" if rate.get("right") is not None else number(rate["n"])


def _about(held: Held) -> Iterator[str]:
    """Name, version and whatever else a reader says of itself in words."""
    name = " ".join(str(held[key]) for key in ("name", "version") if held.get(key))
    on = str(held.get("error_on") or "")
    counted = held.get("counted")
    kinds = f"counts {', '.join(map(str, counted))}" if isinstance(counted, (list, tuple)) else ""
    said = "; ".join(filter(None, (name, kinds, f"measured on {on}" if on else "")))
    if said:
        yield f"{said}."


# ---- quality ---------------------------------------------------------------------------------------------------------


def quality_section(report: Report) -> Section:
    """PDSQI-9 by people, a judge only beside its agreement; or that it was not assessed."""
    numbers = Numbers.of(report)
    title = "Documentation quality (PDSQI-9)"
    rated = [(name, numbers.get("pdsqi", {"attribute": name})) for name in ATTRIBUTES]
    held: Mapping[str, Any] = table_of(report, "quality") or {}
    if all(e is None or e.value is None for _, e in rated) and held.get("status") != "assessed":
        reason = next((why(e, "") for _, e in rated if e is not None), "nobody rated it")
        reason = reason.removeprefix("not assessed: ")
        return Section(title, (f"Not assessed: {held.get('reason') or reason}.",), key="quality")
    body = tuple(
        (
            name,
            "not assessed" if e is None or e.value is None else value_words(e),
            ends(e),
            "–" if e is None else number(e.n_patients),
            "" if e is None else how(e),
        )
        for name, e in rated
    )
    said = (
        "Ratings from 1 to 5 by people, mean over cases; for stigmatising, the share of yes, where less is better. "
        "A judge's score stands here only beside its agreement with people."
    )
    tables = [Table(("attribute", "mean", "95% interval", "cases", "how"), body, "Ratings by people", titled=True)]
    tables += _agreement(held)
    return Section(title, (said,), tuple(tables), key="quality")


_AGREEMENT = (("icc_2_1", "ICC(2,1)"), ("icc_2_k", "ICC(2,k)"), ("kappa_people", "weighted kappa, people"))


def _agreement(held: Held) -> Iterator[Table]:
    """How far people agree with each other, and a judge with them."""
    rows = []
    for row in held.get("agreement") or ():
        for key, words in _AGREEMENT:
            rows.append((str(row["attribute"]), words, *_agreed(row.get(key) or {})))
        for judge, kappa in (row.get("judges") or {}).items():
            rows.append((str(row["attribute"]), f"weighted kappa, judge {judge} and people", *_agreed(kappa)))
    if rows:
        heads = ("attribute", "measure", "value", "95% interval", "reason")
        yield Table(heads, tuple(rows), "Agreement behind the ratings", titled=True)
    judged = [row for row in held.get("means") or () if row.get("by") == "judge"]
    if judged:
        by_judge = tuple(
            (
                str(row["attribute"]),
                str(row.get("judge", "")),
                _mean(row),
                _between(row.get("low"), row.get("high")),
                number(row.get("cases")),
                str(row.get("reason") or ""),
            )
            for row in judged
        )
        of_judge = ("attribute", "judge", "mean", "95% interval", "cases", "reason")
        yield Table(of_judge, by_judge, "Ratings by a judge", titled=True)


def _agreed(found: Held) -> tuple[str, str, str]:
    value = found.get("value")
    told = "not defined" if value is None else share(value)
    return told, _between(found.get("low"), found.get("high")), str(found.get("reason") or "")


def _mean(row: Held) -> str:
    return str(row.get("status") or "not assessed") if row.get("mean") is None else number(float(row["mean"]))
