"""Names that a user's file could hold, put in every place of a record that such a file decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workup.report import LensResult, Report, Verdict

NAMES = {
    "html": "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)>",
    "template": "{{ 7*7 }}{% raw %}${7*7}</style></script>",
    "bidi": "\u202eabc\u2066def\u200f\u061c",
    "control": "a\u0000b\x1b[31m\r\n<b>c</b>",
    "long": "long" * 2500,
    "chart": 'datum.value\'); alert(1); //\\u003cscript\\u003e id="clip0" url(#clip0) &lt;b&gt;',
}


def comparison(column: str, level: str, **fields: Any) -> dict[str, Any]:
    """A judged gap as the record holds it."""
    row = {"metric": "sensitivity", "slice": {column: level, "threshold": 0.2}, "against": "rest", "kind": "difference"}
    figures = {"value": -0.12, "low": -0.2, "high": -0.06, "level": 0.99, "se": 0.02, "p": 0.0001, "p_adjusted": 0.002}
    return {**row, **figures, "margin": 0.05, "method": "by hand", "verdict": "disparity", "reason": "beyond", **fields}


def with_comparisons(report: Report, *, column: str = "ethnicity") -> Report:
    """The report with gaps of all kinds, the largest gap and the tables of the subgroups lens."""
    rows = (
        comparison(column, "Black"),
        comparison(
            column, "Asian", value=0.01, low=-0.02, high=0.04, verdict="within", reason="the interval lies within"
        ),
        comparison(column, "White", value=0.04, low=-0.02, high=0.09, verdict="inconclusive", reason="may be smaller"),
        comparison(column, "Hispanic", value=None, low=None, high=None, margin=None, p=None, p_adjusted=None)
        | {"verdict": "not_assessed", "reason": "insufficient in one of them: 4 patients", "se": None},
        comparison(column, "Black", kind="ratio", margin=None),
        comparison(column, "", kind="max_gap", slice={"column": column}, margin=None, verdict="not_assessed")
        | {"metric": "equalised_odds", "reason": "a largest gap is biased upwards: it is never below 0"},
    )
    test = {"column": column, "metric": "auroc", "at": {}, "test": "Cochran's Q", "groups": 3}
    tables = {
        "omnibus": [{**test, "statistic": 4.2, "df": 2, "p": 0.0004}],
        "smallest_difference": [
            {"metric": "auroc", "slice": {column: "Black"}, "against": "rest", "smallest_difference": 0.123},
            {"metric": "auroc", "slice": {column: "Hispanic"}, "against": "rest", "smallest_difference": None},
        ],
    }
    groups = replace(report.results["subgroups"], comparisons=rows, tables=tables)
    return replace(report, results={**report.results, "subgroups": groups})


def hostile(report: Report, name: str) -> Report:
    """The report with one name in every place that a user's file decides."""
    report = with_comparisons(report, column=name)
    internal, groups = report.results["internal"], report.results["subgroups"]
    renamed = tuple(
        replace(e, slice={name: name, **{k: v for k, v in e.slice.items() if k != "ethnicity"}})
        for e in groups.estimates
        if e.slice["ethnicity"] == "White"
    )
    rows = tuple({**row, "against": name, "reason": name} for row in groups.comparisons)
    found = LensResult("subgroups", {"by": [name]}, renamed, rows, groups.tables, {}, (name,))
    return replace(
        report,
        study={**report.study, "name": name},
        corpus={**report.corpus, "name": name, "version": name},
        system={"name": name, "version": name},
        as_of=name,
        results={"internal": replace(internal, notes=(name,)), "subgroups": found},
        verdicts=(Verdict(f"auroc{{x={name}}}.low >= 0.5 [x={name}]", "fail", None, name),),
    )
