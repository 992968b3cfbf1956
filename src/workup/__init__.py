"""Workup gives a clinical AI system the full work-up before it meets a patient. The public names, and nothing else."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported on first use, so that `import workup` costs milliseconds.
_HOME = {
    "validate": "workup.validate",
    "score_risk": "workup.validate",
    "Study": "workup.study",
    "Report": "workup.report",
    "Scores": "workup.scores",
    "Metric": "workup.metric",
    "Estimate": "workup.estimate",
    "Gate": "workup.gates",
    "Case": "workup.task",
    "Corpus": "workup.task",
}

__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from workup.task import Case, Corpus
    from workup.estimate import Estimate
    from workup.gates import Gate
    from workup.metric import Metric
    from workup.report import Report
    from workup.scores import Scores
    from workup.study import Study
    from workup.validate import score_risk, validate


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'workup' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
