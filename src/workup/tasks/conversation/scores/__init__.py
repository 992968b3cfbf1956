"""From judged transcripts to Scores: one row for each conversation."""
