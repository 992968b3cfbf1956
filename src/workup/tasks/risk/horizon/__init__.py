"""Risks at one or several horizons, where some patients are lost before them and others die of something else."""

from workup.tasks.risk.horizon.task import HorizonTask

__all__ = ["HorizonTask"]
