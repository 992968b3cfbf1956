"""Noise on documents with spans: the measured rate is reported, and every span follows its characters."""

from __future__ import annotations

from workup.corpora.noise.document import NEAR, NoiseMeasure, On, add_noise
from workup.corpora.noise.kinds import KINDS, Kind, find_kind

__all__ = ["KINDS", "NEAR", "Kind", "NoiseMeasure", "On", "add_noise", "find_kind"]
