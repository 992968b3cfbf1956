"""What a planted cohort of censored times is to look like: risks, competing events, censoring, groups, sites,
landmarks. Knows not how it is solved or drawn."""

from __future__ import annotations

import datetime
from itertools import pairwise
from math import isclose, prod
from typing import Annotated, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from workup.scores import MISSING, level_name
from workup.settings import Part

OWN_COLUMNS = ("patient", "site", "time", "score", "landmark", "followup", "status")
_MOST_STRATA = 500

Share = Annotated[float, Field(gt=0, lt=1)]
LogOdds = Annotated[float, Field(ge=-5, le=5)]


class _Strict(Part):
    model_config = ConfigDict(allow_inf_nan=False)


class Gap(_Strict):
    """How a level of a group differs from the plan's own figures."""

    log_odds: LogOdds = Field(0.0, description="Added to the log odds of the event and of the risks: calibration holds")
    outcome_log_odds: LogOdds = Field(
        0.0, description="Added to the log odds of the event alone: above 0 the level's risks are too low"
    )
    log_censoring: LogOdds = Field(0.0, description="Added to the log of the rate at which patients are lost")


class SurvivalPlan(_Strict):
    """The figures to plant. Risks and AUROC hold exactly where no gap and no site adds to them.

    >>> SurvivalPlan.checked({"horizons": [90, 180], "risks": [0.1, 0.2]}, where="plan").column(90)
    'risk_90d'
    """

    horizons: tuple[Annotated[float, Field(gt=0, le=36_500)], ...] = Field(
        (365.0, 730.0, 1095.0), min_length=1, max_length=12, description="Horizons in days, rising"
    )
    risks: tuple[Share, ...] = Field(
        (0.12, 0.20, 0.26), min_length=1, description="Share with the event by each horizon, rising"
    )
    auroc: float = Field(0.78, gt=0.5, le=0.95, description="AUC(h) at the last horizon; those before follow from it")
    competing: float = Field(0.08, ge=0, lt=1, description="Share with the competing event first, by the last horizon")
    censoring: float = Field(0.30, ge=0, lt=1, description="Chance of being lost before the last horizon, events apart")
    censoring_by_risk: LogOdds = Field(
        0.0, description="A fault: log hazard ratio of being lost, for one SD of the true log odds"
    )
    censoring_by_site: LogOdds = Field(
        0.0, description="A fault: log hazard ratio of being lost, last site against first"
    )
    whole_days: bool = Field(False, description="Follow-up in whole days, so that times are tied")
    slope: float = Field(1.0, gt=0.2, le=5, description="Calibration slope at every horizon")
    in_the_large: float = Field(
        0.0, ge=-3, le=3, description="Calibration in the large at every horizon; above 0 risks are too low"
    )
    landmarks: tuple[Annotated[float, Field(ge=0, le=36_500)], ...] = Field(
        (0.0,), min_length=1, max_length=12, description="Days after entry at which those still at risk are predicted"
    )
    thresholds: tuple[Share, ...] = Field((0.1, 0.2, 0.3), min_length=1, description="Where decisions are worked out")
    groups: dict[str, dict[str, Share]] = Field(
        {"sex": {"F": 0.52, "M": 0.48}, "age_group": {"under 65": 0.55, "65 and over": 0.45}},
        description="Grouping columns, each with its levels and their shares; columns are independent of each other",
    )
    gaps: dict[str, dict[str, Gap]] = Field({}, description="What differs in a level, by column and level")
    sites: int = Field(3, ge=1, le=50, description="Number of sites, each with an equal share of patients")
    site_log_odds_sd: float = Field(
        0.0, ge=0, le=2, description="SD between sites of what is added to the log odds of the event alone"
    )
    start: datetime.date = Field(datetime.date(2020, 1, 1), description="First day on which patients enter")
    months: int = Field(24, ge=1, le=600, description="Months over which they enter evenly, of 30 days")
    as_of: datetime.date | None = Field(
        None, description="Day on which the data were taken: follow-up ends there at the latest"
    )

    @field_validator("horizons", "risks", "landmarks")
    @classmethod
    def _rising(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        if any(low >= high for low, high in pairwise(values)):
            raise ValueError("expected numbers that rise")
        return values

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if len(self.risks) != len(self.horizons):
            raise ValueError(f"expected one risk for each of {len(self.horizons)} horizons; got {len(self.risks)}")
        if self.whole_days and any(value % 1 for value in (*self.horizons, *self.landmarks)):
            raise ValueError("with whole_days, horizons and landmarks must be whole days too")
        if self.as_of is not None and self.landmarks != (0.0,):
            raise ValueError(
                "as_of needs landmarks: [0], because who reaches a later landmark would depend on the day of entry"
            )
        last = self.start + datetime.timedelta(days=30 * self.months)
        if self.as_of is not None and self.as_of < last:
            raise ValueError(f"as_of must not lie before the last day of entry, {last}")
        self._groups_add_up()
        if self.sites * prod(len(levels) for levels in self.groups.values()) > _MOST_STRATA:
            raise ValueError(f"levels × sites must be at most {_MOST_STRATA} combinations; use fewer")
        return self

    def _groups_add_up(self) -> None:
        for column, levels in self.groups.items():
            if column in OWN_COLUMNS or column in map(self.column, self.horizons):
                raise ValueError(f"groups: '{column}' is a column that every such cohort has; rename the group")
            if not isclose(sum(levels.values()), 1.0, abs_tol=1e-9):
                raise ValueError(f"groups: the shares of the levels of '{column}' must add up to 1")
            if any(level_name(level) in (MISSING, "") or level_name(level) != level for level in levels):
                raise ValueError(f"groups: a level of '{column}' must be a trimmed text other than '{MISSING}'")
        for column, gaps in self.gaps.items():
            for level in gaps:
                if level not in self.groups.get(column, {}):
                    raise ValueError(f"gaps: '{column}' with the level '{level}' is not among the groups")

    def column(self, horizon: float) -> str:
        """The column that holds the risk at a horizon."""
        return f"risk_{horizon_name(horizon)}"

    def site_names(self) -> list[str]:
        """The sites as "S01", in order."""
        return [f"S{number:02d}" for number in range(1, self.sites + 1)]


def horizon_name(days: float) -> str:
    """A number of days as studies write it."""
    return f"{days:g}d"
