"""Words beside names: verbs of people, relations, words of forms. Lists only."""

from __future__ import annotations

from workup.deid.word_lists import words

VERBS = words("names.verbs")
KIN = words("names.relations")
FORM_WORDS = words("names.form_words")
MEETING = words("names.meeting")
ABBREVIATIONS = words("names.abbreviations")
TAKING = words("names.taking")
DONE = words("names.done_for")
MEDICINES = words("names.medicines")
