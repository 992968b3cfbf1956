"""What only the report of repeated predictions and later events shows."""

PAGE = "page:EpisodesPage"
