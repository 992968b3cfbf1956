"""Manual review of what golds and systems disagree on: a queue, files for reviewers, their answers, corrected rates."""
