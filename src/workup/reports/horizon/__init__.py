"""What only the report of risks at horizons shows."""

PAGE = "page:HorizonPage"
