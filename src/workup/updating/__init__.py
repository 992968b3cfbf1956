"""A study becomes an update: the least change that its data support, judged on patients who did not make it."""

from workup.updating.asked import Asked
from workup.updating.budgets import choose_budgets
from workup.updating.making import Made, make_update

__all__ = ["Asked", "Made", "choose_budgets", "make_update"]
