"""How scores become estimates. A lens reads Scores and metrics, whichever task made them."""
