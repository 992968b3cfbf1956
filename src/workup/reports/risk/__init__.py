"""What only the report of a risk model shows."""

PAGE = "page:RiskPage"
