"""What every reader of replies needs of a sentence: words, clauses, cues, doses, times."""
