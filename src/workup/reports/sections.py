"""A report as titled sections of sentences and tables. Renderers only lay them out; no data are read here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workup.report import Z_POWER, Estimate, LensResult, Report
from workup.reports import case_mix, split, withheld
from workup.reports.charts.panels import benefit_table, chance_words, decision_rows, ends_table
from workup.reports.conversation import report as conversation
from workup.reports.conversation.setting import is_conversation, noun
from workup.reports.conversation.setting import narrowed as at_primary
from workup.reports.conversation.words import in_units, said_in
from workup.reports.drift import report as drift
from workup.reports.groups import BY_GROUP, by_group, comparisons, parity, smallest_gaps
from workup.reports.layout import Section, Table
from workup.reports.power import report as power
from workup.reports.risk import sweeps
from workup.reports.sites import report as sites
from workup.reports.spans import report as spans
from workup.reports.spans.setting import is_spans, narrowed
from workup.reports.wording import (
    METRIC_TITLES,
    at_threshold,
    count,
    headline,
    interval,
    not_told,
    number,
    p_value,
    signed,
    slice_name,
)

__all__ = ["Section", "Table", "sections"]


Z_INTERVAL = 1.95996  # of the 95 % intervals that are read here
TITLE = "Validation report"
MONTE_CARLO = (
    "The optimism is a mean over refits and has an error of its own, which more refits make smaller. It should be "
    "below a tenth of the standard error of the value."
)
HOLDS_TEXT = "THIS REPORT HOLDS PATIENT TEXT."
OVERALL = (
    "auroc",
    "auprc",
    "calibration_slope",
    "calibration_in_the_large",
    "oe_ratio",
    "brier",
    "scaled_brier",
    "nagelkerke_r2",
    "ici",
    "e50",
    "e90",
    "emax",
    "ece",
)
DECISIONS = ("sensitivity", "specificity", "ppv", "npv", "alert_rate", "net_benefit", "accuracy", "f1")


def sections(report: Report) -> list[Section]:
    """The report, in the order people know; a plan has no data, and so neither gates nor limits of them."""
    if report.study.get("task") == "plan":
        return _kept([_header(report), _summary(report), *power.sections(report)])
    found = [_header(report), _summary(report), _verdicts(report), *withheld.section(report)]
    internal = report.results.get("internal")
    if is_spans(report):
        return _kept([*found, *_of_detector(report)])
    if is_conversation(report):
        return _kept([*found, *_of_chat_model(report)])
    if internal is not None:
        found += split.sections(internal.tables["split"]) if internal.tables.get("split") else []
        found += [
            _overall(internal),
            *_decisions(internal),
            *_corrected(internal),
            _calibration(internal),
            _benefit(internal),
        ]
    found += sweeps.sections(report)
    if "subgroups" in report.results:
        groups = report.results["subgroups"]
        found += [*by_group(groups, _HEADS, _rows), *comparisons(groups), *parity(groups)]
        found += case_mix.section(groups, title="How the groups differ in inputs and risks", key="case-mix")
    found += [*sites.sections(report), *power.sections(report), *drift.sections(report)]
    found.append(_smallest(report))
    if "subgroups" in report.results and report.results["subgroups"].tables.get("smallest_difference"):
        found.append(smallest_gaps(report.results["subgroups"]))
    found.append(_limits(report))
    return _kept(found)


def _of_detector(report: Report) -> Iterator[Section]:
    """The body of a detector's report; what lenses found is shown at the rule set of the headline."""
    seen = narrowed(report)
    yield from spans.sections(report)
    yield from spans.groups(report)
    yield from (*sites.sections(seen), *power.sections(seen), *drift.sections(seen))
    yield _smallest(report)
    yield from spans.smallest_groups(report)
    yield from spans.documents(report)
    yield spans.limits(report)


def _of_chat_model(report: Report) -> Iterator[Section]:
    """The body of a chat model's report; what lenses found is shown at the set and arm of the headline."""
    seen, unit = at_primary(report), noun(report)
    yield from conversation.sections(report)
    yield from conversation.groups(report)
    for section in (*sites.sections(seen), *power.sections(seen), *drift.sections(seen), _smallest(report)):
        yield in_units(section, unit)
    yield from conversation.smallest_groups(report)
    yield conversation.limits(report)


def _kept(found: Iterable[Section]) -> list[Section]:
    return [section for section in found if section.sentences or section.tables or section.points]


def kind(report: Report) -> str:
    """What kind of report this is, by the questions it answers."""
    asked = set(report.results)
    if asked == {"power"}:
        return "Sample-size report"
    if "internal" not in asked and len(asked) == 1:
        return {"sites": "External validation report", "drift": "Monitoring report"}.get(asked.pop(), TITLE)
    return spans.TITLE if is_spans(report) else conversation.TITLE if is_conversation(report) else TITLE


def _header(report: Report) -> Section:
    corpus, system = report.corpus, report.system
    cases = f"{number(corpus['n_cases'])}, {number(corpus['n_patients'])}" if corpus["n_cases"] else ""
    rows = [
        ("Study", str(report.study.get("name", ""))),
        ("System", " ".join(filter(None, dict.fromkeys((str(system["name"]), str(system["version"])))))),
        ("Corpus", " ".join(filter(None, (str(corpus["name"]), str(corpus["version"]))))),
        (_counted(report), cases),
        ("Corpus sha256", str(corpus["sha256"])),
        ("Seed", str(report.seed)),
        ("As of", report.as_of or "not given"),
        *(spans.header_rows(report) if is_spans(report) else ()),
        *(conversation.header_rows(report) if is_conversation(report) else ()),
        (
            "Made with",
            f"Workup {report.workup}, " + ", ".join(f"{k} {v}" for k, v in sorted(report.environment.items())),
        ),
        ("Record sha256", report.sha256),
    ]
    marked = (
        *((HOLDS_TEXT,) if report.contains_phi else ()),
        *withheld.warning(report),
        *spans.broken_scorer(report),
        *report.alarms(),
    )
    rows = [(name, value) for name, value in rows if value]
    return Section(kind(report), marked, (Table(("", ""), tuple(rows)),), key="record")


def _counted(report: Report) -> str:
    if is_conversation(report):
        return "Cases, clusters that intervals count"
    return "Documents, patients" if is_spans(report) else "Cases, patients"


def _summary(report: Report) -> Section:
    notes = [note for result in report.results.values() for note in result.notes]
    # How rows map to patients decides every interval, so it is said before anything else.
    first = [note for note in notes if note.startswith(("No patient column", "No document names a patient"))]
    rest = [note for note in notes if note not in first]
    seen = at_primary(narrowed(report))
    own = spans.headline(report) if is_spans(report) else ()
    if is_conversation(report):
        own, rest = conversation.headline(report), [said_in(note, noun(report)) for note in rest]
    said = (*first, *own, *headline(seen), *drift.headline(seen))
    return Section("In plain words", said, points=tuple(rest), key="summary")


def _verdicts(report: Report) -> Section:
    if not report.verdicts:
        return Section("Gates", ("No gate was set, so this report decides nothing by itself.",), key="gates")
    rows = tuple((v.outcome.replace("_", " "), v.rule, v.reason) for v in report.verdicts)
    return Section(
        "Gates",
        (conversation.GATES,) if is_conversation(report) else (),
        (Table(("outcome", "rule", "reason"), rows, "Gates and their verdicts"),),
        key="gates",
    )


def _rows(estimates: Iterable[Estimate]) -> Iterator[tuple[str, ...]]:
    for e in estimates:
        if not_told(e):
            yield (METRIC_TITLES.get(e.metric, e.metric), "–", "–", "–", "", "", _method(e))
            continue
        counted = "" if e.numerator is None else f"{count(e.numerator)}/{count(e.denominator)}"
        events = "" if e.n_events is None else number(e.n_events)
        yield (
            METRIC_TITLES.get(e.metric, e.metric),
            number(e.value),
            interval(e),
            number(e.n_patients),
            events,
            counted,
            _method(e),
        )


_HEADS = ("metric", "value", "interval", "patients", "events", "counts", "how")


def _method(e: Estimate) -> str:
    return e.method if e.status == "ok" else f"{e.status}: {e.reason}"


def _plain(estimates: Iterable[Estimate], names: Sequence[str], level: float) -> list[Estimate]:
    rows = [e for e in estimates if e.metric in names and e.level == level]
    return sorted(rows, key=lambda e: names.index(e.metric))


def _overall(result: LensResult) -> Section:
    sub = []
    for level in sorted({e.level for e in result.estimates}, reverse=True):
        rows = _plain([e for e in result.estimates if not e.slice], OVERALL, level)
        if rows:
            heads = (_HEADS[0], _HEADS[1], f"{level:.0%} interval", *_HEADS[3:])
            shown = _with_company(result, zip(rows, _rows(rows), strict=True), level)
            sub.append(Table(heads, tuple(shown), f"All patients together, {level:.0%} intervals"))
    return Section("Overall", tables=(*sub, *_calibration_tests(result)), key="overall")


def _calibration_tests(result: LensResult) -> Iterator[Table]:
    """Tests, whose statistic has a p value and no interval."""
    rows = tuple(
        (
            str(row["test"]),
            "–" if row["z"] is None else signed(row["z"]),
            p_value(row["p"]),
            number(row["n_patients"]),
            number(row["n_events"]),
            str(row["reason"] or row["method"]),
        )
        for row in result.tables.get("calibration_tests", ())
    )
    if rows:
        heads = ("test", "z", "p", "patients", "events", "how")
        caption = "Test that every risk is right: a small p refutes it, a large one proves nothing"
        yield Table(heads, rows, caption, titled=True)


def _with_company(
    result: LensResult, rows: Iterable[tuple[Estimate, tuple[str, ...]]], level: float
) -> Iterator[tuple[str, ...]]:
    """Figures that would mislead alone, with what must stand beside them."""
    without = result.tables.get("slope_without_ends")
    chance = (result.tables.get("calibration_curve") or {}).get("by_chance")
    for e, row in rows:
        yield row
        if e.metric == "calibration_slope" and without and level == 0.95:
            [(_, *rest)] = _rows([Estimate(**without["without"])])
            yield (f"{row[0]} without risks of 0 or 1", *rest)
        if e.metric == "ici" and chance and level == 0.95:
            mean, most = chance["ici"]["mean"], number(chance["ici"]["p95"])
            how = f"outcomes drawn from the risks {chance['draws']} times; 95th percentile {most}"
            yield (f"{row[0]} expected by chance", number(mean), "–", *row[3:5], "", how)


def _decisions(result: LensResult) -> Iterator[Section]:
    thresholds = sorted({e.slice["threshold"] for e in result.estimates if set(e.slice) == {"threshold"}})
    for threshold in thresholds:
        rows = [e for e in result.estimates if dict(e.slice) == {"threshold": threshold}]
        found = _plain(rows, DECISIONS, 0.95)
        said = (f"Everyone with a risk of {threshold:g} or more is flagged.",)
        title = f"Decisions at a threshold of {threshold:g}"
        yield Section(title, said, (Table(_HEADS, tuple(_rows(found)), title),), key=f"decisions:{threshold:g}")


def _corrected(result: LensResult) -> Iterator[Section]:
    kinds = dict.fromkeys(str(e.slice["validation"]) for e in result.estimates if "validation" in e.slice)
    for kind in kinds:
        rows = [e for e in result.estimates if e.slice.get("validation") == kind and e.level == 0.95]
        shown = [e for e in rows if e.metric in BY_GROUP]
        table = Table(
            ("where", *_HEADS),
            tuple(
                (slice_name({k: v for k, v in e.slice.items() if k != "validation"}), *row)
                for e, row in zip(shown, _rows(shown), strict=True)
            ),
            f"Refitted: {kind}",
        )
        more = _monte_carlo(result) if kind == "optimism-corrected" else ()
        said = (MONTE_CARLO,) if more else ()
        yield Section(f"Refitted: {kind}", said, (table, *more), key=f"refitted:{kind}")


def _monte_carlo(result: LensResult) -> tuple[Table, ...]:
    """Optimism with the error that the number of refits leaves in it."""
    rows = tuple(
        (
            at_threshold(row["metric"], row["slice"]),
            number(row["apparent"]),
            signed(row["optimism"]),
            number(row["monte_carlo_se"]),
            number(row["corrected"]),
            number(row["se"]),
            number(row["refits"]),
            f"about {row['refits_needed']:,} refits" if row["refits_needed"] else "enough" if row["se"] else "–",
        )
        for row in result.tables.get("optimism", ())
        if row["metric"] in BY_GROUP
    )
    heads = ("metric", "apparent", "optimism", "Monte-Carlo SE", "corrected", "SE of the value", "refits", "needed")
    return (Table(heads, rows, "Optimism and its Monte-Carlo error", titled=True),) if rows else ()


def _calibration(result: LensResult) -> Section:
    curve = result.tables.get("calibration_curve")
    if not curve:
        return Section("Calibration")
    rows = tuple(
        (str(i + 1), number(r["n"]), number(r["risk"]), number(r["observed"])) for i, r in enumerate(curve["rug"])
    )
    said = (
        "Rows in tenths by risk, equal risks together. The curve is a restricted cubic spline; its points and band are "
        "in report.json.",
    )
    tables = [Table(("tenth", "rows", "mean risk", "observed"), rows, "Mean risk and observed share in tenths by risk")]
    if curve.get("ends"):
        tables.append(ends_table(curve["ends"]))
    return Section("Calibration", (*said, *chance_words(result)), tuple(tables), key="calibration")


def _benefit(result: LensResult) -> Section:
    curve = decision_rows(result)
    if not curve:
        return Section("Decision curve")
    shown = [row for row in curve if round(row["threshold"] * 100) % 5 == 0 and row["threshold"] <= 0.5]
    said = [
        "Net benefit per row of treating by the model, of treating everyone and of treating no one (0). What the model "
        "gains over treating no one is its net benefit itself."
    ]
    if any(row.get("low") is not None for row in shown):
        said.append("95 % intervals are pointwise, each threshold by itself.")
    said += sorted({str(row["reason"]).partition(": ")[2] for row in shown if row.get("reason")})
    return Section("Decision curve", tuple(said), (benefit_table(shown),), key="decision-curve")


def _smallest(report: Report) -> Section:
    """What the data could not have seen is as important as what they show."""
    rows = []
    if is_spans(report):
        rows = [
            ("everyone", at_threshold(e.metric, {}), number(e.n_patients), _smallest_of(e))
            for e in spans.smallest(report)
        ]
    if is_conversation(report):
        rows = [("all cases", name, number(e.n_patients), _smallest_of(e)) for name, e in conversation.smallest(report)]
    for name, result in report.results.items():
        if result.tables.get("smallest_difference") or name == "drift":  # compared with each other, or with a baseline
            continue
        for e in result.estimates:
            if e.level != 0.95 or e.se is None or e.status != "ok" or "validation" in e.slice:
                continue
            if e.metric in ("auroc", "sensitivity", "specificity", "calibration_slope"):
                group = {k: v for k, v in e.slice.items() if k != "threshold"}
                if name == "sites" and len(group) > 1:  # a group at one site: the section of the sites shows it
                    continue
                who = slice_name(group) if name != "internal" else "everyone"
                rows.append((who, at_threshold(e.metric, e.slice), number(e.n_patients), _smallest_of(e)))
    said = (
        "The smallest departure from a fixed reference that a study of this size would find with 80 % power "
        "(two-sided 5 %; 2.80 standard errors). Smaller ones may exist unseen."
    )
    table = Table(("who", "metric", "patients", "smallest difference"), tuple(rows), "Smallest difference")
    title = "Smallest difference these data could see"
    return Section(title, (said,), (table,), key="smallest") if rows else Section("")


def _smallest_of(e: Estimate) -> str:
    """From the interval where that is wider than the standard error, which is 0 for a share of all or none."""
    if e.low is None or e.high is None or e.se is None:
        return "–"
    return number(Z_POWER * max(e.se, (e.high - e.low) / (2 * Z_INTERVAL)))


def _limits(report: Report) -> Section:
    return Section(
        "Limits",
        points=(
            "An interval allows for the play of chance among patients like these, not for patients of another kind, "
            "place or time.",
            "A model that was fitted on these patients looks better here than it is; refit it or test it elsewhere.",
            "If clinicians acted on the risks, outcomes changed with them, and no figure here is the untreated truth.",
        ),
        key="limits",
    )
