"""Redaction: what a detector found, replaced by tokens, masks, keyed hashes or surrogates, and given back by a map."""

from __future__ import annotations

from workup.deid.redaction.auditing import (
    Audit,
    audits,
    interval_preservation,
    residual_originals,
    shift_candidates,
    surrogate_consistency,
)
from workup.deid.redaction.charts import Redacted
from workup.deid.redaction.maps import Entry, opened, sealed
from workup.deid.redaction.pieces import Alignment, Kept, Piece, merged, moved
from workup.deid.redaction.redacting import redact, redact_all
from workup.deid.redaction.settings import HOWS, Settings
from workup.deid.redaction.tokens import is_redacted

__all__ = [
    "HOWS",
    "Alignment",
    "Audit",
    "Entry",
    "Kept",
    "Piece",
    "Redacted",
    "Settings",
    "audits",
    "interval_preservation",
    "is_redacted",
    "merged",
    "moved",
    "opened",
    "redact",
    "redact_all",
    "residual_originals",
    "sealed",
    "shift_candidates",
    "surrogate_consistency",
]
