"""How outputs become scores. A task knows its kind of system and nothing of lenses."""
