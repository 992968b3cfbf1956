"""Reading replies: sentences, the facts in them, the advice they give, and what else they hold."""
