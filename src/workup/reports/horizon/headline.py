"""The sentences that a reader of a report on horizons should leave with, each with its interval and its n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workup.report import Report
from workup.reports.horizon.setting import at, horizons, primary, rows_at, short, words
from workup.reports.risk import headline as of_risk
from workup.reports.wording import count, percent, plural

_MOST_SAID = 4  # horizons of which each has its own sentence
_PARTED = 0.05  # by which complete cases must differ, as a share, to be worth a sentence


def headline(report: Report) -> Iterator[str]:
    """Who was followed, how many events the model expected by each horizon, then the primary horizon in full."""
    internal = report.results["internal"]
    about = internal.tables.get("summary")
    named, first = horizons(report), primary(report)
    rows = [row for row in internal.tables.get("followup", ()) if not row["slice"]]
    known = [row for row in rows if row["oe_ratio"] is not None]
    if about and known:
        yield _followed(about, known[-1])
    if of_risk.backwards(report):
        yield from of_risk.about_model(at(report, first))
        return
    for horizon in named if len(named) <= _MOST_SAID else [first]:
        yield from _expected(report, horizon, alone=horizon != first)
    for sentence in of_risk.about_model(at(report, first)):
        yield f"By {short(first)}: {sentence[:1].lower()}{sentence[1:]}"
    yield from _left_out(rows_at(rows, first), first)


def _followed(about: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    """How many there were, and what had become of them by the last horizon of which anything is known."""
    by = f"by {short(whole['horizon'])}"
    lost = whole["censored_before"]
    gone = f"{count(lost)} were lost before; those who stayed stand in for them" if lost else "nobody was lost before"
    said = f"{plural(about['patients'], 'patient')}"
    if about["rows"] != about["patients"]:
        first = f", {count(whole['competing'])} by a competing event first" if about["competing"] else ""
        said += f" with {plural(about['rows'], 'prediction')}, of which {by} {count(whole['events'])} were followed by "
        return f"{said}the event{first}, and {gone}.{_weighted(about)}"
    first = f", {count(whole['competing'])} had a competing event first" if about["competing"] else ""
    return f"{said}: {by} {count(whole['events'])} had the event{first}, and {gone}.{_weighted(about)}"


def _weighted(about: Mapping[str, Any]) -> str:
    return " These counts are sums of design weights." if about["weighted"] else ""


def _expected(report: Report, horizon: str, *, alone: bool) -> Iterator[str]:
    """Observed and predicted; with O/E where no other sentence speaks of this horizon."""
    seen = at(report, horizon)
    observed, ratio = (of_risk.found(seen, name) for name in ("observed_risk", "oe_ratio"))
    about = seen.results["internal"].tables.get("summary")
    if observed is None or ratio is None or about is None:
        yield f"By {words(horizon)} nothing can be said: {_why(seen)}."
        return
    yield (
        f"By {words(horizon)} {of_risk.share(observed)} had the event{of_risk.between(observed)}; the model predicted "
        f"{percent(about['predicted'])} on average."
    )
    if alone:
        sentence = of_risk.per_hundred(seen, ratio)
        yield f"By {short(horizon)}: {sentence[:1].lower()}{sentence[1:]}"


def _why(seen: Report) -> str:
    held = (e for e in seen.results["internal"].estimates if e.metric == "auroc" and not e.slice and e.reason)
    return next((str(e.reason) for e in held), "the figures are not in the record")


def _left_out(rows: list[Mapping[str, Any]], horizon: str) -> Iterator[str]:
    """What leaving out those lost would have said, where it would have said something else."""
    whole = next((row for row in rows if not row["slice"]), None)
    if whole is None or not whole["oe_ratio"] or not whole["oe_complete_cases"]:
        return
    ours, naive = whole["oe_ratio"], whole["oe_complete_cases"]
    if abs(naive / ours - 1) > _PARTED:
        yield (
            f"Leaving out the {count(whole['censored_before'])} lost before {short(horizon)} would have given "
            f"{100 * naive:.0f} events for every 100 expected in place of {100 * ours:.0f}."
        )
