"""Both, only one, neither: what two detectors found of each type, with McNemar's test on golds, a sign-flip test on
patients, and the differences of recall, precision and F1. Reads joint counts; knows no document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.metric import FEWEST_CLUSTERS, FEWEST_FOR_SHARES
from workup.stats.arrays import Floats
from workup.stats.intervals import mcnemar, share_difference
from workup.stats.multiplicity import adjust
from workup.stats.paired_gaps import patient_gap, sign_flip
from workup.tasks.spans.comparing.emitted_types import UNKNOWN, Emits
from workup.tasks.spans.comparing.joint import Joint

Counts = Mapping[str, npt.NDArray[np.int64]]
_SIDES = ("first", "second")
_GAP = ("value", "low", "high", "p")


def type_rows(found: Joint, *, seed: int = 0) -> list[dict[str, Any]]:
    """All types together (label None), then each, the one with most golds first; p of types is adjusted by Holm."""
    whole = {"label": None, **_row(found, None, seed)}
    rows = [{"label": label, **_row(found, [label], seed)} for label in found.labels]
    rows.sort(key=lambda row: (-row["golds"], row["label"]))
    for name in ("p_permutation", "p_mcnemar"):
        adjusted = adjust([np.nan if row[name] is None else row[name] for row in rows], method="holm")
        for row, p in zip(rows, adjusted.tolist(), strict=True):
            row[f"{name}_adjusted"] = None if np.isnan(p) else p
        whole[f"{name}_adjusted"] = None  # one look at everything is not one of many
    return [whole, *rows]


def scope_rows(found: Joint, emits: Sequence[Emits], *, seed: int = 0) -> list[dict[str, Any]]:
    """Recall over all types, and over those that the first, the second, and both can emit at all."""
    golds = [label for label in found.labels if found.of_patients([label])["golds"].any()]
    reached = [[label for label in golds if one.reaches(label)] if one.declared is not None else None for one in emits]
    both = None if None in reached else [label for label in reached[0] or () if label in (reached[1] or ())]
    scopes = (
        ("all types", golds),
        ("first can emit", reached[0]),
        ("second can emit", reached[1]),
        ("both can emit", both),
    )
    rows = []
    for scope, types in scopes:
        row: dict[str, Any] = {"scope": scope, "types": types}
        if types is None:
            rows.append({**row, "reason": UNKNOWN})
            continue
        counts = _row(found, types, seed)
        # What is no identifier has no type, so precision cannot be had for a choice of types of golds.
        rows.append({**row, **{key: counts[key] for key in (*_OF_GOLDS, "recall")}})
    return rows


_OF_GOLDS = (
    *("golds", "both", "only_first", "only_second", "neither", "patients", "patients_differing"),
    *("p_mcnemar", "p_permutation", "permutation", "reason"),
)


def _row(found: Joint, labels: Sequence[str] | None, seed: int) -> dict[str, Any]:
    """Counts, tests and differences of a choice of types."""
    counts = found.of_patients(labels)
    total = {name: int(column.sum()) for name, column in counts.items()}
    neither = total["golds"] - total["both"] - total["only_first"] - total["only_second"]
    holding = counts["golds"] > 0
    flips = sign_flip(counts["points_second"] - counts["points_first"], seed=seed)
    none = None if total["golds"] else "no gold of this type must be masked"
    tested = mcnemar(total["both"], total["only_first"], total["only_second"], neither)
    return {
        **{name: total[name] for name in ("golds", "both", "only_first", "only_second")},
        "neither": neither,
        "patients": int(holding.sum()),
        "patients_differing": flips.differing,
        "p_mcnemar": None if none else tested.p_exact,
        "p_permutation": None if none else flips.p,
        "permutation": flips.method,
        "reason": none,
        **{f"predictions_{side}": total[f"judged_{side}"] for side in _SIDES},
        **{f"false_alarms_{side}": total[f"alarms_{side}"] for side in _SIDES},
        **{f"false_alarms_agreed_{side}": total[f"agreed_{side}"] for side in _SIDES},
        **_differences(counts, halves=found.halves),
    }


def _differences(counts: Counts, *, halves: bool) -> dict[str, Any]:
    """Recall, precision and F1 of both, and second − first with its interval over patients."""
    scale = 0.5 if halves else 1.0
    values: dict[str, list[float]] = {"recall": [], "precision": [], "f1": []}
    adds: dict[str, list[Floats]] = {"recall": [], "precision": [], "f1": []}
    parts: dict[str, list[Floats]] = {"recall": [], "precision": [], "f1": []}
    for side in _SIDES:
        points = counts[f"points_{side}"] * scale
        credited = points if halves else counts[f"credited_{side}"].astype(np.float64)
        recall, of_recall = _share(points, counts["golds"])
        precision, of_precision = _share(credited, counts[f"judged_{side}"])
        parts["recall"].append(np.array([points, counts["golds"]], dtype=np.float64))
        parts["precision"].append(np.array([credited, counts[f"judged_{side}"]], dtype=np.float64))
        f1, of_f1 = _harmonic(precision, of_precision, recall, of_recall)
        for name, value, influence in (
            ("recall", recall, of_recall),
            ("precision", precision, of_precision),
            ("f1", f1, of_f1),
        ):
            values[name].append(value)
            adds[name].append(influence)
    found = counts["golds"] > 0, counts["judged_first"] + counts["judged_second"] > 0
    involved = {"recall": found[0], "precision": found[1], "f1": found[0] | found[1]}
    return {name: _difference(values[name], adds[name], involved[name], parts[name]) for name in values}


def _share(top: npt.NDArray[Any], bottom: npt.NDArray[Any]) -> tuple[float, Floats]:
    """A ratio of sums over patients, and what each patient adds to it."""
    total = float(bottom.sum())
    if total <= 0:
        return float("nan"), np.zeros(len(bottom))
    value = float(top.sum()) / total
    return value, np.asarray((top - value * bottom) / total)


def _harmonic(precision: float, of_precision: Floats, recall: float, of_recall: Floats) -> tuple[float, Floats]:
    """F1 from its parts; 0 where something is to be found and nothing is, as everywhere."""
    if np.isnan(recall):
        return float("nan"), np.zeros_like(of_recall)
    if np.isnan(precision) or precision <= 0 or recall <= 0:
        return 0.0, np.zeros_like(of_recall)
    value = 2 * precision * recall / (precision + recall)
    return value, value**2 / 2 * (of_precision / precision**2 + of_recall / recall**2)


def _difference(
    values: Sequence[float], adds: Sequence[Floats], involved: npt.NDArray[np.bool_], parts: Sequence[Floats]
) -> dict[str, Any]:
    """A difference as the record holds it; without an interval where too few patients could show one. `parts` are what
    counts and all units of each patient, where it is one of shares."""
    sides = {side: None if np.isnan(value) else value for side, value in zip(_SIDES, values, strict=True)}
    row: dict[str, Any] = {**sides, **dict.fromkeys(_GAP), "reason": None}
    if None in sides.values():
        return {**row, "reason": "undefined in one of them: nothing to be found, or nothing predicted"}
    row["value"] = values[1] - values[0]
    patients, between = int(involved.sum()), (adds[1] - adds[0])[involved]
    if parts and patients >= FEWEST_FOR_SHARES:
        found = share_difference(parts[0], parts[1], np.arange(involved.size), np.ones(involved.size))
        return {**row, "low": found.low, "high": found.high, "p": found.p}
    if patients < FEWEST_CLUSTERS:
        return {**row, "reason": f"insufficient: {patients} patients; at least {FEWEST_CLUSTERS} are needed"}
    if row["value"] == 0 and not np.any(np.abs(between) > 1e-12):
        return {**row, "p": 1.0, "reason": "alike in every patient, so no interval can be given"}
    gap = patient_gap(row["value"], between)
    if gap.se == 0:
        return {**row, "reason": "insufficient: every patient adds the same, so the data cannot show its uncertainty"}
    low, high = gap.ends()
    return {**row, "low": max(low, -1.0), "high": min(high, 1.0), "p": gap.p()}
