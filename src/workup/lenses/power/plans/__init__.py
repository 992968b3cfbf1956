"""Plans with no data at hand, from closed forms: each answers a LensResult, and `plan_report` makes a record of it."""

from workup.lenses.power.plans.aucs import plan_auc
from workup.lenses.power.plans.decays import plan_decay
from workup.lenses.power.plans.development import plan_develop
from workup.lenses.power.plans.groups import Group
from workup.lenses.power.plans.leaks import plan_leak
from workup.lenses.power.plans.precision import plan_precision
from workup.lenses.power.plans.proportions import plan_proportions
from workup.lenses.power.plans.records import plan_report

__all__ = [
    "Group",
    "plan_auc",
    "plan_decay",
    "plan_develop",
    "plan_leak",
    "plan_precision",
    "plan_proportions",
    "plan_report",
]
