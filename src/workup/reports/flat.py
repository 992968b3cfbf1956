"""Report → one flat JSON of headline numbers under the names that other people's notebooks use."""

from __future__ import annotations

import json
from typing import Any

from workup.report import Report
from workup.reports import withheld
from workup.reports.page import page_of
from workup.reports.wording import drawn


@drawn
def render(report: Report) -> str:
    """Headline numbers with `_lower` and `_upper` ends, null where undefined. One key each; a curve is a list."""
    page = page_of(report)
    return _text({**_identity(report), **page.flat(report), **_pooled(page.narrowed(report))})


def _identity(report: Report) -> dict[str, Any]:
    return {
        "schema_version": report.schema_version,
        "sha256": report.sha256,
        "study": report.study.get("name"),
        "system": report.system.get("name"),
        "system_version": report.system.get("version"),
        "corpus": report.corpus.get("name"),
        **({"alarms": list(report.alarms())} if report.alarms() else {}),
        **({"may_identify_people": True} if withheld.warning(report) else {}),
        **({"withheld_groups": [dict(row) for row in withheld.rows(report)]} if withheld.rows(report) else {}),
    }


def _text(found: dict[str, Any]) -> str:
    # Twelve digits, as everywhere in the record, so that a number here is the number there.
    plain = {key: _plain(value) for key, value in found.items()}
    return json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, list):  # a curve
        return [_plain(one) for one in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _pooled(report: Report) -> dict[str, Any]:
    """The first metric that was pooled over sites, where any was."""
    rows = report.results["sites"].pooled if "sites" in report.results else ()
    if not rows:
        return {}
    row = rows[0]
    return {
        "pooled_metric": row["metric"],
        "pooled_estimate": row["value"],
        "pooled_estimate_lower": row["low"],
        "pooled_estimate_upper": row["high"],
        "i_squared": row["i2"],
        "tau_squared": None if row["tau"] is None else row["tau"] ** 2,
        "prediction_interval_lower": row["pi_low"],
        "prediction_interval_upper": row["pi_high"],
    }
