"""Agreement of annotators as a report shows it: every value, with an interval where all of them are taken together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workup.documents.document import Document
from workup.documents.mappings import LabelMapping
from workup.metric import FEWEST_PATIENTS
from workup.scores import patient_codes
from workup.stats.arrays import Floats
from workup.stats.bootstrap import unit_counts
from workup.tasks.spans.agreement import AgreementCounts, AgreementRow, count_agreement

_REPLICATES = 1_000
_MOST_UNDEFINED = 0.01


def agreement_table(documents: Sequence[Document], *, mapping: LabelMapping, seed: int) -> list[dict[str, Any]]:
    """Rows for the report; intervals are percentiles over resampled patients and need at least twenty of them."""
    counts = count_agreement(documents, mapping=mapping)
    codes = patient_codes([document.patient or f"document {document.id}" for document in documents])
    patients = int(codes.max(initial=-1)) + 1
    weights = None
    if patients >= FEWEST_PATIENTS:
        drawn = np.concatenate(list(unit_counts(patients, _REPLICATES, seed=seed)))
        weights = drawn[:, codes]
    rows = []
    for row in counts.rows():
        low, high = _ends(counts, row, weights)
        pair = None if row.pair is None else " and ".join(row.pair)
        rows.append({**row._asdict(), "pair": pair, "low": low, "high": high, "patients": patients})
    return rows


def _ends(counts: AgreementCounts, row: AgreementRow, weights: Floats | None) -> tuple[float | None, float | None]:
    if weights is None or row.pair is not None or row.value is None:
        return None, None
    values = counts.values(row.measure, level=row.level, label=row.label, weights=weights)
    defined = values[np.isfinite(values)]
    if defined.size < (1 - _MOST_UNDEFINED) * values.size:
        return None, None
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)
