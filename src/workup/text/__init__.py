"""What reads English rests on this: characters, words, numbers, the calendar, typos, languages. Knows no task."""
