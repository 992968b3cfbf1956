"""Judges as a second reader of replies: what they are asked, what they answered, and what people make of it."""
