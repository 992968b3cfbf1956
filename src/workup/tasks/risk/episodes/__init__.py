"""Many predictions per stay and an event later, where one row with its outcome cannot hold the data."""
