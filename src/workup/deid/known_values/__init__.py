"""What a register knows of a patient, found again in that patient's notes. Values are held in memory alone."""

from __future__ import annotations

from workup.deid.known_values.register import KnownValues, joined

__all__ = ["KnownValues", "joined"]
