"""How scores become estimates. A lens knows no task."""
