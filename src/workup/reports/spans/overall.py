"""The first pages of a detector's report: the corpus, the headline numbers, and what may be claimed of leaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workup.report import Estimate, LensResult, Report
from workup.reports.layout import Section, Table
from workup.reports.spans.setting import LEVEL, Primary, found
from workup.reports.spans.words import LEVELS, counted, ends, how, percent, rule, share
from workup.reports.wording import measured, metric_title, metric_words, number, patients, plural

HEADS = ("metric", "value", "95% interval", "patients", "counts", "how")
_RATES = ("recall", "precision", "f1", "f2")  # those that a mode and a level decide


def header_rows(report: Report) -> list[tuple[str, str]]:
    """What a reader must know to compare this report with another: policy, rules, labels and the scorer's own test."""
    internal = report.results.get("internal", LensResult("internal"))
    primary, study = Primary.of(report), report.study
    corpus = study.get("corpus") or {}
    policies = [str(row["name"]) for row in internal.tables.get("policies", ())] or [primary.policy]
    test = internal.tables.get("selftest") or {}
    rows = [
        ("Policy", ", ".join(policies) + (f" (headline: {primary.policy})" if len(policies) > 1 else "")),
        ("Rules of the headline", f"{primary.mode} at level {primary.level}: {rule(primary.mode)}"),
        ("Labels read as", str(study.get("labels") or "workup")),
        ("Annotators", str(corpus.get("annotators") or "") if corpus.get("annotators") != "each" else ""),
        ("Cut from every gold", str(corpus.get("trim") or "")),
        ("Offsets given as", str(corpus.get("offsets") or "") if corpus.get("offsets") != "codepoint" else ""),
        ("Ignored labels", ", ".join(map(str, study.get("ignore") or ()))),
        ("Equivalent labels", ", ".join(map(str, study.get("equivalent") or ()))),
        ("Sample", str(study.get("sample") or "")),
        ("Scorer self-test", str(test.get("line") or "not in this record")),
    ]
    return [row for row in rows if row[1]]


def broken_scorer(report: Report) -> tuple[str, ...]:
    """The line of a self-test that failed: no number below it can be trusted."""
    internal = report.results.get("internal")
    test = internal.tables.get("selftest") if internal is not None else None
    return (str(test["line"]),) if test and test["passed"] < test["of"] else ()


def headline(report: Report) -> Iterator[str]:
    """The sentences a reader should leave with, each with its interval and n."""
    internal = report.results.get("internal")
    if internal is None:
        return
    primary = Primary.of(report)
    about = internal.tables.get("summary") or {}
    if about:
        yield (
            f"{plural(about['documents'], 'document')} with "
            f"{plural(about.get('identifiers', about['golds']), 'identifier')} that must be masked (of "
            f"{plural(about['golds'], 'mark')} of {plural(about['labels'], 'type')} in all) were given to the system, "
            f"which masked {plural(about['predictions'], 'place')}. What must be masked is set by the policy "
            f"{primary.policy}."
        )
    for metric, words in _SENTENCES.items():
        if metric == "leaks":
            yield from _leaks(internal, primary)
            continue
        e = found(internal.estimates, metric, primary.rule() if metric in _RATES else primary.policy_key())
        if e is not None:
            yield _sentence(e, words) + (f" Found means: {rule(primary.mode)}." if metric == "recall" else "")


_SENTENCES = {
    "recall": "Of every 100 identifiers that must be masked it found {}",
    "leaks": "",
    "precision": "Of every 100 places it masked, {} had to be masked",
    "over_redaction": "Of every 100 characters that identify no one it masked {}",
}


def _sentence(e: Estimate, words: str) -> str:
    if e.value is None:
        return f"{metric_title(e.metric).capitalize()} is {e.status}: {e.reason}."
    counts = "" if e.numerator is None else f"; {counted(e)}"
    said = words.format(_hundred(e.value))
    if e.low is None or e.high is None:
        return f"{said} (no interval: {e.reason}{counts})."
    between = f"{LEVEL:.0%} interval {_hundred(e.low)} to {_hundred(e.high)}"
    return f"{said} ({between}{counts}, {plural(e.n_patients, 'patient')})."


def _hundred(value: float) -> str:
    return percent(value).removesuffix(" %")


def _leaks(internal: LensResult, primary: Primary) -> Iterator[str]:
    for metric, whom in (("leak_rate_document", "documents"), ("leak_rate_patient", "patients")):
        e = found(internal.estimates, metric, primary.policy_key())
        if e is None or e.value is None:
            continue
        if e.value == 0 and e.high is not None:
            yield (
                f"None of {number(int(e.denominator or 0))} {whom} with identifiers let anything through. That rules "
                f"out a true rate above {percent(e.high)} (one-sided {LEVEL:.0%}), and no lower one."
            )
        else:
            between = (
                "" if e.low is None or e.high is None else f", 95 % interval {percent(e.low)} to {percent(e.high)}"
            )
            yield (
                f"In {percent(e.value)} of the {whom} with identifiers ({counted(e)}{between}) at least one of them "
                "stayed visible, whole or in part."
            )


# ---- sections --------------------------------------------------------------------------------------------------------


def corpus(internal: LensResult) -> Section:
    """How much was tested, and on what."""
    about: Mapping[str, Any] = internal.tables.get("summary") or {}
    wanted = (
        ("documents", "documents"),
        ("readings", "readings (documents times annotators)"),
        ("characters", "characters"),
        ("golds", "golds, clinical terms and other marks among them"),
        ("identifiers", "golds that must be masked (primary policy)"),
        ("labels", "types of identifiers"),
        ("documents_without_golds", "documents without any mark"),
        ("negative_documents", "documents in which nothing must be masked"),
        ("language_uncertain", "documents of uncertain language"),
        ("not_answered", "documents the system gave no answer on"),
        ("predictions", "predictions"),
        ("outside_text", "predictions outside their text"),
        ("unknown_document", "predictions of unknown documents"),
    )
    rows = tuple((words, number(about[key])) for key, words in wanted if key in about)
    tables = [Table(("what", "count"), rows, "The corpus in counts")] if rows else []
    labels = internal.tables.get("labels") or {}
    seen = sorted({*labels.get("golds", {}), *labels.get("predictions", {})})
    if seen:
        by_size = sorted(seen, key=lambda name: (-labels.get("golds", {}).get(name, 0), name))
        body = tuple(
            (name, *(number(labels.get(side, {}).get(name, 0)) for side in ("golds", "predictions")))
            for name in by_size
        )
        tables.append(Table(("type", "golds", "predictions"), body, "Types in the corpus and in the predictions"))
    unmapped = [
        (name, whose, number(times))
        for whose, key in (("golds", "unmapped_golds"), ("predictions", "unmapped_predictions"))
        for name, times in (labels.get(key) or {}).items()
    ]
    if unmapped:
        tables.append(Table(("label", "of", "count"), tuple(unmapped), "Labels without a canonical name"))
    tables += _emitted(internal.tables.get("emits") or {})
    policies = tuple(
        (str(p["name"]), str(p["describe"]), str(p["source"])) for p in internal.tables.get("policies", ())
    )
    if policies:
        tables.append(Table(("policy", "what it asks", "source"), policies, "Policies"))
    said = "What the system was tested on. Every document counts, also those it gave no answer on."
    return Section("Corpus", (said,) if tables else (), tuple(tables), key="corpus")


def _emitted(emits: Mapping[str, Any]) -> Iterator[Table]:
    """Types that the system can name, where it says so: a type it cannot name is missed at leaf whatever it does."""
    if emits.get("declared") is None:
        return
    rows = tuple(
        (words, ", ".join(map(str, emits[key])))
        for key, words in (
            ("declared", "types the system says it can emit"),
            ("reached", "types of the corpus among them"),
            ("not_reached", "types of the corpus it cannot emit"),
            ("unmapped", "types it emits that have no canonical name"),
        )
        if emits.get(key)
    )
    yield Table(("what", "types"), rows, "Types the system can emit")


def overall(internal: LensResult, primary: Primary) -> Section:
    """The headline numbers under each policy, the primary one first."""
    policies = [str(row["name"]) for row in internal.tables.get("policies", ())] or [primary.policy]
    ordered = sorted(policies, key=lambda name: name != primary.policy)
    tables = []
    for policy in ordered:
        rows = list(_of_policy(internal, primary, policy))
        if rows:
            caption = "All documents together" + (f", policy {policy}" if primary.several else "")
            tables.append(Table(("metric", "what it says", *HEADS[1:]), tuple(_named(rows)), caption))
    said = (
        f"Recall, precision and F are taken at {primary.mode}, level {primary.level} "
        f"({LEVELS.get(primary.level, primary.level)}). A gold is found by this rule: {rule(primary.mode)}. "
        "Specificity carries its unit in its name, since a share of what is not there has no meaning without one. "
        "Intervals are by patients."
    )
    return Section("Overall", (said,) if tables else (), tuple(tables), key="overall")


def _of_policy(internal: LensResult, primary: Primary, policy: str) -> Iterator[Estimate]:
    for metric in measured():
        own = primary.policy_key(policy)
        if metric in _RATES:
            own = {"mode": primary.mode, "level": primary.level, **own}
        for e in internal.estimates:
            keys = {key: value for key, value in e.slice.items() if key != "identifier"}
            if e.metric == metric and e.level == LEVEL and keys == own:
                yield e


def _named(rows: Iterable[Estimate]) -> Iterator[tuple[str, ...]]:
    for e, row in zip(list(rows), estimate_rows(rows), strict=True):
        kind = e.slice.get("identifier")
        yield (row[0] + (f", {kind} identifiers" if kind else ""), metric_words(e.metric), *row[1:])


def estimate_rows(estimates: Iterable[Estimate]) -> Iterator[tuple[str, ...]]:
    """Cells under HEADS."""
    for e in estimates:
        yield metric_title(e.metric), share(e.value), ends(e), patients(e), counted(e), how(e)


def claims(internal: LensResult, primary: Primary) -> Section:
    """How many clean patients it takes to rule out a rate of leaks, and how many are still missing."""
    rows = internal.tables.get("leak_claims") or ()
    if not rows:
        return Section("")
    leaking, patients = rows[0]["leaking"], rows[0]["patients"]
    if leaking:
        said = (
            f"{number(leaking)} of {plural(patients, 'patient')} with identifiers leaked, so no claim can rest on "
            f"clean patients alone.{_ruled_out(internal, primary)}"
        )
    else:
        said = (
            f"No leak in {plural(patients, 'patient')} with identifiers. The more clean patients, the smaller the rate "
            "that can be ruled out (one-sided 95 %, patients independent of each other)."
        )
    body = tuple(
        (
            f"fewer than {100 * row['rate']:g} % of patients leak",
            number(row["needed"]),
            number(row["patients"]),
            number(row["leaking"]),
            "leaks were seen" if row["still_needed"] is None else number(row["still_needed"]),
        )
        for row in rows
    )
    heads = ("claim", "clean patients needed", "patients seen", "of them leaking", "clean patients still needed")
    return Section(
        "What may be claimed of leaks", (said,), (Table(heads, body, "Claims and what they take"),), key="claims"
    )


def _ruled_out(internal: LensResult, primary: Primary) -> str:
    for metric, whom in (("leak_rate_patient", "patients"), ("leak_rate_document", "documents")):
        e = found(internal.estimates, metric, primary.policy_key())
        if e is not None and e.value is not None and e.high is not None and e.high < 1:
            return (
                f" What these data rule out is a rate above {percent(e.high)} of {whom}, the upper end of its interval."
            )
    return ""
