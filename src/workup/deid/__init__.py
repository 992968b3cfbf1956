"""The native de-identifier: finds what identifies people in notes, on this machine alone.

Rules and gazetteers are read once, when the first de-identifier is loaded; at import only
its lists of words and weights.
"""

from __future__ import annotations

from workup.deid.engine import Deidentifier, Reading
from workup.deid.finding import Finding

__all__ = ["Deidentifier", "Finding", "Reading"]
