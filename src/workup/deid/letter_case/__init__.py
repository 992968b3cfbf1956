"""Text written in small letters or capitals throughout, read as if it had a difference of case."""
