"""What may be done, by the kind of drift that shows. Options are words for whoever decides; nothing acts on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workup.report import LensResult
from workup.reports.drift.series import Row, every_series, last_judged, metric_words
from workup.reports.wording import number

_MISSING = " (missing)"
_RANKING = ("auroc", "auprc")
_MEANING = (
    *("calibration_slope", "calibration_in_the_large", "oe_ratio", "risk_adjusted_cusum"),
    *("brier", "scaled_brier", "ici", "ece"),
)


def options(result: LensResult) -> list[str]:
    """What may be done, by the kind of drift that shows; a person decides."""
    flagged = flagged_now(result)
    if last_judged(result) is None and not flagged:
        return ["No option can be named: no window could be judged."]
    alerts = [alert for alert in result.alerts if alert["state"] != "resolved"]
    said = [*_for_inputs(flagged), *_for_performance(result, [a for a in alerts if a["type"] == "performance"])]
    if any(alert["type"] == "fairness" for alert in alerts):
        said.append(
            "A gap has widened: look at the group's own charts; recalibrate or retrain with that group in view."
        )
    moved = [str(row["input"]) for row in flagged if not _of_the_feed(row)]
    if moved or "covariate" in _kind(result):
        said.append(
            f"Other patients come than in the baseline ({', '.join(moved) or 'other risks are given'}). Where "
            "performance holds, nothing need be changed, but the validation was of other patients: watch on."
        )
    if said:
        return said
    if alerts:
        return ["Wait: the causes of the active alerts do not show in the last window, and quiet windows resolve them."]
    return [
        "Nothing to do: no alert is active, and no kind of drift shows among those that could be looked at. These "
        "windows would not have seen every change; the smallest they could see stands beside each metric."
    ]


def _for_inputs(flagged: Sequence[Row]) -> Iterator[str]:
    feed = [str(row["input"]) for row in flagged if _of_the_feed(row)]
    if feed:
        yield f"Check the feed first: {', '.join(feed)}. No model can be mended for data that do not come."


def _of_the_feed(row: Row) -> bool:
    """Values that stopped coming, came in forms never seen, or left a constant behind: a matter of plumbing."""
    return str(row["input"]).endswith(_MISSING) or bool(row.get("unseen_levels")) or row["effect"] is None


def _for_performance(result: LensResult, alerts: Sequence[Row]) -> Iterator[str]:
    kind = _kind(result)
    mix = [alert for alert in alerts if alert["metric"] in _RANKING and _by_mix(result, alert)]
    ranking = _listed([alert for alert in alerts if alert not in mix], _RANKING)
    meaning = _listed(alerts, _MEANING)
    if ranking:
        yield f"Retrain: the ranking itself got worse ({ranking}), which recalibration cannot mend."
    for alert in mix:
        yield (
            f"{metric_words(alert['metric'], {})} fell no further than the mix of patients explains (expected without "
            f"labels: {number(_expected(result, alert)['value'])}). They are harder to rank; a new model may not help."
        )
    if meaning or "concept" in kind:
        why = meaning or "tests of the outcome on the risk by period"
        more = " on top of that" if ranking else ", which keeps the ranking and needs few patients"
        yield f"Recalibrate{more}: risks no longer mean what they meant ({why})."
    elif kind == "prior":
        yield "Recalibrate the intercept: events have become more or less common, and the ranking is not in doubt."
    others = {alert["metric"] for alert in alerts} - {*_RANKING, *_MEANING}
    rest = sorted(metric_words(name, {}) for name in others)
    if rest and not (ranking or meaning or "concept" in kind):
        yield f"Look at the threshold again: {', '.join(rest)} got worse while ranking and calibration raise no alert."


def _expected(result: LensResult, alert: Row) -> Row:
    """What the metric should be in the last judged window, by who came alone; labels are not used."""
    rows = result.tables.get("without_labels", ())
    found = (r for r in rows if r["window"] == last_judged(result) and r["metric"] == alert["metric"])
    return next((row for row in found if dict(row["slice"]) == dict(alert["slice"])), {"value": None, "low": None})


def _by_mix(result: LensResult, alert: Row) -> bool:
    low = _expected(result, alert)["low"]
    now = [one.last for one in every_series(result) if one.type == "performance" and one.metric == alert["metric"]]
    found = [r for r in now if dict(r["slice"]) == dict(alert["slice"]) and r["window"] == last_judged(result)]
    return low is not None and any(row["value"] is not None and row["value"] >= low for row in found)


def _listed(alerts: Sequence[Row], names: Sequence[str]) -> str:
    held = {alert["metric"] for alert in alerts}
    return ", ".join(metric_words(name, {}) for name in names if name in held)


def _kind(result: LensResult) -> str:
    """The kind of drift that the last judged window speaks for; empty where that cannot be told."""
    rows = result.tables.get("drift_kind", ())
    return str(rows[-1]["drift"] or "") if rows and rows[-1]["window"] == last_judged(result) else ""


def flagged_now(result: LensResult) -> list[Row]:
    """The inputs that are flagged in the latest window."""
    rows = result.tables.get("inputs", ())
    return [row for row in rows if row["window"] == rows[-1]["window"] and row["flagged"]]
