"""A plan on paper: what is watched, who does what, and what is promised, as sections of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workup.monitor.plan import Plan
from workup.monitor.promise import LONGEST, Promise
from workup.reports.layout import Section, Table


def sections(plan: Plan, promised: Mapping[int, Sequence[Promise]] | None = None) -> list[Section]:
    """The whole plan; `promised` holds, by the number of a line, what its baseline lets be promised."""
    base = plan.baseline
    start = "the first row" if base.start is None else base.start.isoformat()
    return [
        Section(
            f"Monitoring plan of {plan.model}",
            (
                f"Version {plan.version}, compared with its rows from {start} until {base.until.isoformat()}. "
                f"Windows are one {plan.cadence} long; outcomes are waited for {plan.label_delay:g} days.",
                f"False alarms: in at most {100 * plan.chance:g} % of stable years does anything alarm, all lines "
                "and the feed together.",
                "An alert opens when the chart signals, the change reaches its limit, and the 95 % interval of the "
                f"change excludes none. After {plan.quiet} quiet windows it is resolved.",
            ),
            (
                Table(
                    ("what", "limit", "high", "chart", "every", "owner", "agreed action", "escalation"),
                    (*(_line(plan, place) for place in range(len(plan.watch))), _feed(plan)),
                    "What is watched, and who does what",
                ),
            ),
            points=(f"Plan {plan.sha256[:16]}",),
        ),
        _noticed(plan, promised),
    ]


def _line(plan: Plan, place: int) -> tuple[str, ...]:
    line = plan.watch[place]
    agreed = line.agreed(plan)
    limits = f"{line.limit:g}", f"{line.high or 2 * line.limit:g}"
    return (line.said, *limits, line.chart, plan.cadence_of(line), *agreed.values())


def _feed(plan: Plan) -> tuple[str, ...]:
    part = plan.integrity
    said = (
        f"the feed: rows ±{100 * part.rows:g} %, silence, duplicates, rows without risk, outcomes that arrive, inputs"
    )
    return (said, f"{part.share:g}", f"{2 * part.share:g}", "ewma", plan.cadence, *part.agreed(plan).values())


def _noticed(plan: Plan, promised: Mapping[int, Sequence[Promise]] | None) -> Section:
    title = "How soon a change as large as its limit is noticed"
    if promised is None:
        said = "Not known without the baseline's rows. To fix: name them with --baseline, or let a store freeze them."
        return Section(title, (said,))
    rows = tuple(_promise(one) for place in sorted(promised) for one in promised[place])
    said = (
        "Expected windows from the change until the alert, the window of the change counted as the first. A change of "
        "exactly the limit looks smaller than it in half of all windows, so larger changes are noticed sooner. "
        f"A dash: more than one in a hundred such changes is not noticed within {LONGEST} windows."
    )
    heads = (
        "series",
        "baseline",
        "error of a window",
        "change",
        "expected windows",
        "within 3 windows",
        "within a year",
    )
    return Section(title, (said,), (Table(heads, rows, "Expected delay by series"),))


def _promise(one: Promise) -> tuple[str, ...]:
    return (
        one.said,
        _figure(one.baseline, ".3f"),
        _figure(one.error, ".3f"),
        f"{one.change:g}",
        _figure(one.windows, ".1f"),
        _figure(one.within_3, ".0%"),
        _figure(one.within_year, ".0%"),
    )


def _figure(value: float | None, form: str) -> str:
    return "–" if value is None or not np.isfinite(value) else format(value, form)
