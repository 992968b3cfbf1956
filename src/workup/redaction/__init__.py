"""Redaction: what a detector found, replaced by tokens, masks, keyed hashes or surrogates, and given back by a map."""

from __future__ import annotations

from workup.redaction.audit import (
    Audit,
    audits,
    interval_preservation,
    residual_originals,
    shift_candidates,
    surrogate_consistency,
)
from workup.redaction.patient import Redacted
from workup.redaction.redacting import redact, redact_all
from workup.redaction.replacements import Alignment, Kept, Piece, merged, moved
from workup.redaction.restore_map import Entry, opened, sealed
from workup.redaction.settings import HOWS, Settings
from workup.redaction.tokens import is_redacted

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
