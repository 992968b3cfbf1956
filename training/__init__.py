"""How the tagger of the native de-identifier is trained and chosen; no part of the installed package."""
