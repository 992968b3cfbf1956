"""The native de-identifier: finds what identifies people in notes, on this machine alone. Redaction stands beside it.

Nothing is read at import; rules and gazetteers are read once, when the first de-identifier is loaded.
"""

from __future__ import annotations

from workup.deid.engine import Deidentifier, Reading
from workup.deid.finding import Finding

__all__ = ["Deidentifier", "Finding", "Reading"]
