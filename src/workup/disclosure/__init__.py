"""Disclosure: what published counts would give away, and what must be withheld so that they do not. Knows groupings
and counts of people, nothing of tasks, metrics or files."""
