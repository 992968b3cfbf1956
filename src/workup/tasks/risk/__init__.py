"""Risk-prediction models: a table of patients with outcomes, and the risks a model gives them."""

from workup.tasks.risk.task import RiskTask

__all__ = ["RiskTask"]
