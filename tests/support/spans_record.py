"""A small record of a detector with known errors, and the tables a full study adds, written by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import workup
from tests.support.report_parts import with_tables
from workup.report import Report

PATIENTS = 24
# Each note: what is found, what is missed, what is masked in part and what is masked for nothing.
NOTE = "Ann Lee seen on 03/14/2020 by Dr. Will Hart at Mercy.\nPhone 555-0134. Dose 20 mg of aspirin."
LABELS = ("name_patient", "date", "name_provider", "facility", "phone", "drug")
SURFACES = ("Ann Lee", "03/14/2020", "Will Hart", "Mercy", "555-0134", "aspirin")


def _span(surface: str, label: str, *, cut: int = 0) -> dict[str, Any]:
    start = NOTE.index(surface)
    return {"start": start, "end": start + len(surface) - cut, "label": label}


def documents() -> list[dict[str, Any]]:
    """Two notes of each patient, and one without identifiers of every sixth."""
    spans = [_span(surface, label) for surface, label in zip(SURFACES, LABELS, strict=True)]
    made: list[dict[str, Any]] = []
    for i in range(PATIENTS):
        about = {"patient": f"p{i}", "groups": {"sex": "FM"[i % 2]}, "type": "progress note"}
        made += [{"id": f"d{i}-{j}", "text": NOTE, "spans": spans, **about} for j in range(2)]
        if i % 6 == 0:
            made.append({"id": f"n{i}", "text": "No change, continue as before.", "spans": [], **about})
    return made


def predictions() -> dict[str, list[dict[str, Any]]]:
    """Names found; dates of every fourth patient missed, phones of odd notes cut, doses of every third masked."""
    found: dict[str, list[dict[str, Any]]] = {}
    for i in range(PATIENTS):
        for j in range(2):
            spans = [_span("Ann Lee", "name_patient"), _span("Will Hart", "name_patient"), _span("Mercy", "facility")]
            spans += [_span("03/14/2020", "date")] if i % 4 else []
            spans += [_span("555-0134", "phone", cut=4 * (j % 2))]
            spans += [_span("20 mg", "date")] if i % 3 == 0 else []
            found[f"d{i}-{j}"] = spans
        if i % 6 == 0:
            found[f"n{i}"] = []
    return found


def harbor(letter: str, title: str, golds: int, recall: float | None, **fields: Any) -> dict[str, Any]:
    """A row of the Safe Harbor matrix."""
    figures = {"low": None, "high": None, "upper_bound": None, "patients": golds}
    status = "tested" if golds else "not tested"
    row = {"letter": letter, "title": title, "leaves": ["a", "b"], "condition": "", "golds": golds, "recall": recall}
    return {**row, **figures, "status": status, **fields}


ADDED: dict[str, Any] = {
    "safe_harbor": [
        harbor("A", "names", 96, 1.0, low=0.962, high=1.0, upper_bound=0.0307),
        harbor("C", "dates", 48, 0.75, low=0.55, high=0.88, condition="all elements of dates except the year"),
        harbor("P", "biometric identifiers", 0, None),
        harbor("Q", "full-face photographs", 0, None, condition="not found in text"),
    ],
    "agreement": [
        {
            "measure": "f1",
            "level": "phi",
            "label": None,
            "pair": None,
            "value": 0.93,
            "low": 0.9,
            "high": 0.95,
            "documents": 40,
        },
        {"measure": "kappa", "level": "phi", "label": None, "pair": ["ann", "bob"], "value": 0.91}
        | {"low": None, "high": None, "documents": 40},
        {"measure": "alpha", "level": "phi", "label": "date", "pair": None, "value": -0.02}
        | {"low": None, "high": None, "documents": 40},
    ],
    "selftest": {"passed": 100, "of": 100, "line": "Scorer self-test passed: 100 of 100 right on 9 planted detectors."},
    "partial_leaks": [
        {"label": "phone", "stayed_visible": "last_four_digits", "severity": "high", "count": 24},
        {"label": "date", "stayed_visible": "year", "severity": "low", "count": 2},
    ],
    "residue": {"documents": 48, "documents_with_residue": 3, "values": 200, "values_found_again": 4},
}


@cache
def scored(**options: Any) -> Report:
    """As the scorer gives it."""
    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in options.items()}
    return workup.score_spans(documents(), predictions(), replicates=200, name="detector check", **settings)


def report(**options: Any) -> Report:
    """With every table that a report can show; what is given by hand here takes the place of what was counted."""
    return with_tables(scored(by=("sex",), **options), **ADDED)


def hostile(name: str) -> Report:
    """One name in every place that a corpus, a system or a study decides, in the documents too."""
    base = report()
    internal = base.results["internal"]

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name if key in SEEN else key: renamed(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [renamed(item) for item in value]
        return name if isinstance(value, str) and value in SEEN else value

    documents_ = [
        {
            **row,
            "number": place,
            "id": name,
            "text": name + "\n" + NOTE,
            "type": name,
            "shape": name[:60] + row["shape"],
        }
        for place, row in enumerate(internal.tables["documents"][:3], start=1)
    ]
    tables = renamed({**internal.tables, "documents": documents_})
    tables["policies"] = [{"name": row["name"], "describe": name, "source": name} for row in tables["policies"]]
    tables["selftest"] = {"passed": 1, "of": 2, "line": name}
    tables["safe_harbor"] = [
        {**row, "title": name, "condition": name, "leaves": [name]} for row in tables["safe_harbor"]
    ]
    tables["shapes"] = [{**row, "shape": name} for row in tables["shapes"]]
    tables["errors"] = {**tables["errors"], "misses": [{**row, "category": name} for row in tables["errors"]["misses"]]}
    estimates = tuple(replace(e, slice=renamed(dict(e.slice))) for e in internal.estimates)
    held = replace(internal, tables=tables, estimates=estimates, notes=(name,))
    return replace(
        base,
        study={**base.study, "name": name, "labels": name, "ignore": [name]},
        corpus={**base.corpus, "name": name, "version": name},
        system={"name": name, "version": name},
        as_of=name,
        contains_phi=True,
        results={**base.results, "internal": held},
    )


SEEN = {*LABELS, "progress note"}
