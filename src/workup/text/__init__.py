"""What reads or writes English rests on this: characters, words, sentences, numbers, the calendar, states, typos.

One table for each, whoever reads it. Knows no task, no document and no vocabulary."""
