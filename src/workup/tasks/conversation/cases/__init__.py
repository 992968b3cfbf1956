"""Cases of conversations: turns, the facts that must hold through them, and where both are read from."""
