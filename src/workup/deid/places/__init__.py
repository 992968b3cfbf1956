"""Streets, towns, states, postal codes and countries."""
