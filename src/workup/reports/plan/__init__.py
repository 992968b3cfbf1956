"""The report of a plan, which has no data."""

PAGE = "page:PlanPage"
