"""How scores become estimates. A lens reads Scores and metrics, and knows no task."""
