"""A small neural tagger that reads a note for names, places, organisations, dates and numbers as a person would."""
