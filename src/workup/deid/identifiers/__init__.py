"""Numbers, codes and contacts, by their shape or their label."""
