"""What is asked of an update, refused where no data could mend it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workup.errors import InputError, near, visible
from workup.stats.updating import METHODS
from workup.tasks.risk.updating.procedure import CLOSED
from workup.tasks.risk.updating.rules import Rule


@dataclass(frozen=True)
class Asked:
    """What is asked of an update."""

    method: str = CLOSED
    alpha: float = 0.05
    predictors: tuple[str, ...] = ()
    by: str | None = None
    validate: Path | None = None
    thresholds: tuple[Rule, ...] = ()
    search: bool = False
    optimism: int = 0

    def check(self) -> None:
        """Refuse what no data could mend."""
        known = (CLOSED, *METHODS)
        if self.method not in known:
            raise InputError(
                f"a method is one of {', '.join(known)}",
                where="--method",
                got=f"'{visible(self.method[:40])}'",
                remedy=near(self.method, known),
            )
        if not 0 < self.alpha < 1:
            raise InputError("alpha lies between 0 and 1", where="--alpha", got=f"{self.alpha:g}")
        if self.method == "refit" and not self.predictors:
            raise InputError(
                "a refit needs predictors", where="--method refit", got="none", remedy="name them with --predictors"
            )
        twice = [name for name in self.predictors if self.predictors.count(name) > 1]
        if twice:
            raise InputError("a predictor is named once", where="--predictors", got=f"'{visible(twice[0])}' twice")
        if self.search and not any(rule.kind == "cost_ratio" for rule in self.thresholds):
            raise InputError(
                "--search looks for the cut of the greatest net benefit at a cost ratio",
                got="no cost ratio",
                remedy='add --threshold "cost_ratio 9"',
            )
        if self.optimism < 0 or self.optimism > 10_000:
            raise InputError("refits for the optimism are 0 to 10,000", where="--optimism", got=f"{self.optimism:,}")
