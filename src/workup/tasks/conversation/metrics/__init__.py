"""The metrics of chat models, and the intervals that suit them."""
