"""Workup gives a clinical AI system the full work-up before it meets a patient. The public names, and nothing else."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from workup.version import __version__

# Names are imported on first use, so that `import workup` costs milliseconds.
_HOME = {
    "scored": "workup.validate",
    "look": "workup.validate",
    "score_risk": "workup.score",
    "score_horizon": "workup.score",
    "score_episodes": "workup.score",
    "score_spans": "workup.score",
    "score_conversation": "workup.score",
    "Study": "workup.study",
    "Report": "workup.report",
    "Scores": "workup.scores",
    "Metric": "workup.metric",
    "Estimate": "workup.estimate",
    "Gate": "workup.gates",
    "Case": "workup.task",
    "Corpus": "workup.task",
}

__all__ = ["__version__", "validate", *_HOME]

if TYPE_CHECKING:
    from workup.estimate import Estimate as Estimate
    from workup.gates import Gate as Gate
    from workup.metric import Metric as Metric
    from workup.report import Report as Report
    from workup.score import score_conversation as score_conversation
    from workup.score import score_episodes as score_episodes
    from workup.score import score_horizon as score_horizon
    from workup.score import score_risk as score_risk
    from workup.score import score_spans as score_spans
    from workup.scores import Scores as Scores
    from workup.study import Study as Study
    from workup.task import Case as Case
    from workup.task import Corpus as Corpus
    from workup.validate import look as look
    from workup.validate import scored as scored
    from workup.validate import validate as validate
else:

    class _Package(ModuleType):
        """`workup.validate` is the function, although a submodule has that name: importing the submodule would
        otherwise put the module in the function's place."""

        @property
        def validate(self) -> Any:
            return importlib.import_module("workup.validate").validate

        @validate.setter
        def validate(self, module: ModuleType) -> None:
            pass

    sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'workup' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
