"""Words beside names: verbs of people, relations, words of forms. Lists only."""

from __future__ import annotations

from workup.deid.word_lists import words
from workup.text.wordlists import words_of

VERBS = words("names.verbs")
KIN = words("names.relations")
FORM_WORDS = words("names.form_words")
MEETING = words("names.meeting")
MONTHS = words_of("january february march april may june july august september october november december")
ABBREVIATIONS = words("names.abbreviations")
TAKING = words("names.taking")
DONE = words("names.done_for")
MEDICINES = words("names.medicines")
